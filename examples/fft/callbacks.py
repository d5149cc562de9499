# needs: numba
"""Python functions inside the transform: a convolution by an epilog, a window by a prolog, and how to match layouts."""

import numpy as np

import nvmath
from nvmath.fft import FFT

rng = np.random.default_rng(0)
image = rng.standard_normal((96, 128))
kernel = np.zeros((96, 128))
kernel[:5, :5] = rng.standard_normal((5, 5))
factors = np.fft.rfft2(kernel)
expected = np.fft.irfft2(np.fft.rfft2(image) * factors)


# An epilog gets each element of the result when it is stored, with its offset in memory, and stores it.
def multiply(spectrum, offset, element, factors, reserved):
    spectrum[offset] = element * factors[offset]


spectrum = nvmath.fft.rfft(image, epilog={"function": multiply, "data": factors})
assert np.allclose(nvmath.fft.irfft(spectrum, norm="backward"), expected)


# A prolog returns what the transform reads in place of data_in[offset]. This one multiplies, and scales.
def multiply_and_scale(spectrum, offset, factors, reserved):
    return spectrum[offset] * factors[offset] / (96 * 128)


plain = nvmath.fft.rfft(image)
assert np.allclose(nvmath.fft.irfft(plain, prolog={"function": multiply_and_scale, "data": factors}), expected)

# Offsets follow the strides of what is read or written. Where those are not C-ordered, give the data the same layout.
with FFT(image, axes=[0]) as transform:
    shape, strides = transform.get_output_layout()
    half = np.fft.rfft(kernel, axis=0)
    data = np.lib.stride_tricks.as_strided(np.empty(half.size, half.dtype), shape, [16 * stride for stride in strides])
    data[...] = half
    transform.plan(epilog={"function": multiply, "data": data})
    assert np.allclose(transform.execute(), np.fft.rfft(image, axis=0) * half)
    print(f"epilog over {shape} with strides {strides}")
