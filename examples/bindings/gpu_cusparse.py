# needs: gpu cupy library:cusparse
"""cuSPARSE: a sparse matrix by a vector and by a dense matrix, with descriptors and buffers."""

import cupy as cp
import numpy as np

from nvmath.bindings import cusparse

I32, F64 = cusparse.IndexType.INDEX_32I, 1  # nvmath.CudaDataType.CUDA_R_64F
rng = cp.random.default_rng(0)
m, k, n = 300, 200, 7
dense = rng.standard_normal((m, k)) * (rng.random((m, k)) < 0.05)
where = cp.nonzero(dense)
values, columns = dense[where], where[1].astype(cp.int32)
offsets = cp.searchsorted(where[0], cp.arange(m + 1)).astype(cp.int32)

handle = cusparse.create()
cusparse.set_stream(handle, cp.cuda.get_current_stream().ptr)
matrix = cusparse.create_csr(
    m, k, len(values), offsets.data.ptr, columns.data.ptr, values.data.ptr, I32, I32, cusparse.IndexBase.ZERO, F64
)
assert cusparse.csr_get(matrix)[:3] == (m, k, len(values))
no, one, zero = cusparse.Operation.NON_TRANSPOSE, np.float64(1), np.float64(0)

x, y = rng.standard_normal(k), cp.zeros(m)
vector_x, vector_y = cusparse.create_dn_vec(k, x.data.ptr, F64), cusparse.create_dn_vec(m, y.data.ptr, F64)
arguments = (handle, no, one, matrix, vector_x, zero, vector_y, F64, cusparse.SpMVAlg.DEFAULT)
buffer = cp.empty(max(cusparse.sp_mv_buffer_size(*arguments), 1), dtype=cp.uint8)
cusparse.sp_mv(*arguments, buffer.data.ptr)
assert cp.allclose(y, dense @ x)

b, c = rng.standard_normal((k, n)), cp.zeros((m, n))
row = cusparse.Order.ROW
dense_b, dense_c = (
    cusparse.create_dn_mat(k, n, n, b.data.ptr, F64, row),
    cusparse.create_dn_mat(m, n, n, c.data.ptr, F64, row),
)
arguments = (handle, no, no, one, matrix, dense_b, zero, dense_c, F64, cusparse.SpMMAlg.DEFAULT)
buffer = cp.empty(max(cusparse.sp_mm_buffer_size(*arguments), 1), dtype=cp.uint8)
cusparse.sp_mm(*arguments, buffer.data.ptr)
assert cp.allclose(c, dense @ b)

cusparse.destroy_sp_mat(matrix)
for vector in (vector_x, vector_y):
    cusparse.destroy_dn_vec(vector)
for mat in (dense_b, dense_c):
    cusparse.destroy_dn_mat(mat)
version = cusparse.get_version(handle)
cusparse.destroy(handle)
print(f"cuSPARSE {version}: {len(values)} nonzeros")
