"""What the libraries tell after planning and factorizing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from ..._core.fork import children
from ._options import DirectSolverMatchingAlg, memory_estimates_dtype
from ._options import DirectSolverMatrixType as Kind


class _Info:
    __slots__ = ("_solver",)
    _shown: ClassVar[tuple[str, ...]] = ()
    """What its text tells."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    def _get(self, name: str, *, factorized: bool = False) -> Any:
        solver = self._solver
        if not solver.valid_state:
            raise RuntimeError("The solver of this information has been freed.")
        ptrs = solver._now()
        if solver._plan_object is None:
            raise RuntimeError("plan() must be called first.")
        if factorized and not solver._plan_object.factorized:
            raise RuntimeError("factorize() must be called first.")
        if solver._generation != children.generation:
            solver._plan_again()
        return solver._plan_object.info(name, ptrs)

    def __repr__(self) -> str:
        solver, name = self._solver, type(self).__name__
        plan = solver._plan_object
        if not solver.valid_state or plan is None:
            return f"<{name} of a solver that {'is not planned' if solver.valid_state else 'has been freed'}>"
        told = [plan.description]
        if plan.factorized and solver._generation == children.generation:  # a forked child has not planned again yet
            with suppress(RuntimeError):  # nothing is asked of a GPU while a graph is being captured
                told += [f"{shown}={plan.info(shown, solver._ptrs)}" for shown in self._shown]
        return f"<{name}: {', '.join(told)}>"

    def _indices(self, name: str, *, factorized: bool = False) -> Any:
        return np.array(self._get(name, factorized=factorized), self._solver._problem.indices.name)

    def _needs_operands(self, name: str) -> None:
        self._get("info", factorized=True)
        if not self._solver._objs:
            raise RuntimeError(
                f"{name} needs the matrix, but the operands have been released. Call reset_operands() first."
            )

    def _needs_matching(self, name: str) -> None:
        self._get("memory")
        if self._solver._config.get("matching_algorithm") is DirectSolverMatchingAlg.NONE:
            raise RuntimeError(f"{name} needs matching: set plan_config.matching_algorithm and plan again.")


class DirectSolverPlanInfo(_Info):
    """What is known after :meth:`DirectSolver.plan`; every property returns a new array or number.

    Raises
    ------
    RuntimeError
        The solver is not planned, or has been freed.
    NotImplementedError
        The library on the CPU does not give a piece of information.
    """

    __slots__ = ()

    @property
    def memory_estimates(self) -> Any:
        """Bytes of memory, a 0-d record array of :data:`memory_estimates_dtype`; 0 where a library does not say."""
        made = np.zeros((), memory_estimates_dtype)
        for name, value in self._get("memory").items():
            made[name] = value
        return made.view(np.recarray)

    @property
    def row_permutation(self) -> Any:
        """The reordering of the rows, an array of n indices in host memory."""
        return self._indices("row_permutation")

    @property
    def col_permutation(self) -> Any:
        """The reordering of the columns, an array of n indices in host memory."""
        return self._indices("col_permutation")

    @property
    def matching_col_permutation(self) -> Any:
        """The columns that matching brought to the diagonal, an array of n indices in host memory."""
        self._needs_matching("matching_col_permutation")
        return self._indices("matching_col_permutation")

    @property
    def num_superpanels(self) -> int:
        """Number of superpanels."""
        return self._get("num_superpanels")  # type: ignore[no-any-return]


class DirectSolverFactorizationInfo(_Info):
    """What is known after :meth:`DirectSolver.factorize`; every property returns a new array or number.

    `condition`, `logdet` and, where a library does not count it, `inertia` are found when they are asked for, from the values that the
    matrix has then: after a change of values call :meth:`DirectSolver.factorize` first.

    Raises
    ------
    RuntimeError
        The matrix is not factorized, or the solver has been freed.
    NotImplementedError
        The library on the CPU does not give a piece of information.
    """

    __slots__ = ()
    _shown = ("lu_nnz", "npivots")

    @property
    def info(self) -> int:
        """The error indicator, 0 for none; an error has been raised by :meth:`DirectSolver.factorize` already."""
        return self._get("info", factorized=True)  # type: ignore[no-any-return]

    @property
    def lu_nnz(self) -> int:
        """Number of elements of the factors."""
        return self._get("lu_nnz", factorized=True)  # type: ignore[no-any-return]

    @property
    def npivots(self) -> int:
        """Number of pivots that were too small and have been replaced."""
        return self._get("npivots", factorized=True)  # type: ignore[no-any-return]

    @property
    def inertia(self) -> Any:
        """Numbers of positive and negative eigenvalues of a real symmetric or a Hermitian matrix. For a batch one row for each system.

        Of matrices of another kind they are not real numbers, and ``RuntimeError`` is raised.
        """
        self._get("info", factorized=True)
        problem = self._solver._problem
        if problem.kind is Kind.GENERAL or (problem.kind is Kind.SYMMETRIC and problem.dtype.kind == "c"):
            raise RuntimeError(
                f"inertia is known of real symmetric and of Hermitian matrices, but a is {problem.dtype} and "
                f"{problem.kind.name}. Say what it is with options.sparse_system_type."
            )
        return self._indices("inertia", factorized=True)

    @property
    def residual(self) -> float | None:
        """Size of the residual of the last solution relative to its right-hand side, of the worst column; None if there is none yet.

        The largest elements are compared. On a GPU this waits for a solution that is under way.
        """
        self._get("info", factorized=True)
        return self._solver._plan_object.residual(self._solver._notes)  # type: ignore[no-any-return]

    @property
    def condition(self) -> Any:
        """An estimate of the condition number in the 1-norm, made now by solving a few times; for a batch an array.

        It is hardly ever less than a third of the true one. The operands must not have been released.
        """
        self._needs_operands("condition")
        return self._get("condition", factorized=True)

    @property
    def logdet(self) -> tuple[Any, Any]:
        """Sign of the determinant and logarithm of its absolute value, as of ``numpy.linalg.slogdet``; for a batch two arrays.

        It is computed now, from the present values, on the CPU by SuperLU: no other library tells all its permutations.
        """
        self._needs_operands("logdet")
        return self._get("logdet", factorized=True)  # type: ignore[no-any-return]

    @property
    def row_permutation(self) -> Any:
        """The final order of the rows, for the COLAMD orderings, an array of n indices in host memory."""
        return self._indices("final_row_permutation", factorized=True)

    @property
    def col_permutation(self) -> Any:
        """The final order of the columns, for the COLAMD orderings, an array of n indices in host memory."""
        return self._indices("final_col_permutation", factorized=True)

    @property
    def diag(self) -> Any:
        """The diagonal of the factors, an array of n values in host memory."""
        return self._get("diag", factorized=True)

    @property
    def row_scale_factors(self) -> Any:
        """The factors by which matching scaled the rows, an array of n real numbers in host memory."""
        self._needs_matching("row_scale_factors")
        return self._get("row_scale_factors", factorized=True)

    @property
    def col_scale_factors(self) -> Any:
        """The factors by which matching scaled the columns, an array of n real numbers in host memory."""
        self._needs_matching("col_scale_factors")
        return self._get("col_scale_factors", factorized=True)
