# needs: torch
"""PyTorch tensors on the CPU or a GPU: conjugate views, half precision, results where the operands are."""

import numpy as np
import torch

from nvmath.linalg import GeneralMatrixQualifier, TriangularMatrixQualifier, matmul, matrix_qualifiers_dtype

device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randn(4, 4, dtype=torch.complex128, device=device)
b = torch.randn(4, 2, dtype=torch.complex128, device=device)

# The lazy conjugate and the qualifier's conjugate=True cancel.
torch.testing.assert_close(matmul(a.conj(), b), a.conj().resolve_conj() @ b)
conjugated = np.array(
    [GeneralMatrixQualifier.create(conjugate=True), GeneralMatrixQualifier.create()], matrix_qualifiers_dtype
)
torch.testing.assert_close(matmul(a.conj(), b, qualifiers=conjugated), a @ b)

triangular = np.array([TriangularMatrixQualifier.create(), GeneralMatrixQualifier.create()], matrix_qualifiers_dtype)
torch.testing.assert_close(matmul(a, b, qualifiers=triangular), torch.tril(a) @ b)

half = torch.randn(8, 8, device=device).to(torch.bfloat16)
print(matmul(half, half).dtype, "on", device)
