# needs: torch
"""MXFP8: FP8 operands with a power of two for each 32 elements, and results that bring scales for the next product.

On a GPU this needs compute capability 10; on the CPU it runs anywhere.
"""

import torch

import nvmath
from nvmath.linalg.advanced import matmul
from nvmath.linalg.advanced.helpers.matmul import (
    apply_mxfp8_scale,
    create_mxfp8_scale,
    expand_block_scale,
    get_block_scale_offset,
    to_block_scale,
)

device = "cuda" if torch.cuda.is_available() and torch.cuda.get_device_capability() >= (10, 0) else "cpu"
execution = "cuda" if device == "cuda" else "cpu"
torch.manual_seed(0)
size = 256
blocks = {"block_scaling": True}

# The same scale everywhere.
a = torch.randn(size, size, device=device).to(torch.float8_e4m3fn)
b = torch.randn(size, size, device=device).to(torch.float8_e4m3fn).T
scales = {"a": create_mxfp8_scale(a, 1), "b": create_mxfp8_scale(b, -2)}
wide = blocks | {"result_type": nvmath.CudaDataType.CUDA_R_32F}
d = matmul(a, b, quantization_scales=scales, options=wide, execution=execution)
assert torch.allclose(d, 0.5 * (a.float() @ b.float()), rtol=1e-2, atol=1e-1)

# Another one for one block: the flat array is in the order in which the hardware reads it.
scales["a"][get_block_scale_offset((3, 5), a, "MXFP8")] += 2  # row 3, columns 160 to 191
d = matmul(a, b, quantization_scales=scales, options=wide, execution=execution)
exact = a.float() * expand_block_scale(scales["a"], a, "MXFP8", output_dtype=torch.float32)
assert torch.allclose(d, 0.25 * exact @ b.float(), rtol=1e-2, atol=1e-1)

# Quantise a matrix: the power of two that brings the largest of 32 values below 448.
x = torch.randn(size, size, device=device) * 1000
largest = x.reshape(size, -1, 32).abs().amax(-1)
exponents = torch.ceil(torch.log2(largest / 448)).to(torch.int32)
values = (
    (x.reshape(size, -1, 32) * torch.exp2(-exponents.float())[..., None]).reshape(size, size).to(torch.float8_e4m3fn)
)
flat = to_block_scale((exponents + 127).to(torch.uint8), values, "MXFP8")
print("largest relative error of quantising:", float(((apply_mxfp8_scale(values, flat) - x).abs() / x.abs()).max()))

# A result in FP8 comes with its scales, which the next product takes as they are.
power, more = a, {"d_out_scale": create_mxfp8_scale(a, 0)}
one = create_mxfp8_scale(b, 0)
for _ in range(2):
    power, more = matmul(
        power, b, quantization_scales={"a": more["d_out_scale"], "b": one}, options=blocks, execution=execution
    )
product = apply_mxfp8_scale(power, more["d_out_scale"]).float()
reference = a.float() @ b.float() @ b.float()
error = float((product - reference).norm() / reference.norm())
print(f"A B B in MXFP8: relative error {error:.3f}")
assert error < 0.06
