# needs: nothing
"""One-call products: scalars, C, vectors, batches, layouts, in place and into an array."""

import numpy as np

from nvmath.linalg import matmul

rng = np.random.default_rng(0)
a, b, c = rng.random((3, 4)), rng.random((4, 5)), rng.random((3, 5))

assert np.allclose(matmul(a, b), a @ b)
assert np.allclose(matmul(a, b, c, alpha=0.5, beta=2.0), 0.5 * a @ b + 2 * c)

# A vector is a row on the left and a column on the right.
assert np.allclose(matmul(a[0], b), a[0] @ b)
assert np.allclose(matmul(a, b[:, 0]), a @ b[:, 0])

# Leading axes are batches and broadcast; so does C.
many = rng.random((7, 3, 4))
assert np.allclose(matmul(many, b, c, beta=1.0), many @ b + c)
assert np.allclose(matmul(a, b, c[0], beta=1.0), a @ b + c[0])

# Any strides: slices, steps, reversed axes, transposes.
big = rng.random((8, 8, 8))
assert np.allclose(matmul(big[::2, 1:4, ::-1], big[::2, :, 2:5]), big[::2, 1:4, ::-1] @ big[::2, :, 2:5])

# In place C is overwritten; out= is any array of the right shape.
keep = c.copy()
assert matmul(a, b, c, beta=1.0, options={"inplace": True}) is c
assert np.allclose(c, a @ b + keep)
out = np.empty((3, 5), order="F")
assert matmul(a, b, out=out) is out

print("a product of", a.shape, "and", b.shape, "has shape", out.shape)
