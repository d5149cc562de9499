"""What a dense system means: a pure function from metadata and options to a frozen problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..._core.arrays import View
from ..._core.dtypes import DType
from ..._core.layout import Ints, dense, may_overlap, normalise, size, stride_order
from ..._core.shared_memory import shared_pair
from .._matrix import Matrix, Operand, matrix_of
from ._options import DirectSolverOptions, Structure

DTYPES: Final = ("float32", "float64", "complex64", "complex128")
FORMS: Final = "a of shape (n, n) or (*batch, n, n), or a sequence of matrices (n, n)"


@dataclass(frozen=True, slots=True)
class Stack:
    """The matrices of one operand: a batch in one array, or one array each.

    Attributes
    ----------
    arrays : tuple of Matrix
        One, with strides for each axis of the batch, or as many as there are systems.
    batch : tuple of int
        Extents of the batch; of a sequence, its length.
    explicit : bool
        Whether the operand is a sequence of arrays.
    shapes, strides : tuple
        Of each array, as the user sees it.
    """

    arrays: tuple[Matrix, ...]
    batch: Ints
    explicit: bool
    shapes: tuple[Ints, ...]
    strides: tuple[Ints, ...]

    @property
    def count(self) -> int:
        """Number of matrices."""
        return size(self.batch)


@dataclass(frozen=True, slots=True)
class SystemsProblem:
    """Systems ``op(a) @ x = b``, without pointers."""

    rows: int
    cols: int
    columns: int
    dtype: DType
    a: Stack
    b: Stack
    x: Stack
    structure: Structure
    lower: bool
    least_squares: bool
    trans: str
    inplace_a: bool
    inplace_b: bool

    @property
    def count(self) -> int:
        """Number of systems."""
        return self.a.count

    @property
    def batched(self) -> bool:
        """Whether the user speaks of a batch, though it may have one member."""
        return self.a.explicit or bool(self.a.batch)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compute."""
        return not (self.rows and self.cols and self.count)

    @property
    def conjugates(self) -> bool:
        """Whether the matrix equals its conjugate transpose, and not also its transpose."""
        return self.dtype.kind == "c" and self.structure in (Structure.HERMITIAN, Structure.POSITIVE_DEFINITE)

    @property
    def matrix(self) -> tuple[Any, ...]:
        """What a factorization depends on."""
        return (
            self.rows, self.cols, self.dtype, self.a.arrays, self.a.batch, self.a.explicit, self.structure, self.lower,
            self.least_squares, self.inplace_a,
        )  # fmt: skip

    def __str__(self) -> str:
        batch = f" {self.count} times" if self.batched else ""
        known = "least squares" if self.least_squares else self.structure.value
        return (
            f"{known} system of {self.dtype}{batch}, {self.rows} x {self.cols}, {self.columns} right-hand "
            f"side{'' if self.columns == 1 else 's'}, a {self.a.arrays[0].order}, b {self.b.arrays[0].order}"
        )


@dataclass(frozen=True, slots=True)
class Given:
    """One operand as it was given: its arrays, whether they are a sequence, and which of them are read as dense copies."""

    name: str
    views: tuple[View, ...]
    explicit: bool
    copied: tuple[bool, ...]


def specify(a: Given, b: Given, options: DirectSolverOptions) -> SystemsProblem:
    """Turn metadata and options into a problem.

    Parameters
    ----------
    a, b : Given
        The operands.
    options : DirectSolverOptions
        What was asked.
    """
    dtype = _check_dtypes(a, b)
    rows, cols = _check_matrices(a, options)
    vectors = _are_vectors(a, b, rows)
    a_stack = _stack(a, False)
    b_stack = _stack(b, vectors)
    if a_stack.count != b_stack.count or (not a.explicit and not b.explicit and a_stack.batch != b_stack.batch):
        raise ValueError(_batches_differ(a, b, a_stack, b_stack))
    height, columns = b_stack.arrays[0].rows, b_stack.arrays[0].cols
    if height != rows:
        raise ValueError(
            f"The number of rows of b must match that of a: a has {rows}, but b has {height} (shape {b_stack.shapes[0]}). "
            "b has shape (n,) or (n, k) for one system, (*batch, n, k) for a batch."
        )
    _check_overlap(a, b, options)
    structure = options.structure
    if dtype.kind == "f" and structure is Structure.HERMITIAN:
        structure = Structure.SYMMETRIC
    trans = "T" if options.trans == "C" and dtype.kind == "f" else options.trans
    return SystemsProblem(
        rows, cols, columns, dtype, a_stack, b_stack, _solution(b, b_stack, rows, cols, vectors, options.inplace_b), structure,
        int(options.uplo) == 0, options.least_squares, trans, options.inplace_a, options.inplace_b,
    )  # fmt: skip


# --- checks -------------------------------------------------------------------------------------------------------------------------


def _check_dtypes(a: Given, b: Given) -> DType:
    for given in (a, b):
        names = sorted({view.dtype.name for view in given.views})
        if len(names) > 1:
            raise ValueError(f"All arrays of {given.name} must have one data type, but there are {', '.join(names)}. Convert them.")
    one, other = a.views[0].dtype, b.views[0].dtype
    if one is not other:
        raise ValueError(f"a and b must have one data type, but a is {one} and b is {other}. Convert one of them.")
    if one.name not in DTYPES:
        raise ValueError(f"The data type {one} is not supported by the dense solver, which takes {', '.join(DTYPES)}. Convert a and b.")
    return one


def _check_matrices(a: Given, options: DirectSolverOptions) -> tuple[int, int]:
    shape = a.views[0].shape
    if len(shape) < 2 or (a.explicit and len(shape) != 2):
        raise ValueError(
            f"{'Every array of a' if a.explicit else 'a'} must be a matrix, but has {len(shape)} dimension(s) (shape {shape}). "
            f"Pass {FORMS}."
        )
    _check_alike(a)
    rows, cols = shape[-2:]
    if options.least_squares and rows < cols:
        raise ValueError(
            f"Least squares need at least as many rows as columns, but a has {rows} rows and {cols} columns (shape {shape}): the "
            "dimension of the solution would exceed the number of equations."
        )
    if rows != cols and not options.least_squares:
        raise ValueError(
            f"The last two dimensions of a must be equal, but they are {rows} and {cols}. For the least-squares solution of more "
            "equations than unknowns pass options={'least_squares': True}."
        )
    return rows, cols


def _check_alike(given: Given) -> None:
    first = given.views[0].shape
    for index, view in enumerate(given.views):
        if view.shape != first:
            raise ValueError(
                f"All arrays of {given.name} must have one shape, but array 0 has shape {first} and array {index} {view.shape}."
            )


def _are_vectors(a: Given, b: Given, rows: int) -> bool:
    """Whether every system has one right-hand side that is given as a vector."""
    shape, full = b.views[0].shape, a.views[0].shape
    _check_alike(b)
    if not shape:
        raise ValueError("b must have at least 1 dimension, but it is a scalar. Pass b of shape (n,) or (n, k).")
    if b.explicit:
        if len(shape) > 2:
            raise ValueError(f"Every array of b must have shape (n,) or (n, k), but array 0 has {len(shape)} dimensions: {shape}.")
        return len(shape) == 1
    if len(shape) == 1:
        return True
    # (*batch, n): only where it cannot be meant as matrices (n, k)
    return not a.explicit and shape == full[:-1] and shape[-2] != rows


def _batches_differ(a: Given, b: Given, a_stack: Stack, b_stack: Stack) -> str:
    def describe(given: Given, stack: Stack) -> str:
        if given.explicit:
            return f"a sequence of {stack.count}"
        return f"batch {stack.batch}" if stack.batch else "no batch"

    text = (
        f"The number of batches of a and b must match, but a has {describe(a, a_stack)} (shape {a_stack.shapes[0]}) and b has "
        f"{describe(b, b_stack)} (shape {b_stack.shapes[0]})."
    )
    shape = b_stack.shapes[0]
    if not b.explicit and len(shape) > 1 and size(shape[:-1]) == a_stack.count:
        text += f" For one right-hand side each pass b[..., None], of shape {(*shape, 1)}."
    return text


def _check_overlap(a: Given, b: Given, options: DirectSolverOptions) -> None:
    """Memory that is written must not be written twice."""
    for given, written in ((a, options.inplace_a), (b, options.inplace_b)):
        if not written:
            continue
        name = f"inplace_{given.name}=True"
        if any(may_overlap(view.shape, view.strides) for view in given.views):
            raise ValueError(
                f"With {name} the elements of {given.name} must not share overlapping memory, but its strides "
                f"{given.views[0].strides} for shape {given.views[0].shape} let some coincide. Pass a copy."
            )
    if not (options.inplace_a or options.inplace_b):
        return
    count, both = len(a.views), (options.inplace_a, options.inplace_b)
    pair = shared_pair((*a.views, *b.views), lambda i, j: (i < count <= j) or both[i >= count])
    if pair is None:
        return
    if pair[0] < count <= pair[1]:
        raise ValueError("With inplace_a or inplace_b, a and b must not share overlapping memory, but they do. Pass a copy of one.")
    given = a if pair[1] < count else b
    numbers = tuple(index - (0 if given is a else count) for index in pair)
    raise ValueError(
        f"With inplace_{given.name}=True the arrays of {given.name} must not share overlapping memory, but {given.name}[{numbers[0]}] "
        f"and {given.name}[{numbers[1]}] do. Pass copies."
    )


# --- layouts ------------------------------------------------------------------------------------------------------------------------


def _stack(given: Given, vectors: bool) -> Stack:
    matrices, strides = [], []
    for view, copied in zip(given.views, given.copied, strict=True):
        own = normalise(view.shape, view.strides)
        if copied:
            own = dense(view.shape, stride_order(view.shape, own))
        strides.append(own)
        matrices.append(_matrix(view.shape, own, view.dtype, vectors))
    shape = given.views[0].shape
    batch = (len(given.views),) if given.explicit else shape[: len(shape) - (1 if vectors else 2)]
    shapes = tuple(view.shape for view in given.views)
    return Stack(tuple(matrices), batch, given.explicit, shapes, tuple(strides))


def _matrix(shape: Ints, strides: Ints, dtype: DType, vectors: bool) -> Matrix:
    if vectors:
        shape, strides = (*shape, 1), (*strides, max(1, shape[-1]) * max(1, abs(strides[-1])))
    return matrix_of(Operand(shape, strides, dtype), row_vector=False)


def _solution(b: Given, stack: Stack, rows: int, cols: int, vectors: bool, inplace: bool) -> Stack:
    """Return the layout of the solution: that of b without gaps, or b itself."""
    if inplace:
        return _cut(stack, cols)
    matrices, shapes, strides = [], [], []
    for shape, old in zip(stack.shapes, stack.strides, strict=True):
        new = (*shape[:-1], cols) if vectors else (*shape[:-2], cols, shape[-1])
        order = stride_order(shape, old)
        shapes.append(new)
        strides.append(dense(new, order))
        matrices.append(_matrix(new, strides[-1], b.views[0].dtype, vectors))
    return Stack(tuple(matrices), stack.batch, stack.explicit, tuple(shapes), tuple(strides))


def _cut(stack: Stack, cols: int) -> Stack:
    """The first rows of b, over the same memory."""
    if stack.arrays[0].rows == cols:
        return stack
    raise ValueError(
        f"inplace_b=True needs a solution of the shape of b, but b has {stack.arrays[0].rows} rows and the solution {cols}. Leave it out."
    )


def differences(old: SystemsProblem, new: SystemsProblem) -> str:
    """Say why operands of a new problem are not acceptable to an object made for the old one, or return an empty text."""
    rows: Sequence[tuple[str, Any, Any]] = (
        ("batching metadata for a", (old.a.explicit, old.a.batch), (new.a.explicit, new.a.batch)),
        ("batching metadata for b", (old.b.explicit, old.b.batch), (new.b.explicit, new.b.batch)),
        ("number of rows for a", old.rows, new.rows),
        ("number of columns for a", old.cols, new.cols),
        ("number of right-hand sides", old.columns, new.columns),
        ("dimensions of b", len(old.b.shapes[0]), len(new.b.shapes[0])),
        ("dtype for a and b", old.dtype, new.dtype),
    )
    return "; ".join(f"the {label} must be {one}, but is {other}" for label, one, other in rows if one != other)
