# needs: gpu cupy library:cublasMp library:nccl
"""cuBLASMp with one rank: a grid over an NCCL communicator, distributed matrices, a product."""

import cupy as cp
import numpy as np

from nvmath.bindings import cublas, cublasMp, nccl

F64 = 1  # nvmath.CudaDataType.CUDA_R_64F
m, n, k, block = 96, 64, 80, 32
rng = cp.random.default_rng(0)
a, b = (cp.asfortranarray(rng.standard_normal(shape)) for shape in ((m, k), (k, n)))
c = cp.zeros((m, n), order="F")

communicator = nccl.comm_init_rank(1, nccl.get_unique_id(), 0)
stream = cp.cuda.Stream(non_blocking=True)
cp.cuda.Device().synchronize()
handle = cublasMp.create(stream.ptr)
grid = cublasMp.grid_create(1, 1, cublasMp.GridLayout.COL_MAJOR, communicator)
described = [
    cublasMp.matrix_descriptor_create(rows, columns, block, block, 0, 0, rows, F64, grid)
    for rows, columns in ((m, k), (k, n), (m, n))
]
assert cublasMp.numroc(m, block, 0, 0, 1) == m

no, one, zero = cublas.Operation.N, np.float64(1), np.float64(0)
compute = cublas.ComputeType.COMPUTE_64F
product = (handle, no, no, m, n, k, one, a.data.ptr, 1, 1, described[0], b.data.ptr, 1, 1, described[1], zero)
product += (c.data.ptr, 1, 1, described[2], compute)
on_device, on_host = cublasMp.gemm_buffer_size(*product)
device, host = cp.empty(max(on_device, 1), dtype=cp.uint8), np.empty(max(on_host, 1), dtype=np.uint8)
cublasMp.gemm(*product, device.data.ptr, on_device, host, on_host)
stream.synchronize()
assert cp.allclose(c, a @ b)

for matrix in described:
    cublasMp.matrix_descriptor_destroy(matrix)
cublasMp.grid_destroy(grid)
cublasMp.destroy(handle)
nccl.comm_destroy(communicator)
print(f"cuBLASMp {cublasMp.get_version()}: {m} x {n} x {k}, {on_device} bytes on the device, {on_host} on the host")
