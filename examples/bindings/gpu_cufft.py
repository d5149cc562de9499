# needs: gpu cupy library:cufft
"""cuFFT: a batch of transforms with a plan of 64-bit sizes, a workspace of one's own, a stream."""

import cupy as cp

from nvmath.bindings import cufft

batch, n = 16, 1000
rng = cp.random.default_rng(0)
x = rng.standard_normal((batch, n)) + 1j * rng.standard_normal((batch, n))
y = cp.empty_like(x)

plan = cufft.create()
cufft.set_auto_allocation(plan, 0)
nbytes = cufft.make_plan_many64(plan, 1, [n], None, 1, n, None, 1, n, cufft.Type.Z2Z, batch)
workspace = cp.empty(max(nbytes, 1), dtype=cp.uint8)
cufft.set_work_area(plan, workspace.data.ptr)
cufft.set_stream(plan, cp.cuda.get_current_stream().ptr)
cufft.exec_z2z(plan, x.data.ptr, y.data.ptr, -1)
assert cp.allclose(y, cp.fft.fft(x, axis=1))
cufft.exec_z2z(plan, y.data.ptr, y.data.ptr, 1)  # in place; cuFFT does not scale
assert cp.allclose(y / n, x)
cufft.destroy(plan)
try:
    cufft.exec_z2z(plan, x.data.ptr, y.data.ptr, -1)
except cufft.cuFFTError as error:
    print(f"cuFFT {cufft.get_version()}, {nbytes} bytes of workspace: {error}")
