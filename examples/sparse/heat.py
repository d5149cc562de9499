# needs: scipy
"""The heat equation in time: one plan and one factorization for all steps, then other steps in time with the same plan."""

import numpy as np
import scipy.sparse as sp

from nvmath.sparse.advanced import DirectSolver, DirectSolverMatrixType

side, steps, dt = 64, 50, 1e-4
line = sp.diags_array([np.full(side - 1, 1.0), np.full(side, -2.0), np.full(side - 1, 1.0)], offsets=[-1, 0, 1]) * (side + 1) ** 2
laplace = sp.csr_array(sp.kron(line, sp.eye_array(side)) + sp.kron(sp.eye_array(side), line))
one = sp.eye_array(side * side, format="csr")


def implicit(dt: float) -> sp.csr_array:
    """The matrix of an implicit Euler step."""
    made = sp.csr_array(one - dt * laplace)
    made.sort_indices()
    return made


grid = np.linspace(0, 1, side + 2)[1:-1]
mode = np.outer(np.sin(np.pi * grid), np.sin(np.pi * grid)).ravel()  # decays without changing its shape
heat = mode.copy()

with DirectSolver(implicit(dt), heat, options={"sparse_system_type": DirectSolverMatrixType.SPD}) as solver:
    solver.plan()
    solver.factorize()
    for _ in range(steps):
        heat = solver.solve()
        solver.reset_operands(b=heat)

    # Steps of another length: other values, the same pattern. The plan stays, only the factors are made anew.
    solver.reset_operands(a=implicit(2 * dt))
    info = solver.factorize()
    for _ in range(steps // 2):
        heat = solver.solve()
        solver.reset_operands(b=heat)
    print(f"{info.lu_nnz} elements in the factors, residual of the last step {info.residual:.1e}")

rate = -(laplace @ mode)[0] / mode[0]
expected = mode / (1 + dt * rate) ** steps / (1 + 2 * dt * rate) ** (steps // 2)
assert np.allclose(heat, expected)
