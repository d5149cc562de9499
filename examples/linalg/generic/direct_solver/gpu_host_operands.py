# needs: gpu library:cusolver
"""NumPy arrays on a GPU: copied there and back."""

import numpy as np

from nvmath.linalg import ExecutionCUDA, direct_solver

rng = np.random.default_rng(0)
a, b = rng.random((2000, 2000)) + 50 * np.eye(2000), rng.random((2000, 4))
x = direct_solver(a, b, execution=ExecutionCUDA(device_id=0))
assert np.allclose(a @ x, b)
print("the largest residual is", np.abs(a @ x - b).max())
