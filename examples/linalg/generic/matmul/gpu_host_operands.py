# needs: gpu
"""NumPy arrays on a GPU: copied there and back; by default they stay on the CPU."""

import numpy as np

from nvmath.linalg import ExecutionCUDA, Matmul, matmul

a, b = np.random.default_rng(0).random((2, 300, 300))
assert np.allclose(matmul(a, b, execution="cuda"), a @ b)

with Matmul(a, b, execution=ExecutionCUDA(device_id=0)) as product:
    product.plan()
    assert np.allclose(product.execute(), a @ b)
    product.reset_operands(a=b)
    assert np.allclose(product.execute(), b @ b)
    print("computed on", product.execution_options.name)
