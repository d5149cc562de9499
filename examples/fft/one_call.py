# needs: nothing
"""One-call transforms of NumPy arrays: kinds, axes, norms, and where they run."""

import numpy as np

import nvmath

rng = np.random.default_rng(0)
signals = rng.standard_normal((100, 256)) + 1j * rng.standard_normal((100, 256))

# Batched over the last axis. Without axes= all of them are transformed.
spectra = nvmath.fft.fft(signals, axes=[1])
assert np.allclose(spectra, np.fft.fft(signals, axis=1))
assert np.allclose(nvmath.fft.fft(signals), np.fft.fft2(signals))

# Neither direction is scaled, so the round trip gives N times the signal ...
assert np.allclose(nvmath.fft.ifft(spectra, axes=[1]), 256 * signals)
# ... unless a norm is asked for; the names are NumPy's.
assert np.allclose(nvmath.fft.ifft(spectra, axes=[1], norm="backward"), signals)

# Operands in host memory are transformed on the CPU. This says so, and with how many threads.
execution = nvmath.fft.ExecutionCPU(num_threads=1)
assert np.allclose(nvmath.fft.fft(signals, axes=[1], execution=execution), spectra)

# Single precision in, single precision out.
assert nvmath.fft.fft(signals.astype("complex64"), axes=[1]).dtype == np.complex64

print(f"{len(signals)} signals, strongest frequency of the first: {np.abs(spectra[0]).argmax()}")
