# needs: nothing
"""Plans are kept: by the library for one-call functions, and by a cache of one's own with keys."""

import numpy as np

import nvmath
from nvmath.fft import FFT

rng = np.random.default_rng(0)
shapes = [(64,), (8, 128), (64,), (8, 128), (64,)]
operands = [rng.standard_normal(shape).astype("complex128") for shape in shapes]

# One-call functions look their plan up by the metadata of the operand and everything that was asked.
nvmath.plan_cache.clear()
for a in operands:
    nvmath.fft.fft(a)
info = nvmath.plan_cache.info()
print(f"{info.hits} hits, {info.misses} misses, {info.entries} plans of at most {info.max_entries}")
assert (info.hits, info.misses) == (3, 2)

# It can be bounded, switched off (or NVMATH_PLAN_CACHE=0 in the environment) and emptied.
nvmath.plan_cache.configure(max_entries=100)
nvmath.plan_cache.clear()


class Transforms:
    """A cache of planned objects, keyed like in code written for libraries without one."""

    def __init__(self):
        self.planned = {}

    def __call__(self, a):
        key = FFT.create_key(a)  # no data is touched; layout, dtypes, callbacks and execution decide
        transform = self.planned.get(key)
        if transform is None:
            transform = self.planned[key] = FFT(a)
            transform.plan()
            assert transform.get_key() == key
        else:
            transform.reset_operand(a)
        result = transform.execute()
        transform.release_operand()  # keep the plan, not the array
        return result

    def free(self):
        for transform in self.planned.values():
            transform.free()


mine = Transforms()
for a in operands:
    assert np.allclose(mine(a), np.fft.fftn(a))
assert len(mine.planned) == 2
mine.free()
