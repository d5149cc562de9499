"""Batches of small systems through cuBLAS: one call for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.place import Cuda
from ...bindings import cublas, cusolverDn
from . import _kernels
from ._cuda_library import Factors
from ._cusolver import LETTERS, OPERATIONS
from ._handles import BLAS, SOLVERS, Solver
from ._options import Structure
from ._problem import SystemsProblem

_LEFT, _NON_UNIT = 0, 0
_LOWER, _UPPER = 0, 1


class BatchedLibrary:
    """Calls cuBLAS's batched functions, and cuSOLVER's for Cholesky factors.

    Parameters
    ----------
    problem : SystemsProblem
        The systems.
    place : Cuda
        The GPU.
    """

    title = "cuBLAS, batched"
    batched = True
    pivot_nbytes = 4
    may_fuse = True

    def __init__(self, problem: SystemsProblem, place: Cuda) -> None:
        self.device, self.letter = place.device_id, LETTERS[problem.dtype.name]
        self.one, self.info = np.ones(1, problem.dtype.name), np.zeros(1, np.int32)
        self.one_at, self.info_at = self.one.ctypes.data, self.info.ctypes.data
        self.cholesky = problem.structure is Structure.POSITIVE_DEFINITE
        self.triangular = problem.structure.triangular
        self.blas = 0
        self.solver: Solver | None = None
        self.tables: dict[tuple[int, int], _kernels.Addresses] = {}

    def enter(self, stream: int) -> None:
        """Take the handles for work on a stream."""
        self.blas = BLAS.take(self.device, stream)
        if self.cholesky:
            self.solver = SOLVERS.take(self.device, stream)

    def leave(self) -> None:
        """Give the handles back; the work is done."""
        if self.blas:
            BLAS.give(self.device, self.blas)
        if self.solver is not None:
            SOLVERS.give(self.device, self.solver)
        self.blas, self.solver = 0, None

    def work_nbytes(self, factors: Factors, columns: int) -> int:
        """Return 0: the functions want none."""
        return 0

    def _tabulate(self, table: int, base: int, step: int, count: int, stream: int) -> None:
        write = self.tables.get((step, count))
        if write is None:
            write = self.tables[step, count] = _kernels.Addresses(self.device, step, count)
        write(table, base, stream)

    def factorize(self, factors: Factors, stream: int) -> None:
        """Factorize all matrices."""
        n, count = factors.problem.cols, factors.count
        self._tabulate(factors.table, factors.at, factors.step, count, stream)
        if self.solver is not None:
            factorize: Any = getattr(cusolverDn, f"{self.letter}potrf_batched")
            factorize(self.solver.handle, int(not factors.lower), n, factors.table, factors.ld, factors.info, count)
        elif not self.triangular:
            factorize = getattr(cublas, f"{self.letter}getrf_batched")
            factorize(self.blas, n, factors.table, factors.ld, factors.pivots, factors.info, count)

    def solve(self, factors: Factors, letter: str, b: int, step: int, ld: int, columns: int, stream: int) -> None:
        """Solve for right-hand sides at an address, `step` bytes from one system to the next."""
        if self.triangular:
            self.solve_triangle(factors, letter, b, step, ld, columns, stream)
            return
        self._tabulate_sides(factors, b, step, stream)
        if self.cholesky:
            for each in ("N", "C") if factors.lower else ("C", "N"):
                self._triangle(factors, each, ld, columns)
        else:
            solve: Any = getattr(cublas, f"{self.letter}getrs_batched")
            solve(
                self.blas, OPERATIONS[letter], factors.problem.cols, columns, factors.table, factors.ld, factors.pivots,
                factors.side_table, ld, self.info_at, factors.count,
            )  # fmt: skip

    def solve_triangle(self, factors: Factors, letter: str, b: int, step: int, ld: int, columns: int, stream: int) -> None:
        """Solve with a triangle alone."""
        self._tabulate_sides(factors, b, step, stream)
        self._triangle(factors, letter, ld, columns)

    def _tabulate_sides(self, factors: Factors, b: int, step: int, stream: int) -> None:
        if factors.count == 1:  # one of the batch, to look at its condition
            self._tabulate(factors.table, factors.at, factors.step, 1, stream)
        self._tabulate(factors.side_table, b, step, factors.count, stream)

    def _triangle(self, factors: Factors, letter: str, ld: int, columns: int) -> None:
        solve: Any = getattr(cublas, f"{self.letter}trsm_batched")
        triangle = _LOWER if factors.lower else _UPPER
        solve(
            self.blas, _LEFT, triangle, OPERATIONS[letter], _NON_UNIT, factors.problem.cols, columns, self.one_at, factors.table,
            factors.ld, factors.side_table, ld, factors.count,
        )  # fmt: skip
