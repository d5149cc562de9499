"""How right-hand sides belong to matrices, and where their columns lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from operator import mul

from ..._core.arrays import View
from ..._core.dtypes import DType
from ..._core.layout import Ints, dense, normalise, stride_order
from ..._core.route import Result


@dataclass(frozen=True, slots=True)
class Matrix:
    """One matrix: three of the operands, or parts of them."""

    n: int
    format: str
    slot: int
    """Position of the first of its three arrays among the operands."""
    counts: Ints
    """Number of elements of its part of each array."""
    starts: Ints
    """Where its part begins in each array, in elements."""
    block: Ints


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of b or x within an array: where they begin, and the extents and strides, the first along a column.

    They are counted in elements of the matrix: complex columns of a real matrix are seen as pairs of columns.
    """

    start: int
    shape: Ints
    strides: Ints

    @property
    def count(self) -> int:
        """Number of columns."""
        return math.prod(self.shape[1:])

    @property
    def leading(self) -> int:
        """The leading dimension where the columns are column-major, else 0."""
        n = self.shape[0]
        if n > 1 and self.strides[0] != 1:
            return 0
        steps = [stride for extent, stride in zip(self.shape[1:], self.strides[1:], strict=True) if extent > 1]
        if not steps or self.count == 0:
            return n
        return steps[0] if len(steps) == 1 and steps[0] >= n else 0


@dataclass(frozen=True, slots=True)
class Side:
    """A right-hand side and its solution."""

    matrix: int
    slot: int
    b: Columns
    x: Columns


@dataclass(frozen=True, slots=True)
class Piece:
    """One solution of a sequence: where it begins in the result, its shape, and its axes, the fastest first."""

    start: int
    shape: Ints
    order: Ints


def check_dtype(name: str, values: View, b: View, first: View) -> None:
    if b.dtype is not first.dtype:
        raise ValueError(f"All right-hand sides must have one dtype, but b[0] has {first.dtype} and {name} {b.dtype}.")
    if b.dtype is not values.dtype and not (b.dtype.kind == "c" and b.dtype.real is values.dtype):
        raise TypeError(
            f"a and {name} must have one dtype (or {name} the complex dtype of the same precision), but a is {values.dtype} and {name} "
            f"is {b.dtype}. Convert one of them."
        )


@dataclass(slots=True)
class Sides:
    """How right-hand sides belong to matrices."""

    matrices: list[Matrix]
    batch: Ints
    batched: bool
    sequences: tuple[bool, bool]
    dtype: DType
    slot: int

    def of(self, views: Sequence[View], copied: Sequence[bool]) -> tuple[tuple[Side, ...], Result, tuple[Piece, ...]]:
        if self.sequences[1]:
            return self._of_sequence(views, copied)
        view = views[0]
        shape, strides = view.shape, _strides(view, copied[0])
        order = stride_order(shape, strides)
        made = dense(shape, order)
        result = Result(shape, made, view.dtype)
        if not self.batched:
            self._check_rows("b", shape, 0)
            axis = 0 if len(shape) <= 2 else len(shape) - 2
            b, x = (self._columns(shape, steps, made, axis, view.dtype, 0) for steps in (strides, made))
            return (Side(0, self.slot, b, x),), result, ()
        self._check_batch(shape)
        sides, rank = [], len(shape) - 2
        for position, index in enumerate(product(*(range(extent) for extent in shape[:rank]))):
            if shape[rank] != self.matrices[position].n:
                raise _rows_differ(f"b[{', '.join(map(str, index))}]", self.matrices[position].n, shape[rank], shape)
            b, x = (
                self._columns(shape[rank:], steps[rank:], made[rank:], 0, view.dtype, sum(map(mul, index, steps)))
                for steps in (strides, made)
            )
            sides.append(Side(position, self.slot, b, x))
        return tuple(sides), result, ()

    def _of_sequence(
        self, views: Sequence[View], copied: Sequence[bool]
    ) -> tuple[tuple[Side, ...], Result, tuple[Piece, ...]]:
        if self.batched and len(views) != len(self.matrices):
            raise TypeError(
                f"There must be as many right-hand sides as matrices, but a has {len(self.matrices)} and b has {len(views)}."
            )
        sides, pieces, begin = [], [], 0
        for position, view in enumerate(views):
            shape, strides = view.shape, _strides(view, copied[position])
            if len(shape) not in (1, 2):
                raise TypeError(
                    f"Every right-hand side of a sequence must have shape (n,) or (n, k), but b[{position}] has {shape}."
                )
            self._check_rows(f"b[{position}]", shape, position if self.batched else 0)
            order = stride_order(shape, strides)
            made = dense(shape, order)
            b = self._columns(shape, strides, made, 0, view.dtype, 0)
            x = self._columns(shape, made, made, 0, view.dtype, begin)
            sides.append(Side(position if self.batched else 0, self.slot + position, b, x))
            pieces.append(Piece(begin, shape, order))
            begin += math.prod(shape)
        return tuple(sides), Result((begin,), (1,), views[0].dtype), tuple(pieces)

    def _columns(self, shape: Ints, strides: Ints, made: Ints, axis: int, dtype: DType, start: int) -> Columns:
        """The columns of an array along one of its axes, in the order in which they lie in x, whose strides are `made`."""
        others = sorted((i for i in range(len(shape)) if i != axis), key=lambda i: made[i])
        sizes, steps = [shape[axis], *(shape[i] for i in others)], [strides[axis], *(strides[i] for i in others)]
        if dtype is not self.dtype:  # complex numbers beside a real matrix
            return Columns(2 * start, (*sizes, 2), (*(2 * step for step in steps), 1))
        return Columns(start, tuple(sizes), tuple(steps))

    def _check_rows(self, name: str, shape: Ints, matrix: int) -> None:
        n = self.matrices[matrix].n
        if not shape:
            raise TypeError(f"The right-hand side {name} must have shape (n,) or (n, k), but it has shape {shape}.")
        rows = shape[0] if len(shape) <= 2 else shape[-2]
        if rows != n:
            raise _rows_differ(name, n, rows, shape)

    def _check_batch(self, shape: Ints) -> None:
        count = len(self.matrices)
        if len(shape) < 3:
            raise TypeError(
                f"a is a batch of {count} matrices, so b must be a sequence of right-hand sides or have shape (..., n, k), but it has "
                f"shape {shape}. A batch of vectors has shape (..., n, 1)."
            )
        if self.sequences[0]:
            if math.prod(shape[:-2]) != count:
                raise TypeError(
                    f"a has {count} matrices, but b of shape {shape} has {math.prod(shape[:-2])} right-hand sides."
                )
        elif shape[:-2] != self.batch:
            raise TypeError(f"a is a batch of shape {self.batch}, but b of shape {shape} is one of shape {shape[:-2]}.")


def _strides(view: View, copied: bool) -> Ints:
    strides = normalise(view.shape, view.strides)
    return dense(view.shape, stride_order(view.shape, strides)) if copied else strides


def _rows_differ(name: str, n: int, rows: int, shape: Ints) -> TypeError:
    return TypeError(
        f"The extent N is not consistent between LHS and RHS: the matrix has {n} equations, but {name} has {rows} rows (shape {shape})."
    )
