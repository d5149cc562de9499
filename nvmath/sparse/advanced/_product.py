"""Products with the matrix on the CPU, for residuals: MKL's with several threads, or SciPy's, kept ready for values that change."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy import sparse

from ...bindings import mkl_pardiso
from ...bindings._seam import pointer
from ._pattern import Array, Assembly

_UNEVEN: Final = 1e4
_ENTRIES_FOR_THREADS: Final = 100_000
"""Below, one thread of SciPy is as fast."""


class Product:
    """Multiplies by a matrix in CSR, or by its transpose or adjoint.

    Parameters
    ----------
    pattern : Assembly
        Where its entries are.
    dtype : str
        Of the values.
    half : bool
        Whether only the upper triangle of a symmetric or Hermitian matrix is there.
    hermitian : bool
        Which of the two.
    threads : int
        How many may be used.
    """

    __slots__ = ("_diagonal", "_matrix", "_mirror", "_pattern", "half", "hermitian")

    def __init__(
        self, pattern: Assembly, dtype: str, *, half: bool = False, hermitian: bool = False, threads: int = 1
    ) -> None:
        large = threads > 1 and pattern.indices.size >= _ENTRIES_FOR_THREADS and dtype.startswith("float")
        self._pattern = pattern if large and mkl_pardiso.can_multiply() else None
        zeros = np.zeros(pattern.indices.size, dtype)
        self._matrix = sparse.csr_array((zeros, pattern.indices, pattern.indptr), shape=(pattern.n, pattern.n))
        self._mirror: sparse.csc_array | None = None
        self.half, self.hermitian = half, hermitian
        self._diagonal = pattern.indptr[:-1] if half else None  # where the triangle begins in each row

    def __call__(self, values: Array, x: Array, op: str = "N") -> Array:
        """Return ``a @ x``, ``a.T @ x`` or ``a.conj().T @ x`` for `op` N, T or H."""
        if self._pattern is not None and x.ndim == 1:
            y = np.empty_like(x)
            pattern, name = self._pattern, values.dtype.name
            where = (pointer(array) for array in (pattern.indptr, pattern.indices, values, x, y))
            if mkl_pardiso.multiply(name, pattern.n, *where, transposed=op != "N", half=self.half):
                return y
        self._matrix.data = values
        if self.half:  # then op is N, since libraries are asked for nothing else
            return self._by_half(values, x)
        if op == "N":
            return self._matrix @ x  # type: ignore[no-any-return]
        if op == "T":
            return self._transposed(values) @ x  # type: ignore[no-any-return]
        return (self._transposed(values) @ x.conj()).conj()  # type: ignore[no-any-return]

    def _transposed(self, values: Array) -> sparse.csc_array:
        """The transpose, made when it is first needed."""
        if self._mirror is None:
            self._mirror = self._matrix.T
        self._mirror.data = values
        return self._mirror

    def _by_half(self, values: Array, x: Array) -> Array:
        """Upper triangle times x, plus its mirror image, less the diagonal that was counted twice."""
        diagonal, transposed = values[self._diagonal], self._transposed(values)
        if self.hermitian:
            lower, diagonal = (transposed @ x.conj()).conj(), diagonal.conj()
        else:
            lower = transposed @ x
        result = self._matrix @ x
        result += lower
        result -= diagonal * x if x.ndim == 1 else diagonal[:, None] * x
        return result  # type: ignore[no-any-return]

    def sizes(self, values: Array, x: Array, op: str = "N") -> Array:
        """Return ``|op(a)| @ |x|``; of half a matrix the diagonal is counted twice."""
        self._matrix.data = values = np.abs(values)
        x = np.abs(x)
        if self.half:
            return self._matrix @ x + self._transposed(values) @ x  # type: ignore[no-any-return]
        return (self._matrix if op == "N" else self._transposed(values)) @ x  # type: ignore[no-any-return]

    def sums(self, values: Array, op: str = "N") -> Array:
        """Row sums of ``|op(a)|``."""
        return self.sizes(values, np.ones(self._matrix.shape[0], values.real.dtype), op)

    def is_uneven(self, values: Array, sizes: Array, largest: float) -> bool:
        """Whether rows or columns are so different in size that the norm of the matrix says little about some of them.

        Parameters
        ----------
        values, sizes : ndarray
            The values, and their absolute values.
        largest : float
            The largest of these.
        """
        if _UNEVEN * float(np.minimum.reduce(sizes)) >= largest:  # then no row can be much smaller than another
            return False
        sums = [self.sums(values)] if self.half else [self.sums(values), self.sums(values, "T")]
        return any(_UNEVEN * float(one.min()) < float(one.max()) for one in sums)
