# needs: scipy
"""Batches: sequences of matrices of different sizes, one array of right-hand sides for all."""

import numpy as np
import scipy.sparse as sp

from nvmath.sparse.advanced import DirectSolver, direct_solver

rng = np.random.default_rng(0)


def matrix(n: int) -> sp.csr_array:
    """A random matrix with a strong diagonal."""
    return sp.csr_array(sp.random_array((n, n), density=0.1, rng=rng) + 4 * sp.eye_array(n))


# Systems of different sizes, each with its own number of right-hand sides. The answer is a tuple.
a = [matrix(n) for n in (10, 50, 200)]
b = [rng.standard_normal(10), rng.standard_normal((50, 3)), rng.standard_normal((200, 1))]
for one, x, side in zip(a, direct_solver(a, b), b, strict=True):
    assert np.allclose(one @ x, side)

# Systems of one size: the right-hand sides may be one array (..., n, k); a batch of vectors has k = 1.
a = [matrix(30) for _ in range(6)]
b = rng.standard_normal((2, 3, 30, 1))
with DirectSolver(a, b, execution="cpu") as solver:
    solver.plan()
    info = solver.factorize()
    x = solver.solve()
    print(f"{len(info.condition)} condition numbers, the largest about {max(info.condition):.1f}")
assert x.shape == b.shape
for i, one in enumerate(a):
    assert np.allclose(one @ x.reshape(6, 30, 1)[i], b.reshape(6, 30, 1)[i])
