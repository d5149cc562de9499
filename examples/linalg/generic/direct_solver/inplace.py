# needs: nothing
"""The solution overwrites b, the factors may overwrite a: no copies of either."""

import numpy as np

from nvmath.linalg import direct_solver

rng = np.random.default_rng(0)
matrix, side = rng.random((200, 200)) + 20 * np.eye(200), rng.random((200, 2))
a, b = matrix.copy(), np.asfortranarray(side)

x = direct_solver(a, b, options={"inplace_a": True, "inplace_b": True})
assert x is b
assert np.allclose(matrix @ b, side)
print("solved in the memory of b")
