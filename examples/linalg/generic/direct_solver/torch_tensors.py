# needs: torch
"""PyTorch tensors on the CPU, lazily conjugated ones included."""

import torch

from nvmath.linalg import direct_solver

a = torch.randn(20, 20, dtype=torch.complex128) + 10 * torch.eye(20)
b = torch.randn(20, 2, dtype=torch.complex128)
x = direct_solver(a.mH, b, execution="cpu")
assert torch.allclose(a.mH @ x, b)
print("the solution is a", type(x).__name__, "of", x.dtype)
