# needs: nothing
"""Options and execution: as objects, as dicts, by name."""

import numpy as np

import nvmath
from nvmath.fft import FFT, ExecutionCPU, FFTOptions

a = np.random.default_rng(0).standard_normal((8, 16)).astype("complex64")
expected = np.fft.fft2(a)

for options in (FFTOptions(result_layout="natural"), {"result_layout": "natural"}, None):
    assert np.allclose(nvmath.fft.fft(a, options=options), expected, atol=1e-3)

for execution in (ExecutionCPU(num_threads=2), {"name": "cpu", "num_threads": 2}, "cpu", {"num_threads": 2}, None):
    assert np.allclose(nvmath.fft.fft(a, execution=execution), expected, atol=1e-3)

# num_threads=None is every core that the process may run on, fewer for small transforms.
with FFT(a, execution="cpu") as transform:
    print(f"threads: {transform.execution_options.num_threads}")

# A caller's object is never changed, so it can be used again.
options = FFTOptions()
nvmath.fft.irfft(a, options=options)
assert options == FFTOptions()

# A wrong value is refused when the object is made.
try:
    FFTOptions(result_layout="fast")
except ValueError as error:
    print(f"refused: {error}")
