# needs: gpu
"""Host operands transformed on a GPU: copied there, transformed, copied back before the call returns."""

import importlib.util

import numpy as np

import nvmath
from nvmath.fft import FFT, ExecutionCUDA

rng = np.random.default_rng(0)
a = rng.standard_normal((64, 1024)) + 1j * rng.standard_normal((64, 1024))
expected = np.fft.fft(a, axis=1)

for execution in ("cuda", {"name": "cuda", "device_id": 0}, ExecutionCUDA(device_id=0)):
    result = nvmath.fft.fft(a, axes=[1], execution=execution)
    assert isinstance(result, np.ndarray)
    assert np.allclose(result, expected)

# The object works on a copy of the operand: after an edit, reset.
with FFT(a, axes=[1], execution="cuda") as transform:
    transform.plan()
    a[:] = 2 * a
    transform.reset_operand(a)
    assert np.allclose(transform.execute(), 2 * expected)

# In place: the host array itself is overwritten and returned.
b = a.copy()
assert nvmath.fft.fft(b, axes=[1], execution="cuda", options={"inplace": True}) is b
assert np.allclose(b, 2 * expected)

if importlib.util.find_spec("torch") is not None:
    import torch

    tensor = torch.from_numpy(a)
    result = nvmath.fft.fft(tensor, axes=[1], execution="cuda")
    assert result.device.type == "cpu"
    assert np.allclose(result.numpy(), 2 * expected)
print(f"{a.shape} there and back")
