import numpy as np, pytest
from nvmath.fft import FFT, fft, irfft
def test_a(gpu):
    a = gpu.array((4, 8))
    with FFT(a, axes=[1]) as t:
        t.plan()
        r = t.execute()
        print(r.shape)
    for c in gpu.trace: print(c)
def test_b(gpu):
    x = np.ones((4,8),complex)
    r = fft(x, execution="cuda")
    for c in gpu.trace: print(c)
def test_c(gpu):
    x = gpu.array((4,8))
    r = irfft(x, axes=[1])
    for c in gpu.trace: print(c)
