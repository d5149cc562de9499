# needs: scipy
"""One call: formats, several right-hand sides, symmetric matrices of which one triangle is given, preferences."""

import numpy as np
import scipy.sparse as sp

from nvmath.sparse.advanced import (
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverReorderingAlg,
    direct_solver,
)

n = 1000
a = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.5), np.full(n - 1, -1.0)], offsets=[-1, 0, 1], format="csr")
rng = np.random.default_rng(0)
b = rng.standard_normal(n)

x = direct_solver(a, b)
assert np.allclose(a @ x, b)

# CSR, CSC, COO and BSR mean the same matrix; entries may be in any order, and doubled.
for form in ("csc", "coo", "bsr"):
    assert np.allclose(direct_solver(a.asformat(form), b), x)

# Several right-hand sides at once, in any layout; the answer has the shape of b.
many = rng.standard_normal((n, 4))
assert np.allclose(a @ direct_solver(a, many), many)

# A complex right-hand side of a real matrix is solved, not truncated.
assert np.allclose(direct_solver(a, b * 1j), x * 1j)

# A positive definite matrix takes half the work, and one triangle of it is enough.
options = {"sparse_system_type": DirectSolverMatrixType.SPD, "sparse_system_view": DirectSolverMatrixViewType.LOWER}
assert np.allclose(direct_solver(sp.csr_array(sp.tril(a)), b, options=options), x)

# Preferences of the phases.
y = direct_solver(a, b, plan_preferences={"reordering_algorithm": DirectSolverReorderingAlg.AMD}, solution_preferences={"ir_num_steps": 2})
print(f"largest difference between two orderings: {abs(x - y).max():.1e}")
