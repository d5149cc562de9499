"""The norm of an inverse, estimated from a few solutions."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]
Solve = Callable[[Array], Array]

_STEPS: Final = 5


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
