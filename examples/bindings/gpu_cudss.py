# needs: gpu cupy library:cudss
"""cuDSS: a sparse system of equations: analysis, factorization, solution, and a second right-hand side."""

import cupy as cp
import numpy as np

from nvmath.bindings import cudss

data_types, phases = cudss.DataType, cudss.Phase
n = 500
rows = [(i, j) for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n]
values = cp.array([4.0 if i == j else -1.0 for i, j in rows])
columns = cp.array([j for _, j in rows], dtype=cp.int32)
offsets = cp.asarray(np.searchsorted([i for i, _ in rows], np.arange(n + 1)).astype(np.int32))
dense = cp.zeros((n, n))
dense[tuple(cp.array(rows).T)] = values
b, x = cp.arange(1.0, n + 1), cp.zeros(n)

handle = cudss.create()
cudss.set_stream(handle, cp.cuda.get_current_stream().ptr)
configuration, data = cudss.config_create(), cudss.data_create(handle)
steps = np.array([2], dtype=cudss.get_config_param_dtype(cudss.ConfigParam.IR_N_STEPS))
cudss.config_set(configuration, cudss.ConfigParam.IR_N_STEPS, steps, steps.nbytes)
matrix = cudss.matrix_create_csr(
    n, n, len(rows), offsets.data.ptr, None, columns.data.ptr, values.data.ptr, data_types.R_32I, data_types.R_32I,
    data_types.R_64F, cudss.MatrixType.GENERAL, cudss.MatrixViewType.FULL, cudss.IndexBase.ZERO,
)  # fmt: skip
column = cudss.Layout.COL_MAJOR
solution = cudss.matrix_create_dn(n, 1, n, x.data.ptr, data_types.R_64F, column)
right = cudss.matrix_create_dn(n, 1, n, b.data.ptr, data_types.R_64F, column)

for phase in (phases.ANALYSIS, phases.FACTORIZATION, phases.SOLVE):
    cudss.execute(handle, phase, configuration, data, matrix, solution, right)
assert cp.allclose(dense @ x, b)
nonzeros, written = np.zeros(1, dtype=cudss.get_data_param_dtype(cudss.DataParam.LU_NNZ)), np.zeros(1, dtype=np.uint64)
cudss.data_get(handle, data, cudss.DataParam.LU_NNZ, nonzeros, nonzeros.nbytes, written)
assert nonzeros[0] >= len(rows)

other = cp.ones(n)
cudss.matrix_set_values(right, other.data.ptr)
cudss.execute(handle, phases.SOLVE, configuration, data, matrix, solution, right)
assert cp.allclose(dense @ x, other)

for described in (matrix, solution, right):
    cudss.matrix_destroy(described)
cudss.data_destroy(handle, data)
cudss.config_destroy(configuration)
cudss.destroy(handle)
print(f"cuDSS {'.'.join(str(cudss.get_property(kind)) for kind in range(3))}: {nonzeros[0]} nonzeros in the factors")
