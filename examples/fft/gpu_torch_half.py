# needs: gpu torch
"""Half precision tensors on a GPU: float16 and complex32."""

import torch

import nvmath

torch.manual_seed(0)
x = torch.randn(32, 1000, device="cuda").to(torch.float16)
spectrum = nvmath.fft.rfft(x, axes=[1])  # any length; the result is complex32
assert spectrum.dtype == torch.complex32
expected = torch.fft.rfft(x.float(), dim=1)
error = (spectrum.to(torch.complex64) - expected).norm() / expected.norm()
assert error < 1e-3
print(f"relative difference from single precision: {error:.1e}")
