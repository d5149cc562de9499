# needs: nothing
"""Several threads: one object each, or one-call functions from all of them; transforms release the GIL."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import nvmath
from nvmath.fft import FFT

rng = np.random.default_rng(0)
images = [rng.standard_normal((256, 256)) for _ in range(8)]


def one_call(image):
    return nvmath.fft.rfft(image, execution={"name": "cpu", "num_threads": 1})


def planned(image):
    with FFT(image, execution={"name": "cpu", "num_threads": 1}) as transform:
        transform.plan()
        return transform.execute()


for work in (one_call, planned):
    with ThreadPoolExecutor(max_workers=4) as pool:
        for image, spectrum in zip(images, pool.map(work, images), strict=True):
            assert np.allclose(spectrum, np.fft.rfft2(image))
print(f"{len(images)} images in 4 threads")
