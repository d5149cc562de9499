# needs: nothing
"""Sequences of operands: products of different shapes behind one object."""

import numpy as np

from nvmath.linalg import Matmul, matmul

rng = np.random.default_rng(0)
left = [rng.random((rows, 4)) for rows in (2, 5, 3)]
right = [rng.random((4, 6))]  # a sequence of one serves all

results = matmul(left, right)
assert [each.shape for each in results] == [(2, 6), (5, 6), (3, 6)]

# Scalars may be sequences as well.
scaled = matmul(left, right, alpha=[1.0, 2.0, 3.0])
assert np.allclose(scaled[2], 3 * results[2])

with Matmul(left, right) as products:
    products.plan()
    products.reset_operands(b=[2 * right[0]])
    assert np.allclose(products.execute()[1], 2 * results[1])

print([each.shape for each in results])
