# needs: torch
"""NVFP4: 4-bit operands, two in a byte, with an FP8 scale for each 16 values.

On a GPU this needs compute capability 10; on the CPU it runs anywhere.
"""

import torch

import nvmath
from nvmath.linalg.advanced import matmul
from nvmath.linalg.advanced.helpers.matmul import expand_block_scale, quantize_to_fp4, to_block_scale, unpack_fp4

device = "cuda" if torch.cuda.is_available() and torch.cuda.get_device_capability() >= (10, 0) else "cpu"
execution = "cuda" if device == "cuda" else "cpu"
torch.manual_seed(0)
m, n, k = 128, 256, 512


def quantised(x: torch.Tensor, axis: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale blocks of 16 values along an axis to the range of FP4 (6), and pack them."""
    blocks = x.unflatten(axis, (-1, 16))
    scale = (blocks.abs().amax(axis, keepdim=True) / 6).to(torch.float8_e4m3fn)
    packed = quantize_to_fp4((blocks / scale.float()).reshape(x.shape), axis)
    return packed, to_block_scale(scale.squeeze(axis), packed, "NVFP4")


x, w = torch.randn(m, k, device=device), torch.randn(k, n, device=device)
a, scale_a = quantised(x, -1)  # row-major
b, scale_b = quantised(w, -2)  # column-major
print("packed:", tuple(a.shape), tuple(b.shape), a.dtype)

scales = {"a": scale_a, "b": scale_b}
options = {"block_scaling": True, "result_type": nvmath.CudaDataType.CUDA_R_32F}
d = matmul(a, b, quantization_scales=scales, options=options, execution=execution)
values_a = unpack_fp4(a, -1) * expand_block_scale(scale_a, a, "NVFP4", output_dtype=torch.float32)
values_b = unpack_fp4(b, -2) * expand_block_scale(scale_b, b, "NVFP4", output_dtype=torch.float32)
assert torch.allclose(d, values_a @ values_b, rtol=1e-2, atol=1e-2)
error = float((d - x @ w).norm() / (x @ w).norm())
print(f"relative error of the product in FP4: {error:.3f}")
assert error < 0.2

# A result in FP4 is packed too, and comes with its scales.
d, more = matmul(a, b, quantization_scales=scales, options={"block_scaling": True}, execution=execution)
back = unpack_fp4(d, -1) * expand_block_scale(more["d_out_scale"], d, "NVFP4", output_dtype=torch.float32)
print("result:", tuple(d.shape), d.dtype, "with", tuple(more["d_out_scale"].shape), "scales")
assert float((back - values_a @ values_b).norm() / (values_a @ values_b).norm()) < 0.15
