"""Whether a matrix of which nothing was said has no negative eigenvalue: symmetric, and no row outweighs its diagonal element."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ._pattern import Array, Assembly

_SLACK = 100
"""Rounding units by which a row may outweigh its diagonal element, which was summed up from it."""


class Dominance:
    """Tells it of real values of a pattern; then they can be factorized as those of a positive definite matrix (Gershgorin's circles).

    Parameters
    ----------
    pattern : Assembly
        With all entries of the matrix.
    """

    __slots__ = ("_diagonal", "_mirror", "_possible", "_starts")

    def __init__(self, pattern: Assembly) -> None:
        n, places = pattern.n, np.arange(pattern.indices.size)
        by_columns = sparse.csr_array((places, pattern.indices, pattern.indptr), shape=(n, n)).tocsc()
        self._mirror = by_columns.data  # where the mirror image of each entry is
        self._diagonal = np.flatnonzero(self._mirror == places)
        self._starts = pattern.indptr[:-1]
        self._possible = (
            self._diagonal.size == n
            and np.array_equal(by_columns.indptr, pattern.indptr)
            and np.array_equal(by_columns.indices, pattern.indices)
        )

    def __call__(self, values: Array) -> bool:
        """Whether the values are symmetric and dominated by a positive diagonal; not if some are NaN."""
        if not self._possible:
            return False
        diagonal = values[self._diagonal]
        if not (diagonal > 0).all() or not np.array_equal(values, values[self._mirror]):
            return False
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(np.abs(values), self._starts)
            limits = diagonal * values.dtype.type(2 + _SLACK * np.finfo(values.dtype).eps)
        return bool((sums <= limits).all())
