"""What the solvers on the CPU share: the matrix in host memory, columns in the order that they want, and the judgement of a solution."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..._core.errors import warn
from ..._core.kernels_host import array_at
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._pattern import Array, Assembly
from ._problem import SystemProblem
from ._residual import IllConditionedWarning, Judgement, SingularSystemError, Verdict, doubt, explain, judge


class HostPlan:
    """A system on the CPU; a subclass calls a library."""

    workspace_nbytes = 0
    nbytes = 0
    library = ""
    full = False
    """Whether the library wants both triangles of a symmetric matrix."""

    def __init__(self, problem: SystemProblem, config: Any, threads: int) -> None:
        self.problem, self.config, self.threads = problem, config, threads
        self.assembly: Assembly
        self.factorized = False

    # --- what a subclass answers ----------------------------------------------------------------------------------------------------

    def _analyse(self, values: Array) -> None:
        raise AssertionError

    def _factorize(self, values: Array) -> None:
        raise AssertionError

    def _solve(self, values: Array, b: Array, x: Array, steps: int) -> None:
        """Solve for columns in Fortran order, with so many steps of refinement."""
        raise AssertionError

    def close(self) -> None:
        """Give up what the library holds."""

    @property
    def pivots(self) -> int:
        """Number of pivots that were replaced."""
        return 0

    # --- phases ---------------------------------------------------------------------------------------------------------------------

    def analyse(self, ptrs: tuple[int, ...]) -> None:
        """Read the pattern and plan the factorization."""
        problem = self.problem
        indptr, indices, data = self.arrays(ptrs)
        self.assembly = Assembly(indptr, indices, problem.n, problem.kind, problem.part, full=self.full)
        self._analyse(self.assembly.values(data))

    def accepts(self, ptrs: tuple[int, ...]) -> bool:
        """Whether the matrix still has the pattern that was planned."""
        indptr, indices, _ = self.arrays(ptrs)
        return self.assembly.accepts(indptr, indices)

    def factorize(self, ptrs: tuple[int, ...]) -> None:
        """Factorize the present values."""
        self.factorized = False
        if not self.accepts(ptrs):
            raise RuntimeError("The pattern of the matrix a has changed since plan(). Call plan() again.")
        self._factorize(self.values(ptrs))
        self.factorized = True

    def launch(self) -> Callable[..., None]:
        """Return the function that solves: addresses of the operands and of the result."""
        return self.solve

    def solve(self, *ptrs: int) -> None:
        """Solve with the present right-hand side, and judge the result."""
        problem = self.problem
        b = array_at(ptrs[3], problem.shape, problem.b_strides, problem.dtype)
        x = array_at(ptrs[4], problem.shape, problem.x_strides, problem.dtype)
        if problem.columns == 0:
            return
        columns = np.asfortranarray(b)
        made = x if x.flags.f_contiguous else np.empty(problem.shape, x.dtype, order="F")
        values = self.values(ptrs)
        steps = self.config.get("ir_num_steps")
        self._solve(values, columns, made, steps)
        judgement = self.judge(values, ptrs, made, columns)
        if judgement.verdict is Verdict.BAD or (judgement.verdict is Verdict.DOUBTFUL and self.pivots):
            self._solve(values, columns, made, max(steps, 10))
            judgement = self.judge(values, ptrs, made, columns)
        if judgement.verdict is Verdict.BAD or (judgement.verdict is Verdict.DOUBTFUL and self.pivots):
            raise SingularSystemError(explain(judgement, self.pivots, self.library))
        if judgement.verdict is Verdict.DOUBTFUL:
            warn(doubt(judgement), IllConditionedWarning)
        if made is not x:
            x[...] = made

    # --- the matrix -------------------------------------------------------------------------------------------------------------------

    def arrays(self, ptrs: tuple[int, ...]) -> tuple[Array, Array, Array]:
        """The caller's row offsets, column indices and values."""
        problem = self.problem
        return (
            array_at(ptrs[0], (problem.n + 1,), (1,), problem.offsets),
            array_at(ptrs[1], (problem.nnz,), (1,), problem.indices),
            array_at(ptrs[2], (problem.nnz,), (1,), problem.dtype),
        )

    def values(self, ptrs: tuple[int, ...]) -> Array:
        """The present values in the order of the assembled pattern."""
        problem = self.problem
        return self.assembly.values(array_at(ptrs[2], (problem.nnz,), (1,), problem.dtype))

    def judge(self, values: Array, ptrs: tuple[int, ...], x: Array, b: Array) -> Judgement:
        """Compute the residual, with the caller's matrix where all of it is there."""
        problem = self.problem
        shape = (problem.n, problem.n)
        if problem.kind is not Kind.GENERAL and problem.part is Part.FULL:  # this shows a matrix that is not symmetric
            indptr, indices, data = self.arrays(ptrs)
            matrix = sparse.csr_array((data, indices, indptr), shape=shape)
        elif problem.kind is Kind.GENERAL or self.full:
            matrix = sparse.csr_array((values, self.assembly.indices, self.assembly.indptr), shape=shape)
        else:
            upper = sparse.csr_array((values, self.assembly.indices, self.assembly.indptr), shape=shape)
            return judge(partial(_apply_half, upper, problem.kind), lambda: _norm(upper) + _norm(upper.T), x, b)
        return judge(lambda v: matrix @ v, lambda: _norm(matrix), x, b)


def _norm(matrix: Any) -> float:
    return float(abs(matrix).sum(axis=1).max())


def _apply_half(upper: Any, kind: Kind, x: Array) -> Array:
    """Multiply by a symmetric or Hermitian matrix of which the upper triangle is given."""
    diagonal = upper.diagonal()
    hermitian = kind in (Kind.HERMITIAN, Kind.HPD)
    lower = (upper.T @ x.conj()).conj() if hermitian else upper.T @ x
    scale = diagonal.conj() if hermitian else diagonal
    result: Array = upper @ x + lower - (scale * x if x.ndim == 1 else scale[:, None] * x)
    return result
