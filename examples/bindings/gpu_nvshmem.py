# needs: gpu cupy library:nvshmem
"""NVSHMEM: one processing element, started from an identifier: symmetric memory, a copy, a barrier."""

import cupy as cp

from nvmath.bindings import nvshmem

cp.cuda.Device(0).use()
cp.zeros(1)  # the context that NVSHMEM takes
identifier, attributes = nvshmem.UniqueId(), nvshmem.InitAttr()
nvshmem.get_uniqueid(identifier.ptr)  # on one element; its bytes go to the others
nvshmem.set_attr_uniqueid_args(0, 1, identifier.ptr, attributes.ptr)  # rank, how many
nvshmem.hostlib_init_attr(nvshmem.Flags.INIT_WITH_UNIQUEID, attributes.ptr)
assert (nvshmem.my_pe(), nvshmem.n_pes()) == (0, 1)

x = cp.arange(1024, dtype=cp.float32)
address = nvshmem.malloc(x.nbytes)
assert address
stream = cp.cuda.get_current_stream().ptr
nvshmem.putmem_on_stream(address, x.data.ptr, x.nbytes, 0, stream)
nvshmem.barrier_all_on_stream(stream)
memory = cp.cuda.UnownedMemory(address, x.nbytes, None)
symmetric = cp.ndarray(x.shape, dtype=x.dtype, memptr=cp.cuda.MemoryPointer(memory, 0))
assert cp.array_equal(symmetric, x)
nvshmem.free(address)
nvshmem.hostlib_finalize()
print(f"NVSHMEM: interface {nvshmem.info_get_version()}, element {0} of {1}, {x.nbytes} bytes")
