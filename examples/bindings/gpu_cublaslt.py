# needs: gpu cupy library:cublasLt
"""cuBLASLt: descriptors, a bias and ReLU, the algorithms that it proposes as records, one of them run."""

import cupy as cp
import numpy as np

from nvmath.bindings import cublas, cublasLt

F32 = 0  # nvmath.CudaDataType.CUDA_R_32F
handle = cublasLt.create()
rng = cp.random.default_rng(0)
m, n, k = 256, 128, 64
a, b = (
    rng.standard_normal((k, m), dtype=cp.float32),
    rng.standard_normal((n, k), dtype=cp.float32),
)  # columns: m x k, k x n
d, bias = cp.zeros((n, m), dtype=cp.float32), rng.standard_normal(m, dtype=cp.float32)

description = cublasLt.matmul_desc_create(cublas.ComputeType.COMPUTE_32F, F32)
attribute = cublasLt.MatmulDescAttribute


def set_attribute(name, value):
    """The dtype that the library expects comes from the bindings."""
    buffer = np.array([value], dtype=cublasLt.get_matmul_desc_attribute_dtype(name))
    cublasLt.matmul_desc_set_attribute(description, name, buffer, buffer.nbytes)


set_attribute(attribute.EPILOGUE, cublasLt.Epilogue.RELU_BIAS)
set_attribute(attribute.BIAS_POINTER, bias.data.ptr)
layouts = [cublasLt.matrix_layout_create(F32, *shape) for shape in ((m, k, m), (k, n, k), (m, n, m))]
preference = cublasLt.matmul_preference_create()
limit = np.array([4 << 20], dtype=np.uint64)
cublasLt.matmul_preference_set_attribute(
    preference, cublasLt.MatmulPreferenceAttribute.MAX_WORKSPACE_BYTES, limit, limit.nbytes
)

found, count = cublasLt.MatmulHeuristicResult(8), np.zeros(1, dtype=np.int32)
cublasLt.matmul_algo_get_heuristic(
    handle, description, layouts[0], layouts[1], layouts[2], layouts[2], preference, found.size, found, count
)
proposed = found[: count[0]]
assert count[0] >= 1
best = found[:1]  # the first is the one that it deems fastest
workspace = cp.empty(int(best.workspace_size) or 1, dtype=cp.uint8)

one, zero = np.float32(1), np.float32(0)
cublasLt.matmul(
    handle, description, one, a.data.ptr, layouts[0], b.data.ptr, layouts[1], zero, d.data.ptr, layouts[2], d.data.ptr,
    layouts[2], best.algo, workspace.data.ptr, int(best.workspace_size), cp.cuda.get_current_stream().ptr,
)  # fmt: skip
assert cp.allclose(d, cp.maximum(b @ a + bias, 0), rtol=1e-3, atol=1e-3)

cublasLt.matmul_preference_destroy(preference)
for layout in layouts:
    cublasLt.matrix_layout_destroy(layout)
cublasLt.matmul_desc_destroy(description)
cublasLt.destroy(handle)
print(f"cuBLASLt {cublasLt.get_version()}: {count[0]} algorithms, workspaces {np.atleast_1d(proposed.workspace_size)}")
