"""Compiling callbacks: `compile_prolog`, `compile_epilog`, and what they return."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any, Literal, NamedTuple

from .._core import jit
from ._callback_data import info_dtype
from ._callback_rules import Phase, require_element, symbol_name

__all__ = [
    "CompiledCallback",
    "Kind",
    "compile_epilog",
    "compile_prolog",
    "current_compute_capability",
    "user_function",
]

current_compute_capability = jit.current_compute_capability

_PARAMETERS: dict[str, tuple[str, ...]] = {
    "prolog": ("data_in", "offset", "user_info", "reserved"),
    "epilog": ("data_out", "offset", "element", "user_info", "reserved"),
}


class Kind(NamedTuple):
    """What the compiled form depends on besides the function: a name or dtype for each pointer."""

    phase: Phase
    element_dtype: str
    user_info_dtype: Any


class CompiledCallback(bytes):
    """LTO-IR of a callback that remembers the function, so that the same object also serves transforms on the CPU.

    Made by `compile_prolog` and `compile_epilog`. It is empty when it was compiled where there is no GPU and no
    compute capability was given; it then holds code for the CPU only, and LTO-IR is made if a transform on a GPU asks
    for it.

    Attributes
    ----------
    function
        The function as given.
    phase
        ``"prolog"`` or ``"epilog"``.
    element_dtype
        Name of the dtype of the elements.
    user_info_dtype
        What the data pointer points to.
    compute_capability
        What the bytes were compiled for, such as ``"90"``; None when there are none.
    """

    function: Any  # a FunctionType; type checkers would take that for a method
    phase: Phase
    element_dtype: str
    user_info_dtype: Any
    compute_capability: str | None
    _user: jit.UserFunction

    @property
    def kind(self) -> Kind:
        """Phase and dtypes."""
        return Kind(self.phase, self.element_dtype, self.user_info_dtype)

    def __repr__(self) -> str:
        target = f"compute capability {self.compute_capability}" if self else "the CPU only"
        return f"<{self.phase} {self.function.__qualname__!r} for {self.element_dtype}, {target}, {len(self)} bytes>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """As plain bytes when the function cannot be imported where it is read back."""
        function = self.function
        found: Any = sys.modules.get(function.__module__)
        for name in function.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is not function:
            return bytes, (bytes(self),)
        return _restore, (bytes(self), function, self.kind, self.compute_capability)


def _restore(code: bytes, function: Any, kind: Kind, capability: str | None) -> CompiledCallback:
    return _remember(code, user_function(function, kind), function, kind, capability)


def _remember(
    code: bytes, user: jit.UserFunction, function: FunctionType, kind: Kind, capability: str | None
) -> CompiledCallback:
    made = CompiledCallback(code)
    made.function, made._user, made.compute_capability = function, user, capability
    made.phase, made.element_dtype, made.user_info_dtype = kind
    return made


def compile_prolog(
    function: Callable[..., Any],
    element_dtype: str,
    user_info_dtype: Any,
    *,
    name: str | None = None,
    phase: Literal["prolog"] | None = None,
    representation: Literal["ltoir"] = "ltoir",
    compute_capability: str | None = None,
) -> CompiledCallback:
    """Compile a function that a transform calls for each element that it loads.

    Parameters
    ----------
    function
        ``f(data_in, offset, user_info, reserved)`` returns the element to transform in place of ``data_in[offset]``.
        ``data_in`` and ``user_info`` are pointers that can be indexed; ``offset`` counts elements from the first one
        of the internal input (see `FFT.get_input_layout`). ``reserved`` must not be used. numba compiles it; plain
        helper functions that it calls are compiled too.
    element_dtype : {"float32", "float64", "complex64", "complex128"}
        dtype of the operand.
    user_info_dtype : str, numpy.dtype or numba.types.Type
        What ``user_info`` points to: the name of one of the four dtypes, a NumPy dtype or a numba type; records are
        allowed.
    name : str, optional
        Name of the C function instead of the one that cuFFT looks up.
    phase : {"prolog"}, optional
        Accepted for compatibility.
    representation : {"ltoir"}
        Accepted for compatibility.
    compute_capability : str, optional
        Such as ``"90"``: compile for this GPU, which need not be there. By default the current device; with no GPU
        only code for the CPU is made.

    Returns
    -------
    CompiledCallback
        LTO-IR: ``bytes`` that remember the function, so that they can also be given to transforms on the CPU.

    Raises
    ------
    ValueError
        A dtype, the compute capability, the phase or the representation is not allowed; or the function has the wrong
        parameters, returns nothing, or does not compile: the text shows its line.
    TypeError
        `function` is no Python function.
    RuntimeError
        numba (for a GPU also numba-cuda) is not installed.

    Examples
    --------
    >>> import nvmath
    >>> def halve(data_in, offset, user_info, reserved):
    ...     return data_in[offset] * 0.5
    >>> prolog = nvmath.fft.compile_prolog(halve, "complex64", "complex64")
    >>> prolog.phase
    'prolog'
    """
    _require_phase(phase, "prolog")
    return _compile(function, "prolog", element_dtype, user_info_dtype, name, representation, compute_capability)


def compile_epilog(
    function: Callable[..., Any],
    element_dtype: str,
    user_info_dtype: Any,
    *,
    name: str | None = None,
    phase: Literal["epilog"] | None = None,
    representation: Literal["ltoir"] = "ltoir",
    compute_capability: str | None = None,
) -> CompiledCallback:
    """Compile a function that a transform calls for each element that it stores.

    Parameters
    ----------
    function
        ``f(data_out, offset, element, user_info, reserved)`` stores what it makes of ``element`` in
        ``data_out[offset]`` and returns nothing. ``data_out`` and ``user_info`` are pointers that can be indexed;
        ``offset`` counts elements from the first one of the result (see `FFT.get_output_layout`). ``reserved`` must
        not be used. numba compiles it; plain helper functions that it calls are compiled too.
    element_dtype : {"float32", "float64", "complex64", "complex128"}
        dtype of the result.
    user_info_dtype : str, numpy.dtype or numba.types.Type
        What ``user_info`` points to: the name of one of the four dtypes, a NumPy dtype or a numba type; records are
        allowed.
    name : str, optional
        Name of the C function instead of the one that cuFFT looks up.
    phase : {"epilog"}, optional
        Accepted for compatibility.
    representation : {"ltoir"}
        Accepted for compatibility.
    compute_capability : str, optional
        Such as ``"90"``: compile for this GPU, which need not be there. By default the current device; with no GPU
        only code for the CPU is made.

    Returns
    -------
    CompiledCallback
        LTO-IR: ``bytes`` that remember the function, so that they can also be given to transforms on the CPU.

    Raises
    ------
    ValueError
        A dtype, the compute capability, the phase or the representation is not allowed; or the function has the wrong
        parameters, returns a value, or does not compile: the text shows its line.
    TypeError
        `function` is no Python function.
    RuntimeError
        numba (for a GPU also numba-cuda) is not installed.

    Examples
    --------
    >>> import nvmath
    >>> def multiply(data_out, offset, element, user_info, reserved):
    ...     data_out[offset] = element * user_info[offset]
    >>> epilog = nvmath.fft.compile_epilog(multiply, "complex64", "complex64")
    >>> epilog.phase
    'epilog'
    """
    _require_phase(phase, "epilog")
    return _compile(function, "epilog", element_dtype, user_info_dtype, name, representation, compute_capability)


def _require_phase(given: str | None, phase: Phase) -> None:
    if given not in (None, phase):
        raise ValueError(f"compile_{phase} compiles a {phase}, but phase={given!r} was given.")


def _compile(
    function: Any, phase: Phase, element: str, info: Any, name: str | None, representation: str, capability: str | None
) -> CompiledCallback:
    jit.require_host_compiler(f"compile_{phase}")
    if representation != "ltoir":
        raise ValueError(f"The representation must be 'ltoir', but it is {representation!r}.")
    if capability is not None:
        jit.parse_compute_capability(capability)
    kind = Kind(phase, require_element(element, phase), info_dtype(info))
    plain = jit.plain_function(function)
    if plain is None:
        raise TypeError(f"The {phase} must be a Python function, but it is of type {type(function).__name__}.")
    user = user_function(plain, kind)
    target = capability if capability is not None else current_compute_capability()
    if target is None:
        from ._host_callbacks import compiled_walk

        compiled_walk(user, kind)  # finds faults now, as compiling for a GPU would
        return _remember(b"", user, plain, kind, None)
    code = jit.to_ltoir(user, name or symbol_name(phase, element), target)
    return _remember(code, user, plain, kind, target)


def user_function(function: FunctionType, kind: Kind) -> jit.UserFunction:
    """Check what can be seen without compiling, and freeze the function.

    Raises
    ------
    CompileError
        (a ValueError) If the parameters or the kind of result are wrong.
    """
    signature, expected = _signature(kind)
    jit.require_parameters(function, _PARAMETERS[kind.phase], kind.phase, expected)
    jit.require_result(function, kind.phase == "prolog", kind.phase, expected)
    return jit.UserFunction.freeze(function, signature, kind.phase, expected)


@lru_cache(maxsize=64)
def _signature(kind: Kind) -> tuple[jit.Signature, str]:
    """The C signature, and how to show it."""
    element, info = kind.element_dtype, jit.type_key(kind.user_info_dtype)
    array, user_info, reserved = (
        jit.Pointer(element, aligned=True),
        jit.Pointer(kind.user_info_dtype),
        jit.Pointer(element),
    )
    if kind.phase == "prolog":
        text = f"prolog(data_in: {element}*, offset: uint64, user_info: {info}*, reserved) -> {element}"
        return jit.Signature(element, (array, "uint64", user_info, reserved)), text
    text = (
        f"epilog(data_out: {element}*, offset: uint64, element: {element}, user_info: {info}*, reserved) -> None, "
        "which stores to data_out[offset]"
    )
    return jit.Signature(None, (array, "uint64", element, user_info, reserved)), text
