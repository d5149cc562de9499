# needs: torch
"""FP8: 8-bit operands with one scale for each matrix, on the CPU or a GPU.

The result is D = sD * F(alpha * (sA A) (sB B) + beta * C). On a GPU this needs compute capability 8.9; on the CPU it runs anywhere.
"""

import torch

import nvmath
from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

device = "cuda" if torch.cuda.is_available() and torch.cuda.get_device_capability() >= (8, 9) else "cpu"
execution = "cuda" if device == "cuda" else "cpu"
torch.manual_seed(0)

# K is innermost in both operands: A is row-major, B column-major.
x = torch.randn(64, 128, device=device)
w = torch.randn(96, 128, device=device)
a, b = x.to(torch.float8_e4m3fn), w.to(torch.float8_e4m3fn).T

# An 8-bit result needs a scale of its own, so that it does not leave the range of the format (448).
d = matmul(a, b, quantization_scales={"a": 1.0, "b": 1.0, "d": 0.25}, execution=execution)
exact = a.float() @ b.float()
print("FP8 result:", d.dtype, "largest error", float((d.float() / 0.25 - exact).abs().max()))
assert ((d.float() / 0.25 - exact).abs() <= exact.abs() / 16 + 0.1).all()

# A wide result has none.
wide = {"result_type": nvmath.CudaDataType.CUDA_R_32F}
d = matmul(a, b, quantization_scales={"a": 2.0, "b": 0.5}, options=wide, execution=execution)
assert torch.allclose(d, exact, rtol=1e-2, atol=1e-1)

# The type of a result may be asked for, and operands of the two FP8 types mixed.
e5m2 = x.to(torch.float8_e5m2)
half = {"result_type": nvmath.CudaDataType.CUDA_R_16F}
d = matmul(e5m2, b, quantization_scales={"a": 1.0, "b": 1.0}, options=half, execution=execution)
print("mixed operands:", d.dtype)

# Epilogs work on the values before they are rounded.
bias = torch.randn(64, device=device).to(torch.bfloat16)
d = matmul(
    a, b, epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": bias},
    quantization_scales={"a": 1.0, "b": 1.0, "d": 1.0}, execution=execution,
)  # fmt: skip
assert (d.float() >= 0).all()

# Scales that are tensors are read at every execution, so editing them in place is enough; numbers are replaced by a reset.
scale = torch.ones(1, device=device)
with Matmul(a, b, quantization_scales={"a": scale, "b": 1.0}, options=wide, execution=execution) as product:
    product.plan()
    once = product.execute()
    scale *= 2
    assert torch.allclose(product.execute(), 2 * once)
    product.reset_operands(quantization_scales={"b": 0.25})
    assert torch.allclose(product.execute(), once / 2)
print("scales edited and replaced")
