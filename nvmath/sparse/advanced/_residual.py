"""Whether a solution solves its system: what direct solvers with static pivoting do not say themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
    """A verdict and the numbers behind it: the residual relative to b of the worst column, and the largest backward error."""

    verdict: Verdict
    residual: float
    backward: float
    improvable: bool = False
    """Whether the arithmetic allows a smaller backward error."""

    @property
    def refused(self) -> bool:
        """Whether a solution is not good enough."""
        return self.verdict is Verdict.BAD


PERFECT: Final = Judgement(Verdict.GOOD, 0.0, 0.0)


def worst(judgements: list[Judgement]) -> Judgement:
    """The judgement of the worst of several solutions."""
    if len(judgements) < 2:
        return judgements[0] if judgements else PERFECT
    of_verdict = max(judgements, key=lambda judgement: (judgement.verdict, judgement.residual))
    backward, improvable = max(one.backward for one in judgements), any(one.improvable for one in judgements)
    return Judgement(of_verdict.verdict, of_verdict.residual, backward, improvable)


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
    relative = residual / right if right else inf
    norm = min(norm, _MAX[dtype])  # or sums that overflow would hide everything
    if residual <= TINY[dtype] * (norm + 1) and isfinite(
        solution
    ):  # products and quotients that underflow are no fault
        return Judgement(Verdict.GOOD, relative, 0.0) if residual else PERFECT
    size = solution + right / norm if norm else right
    backward = residual / (norm or 1) / size if size else inf
    return _weighed(backward, relative, isfinite(solution), n, dtype)


def _weighed(backward: float, relative: float, finite: bool, n: int, dtype: str) -> Judgement:
    """The judgement of a backward error."""
    eps = EPS[dtype]
    improvable = not backward <= _IMPROVABLE * eps
    if not (finite and backward <= min(max(1000.0, 100.0 * n**0.5) * eps, _LARGEST)):  # NaN fails as well
        return Judgement(Verdict.BAD, relative, backward, improvable)
    return Judgement(Verdict.DOUBTFUL if relative > DOUBTFUL[dtype] else Verdict.GOOD, relative, backward, improvable)


EPS: Final = {
    key: float(np.finfo(name).eps)
    for name in ("f4", "f8", "c8", "c16")
    for key in (np.dtype(name).name, np.dtype(name).char)
}
"""Rounding units, by name and character of a dtype."""
TINY: Final = {key: float(np.finfo(key).tiny) for key in EPS}
"""The smallest normal numbers, likewise: libraries may flush what is below to 0."""
_MAX: Final = {key: float(np.finfo(key).max) for key in EPS}
_IMPROVABLE: Final = 64.0
"""Rounding units from which on a backward error is worth refinement: libraries leave 1 to 5, but 100 to 10,000 where pivots grow."""
_LARGEST: Final = 1.2e-4
"""The backward error that is never good enough: a thousand rounding units of single precision."""
DOUBTFUL: Final = {"float32": 1e-2, "float64": 1.5e-8}
"""From which size of the residual, next to b, or of a correction, next to x, the condition is worth a warning."""
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
    if all(residual <= _IMPROVABLE * eps * right and isfinite(solution) for residual, right, solution in columns):
        return Judgement(
            Verdict.GOOD, max((residual / right for residual, right, _ in columns if right), default=0.0), 0.0
        )
    size = norm()
    return worst([verdict_of(*column, size, len(x), b.real.dtype.name) for column in columns])


def judge_by_rows(product: Callable[[Array], Array], sizes: tuple[Array, Array], x: Array, b: Array) -> Judgement:
    """Judge the solution of a system whose rows or columns are very different in size, as if they were all scaled to about 1.

    Parameters
    ----------
    product : callable
        ``x -> a @ x``, a new array.
    sizes : tuple of ndarray
        Those of the rows and of the columns of the matrix, see :func:`sizes_of`.
    x, b : ndarray
        One or several columns, of shape (n,) or (n, k).
    """
    name = b.real.dtype.name
    rows, columns = sizes if x.ndim == 1 else (size[:, None] for size in sizes)
    with np.errstate(all="ignore"):
        residuals = np.abs(product(x) - b)
        right = np.abs(b)
        relatives = np.atleast_1d(residuals.max(axis=0) / right.max(axis=0))
        counts = residuals > TINY[name] * (1 + rows)  # else what underflows; and NaN is left to x
        weights = (columns * np.abs(x)).max(axis=0) + right / rows
        errors = np.where(counts | ~np.isfinite(residuals), residuals / rows / weights, 0)
    backward = float(errors.max(initial=0.0))
    relative = float(relatives.max(initial=0.0)) if backward else 0.0
    found = _weighed(backward, 0.0, bool(np.isfinite(x).all()), len(x), name)  # next to b other scales would count
    return replace(found, residual=relative)


def sizes_of(matrix: Any) -> tuple[Array, Array]:
    """The largest absolute value in each row of a matrix in CSR, and in each column after rows have been divided by theirs."""
    sizes = abs(matrix)
    rows = sizes.max(axis=1).toarray().ravel()
    with np.errstate(all="ignore"):
        sizes.data /= np.repeat(rows, np.diff(sizes.indptr))
    return rows, sizes.max(axis=0).toarray().ravel()


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
