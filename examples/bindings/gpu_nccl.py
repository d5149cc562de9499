# needs: gpu cupy library:nccl
"""NCCL: a communicator of one rank, a sum, a broadcast in a group. With more ranks, the identifier is sent to each."""

import cupy as cp

from nvmath.bindings import nccl

identifier = nccl.get_unique_id()  # 128 bytes, made by one rank
communicator = nccl.comm_init_rank(1, identifier, 0)
assert (nccl.comm_count(communicator), nccl.comm_user_rank(communicator)) == (1, 0)

stream = cp.cuda.get_current_stream().ptr
x = cp.arange(1000, dtype=cp.float32)
total, copy = cp.zeros_like(x), cp.zeros_like(x)
kind = nccl.DataType.Float32
nccl.group_start()
nccl.all_reduce(x.data.ptr, total.data.ptr, x.size, kind, nccl.RedOp.Sum, communicator, stream)
nccl.broadcast(x.data.ptr, copy.data.ptr, x.size, kind, 0, communicator, stream)
nccl.group_end()
assert cp.array_equal(total, x)
assert cp.array_equal(copy, x)
nccl.comm_destroy(communicator)

try:
    nccl.comm_init_rank(1, identifier, 5)
except nccl.NCCLError as error:
    print(f"NCCL {nccl.get_version()}: {error}")
