"""Callbacks: users' functions that a transform applies to each element it loads (prolog) or stores (epilog)."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from .._core import jit
from ._callback_compile import (
    CompiledCallback,
    Kind,
    compile_epilog,
    compile_prolog,
    current_compute_capability,
    user_function,
)
from ._callback_data import CallbackData, callback_data, info_dtype
from ._callback_rules import Phase, cufft_callback_type, require_element, symbol_name
from ._device_callable import DeviceCallable

__all__ = [
    "Callback",
    "CompiledCallback",
    "DeviceCallable",
    "compile_epilog",
    "compile_prolog",
    "current_compute_capability",
    "normalise",
]


_INFO_POSITION: Final = {"prolog": 2, "epilog": 3}
"""Where a callback takes the address of the user's data."""


@dataclass(frozen=True, slots=True)
class Callback:
    """A callback of one transform, whatever form the user gave it in.

    Hashable; two are equal when their phase, element dtype, key and data are.

    Attributes
    ----------
    phase
        ``"prolog"`` or ``"epilog"``.
    element_dtype
        Name of the dtype of the elements.
    key
        Identifies the code; holds neither functions nor addresses.
    data
        Address of the user's data, 0 for none.
    data_on
        ``"cpu"`` or ``"cuda"`` when an array was given, None when nothing or an address was.
    keep_alive
        The array behind `data`.
    """

    phase: Phase
    element_dtype: str
    key: str
    user_info_dtype: Any = field(default=None, compare=False)
    data: int = 0
    data_on: str | None = field(default=None, compare=False)
    data_dtype: Any = field(default=None, compare=False, repr=False)
    keep_alive: Any = field(default=None, compare=False, repr=False)
    _user: jit.UserFunction | None = field(default=None, compare=False, repr=False)
    _code: bytes = field(default=b"", compare=False, repr=False)

    @property
    def kind(self) -> Kind:
        """Phase and dtypes."""
        return Kind(self.phase, self.element_dtype, self.user_info_dtype)

    @property
    def cufft_type(self) -> int:
        """The ``cufftXtCallbackType`` value."""
        return cufft_callback_type(self.phase, self.element_dtype)

    def ltoir(self, compute_capability: str) -> bytes:
        """LTO-IR for cuFFT: what the user compiled, else compiled now or taken from a cache."""
        if self._code or self._user is None:
            return bytes(self._code)
        return jit.to_ltoir(self._user, symbol_name(self.phase, self.element_dtype), compute_capability)

    def host(self) -> Callable[..., None]:
        """The compiled loop for the CPU, see `nvmath.fft._host_callbacks`.

        Raises
        ------
        ValueError
            If there is only LTO-IR and no function, or the function does not compile.
        """
        from ._host_callbacks import host_loop

        return host_loop(self)

    def require_data(self) -> None:
        """Refuse a function that reads data which it was not given: it would follow a null pointer.

        Raises
        ------
        ValueError
            If that is so.
        """
        if self.data or self._user is None:
            return
        code = self._user.function.__code__
        name = code.co_varnames[_INFO_POSITION[self.phase]]
        if jit.reads_local(code, name):
            raise ValueError(
                f"The {self.phase} {self._user.function.__qualname__!r} ({code.co_filename}:{code.co_firstlineno}) reads {name!r}, but "
                f'it was given no data. Pass {{"function": {self._user.function.__name__}, "data": array}}.'
            )

    def without_data(self) -> Callback:
        """The same callback, holding no array."""
        return replace(self, data=0, keep_alive=None)

    def key_pair(self) -> tuple[bytes | str, int]:
        """The pair ``(code, data)`` for the keys of user-side caches; a function shows its digest instead of code."""
        return bytes(self._code) or self.key, self.data

    def require_place(self, place: Literal["cpu", "cuda"]) -> None:
        """Refuse data that the transform could not read.

        Raises
        ------
        ValueError
            If `data` is an array in the other memory.
        """
        if self.data_on not in (None, place):
            here, there = ("a GPU", "host memory") if place == "cuda" else ("the CPU", "GPU memory")
            raise ValueError(f"The transform runs on {here}, but the data of its {self.phase} is an array in {there}.")


def normalise(spec: Any, phase: Phase, element_dtype: str) -> Callback | None:
    """Turn what the user gave as ``prolog=`` or ``epilog=`` into a `Callback`.

    Parameters
    ----------
    spec
        None; a `DeviceCallable` or a dict of its fields; a Python function; what ``compile_*`` returned; or a dict
        with ``function`` (either of the last two) and optionally ``data`` (an array or an address) and
        ``user_info_dtype``.
    phase
        ``"prolog"`` or ``"epilog"``.
    element_dtype
        dtype name of the operand (prolog) or of the result (epilog).

    Raises
    ------
    TypeError
        If `spec` is of another kind, or a dict has unknown entries.
    ValueError
        If a field is wrong, the dtypes do not fit the transform, or the function has the wrong parameters.
    """
    if spec is None:
        return None
    require_element(element_dtype, phase)
    if isinstance(spec, dict):
        if "function" in spec:
            return _from_dict(spec, phase, element_dtype)
        unknown = spec.keys() - {"ltoir", "size", "data"}
        if unknown:
            raise TypeError(_unknown(phase, unknown))
        spec = DeviceCallable(**spec)
    if isinstance(spec, DeviceCallable):
        return _from_device_callable(spec, phase, element_dtype)
    if isinstance(spec, CompiledCallback):
        return _from_compiled(spec, phase, element_dtype, callback_data(None))
    return _from_dict({"function": spec}, phase, element_dtype)


def _unknown(phase: Phase, unknown: Iterable[Any]) -> str:
    return (
        f"The dict for the {phase} holds {', '.join(sorted(map(repr, unknown)))}. It may hold 'function', 'data' and 'user_info_dtype', "
        f"such as {phase}={{'function': f, 'data': array}}; or 'ltoir', 'size' and 'data', the fields of a DeviceCallable."
    )


def _from_dict(spec: dict[str, Any], phase: Phase, element: str) -> Callback:
    unknown = set(spec) - {"function", "data", "user_info_dtype"}
    if unknown:
        raise TypeError(_unknown(phase, unknown))
    data = callback_data(spec.get("data"))
    function = spec["function"]
    if isinstance(function, CompiledCallback):
        if "user_info_dtype" in spec:
            raise TypeError(f"user_info_dtype was fixed when the {phase} was compiled; it cannot be given again.")
        return _from_compiled(function, phase, element, data)
    plain = jit.plain_function(function)
    if plain is None:
        raise TypeError(
            f"The {phase} must be None, a Python function, what compile_{phase} returned, a DeviceCallable or a dict, "
            f"but it is of type {type(function).__name__}."
        )
    info = spec.get("user_info_dtype")
    kind = Kind(
        phase, element, info_dtype(info if info is not None else data.dtype if data.dtype is not None else element)
    )
    user = user_function(plain, kind)
    return _callback(kind, f"{phase} {user.key}", data, user, b"")


def _from_compiled(compiled: CompiledCallback, phase: Phase, element: str, data: CallbackData) -> Callback:
    if compiled.phase != phase:
        raise ValueError(f"The {phase} was compiled with compile_{compiled.phase}; use compile_{phase}.")
    if compiled.element_dtype != element:
        raise ValueError(
            f"The {phase} {compiled.function.__qualname__!r} was compiled for {compiled.element_dtype} elements, but "
            f"the {'operand' if phase == 'prolog' else 'result'} of this transform is {element}. Compile it with "
            f"element_dtype={element!r}."
        )
    code = hashlib.sha256(compiled).hexdigest() if compiled else ""
    return _callback(compiled.kind, f"{phase} {compiled._user.key} {code}", data, compiled._user, bytes(compiled))


def _from_device_callable(spec: DeviceCallable, phase: Phase, element: str) -> Callback | None:
    spec = DeviceCallable(spec.ltoir, spec.size, spec.data)  # its fields may have been changed since they were checked
    if spec.ltoir is None:
        if spec.data is not None:
            raise ValueError(f"The {phase} has data but no ltoir.")
        return None
    data = callback_data(spec.data)
    if isinstance(spec.ltoir, CompiledCallback):
        return _from_compiled(spec.ltoir, phase, element, data)
    assert spec.size is not None
    code = spec.ltoir if isinstance(spec.ltoir, bytes) else ctypes.string_at(spec.ltoir, spec.size)
    if not code:
        raise ValueError(f"The ltoir of the {phase} is empty.")
    key = f"{phase} {element} {hashlib.sha256(code).hexdigest()}"
    return _callback(Kind(phase, element, None), key, data, None, code)


def _callback(kind: Kind, key: str, data: CallbackData, user: jit.UserFunction | None, code: bytes) -> Callback:
    return Callback(kind.phase, kind.element_dtype, key, kind.user_info_dtype, *data, user, code)
