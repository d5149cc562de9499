"""Matrices as integers: extents, strides, and how a column-major library can read them.

Shared by every operation on dense matrices. Strides are counted in elements; a matrix may be one of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from .._core.dtypes import DType
from .._core.layout import Ints, normalise, stride_order

COLUMN: Final = "column-major"
ROW: Final = "row-major"


class Operand(NamedTuple):
    """An array as it will be read: the caller's, or the copy that is made of it."""

    shape: Ints
    strides: Ints
    dtype: DType
    conj: bool = False
    alignment: int = 16


@dataclass(frozen=True, slots=True)
class Matrix:
    """A batch of matrices: one stride for each batch axis of the problem, 0 where one matrix serves all."""

    rows: int
    cols: int
    row_stride: int
    col_stride: int
    batch_strides: Ints
    dtype: DType
    conj: bool = False
    alignment: int = 16

    @property
    def order(self) -> str:
        """The order of the elements; of a matrix with neither stride 1, the order that a copy would have."""
        if self.row_stride == 1:
            return COLUMN
        if self.col_stride == 1:
            return ROW
        if self.rows == 1 or self.cols == 1:
            return COLUMN if self.rows == 1 else ROW
        return COLUMN if abs(self.row_stride) < abs(self.col_stride) else ROW

    @property
    def transposed(self) -> Matrix:
        """The transpose, over the same memory."""
        return replace(
            self, rows=self.cols, cols=self.rows, row_stride=self.col_stride, col_stride=self.row_stride
        )  # fmt: skip

    @property
    def batched(self) -> bool:
        """Whether the matrix differs from one batch entry to the next."""
        return any(self.batch_strides)


def matrix_of(operand: Operand, *, row_vector: bool, batch: Ints | None = None) -> Matrix:
    """See an array as matrices: its last two axes; a vector is a row or a column.

    Parameters
    ----------
    operand : Operand
        The array; at least 1-dimensional.
    row_vector : bool
        Whether a 1-dimensional array is a row.
    batch : tuple of int, optional
        The batch extents of the problem, to which those of the operand are broadcast.
    """
    shape, strides = operand.shape, normalise(operand.shape, operand.strides)
    if len(shape) == 1:
        step = strides[0]
        shape, strides = ((1, *shape), (step * shape[0], step)) if row_vector else ((*shape, 1), (step, 1))
    own, steps = shape[:-2], strides[:-2]
    wanted = own if batch is None else batch
    missing = len(wanted) - len(own)
    spread = (0,) * missing + tuple(0 if extent == 1 else step for extent, step in zip(own, steps, strict=True))
    return Matrix(
        shape[-2], shape[-1], strides[-2], strides[-1], spread, operand.dtype, operand.conj, operand.alignment
    )


def leading_dimension(rows: int, cols: int, row_stride: int, col_stride: int) -> int | None:
    """Return the leading dimension by which a column-major library reads a matrix, or None when it cannot."""
    if rows == 0 or cols == 0:
        return max(1, rows)
    if rows > 1 and row_stride != 1:
        return None
    if cols == 1:
        return rows
    return col_stride if col_stride >= rows else None


def readable(matrix: Matrix) -> tuple[bool, int] | None:
    """Return whether a column-major library must transpose a matrix, and its leading dimension; None when it cannot read it."""
    straight = leading_dimension(matrix.rows, matrix.cols, matrix.row_stride, matrix.col_stride)
    turned = leading_dimension(matrix.cols, matrix.rows, matrix.col_stride, matrix.row_stride)
    if straight is not None and (turned is None or matrix.order == COLUMN):
        return False, straight
    return None if turned is None else (True, turned)


def packed(matrix: Matrix, order: str, batch: Ints, batch_order: Sequence[int], dtype: DType | None = None) -> Matrix:
    """Return the layout of a dense copy: the matrix innermost, batches in the given order of axes; what is broadcast stays so."""
    strides = [0] * len(batch)
    if matrix.batched:
        step = matrix.rows * matrix.cols
        for axis in batch_order:
            strides[axis] = step
            step *= batch[axis]
    row_stride, col_stride = (matrix.cols, 1) if order == ROW else (1, matrix.rows)
    return replace(
        matrix, row_stride=row_stride, col_stride=col_stride, batch_strides=tuple(strides), dtype=dtype or matrix.dtype,
        alignment=16,
    )  # fmt: skip


def batch_order(batch: Ints, strides: Ints) -> Ints:
    """The batch axes from the fastest to the slowest in memory."""
    return stride_order(batch, normalise(batch, strides))


def merge_batches(extents: Ints, *strides: Ints) -> tuple[Ints, list[Ints]]:
    """Join batch axes along which every operand moves with one stride; return extents and strides, slowest first.

    The first operand decides the order, so it should be the result, which never stands still.
    """
    axes = [axis for axis in range(len(extents)) if extents[axis] != 1]
    axes.sort(key=lambda axis: tuple(-abs(steps[axis]) for steps in strides))
    merged: list[tuple[int, list[int]]] = []
    for axis in axes:
        steps = [each[axis] for each in strides]
        if merged and all(outer == inner * extents[axis] for outer, inner in zip(merged[-1][1], steps, strict=True)):
            merged[-1] = (merged[-1][0] * extents[axis], steps)
        else:
            merged.append((extents[axis], steps))
    count = len(strides)
    return tuple(extent for extent, _ in merged), [tuple(steps[i] for _, steps in merged) for i in range(count)]
