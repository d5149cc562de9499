# needs: gpu cupy cutensor
"""The workspace: an allocator of one's own, a limit, and giving it back between two large contractions."""

import cupy as cp

from nvmath import BaseCUDAMemoryManagerAsync
from nvmath.tensor import BinaryContraction, ContractionOptions


class CountingAllocator(BaseCUDAMemoryManagerAsync):
    """Takes memory from CuPy's pool and counts how often."""

    def __init__(self):
        self.count = 0

    def memalloc_async(self, size, stream):
        self.count += 1
        return cp.cuda.alloc(size)  # an object that owns the memory and has its address as .ptr


allocator = CountingAllocator()
options = ContractionOptions(allocator=allocator, memory_limit="1 GiB")
a, b = cp.random.random((64, 64, 64)), cp.random.random((64, 64, 32))
with (
    BinaryContraction("ijk,jkl->i", a, b, options=options) as first,  # l is of b alone: its sum needs memory
    BinaryContraction("ijk,jkl->l", a, b, options=options) as second,
):
    first.plan()
    second.plan()
    for _ in range(3):  # only one of them holds its workspace at a time
        x = first.execute(release_workspace=True)
        y = second.execute(release_workspace=True)
assert cp.allclose(x, cp.einsum("ijk,jkl->i", a, b))
assert cp.allclose(y, cp.einsum("ijk,jkl->l", a, b))
print(f"{allocator.count} allocations for 6 executions")
