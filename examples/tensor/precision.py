# needs: nothing
"""Compute types: how many bits of the operands are used."""

import numpy as np

from nvmath.tensor import ComputeDesc, ContractionOptions, Operator, binary_contraction

rng = np.random.default_rng(0)
a, b = (rng.standard_normal((200, 200)).astype(np.float32) for _ in range(2))
exact = a.astype(float) @ b

errors = {}
for compute in (ComputeDesc.COMPUTE_32F, ComputeDesc.COMPUTE_TF32, ComputeDesc.COMPUTE_16BF):
    options = ContractionOptions(compute_type=compute())
    result = binary_contraction("ij,jk->ik", a, b, options=options, execution="cpu")
    errors[compute.__name__] = float(abs(result - exact).max())
    print(f"{compute.__name__:14} largest error {errors[compute.__name__]:.1e}")
assert errors["COMPUTE_32F"] < errors["COMPUTE_TF32"] < errors["COMPUTE_16BF"]

# An arithmetic that does not go with the operands is refused.
try:
    binary_contraction("ij,jk->ik", a, b, options={"compute_type": ComputeDesc.COMPUTE_64F()}, execution="cpu")
except ValueError as error:
    print(f"refused: {error}")

# Qualifiers conjugate an operand on the way: one for each operand, and one for the addend.
z = a + 1j * b
gram = binary_contraction("ij,kj->ik", z, z, qualifiers=[Operator.OP_IDENTITY, Operator.OP_CONJ, Operator.OP_IDENTITY])
assert np.allclose(gram, z @ z.conj().T, atol=1e-2)
