"""Whether a solution solves its system: what direct solvers with static pivoting do not say themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from math import inf, isfinite
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]


class SingularSystemError(np.linalg.LinAlgError):
    """The system could not be solved: the matrix is singular, or not definite as was said, or nearly so."""


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

    @property
    def refused(self) -> bool:
        """Whether a solution is not good enough."""
        return self.verdict is Verdict.BAD


PERFECT: Final = Judgement(Verdict.GOOD, 0.0, 0.0)


def worst(judgements: list[Judgement]) -> Judgement:
    """The judgement of the worst of several solutions."""
    return max(judgements, key=lambda judgement: (judgement.verdict, judgement.residual), default=PERFECT)


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
    eps = EPS[dtype]
    if residual == 0 and isfinite(solution):
        return PERFECT
    relative = residual / right if right else inf
    scale = norm * solution + right
    backward = residual / scale if scale else inf
    if not (isfinite(solution) and backward <= max(1000.0, 100.0 * n**0.5) * eps):  # NaN fails as well
        return Judgement(Verdict.BAD, relative, backward)
    return Judgement(Verdict.DOUBTFUL if relative > _DOUBTFUL[dtype] else Verdict.GOOD, relative, backward)


EPS: Final = {
    key: float(np.finfo(name).eps)
    for name in ("f4", "f8", "c8", "c16")
    for key in (np.dtype(name).name, np.dtype(name).char)
}
"""Rounding units, by name and character of a dtype."""
_DOUBTFUL: Final = {"float32": 1e-2, "float64": 1.5e-8}
"""From which size of the residual, next to b, the condition is worth a warning."""
_largest: Final = np.maximum.reduce
_least: Final = np.minimum.reduce
_LONG: Final = 1 << 12
"""From this many elements on it takes less time to look twice than to write their absolute values down."""


def _peak(values: Array) -> Any:
    """The largest absolute value of each column; NaN if there is one."""
    if values.size < _LONG or values.dtype.kind == "c":
        return _largest(np.abs(values))
    return np.maximum(_largest(values), -_least(values))


def judge(product: Callable[[Array], Array], norm: Callable[[], float], x: Array, b: Array) -> Judgement:
    """Judge the solution of ``a x = b``.

    Parameters
    ----------
    product : callable
        ``x -> a @ x``, a new array.
    norm : callable
        Returns the largest row sum of ``|a|``; it is only called if it is needed.
    x, b : ndarray
        One or several columns, of shape (n,) or (n, k).
    """
    eps = EPS[b.dtype.char]
    with np.errstate(all="ignore"):
        difference = product(x)
        difference -= b
        peaks = [_peak(values) for values in (difference, b, x)]
    columns: list[tuple[float, float, float]] = (
        [(float(peaks[0]), float(peaks[1]), float(peaks[2]))]
        if b.ndim == 1
        else list(zip(*(peak.tolist() for peak in peaks), strict=True))
    )
    if all(residual <= 64 * eps * right and isfinite(solution) for residual, right, solution in columns):
        return Judgement(
            Verdict.GOOD, max((residual / right for residual, right, _ in columns if right), default=0.0), 0.0
        )
    size = norm()
    return worst([verdict_of(*column, size, len(x), b.real.dtype.name) for column in columns])


def judge_by_rows(product: Callable[[Array], Array], sizes: Callable[[Array], Array], x: Array, b: Array) -> Judgement:
    """Judge the solution of a system whose rows or columns are very different in size: every equation by its own terms.

    Parameters
    ----------
    product, sizes : callable
        ``x -> a @ x`` and ``x -> |a| @ |x|``, new arrays.
    x, b : ndarray
        One or several columns, of shape (n,) or (n, k).
    """
    with np.errstate(all="ignore"):
        residuals = np.abs(product(x) - b)
        terms = sizes(x)
        terms += np.abs(b)
        errors = np.where(residuals == 0, 0, residuals / terms)
        backward = float(errors.max(initial=0.0))
        relative = (
            float(np.atleast_1d(residuals.max(axis=0) / np.abs(b).max(axis=0)).max(initial=0.0)) if backward else 0.0
        )
    finite = bool(np.isfinite(x).all())
    good = finite and backward <= max(1000.0, 100.0 * len(x) ** 0.5) * EPS[b.dtype.char]
    return Judgement(Verdict.GOOD if good else Verdict.BAD, relative, backward)


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
        f"type and view that the options say. For values that have changed since factorize(), call factorize() again."
    )


def doubt(judgement: Judgement) -> str:
    """Say what a warning about a solution means."""
    return (
        f"The matrix is ill-conditioned: the residual is {judgement.residual:.3g} times the right-hand side, although the backward error "
        f"is {judgement.backward:.3g}. Few digits of the solution may be right."
    )
