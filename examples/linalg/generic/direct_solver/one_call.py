# needs: nothing
"""One system, several right-hand sides, a batch, and sequences of arrays."""

import numpy as np

from nvmath.linalg import direct_solver

rng = np.random.default_rng(0)
a, b = rng.random((100, 100)) + 10 * np.eye(100), rng.random(100)
x = direct_solver(a, b)
assert np.allclose(a @ x, b)

sides = rng.random((100, 7))
assert np.allclose(a @ direct_solver(a, sides), sides)

batch, sides = rng.random((500, 6, 6)) + 6 * np.eye(6), rng.random((500, 6, 1))
assert np.allclose(batch @ direct_solver(batch, sides), sides)

matrices, vectors = [a, a.T], [b, b]
first, second = direct_solver(matrices, vectors)
assert np.allclose(a @ first, b)
assert np.allclose(a.T @ second, b)
print("the largest residual is", np.abs(a @ x - b).max())
