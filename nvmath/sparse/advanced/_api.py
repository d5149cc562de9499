"""What the user calls."""

from __future__ import annotations

from typing import Any

from ..._core.options import ExecutionCPU
from ._once import call
from ._options import (
    DirectSolverFactorizationPreferences,
    DirectSolverOptions,
    DirectSolverPlanPreferences,
    DirectSolverSolutionPreferences,
    ExecutionCUDA,
    ExecutionHybrid,
)
from ._solver import DirectSolver, InvalidDirectSolverState

__all__ = ["DirectSolver", "InvalidDirectSolverState", "direct_solver"]


def direct_solver(
    a: Any,
    b: Any,
    /,
    *,
    options: DirectSolverOptions | dict[str, Any] | None = None,
    plan_preferences: DirectSolverPlanPreferences | dict[str, Any] | None = None,
    factorization_preferences: DirectSolverFactorizationPreferences | dict[str, Any] | None = None,
    solution_preferences: DirectSolverSolutionPreferences | dict[str, Any] | None = None,
    execution: ExecutionCUDA | ExecutionHybrid | ExecutionCPU | str | dict[str, Any] | None = None,
    stream: Any = None,
) -> Any:
    """Solve ``a @ x = b`` for a sparse matrix, or for a batch of them.

    The plan of a pattern (its ordering, which takes most of the time for large matrices) is kept in ``nvmath.plan_cache``, and used
    again for a matrix of the same pattern.

    Parameters
    ----------
    a : sparse matrix, stack of matrices, or sequence of matrices
        Square, of SciPy, CuPy or PyTorch, in format CSR, CSC, COO or BSR; see :class:`DirectSolver`.
    b : array, or sequence of arrays
        One right-hand side (n,), or several (n, k); for a batch one for each matrix.
    options : DirectSolverOptions or dict, optional
        What is known of the matrix, and what is asked of the solver.
    plan_preferences, factorization_preferences, solution_preferences : optional
        Settings of the phases, as objects or dicts of their fields.
    execution, stream : optional
        As in :class:`DirectSolver`.

    Returns
    -------
    array, or tuple of arrays
        A new array of the package, device, shape and axis order of `b`; for a sequence one of each.

    Raises
    ------
    SingularSystemError
        The matrix is singular or nearly so, or not of the type and view that the options say.
    TypeError, ValueError, RuntimeError
        As for :class:`DirectSolver`.

    See Also
    --------
    DirectSolver : Keeps plan and factorization, for several right-hand sides or values.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, nvmath
    >>> a = scipy.sparse.csr_array(np.array([[4.0, 1.0], [1.0, 3.0]]))
    >>> nvmath.sparse.advanced.direct_solver(a, np.array([6.0, 7.0]), execution="cpu")
    array([1., 2.])
    """
    return call(a, b, options, (plan_preferences, factorization_preferences, solution_preferences), execution, stream)
