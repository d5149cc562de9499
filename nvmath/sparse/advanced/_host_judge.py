"""The matrix in host memory as solutions are judged by it, which is not always what is factorized: all entries that are there count."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, Final

import numpy as np
from scipy import sparse

from ._condition import whole
from ._pattern import Array, Assembly
from ._product import Product
from ._residual import DOUBTFUL, EPS, Judgement, SingularSystemError, judge, judge_by_rows, sizes_of

_STEPS: Final = 10
"""Corrections of a solution, at most."""
_REAL: Final = 100
"""Rounding units, next to the largest element, up to which the imaginary part of a number counts as none."""
Solve = Callable[[Array, Array], None]


class HostJudge:
    """Judges solutions of one system, and makes them better.

    Parameters
    ----------
    pattern : Assembly
        The entries.
    dtype : str
        Of the values.
    half : bool
        Whether they are the upper triangle only.
    hermitian : bool
        Whether the matrix is said to be Hermitian.
    threads : int
        How many may be used.
    """

    def __init__(self, pattern: Assembly, dtype: str, *, half: bool, hermitian: bool, threads: int) -> None:
        self.pattern = pattern
        self.largest = 0.0
        """Absolute value of the largest element."""
        self.uneven = False
        """Whether rows or columns are very different in size."""
        self._complex_diagonal = hermitian and dtype.startswith("complex")
        self._product = Product(pattern, dtype, half=half, hermitian=hermitian, threads=threads)
        self._norm: float | None = None  # of the values that were looked at, when they were first judged by
        self._sizes: dict[bool, tuple[Array, Array]] = {}

    def whole(self, data: Array) -> Any:
        """The matrix as a SciPy matrix with all its entries."""
        return whole(self.pattern, data, self._product.half, self._product.hermitian)

    def look_at(self, data: Array) -> None:
        """Note what is to be known of values before they are factorized.

        Raises
        ------
        SingularSystemError
            Some are not finite.
        ValueError
            The diagonal of a Hermitian matrix is not real.
        """
        values = self.pattern.values(data)
        sizes = np.abs(values)
        self.largest = float(np.maximum.reduce(sizes))
        if not isfinite(self.largest) and not np.isfinite(values).all():
            raise SingularSystemError("The matrix a has infinities or NaN.")
        if self._complex_diagonal:
            self._check_diagonal(values)
        self.uneven, self._norm = self._product.is_uneven(values, sizes, self.largest), None
        self._sizes.clear()

    def _check_diagonal(self, values: Array) -> None:
        pattern, n = self.pattern, self.pattern.n
        diagonal = sparse.csr_array((values, pattern.indices, pattern.indptr), shape=(n, n)).diagonal()
        wrong = np.flatnonzero(np.abs(diagonal.imag) > _REAL * EPS[values.dtype.char] * self.largest)
        if wrong.size:
            i = wrong[0]
            raise ValueError(
                f"The matrix a is said to be Hermitian, but element ({i}, {i}) has an imaginary part of {abs(diagonal[i].imag):.6g}."
            )

    def judge(self, data: Array, b: Array, x: Array, op: str) -> Judgement:
        """Judge solutions of ``op(a) x = b``, which are rows of contiguous arrays (k, n)."""
        product, values = self._product, self.pattern.values(data)
        x, b = (x[0], b[0]) if len(b) == 1 else (x.T, b.T)
        if self.uneven:
            return judge_by_rows(lambda v: product(values, v, op), self._sizes_of(data, op), x, b)
        return judge(lambda v: product(values, v, op), lambda: self._norm_of(values), x, b)

    def refine(self, solve: Solve, data: Array, b: Array, x: Array, op: str, judgement: Judgement) -> Judgement:
        """Correct solutions as long as that makes them better.

        Parameters
        ----------
        solve : callable
            ``(b, x)``: writes to x what the factors give for b.
        data, b, x, op
            As of :meth:`judge`; x is written to.
        judgement : Judgement
            Of x as it is.
        """
        for _ in range(_STEPS):
            with np.errstate(all="ignore"):
                better = self._correction(solve, data, b, x, op)
                better += x
            found = self.judge(data, b, better, op)
            if not found.backward < judgement.backward:  # NaN as well
                break
            x[...], slow, judgement = better, 2 * found.backward > judgement.backward, found
            if slow or not found.improvable:
                break
        return judgement

    def is_settled(self, solve: Solve, data: Array, b: Array, x: Array, op: str) -> bool:
        """Whether another step of refinement would not change solutions by much: then their error is small, whatever the residual."""
        with np.errstate(all="ignore"):
            changes, sizes = (np.abs(each).max(axis=1) for each in (self._correction(solve, data, b, x, op), x))
            return bool((changes <= DOUBTFUL[b.real.dtype.name] * sizes).all())

    def _correction(self, solve: Solve, data: Array, b: Array, x: Array, op: str) -> Array:
        one, correction = len(b) == 1, np.empty_like(x)
        rest = (b[0] if one else b.T) - self._product(self.pattern.values(data), x[0] if one else x.T, op)
        solve(np.ascontiguousarray(rest.T).reshape(b.shape), correction)
        return correction

    def _norm_of(self, values: Array) -> float:
        """The largest row sum."""
        if self._norm is None:
            self._norm = float(self._product.sums(values).max())
        return self._norm

    def _sizes_of(self, data: Array, op: str) -> tuple[Array, Array]:
        """Those of the rows and columns of op(a)."""
        transposed = op != "N"
        if transposed not in self._sizes:
            matrix = self.whole(data)
            self._sizes[transposed] = sizes_of(matrix.T.tocsr() if transposed else matrix)
        return self._sizes[transposed]
