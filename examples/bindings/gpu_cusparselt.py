# needs: gpu cupy library:cusparseLt
"""cuSPARSELt: a product with a matrix of which two of four numbers are zero: prune, check, compress, multiply."""

import cupy as cp
import numpy as np

from nvmath.bindings import cusparseLt

F16, ROW, NO = 2, 2, 0  # CUDA_R_16F; rows; not transposed
m, n, k = 128, 96, 64
rng = cp.random.default_rng(0)
a, b = (rng.standard_normal(shape, dtype=cp.float32).astype(cp.float16) for shape in ((m, k), (k, n)))
c = cp.zeros((m, n), dtype=cp.float16)
stream = cp.cuda.get_current_stream().ptr

handle = cusparseLt.init()
half = cusparseLt.Sparsity.SPARSITY_50_PERCENT
matrices = [
    cusparseLt.structured_descriptor_init(handle, m, k, k, 16, F16, ROW, half),
    cusparseLt.dense_descriptor_init(handle, k, n, n, 16, F16, ROW),
    cusparseLt.dense_descriptor_init(handle, m, n, n, 16, F16, ROW),
]
product = cusparseLt.matmul_descriptor_init(
    handle, NO, NO, matrices[0], matrices[1], matrices[2], matrices[2], cusparseLt.ComputeType.COMPUTE_32F
)
algorithm = cusparseLt.matmul_alg_selection_init(handle, product, cusparseLt.MatmulAlg.DEFAULT)
plan = cusparseLt.matmul_plan_init(handle, product, algorithm)

pruned, wrong = cp.zeros_like(a), cp.zeros(2, dtype=cp.int32)  # cuSPARSELt 0.8.0 writes only where it finds a fault
cusparseLt.sp_mma_prune(handle, product, a.data.ptr, pruned.data.ptr, cusparseLt.PruneAlg.SPMMA_STRIP, stream)
for number, matrix in enumerate((pruned, a)):
    cusparseLt.sp_mma_prune_check(handle, product, matrix.data.ptr, wrong[number:].data.ptr, stream)
assert wrong.astype(bool).tolist() == [False, True]  # two of four are zero; all four are not
assert int((pruned.reshape(-1, 4) != 0).sum(axis=1).max()) <= 2

size, buffer_size = cusparseLt.sp_mma_compressed_size(handle, plan)
compressed, buffer = (cp.zeros(max(nbytes, 1), dtype=cp.uint8) for nbytes in (size, buffer_size))
cusparseLt.sp_mma_compress(handle, plan, pruned.data.ptr, compressed.data.ptr, buffer.data.ptr, stream)
nbytes = cusparseLt.matmul_get_workspace(handle, plan)
workspace = cp.zeros(max(nbytes, 1), dtype=cp.uint8)
one, zero = np.float32(1), np.float32(0)
cusparseLt.matmul(
    handle, plan, one, compressed.data.ptr, b.data.ptr, zero, c.data.ptr, c.data.ptr, workspace.data.ptr, None, 0
)
cp.cuda.Device().synchronize()
assert cp.allclose(c.astype(cp.float32), pruned.astype(cp.float32) @ b.astype(cp.float32), rtol=1e-2, atol=1e-1)

version = cusparseLt.get_version(handle)
cusparseLt.matmul_plan_destroy(plan)
cusparseLt.matmul_alg_selection_destroy(algorithm)
cusparseLt.matmul_descriptor_destroy(product)
for descriptor in matrices:
    cusparseLt.mat_descriptor_destroy(descriptor)
cusparseLt.destroy(handle)
print(f"cuSPARSELt {version}: {a.nbytes} bytes compressed to {size}")
