# needs: scipy
"""The class: phases, settings, information, transposes, resets, and a clone for another thread."""

import threading

import numpy as np
import scipy.sparse as sp

from nvmath.sparse.advanced import DirectSolver, DirectSolverReorderingAlg

rng = np.random.default_rng(0)
a = sp.csr_array(sp.random_array((200, 200), density=0.02, rng=rng) + 3 * sp.eye_array(200))
b = rng.standard_normal(200)

with DirectSolver(a, b, execution="cpu") as solver:
    solver.plan_config.reordering_algorithm = DirectSolverReorderingAlg.AMD
    plan = solver.plan()
    print(f"memory at its peak: {plan.memory_estimates.peak_host_memory} bytes")

    info = solver.factorize()
    print(f"{info.lu_nnz} elements in the factors, {info.npivots} pivots replaced, condition about {info.condition:.1f}")
    sign, log = info.logdet
    assert np.allclose([sign, log], np.linalg.slogdet(a.toarray()))

    assert np.allclose(a @ solver.solve(), b)
    assert np.allclose(a.T @ solver.solve(trans="T"), b)

    # Any number of right-hand sides, in any layout, with the same factors.
    many = rng.standard_normal((200, 5))
    solver.reset_operands(b=many)
    assert np.allclose(a @ solver.solve(), many)

    # New values of the same pattern: edit them in place, or reset; then factorize.
    a.data *= 2
    solver.factorize()
    assert np.allclose(a @ solver.solve(), many)

    # One solver serves one thread at a time. A clone shares its factors.
    with solver.clone_solver() as clone:

        def work() -> None:
            clone.reset_operands(b=b)
            assert np.allclose(a @ clone.solve(), b)

        thread = threading.Thread(target=work)
        thread.start()
        assert np.allclose(a @ solver.solve(), many)
        thread.join()
