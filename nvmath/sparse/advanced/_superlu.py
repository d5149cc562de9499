"""Sparse systems on the CPU through SciPy's SuperLU: always there, in one thread."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ._condition import equilibrium, structural_text
from ._config import HostConfig
from ._engine import DEFINITE, Engine
from ._options import DirectSolverMatchingAlg as Matching
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverReorderingAlg as Reordering
from ._pattern import Array, Assembly
from ._product import Product
from ._residual import SingularSystemError
from ._superlu_factors import Factors

_ORDERINGS: Final = {
    Reordering.DEFAULT: "COLAMD", Reordering.COLAMD: "COLAMD", Reordering.AMD: "MMD_AT_PLUS_A", Reordering.NONE: "NATURAL"
}  # fmt: skip
_MISSING: Final = "{} is not available from SuperLU. Install MKL (pip install mkl), or use a GPU."


def config() -> HostConfig:
    """Return the settings that SuperLU knows."""
    return HostConfig(
        "SuperLU (MKL is not installed)",
        {
            "reordering_algorithm": tuple(_ORDERINGS),
            "matching_algorithm": (Matching.NONE, Matching.AUTO),
            "pivot_threshold": lambda value: 0 <= value <= 1,
            "ir_num_steps": lambda value: 0 <= value < 2**31,
        },
    )


class SuperluEngine(Engine):
    """A matrix in SuperLU.

    Parameters
    ----------
    kind, dtype, config, threads
        As of :class:`Engine`.
    scaled : bool, default False
        Whether rows and columns are scaled first, by powers of two.
    """

    library = "SuperLU"
    full = True
    _factors: Factors | None = None
    _scales: tuple[Array, Array] | None = None

    def __init__(self, kind: Kind, dtype: str, config: Any, threads: int, *, scaled: bool = False) -> None:
        super().__init__(kind, dtype, config, threads)
        self._scaled = scaled
        # Of a pattern: its entries by columns, where they come from, and products with it.
        self._columns: Any = None
        self._ordering = ""
        self._places: Array = np.empty(0, np.int64)
        self._product: Product | None = None

    def analyse(self, pattern: Assembly, values: Array) -> None:
        """Order the entries by columns, as SuperLU wants them; it plans and factorizes in one step."""
        if pattern.indices.size >= 2**31:
            raise ValueError(
                "SuperLU takes fewer than 2**31 entries. Install MKL (pip install mkl) for larger matrices."
            )
        self.pattern = pattern
        places = np.arange(pattern.indices.size)
        by_rows = sparse.csr_array((places, pattern.indices, pattern.indptr), shape=(pattern.n, pattern.n))
        self._columns = by_rows.tocsc()
        self._places = self._columns.data
        self._product = None
        self._ordering = _ORDERINGS[self.config.get("reordering_algorithm")]

    def factorize(self, values: Array, *, anyway: bool = False) -> None:
        """Factorize; a definite matrix along its diagonal, which shows whether it is definite.

        With `anyway`, a matrix that has no factors gets those of one that is next to it, as from PARDISO.
        """
        if not np.isfinite(values).all():
            raise SingularSystemError("The matrix a has infinities or NaN.")
        matrix = self._by_columns(values)
        self._factors = None
        if self.kind in DEFINITE:
            factors = Factors(lambda: self._along_the_diagonal(matrix))
            if not _is_definite(factors.lu):
                raise SingularSystemError(
                    "The matrix a is not positive definite, or singular: a pivot of SuperLU is not positive."
                )
        else:
            keywords = {"permc_spec": self._ordering, "diag_pivot_thresh": self._threshold()}
            try:
                factors = Factors(lambda: self._splu(matrix, **keywords))
            except SingularSystemError:
                if not anyway:
                    raise
                factors = Factors(lambda: self._splu(_moved(matrix), **keywords))
        pivots = np.abs(factors.lu.U.diagonal())
        eps = np.finfo(pivots.dtype).eps
        self.pivots = int((pivots <= len(pivots) * eps * pivots.max(initial=0)).sum())
        self.nbytes = (matrix.dtype.itemsize + 4) * factors.lu.nnz  # an element and its row
        self._factors = factors

    def _threshold(self) -> float:
        return float(self.config.get("pivot_threshold"))

    def _by_columns(self, values: Array) -> Any:
        self._columns.data = values[self._places]
        if not self._scaled:
            return self._columns
        rows, columns = self._scales = equilibrium(self._columns)
        return sparse.csc_array(sparse.diags_array(rows) @ self._columns @ sparse.diags_array(columns))

    @staticmethod
    def _splu(matrix: Any, **keywords: Any) -> Any:
        if missing := structural_text(matrix):  # SuperLU writes outside of its memory
            raise SingularSystemError(f"The matrix a is singular.{missing}")
        try:
            return splu(matrix, **keywords)
        except RuntimeError as error:
            if "singular" in str(error):
                raise SingularSystemError(
                    "The matrix a is singular: SuperLU met a pivot that is exactly zero."
                ) from error
            raise

    def _along_the_diagonal(self, matrix: Any) -> Any:
        """Factorize without leaving the diagonal, as long as no pivot is zero."""
        return self._splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(self, values: Array, b: Array, x: Array, steps: int, op: str) -> None:
        """Solve."""
        x[...] = self._solved(b, op)
        if steps:
            if self._product is None:
                self._product = Product(self.pattern, self.dtype)
            with np.errstate(all="ignore"):
                for _ in range(steps):
                    x += self._solved(b - self._product(values, x.T, op).T, op)

    def _solved(self, b: Array, op: str) -> Array:
        assert self._factors is not None
        lu = self._factors.lu
        if self._scales is None:
            return lu.solve(b.T, op).T  # type: ignore[no-any-return]
        before, after = self._scales if op == "N" else self._scales[::-1]
        with np.errstate(all="ignore"):  # what overflows is judged with the solution
            return lu.solve((b * before).astype(b.dtype).T, op).T * after  # type: ignore[no-any-return]

    def close(self) -> None:
        """Give up the factors."""
        self._factors = None

    def info(self, name: str) -> Any:
        """Return a piece of information, or raise that SuperLU does not give it."""
        if name == "memory":
            return {}
        assert self._factors is not None
        factors = self._factors.lu
        match name:
            case "info" | "npivots":
                return 0
            case "lu_nnz":
                return int(factors.nnz)
            case "inertia":
                return self._inertia()
            case "diag":
                if self._scales is not None:
                    raise NotImplementedError("The diagonal is not available where the matrix had to be scaled.")
                return factors.U.diagonal()
            case "final_row_permutation":
                return factors.perm_r
            case "final_col_permutation":
                return factors.perm_c
        raise NotImplementedError(_MISSING.format(name))

    def _inertia(self) -> list[int]:
        if self.kind in DEFINITE:
            return [self.pattern.n, 0]
        try:
            factors = self._along_the_diagonal(self._columns)
        except SingularSystemError:
            factors = None
        if factors is None or not _is_along_the_diagonal(factors):
            raise NotImplementedError(
                "The inertia of this matrix needs pivots of two rows. Install MKL (pip install mkl), or use a GPU."
            )
        signs = factors.U.diagonal().real
        return [int((signs > 0).sum()), int((signs < 0).sum())]


def _is_along_the_diagonal(factors: Any) -> bool:
    return np.array_equal(factors.perm_r, factors.perm_c)


def _is_definite(factors: Any) -> bool:
    """Whether the pivots were taken from the diagonal, and all are positive."""
    return _is_along_the_diagonal(factors) and bool((factors.U.diagonal().real > 0).all())


def _moved(matrix: Any) -> Any:
    """A matrix whose diagonal is moved by about what rounding does."""
    size = np.abs(matrix.data).max(initial=0) or 1
    return sparse.csc_array(
        matrix + 100 * np.finfo(matrix.dtype).eps * size * sparse.eye_array(*matrix.shape, dtype=matrix.dtype)
    )
