# needs: scipy
"""Which solutions can be trusted: singular matrices, what happens on failure, condition and residual."""

import warnings

import numpy as np
import scipy.sparse as sp

from nvmath.sparse.advanced import (
    DirectSolver,
    DirectSolverMatrixType,
    IllConditionedWarning,
    SingularSystemError,
    direct_solver,
)

# A grid without fixed points: its matrix is singular, although this right-hand side has solutions.
n = 50
free = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1], format="lil")
free[0, 0] = free[-1, -1] = 1
free = free.tocsr()
b = free @ np.arange(n)
try:
    direct_solver(free, b)
except SingularSystemError as error:
    print(error)

# A matrix that is not positive definite is not taken for one.
try:
    direct_solver(
        sp.csr_array(np.array([[1.0, 2], [2, 1]])), np.ones(2), options={"sparse_system_type": DirectSolverMatrixType.SPD}
    )
except SingularSystemError as error:
    print(error)

# on_failure="warn" returns the best that there is, with a warning.
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    x = direct_solver(free, b, options={"on_failure": "warn"}, execution="cpu")
assert any(issubclass(warning.category, IllConditionedWarning) for warning in seen)
assert x.shape == b.shape

# Condition and residual tell how many digits are right.
good = sp.csr_array(free + sp.eye_array(n))
with DirectSolver(good, b, execution="cpu") as solver:
    solver.plan()
    info = solver.factorize()
    solver.solve()
    print(f"condition about {info.condition:.1f}, residual {info.residual:.1e}")
