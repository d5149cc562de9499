"""What cuDSS factorizes: a matrix, its factors, by stronger means where they are not good, and the residual of what they give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ..._core.arrays import Adapter
from ..._core.place import Cuda
from ..._core.staging import upload
from ...bindings import cudss
from ._condition import SUSPICIOUS, disproof, random_row, whole
from ._config import CudssConfig
from ._cuda_matrix import DeviceMatrix, Pointers, fetch
from ._cuda_residual import Residual
from ._cudss_handle import Lease
from ._cudss_system import ANALYSIS, FACTORIZATION, CudssSystem
from ._engine import DEFINITE
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._options import DirectSolverOptions, HybridMemoryModeOptions
from ._pattern import Array
from ._problem import SystemProblem
from ._residual import EPS, SingularSystemError
from ._sides import Matrix

STEPS: Final = 10
"""Steps of refinement when a solution is not good enough."""


class CudssFactors:
    """The factors of one matrix on one GPU.

    Parameters
    ----------
    problem : SystemProblem
        All systems.
    matrix : Matrix
        The one that is factorized.
    place, adapter
        The GPU, and the package that gives memory.
    config : CudssConfig
        Settings of the phases.
    options : DirectSolverOptions
        What was asked.
    lease : Lease
        The handle of cuDSS, and the order of the calls of the solver.
    memory : HybridMemoryModeOptions
        Whether factors may be kept in host memory.
    hybrid : bool
        Whether the CPU helps; then cuDSS takes one column at a time.
    transposed : bool
        Whether the transpose is factorized.
    """

    def __init__(
        self, problem: SystemProblem, matrix: Matrix, place: Cuda, adapter: Adapter, config: CudssConfig, options: DirectSolverOptions,
        lease: Lease, *, memory: HybridMemoryModeOptions, hybrid: bool, transposed: bool,
    ) -> None:  # fmt: skip
        self.problem, self.n, self.place, self.adapter, self.hybrid = problem, matrix.n, place, adapter, hybrid
        self.nbytes = 0
        self.replaced = 0
        """Number of pivots that the factorization replaced."""
        self._retries = options.on_failure != "raise"
        self._random: Array | None = None
        self.matrix = DeviceMatrix(problem, matrix, place, adapter, lease.order, transposed)
        self.residual: Residual | None = None
        self.system = CudssSystem(matrix.n, problem.dtype.code, place, config, lease, memory)

    # --- phases -----------------------------------------------------------------------------------------------------------------------

    def analyse(self, ptrs: Pointers, stream: int, host: Pointers | None) -> None:
        """Read the pattern and plan the factorization."""
        self.system.unmatch()
        self.matrix.analyse(ptrs, stream, host)
        if not self.matrix.nnz:
            raise SingularSystemError("The matrix a has no entries, so it is singular.")
        self._plan(ptrs, stream)

    def _plan(self, ptrs: Pointers, stream: int) -> None:
        """Plan the factorization of what the matrix is now."""
        system, matrix = self.system, self.matrix
        self._drop_residual()
        system.describe(matrix, matrix.pointers(ptrs, stream))
        (types, part), hermitian = matrix.judged_as, self.problem.kind in (Kind.HERMITIAN, Kind.HPD)
        self.residual = Residual(
            self.n, self.problem.dtype, types, hermitian, part, self.place, self.adapter, matrix.order
        )
        self._prepare(ANALYSIS, ptrs)
        self.nbytes = system.data.memory().get("permanent_device_memory", 0)

    def _prepare(self, phase: int, ptrs: Pointers) -> None:
        self.system.prepare(phase, ptrs[self.problem.sides[0].slot])

    def attempts(self, ptrs: Pointers, stream: int) -> Iterator[tuple[str, Exception | None]]:
        """Factorize, by stronger means each time; yield why that failed, if it did. After an error there are no factors."""
        yield self._attempt(ptrs, stream)
        for climb in (self._match, self._generalize):
            if self._retries and climb(ptrs, stream):
                yield self._attempt(ptrs, stream, suspect=True)

    def _attempt(self, ptrs: Pointers, stream: int, *, suspect: bool = False) -> tuple[str, Exception | None]:
        """Factorize; where pivots were replaced, or that failed before, or a solution is large, the factors must prove themselves.

        Return why that failed, if it did.
        """
        self.system.point(self.matrix.pointers(ptrs, stream))
        self._prepare(FACTORIZATION, ptrs)
        self.place.wait(stream)
        error = self.system.data.scalar("info")
        if error:
            what = "not positive definite, or singular" if self.problem.kind in DEFINITE else "singular"
            reason = f"The matrix a is {what}: cuDSS reports error {error} of the factorization."
            return reason, SingularSystemError(reason)
        self.replaced = self.system.data.scalar("npivots")
        if not (self.replaced or suspect or self._may_be_singular(ptrs, stream)):
            return "", None

        def solve(b: Array, op: str) -> Array:
            x: Array = self.solve_rows(ptrs, np.ascontiguousarray(b, self.problem.dtype.name)[None], stream)[0]
            return x

        # The factors of the transpose, which the condition needs, may be those of values before.
        return disproof(self.whole(ptrs, stream), "cuDSS", self.replaced, solve, conditioned=False), None

    def _may_be_singular(self, ptrs: Pointers, stream: int) -> bool:
        """Whether a solution for random numbers is as large as one with a matrix that is singular but for rounding."""
        assert self.residual is not None
        if self._random is None:
            self._random = random_row(self.n, self.problem.dtype.name)
        target, owners = self._queue(ptrs, self._random, stream, 0)
        _, right, size, norm = self.residual.numbers(stream)[0]
        unit = EPS[self.problem.dtype.name] * norm
        if unit * size * self.n**0.5 <= SUSPICIOUS * right:  # then the solution need not be fetched
            return False
        x = fetch(target, self.n, self.problem.dtype, stream)
        owners.clear()
        return not unit * abs(np.vdot(x, x)) ** 0.5 <= SUSPICIOUS * right  # NaN as well

    def whole(self, ptrs: Pointers, stream: int) -> Any:
        """The matrix in host memory, with all its entries."""
        pattern, data = self.matrix.on_host(ptrs, stream)
        half = self.problem.kind is not Kind.GENERAL and self.problem.part is not Part.FULL
        return whole(pattern, data, half, self.problem.kind in (Kind.HERMITIAN, Kind.HPD))

    def _match(self, ptrs: Pointers, stream: int) -> bool:
        """Plan anew with large elements on the diagonal; tell whether that could be done, and had not been done yet."""
        system = self.system
        if not system.may_match:
            return False
        try:
            system.match()
            self._prepare(ANALYSIS, ptrs)
        except cudss.cuDSSError:  # not for this kind of matrix
            system.unmatch()
            for phase in (ANALYSIS, FACTORIZATION):
                self._prepare(phase, ptrs)
            return False
        return True

    def _generalize(self, ptrs: Pointers, stream: int) -> bool:
        """Plan anew as for a general matrix, whose pivots are better; tell whether that could be done, and had not been done yet."""
        if self.problem.kind in DEFINITE or not self.matrix.generalize(ptrs, stream):
            return False
        self._plan(ptrs, stream)
        return True

    # --- solutions --------------------------------------------------------------------------------------------------------------------

    def run(
        self, ptrs: Pointers, b: int, b_ld: int, x: int, x_ld: int, count: int, stream: int, steps: int | None = None,
        *, turned: bool = False,
    ) -> None:  # fmt: skip
        """Solve and compute the residual, without waiting; `turned` with the transpose."""
        read = self.matrix.pointers(ptrs, stream)
        self.system.point(read)
        each = self.problem.dtype.itemsize if self.hybrid else 0
        residual = self.residual
        assert residual is not None
        if turned:
            with self.system.transposing():
                self.system.solve((x, x_ld), (b, b_ld), count, each=each, steps=steps)
            residual.launch_transposed(self.matrix.judged(ptrs, read), x, x_ld, b, b_ld, count, stream)
        else:
            self.system.solve((x, x_ld), (b, b_ld), count, each=each, steps=steps)
            residual.launch(self.matrix.judged(ptrs, read), x, x_ld, b, b_ld, count, stream)

    def solve_rows(self, ptrs: Pointers, rows: Array, stream: int, *, turned: bool = False) -> Array:
        """Solve with refinement for columns that are rows of an array in host memory, `turned` with the transpose; return such rows."""
        target, owners = self._queue(ptrs, rows, stream, STEPS if self._retries else 0, turned=turned)
        x = fetch(target, rows.size, self.problem.dtype, stream).reshape(rows.shape)
        owners.clear()
        return x

    def _queue(
        self, ptrs: Pointers, rows: Array, stream: int, steps: int, *, turned: bool = False
    ) -> tuple[int, list[Any]]:
        """Solve for rows in host memory; return where the solution will be, and the owners of the memory."""
        memory = [self.adapter.allocate(max(1, rows.nbytes), self.place.device_id, stream) for _ in range(2)]
        (source, _), (target, _) = memory
        upload(rows.ctypes.data, source, rows.nbytes, stream)
        self.run(ptrs, source, self.n, target, self.n, len(rows), stream, steps, turned=turned)
        return target, memory

    @property
    def state(self) -> Any:
        """Compares equal as long as a solution that was captured may be done again; None if none may be captured."""
        made, residual = self.system.state, self.residual
        return None if made is None or residual is None else (*made, residual.cells, residual.told, residual.scratch)

    # --- the end ----------------------------------------------------------------------------------------------------------------------

    def _drop_residual(self) -> None:
        residual, self.residual = self.residual, None
        if residual is not None:
            residual.close()

    def close(self) -> None:
        """Queue everything for destruction, and give the handle back."""
        self.matrix.close()
        self._drop_residual()
        self.system.close()
