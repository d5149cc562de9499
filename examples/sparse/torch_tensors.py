# needs: torch
"""PyTorch: sparse tensors of several layouts, and stacks of matrices in one tensor."""

import warnings

import torch

from nvmath.sparse.advanced import direct_solver

warnings.filterwarnings("ignore", "Sparse")  # PyTorch says that its sparse tensors are in beta state

dense = torch.tensor([[4.0, 1, 0], [0, 3, 1], [1, 0, 5]], dtype=torch.float64)
b = torch.tensor([1.0, 2, 3], dtype=torch.float64)
for a in (dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse()):
    x = direct_solver(a, b)
    assert torch.allclose(dense @ x, b)

# A stack of matrices with one pattern size; its right-hand sides have shape (..., n, k).
stack = torch.stack([dense * factor for factor in (1, 2, 3, 4)])
sides = torch.rand(4, 3, 2, dtype=torch.float64)
x = direct_solver(stack.to_sparse_csr(), sides)
assert torch.allclose(stack @ x, sides)
print(x.shape)
