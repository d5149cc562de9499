# needs: gpu cupy library:cusolver
"""CuPy arrays: solutions stay on the GPU; batches of small systems are one call of cuBLAS."""

import cupy

from nvmath.linalg import DirectSolver, direct_solver

a = cupy.random.rand(1000, 32, 32) + 32 * cupy.eye(32)
b = cupy.random.rand(1000, 32, 1)
x = direct_solver(a, b)
assert cupy.allclose(a @ x, b)

stream = cupy.cuda.Stream(non_blocking=True)
cupy.cuda.get_current_stream().synchronize()
with stream, DirectSolver(a[0], b[0]) as solver:
    solver.plan()
    solver.factorize()
    assert cupy.allclose(a[0] @ solver.solve(), b[0])
print("solved", len(x), "systems on", x.device)
