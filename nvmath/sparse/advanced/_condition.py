"""How far solutions can be trusted: an estimate of the condition number, and the proof of a factorization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import lsqr

from ..._core.condition import inverse_norm
from ._pattern import Array, Assembly

LARGEST_ERROR: Final = 0.1
"""Of a known solution, where the matrix is scaled well: a singular matrix gives about 1, one that can just be solved with 1e-2."""


def estimate(norm: float, n: int, dtype: str, solve: Callable[[Array, str], Array]) -> float:
    """Estimate the condition number in the 1-norm. The true one is hardly ever more than three times as large.

    Parameters
    ----------
    norm : float
        The 1-norm of the matrix.
    n : int
        Number of equations.
    dtype : str
        Of the matrix.
    solve : callable
        ``(b, op) -> x`` with ``op(a) x = b`` for a vector, where `op` is N or H.
    """
    return norm * inverse_norm(n, dtype, lambda b: solve(b, "N"), lambda b: solve(b, "H"))


def whole(pattern: Assembly, data: Array, half: bool, hermitian: bool) -> Any:
    """The matrix as a SciPy matrix with all its entries, from a pattern that may be the upper triangle only."""
    shape = (pattern.n, pattern.n)
    matrix = sparse.csr_array((pattern.values(data), pattern.indices, pattern.indptr), shape=shape)
    if not half:
        return matrix
    above = sparse.triu(matrix, 1)
    return sparse.csr_array(matrix + (above.conj().T if hermitian else above.T))


def error_of_known(matrix: Any, solve: Callable[[Array], Array]) -> float:
    """Solve for a solution that is known, and return its largest error, where every row and column is scaled to about 1.

    Replaced pivots do no harm where this is small. With a singular matrix it is not: its solutions are not unique.

    Parameters
    ----------
    matrix : csr_array
        The matrix.
    solve : callable
        ``b -> x``.
    """
    columns = equilibrium(matrix)[1]
    signs = np.where(np.random.default_rng(0).random(len(columns)) < 0.5, -1, 1)
    known = (columns * signs).astype(matrix.dtype)
    with np.errstate(all="ignore"):
        error = np.abs((solve(matrix @ known) - known) / columns).max()
    return float(error) if np.isfinite(error) else float("inf")


def equilibrium(matrix: Any) -> tuple[Array, Array]:
    """Powers of two by which to scale rows and columns so that all elements come as close to 1 as they can (Curtis and Reid)."""
    n = matrix.shape[0]
    entries = matrix.tocoo()
    sizes = np.abs(entries.data).astype(np.float64)
    with np.errstate(all="ignore"):
        kept = np.flatnonzero((sizes > 0) & np.isfinite(sizes))
        logs = np.log2(sizes[kept])
    count = kept.size
    ones = np.ones(2 * count)
    places = np.concatenate([entries.row[kept], entries.col[kept] + n]), np.tile(np.arange(count), 2)
    system = sparse.csr_array((ones, (places[1], places[0])), shape=(count, 2 * n))
    exponents = np.round(lsqr(system, -logs, atol=1e-3, btol=1e-3, iter_lim=200)[0]) if count else np.zeros(2 * n)
    scales: Array = np.exp2(exponents)
    return scales[:n], scales[n:]


def structural_text(matrix: Any) -> str:
    """Say that the pattern alone makes a matrix singular, where it does."""
    n = matrix.shape[0]
    pattern = sparse.csr_array((matrix.data != 0, matrix.indices, matrix.indptr), shape=matrix.shape)
    pattern.eliminate_zeros()
    rank = int(structural_rank(pattern))
    return (
        f" It is structurally singular: the positions of its entries allow a rank of {rank} at most, of {n}."
        if rank < n
        else ""
    )


def unproven(library: str, pivots: int, error: float) -> str:
    """Say why a factorization is refused."""
    return (
        f"The matrix a is singular, or nearly so: {pivots} zero or tiny pivot{'s' if pivots != 1 else ''} had to be replaced by {library}, "
        f"and a solution that is known came back with an error of {error:.2g} of its size."
    )
