"""What an advanced matrix product means: a pure function from metadata and options to a frozen problem.

Every error that metadata can show is raised here, before anything is touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Final

from ..._core.dtypes import DTYPES, DType
from ..._core.layout import Ints, may_overlap
from ..._enums import CudaDataType
from .._matrix import COLUMN, ROW, Matrix, Operand, batch_order, matrix_of, packed
from ._options import BY_CODE, NO_EPILOG, Epilog, MatmulComputeType, MatmulEpilog, MatmulOptions, not_yet

SUPPORTED: Final = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
_NARROW: Final = ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2")

_C: Final = MatmulComputeType
_TYPE: Final = CudaDataType
_FULL: Final = ("float32", "float16", "bfloat16")
_FAST: Final = (
    _C.COMPUTE_32F_FAST_16F,
    _C.COMPUTE_32F_FAST_16BF,
    _C.COMPUTE_32F_FAST_TF32,
    _C.COMPUTE_32F_EMULATED_16BFX9,
)
_DOUBLE: Final = (_C.COMPUTE_64F, _C.COMPUTE_64F_PEDANTIC, _C.COMPUTE_64F_EMULATED_FIXEDPOINT)
_HALF: Final = (_C.COMPUTE_16F, _C.COMPUTE_16F_PEDANTIC)

# (compute types, scale type, operand types)
_ALLOWED: Final = (
    (_HALF, _TYPE.CUDA_R_16F, ("float16",)),
    ((_C.COMPUTE_32F, _C.COMPUTE_32F_PEDANTIC), _TYPE.CUDA_R_32F, _FULL),
    ((_C.COMPUTE_32F, _C.COMPUTE_32F_PEDANTIC, *_FAST), _TYPE.CUDA_C_32F, ("complex64",)),
    (_FAST, _TYPE.CUDA_R_32F, ("float32",)),
    (_DOUBLE, _TYPE.CUDA_R_64F, ("float64",)),
    (_DOUBLE, _TYPE.CUDA_C_64F, ("complex128",)),
)
_SCALE_TO_COMPUTE: Final = {
    _TYPE.CUDA_R_16F: _C.COMPUTE_16F, _TYPE.CUDA_R_16BF: _C.COMPUTE_32F, _TYPE.CUDA_R_32F: _C.COMPUTE_32F,
    _TYPE.CUDA_C_32F: _C.COMPUTE_32F, _TYPE.CUDA_R_64F: _C.COMPUTE_64F, _TYPE.CUDA_C_64F: _C.COMPUTE_64F,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MatmulProblem:
    """``D = F(alpha * A @ B + beta * C)``, without pointers and scalars.

    `out_shape` and `out_strides` are what the caller sees of D; the matrices have one stride for each axis of `batch`.
    """

    m: int
    n: int
    k: int
    batch: Ints
    a: Matrix
    b: Matrix
    c: Matrix | None
    d: Matrix
    bias: Matrix | None
    epilog: Epilog
    compute_type: int
    scale_type: int
    inplace: bool
    out_shape: Ints
    out_strides: Ints

    @property
    def empty(self) -> bool:
        """Whether the result has no elements."""
        return self.m * self.n * prod(self.batch) == 0

    @property
    def addend_is_column(self) -> bool:
        """Whether C is one column that serves all columns of the result."""
        return self.c is not None and self.c.cols != self.n

    def __str__(self) -> str:
        batch = f"{self.batch} x " if self.batch else ""
        parts = [
            f"matmul of {self.a.dtype} {batch}({self.m}, {self.k}) x ({self.k}, {self.n}) to {self.d.dtype} {self.d.order}"
        ]
        if self.c is not None:
            parts.append("in place of C" if self.inplace else "plus a column C" if self.addend_is_column else "plus C")
        if self.epilog is not NO_EPILOG:
            parts.append(f"epilog {MatmulEpilog(self.epilog.code).name}")
        parts.append(
            f"compute type {MatmulComputeType(self.compute_type).name}, scale type {CudaDataType(self.scale_type).name}"
        )
        return ", ".join(parts)


def specify(
    a: Operand,
    b: Operand,
    c: Operand | None = None,
    bias: Operand | None = None,
    *,
    options: MatmulOptions,
    epilog: Epilog = NO_EPILOG,
    keep: Matrix | None = None,
) -> MatmulProblem:
    """Turn metadata and options into a problem.

    Parameters
    ----------
    a, b, c, bias : Operand
        The operands, as they will be read.
    options : MatmulOptions
        What was asked.
    epilog : Epilog
        The row of the epilog.
    keep : Matrix, optional
        The layout of D to keep, of an earlier problem with the same extents.

    Raises
    ------
    ValueError
        The operands do not fit each other or the options.
    NotImplementedError
        Something is asked for that is not there yet.
    """
    _check_dtypes(a.dtype, b.dtype)
    for name, operand in (("a", a), ("b", b)):
        if not operand.shape:
            raise ValueError(f"Operand {name} must have at least one dimension, but it is 0-dimensional.")
    batch = _broadcast(a.shape[:-2], b.shape[:-2])
    first = matrix_of(a, row_vector=True, batch=batch)
    second = matrix_of(b, row_vector=False, batch=batch)
    m, n, k = first.rows, second.cols, first.cols
    if second.rows != k:
        raise ValueError(
            f"The K extents must match: a of shape {a.shape} has {k} columns, but b of shape {b.shape} has {second.rows} rows. "
            "Transpose one of them, or pass operands with a common extent."
        )
    addend = _addend(c, a.dtype, m, n, batch, options)
    dtype = _result_dtype(first, addend, options)
    compute, scale = _types(first.dtype, options)
    vector = _bias(bias, m, batch)
    if epilog.activation and dtype.kind == "c":
        raise ValueError(
            f"The epilog {MatmulEpilog(epilog.code).name} is not defined for {dtype}: an activation needs real values. "
            "Use BIAS or no epilog."
        )
    result = _result(first, second, addend, m, n, batch, dtype, options, epilog, keep)
    if options.inplace:
        assert c is not None
        shape, strides = c.shape, c.strides
    else:
        shape, strides = _outer(a, b, result, batch)
    return MatmulProblem(
        m, n, k, batch, first, second, addend, result, vector, epilog, compute, scale, options.inplace, shape, strides
    )  # fmt: skip


def _check_dtypes(a: DType, b: DType) -> None:
    for name, dtype in (("a", a), ("b", b)):
        if dtype.name in _NARROW:
            raise not_yet(
                f"Narrow precision ({dtype} for operand {name})", "Convert the operand to float16, bfloat16 or float32."
            )
        if dtype.name not in SUPPORTED:
            raise ValueError(
                f"The dtype of operand {name} is not supported: {dtype}. Convert it to one of {', '.join(SUPPORTED)}."
            )
    if a is not b:
        raise ValueError(
            f"Unsupported combination of dtypes: a is {a} and b is {b}. Convert one of them to the dtype of the other."
        )


def _broadcast(a: Ints, b: Ints) -> Ints:
    """The batch extents: those of both, where an extent of 1 or a missing axis stretches."""
    length = max(len(a), len(b))
    wide_a, wide_b = (1,) * (length - len(a)) + a, (1,) * (length - len(b)) + b
    for one, other in zip(wide_a, wide_b, strict=True):
        if one != other and 1 not in (one, other):
            raise ValueError(
                f"The batch extents must match: a has {a} and b has {b}. Leading extents must be equal, or one of them 1 or absent."
            )
    return tuple(other if one == 1 else one for one, other in zip(wide_a, wide_b, strict=True))


def _fits_batch(own: Ints, batch: Ints) -> bool:
    return len(own) <= len(batch) and all(
        extent in (1, wanted) for extent, wanted in zip(own, batch[len(batch) - len(own) :], strict=True)
    )


def _addend(c: Operand | None, dtype: DType, m: int, n: int, batch: Ints, options: MatmulOptions) -> Matrix | None:
    if c is None:
        if options.inplace:
            raise ValueError("inplace=True needs operand c, which the result overwrites. Pass c, or inplace=False.")
        return None
    if len(c.shape) < 2:
        raise ValueError(
            f"c must have at least two dimensions, but its shape is {c.shape}. Reshape it to ({m}, {n}) or ({m}, 1)."
        )
    if c.dtype.name not in SUPPORTED or c.dtype.kind != dtype.kind:
        raise ValueError(
            f"Unsupported combination of dtypes: c is {c.dtype}, but a and b are {dtype}. Convert c to {dtype}."
        )
    rows, cols = c.shape[-2:]
    if rows != m or cols not in (n, 1):
        raise ValueError(
            f"The extents of c must match the result: its matrices are {(rows, cols)}, expected {(m, n)} or {(m, 1)}."
        )
    if not _fits_batch(c.shape[:-2], batch):
        raise ValueError(f"The batch extents of c must match: it has {c.shape[:-2]}, but a and b have {batch}.")
    if options.inplace:
        if c.shape != (*batch, m, n):
            raise ValueError(
                f"The result cannot be inplace if operand C is broadcast: its shape is {c.shape}, the result is {(*batch, m, n)}. "
                "Pass a c of that shape, or inplace=False."
            )
        if may_overlap(c.shape, c.strides):
            raise ValueError(
                f"inplace=True needs a c whose elements do not share memory; strides {c.strides} of shape {c.shape} may overlap. "
                "Copy c first."
            )
    return matrix_of(c, row_vector=False, batch=batch)


def _result_dtype(a: Matrix, c: Matrix | None, options: MatmulOptions) -> DType:
    if options.inplace:
        assert c is not None
        return c.dtype
    if options.result_type is None:
        return a.dtype if c is None else c.dtype
    row = BY_CODE.get(int(options.result_type))
    if row is None:
        raise ValueError(
            f"MatmulOptions.result_type must be None or a member of CudaDataType, not {options.result_type!r}."
        )
    if row.name in _NARROW:
        raise not_yet(f"A result of {row}", "Ask for float16, bfloat16 or float32.")
    if row.name not in SUPPORTED or row.kind != a.dtype.kind:
        raise ValueError(f"A result of {row} is not supported for operands of {a.dtype}.")
    return row


def _types(dtype: DType, options: MatmulOptions) -> tuple[int, int]:
    """Return the compute type and the scale type."""
    compute, scale = options.compute_type, options.scale_type
    if compute in (_C.COMPUTE_32I, _C.COMPUTE_32I_PEDANTIC):
        raise ValueError(
            f"The compute type {MatmulComputeType(compute).name} is not supported: there are no integer products."
        )
    double, complex_ = dtype.real is DTYPES["float64"], dtype.kind == "c"
    if compute is None and scale is None:
        compute = _C.COMPUTE_64F if double else _C.COMPUTE_32F
    elif compute is None:
        assert scale is not None
        compute = _SCALE_TO_COMPUTE.get(_TYPE(scale))
        if compute is None:
            raise ValueError(f"There is no compute type for the scale type {_TYPE(scale).name}.")
    if scale is None:
        if compute in _HALF:
            scale = _TYPE.CUDA_R_16F
        elif compute in _DOUBLE:
            scale = _TYPE.CUDA_C_64F if complex_ else _TYPE.CUDA_R_64F
        else:
            scale = _TYPE.CUDA_C_32F if complex_ else _TYPE.CUDA_R_32F
    if not any(compute in row[0] and scale == row[1] and dtype.name in row[2] for row in _ALLOWED):
        fitting = [
            f"{', '.join(MatmulComputeType(each).name for each in row[0])} with {row[1].name}"
            for row in _ALLOWED
            if dtype.name in row[2]
        ]
        raise ValueError(
            f"The compute type {MatmulComputeType(compute).name} with the scale type {_TYPE(scale).name} is not supported for "
            f"operands of {dtype}. Use {'; or '.join(fitting)}."
        )
    return int(compute), int(scale)


def _bias(bias: Operand | None, m: int, batch: Ints) -> Matrix | None:
    if bias is None:
        return None
    shape = bias.shape
    if bias.dtype.name not in SUPPORTED:
        raise ValueError(
            f"The dtype of operand bias is not supported: {bias.dtype}. Convert it to one of {', '.join(SUPPORTED)}."
        )
    rows = shape[-2:] if len(shape) > 1 else (*shape, 1)
    if not shape or rows != (m, 1) or not _fits_batch(shape[:-2], batch):
        raise ValueError(
            f"The bias must match the rows of the result: its shape is {shape}, expected ({m},), ({m}, 1) or {(*batch, m, 1)}."
        )
    return matrix_of(bias, row_vector=False, batch=batch)


def _result(
    a: Matrix, b: Matrix, c: Matrix | None, m: int, n: int, batch: Ints, dtype: DType, options: MatmulOptions,
    epilog: Epilog, keep: Matrix | None,
) -> Matrix:  # fmt: skip
    """Return the layout of D: that of C in place, else compact, in an order that suits C, the epilog, or A."""
    if options.inplace:
        assert c is not None
        return c
    if keep is not None:
        return keep
    column = epilog.column or (c is not None and c.cols != n)
    leader = a if c is None else c
    whole = [each.batch_strides for each in (leader, a, b) if _spans(each, batch)]
    axes = batch_order(batch, whole[0]) if whole else tuple(range(len(batch)))[::-1]
    frame = Matrix(m, n, 0, 0, (1,) * len(batch), dtype)
    return packed(frame, COLUMN if column else leader.order, batch, axes)


def _spans(matrix: Matrix, batch: Ints) -> bool:
    """Whether there is a matrix for every batch entry."""
    return all(stride or extent == 1 for stride, extent in zip(matrix.batch_strides, batch, strict=True))


def _outer(a: Operand, b: Operand, d: Matrix, batch: Ints) -> tuple[Ints, Ints]:
    """Shape and strides of the result; the axis that a vector lacks is not there."""
    shape, strides = list(batch), list(d.batch_strides)
    if len(a.shape) > 1:
        shape.append(d.rows)
        strides.append(d.row_stride)
    if len(b.shape) > 1:
        shape.append(d.cols)
        strides.append(d.col_stride)
    return tuple(shape), tuple(strides)


def differences(old: MatmulProblem, new: MatmulProblem, *, layouts: bool) -> str:
    """Say in which respects the operands of two problems differ, for an error text; empty if a plan can serve both."""
    rows = []
    for name in ("a", "b", "c", "bias"):
        before, after = getattr(old, name), getattr(new, name)
        if before is None or after is None:
            continue
        checks: Iterable[tuple[str, object, object]] = (
            ("data type of the new operand", before.dtype, after.dtype),
            ("extents", (before.rows, before.cols), (after.rows, after.cols)),
            ("conjugation", before.conj, after.conj),
            ("strides", _strides(before), _strides(after)),
        )
        rows += [f"{name}: {what} must match: expected {one}, given {other}" for what, one, other in checks if one != other
                 and (what != "strides" or layouts)]  # fmt: skip
    if not rows and (old.batch, old.out_shape) != (new.batch, new.out_shape):
        rows.append(f"the shape of the result must match: expected {old.out_shape}, given {new.out_shape}")
    return "; ".join(rows)


def _strides(matrix: Matrix) -> Ints:
    return (*matrix.batch_strides, matrix.row_stride, matrix.col_stride)


__all__ = ["COLUMN", "ROW", "MatmulProblem", "differences", "specify"]
