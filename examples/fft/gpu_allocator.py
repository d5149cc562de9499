# needs: gpu cupy
"""A memory manager of one's own for the workspace."""

import cupy as cp

from nvmath import BaseCUDAMemoryManagerAsync
from nvmath.fft import FFT, FFTOptions


class CountingAllocator(BaseCUDAMemoryManagerAsync):
    """Takes memory from CuPy's pool and counts how often."""

    def __init__(self):
        self.count = 0

    def memalloc_async(self, size, stream):
        self.count += 1
        _, handle = stream.__cuda_stream__()
        with cp.cuda.ExternalStream(handle):
            return cp.cuda.alloc(size)  # an object that owns the memory and has its address as .ptr


allocator = CountingAllocator()
a = cp.random.random((37, 10007)) + 1j  # a prime length: cuFFT needs a workspace
with FFT(a, axes=[1], options=FFTOptions(allocator=allocator)) as transform:
    transform.plan()
    for _ in range(3):
        transform.execute()
    assert allocator.count == 1  # taken at the first execution, kept for the others
    transform.execute(release_workspace=True)
    transform.execute()
    assert allocator.count == 2
print(f"{allocator.count} allocations for 5 executions")
