"""What sparse systems mean: a pure function from metadata and options to a frozen problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..._core.arrays import View
from ..._core.dtypes import DType
from ..._core.layout import Ints
from ..._core.route import Result
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._options import DirectSolverOptions
from ._sides import Matrix, Piece, Side, Sides, check_dtype

DTYPES: Final = ("float32", "float64", "complex64", "complex128")
INDICES: Final = ("int32", "int64")
Meta = tuple[str, Ints]
"""Format and shape of a matrix."""


@dataclass(frozen=True, slots=True)
class SystemProblem:
    """Systems ``a @ x = b``, without pointers."""

    matrices: tuple[Matrix, ...]
    sides: tuple[Side, ...]
    dtype: DType
    offsets: DType
    indices: DType
    kind: Kind
    part: Part
    result: Result
    pieces: tuple[Piece, ...]
    """Empty if the result is one array."""
    batched: bool

    @property
    def matrix(self) -> tuple[Any, ...]:
        """What a plan depends on."""
        return self.matrices, self.dtype, self.offsets, self.indices, self.kind, self.part

    @property
    def split(self) -> bool:
        """Whether complex right-hand sides of a real matrix are seen as pairs of columns."""
        return self.result.dtype is not self.dtype

    def __str__(self) -> str:
        first = self.matrices[0]
        many = f"{len(self.matrices)} systems of" if self.batched else "system of"
        return (
            f"sparse {many} {self.dtype} with n={first.n}, {first.counts[2]} entries in {first.format}, indices {self.indices}, "
            f"{self.kind.name}, {self.part.name} view, {sum(side.b.count for side in self.sides)} right-hand side(s)"
        )


def specify(
    metas: Sequence[Meta],
    sequences: tuple[bool, bool],
    views: tuple[View, ...],
    copied: tuple[bool, ...],
    options: DirectSolverOptions,
) -> SystemProblem:
    """Turn metadata and options into a problem.

    Parameters
    ----------
    metas : sequence of Meta
        Of each matrix.
    sequences : tuple of bool
        Whether a and b are sequences.
    views : tuple of View
        The three arrays of each matrix, then each right-hand side.
    copied : tuple of bool
        Which of them are read as dense copies.
    options : DirectSolverOptions
        What was asked.
    """
    count = 3 * len(metas)
    matrices: list[Matrix] = []
    for slot, (kind, shape) in zip(range(0, count, 3), metas, strict=True):
        name = f"a[{slot // 3}]" if sequences[0] else "a"
        _check_dtypes(name, views[slot : slot + 3], views[:3])
        matrices += _matrices(name, kind, shape, slot, views[slot : slot + 3])
    values, sides = views[2], views[count:]
    for position, b in enumerate(sides):
        check_dtype(f"b[{position}]" if sequences[1] else "b", values, b, sides[0])
    kind = _check_kind(Kind(options.sparse_system_type), values.dtype)
    batch = metas[0][1][:-2]
    batched = sequences[0] or bool(batch)
    place = Sides(matrices, batch, batched, sequences, values.dtype, count)
    made, result, pieces = place.of(sides, copied[count:])
    return SystemProblem(
        tuple(matrices), made, values.dtype, views[0].dtype, views[1].dtype, kind, Part(options.sparse_system_view), result, pieces, batched
    )  # fmt: skip


# --- matrices ---------------------------------------------------------------------------------------------------------------------


def _check_dtypes(name: str, arrays: Sequence[View], first: Sequence[View]) -> None:
    values = arrays[2]
    if values.dtype.name not in DTYPES:
        raise TypeError(
            f"The matrix {name} has dtype {values.dtype}; the solver takes {', '.join(DTYPES)}. Convert it first."
        )
    for view in arrays[:2]:
        if view.dtype.name not in INDICES:
            raise TypeError(f"The indices of {name} have dtype {view.dtype}; the solver takes {' and '.join(INDICES)}.")
    for view, other in zip(arrays, first, strict=True):
        if view.dtype is not other.dtype:
            raise ValueError(
                f"All matrices must have the same dtypes of values and indices, but a[0] has {other.dtype} where {name} has "
                f"{view.dtype}. Convert them."
            )


def _matrices(name: str, kind: str, shape: Ints, slot: int, arrays: Sequence[View]) -> list[Matrix]:
    """The matrices of a stack, or the one that is given."""
    if len(shape) < 2 or shape[-2] != shape[-1]:
        raise TypeError(f"The matrix {name} must be square, but it has shape {tuple(shape)}.")
    n, batch = shape[-1], shape[:-2]
    if n == 0:
        raise TypeError(f"The matrix {name} has no rows; a system has at least one equation.")
    first, second, values = arrays[0].shape, arrays[1].shape, arrays[2].shape
    rank = len(batch)
    block = values[rank + 1 :] if kind == "bsr" else ()
    whole = all(part[:rank] == batch for part in (first, second, values)) and len(second) == rank + 1 == len(first)
    stored = second[-1:]
    if kind == "coo":
        whole = whole and first == second == values
    elif kind == "bsr":
        whole = whole and len(block) == 2 and values[rank : rank + 1] == stored and not (n % block[0] or n % block[1])
        whole = whole and first[-1] == n // block[0] + 1
    else:
        whole = whole and second == values and first[-1] == n + 1
    if not whole:
        raise TypeError(
            f"{name} is no {kind.upper()} matrix of shape {tuple(shape)}: its arrays have shapes {first}, {second} and {values}."
        )
    counts = first[-1], stored[0], stored[0] * math.prod(block)
    return [
        Matrix(n, kind, slot, counts, tuple(i * size for size in counts), tuple(block)) for i in range(math.prod(batch))
    ]  # fmt: skip


def _check_kind(kind: Kind, dtype: DType) -> Kind:
    if kind is Kind.SPD and dtype.kind == "c":
        raise TypeError(f"sparse_system_type=SPD is for real matrices, but a is {dtype}. Use HPD.")
    return {Kind.HERMITIAN: Kind.SYMMETRIC, Kind.HPD: Kind.SPD}.get(kind, kind) if dtype.kind == "f" else kind


def differences(old: SystemProblem, new: SystemProblem) -> str:
    """Say why operands of a new problem are not acceptable to an object made for the old one, or return an empty text."""
    rows = [
        f"{label}: expected {getattr(old, name)}, given {getattr(new, name)}"
        for name, label in (
            ("offsets", "dtype of row offsets"),
            ("indices", "dtype of column indices"),
            ("dtype", "dtype"),
        )
        if getattr(old, name) != getattr(new, name)
    ]
    sizes = [[matrix.n for matrix in problem.matrices] for problem in (old, new)]
    if sizes[0] != sizes[1]:
        rows.append(f"numbers of equations: expected {sizes[0]}, given {sizes[1]}")
    return "; ".join(rows)


def reduced(kind: Kind, real: bool, op: str) -> tuple[str, bool]:
    """Say which operation of a library, on numbers or on their conjugates, solves with op(a): only general matrices need transposes."""
    if op == "N" or (real and kind is not Kind.GENERAL):
        return "N", False
    if kind is Kind.GENERAL:
        return "T" if real else op, False
    hermitian = kind in (Kind.HERMITIAN, Kind.HPD)
    return "N", hermitian == (op == "T")
