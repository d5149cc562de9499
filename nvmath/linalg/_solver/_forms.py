"""How a column-major library sees the operands: in place or as packed copies, transposed or not, over which loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ..._core.layout import Ints, contiguous, size
from .._matrix import ROW, leading_dimension, merge_batches, readable
from ._options import Structure
from ._problem import Stack, SystemsProblem


@dataclass(frozen=True, slots=True)
class Form:
    """The matrices of an operand as a library gets them.

    Attributes
    ----------
    direct : bool
        Whether they stay where the caller has them.
    turned : bool
        Whether the library sees the transposes.
    ld : int
        Leading dimension.
    extents : tuple of int
        Of the loop over the batch.
    steps : tuple of int
        Elements from one matrix to the next, along each extent.
    rows, cols : int
        Of the matrices as the library sees them.
    """

    direct: bool
    turned: bool
    ld: int
    extents: Ints
    steps: Ints
    rows: int
    cols: int

    @property
    def nelements(self) -> int:
        """Elements of all matrices when they are packed."""
        return size(self.extents) * self.ld * self.cols


def matrix_form(problem: SystemsProblem, owned: bool) -> Form:
    """Return how the matrices `a` are factorized; `owned` says that they may be overwritten where they are.

    Row-major matrices are seen as their transposes, so that they are copied, if at all, without being transposed.
    """
    a, (rows, cols) = problem.a, (problem.rows, problem.cols)
    first = a.arrays[0]
    may_turn = not (problem.conjugates or problem.least_squares)
    if owned and not a.explicit:
        form = readable(first)
        if form is not None and (may_turn or not form[0]):
            return Form(True, form[0], form[1], a.batch, first.batch_strides, rows, cols)
        straight = leading_dimension(rows, cols, first.row_stride, first.col_stride)
        if straight is not None:
            return Form(True, False, straight, a.batch, first.batch_strides, rows, cols)
    extents = _loop(problem)
    return Form(
        False, may_turn and first.order == ROW, max(1, rows), extents, tuple(s * rows * cols for s in contiguous(extents)), rows, cols
    )


def side_form(problem: SystemsProblem, packed: bool = False) -> Form:
    """Return how the right-hand sides are solved for: in the memory of the solution where it is column-major, if not `packed`."""
    x, columns = problem.x, problem.columns
    first = x.arrays[0]
    ld = leading_dimension(first.rows, columns, first.row_stride, first.col_stride)
    if not (packed or x.explicit or problem.least_squares) and ld is not None:
        return Form(True, False, max(1, ld), x.batch, first.batch_strides, problem.rows, columns)
    extents = _loop(problem)
    step = problem.rows * columns
    return Form(
        False, False, max(1, problem.rows), extents, tuple(s * step for s in contiguous(extents)), problem.rows, columns
    )


def joint_form(problem: SystemsProblem) -> Form:
    """Return how packed right-hand sides are solved for together with one more column, for the guess of the condition."""
    packed, columns = side_form(problem, packed=True), problem.columns
    steps = tuple(step // columns * (columns + 1) for step in packed.steps)
    return replace(packed, steps=steps, cols=columns + 1)


def _loop(problem: SystemsProblem) -> Ints:
    """Extents of the batch in the caller's axes, so that loops over packed and other memory have them in common."""
    if problem.a.explicit and problem.b.explicit:
        return (problem.count,)
    return problem.a.batch if problem.b.explicit else problem.b.batch


class Loop(NamedTuple):
    """One loop over systems: its extents, and the steps of the matrices, of the right-hand sides, and of the numbers of the systems."""

    extents: Ints
    a: Ints
    b: Ints
    members: Ints


def loop_over(a: Form, b: Form | None = None) -> Loop:
    """Join the loops over two operands."""
    steps = (0,) * len(a.extents) if b is None else b.steps
    merged, (members, by_a, by_b) = merge_batches(a.extents, contiguous(a.extents), a.steps, steps)
    return Loop(merged, by_a, by_b, members)


def _repacked(form: Form, extents: Ints) -> Ints:
    """The steps of packed matrices along the axes of a batch."""
    step = form.ld * form.cols
    return tuple(s * step for s in contiguous(extents))


# --- which triangle, which operation ------------------------------------------------------------------------------------------------


def lower(problem: SystemsProblem, turned: bool) -> bool:
    """Whether the library reads the lower triangle."""
    if problem.structure.triangular:
        return (problem.structure is Structure.LOWER_TRIANGULAR) != turned
    return problem.lower != turned


def operation(problem: SystemsProblem, turned: bool, trans: str) -> tuple[str, bool]:
    """Return what the library does, and whether right-hand sides and solutions are conjugated around it.

    A matrix that is seen as its transpose has no conjugate transpose that LAPACK could solve with, but conj(a) @ x = b is the same
    as a @ conj(x) = conj(b).
    """
    is_complex = problem.dtype.kind == "c"
    if problem.structure.half:
        plain = "NC" if problem.conjugates else "NT"
        return "N", is_complex and trans not in plain
    if not turned:
        return (trans if is_complex or trans == "N" else "T"), False
    return {"N": ("T", False), "T": ("N", False), "C": ("N", is_complex)}[trans]


# --- copies -------------------------------------------------------------------------------------------------------------------------


class Copy(NamedTuple):
    """A copy between an array of the caller and packed memory, or between two arrays."""

    array: int  # which array of the stack
    shape: Ints
    outside: Ints
    inside: Ints
    offset: int  # of the packed matrices, in elements


def copies(stack: Stack, form: Form, rows: int | None = None) -> list[Copy]:
    """Return the copies that take matrices to where a form wants them; `rows` takes the first rows only, as a solution has."""
    made = []
    for number, matrix in enumerate(stack.arrays):
        height = matrix.rows if rows is None else rows
        shape = (*(() if stack.explicit else stack.batch), height, matrix.cols)
        inner = (form.ld, 1) if form.turned else (1, form.ld)
        outer = () if stack.explicit else _repacked(form, stack.batch)
        outside = (*(() if stack.explicit else matrix.batch_strides), matrix.row_stride, matrix.col_stride)
        made.append(Copy(number, shape, outside, (*outer, *inner), number * form.ld * form.cols if stack.explicit else 0))
    return made


def between(source: Stack, target: Stack) -> Copy:
    """Return the copy from one array to another of the same shape."""
    one, other = source.arrays[0], target.arrays[0]
    shape = (*source.batch, one.rows, one.cols)
    return Copy(
        0, shape, (*one.batch_strides, one.row_stride, one.col_stride), (*other.batch_strides, other.row_stride, other.col_stride), 0
    )


__all__ = ["Copy", "Form", "Loop", "between", "copies", "loop_over", "lower", "matrix_form", "operation", "side_form"]
