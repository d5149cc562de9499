# needs: nothing
"""In place: the operand is overwritten and returned."""

import numpy as np

import nvmath
from nvmath.fft import FFT, FFTOptions

rng = np.random.default_rng(0)
a = rng.standard_normal((32, 32)) + 1j * rng.standard_normal((32, 32))
expected = np.fft.fft2(a)

b = a.copy()
assert nvmath.fft.fft(b, options={"inplace": True}) is b
assert np.allclose(b, expected)

b = a.copy()
with FFT(b, options=FFTOptions(inplace=True)) as transform:
    transform.plan()
    assert transform.execute() is b
    assert np.allclose(b, expected)
    transform.execute(direction="inverse")  # back, in the same memory
    assert np.allclose(b, 32 * 32 * a)

# What cannot be overwritten is refused by name.
b.flags.writeable = False
try:
    nvmath.fft.fft(b, options={"inplace": True})
except ValueError as error:
    print(f"refused: {error}")
