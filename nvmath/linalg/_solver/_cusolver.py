"""Systems one by one through cuSOLVER's functions with 64-bit sizes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..._core.place import Cuda
from ...bindings import cublas, cusolverDn
from ._cuda_library import Factors
from ._handles import BLAS, SOLVERS, Solver
from ._options import Structure
from ._problem import SystemsProblem

OPERATIONS: Final = {"N": 0, "T": 1, "C": 2}
LETTERS: Final = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_LEFT, _LOWER, _UPPER, _NON_UNIT = 0, 0, 1, 0


class LoopedLibrary:
    """Calls cuSOLVER once for each system.

    Parameters
    ----------
    problem : SystemsProblem
        The systems.
    place : Cuda
        The GPU.
    handle : int, optional
        A cuSOLVER handle of the caller.
    """

    title = "cuSOLVER"
    batched = False
    pivot_nbytes = 8

    def __init__(self, problem: SystemsProblem, place: Cuda, handle: int | None) -> None:
        self.device, self.user_handle = place.device_id, None if handle is None else int(handle)
        self.may_fuse = handle is None  # else the caller says who shall work
        self.code, self.letter = problem.dtype.code, LETTERS[problem.dtype.name]
        self.item = problem.dtype.itemsize
        self.one = np.ones(1, problem.dtype.name)
        self.triangular, self.least_squares = problem.structure.triangular, problem.least_squares
        self.cholesky = problem.structure is Structure.POSITIVE_DEFINITE
        self.solver = Solver(0, 0)
        self.blas = self.stream_before = 0
        self.needs: dict[int, int] = {}
        self.factor_nbytes = 0
        self.host = np.empty(0, np.uint8)
        self.tail = 0, 0

    def enter(self, stream: int) -> None:
        """Take the handles for work on a stream."""
        if self.triangular or self.least_squares:
            self.blas = BLAS.take(self.device, stream)
        if self.user_handle is not None:
            self.stream_before = cusolverDn.get_stream(self.user_handle)
            self.solver = Solver(self.user_handle, cusolverDn.create_params())
            cusolverDn.set_stream(self.user_handle, stream)
        elif not self.triangular:
            self.solver = SOLVERS.take(self.device, stream)

    def leave(self) -> None:
        """Give the handles back; the work is done."""
        blas, solver, self.blas, self.solver = self.blas, self.solver, 0, Solver(0, 0)
        if blas:
            BLAS.give(self.device, blas)
        if solver.handle and self.user_handle is None:
            SOLVERS.give(self.device, solver)
        elif solver.handle:
            cusolverDn.set_stream(solver.handle, self.stream_before)
            cusolverDn.destroy_params(solver.params)

    def work_nbytes(self, factors: Factors, columns: int) -> int:
        """Return how much device memory the calls want."""
        found = self.needs.get(columns)
        if found is None:
            found, on_host = (0, 0) if self.triangular else self._factor_sizes(self.solver, factors)
            self.factor_nbytes = found
            if self.least_squares:
                found = max(found, self._project_size(self.solver, factors, columns) * self.item)
            self.host = np.empty(on_host, np.uint8)
            self.tail = self.host.ctypes.data if on_host else 0, on_host
            self.needs[columns] = found
        return found

    def _factor_sizes(self, lent: Solver, factors: Factors) -> tuple[int, int]:
        problem, code = factors.problem, self.code
        if problem.least_squares:
            sizes: tuple[int, int] = cusolverDn.xgeqrf_buffer_size(
                lent.handle, lent.params, problem.rows, problem.cols, code, factors.at, factors.ld, code, factors.tau, code
            )
        elif problem.structure is Structure.POSITIVE_DEFINITE:
            sizes = cusolverDn.xpotrf_buffer_size(
                lent.handle, lent.params, _triangle(factors), problem.cols, code, factors.at, factors.ld, code
            )
        else:
            sizes = cusolverDn.xgetrf_buffer_size(
                lent.handle, lent.params, problem.rows, problem.cols, code, factors.at, factors.ld, code
            )
        return sizes

    def _project_size(self, lent: Solver, factors: Factors, columns: int) -> int:
        problem = factors.problem
        name = f"{self.letter}{'unmqr' if self.letter in 'cz' else 'ormqr'}_buffer_size"
        adjoint = OPERATIONS["C" if self.letter in "cz" else "T"]
        return int(
            getattr(cusolverDn, name)(
                lent.handle, _LEFT, adjoint, problem.rows, columns, problem.cols, factors.at, factors.ld, factors.tau, factors.at,
                max(1, problem.rows),
            )
        )  # fmt: skip

    def factorize(self, factors: Factors, stream: int) -> None:
        """Factorize all matrices."""
        if self.triangular:
            return
        problem, code, (handle, params) = factors.problem, self.code, self.solver
        tail = code, factors.work, self.factor_nbytes, *self.tail
        for index in range(factors.count):
            at, info = factors.at + index * factors.step, factors.info + 4 * index
            if self.least_squares:
                tau = factors.tau + index * problem.cols * self.item
                cusolverDn.xgeqrf(handle, params, problem.rows, problem.cols, code, at, factors.ld, code, tau, *tail, info)
            elif self.cholesky:
                cusolverDn.xpotrf(handle, params, _triangle(factors), problem.cols, code, at, factors.ld, *tail, info)
            else:
                pivots = factors.pivots + index * problem.cols * self.pivot_nbytes
                cusolverDn.xgetrf(handle, params, problem.rows, problem.cols, code, at, factors.ld, pivots, *tail, info)

    def solve(self, factors: Factors, letter: str, b: int, step: int, ld: int, columns: int, stream: int) -> None:
        """Solve for right-hand sides at an address, `step` bytes from one system to the next."""
        if self.least_squares:
            self._project(factors, b, step, ld, columns)
        if self.triangular or self.least_squares:
            self.solve_triangle(factors, letter, b, step, ld, columns, stream)
            return
        n, code, spare = factors.problem.cols, self.code, factors.side_table  # where the report goes: it cannot tell anything
        handle, params = self.solver
        for index in range(factors.count):
            at, side = factors.at + index * factors.step, b + index * step
            if self.cholesky:
                cusolverDn.xpotrs(handle, params, _triangle(factors), n, columns, code, at, factors.ld, code, side, ld, spare)
            else:
                pivots, operation = factors.pivots + index * n * self.pivot_nbytes, OPERATIONS[letter]
                cusolverDn.xgetrs(handle, params, operation, n, columns, code, at, factors.ld, pivots, code, side, ld, spare)

    def _project(self, factors: Factors, b: int, step: int, ld: int, columns: int) -> None:
        """Multiply right-hand sides by the adjoint of Q."""
        problem = factors.problem
        multiply: Any = getattr(cusolverDn, f"{self.letter}{'unmqr' if self.letter in 'cz' else 'ormqr'}")
        adjoint = OPERATIONS["C" if self.letter in "cz" else "T"]
        lwork = self.needs[columns] // self.item
        for index in range(factors.count):
            tau = factors.tau + index * problem.cols * self.item
            multiply(
                self.solver.handle, _LEFT, adjoint, problem.rows, columns, problem.cols, factors.at + index * factors.step, factors.ld,
                tau, b + index * step, ld, factors.work, lwork, factors.side_table,
            )  # fmt: skip

    def solve_triangle(self, factors: Factors, letter: str, b: int, step: int, ld: int, columns: int, stream: int) -> None:
        """Solve with a triangle: the matrix itself, or R of a QR factorization."""
        triangle = _UPPER if self.least_squares else _triangle(factors)
        solve: Any = getattr(cublas, f"{self.letter}trsm")
        for index in range(factors.count):
            solve(
                self.blas, _LEFT, triangle, OPERATIONS[letter], _NON_UNIT, factors.problem.cols, columns, self.one.ctypes.data,
                factors.at + index * factors.step, factors.ld, b + index * step, ld,
            )  # fmt: skip


def _triangle(factors: Factors) -> int:
    return _LOWER if factors.lower else _UPPER
