# needs: gpu torch
"""Linear regression over tall matrices: products whose cost is the memory that they read."""

import torch

from nvmath.linalg.advanced import Matmul, matmul

torch.manual_seed(0)
x = torch.randn(1_000_000, 10, device="cuda", dtype=torch.float64)
true = torch.randn(10, 4, device="cuda", dtype=torch.float64)
y = matmul(x, true, 0.01 * torch.randn(1_000_000, 4, device="cuda", dtype=torch.float64), beta=1.0)

weights = torch.zeros(10, 4, device="cuda", dtype=torch.float64)
with Matmul(x, weights, y, beta=-1.0) as difference:  # X w - y
    difference.plan()
    report = difference.autotune(iterations=5)  # kernels of our own compete here, since the memory is the bound
    print(report.table())
    for _ in range(50):  # gradient descent: X.T (X w - y)
        difference.reset_operands(b=weights)
        weights = matmul(x.T, difference.execute(), weights, alpha=-1e-6, beta=1.0)
assert (weights - true).abs().max() < 1e-3
print(f"largest error of a weight: {(weights - true).abs().max().item():.1e}")
