# needs: gpu cutensor
"""NumPy arrays on a GPU: by name, by object, on every device; the result comes back."""

import numpy as np

from nvmath.tensor import BinaryContraction, ExecutionCUDA, binary_contraction

rng = np.random.default_rng(0)
a, b = rng.random((40, 50, 60)), rng.random((60, 50, 30))
want = np.einsum("ijk,kjl->il", a, b)

for execution in ("cuda", ExecutionCUDA(device_id=0), {"name": "cuda", "device_id": 0}):
    assert np.allclose(binary_contraction("ijk,kjl->il", a, b, execution=execution), want)

with BinaryContraction("ijk,kjl->il", a, b, execution="cuda") as contraction:
    contraction.plan()
    assert np.allclose(contraction.execute(), want)
    contraction.reset_operands(a=2 * a)  # copied to the GPU; editing the old array would not be seen
    assert np.allclose(contraction.execute(), 2 * want)
print(f"{a.shape} x {b.shape} -> {want.shape}")
