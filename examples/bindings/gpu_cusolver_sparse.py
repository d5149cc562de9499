# needs: gpu cupy library:cusolver library:cusparse
"""cuSOLVER's sparse direct solvers: by QR on the GPU, by LU on the CPU with NumPy arrays. For new code, cuDSS."""

import cupy as cp
import numpy as np

from nvmath.bindings import cusolverSp, cusparse

# The second difference with a diagonal: 4 on it, -1 beside it.
n = 200
rows = [(i, j) for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n]
values = np.array([4.0 if i == j else -1.0 for i, j in rows])
columns = np.array([j for _, j in rows], dtype=np.int32)
offsets = np.searchsorted([i for i, _ in rows], np.arange(n + 1)).astype(np.int32)
dense = np.zeros((n, n))
dense[tuple(np.array(rows).T)] = values
b = np.arange(1.0, n + 1)

handle, description = cusolverSp.create(), cusparse.create_mat_descr()
on_device = [cp.asarray(array) for array in (values, offsets, columns, b)]
x, singularity = cp.zeros(n), np.zeros(1, dtype=np.int32)
addresses = [array.data.ptr for array in on_device]
cusolverSp.dcsrlsvqr(
    handle, n, len(values), description, *addresses, 1e-12, 1, x.data.ptr, singularity.ctypes.data
)  # the last is on the host
assert singularity[0] == -1
assert np.allclose(dense @ x.get(), b)

y = np.zeros(n)
cusolverSp.dcsrlsvlu_host(handle, n, len(values), description, values, offsets, columns, b, 1e-12, 1, y, singularity)
assert singularity[0] == -1
assert np.allclose(y, x.get())
cusparse.destroy_mat_descr(description)
cusolverSp.destroy(handle)
print(f"residual {abs(dense @ y - b).max():.1e}")
