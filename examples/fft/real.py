# needs: nothing
"""Real signals: R2C and back, odd lengths, and which axis is halved."""

import numpy as np

import nvmath

rng = np.random.default_rng(0)
volume = rng.standard_normal((6, 10, 16))

# Along the last listed axis a real signal of n points has n // 2 + 1 frequencies of its own.
spectrum = nvmath.fft.rfft(volume, axes=(1, 2))
assert spectrum.shape == (6, 10, 9)
assert np.allclose(spectrum, np.fft.rfft2(volume))
assert np.allclose(nvmath.fft.irfft(spectrum, axes=(1, 2)), 10 * 16 * volume)

# 9 frequencies belong to 16 points as well as to 17: say which.
odd = rng.standard_normal((6, 17))
half = nvmath.fft.rfft(odd, axes=[1])
assert half.shape == (6, 9)
assert np.allclose(nvmath.fft.irfft(half, axes=[1], options={"last_axis_parity": "odd"}), 17 * odd)
assert np.allclose(nvmath.fft.irfft(half, axes=[1], n=17), 17 * odd)  # or give the length

# Any axis may be the last one listed, whatever its stride.
turned = volume.transpose(2, 0, 1)
assert nvmath.fft.rfft(turned, axes=(2, 0)).shape == (9, 6, 10)
assert np.allclose(nvmath.fft.rfft(turned, axes=(2, 0)), np.fft.rfftn(turned, axes=(2, 0)))

print(f"{volume.shape} -> {spectrum.shape}")
