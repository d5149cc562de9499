# needs: nothing
"""Products with scalars, an addend, batches, vectors, conjugates, and a place for the result."""

import numpy as np

from nvmath.linalg.advanced import MatmulEpilog, matmul, matrix_qualifiers_dtype

rng = np.random.default_rng(0)
a, b, c = rng.standard_normal((64, 32)), rng.standard_normal((32, 48)), rng.standard_normal((64, 48))

assert np.allclose(matmul(a, b), a @ b)
assert np.allclose(matmul(a, b, c, alpha=2.0, beta=-1.0), 2 * a @ b - c)

# One column of C serves all columns; one matrix serves all entries of a batch.
assert np.allclose(matmul(a, b, c[:, :1], beta=1.0), a @ b + c[:, :1])
many = rng.standard_normal((5, 64, 32))
assert np.allclose(matmul(many, b), many @ b)

# Vectors are rows on the left and columns on the right.
assert np.allclose(matmul(a, b[:, 0]), a @ b[:, 0])

# Transposes are views. Conjugates are asked for, and nothing is copied where the library can conjugate itself.
z = rng.standard_normal((32, 32)) + 1j * rng.standard_normal((32, 32))
qualifiers = np.zeros(3, matrix_qualifiers_dtype)
qualifiers["is_conjugate"] = [True, False, False]
assert np.allclose(matmul(z.T, z, qualifiers=qualifiers), z.conj().T @ z)

# The result in place of C, or in an array of one's own.
want = a @ b + c
assert matmul(a, b, c, beta=1.0, options={"inplace": True}) is c
assert np.allclose(c, want)
out = np.empty((64, 96))[:, ::2]
assert matmul(a, b, out=out) is out
assert np.allclose(out, a @ b)

# A bias has one number for each row of the result.
bias = rng.standard_normal(64)
assert np.allclose(
    matmul(a, b, epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": bias}), np.maximum(a @ b + bias[:, None], 0)
)
print("every product agrees with NumPy")
