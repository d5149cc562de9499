# needs: gpu cupy library:cudss
"""CuPy on a GPU: values edited in place, refinement instead of a factorization, streams, residual without waiting."""

import cupy
import cupyx.scipy.sparse as sparse

from nvmath.sparse.advanced import DirectSolver

n = 20_000
a = sparse.diags([cupy.full(n - 1, -1.0), cupy.full(n, 3.0), cupy.full(n - 1, -1.0)], [-1, 0, 1], format="csr")
b = cupy.random.default_rng(0).standard_normal(n)

with DirectSolver(a, b) as solver:
    solver.plan()
    info = solver.factorize()
    x = solver.solve()  # does not wait
    print(f"residual {info.residual:.1e}")  # waits
    assert cupy.allclose(a @ x, b)

    # Values that changed a little need no new factorization.
    a.data *= 1.001
    solver.solution_config.ir_num_steps = 3
    assert cupy.allclose(a @ solver.solve(), b)

    # Those that changed much do; the plan stays.
    a.data *= -2
    solver.factorize()
    assert cupy.allclose(a @ solver.solve(), b)

    # The work goes to the current stream, or to the one that is given.
    stream = cupy.cuda.Stream(non_blocking=True)
    stream.wait_event(cupy.cuda.get_current_stream().record())
    x = solver.solve(stream=stream)
    stream.synchronize()
    assert cupy.allclose(a @ x, b)
