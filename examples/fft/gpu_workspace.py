# needs: gpu cupy
"""Two large transforms that take turns with the memory: estimate it first, release it when it is not needed."""

import cupy as cp

from nvmath.fft import FFT, estimate_workspace_size

a = cp.random.random((512, 10007), dtype=cp.float32)
key = FFT.create_key(a, axes=[1])
print(f"the workspace takes about {estimate_workspace_size(key) / 2**20:.0f} MiB")

with FFT(a, axes=[1]) as forward, FFT(a[:, ::-1], axes=[1]) as mirrored:
    forward.plan()
    mirrored.plan()
    for _ in range(2):
        first = forward.execute(release_workspace=True)  # given back in the order of the stream when the call returns
        second = mirrored.execute(release_workspace=True)
    assert cp.allclose(first, cp.fft.rfft(a, axis=1), rtol=1e-3, atol=1e-1)
    assert cp.allclose(abs(first), abs(second), rtol=1e-3, atol=1e-1)
