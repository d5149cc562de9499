# needs: torch
"""PyTorch tensors, on a GPU where there is one: half precision, conjugate views."""

import torch

from nvmath.tensor import binary_contraction, einsum

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
a, b = torch.randn(16, 24, 8, device=device), torch.randn(8, 24, 12, device=device)
want = torch.einsum("ijk,kjl->il", a, b)
torch.testing.assert_close(binary_contraction("ijk,kjl->il", a, b), want, rtol=1e-4, atol=1e-3)

# float16 and bfloat16 are computed in single precision and rounded once.
half = binary_contraction("ijk,kjl->il", a.bfloat16(), b.bfloat16())
assert half.dtype is torch.bfloat16
torch.testing.assert_close(half.float(), want, rtol=0.05, atol=0.5)

# A conjugate view is read as what it stands for.
z = torch.randn(6, 6, dtype=torch.complex128, device=device)
torch.testing.assert_close(einsum("ij,jk,kl->il", z, z.conj(), z.mH), z @ z.conj() @ z.mH)
print(f"contracted on {device}")
