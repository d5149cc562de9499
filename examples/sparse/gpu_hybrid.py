# needs: gpu scipy library:cudss
"""A GPU and its host together: factors in host memory, hybrid execution, threads of the host."""

import numpy as np
import scipy.sparse as sp

from nvmath.sparse.advanced import ExecutionCUDA, ExecutionHybrid, HybridMemoryModeOptions, direct_solver

n = 5000
a = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 3.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1], format="csr")
b = np.ones(n)

# Factors that do not fit on the GPU are kept in host memory.
memory = HybridMemoryModeOptions(hybrid_memory_mode=True, hybrid_device_memory_limit="1 GiB")
assert np.allclose(a @ direct_solver(a, b, execution=ExecutionCUDA(hybrid_memory_mode_options=memory)), b)

# The host does small parts of the factorization.
assert np.allclose(a @ direct_solver(a, b, execution="hybrid"), b)
assert np.allclose(a @ direct_solver(a, b, execution=ExecutionHybrid(num_threads=1)), b)
print("solved three times")
