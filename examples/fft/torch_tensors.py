# needs: torch
"""PyTorch tensors: results are tensors, on the operand's device, of the operand's precision."""

import torch

import nvmath
from nvmath.fft import FFT

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
batch = torch.randn(16, 3, 64, 64, device=device)

spectra = nvmath.fft.rfft(batch, axes=(2, 3))
assert spectra.dtype == torch.complex64
assert spectra.device == batch.device
assert torch.allclose(spectra, torch.fft.rfft2(batch), rtol=1e-4, atol=1e-3)

# Lazy conjugation is seen: x.conj() is a view with a flag, not a copy.
x = torch.randn(128, dtype=torch.complex128, device=device)
assert torch.allclose(nvmath.fft.fft(x.conj()), torch.fft.fft(x.conj().resolve_conj()))

# Half precision: on the CPU it is computed in single precision and rounded once.
half = torch.randn(256, device=device).to(torch.float16)
assert nvmath.fft.rfft(half).dtype == torch.complex32

with FFT(batch, axes=(2, 3)) as transform:
    transform.plan()
    transform.reset_operand(2 * batch)
    assert torch.allclose(transform.execute(), 2 * spectra, rtol=1e-4, atol=1e-3)
print(f"{tuple(batch.shape)} on {device} -> {tuple(spectra.shape)}")
