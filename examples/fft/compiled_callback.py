# needs: numba
"""The original's way to write callbacks: compile first, pass the code and an address. It serves the CPU too."""

import numpy as np

import nvmath

signal = np.random.default_rng(0).standard_normal(4096).astype("complex64")
window = np.hanning(4096).astype("float32")


def apply_window(data_in, offset, window, reserved):
    return data_in[offset] * window[offset]


prolog = nvmath.fft.compile_prolog(apply_window, "complex64", "float32")
callback = nvmath.fft.DeviceCallable(ltoir=prolog, data=window.ctypes.data)  # keep `window` alive while it is used
spectrum = nvmath.fft.fft(signal, prolog=callback)
assert np.allclose(spectrum, np.fft.fft(signal * window), atol=1e-3)
print(repr(prolog))
