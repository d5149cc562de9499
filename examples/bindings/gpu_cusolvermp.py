# needs: gpu cupy library:cusolverMp library:nccl
"""cuSOLVERMp with one rank: a grid, a distributed matrix, its LU factors, a system of equations."""

import cupy as cp
import numpy as np

from nvmath.bindings import cublas, cusolverMp, nccl

F64 = 1  # nvmath.CudaDataType.CUDA_R_64F
n, nrhs, block = 96, 3, 32
rng = cp.random.default_rng(0)
a = cp.asfortranarray(rng.standard_normal((n, n)) + n * cp.eye(n))
b = cp.asfortranarray(rng.standard_normal((n, nrhs)))

communicator = nccl.comm_init_rank(1, nccl.get_unique_id(), 0)
stream = cp.cuda.Stream(non_blocking=True)
handle = cusolverMp.create(cp.cuda.Device().id, stream.ptr)
grid = cusolverMp.create_device_grid(handle, communicator, 1, 1, cusolverMp.GridMapping.COL_MAJOR)
matrix = cusolverMp.create_matrix_desc(grid, F64, n, n, block, block, 0, 0, n)
right = cusolverMp.create_matrix_desc(grid, F64, n, nrhs, block, block, 0, 0, n)
assert cusolverMp.numroc(n, block, 0, 0, 1) == n

lu, x = a.copy(order="F"), b.copy(order="F")
pivots, info = cp.zeros(n + block, dtype=cp.int64), cp.zeros(1, dtype=cp.int32)
cp.cuda.Device().synchronize()


def buffers(sizes):
    """Workspaces on the device and on the host, each with its size."""
    device, host = cp.empty(max(sizes[0], 1), dtype=cp.uint8), np.empty(max(sizes[1], 1), dtype=np.uint8)
    kept.append(device)
    return device.data.ptr, sizes[0], host, sizes[1]


kept = []
factor = (handle, n, n, lu.data.ptr, 1, 1, matrix, pivots.data.ptr, F64)
cusolverMp.getrf(*factor, *buffers(cusolverMp.getrf_buffer_size(*factor)), info.data.ptr)
stream.synchronize()
assert int(info[0]) == 0
solve = (handle, cublas.Operation.N, n, nrhs, lu.data.ptr, 1, 1, matrix, pivots.data.ptr, x.data.ptr, 1, 1, right, F64)
cusolverMp.getrs(*solve, *buffers(cusolverMp.getrs_buffer_size(*solve)), info.data.ptr)
stream.synchronize()
assert int(info[0]) == 0
assert cp.allclose(a @ x, b)

version = cusolverMp.get_version(handle)
for described in (matrix, right):
    cusolverMp.destroy_matrix_desc(described)
cusolverMp.destroy_grid(grid)
cusolverMp.destroy(handle)
nccl.comm_destroy(communicator)
print(f"cuSOLVERMp {version}: residual {float(abs(a @ x - b).max()):.1e}")
