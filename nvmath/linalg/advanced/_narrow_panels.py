"""Some rows of a product as a product of its own, over the same memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..._core.layout import size
from .._matrix import COLUMN, Matrix
from ._epilogs import AUXILIARIES
from ._narrow import FLAT, FP4
from ._problem import MatmulProblem

_NBYTES: Final = 1 << 26
"""Float32 values of A and D that are in memory at a time."""
_FEWEST: Final = 512
"""Rows below which the multiplication would suffer."""
_BY_COLUMNS: Final = (*FLAT, "bgradb")  # outputs that have no rows of D


def panel_rows(problem: MatmulProblem) -> int:
    """Return how many rows to compute at a time: whole bytes of masks and whole tiles of scales, or all of them."""
    if problem.epilog.function is not None:  # it is told which row it is
        return problem.m
    row = 4 * size(problem.batch) * (problem.k + problem.n)
    return min(problem.m, max(_FEWEST, _NBYTES // max(1, row)) // 128 * 128)


def rows_of(problem: MatmulProblem, rows: int) -> MatmulProblem:
    """Return the problem of the first rows; the others follow at :func:`offset_of`."""
    n, given = problem.n, problem.auxiliary
    d = _cut(problem.d, rows)
    return replace(
        problem,
        m=rows,
        a=_cut(problem.a, rows),
        c=d if problem.inplace else None if problem.c is None else _cut(problem.c, rows),
        d=d,
        bias=None if problem.bias is None else _cut(problem.bias, rows),
        auxiliary=None if given is None else _cut(given, AUXILIARIES[problem.epilog.auxiliary].extents(rows, n)[0]),
        outputs=tuple(
            (name, matrix if name in _BY_COLUMNS else _cut(matrix, AUXILIARIES[name].extents(rows, n)[0]))
            for name, matrix in problem.outputs
        ),
    )


def _cut(matrix: Matrix, rows: int) -> Matrix:
    return replace(matrix, rows=rows)


def offset_of(name: str, matrix: Matrix, start: int) -> int:
    """Return by how many bytes the row `start` of D follows the first one, in an operand or an output of a name."""
    if name in _BY_COLUMNS or name == "b":
        return 0
    if name == "relu_aux":
        return start // 8 * matrix.row_stride
    if matrix.dtype is FP4:
        return start // 2 if matrix.order == COLUMN else start * matrix.row_stride // 2
    return start * matrix.row_stride * matrix.dtype.itemsize
