# needs: nothing
"""Several processes: each has its own plans."""

import multiprocessing

import numpy as np

import nvmath


def strongest(seed):
    signal = np.random.default_rng(seed).standard_normal(4096)
    return int(np.abs(nvmath.fft.rfft(signal)).argmax())


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(strongest, range(4))
    assert found == [strongest(seed) for seed in range(4)]
    print(found)
