# needs: gpu cupy
"""Every GPU at once: one thread and one object per device; and host operands with device_id."""

from concurrent.futures import ThreadPoolExecutor

import cupy as cp
import numpy as np

import nvmath
from nvmath.fft import FFT

devices = range(cp.cuda.runtime.getDeviceCount())
parts = np.random.default_rng(0).standard_normal((len(devices), 64, 4096)).astype("complex64")


def transform_on(device):
    with cp.cuda.Device(device):  # results are made on the operand's device
        operand = cp.asarray(parts[device])
        with FFT(operand, axes=[1]) as transform:
            transform.plan()
            return transform.execute().get()


def host_operand_on(device):
    return nvmath.fft.fft(parts[device], axes=[1], execution={"name": "cuda", "device_id": device})


for work in (transform_on, host_operand_on):
    with ThreadPoolExecutor(len(devices)) as pool:
        results = np.stack(list(pool.map(work, devices)))
    assert np.allclose(results, np.fft.fft(parts, axis=2), rtol=1e-3, atol=1e-2)
print(f"{len(devices)} device(s)")
