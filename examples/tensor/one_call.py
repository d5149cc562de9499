# needs: nothing
"""One-call contractions of two and three tensors, with factors, an addend and a result of one's own."""

import numpy as np

from nvmath.tensor import binary_contraction, ternary_contraction

rng = np.random.default_rng(0)
a, b = rng.random((8, 9, 10)), rng.random((10, 9, 11))

result = binary_contraction("ijk,kjl->il", a, b)
assert np.allclose(result, np.einsum("ijk,kjl->il", a, b))

# Without "->" the labels that occur once make the result; "..." stands for further dimensions.
assert np.allclose(binary_contraction("ijk,kjl", a, b), result)
assert np.allclose(binary_contraction("...jk,kjl->...l", a, b), result)

# alpha * sum + beta * addend
c = rng.random((8, 11))
assert np.allclose(binary_contraction("ijk,kjl->il", a, b, c=c, alpha=0.5, beta=2), 0.5 * result + 2 * c)

# The result may go into the addend, or into a slice.
total = c.copy()
assert binary_contraction("ijk,kjl->il", a, b, c=total, beta=1, out=total) is total
assert np.allclose(total, result + c)
frame = np.zeros((10, 13))
binary_contraction("ijk,kjl->il", a, b, out=frame[1:-1, 1:-1])
assert np.allclose(frame[1:-1, 1:-1], result)

# Three at once: the pair that costs least comes first.
m = rng.random((11, 3))
assert np.allclose(ternary_contraction("ijk,kjl,lm->im", a, b, m), result @ m)
print(f"{a.shape} x {b.shape} -> {result.shape}, strides {result.strides}")
