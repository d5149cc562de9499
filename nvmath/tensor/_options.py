"""What can be asked of a contraction."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from .._core import memory_limit
from .._core.dtypes import DType
from .._core.errors import join
from .._core.keywords import explained_fields
from ..bindings import cutensor
from ..memory import BaseCUDAMemoryManager, BaseCUDAMemoryManagerAsync

Operator = cutensor.Operator
ContractionAlgo = cutensor.Algo
ContractionAutotuneMode = cutensor.AutotuneMode
ContractionCacheMode = cutensor.CacheMode
ContractionJitMode = cutensor.JitMode
tensor_qualifiers_dtype: Final = np.int32
_NUMBERS: Final = (
    ("compute_type", "compute type", "what a function of ComputeDesc returns, such as ComputeDesc.COMPUTE_TF32()"),
    ("handle", "handle", "an integer, the handle of cuTENSOR"),
)

_CHOICES: Final[dict[str, tuple[Any, ...]]] = {
    "blocking": (True, "auto"),
    "result_layout": ("auto", "C", "F", "optimized"),
}

COMPUTE: Final = ("16F", "16BF", "32F", "64F", "TF32", "3XTF32", "4X16F", "9X16BF", "8XINT8")
"""Names of the compute types; a handle is the position + 1."""

_SINGLE: Final = ("32F", "TF32", "3XTF32", "16F", "16BF", "4X16F", "9X16BF")
_DOUBLE: Final = ("64F", "32F", "8XINT8")
ALLOWED: Final = {
    # dtype: compute types, the default first
    "float16": ("32F",),
    "bfloat16": ("32F",),
    "float32": _SINGLE,
    "complex64": _SINGLE,
    "float64": _DOUBLE,
    "complex128": _DOUBLE,
}


class ComputeDesc:
    """The arithmetic of a contraction: each method returns a handle for :attr:`ContractionOptions.compute_type`.

    The handles are small integers that need no library; those of ``nvmath.bindings.cutensor.ComputeDesc`` are accepted too.

    Examples
    --------
    >>> import nvmath
    >>> options = nvmath.tensor.ContractionOptions(compute_type=nvmath.tensor.ComputeDesc.COMPUTE_TF32())
    """

    @staticmethod
    def COMPUTE_16F() -> int:  # noqa: N802, the public names
        """Products in half precision."""
        return 1

    @staticmethod
    def COMPUTE_16BF() -> int:  # noqa: N802
        """Products in bfloat16."""
        return 2

    @staticmethod
    def COMPUTE_32F() -> int:  # noqa: N802
        """Single precision."""
        return 3

    @staticmethod
    def COMPUTE_64F() -> int:  # noqa: N802
        """Double precision."""
        return 4

    @staticmethod
    def COMPUTE_TF32() -> int:  # noqa: N802
        """Products in TensorFloat-32."""
        return 5

    @staticmethod
    def COMPUTE_3XTF32() -> int:  # noqa: N802
        """Three products in TensorFloat-32: nearly single precision."""
        return 6

    @staticmethod
    def COMPUTE_4X16F() -> int:  # noqa: N802
        """Single precision made of four products in half precision."""
        return 7

    @staticmethod
    def COMPUTE_9X16BF() -> int:  # noqa: N802
        """Single precision made of nine products in bfloat16."""
        return 8

    @staticmethod
    def COMPUTE_8XINT8() -> int:  # noqa: N802
        """Double precision made of products of 8-bit integers."""
        return 9


@explained_fields
@dataclass
class ContractionOptions:
    """Options of a contraction.

    Parameters
    ----------
    compute_type : int, optional
        A handle from :class:`ComputeDesc`; by default single precision for dtypes up to single, else double. It is the least
        precise arithmetic that may be used. On the CPU operands are rounded for those that keep fewer bits (TF32, 16F, 16BF), doubles
        are computed in single precision for 32F, and the others are as good as the default.
    logger : logging.Logger, optional
        By default the root logger.
    blocking : {"auto", True}, default "auto"
        ``"auto"`` returns as soon as the work is queued when operands and execution are both on a GPU.
    handle : int, optional
        A cuTENSOR handle to use; by default one is made for each device.
    allocator : BaseCUDAMemoryManager or BaseCUDAMemoryManagerAsync, optional
        Source of the workspace; by default the operands' package.
    memory_limit : int, float or str, default "80%"
        Limit of the workspace, and of the intermediate results of an einsum that are alive at the same time: bytes (a multiple of 256,
        to which it is rounded up), a fraction or percentage of the device's memory, or a size such as ``"2 GiB"``.
    result_layout : {"auto", "C", "F", "optimized"}, default "auto"
        Strides of a new result. ``"optimized"`` puts the modes in the order in which they come out of a matrix product.
        ``"auto"`` is that for a binary contraction without addend, row-major for a ternary one and for an einsum, and the addend's
        layout with one.

    Raises
    ------
    ValueError
        A field has a value that it may not have.
    TypeError
        The allocator has neither ``memalloc`` nor ``memalloc_async``, or the logger is none.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.tensor.ContractionOptions(result_layout="C").memory_limit
    '80%'
    """

    compute_type: int | None = None
    logger: logging.Logger | None = None
    blocking: Literal[True, "auto"] = "auto"
    handle: int | None = None
    allocator: BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync | None = None
    memory_limit: int | float | str | None = "80%"
    result_layout: Literal["auto", "C", "F", "optimized"] = "auto"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not any(value == choice and type(value) is type(choice) for choice in choices):
                raise ValueError(f"ContractionOptions.{name} must be one of {join(choices)}, not {value!r}.")
        for name, what, wanted in _NUMBERS:
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | np.integer)):
                raise ValueError(f"Invalid {what}: {value!r}. ContractionOptions.{name} must be None or {wanted}.")
        if self.memory_limit is None:
            self.memory_limit = "80%"
        memory_limit.check(self.memory_limit, "ContractionOptions.memory_limit")
        if self.logger is not None and not hasattr(self.logger, "isEnabledFor"):
            raise TypeError(f"ContractionOptions.logger must be a logging.Logger or None, not {type(self.logger).__name__}.")
        if self.allocator is not None and not isinstance(
            self.allocator, BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync
        ):
            raise TypeError(
                "ContractionOptions.allocator must have a method memalloc(size) or memalloc_async(size, stream) "
                f"(nvmath.BaseCUDAMemoryManager or nvmath.BaseCUDAMemoryManagerAsync); got {type(self.allocator).__name__}."
            )

    def key(self) -> tuple[Any, ...]:
        """Everything that a plan or a result depends on, written out: 1.0 is equal to 1."""
        return tuple(map(repr, (self.compute_type, self.blocking, self.handle, self.memory_limit, self.result_layout)))


def compute_name(handle: int | None, dtype: DType) -> str:
    """Return the name of the compute type for a dtype.

    Raises
    ------
    ValueError
        The dtype is not supported, or not with this compute type; the text lists what is.
    """
    allowed = ALLOWED.get(dtype.name)
    if allowed is None:
        raise ValueError(f"Invalid data type: {dtype}. A contraction takes {', '.join(ALLOWED)}; convert the operands first.")
    if handle is None:
        return allowed[0]
    name = COMPUTE[handle - 1] if 1 <= handle <= len(COMPUTE) else _name_of_pointer(handle)
    if name not in allowed:
        methods = ", ".join(f"ComputeDesc.COMPUTE_{choice}()" for choice in allowed)
        shown = f"COMPUTE_{name}" if name else repr(handle)
        raise ValueError(f"Invalid compute type: {shown} does not go with {dtype}. Choose from {methods}.")
    return name


def _name_of_pointer(handle: int) -> str:
    """Recognise a handle that came from the bindings; they are addresses inside of the library, which is open then."""
    from ..bindings import _load

    if _load.peek("cutensor") is None:
        return ""
    return next((name for name in COMPUTE if _pointer(name) == handle), "")


def _pointer(name: str) -> int | None:
    from ..bindings import FunctionNotFoundError

    try:
        return int(getattr(cutensor.ComputeDesc, "COMPUTE_" + name)())
    except FunctionNotFoundError:
        return None


def coerce_qualifiers(value: Any, names: tuple[str, ...], dtype: DType) -> tuple[bool, ...]:
    """Return for each operand whether it is to be conjugated; `names` has the addend last.

    Raises
    ------
    TypeError
        The value cannot be converted to an array of integers.
    ValueError
        Its length is wrong, or it holds an operator that is not supported there.
    """
    if value is None:
        return (False,) * (len(names) - 1)
    try:
        asked = np.asarray(value)
        with np.errstate(all="ignore"):
            given = asked.real.astype(tensor_qualifiers_dtype)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"qualifiers must be an array of integers (nvmath.tensor.Operator), one for each operand, not {value!r}.") from None
    if not np.array_equal(given, asked):
        raise TypeError(f"qualifiers must be integers (nvmath.tensor.Operator), not {value!r}.")
    if given.shape != (len(names),):
        raise ValueError(f"qualifiers must have {len(names)} entries, for {', '.join(names)}; it has shape {given.shape}.")
    supported = (int(Operator.OP_IDENTITY), int(Operator.OP_CONJ))
    for name, number in zip(names, given.tolist(), strict=True):
        if number not in supported or (name == names[-1] and number != supported[0]):
            allowed = "OP_IDENTITY (1)" if name == names[-1] else "OP_IDENTITY (1) or OP_CONJ (9)"
            raise ValueError(f"The operator of {name} must be {allowed}, not {number}.")
        if number == supported[1] and dtype.kind != "c":
            raise ValueError(f"OP_CONJ conjugates complex operands, but {name} is {dtype}. Use OP_IDENTITY.")
    return tuple(number == supported[1] for number in given.tolist()[:-1])


def kept(qualifiers: Any) -> Any:
    """Return a copy of qualifiers, since the caller may edit the original."""
    try:
        return None if qualifiers is None else np.array(qualifiers)
    except (TypeError, ValueError):  # what is wrong is said when the operands are known
        return qualifiers
