"""What an advanced matrix product means: a pure function from metadata and options to a frozen problem.

Every error that metadata can show is raised here, before anything is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod

from ..._core.dtypes import DType
from ..._core.layout import Ints, may_overlap
from ..._enums import CudaDataType
from .._matrix import COLUMN, ROW, Matrix, Operand, batch_order, matrix_of, packed
from . import _auxiliary as auxiliary
from . import _narrow as narrow_types
from . import _narrow_rules as narrow_rules
from ._epilogs import NO_EPILOG, Epilog
from ._options import MatmulComputeType, MatmulOptions
from ._preferences import MatmulEpilogPreferences
from ._types import check_dtypes, compute_and_scale, result_dtype, same_kind


@dataclass(frozen=True, slots=True)
class MatmulProblem:
    """``D = F(alpha * A @ B + beta * C)``, without pointers and scalars.

    `out_shape` and `out_strides` are what the caller sees of D; the matrices have one stride for each axis of `batch`. `auxiliary` is
    what another product gave; `outputs` are what this one gives besides D, by name; `arrays` are those of a user's function. `narrow` is
    there when A and B have 8 bits or fewer; FP4 matrices are counted in values, and in bytes in `out_shape` and `out_strides` only.
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
    auxiliary: Matrix | None
    arrays: tuple[Operand, ...]
    outputs: tuple[tuple[str, Matrix], ...]
    epilog: Epilog
    compute_type: int
    scale_type: int
    inplace: bool
    out_shape: Ints
    out_strides: Ints
    narrow: narrow_types.Narrow | None = None

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
        if self.epilog.name != NO_EPILOG.name:
            parts.append(f"epilog {self.epilog.name}")
        if self.narrow is not None:
            parts.append(f"scales {self.narrow}")
        parts.append(
            f"compute type {MatmulComputeType(self.compute_type).name}, scale type {CudaDataType(self.scale_type).name}"
        )
        return ", ".join(parts)


def specify(
    a: Operand,
    b: Operand,
    c: Operand | None = None,
    *,
    inputs: Mapping[str, Operand] | None = None,
    options: MatmulOptions,
    epilog: Epilog = NO_EPILOG,
    preferences: MatmulEpilogPreferences | None = None,
    keep: Matrix | None = None,
) -> MatmulProblem:
    """Turn metadata and options into a problem.

    Parameters
    ----------
    a, b, c : Operand
        The operands, as they will be read.
    inputs : dict, optional
        Those of the epilog, and scales, by name.
    options : MatmulOptions
        What was asked.
    epilog : Epilog
        The row of the epilog.
    preferences : MatmulEpilogPreferences, optional
        For its auxiliary output.
    keep : Matrix, optional
        The layout of D to keep, of an earlier problem with the same extents; ignored if there are other batch axes.

    Raises
    ------
    ValueError
        The operands do not fit each other or the options.
    """
    inputs = inputs or {}
    check_dtypes(a.dtype, b.dtype, options)
    a, b = narrow_types.unpacked(a, -1), narrow_types.unpacked(b, -2)
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
    dtype, plain = result_dtype(a.dtype, b.dtype, None if addend is None else addend.dtype, options)
    if narrow_types.is_narrow(dtype) and c is None and "bias" in inputs:
        plain = narrow_types.addend_beside(inputs["bias"].dtype, plain)
    compute, scale = compute_and_scale(a.dtype, options)
    wishes = preferences or MatmulEpilogPreferences()
    auxiliary.check(epilog, dtype, m * n * prod(batch), wishes, narrow=narrow_types.is_narrow(a.dtype))
    vector, given = (
        auxiliary.read(epilog, name, inputs[name], (m, n), batch, plain) if name in inputs else None
        for name in ("bias", epilog.auxiliary)
    )
    arrays = () if epilog.function is None else auxiliary.arrays(epilog, inputs, batch)
    result = _result(first, second, addend, m, n, batch, dtype, options, epilog, keep)
    outputs = auxiliary.outputs(epilog, replace(result, dtype=plain), batch, wishes)
    narrow = None
    if not narrow_types.is_narrow(a.dtype):
        narrow_rules.check_aux_scale(inputs.get(narrow_types.AUX_SCALE), False)
    else:
        narrow = narrow_rules.specify(
            first, second, result, plain, batch, inputs, options, (a.shape[:-2], b.shape[:-2]), outputs, wishes
        )
        outputs += narrow_rules.outputs(narrow, result, batch)
    if options.inplace:
        assert c is not None
        shape, strides = c.shape, c.strides
    else:
        shape, strides = narrow_types.packed_result(result, *_outer(a, b, result, batch))
    return MatmulProblem(
        m, n, k, batch, first, second, addend, result, vector, given, arrays, outputs, epilog, compute, scale, options.inplace, shape,
        strides, narrow,
    )  # fmt: skip


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


def _addend(c: Operand | None, dtype: DType, m: int, n: int, batch: Ints, options: MatmulOptions) -> Matrix | None:
    if c is None:
        if options.inplace:
            raise ValueError("inplace=True needs operand c, which the result overwrites. Pass c, or inplace=False.")
        return None
    if len(c.shape) < 2:
        raise ValueError(
            f"c must have at least two dimensions, but its shape is {c.shape}. Reshape it to ({m}, {n}) or ({m}, 1)."
        )
    same_kind("c", c.dtype, dtype)
    rows, cols = c.shape[-2:]
    if rows != m or cols not in (n, 1):
        raise ValueError(
            f"The extents of c must match the result: its matrices are {(rows, cols)}, expected {(m, n)} or {(m, 1)}."
        )
    if not auxiliary.fits_batch(c.shape[:-2], batch):
        raise ValueError(f"The batch extents of c must match: it has {c.shape[:-2]}, but a and b have {batch}.")
    if options.inplace:
        _check_overwritten(c, (*batch, m, n))
    return matrix_of(c, row_vector=False, batch=batch)


def _check_overwritten(c: Operand, shape: Ints) -> None:
    if c.shape != shape:
        raise ValueError(
            f"The result cannot be inplace if operand C is broadcast: its shape is {c.shape}, the result is {shape}. "
            "Pass a c of that shape, or inplace=False."
        )
    if may_overlap(c.shape, c.strides):
        raise ValueError(
            f"inplace=True needs a c whose elements do not share memory; strides {c.strides} of shape {c.shape} may overlap. "
            "Copy c first."
        )


def _result(
    a: Matrix, b: Matrix, c: Matrix | None, m: int, n: int, batch: Ints, dtype: DType, options: MatmulOptions,
    epilog: Epilog, keep: Matrix | None,
) -> Matrix:  # fmt: skip
    """Return the layout of D: that of C in place, else compact, in an order that suits C, the epilog, or A."""
    if options.inplace:
        assert c is not None
        return c
    if keep is not None and len(keep.batch_strides) == len(batch):  # else the caller will hear what does not fit
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
    for name in ("a", "b", "c", "bias", "auxiliary"):
        before, after = getattr(old, name), getattr(new, name)
        if before is None or after is None:
            continue
        shown = old.epilog.auxiliary if name == "auxiliary" else name
        checks: Iterable[tuple[str, object, object]] = (
            ("data type of the new operand", before.dtype, after.dtype),
            ("extents", (before.rows, before.cols), (after.rows, after.cols)),
            ("conjugation", before.conj, after.conj),
            ("strides", _strides(before), _strides(after)),
        )
        rows += [f"{shown}: {what} must match: expected {one}, given {other}" for what, one, other in checks if one != other
                 and (what != "strides" or layouts)]  # fmt: skip
    for name, one, other in zip(old.epilog.inputs, old.arrays, new.arrays, strict=False):
        if one.shape != other.shape or one.dtype is not other.dtype:
            rows.append(
                f"{name}: shape and dtype must match: expected {one.shape} {one.dtype}, given {other.shape} {other.dtype}"
            )
    if not rows:
        rows += narrow_rules.differences(old.narrow, new.narrow)
    if not rows and (old.batch, old.out_shape) != (new.batch, new.out_shape):
        rows.append(f"the shape of the result must match: expected {old.out_shape}, given {new.out_shape}")
    return "; ".join(rows)


def _strides(matrix: Matrix) -> Ints:
    return (*matrix.batch_strides, matrix.row_stride, matrix.col_stride)


__all__ = ["COLUMN", "ROW", "MatmulProblem", "differences", "specify"]
