# needs: gpu cupy
"""CuPy arrays: transformed where they are, on CuPy's current stream, without waiting for the result."""

import cupy as cp

import nvmath
from nvmath.fft import FFT

rng = cp.random.default_rng(0)
volume = rng.standard_normal((128, 128, 128), dtype=cp.float32)

spectrum = nvmath.fft.rfft(volume)  # returns as soon as the work is queued; later work on this stream comes after it
assert cp.allclose(spectrum, cp.fft.rfftn(volume), rtol=1e-3, atol=1e-1)

# Views and any axes, as on the CPU.
a = rng.standard_normal((32, 48, 64)) + 1j * rng.standard_normal((32, 48, 64))
for view, axes in ((a.T, (0, 1)), (a, (1,)), (a[::2, :, ::-1], (1, 2))):
    assert cp.allclose(nvmath.fft.fft(view, axes=axes), cp.fft.fftn(view, axes=axes))

# In place.
b = a.copy()
assert nvmath.fft.fft(b, options={"inplace": True}) is b
assert cp.allclose(b, cp.fft.fftn(a))

# blocking=True waits for the result before the call returns.
with FFT(volume, options={"blocking": True}) as transform:
    transform.plan()
    assert cp.allclose(transform.execute(), spectrum)
print(f"{volume.shape} on device {volume.device.id} -> {spectrum.shape}")
