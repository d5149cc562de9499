"""Sparse systems on the CPU through MKL PARDISO."""

from __future__ import annotations

from array import array
from contextlib import nullcontext
from math import log10
from typing import Any, Final

import numpy as np

from ..._core.fork import children
from ..._core.options import available_threads
from ...bindings import mkl_pardiso
from ...bindings._seam import pointer
from ._config import HostConfig
from ._host import HostPlan
from ._options import DirectSolverMatchingAlg as Matching
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverReorderingAlg as Reordering
from ._options import PivotType
from ._pattern import Array
from ._problem import SystemProblem
from ._residual import SingularSystemError

_ENTRIES_FOR_THREADS: Final = 20_000
"""Below, waking threads costs more than they save."""
_ANALYSE, _FACTORIZE, _SOLVE, _RELEASE = 11, 22, 33, -1
_TYPES: Final = {
    # (kind, complex): mtype
    (Kind.GENERAL, False): 11, (Kind.GENERAL, True): 13, (Kind.SYMMETRIC, False): -2, (Kind.SYMMETRIC, True): 6,
    (Kind.HERMITIAN, True): -4, (Kind.SPD, False): 2, (Kind.HPD, True): 4,
}  # fmt: skip
_ORDERINGS: Final = {Reordering.DEFAULT: 2, Reordering.NESTED_DISSECTION: 2, Reordering.AMD: 0, Reordering.NONE: 0}


def _is_power_of_ten(value: float) -> bool:
    return value < 0 or (0 < value < 1 and abs(log10(value) - round(log10(value))) < 1e-9)


def config() -> HostConfig:
    """Return the settings that PARDISO knows."""
    return HostConfig(
        "MKL PARDISO",
        {
            "host_nthreads": lambda value: value > 0,
            "reordering_algorithm": tuple(_ORDERINGS),
            "matching_algorithm": (Matching.NONE, Matching.MAX_DIAG_PRODUCT, Matching.AUTO),
            "pivot_type": (PivotType.PIVOT_AUTO, PivotType.PIVOT_DIAGONAL, PivotType.PIVOT_BUNCH_KAUFMAN),
            "pivot_eps": _is_power_of_ten,
            "ir_num_steps": lambda value: value >= 0,
        },
    )


class PardisoPlan(HostPlan):
    """A system in MKL PARDISO."""

    library = "MKL PARDISO"

    def __init__(self, problem: SystemProblem, config: Any, threads: int) -> None:
        super().__init__(problem, config, threads)
        self.mtype = _TYPES[problem.kind, problem.dtype.kind == "c"]
        self.pt, self.iparm = array("q", [0] * 64), array("q", [0] * 64)
        self.permutation: Array | None = None
        self.generation = children.generation
        self.open = False

    # --- phases ---------------------------------------------------------------------------------------------------------------------

    def _analyse(self, values: Array) -> None:
        self._set_up()
        self._call(_ANALYSE, values)
        self.open = True

    def _factorize(self, values: Array) -> None:
        self._set_pivoting()
        self._call(_FACTORIZE, values)

    def _solve(self, values: Array, b: Array, x: Array, steps: int) -> None:
        self.iparm[7] = steps
        self._call(_SOLVE, values, b, x)

    def _set_up(self) -> None:
        config, iparm = self.config, self.iparm
        general = self.problem.kind is Kind.GENERAL
        ordering = config.get("reordering_algorithm")
        iparm[0] = 1  # no defaults
        iparm[1] = _ORDERINGS[ordering]
        if ordering is Reordering.NONE:
            self.permutation = np.arange(self.problem.n, dtype=np.int64)
            iparm[4] = 1
        matching = int(config.get("matching_algorithm") is not Matching.NONE and general)
        iparm[10] = iparm[12] = matching
        iparm[17] = -1  # report the number of elements of the factors
        iparm[26] = 0  # the pattern has been checked
        iparm[27] = int(self.problem.dtype.real.name == "float32")
        iparm[34] = 1  # indices from 0
        self._set_pivoting()

    def _set_pivoting(self) -> None:
        config, iparm = self.config, self.iparm
        eps = config.get("pivot_eps")
        indefinite = self.problem.kind in (Kind.SYMMETRIC, Kind.HERMITIAN)
        iparm[9] = round(-log10(eps)) if eps > 0 else 8 if indefinite else 13
        if eps <= 0 and self.problem.dtype.real.name == "float32":
            iparm[9] = 5
        iparm[20] = int(config.get("pivot_type") is not PivotType.PIVOT_DIAGONAL)

    def _call(self, phase: int, values: Array | None, b: Array | None = None, x: Array | None = None) -> None:
        if phase == _ANALYSE and self.problem.nnz == 0 and self.problem.n:
            raise SingularSystemError("The matrix a has no entries, so it is singular.")
        assembly = self.assembly
        threads = self.config.get("host_nthreads")
        if threads < 1:
            threads = self.threads if self.problem.nnz >= _ENTRIES_FOR_THREADS else 1
        permutation = 0 if self.permutation is None else pointer(self.permutation)
        columns = 1 if b is None or b.ndim == 1 else b.shape[1]
        limit = mkl_pardiso.at_most(threads) if threads != available_threads() else nullcontext()
        try:
            with limit:
                mkl_pardiso.pardiso(
                    self.pt, self.mtype, phase, self.problem.n, 0 if values is None else pointer(values), pointer(assembly.indptr),
                    pointer(assembly.indices), permutation, columns, self.iparm, 0 if b is None else pointer(b),
                    0 if x is None else pointer(x),
                )  # fmt: skip
        except mkl_pardiso.PardisoError as error:
            if error.error in mkl_pardiso.SINGULAR and phase != _RELEASE:
                definite = self.problem.kind in (Kind.SPD, Kind.HPD)
                what = "not positive definite, or singular" if definite else "singular"
                raise SingularSystemError(f"The matrix a is {what}: {error}.") from error
            raise

    def close(self) -> None:
        """Release PARDISO's memory."""
        if self.open and self.generation == children.generation:
            self.open = False
            self._call(_RELEASE, None)

    def __del__(self) -> None:
        self.close()

    # --- what can be asked ------------------------------------------------------------------------------------------------------------

    @property
    def pivots(self) -> int:
        """Number of pivots that were replaced."""
        return self.iparm[13]

    def info(self, name: str) -> Any:
        """Return a piece of information, or raise that PARDISO does not give it."""
        iparm, kib = self.iparm, 1024
        index = self.problem.indices.name
        match name:
            case "memory":
                permanent = (iparm[15] + iparm[16]) * kib
                return {"peak_host_memory": max(iparm[14] * kib, permanent), "permanent_host_memory": permanent}
            case "info":
                return 0
            case "lu_nnz":
                return iparm[17]
            case "npivots":
                return iparm[13]
            case "inertia":
                if self.problem.kind is Kind.GENERAL:
                    return np.zeros(2, index)
                if self.problem.kind in (Kind.SPD, Kind.HPD):
                    return np.array([self.problem.n, 0], index)
                return np.array([iparm[21], iparm[22]], index)
        raise NotImplementedError(f"{name} is not available from MKL PARDISO yet. On a GPU cuDSS gives it.")
