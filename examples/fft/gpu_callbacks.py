# needs: gpu cupy numba_cuda
"""Python functions inside cuFFT: compiled to LTO-IR and linked into its kernels; no extra pass over memory is made."""

import cupy as cp

import nvmath
from nvmath.fft import FFT

rng = cp.random.default_rng(0)
image = rng.standard_normal((512, 512), dtype=cp.float32)
factors = rng.standard_normal((512, 257), dtype=cp.float32)
expected = cp.fft.rfft2(image) * factors


def multiply(spectrum, offset, element, factors, reserved):
    spectrum[offset] = element * factors[offset]


# The short form: function and data; the array is kept alive by the transform.
spectrum = nvmath.fft.rfft(image, epilog={"function": multiply, "data": factors})
assert cp.allclose(spectrum, expected, rtol=1e-3, atol=1e-1)

# The original's form: compile, then pass the code and an address.
epilog = nvmath.fft.compile_epilog(multiply, "complex64", "float32")
with FFT(image) as transform:
    transform.plan(epilog=nvmath.fft.DeviceCallable(ltoir=epilog, data=factors.data.ptr))
    assert cp.allclose(transform.execute(), expected, rtol=1e-3, atol=1e-1)
print(f"{len(epilog)} bytes of LTO-IR")
