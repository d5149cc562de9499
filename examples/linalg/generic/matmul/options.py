# needs: nothing
"""Options and execution: as objects, as dicts, by name."""

import numpy as np

from nvmath.linalg import ExecutionCPU, Matmul, MatmulOptions, matmul

a = np.random.default_rng(0).random((16, 16))

for execution in (ExecutionCPU(num_threads=1), {"name": "cpu", "num_threads": 1}, "cpu", None):
    assert np.allclose(matmul(a, a, execution=execution), a @ a)

c = np.zeros((16, 16))
for options in (MatmulOptions(inplace=True), {"inplace": True}):
    assert matmul(a, a, c, beta=1.0, options=options) is c
assert np.allclose(c, 2 * a @ a)

with Matmul(a, a, execution="cpu") as product:
    print(f"runs on {product.execution_options.name} with {product.execution_options.num_threads} threads")

# A wrong value is refused when the object is made.
try:
    MatmulOptions(blocking=False)
except ValueError as error:
    print(error)
