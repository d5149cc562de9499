# needs: gpu cupy library:cusolver
"""cuSOLVER: a system of equations by the 64-bit interface, eigenvalues of a symmetric matrix."""

import cupy as cp
import numpy as np

from nvmath.bindings import cublas, cusolver, cusolverDn

F64 = 1  # nvmath.CudaDataType.CUDA_R_64F
handle, parameters = cusolverDn.create(), cusolverDn.create_params()
cusolverDn.set_stream(handle, cp.cuda.get_current_stream().ptr)
rng = cp.random.default_rng(0)
n, nrhs = 100, 3
a = cp.asfortranarray(rng.standard_normal((n, n)) + n * cp.eye(n))
b = cp.asfortranarray(rng.standard_normal((n, nrhs)))

lu, x = a.copy(order="F"), b.copy(order="F")
pivots, info = cp.zeros(n, dtype=cp.int64), cp.zeros(1, dtype=cp.int32)
on_device, on_host = cusolverDn.xgetrf_buffer_size(handle, parameters, n, n, F64, lu.data.ptr, n, F64)
device, host = cp.empty(max(on_device, 1), dtype=cp.uint8), np.empty(max(on_host, 1), dtype=np.uint8)
cusolverDn.xgetrf(
    handle, parameters, n, n, F64, lu.data.ptr, n, pivots.data.ptr, F64, device.data.ptr, on_device, host, on_host,
    info.data.ptr,
)  # fmt: skip
assert int(info[0]) == 0
cusolverDn.xgetrs(
    handle,
    parameters,
    cublas.Operation.N,
    n,
    nrhs,
    F64,
    lu.data.ptr,
    n,
    pivots.data.ptr,
    F64,
    x.data.ptr,
    n,
    info.data.ptr,
)
assert int(info[0]) == 0
assert cp.allclose(a @ x, b)

symmetric = cp.asfortranarray(a + a.T)
vectors, values = symmetric.copy(order="F"), cp.zeros(n)
mode, fill = cusolver.EigMode.VECTOR, cublas.FillMode.LOWER
length = cusolverDn.dsyevd_buffer_size(handle, mode, fill, n, vectors.data.ptr, n, values.data.ptr)
work = cp.empty(length)
cusolverDn.dsyevd(handle, mode, fill, n, vectors.data.ptr, n, values.data.ptr, work.data.ptr, length, info.data.ptr)
assert int(info[0]) == 0
assert cp.allclose(symmetric @ vectors, vectors * values)

cusolverDn.destroy_params(parameters)
cusolverDn.destroy(handle)
print(
    f"cuSOLVER {cusolver.get_version()}: residual {float(abs(a @ x - b).max()):.1e}, largest eigenvalue {float(values[-1]):.3f}"
)
