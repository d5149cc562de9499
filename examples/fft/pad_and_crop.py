# needs: nothing
"""n= and s= crop the operand or pad it with zeros; out= takes an array for the result."""

import numpy as np

import nvmath

rng = np.random.default_rng(0)
signal = rng.standard_normal((4, 1000))

padded = nvmath.fft.rfft(signal, axes=[1], n=1024)
assert np.allclose(padded, np.fft.rfft(signal, n=1024))

# A linear convolution: pad both to the length of the result.
kernel = rng.standard_normal(25)
length = 1000 + 25 - 1
spectrum = nvmath.fft.rfft(signal, axes=[1], n=length) * nvmath.fft.rfft(kernel, n=length)
convolved = nvmath.fft.irfft(spectrum, axes=[1], n=length, norm="backward")
assert np.allclose(convolved[2], np.convolve(signal[2], kernel))

# Crop one axis, pad the other, keep the third (-1).
volume = rng.standard_normal((5, 6, 7)).astype("complex128")
assert np.allclose(nvmath.fft.fft(volume, s=(4, 9, -1)), np.fft.fftn(volume, s=(4, 9, 7), axes=(0, 1, 2)))

# An array of one's own for the result, here every second row of a larger one.
out = np.zeros((8, 513), dtype="complex128")[::2]
assert nvmath.fft.rfft(signal, axes=[1], n=1024, out=out) is out
assert np.allclose(out, padded)

print(f"convolved {signal.shape} with {kernel.shape}: {convolved.shape}")
