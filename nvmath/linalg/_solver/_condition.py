"""Whether a matrix is too ill-conditioned: a guess that costs one solve, and a good estimate where the guess is alarming.

The guess takes ``a @ y = z`` for one fixed vector z without small elements. Unless z is nearly orthogonal to the vector that matters,
the norm of y is at least that of the inverse times a fair part of 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]
Solve = Callable[[Array], Array]

_MARGIN: Final = 0.05
"""The part of the inverse's norm that the guess finds all but surely."""
_STEPS: Final = 5


@lru_cache(maxsize=64)
def probe(n: int, dtype: str) -> Array:
    """Return the right-hand side of the guess: fixed numbers of size 0.5 to 1.5 and random sign."""
    random = np.random.default_rng(20261130)
    values = (0.5 + random.random(n)) * random.choice((-1.0, 1.0), n)
    made: Array = values.astype(dtype)
    made.flags.writeable = False
    return made


@lru_cache(maxsize=8)
def limit(dtype: str) -> float:
    """Return the condition number from which on no digit is sure: the reciprocal of the precision."""
    return 1 / float(np.finfo(dtype).eps)


def alarm(dtype: str) -> float:
    """Return the product of norms from which on the guess is followed by an estimate."""
    return _MARGIN * limit(dtype)


def inverse_norm(n: int, dtype: str, solve: Solve, adjoint: Solve) -> float:
    """Estimate the 1-norm of the inverse from below (Hager's and Higham's method, as LAPACK does it).

    Parameters
    ----------
    n : int
        Number of unknowns.
    dtype : str
        Of the matrix.
    solve, adjoint : callable
        Solve with the matrix, and with its conjugate transpose, for one vector.
    """
    with np.errstate(all="ignore"):
        best = _climb(n, dtype, solve, adjoint)
        # a vector that fools no matrix which the search is fooled by
        step = np.arange(n)
        other = ((-1.0) ** step * (1 + step / max(1, n - 1))).astype(dtype)
        value = 2 * float(np.abs(solve(other)).sum()) / (3 * n)
    return max(best, value) if isfinite(best) and isfinite(value) else float("inf")


def _climb(n: int, dtype: str, solve: Solve, adjoint: Solve) -> float:
    x = np.full(n, 1 / n, dtype)
    best, visited = 0.0, set[int]()
    for _ in range(_STEPS):
        y = solve(x)
        size = np.abs(y)
        norm = float(size.sum())
        if not isfinite(norm) or norm <= best:
            return best if isfinite(norm) else norm
        best = norm
        z = adjoint(np.where(size == 0, 1, y / np.where(size == 0, 1, size)).astype(dtype))
        place = int(np.argmax(np.abs(z)))
        if place in visited or np.abs(z[place]) <= abs(np.vdot(z, x)) * (1 + 1e-6):
            return best
        visited.add(place)
        x = np.zeros(n, dtype)
        x[place] = 1
    return best


def norms_of(matrices: Array) -> Array:
    """Return the 1-norms of matrices, the last two axes."""
    with np.errstate(all="ignore"):
        result: Array = np.abs(matrices).sum(axis=-2).max(axis=-1, initial=0)
    return result


def half_as_whole(matrices: Array, lower: bool) -> Array:
    """Return the sizes of the elements of matrices that equal their transposes in size, from one triangle."""
    part = np.abs(np.tril(matrices, -1) if lower else np.triu(matrices, 1))
    diagonal = np.zeros_like(part)
    np.einsum("...ii->...i", diagonal)[...] = np.abs(np.einsum("...ii->...i", matrices))
    whole: Array = part + part.swapaxes(-1, -2) + diagonal
    return whole
