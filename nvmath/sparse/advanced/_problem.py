"""What a sparse system means: a pure function from metadata and options to a frozen problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..._core.arrays import View
from ..._core.dtypes import DType
from ..._core.layout import Ints, dense, normalise, stride_order
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._options import DirectSolverOptions

DTYPES: Final = ("float32", "float64", "complex64", "complex128")
INDICES: Final = ("int32", "int64")


@dataclass(frozen=True, slots=True)
class SystemProblem:
    """One system ``a @ x = b``, without pointers."""

    n: int
    nnz: int
    dtype: DType
    offsets: DType
    indices: DType
    kind: Kind
    part: Part
    shape: Ints  # of b and x
    b_strides: Ints
    x_strides: Ints

    @property
    def columns(self) -> int:
        """Number of right-hand sides."""
        return self.shape[1] if len(self.shape) == 2 else 1

    @property
    def b_direct(self) -> int:
        """The leading dimension of `b` where it is column-major, else 0."""
        return _leading(self.shape, self.b_strides)

    @property
    def x_direct(self) -> int:
        """The leading dimension of `x` where it is column-major, else 0."""
        return _leading(self.shape, self.x_strides)

    @property
    def matrix(self) -> tuple[Any, ...]:
        """What a plan depends on."""
        return self.n, self.nnz, self.dtype, self.offsets, self.indices, self.kind, self.part

    def __str__(self) -> str:
        sides = f"{self.columns} right-hand side{'' if self.columns == 1 else 's'}"
        return (
            f"sparse system of {self.dtype} with n={self.n}, {self.nnz} entries, indices {self.indices}, {self.kind.name}, "
            f"{self.part.name} view, {sides} of shape {self.shape} strides {self.b_strides}"
        )


def _leading(shape: Ints, strides: Ints) -> int:
    n = shape[0]
    if n > 1 and strides[0] != 1:
        return 0
    if len(shape) == 1 or shape[1] <= 1:
        return n
    return strides[1] if strides[1] >= n else 0


def specify(shape: Sequence[int], views: tuple[View, ...], copied: tuple[bool, ...], options: DirectSolverOptions) -> SystemProblem:
    """Turn metadata and options into a problem.

    Parameters
    ----------
    shape : sequence of int
        Of the matrix.
    views : tuple of View
        Row offsets, column indices and values of the matrix, and the right-hand side.
    copied : tuple of bool
        Which of them are read as dense copies.
    options : DirectSolverOptions
        What was asked.
    """
    offsets, indices, values, b = views
    _check_dtypes(offsets, indices, values, b)
    _check_shapes(shape, offsets, indices, values, b)
    kind = _check_kind(options.sparse_system_type, values.dtype)
    b_strides = normalise(b.shape, b.strides)
    if copied[3]:
        b_strides = dense(b.shape, stride_order(b.shape, b_strides))
    x_strides = dense(b.shape, stride_order(b.shape, b_strides))
    return SystemProblem(
        shape[0], values.shape[0], values.dtype, offsets.dtype, indices.dtype, kind, options.sparse_system_view, b.shape, b_strides,
        x_strides,
    )  # fmt: skip


def _check_dtypes(offsets: View, indices: View, values: View, b: View) -> None:
    if values.dtype.name not in DTYPES:
        raise TypeError(f"The matrix a has dtype {values.dtype}; the solver takes {', '.join(DTYPES)}. Convert it first.")
    for name, view in (("row offsets", offsets), ("column indices", indices)):
        if view.dtype.name not in INDICES:
            raise TypeError(f"The {name} of a have dtype {view.dtype}; the solver takes {' and '.join(INDICES)}.")
    if b.dtype is not values.dtype:
        raise TypeError(f"a and b must have one dtype, but a is {values.dtype} and b is {b.dtype}. Convert one of them.")


def _check_shapes(shape: Sequence[int], offsets: View, indices: View, values: View, b: View) -> None:
    if len(shape) < 2:
        raise TypeError(f"The matrix a must be square, but it has shape {tuple(shape)}.")
    if len(shape) > 2:
        raise NotImplementedError(f"Batches of systems are not implemented yet: a has shape {tuple(shape)}. Solve them one by one.")
    if shape[0] != shape[1]:
        raise TypeError(f"The matrix a must be square, but it has shape {tuple(shape)}.")
    n = shape[0]
    if n == 0:
        raise TypeError("The matrix a has no rows; a system has at least one equation.")
    if offsets.shape != (n + 1,) or indices.shape != values.shape or len(values.shape) != 1:
        raise TypeError(
            f"a is no CSR matrix of {n} rows: its row offsets have shape {offsets.shape}, its column indices {indices.shape} and its "
            f"values {values.shape}."
        )
    if len(b.shape) not in (1, 2):
        raise TypeError(f"The right-hand side b must have shape (n,) or (n, k), but it has shape {b.shape}.")
    if b.shape[0] != n:
        raise TypeError(
            f"The extent N is not consistent between LHS and RHS: a has {n} equations, but b has {b.shape[0]} rows (shape {b.shape})."
        )


def _check_kind(kind: Kind, dtype: DType) -> Kind:
    if kind is Kind.SPD and dtype.kind == "c":
        raise TypeError(f"sparse_system_type=SPD is for real matrices, but a is {dtype}. Use HPD.")
    return {Kind.HERMITIAN: Kind.SYMMETRIC, Kind.HPD: Kind.SPD}.get(kind, kind) if dtype.kind == "f" else kind


def differences(old: SystemProblem, new: SystemProblem) -> str:
    """Say why operands of a new problem are not acceptable to an object made for the old one, or return an empty text."""
    rows = [
        f"{label}: expected {getattr(old, name)}, given {getattr(new, name)}"
        for name, label in (("n", "number of equations"), ("offsets", "dtype of row offsets"), ("indices", "dtype of column indices"))
        if getattr(old, name) != getattr(new, name)
    ]
    return "; ".join(rows)
