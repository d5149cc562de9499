"""What can be asked of an advanced matrix product."""

from __future__ import annotations

import logging
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Literal, TypeVar

import numpy as np

from ..._core import memory_limit as limits
from ..._core.dtypes import DTYPES, DType
from ..._enums import CudaDataType
from ...bindings import cublas, cublasLt
from ...memory import BaseCUDAMemoryManager, BaseCUDAMemoryManagerAsync

T = TypeVar("T")

MatmulComputeType = cublas.ComputeType
MatmulEpilog = cublasLt.Epilogue
MatmulInnerShape = cublasLt.MatmulInnerShape
MatmulReductionScheme = cublasLt.ReductionScheme

matrix_qualifiers_dtype: Final = np.dtype([("structure", object), ("is_conjugate", np.int32)])
"""The dtype of an array of qualifiers; only ``is_conjugate`` is used."""

BY_CODE: Final[dict[int, DType]] = {row.code: row for row in DTYPES.values()}


def not_yet(what: str, instead: str) -> NotImplementedError:
    """Return the error for a part of the interface that is not there yet."""
    return NotImplementedError(f"{what} is not supported by nvmath.linalg.advanced yet. {instead}")


class MatmulNumericalImplFlags(IntEnum):
    """Which kinds of instructions an algorithm may use; combine them with ``|``."""

    OP_TYPE_FMA = 0x1
    OP_TYPE_TENSOR_HMMA = 0x2
    OP_TYPE_TENSOR_IMMA = 0x4
    OP_TYPE_TENSOR_DMMA = 0x8
    OP_TYPE_TENSOR_MASK = 0xFE
    OP_TYPE_MASK = 0xFF
    ACCUMULATOR_16F = 0x100
    ACCUMULATOR_32F = 0x200
    ACCUMULATOR_64F = 0x400
    ACCUMULATOR_32I = 0x800
    ACCUMULATOR_TYPE_MASK = 0xFF00
    INPUT_TYPE_16F = 0x1_0000
    INPUT_TYPE_16BF = 0x2_0000
    INPUT_TYPE_TF32 = 0x4_0000
    INPUT_TYPE_32F = 0x8_0000
    INPUT_TYPE_64F = 0x10_0000
    INPUT_TYPE_8I = 0x20_0000
    INPUT_TYPE_8F_E4M3 = 0x40_0000
    INPUT_TYPE_8F_E5M2 = 0x80_0000
    INPUT_TYPE_MASK = 0xFF_0000
    GAUSSIAN = 1 << 32
    ALL = 2**64 - 1


def _member(kind: Any, value: Any, name: str) -> Any:
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"MatmulOptions.{name} must be None or a member of {kind.__name__}, not {value!r}.") from None


def _natural(value: Any, name: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, not {value!r}.") from None
    if number < 0:
        raise ValueError(f"{name} must be at least 0, not {number}.")
    return number


@dataclass
class MatmulOptions:
    """Options of an advanced matrix product.

    Parameters
    ----------
    inplace : bool, default False
        Write the result into C.
    compute_type : MatmulComputeType, optional
        Precision of the accumulation; by default the natural one of the operands: float32 is never rounded to TF32.
    scale_type : CudaDataType, optional
        Type of `alpha` and `beta`.
    result_type : CudaDataType, optional
        Type of the result; by default that of C, or else of A.
    result_amax : bool, default False
        Also return the largest absolute value of the result (narrow precision only; not supported yet).
    block_scaling : bool, default False
        MXFP8 or NVFP4 operands (not supported yet).
    sm_count_target : int, default 0
        Number of multiprocessors that a GPU kernel may use; 0 for all.
    fast_accumulation : bool, default False
        Accumulate narrow precision faster and less exactly.
    device_id : int, default 0
        The GPU for operands in host memory, when `execution` does not name one.
    handle : int, optional
        A cuBLASLt handle; by default one per device is kept.
    logger : logging.Logger, optional
        By default the root logger.
    memory_limit : int, float or str, default "80%"
        Most workspace that an algorithm may need: bytes, a fraction of the device's memory, or a text such as ``"2 GiB"``.
    blocking : {"auto", True}, default "auto"
        ``"auto"`` returns as soon as the work is queued when operands and execution are both on a GPU.
    allocator : BaseCUDAMemoryManager or BaseCUDAMemoryManagerAsync, optional
        Source of the workspace; by default the operands' package.

    Raises
    ------
    ValueError
        A field has a value that it may not have.
    TypeError
        The allocator has neither ``memalloc`` nor ``memalloc_async``.

    Examples
    --------
    >>> from nvmath.linalg.advanced import MatmulOptions
    >>> MatmulOptions(compute_type=68).compute_type.name
    'COMPUTE_32F'
    """

    inplace: bool = False
    compute_type: int | None = None
    scale_type: int | None = None
    result_type: int | None = None
    result_amax: bool = False
    block_scaling: bool = False
    sm_count_target: int | None = 0
    fast_accumulation: bool | None = False
    device_id: int | None = 0
    handle: int | None = None
    logger: logging.Logger | None = None
    memory_limit: int | float | str | None = "80%"
    blocking: Literal[True, "auto"] = "auto"
    allocator: BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.inplace, bool):
            raise ValueError(f"MatmulOptions.inplace must be True or False, not {self.inplace!r}.")
        if self.blocking is not True and self.blocking != "auto":
            raise ValueError(f"MatmulOptions.blocking must be True or 'auto', not {self.blocking!r}.")
        self.compute_type = _member(MatmulComputeType, self.compute_type, "compute_type")
        self.scale_type = _member(CudaDataType, self.scale_type, "scale_type")
        self.sm_count_target = _natural(self.sm_count_target or 0, "MatmulOptions.sm_count_target")
        self.fast_accumulation = bool(self.fast_accumulation)
        self.device_id = _natural(self.device_id or 0, "MatmulOptions.device_id")
        self.memory_limit = "80%" if self.memory_limit is None else self.memory_limit
        limits.check(self.memory_limit)
        if self.allocator is not None and not isinstance(
            self.allocator, BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync
        ):
            raise TypeError(
                "MatmulOptions.allocator must have a method memalloc(size) or memalloc_async(size, stream) "
                f"(nvmath.BaseCUDAMemoryManager or nvmath.BaseCUDAMemoryManagerAsync); got {type(self.allocator).__name__}."
            )
        if self.block_scaling:
            raise not_yet("block_scaling=True (MXFP8, NVFP4)", "Convert the operands to float16, bfloat16 or float32.")
        if self.result_amax:
            raise ValueError(
                "MatmulOptions.result_amax is not supported for a result when it is not a narrow-precision (FP8 or FP4) one, and "
                "those are not there yet. Compute abs(result).max() instead."
            )

    def key(self) -> tuple[Any, ...]:
        """Everything that a plan or a result depends on."""
        return (
            self.inplace, self.compute_type, self.scale_type, self.result_type, self.sm_count_target,
            self.fast_accumulation, self.device_id, self.handle, type(self.memory_limit), self.memory_limit, self.blocking,
        )  # fmt: skip


@dataclass
class MatmulEpilogPreferences:
    """Preferences for the auxiliary output of an epilog.

    Parameters
    ----------
    aux_type : CudaDataType, optional
        Type of the auxiliary output (not supported yet).
    aux_amax : bool, default False
        Return the largest absolute value of the auxiliary output (not supported yet).

    Examples
    --------
    >>> from nvmath.linalg.advanced import MatmulEpilogPreferences
    >>> MatmulEpilogPreferences().aux_amax
    False
    """

    aux_type: int | None = None
    aux_amax: bool = False

    def __post_init__(self) -> None:
        if self.aux_type is not None or self.aux_amax:
            raise not_yet("MatmulEpilogPreferences (aux_type, aux_amax)", "Leave them at their defaults.")


@dataclass
class MatmulPlanPreferences:
    """Preferences for the choice of an algorithm on a GPU.

    Parameters
    ----------
    reduction_scheme_mask : MatmulReductionScheme or int, default MASK
        The reduction schemes that split-K may use; combine them with ``|``.
    max_waves_count : float, default 0.0
        Leave algorithms with more waves out; 0 for no limit.
    numerical_impl_mask : MatmulNumericalImplFlags or int, default ALL
        The kinds of instructions that may be used.
    limit : int, default 8
        Number of candidates that the library is asked for.
    epilog : MatmulEpilogPreferences or dict, optional
        Preferences for the epilog.

    Raises
    ------
    ValueError
        A field has a value that it may not have.
    TypeError
        `epilog` is of another kind.

    Examples
    --------
    >>> from nvmath.linalg.advanced import MatmulPlanPreferences
    >>> MatmulPlanPreferences(limit=2).limit
    2
    """

    reduction_scheme_mask: int | None = MatmulReductionScheme.MASK
    max_waves_count: float | None = 0.0
    numerical_impl_mask: int | None = MatmulNumericalImplFlags.ALL
    limit: int | None = 8
    epilog: MatmulEpilogPreferences | None = None

    def __post_init__(self) -> None:
        mask = MatmulReductionScheme.MASK
        self.reduction_scheme_mask = _natural(
            mask if self.reduction_scheme_mask is None else self.reduction_scheme_mask,
            "MatmulPlanPreferences.reduction_scheme_mask",
        )
        if self.reduction_scheme_mask & ~mask:
            raise ValueError(
                "MatmulPlanPreferences.reduction_scheme_mask must combine members of MatmulReductionScheme, "
                f"not {self.reduction_scheme_mask}."
            )
        self.max_waves_count = float(self.max_waves_count or 0.0)
        everything = MatmulNumericalImplFlags.ALL
        self.numerical_impl_mask = int(everything if self.numerical_impl_mask is None else self.numerical_impl_mask)
        self.limit = 8 if self.limit is None else _natural(self.limit, "MatmulPlanPreferences.limit")
        if self.limit == 0:
            raise ValueError("MatmulPlanPreferences.limit must be at least 1, not 0.")
        self.epilog = coerce(MatmulEpilogPreferences, self.epilog, "MatmulPlanPreferences.epilog")

    def key(self) -> tuple[Any, ...]:
        """Everything that the choice of an algorithm depends on."""
        return self.reduction_scheme_mask, self.max_waves_count, self.numerical_impl_mask


@dataclass
class MatmulQuantizationScales:
    """Scales of narrow-precision operands; ignored for all others.

    Parameters
    ----------
    a, b, c, d : float or array, optional
        One scale for each operand and for the result.

    Examples
    --------
    >>> from nvmath.linalg.advanced import MatmulQuantizationScales
    >>> MatmulQuantizationScales(a=2.0).a
    2.0
    """

    a: Any = None
    b: Any = None
    c: Any = None
    d: Any = None


def coerce(cls: type[T], value: Any, name: str) -> T:
    """Accept an object, a dict of its fields, or None for the defaults.

    Raises
    ------
    TypeError
        The value is of another kind, or a dict holds a field that the class does not have.
    """
    if value is None:
        return cls()
    if isinstance(value, cls):
        return value
    if isinstance(value, Mapping):
        return cls(**value)
    raise TypeError(
        f"{name} must be None, a {cls.__name__} object or a dict of its fields, not {type(value).__name__}."
    )


def coerce_qualifiers(value: Any) -> tuple[bool, bool]:
    """Return whether A and B are conjugated.

    Raises
    ------
    ValueError
        The value is no array of ``matrix_qualifiers_dtype`` with an entry for each operand, or C is conjugated.
    """
    if value is None:
        return False, False
    array = np.asarray(value)
    if array.dtype != matrix_qualifiers_dtype:
        raise ValueError(f"The dtype of qualifiers must be matrix_qualifiers_dtype, not {array.dtype}.")
    if array.ndim != 1 or len(array) not in (2, 3):
        raise ValueError(f"qualifiers must hold one entry for each of A, B and C: shape (3,), not {array.shape}.")
    flags = [bool(flag) for flag in array["is_conjugate"]]
    if any(flags[2:]):
        raise ValueError("The qualifier of C cannot be conjugated. Pass the conjugate of C.")
    return flags[0], flags[1]


@dataclass(frozen=True, slots=True)
class Epilog:
    """One row of the table of epilogs.

    Attributes
    ----------
    code : int
        The member of MatmulEpilog.
    inputs : tuple of str
        Keys of ``epilog_inputs``.
    activation : str
        ``"relu"``, ``"gelu"``, or empty.
    column : bool
        Whether cuBLASLt needs a column-major result for it.
    """

    code: int
    inputs: tuple[str, ...] = ()
    activation: str = ""
    column: bool = False


EPILOGS: Final = {
    row.code: row
    for row in (
        Epilog(MatmulEpilog.DEFAULT),
        Epilog(MatmulEpilog.RELU, activation="relu"),
        Epilog(MatmulEpilog.GELU, activation="gelu"),
        Epilog(MatmulEpilog.BIAS, ("bias",), column=True),
        Epilog(MatmulEpilog.RELU_BIAS, ("bias",), "relu", column=True),
        Epilog(MatmulEpilog.GELU_BIAS, ("bias",), "gelu", column=True),
    )
}
NO_EPILOG: Final = EPILOGS[MatmulEpilog.DEFAULT]


def coerce_epilog(value: Any) -> Epilog:
    """Return the row of an epilog.

    Raises
    ------
    ValueError
        The value is no member of MatmulEpilog.
    NotImplementedError
        The epilog is not there yet.
    """
    if value is None:
        return NO_EPILOG
    try:
        member = MatmulEpilog(value)
    except ValueError:
        raise ValueError(f"epilog must be None or a member of MatmulEpilog, not {value!r}.") from None
    row = EPILOGS.get(member)
    if row is None:
        known = ", ".join(MatmulEpilog(code).name for code in EPILOGS)
        raise not_yet(f"The epilog {member.name}", f"Those that are: {known}.")
    return row


def check_epilog_inputs(epilog: Epilog, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the inputs of an epilog in its order.

    Raises
    ------
    ValueError
        A name is missing or unknown; the text lists those that are needed.
    """
    given = dict(inputs or {})
    if set(given) != set(epilog.inputs):
        needed = ", ".join(map(repr, epilog.inputs)) or "none"
        raise ValueError(
            f"epilog_inputs of {MatmulEpilog(epilog.code).name} must have exactly the keys: {needed}; got "
            f"{', '.join(map(repr, given)) or 'none'}."
        )
    return {name: given[name] for name in epilog.inputs}
