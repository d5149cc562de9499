# needs: numba
"""An epilog of one's own: a Python function of an element, compiled, on the CPU and on a GPU alike."""

import math

import numpy as np

from nvmath.linalg.advanced import matmul

rng = np.random.default_rng(0)
a, b = rng.standard_normal((64, 32)), rng.standard_normal((32, 48))
z = a @ b


# The value, its row and its column; then arrays, which `epilog_inputs` names after the parameters.
def gated(value, row, column, gate, keep):
    if not keep[row, column]:
        return 0.0
    return value / (1.0 + math.exp(-gate[row] * value))


gate, keep = rng.standard_normal(64), rng.integers(0, 2, (64, 48))
result = matmul(a, b, epilog=gated, epilog_inputs={"gate": gate, "keep": keep})
assert np.allclose(result, np.where(keep, z / (1 + np.exp(-gate[:, None] * z)), 0))

# What the function reads from outside belongs to it: another value makes another function.
slope = 0.1


def leaky(value, row, column):
    return value if value > 0 else slope * value


assert np.allclose(matmul(a, b, epilog=leaky), np.where(z > 0, z, 0.1 * z))
slope = 0.2
assert np.allclose(matmul(a, b, epilog=leaky), np.where(z > 0, z, 0.2 * z))

# Some need no function: SILU, TANH and SIGMOID, with and without BIAS.
assert np.allclose(matmul(a, b, epilog="silu"), z / (1 + np.exp(-z)))
print("every epilog agrees with NumPy")
