"""Whether a solution solves its system: what direct solvers with static pivoting do not say themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from math import inf, isfinite
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class SingularSystemError(np.linalg.LinAlgError):
    """The system could not be solved: the matrix is singular, or not definite as was said, or nearly so."""


class IllConditionedWarning(UserWarning):
    """A solution is as good as the arithmetic allows, but the matrix is so ill-conditioned that few digits may be right."""


class Verdict(IntEnum):
    """What a residual says."""

    GOOD = 0
    DOUBTFUL = 1  # backward stable, but the residual is large next to b
    BAD = 2


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and the numbers behind it: the residual relative to b, and the backward error, of the worst column."""

    verdict: Verdict
    residual: float
    backward: float


def verdict_of(residual: float, right: float, solution: float, norm: float, n: int, dtype: str) -> Judgement:
    """Judge one column.

    Parameters
    ----------
    residual, right, solution : float
        Largest elements of the residual, the right-hand side and the solution.
    norm : float
        Largest row sum of the absolute values of the matrix.
    n : int
        Number of equations.
    dtype : str
        The real dtype.
    """
    eps = float(np.finfo(dtype).eps)
    if residual == 0 and isfinite(solution):
        return Judgement(Verdict.GOOD, 0.0, 0.0)
    relative = residual / right if right else inf
    scale = norm * solution + right
    backward = residual / scale if scale else inf
    if not (isfinite(solution) and backward <= max(1000.0, 100.0 * n**0.5) * eps):  # NaN fails as well
        return Judgement(Verdict.BAD, relative, backward)
    return Judgement(Verdict.DOUBTFUL if relative > eps**0.5 else Verdict.GOOD, relative, backward)


def judge(apply: Callable[[Array], Array], norm: Callable[[], float], x: Array, b: Array) -> Judgement:
    """Judge the solution of ``a x = b``.

    Parameters
    ----------
    apply : callable
        ``x -> a @ x``.
    norm : callable
        Returns the largest row sum of ``|a|``; it is only called if it is needed.
    x, b : ndarray
        One or several columns.
    """
    with np.errstate(all="ignore"):
        residuals, rights, solutions = (
            np.atleast_1d(np.abs(values).max(axis=0, initial=0)) for values in (apply(x) - b, b, x)
        )  # fmt: skip
    if np.all(residuals <= 64 * np.finfo(b.dtype).eps * rights) and np.isfinite(solutions).all():
        return Judgement(Verdict.GOOD, 0.0, 0.0)
    size = norm()
    columns = zip(residuals.tolist(), rights.tolist(), solutions.tolist(), strict=True)
    judged = [verdict_of(*column, size, len(x), b.real.dtype.name) for column in columns]
    return max(judged, key=lambda judgement: (judgement.verdict, judgement.residual))


def explain(judgement: Judgement, pivots: int, library: str) -> str:
    """Say why a solution is refused, and what can be done."""
    if not isfinite(judgement.residual):
        return (
            f"The system could not be solved by {library}: the solution is not finite. The matrix or the right-hand side has infinities or "
            "NaN, or the matrix is singular, or numbers overflow."
        )
    replaced = f" {pivots} zero or tiny pivot{'s' if pivots != 1 else ''} had to be replaced." if pivots else ""
    return (
        f"The system could not be solved to working precision by {library}: the residual is {judgement.residual:.3g} times the "
        f"right-hand side (backward error {judgement.backward:.3g}).{replaced} The matrix is singular, or nearly so, or not of the "
        "type and view that the options say. For values that have changed since factorize(), call factorize() again."
    )


def doubt(judgement: Judgement) -> str:
    """Say what a warning about a solution means."""
    return (
        f"The matrix is ill-conditioned: the residual is {judgement.residual:.3g} times the right-hand side, although the backward error "
        f"is {judgement.backward:.3g}. Few digits of the solution may be right."
    )
