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

LARGEST_ERROR: Final = 0.01
"""Of a known solution, where the matrix is scaled well: a singular matrix gives about 1."""
_LARGEST_CONDITION: Final = 1.0
"""Of the matrix, scaled well, times the rounding unit: no digit is certain from here on. What is singular but for rounding has 1 to 100."""
SUSPICIOUS: Final = 0.01
"""Of a condition number, times the rounding unit: from here on it is looked at closely."""
_KNOWN: Final = 3
"""Number of solutions that are known: an error of one may happen to be small."""
_Solve = Callable[[Array, str], Array]


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


def disproof(matrix: Any, library: str, pivots: int, solve: _Solve, *, conditioned: bool = True) -> str:
    """Say why factors cannot be trusted, as those of a singular matrix, or return an empty text: they have proven themselves.

    The pattern must allow a full rank, solutions that are known must come back, and the condition must be one that the arithmetic can
    take. Singular matrices in small integers may pass any one of these.

    Parameters
    ----------
    matrix : csr_array
        The matrix, with all its entries.
    library : str
        Who factorized it.
    pivots : int
        Number of pivots that it replaced.
    solve : callable
        ``(b, op) -> x`` with ``op(a) x = b`` for a vector, where `op` is N or H.
    conditioned : bool
        Whether to estimate the condition, for which `solve` must take H.
    """
    if missing := structural_text(matrix):
        return f"The matrix a is singular.{missing}"
    scales = equilibrium(matrix)
    error = error_of_known(matrix, lambda b: solve(b, "N"), scales[1])
    if not error <= LARGEST_ERROR:
        return unproven(library, pivots, error)
    if not conditioned:
        return ""
    condition = _scaled_condition(matrix, solve, *scales)
    if condition * float(np.finfo(matrix.dtype).eps) <= _LARGEST_CONDITION:
        return ""
    return (
        "The matrix a is singular, or nearly so: with rows and columns scaled as well as can be, "
        f"its condition number is about {condition:.2g}."
    )


def error_of_known(matrix: Any, solve: Callable[[Array], Array], columns: Array | None = None) -> float:
    """Solve for solutions that are known, and return the largest error, where every row and column is scaled to about 1.

    Replaced pivots do no harm where this is small. With a singular matrix it is not: its solutions are not unique.

    Parameters
    ----------
    matrix : csr_array
        The matrix.
    solve : callable
        ``b -> x``.
    columns : ndarray, optional
        How columns are scaled, if that is known already.
    """
    if columns is None:
        columns = equilibrium(matrix)[1]
    rng, n, worst = np.random.default_rng(0), matrix.shape[0], 0.0
    for round_ in range(_KNOWN):
        signs = np.where(rng.random(n) < 0.5, -1, 1) * (1 if round_ == 0 else rng.uniform(0.5, 1, n))
        known = (columns * signs).astype(matrix.dtype)
        with np.errstate(all="ignore"):
            error = np.abs((solve(matrix @ known) - known) / columns).max()
        if not error <= LARGEST_ERROR:  # NaN as well
            return float(error) if np.isfinite(error) else float("inf")
        worst = max(worst, float(error))
    return worst


def _scaled_condition(matrix: Any, solve: _Solve, rows: Array, columns: Array) -> float:
    """Estimate the condition of the matrix with its rows and columns scaled."""
    with np.errstate(all="ignore"):
        scaled = sparse.diags_array(rows) @ abs(matrix) @ sparse.diags_array(columns)
        before = {"N": rows, "H": columns}  # the inverse of R A C is that of C, then of A, then of R

        def turn(b: Array, op: str) -> Array:
            after = before["H" if op == "N" else "N"]
            return np.asarray(solve((b / before[op]).astype(matrix.dtype), op) / after, matrix.dtype)

        found = estimate(float(scaled.sum(axis=0).max()), matrix.shape[0], matrix.dtype.name, turn)
    return found if np.isfinite(found) else float("inf")


def equilibrium(matrix: Any) -> tuple[Array, Array]:
    """Powers of two by which to scale rows and columns so that all elements come as close to 1 as they can (Curtis and Reid)."""
    n = matrix.shape[0]
    entries = matrix.tocoo()
    sizes = np.abs(entries.data).astype(np.float64)
    with np.errstate(all="ignore"):
        kept = np.flatnonzero((sizes > 0) & np.isfinite(sizes))
        logs = np.log2(sizes[kept])
    count = kept.size
    usual = float(logs.mean()) if count else 0.0  # taken out first, since the solver stops at a share of what it is given
    ones = np.ones(2 * count)
    places = np.concatenate([entries.row[kept], entries.col[kept] + n]), np.tile(np.arange(count), 2)
    system = sparse.csr_array((ones, (places[1], places[0])), shape=(count, 2 * n))
    exponents = lsqr(system, usual - logs, atol=1e-3, btol=1e-3, iter_lim=200)[0] if count else np.zeros(2 * n)
    scales: Array = np.exp2(np.round(exponents - usual / 2))
    return scales[:n], scales[n:]


def rank_of_pattern(matrix: Any) -> int:
    """The largest rank that the positions of the elements other than 0 allow, of a matrix in CSR or CSC."""
    n: int = matrix.shape[0]
    if matrix.diagonal().all():
        return n
    pattern = type(matrix)((matrix.data != 0, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    pattern.eliminate_zeros()
    return int(structural_rank(pattern))


def structural_text(matrix: Any) -> str:
    """Say that the pattern alone makes a matrix singular, where it does."""
    n, rank = matrix.shape[0], rank_of_pattern(matrix)
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


def random_row(n: int, dtype: str) -> Array:
    """Numbers of the same sizes for every matrix; not signs, which may have nothing of the null space of a small one."""
    return np.random.default_rng(0).uniform(-1, 1, n).astype(dtype)[None]
