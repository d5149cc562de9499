# needs: nothing
"""Plan and factorize once, solve many times; replace operands."""

import numpy as np

from nvmath.linalg import DirectSolver

rng = np.random.default_rng(0)
a, b = rng.random((50, 50)) + 7 * np.eye(50), rng.random((50, 3))

with DirectSolver(a, b) as solver:
    solver.plan()
    solver.factorize()
    x = solver.solve()
    adjoint = solver.solve(trans="T")  # with the same factors
    solver.reset_operands(b=x)
    inverse_squared = solver.solve()
    solver.reset_operands(a=2 * a)
    solver.factorize()
    half = solver.solve()

assert np.allclose(a @ x, b)
assert np.allclose(a.T @ adjoint, b)
assert np.allclose(a @ (a @ inverse_squared), b)
assert np.allclose(half, inverse_squared / 2)
print("four solutions from two factorizations")
