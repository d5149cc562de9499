# needs: nothing
"""CBLAS and LAPACK on the CPU: the library that NumPy brings (or MKL, NVPL): a product, factors, a condition number."""

import numpy as np

from nvmath.bindings.nvpl import blas, lapack

rng = np.random.default_rng(0)
n = 50
a = np.asfortranarray(rng.standard_normal((n, n)) + n * np.eye(n))
b = rng.standard_normal(n)

columns = lapack.COL_MAJOR
lu, pivots, x = a.copy(order="F"), np.zeros(n, dtype=np.int64), b.copy()
assert lapack.dgetrf(columns, n, n, lu, n, pivots) == 0  # buffers are passed as they are; info is returned
assert lapack.dgetrs(columns, "N", n, 1, lu, n, pivots, x, n) == 0
assert np.allclose(a @ x, b)
norm = lapack.dlange(columns, "1", n, n, a, n)
info, reciprocal = lapack.dgecon(columns, "1", n, lu, n, norm)
assert info == 0
assert 0.3 < (1 / reciprocal) / np.linalg.cond(a, 1) < 1.01  # an estimate from below

try:
    lapack.dgetrf(columns, n, n, a[:, ::2], n, pivots)  # a copy would lose the factors
except ValueError as error:
    print(str(error)[:100])

try:
    c = np.zeros((n, n), order="F")
    symmetric, lower = blas.SIDE.Left, blas.UPLO.Lower
    blas.dsymm_64(blas.ORDER.ColMajor, symmetric, lower, n, n, 1.0, a, n, a, n, 0.0, c, n)
    assert np.allclose(c, (np.tril(a) + np.tril(a, -1).T) @ a)
    print(blas._library.opened())
except RuntimeError as missing:  # no MKL, NVPL or OpenBLAS beside NumPy's own
    print(missing)
print(lapack._library.opened())
