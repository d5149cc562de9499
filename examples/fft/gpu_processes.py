# needs: gpu
"""One process per GPU, each with host operands and a device_id of its own."""

import multiprocessing

import numpy as np

import nvmath


def transform(job):
    device, part = job
    return nvmath.fft.fft(part, axes=[1], execution={"name": "cuda", "device_id": device})


if __name__ == "__main__":
    from nvmath.bindings import _cuda

    count = _cuda.device_count()
    parts = np.random.default_rng(0).standard_normal((count, 16, 1024)).astype("complex128")
    # spawn, not fork: a forked process cannot use the GPU that its parent has opened.
    with multiprocessing.get_context("spawn").Pool(count) as pool:
        results = pool.map(transform, list(enumerate(parts)))
    assert np.allclose(results, np.fft.fft(parts, axis=2))
    print(f"{count} process(es)")
