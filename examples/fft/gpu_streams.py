# needs: gpu cupy
"""Two streams: every call may name its stream; handing data from one to the other needs an event, as always in CUDA."""

import cupy as cp

from nvmath.fft import FFT

first, second = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
with first:
    a = cp.random.random((256, 256)) + 1j

with FFT(a, stream=first) as transform:
    transform.plan(stream=first)
    spectrum = transform.execute(stream=first)
    ready = first.record()

    with second:
        b = cp.random.random((256, 256)) + 1j
    second.wait_event(ready)  # the second stream goes on after the first has come this far
    transform.reset_operand(b, stream=second)
    other = transform.execute(stream=second)  # the workspace is shared: the library orders its own memory itself

    second.synchronize()
    assert cp.allclose(other, cp.fft.fft2(b))
    assert cp.allclose(spectrum, cp.fft.fft2(a))
print("two results on two streams")
