# needs: gpu cupy library:cublas
"""cuBLAS: a product, a batch of products, a diagonal matrix, a dot product, a factorization of a batch."""

import cupy as cp
import numpy as np

from nvmath.bindings import cublas

handle = cublas.create()
cublas.set_stream(handle, cp.cuda.get_current_stream().ptr)
rng = cp.random.default_rng(0)

# Matrices of cuBLAS lie column by column: the transposed view of a C-ordered array.
m, n, k = 64, 48, 32
a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
c = cp.zeros((m, n))
one, zero = np.array([1.0]), np.array([0.0])  # scalars on the host: buffers of the type
no = cublas.Operation.N
cublas.dgemm(handle, no, no, n, m, k, one, b.data.ptr, n, a.data.ptr, k, zero, c.data.ptr, n)
assert cp.allclose(c, a @ b)

batch = 5
x, y, z = rng.standard_normal((batch, m, k)), rng.standard_normal((batch, k, n)), cp.zeros((batch, m, n))
cublas.dgemm_strided_batched(
    handle, no, no, n, m, k, one, y.data.ptr, n, k * n, x.data.ptr, k, m * k, zero, z.data.ptr, n, m * n, batch
)
assert cp.allclose(z, x @ y)

# The same with arrays of pointers, which lie on the device.
z[:] = 0
pointers = [cp.array([t[i].data.ptr for i in range(batch)], dtype=cp.uint64) for t in (x, y, z)]
cublas.dgemm_batched(
    handle, no, no, n, m, k, one, pointers[1].data.ptr, n, pointers[0].data.ptr, k, zero, pointers[2].data.ptr, n, batch
)
assert cp.allclose(z, x @ y)

# diag(d) @ a, row by row: with columns as cuBLAS sees them, the diagonal is on the right.
d, scaled = rng.standard_normal(m), cp.zeros_like(a)
cublas.ddgmm(handle, cublas.SideMode.RIGHT, k, m, a.data.ptr, k, d.data.ptr, 1, scaled.data.ptr, k)
assert cp.allclose(scaled, d[:, None] * a)

result = np.zeros(1)
cublas.ddot(handle, m, d.data.ptr, 1, d.data.ptr, 1, result)  # waits, as the result is on the host
assert np.allclose(result[0], float(d @ d))

size = 16
matrices = rng.standard_normal((batch, size, size)) + 4 * cp.eye(size)
factors, pivots, info = matrices.copy(), cp.zeros((batch, size), dtype=cp.int32), cp.zeros(batch, dtype=cp.int32)
addresses = cp.array([factors[i].data.ptr for i in range(batch)], dtype=cp.uint64)
cublas.dgetrf_batched(handle, size, addresses.data.ptr, size, pivots.data.ptr, info.data.ptr, batch)
assert not info.any()
assert cp.allclose(abs(cp.prod(cp.diagonal(factors, axis1=1, axis2=2), axis=1)), abs(cp.linalg.det(matrices)))

try:
    cublas.dgemm(handle, no, no, -1, m, k, one, b.data.ptr, n, a.data.ptr, k, zero, c.data.ptr, n)
except cublas.cuBLASError as error:
    print(f"cuBLAS {cublas.get_version(handle)}: {error}")
cublas.destroy(handle)
