"""Sparse systems on the CPU through SciPy's SuperLU: always there, in one thread."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ._config import HostConfig
from ._host import HostPlan
from ._options import DirectSolverReorderingAlg as Reordering
from ._pattern import Array
from ._residual import SingularSystemError

_ORDERINGS: Final = {
    Reordering.DEFAULT: "COLAMD", Reordering.COLAMD: "COLAMD", Reordering.AMD: "MMD_AT_PLUS_A", Reordering.NONE: "NATURAL"
}  # fmt: skip


def config() -> HostConfig:
    """Return the settings that SuperLU knows."""
    return HostConfig(
        "SuperLU (MKL is not installed)",
        {
            "reordering_algorithm": tuple(_ORDERINGS),
            "pivot_threshold": lambda value: 0 <= value <= 1,
            "ir_num_steps": lambda value: value >= 0,
        },
    )


class SuperluPlan(HostPlan):
    """A system in SuperLU."""

    library = "SuperLU"
    full = True
    _factors: Any = None

    def _analyse(self, values: Array) -> None:
        if self.assembly.indices.size >= 2**31:
            raise ValueError("SuperLU takes fewer than 2**31 entries. Install MKL (pip install mkl) for larger matrices.")

    def _matrix(self, values: Array) -> Any:
        n = self.problem.n
        return sparse.csr_array(
            (values, self.assembly.indices.astype(np.int32), self.assembly.indptr.astype(np.int32)), shape=(n, n)
        )  # fmt: skip

    def _factorize(self, values: Array) -> None:
        ordering = _ORDERINGS[self.config.get("reordering_algorithm")]
        if not np.isfinite(values).all():
            raise SingularSystemError("The matrix a has infinities or NaN.")
        try:
            self._factors = splu(
                self._matrix(values).tocsc(), permc_spec=ordering, diag_pivot_thresh=self.config.get("pivot_threshold")
            )  # fmt: skip
        except RuntimeError as error:
            if "singular" in str(error):
                raise SingularSystemError("The matrix a is singular: SuperLU met a pivot that is exactly zero.") from error
            raise

    def _solve(self, values: Array, b: Array, x: Array, steps: int) -> None:
        x[...] = self._factors.solve(b)
        if steps:
            matrix = self._matrix(values)
            for _ in range(steps):
                x += self._factors.solve(b - matrix @ x)

    def close(self) -> None:
        """Give up the factors."""
        self._factors = None

    def info(self, name: str) -> Any:
        """Return a piece of information, or raise that SuperLU does not give it."""
        match name:
            case "memory":
                return {}
            case "info" | "npivots":
                return 0
            case "lu_nnz":
                return int(self._factors.nnz)
        raise NotImplementedError(f"{name} is not available from SuperLU. Install MKL (pip install mkl), or use a GPU.")
