"""What a generic matrix product means: a pure function from metadata to a frozen problem.

Every error that metadata can show is raised here, before anything is touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final, NamedTuple

from ..._core.layout import Ints, may_overlap, normalise
from .._matrix import COLUMN, ROW, Matrix, Operand, batch_order, packed
from ._qualifiers import GENERAL, NAMES, Structure

SUPPORTED: Final = ("float32", "float64", "complex64", "complex128", "float16", "bfloat16")


@dataclass(frozen=True, slots=True)
class MatmulProblem:
    """``D = alpha * A @ B + beta * C``, without pointers and scalars.

    `out_shape` and `out_strides` are what the caller sees of D; the matrices have one stride for each axis of `batch`. A diagonal
    matrix has one stride, that of its rows.
    """

    m: int
    n: int
    k: int
    batch: Ints
    a: Matrix
    b: Matrix
    c: Matrix | None
    d: Matrix
    of_a: Structure
    of_b: Structure
    inplace: bool
    out_shape: Ints
    out_strides: Ints

    @property
    def empty(self) -> bool:
        """Whether the result has no elements."""
        return self.m * self.n * prod(self.batch) == 0

    def __str__(self) -> str:
        batch = f"{self.batch} x " if self.batch else ""
        words = [
            ("" if structure.general else NAMES[structure.kind] + " ") + str(shape)
            for structure, shape in ((self.of_a, (self.m, self.k)), (self.of_b, (self.k, self.n)))
        ]
        text = f"matmul of {self.a.dtype} {batch}{words[0]} x {words[1]} to {self.d.order}"
        return text if self.c is None else text + (" in place of C" if self.inplace else " plus C")


class _Core(NamedTuple):
    """The axes of an operand that make a matrix of it: its extents and strides, and which of them the result has."""

    rows: int
    cols: int
    row_stride: int
    col_stride: int
    has_rows: bool
    has_cols: bool


def specify(
    a: Operand,
    b: Operand,
    c: Operand | None = None,
    *,
    of_a: Structure = GENERAL,
    of_b: Structure = GENERAL,
    inplace: bool = False,
) -> MatmulProblem:
    """Turn metadata into a problem.

    Parameters
    ----------
    a, b, c : Operand
        The operands, as they will be read.
    of_a, of_b : Structure
        What is known about A and B.
    inplace : bool
        Whether the result overwrites C.

    Raises
    ------
    ValueError
        The operands do not fit each other.
    """
    _check_dtypes(a, b, c)
    _check_scalars(a, b)
    first, second = _core("a", a, of_a), _core("b", b, of_b)
    m, n, k = first.rows, second.cols, first.cols
    if second.rows != k:
        raise ValueError(
            f"The K extents must match: a of shape {a.shape} has {k} columns, but b of shape {b.shape} has {second.rows} rows. "
            "Transpose one of them, or pass operands with a common extent."
        )
    outer = ((m,) if first.has_rows else ()) + ((n,) if second.has_cols else ())
    batches = [_batch_of(a, of_a), _batch_of(b, of_b), *([] if c is None else [_batch_of_c(c, outer)])]
    _check_diagonals(a, b, of_a, of_b, batches)
    batch = _common(batches)
    one, other = (
        _matrix(operand, core, len(own), batch)
        for operand, core, own in ((a, first, batches[0]), (b, second, batches[1]))
    )
    if inplace:
        _check_inplace(c, (*batch, *outer))
    addend = None if c is None else _addend(c, first.has_rows, second.has_cols, m, n, batch)
    if inplace:
        assert addend is not None
        assert c is not None
        result, shape, strides = addend, c.shape, c.strides
    else:
        order = _order(a, b, c, of_a, of_b, outer)
        result = _result(one, other, addend, m, n, batch, order)
        shape = (*batch, *outer)
        strides = result.batch_strides
        strides += ((result.row_stride,) if first.has_rows else ()) + ((result.col_stride,) if second.has_cols else ())
    return MatmulProblem(m, n, k, batch, one, other, addend, result, of_a, of_b, inplace, shape, strides)


# --- checks -----------------------------------------------------------------------------------------------------------


def _check_dtypes(a: Operand, b: Operand, c: Operand | None) -> None:
    for name, operand in (("A", a), ("B", b)):
        if operand.dtype.name not in SUPPORTED:
            raise ValueError(
                f"The dtype of operand {name} ({operand.dtype}) is not supported. Convert it to one of {', '.join(SUPPORTED)}."
            )
    if a.dtype is not b.dtype or (c is not None and c.dtype is not a.dtype):
        given = f"A ({a.dtype}), B ({b.dtype})" + ("" if c is None else f", C ({c.dtype})")
        raise ValueError(
            f"Unsupported combination of dtypes: {given} must all have the same dtype. Convert them to one dtype first."
        )


def _check_scalars(a: Operand, b: Operand) -> None:
    if (a.shape == ()) != (b.shape == ()):
        name, other = ("a", b) if a.shape == () else ("b", a)
        raise ValueError(
            f"The K extents must match: operand {name} is 0-dimensional, so it has none, but the other one has shape {other.shape}. "
            "Multiply by a number with alpha."
        )


def _check_inplace(c: Operand | None, shape: Ints) -> None:
    if c is None:
        raise ValueError("inplace=True needs operand c, which the result overwrites. Pass c, or inplace=False.")
    if c.shape != shape:
        raise ValueError(
            f"The result cannot be inplace if operand C is broadcast: its shape is {c.shape}, the result is {shape}. Pass a c of that "
            "shape, or inplace=False."
        )
    if may_overlap(c.shape, c.strides):
        raise ValueError(
            f"inplace=True needs a c whose elements do not share memory; strides {c.strides} of shape {c.shape} may overlap. "
            "Copy c first."
        )


# --- shapes -----------------------------------------------------------------------------------------------------------


def _core(name: str, operand: Operand, structure: Structure) -> _Core:
    shape = operand.shape
    if structure.kind == "dg":
        return _diagonal(name, operand)
    if not structure.general and (len(shape) < 2 or shape[-1] != shape[-2]):
        raise ValueError(
            f"Operand {name} is said to be {NAMES[structure.kind]}, so it must be square: its last two extents must be equal, but its "
            f"shape is {shape}. Pass a square matrix, or GeneralMatrixQualifier."
        )
    strides = normalise(shape, operand.strides)
    if not shape:
        return _Core(1, 1, 1, 1, False, False)
    if len(shape) == 1:
        step = strides[0]
        row, column = (1, shape[0]), (step * max(1, shape[0]), step)
        return _Core(*row, *column, False, True) if name == "a" else _Core(*row[::-1], *column[::-1], True, False)
    return _Core(shape[-2], shape[-1], strides[-2], strides[-1], True, True)


def _diagonal(name: str, operand: Operand) -> _Core:
    if not operand.shape:
        raise ValueError(
            f"Operand {name} is said to be diagonal, so it must have the shape (..., n): its diagonal. It is 0-dimensional."
        )
    extent = operand.shape[-1]
    return _Core(extent, extent, operand.strides[-1] if extent > 1 else 1, 0, True, True)


def _check_diagonals(a: Operand, b: Operand, of_a: Structure, of_b: Structure, batches: list[Ints]) -> None:
    """Refuse a square matrix in the place of its diagonal: it would be taken for a batch of diagonals."""
    for name, operand, of, others in (("a", a, of_a, batches[1]), ("b", b, of_b, batches[0])):
        shape = operand.shape
        if of.kind == "dg" and len(shape) == 2 and shape[0] == shape[1] > 1 and not others:
            raise ValueError(
                f"Operand {name} is said to be diagonal, so it must be its diagonal, of shape (n,), but it has the shape {shape}. Pass the "
                "diagonal alone. If it is meant as a batch of diagonals, give the other operand a batch axis too (of extent 1)."
            )


def _batch_of(operand: Operand, structure: Structure) -> Ints:
    return operand.shape[: -1 if structure.kind == "dg" else -2]


def _batch_of_c(c: Operand, outer: Ints) -> Ints:
    """The batch extents of C, whose last axes are those of the result: equal, or 1, or missing."""
    own = c.shape[-len(outer) :] if outer else ()
    wanted = outer[len(outer) - len(own) :]
    if any(extent not in (1, want) for extent, want in zip(own, wanted, strict=True)):
        raise ValueError(
            f"The extents of c must match the result: the last extents of its shape {c.shape} are {own}, expected {outer}, or 1 "
            "where one row or column serves all."
        )
    return c.shape[: len(c.shape) - len(outer)] if len(c.shape) > len(outer) else ()


def _common(batches: list[Ints]) -> Ints:
    """The batch extents of all operands, where an extent of 1 or a missing axis stretches."""
    length = max(map(len, batches))
    wide = [(1,) * (length - len(each)) + each for each in batches]
    result = []
    for extents in zip(*wide, strict=True):
        found = {extent for extent in extents if extent != 1}
        if len(found) > 1:
            names = ", ".join(f"{name} {own}" for name, own in zip("abc", batches, strict=False))
            raise ValueError(
                f"The batch extents are not compatible: {names}. Leading extents must be equal, or 1 or absent where one matrix serves all."
            )
        result.append(found.pop() if found else 1)
    return tuple(result)


# --- layouts ----------------------------------------------------------------------------------------------------------


def _spread(shape: Ints, strides: Ints, count: int, batch: Ints) -> Ints:
    """One stride for each axis of the batch."""
    steps = tuple(0 if extent == 1 else step for extent, step in zip(shape[:count], strides[:count], strict=True))
    return (0,) * (len(batch) - count) + steps


def _matrix(operand: Operand, core: _Core, count: int, batch: Ints) -> Matrix:
    strides = normalise(operand.shape, operand.strides)
    conj = operand.conj and operand.dtype.kind == "c"
    return Matrix(
        core.rows, core.cols, core.row_stride, core.col_stride, _spread(operand.shape, strides, count, batch), operand.dtype,
        conj, operand.alignment,
    )  # fmt: skip


def _addend(c: Operand, has_rows: bool, has_cols: bool, m: int, n: int, batch: Ints) -> Matrix:
    """C as matrices of the extents of the result, with strides of 0 where it is broadcast."""
    count = max(0, len(c.shape) - has_rows - has_cols)
    strides = normalise(c.shape, c.strides)
    own = list(zip(c.shape[count:], strides[count:], strict=True))
    col_stride = _step(own.pop(), n) if has_cols and own else 0 if n > 1 else 1
    row_stride = _step(own.pop(), m) if has_rows and own else 0 if m > 1 else max(1, abs(col_stride) * n)
    return Matrix(m, n, row_stride, col_stride, _spread(c.shape, strides, count, batch), c.dtype, False, c.alignment)


def _step(axis: tuple[int, int], extent: int) -> int:
    return axis[1] if axis[0] == extent else 0


def _order(a: Operand, b: Operand, c: Operand | None, of_a: Structure, of_b: Structure, outer: Ints) -> str:
    """The order of the result: that of a C of the same extents, else row-major if A and B are."""
    if c is not None and len(outer) == 2 and c.shape[-2:] == outer:
        return _order_of(c)
    orders = [_order_of(each) for each, of in ((a, of_a), (b, of_b)) if len(each.shape) > 1 and of.kind != "dg"]
    return ROW if set(orders) <= {ROW} else COLUMN


def _order_of(operand: Operand) -> str:
    (rows, cols), (row_stride, col_stride) = operand.shape[-2:], map(abs, operand.strides[-2:])
    if 1 in (rows, cols) and 1 not in (
        row_stride,
        col_stride,
    ):  # a stepped vector: the other axis counts as the contiguous one
        return COLUMN if rows == 1 else ROW
    if rows * row_stride <= col_stride:
        return COLUMN
    return ROW if cols * col_stride <= row_stride or row_stride > col_stride else COLUMN


def _result(a: Matrix, b: Matrix, c: Matrix | None, m: int, n: int, batch: Ints, order: str) -> Matrix:
    """A compact layout, with the batches in the order of the operands'."""
    whole = [
        each.batch_strides
        for each in (a, b, c)
        if each is not None
        and all(stride or extent == 1 for stride, extent in zip(each.batch_strides, batch, strict=True))
    ]
    axes = batch_order(batch, whole[0]) if whole else tuple(range(len(batch)))[::-1]
    return packed(Matrix(m, n, 0, 0, (1,) * len(batch), a.dtype), order, batch, axes)


# --- resets -----------------------------------------------------------------------------------------------------------


def differences(old: MatmulProblem, new: MatmulProblem, *, layouts: bool) -> str:
    """Say in which respects the operands of two problems differ, for an error text; empty if a plan can serve both."""
    rows = []
    for name in ("a", "b", "c"):
        before, after = getattr(old, name), getattr(new, name)
        if before is None or after is None:
            continue
        checks: tuple[tuple[str, object, object], ...] = (
            ("data type of the new operand", before.dtype, after.dtype),
            ("extents", (before.rows, before.cols), (after.rows, after.cols)),
            ("conjugation", before.conj, after.conj),
            ("strides", _strides(before), _strides(after)),
        )
        rows += [
            f"{name}: {what} must match: expected {one}, given {other}"
            for what, one, other in checks
            if one != other and (what != "strides" or layouts)
        ]
    if not rows and (old.batch, old.out_shape) != (new.batch, new.out_shape):
        rows.append(f"the shape of the result must match: expected {old.out_shape}, given {new.out_shape}")
    return "; ".join(rows)


def _strides(matrix: Matrix) -> Ints:
    return (*matrix.batch_strides, matrix.row_stride, matrix.col_stride)
