# needs: torch
"""Delayed scaling: the largest magnitude of one result gives the scale of the next."""

import torch

from nvmath.linalg.advanced import Matmul

device = "cuda" if torch.cuda.is_available() and torch.cuda.get_device_capability() >= (8, 9) else "cpu"
execution = "cuda" if device == "cuda" else "cpu"
torch.manual_seed(0)

a = (torch.randn(128, 256, device=device) * 8).to(torch.float8_e4m3fn)
b = (torch.randn(256, 128, device=device) * 8).T.contiguous().to(torch.float8_e4m3fn).T
scale = torch.ones(1, device=device)  # of the result

with Matmul(
    a, b, quantization_scales={"a": 1, "b": 1, "d": scale}, options={"result_amax": True}, execution=execution
) as product:
    product.plan()
    for step in range(3):
        d, auxiliary = product.execute()
        amax = auxiliary["result_amax"]  # of the values before the scale and the rounding
        saturated = (d.float().abs() == 448).float().mean().item()
        print(
            f"step {step}: scale {scale.item():.3g}, largest magnitude {amax.item():.4g}, at the limit {saturated:.1%}"
        )
        scale[:] = 448 / amax  # in place: the next execution reads it

assert saturated < 0.01
assert torch.allclose(d.float() / (448 / amax), a.float() @ b.float(), rtol=0.07, atol=float(amax) / 1000)
