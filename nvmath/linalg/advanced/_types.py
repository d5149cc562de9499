"""Which dtypes go together: rules as tables.

A product is allowed when its compute type, scale type and operands are in one row of `ALLOWED`; what is not given has a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..._core.dtypes import DTYPES, DType
from ..._enums import CudaDataType
from ...bindings import cublasLt
from . import _integers as integers
from ._narrow import check_pair, is_narrow, result_types
from ._options import BY_CODE, MatmulComputeType, MatmulOptions

SUPPORTED: Final = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")

_C: Final = MatmulComputeType
_TYPE: Final = CudaDataType
_FULL: Final = ("float32", "float16", "bfloat16")
_SINGLE: Final = (_C.COMPUTE_32F, _C.COMPUTE_32F_PEDANTIC)
_FAST: Final = (
    _C.COMPUTE_32F_FAST_16F, _C.COMPUTE_32F_FAST_16BF, _C.COMPUTE_32F_FAST_TF32, _C.COMPUTE_32F_EMULATED_16BFX9,
)  # fmt: skip
_DOUBLE: Final = (_C.COMPUTE_64F, _C.COMPUTE_64F_PEDANTIC, _C.COMPUTE_64F_EMULATED_FIXEDPOINT)
_HALF: Final = (_C.COMPUTE_16F, _C.COMPUTE_16F_PEDANTIC)
_INTEGER: Final = (_C.COMPUTE_32I, _C.COMPUTE_32I_PEDANTIC)


@dataclass(frozen=True, slots=True)
class Combination:
    """Compute types that go with a scale type and dtypes of A and B (both of them)."""

    compute: tuple[int, ...]
    scale: CudaDataType
    operands: tuple[str, ...]


ALLOWED: Final = (
    Combination(_HALF, _TYPE.CUDA_R_16F, ("float16",)),
    Combination(_SINGLE, _TYPE.CUDA_R_32F, _FULL),
    Combination(_SINGLE, _TYPE.CUDA_R_32F, ("float8_e4m3fn", "float8_e5m2")),
    Combination((_C.COMPUTE_32F,), _TYPE.CUDA_R_32F, ("float4_e2m1fn_x2",)),
    Combination((*_SINGLE, *_FAST), _TYPE.CUDA_C_32F, ("complex64",)),
    Combination(_FAST, _TYPE.CUDA_R_32F, ("float32",)),
    Combination(_DOUBLE, _TYPE.CUDA_R_64F, ("float64",)),
    Combination(_DOUBLE, _TYPE.CUDA_C_64F, ("complex128",)),
)

SINCE: Final = {
    _C.COMPUTE_32F_EMULATED_16BFX9: (12, 9, 0),
    _C.COMPUTE_64F_EMULATED_FIXEDPOINT: (13, 2, 0),
}
"""The first version of cuBLASLt that has a compute type."""

_COMPUTE_OF_SCALE: Final = {
    _TYPE.CUDA_R_16F: _C.COMPUTE_16F, _TYPE.CUDA_R_16BF: _C.COMPUTE_32F, _TYPE.CUDA_R_32F: _C.COMPUTE_32F,
    _TYPE.CUDA_C_32F: _C.COMPUTE_32F, _TYPE.CUDA_R_64F: _C.COMPUTE_64F, _TYPE.CUDA_C_64F: _C.COMPUTE_64F,
}  # fmt: skip


def check_dtypes(a: DType, b: DType, options: MatmulOptions) -> None:
    """Refuse operands that cannot be multiplied.

    Raises
    ------
    ValueError
        A dtype is not supported, or the two do not go together.
    """
    if integers.INT8 in (a, b):
        integers.check_pair(a, b)
    for name, dtype in (("a", a), ("b", b)):
        if not is_narrow(dtype) and dtype is not integers.INT8:
            check_dtype(name, dtype)
    if is_narrow(a) or is_narrow(b):
        check_pair(a, b, options)
        return
    if options.block_scaling:
        raise ValueError(
            f"block_scaling=True is for FP8 and FP4 operands, but a is {a}. Leave it out, or quantize the operands."
        )
    if a is not b:
        raise ValueError(
            f"Unsupported combination of dtypes: a is {a} and b is {b}. Convert one of them to the dtype of the other."
        )


def check_dtype(name: str, dtype: DType) -> None:
    """Refuse an operand of a dtype that no product has.

    Raises
    ------
    ValueError
        That is so.
    """
    if dtype.name not in SUPPORTED:
        raise ValueError(
            f"The dtype of operand {name} is not supported: {dtype}. Convert it to one of {', '.join(SUPPORTED)}."
        )


def same_kind(name: str, dtype: DType, operands: DType) -> None:
    """Refuse a complex C or bias for a real product, and the other way round.

    Raises
    ------
    ValueError
        That is so.
    """
    if operands in (integers.INT8, integers.INT32):
        integers.check_addend(name, dtype)
        return
    if is_narrow(operands) and is_narrow(dtype):
        raise ValueError(
            f"The dtype of operand {name} is not supported: {dtype}. {name.capitalize()} has more bits than FP8 and FP4 operands: convert "
            "it to float16 or bfloat16, or to float32 for a float32 result."
        )
    check_dtype(name, dtype)
    if dtype.kind != operands.kind:
        part = f"{name}.real" if dtype.kind == "c" else f"a complex {name}"
        raise ValueError(
            f"Unsupported combination of dtypes: {name} is {dtype}, but a and b are {operands}. Pass {part}, or convert the operands."
        )


def result_dtype(a: DType, b: DType, c: DType | None, options: MatmulOptions) -> tuple[DType, DType]:
    """Return the dtype of D (that of C in place, else what was asked for, else that of C or A), and the one of what goes with it.

    They differ where D is narrow: a bias, auxiliary matrices and C have 16 bits then.

    Raises
    ------
    ValueError
        What was asked for does not fit the operands.
    """
    if is_narrow(a):
        d, addend = result_types(a, b, c, options)
        return d, addend if is_narrow(d) else d
    if options.result_amax:
        raise ValueError(
            f"MatmulOptions.result_amax is not supported for a result of operands of {a} when it is not a narrow-precision (FP8 or FP4) "
            "one. Compute abs(result).max() instead."
        )
    if a is integers.INT8:
        integers.check_result(options)
        return integers.INT32, integers.INT32
    if options.inplace:
        assert c is not None
        return c, c
    if options.result_type is None:
        return (a, a) if c is None else (c, c)
    row = BY_CODE[int(options.result_type)]
    if row.name not in SUPPORTED or row.kind != a.kind:
        kinds = ", ".join(name for name in SUPPORTED if DTYPES[name].kind == a.kind)
        raise ValueError(f"A result of {row} is not supported for operands of {a}. Ask for one of {kinds}.")
    return row, row


def compute_and_scale(dtype: DType, options: MatmulOptions) -> tuple[int, int]:
    """Return the compute type and the scale type.

    Raises
    ------
    ValueError
        They are not possible for the operands; the text lists what is.
    """
    if dtype is integers.INT8:
        return integers.compute_and_scale(options)
    compute: Any = options.compute_type
    scale: Any = options.scale_type
    if compute in _INTEGER:
        raise ValueError(
            f"The compute type {MatmulComputeType(compute).name} is not supported for operands of {dtype}: it is for int8."
        )
    double, complex_ = dtype.real is DTYPES["float64"], dtype.kind == "c"
    if compute is None and scale is None:
        compute = _C.COMPUTE_64F if double else _C.COMPUTE_32F
    elif compute is None:
        assert scale is not None
        compute = _COMPUTE_OF_SCALE.get(_TYPE(scale))
        if compute is None:
            known = ", ".join(each.name for each in _COMPUTE_OF_SCALE)
            raise ValueError(f"There is no compute type for the scale type {_TYPE(scale).name}. Use one of {known}.")
    if scale is None:
        scale = _default_scale(compute, complex_)
    if not any(compute in row.compute and scale == row.scale and dtype.name in row.operands for row in ALLOWED):
        fitting = [
            f"{', '.join(MatmulComputeType(each).name for each in row.compute)} with {row.scale.name}"
            for row in ALLOWED
            if dtype.name in row.operands
        ]
        raise ValueError(
            f"The compute type {MatmulComputeType(compute).name} with the scale type {_TYPE(scale).name} is not supported for "
            f"operands of {dtype}. Use {'; or '.join(fitting)}."
        )
    return int(compute), int(scale)


def _default_scale(compute: int, complex_: bool) -> CudaDataType:
    if compute in _HALF:
        return _TYPE.CUDA_R_16F
    if compute in _DOUBLE:
        return _TYPE.CUDA_C_64F if complex_ else _TYPE.CUDA_R_64F
    return _TYPE.CUDA_C_32F if complex_ else _TYPE.CUDA_R_32F


def is_half_compute(compute_type: int) -> bool:
    """Whether sums are kept in 16 bits."""
    return compute_type in _HALF


def check_version(compute_type: int) -> None:
    """Refuse a compute type that the installed cuBLASLt does not have.

    Raises
    ------
    ValueError
        That is so; the text says which version has it.
    """
    needed = SINCE.get(MatmulComputeType(compute_type))
    if needed is None:
        return
    number = cublasLt.get_version()
    found = (number // 10000, number // 100 % 100, number % 100)
    if found < needed:
        one, other = (".".join(map(str, each)) for each in (needed, found))
        raise ValueError(
            f"The compute type {MatmulComputeType(compute_type).name} is not supported by cuBLASLt {other}: it needs {one} or later. "
            "Install a newer nvidia-cublas, or leave compute_type out."
        )
