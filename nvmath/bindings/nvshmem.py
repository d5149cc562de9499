"""NVSHMEM (``nvshmem_host.h``): symmetric memory of CUDA devices; the host's part of it."""

from __future__ import annotations

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ nvshmem_coll_api.h
nvshmem_alltoallmem(team: i32, dest: ptr, src: ptr, nelems: usize)
nvshmem_barrier(team: i32)
nvshmem_barrier_all() -> void
nvshmem_team_sync(team: i32)
nvshmem_sync_all() -> void
nvshmem_broadcastmem(team: i32, dest: ptr, src: ptr, nelems: usize, pe_root: i32)
nvshmem_fcollectmem(team: i32, dest: ptr, src: ptr, nelems: usize)
@ nvshmem_api.h
init_status = nvshmemx_init_status() -> i32
nvshmem_query_thread(provided: ptr) -> void
nvshmem_global_exit(status: i32) -> void
nvshmem_my_pe() -> i32
nvshmem_n_pes() -> i32
nvshmem_info_get_version(&major: i32, &minor: i32) -> void
nvshmem_info_get_name(name: ptr) -> void
nvshmem_malloc(size: usize) -> ptr
nvshmem_calloc(count: usize, size: usize) -> ptr
nvshmem_align(alignment: usize, size: usize) -> ptr
nvshmem_free(ptr: ptr) -> void
nvshmem_ptr(dest: ptr, pe: i32) -> ptr
mc_ptr = nvshmemx_mc_ptr(team: i32, ptr: ptr) -> ptr
nvshmem_int_p(dest: ptr, value: i32, pe: i32) -> void
nvshmem_putmem(dest: ptr, source: ptr, bytes: usize, pe: i32) -> void
nvshmem_putmem_nbi(dest: ptr, source: ptr, bytes: usize, pe: i32) -> void
nvshmem_getmem(dest: ptr, source: ptr, bytes: usize, pe: i32) -> void
nvshmem_getmem_nbi(dest: ptr, source: ptr, bytes: usize, pe: i32) -> void
nvshmem_signal_fetch(sig_addr: ptr) -> u64
nvshmem_quiet() -> void
nvshmem_fence() -> void
nvshmem_team_my_pe(team: i32) -> i32
nvshmem_team_n_pes(team: i32) -> i32
nvshmem_team_get_config(team: i32, config: ptr) -> void
nvshmem_team_translate_pe(src_team: i32, src_pe: i32, dest_team: i32) -> i32
nvshmem_team_split_strided(parent_team: i32, pe_start: i32, pe_stride: i32, pe_size: i32, config: ptr,
    config_mask: i64, new_team: ptr)
team_get_uniqueid = nvshmemx_team_get_uniqueid(uniqueid: ptr)
team_init = nvshmemx_team_init(team: ptr, config: ptr, config_mask: i64, npes: i32, pe_idx_in_team: i32)
nvshmem_team_split_2d(parent_team: i32, xrange: i32, xaxis_config: ptr, xaxis_mask: i64, xaxis_team: ptr,
    yaxis_config: ptr, yaxis_mask: i64, yaxis_team: ptr)
nvshmem_team_destroy(team: i32) -> void
@ nvshmemx_coll_api.h
alltoallmem_on_stream = nvshmemx_alltoallmem_on_stream(team: i32, dest: ptr, src: ptr, nelem: usize, stream: ptr)
barrier_on_stream = nvshmemx_barrier_on_stream(team: i32, stream: ptr)
barrier_all_on_stream = nvshmemx_barrier_all_on_stream(stream: ptr) -> void
team_sync_on_stream = nvshmemx_team_sync_on_stream(team: i32, stream: ptr)
sync_all_on_stream = nvshmemx_sync_all_on_stream(stream: ptr) -> void
broadcastmem_on_stream = nvshmemx_broadcastmem_on_stream(team: i32, dest: ptr, src: ptr, nelem: usize, pe_root: i32,
    stream: ptr)
fcollectmem_on_stream = nvshmemx_fcollectmem_on_stream(team: i32, dest: ptr, src: ptr, nelem: usize, stream: ptr)
@ nvshmemx_api.h
buffer_register = nvshmemx_buffer_register(addr: ptr, length: usize)
buffer_unregister = nvshmemx_buffer_unregister(addr: ptr)
buffer_unregister_all = nvshmemx_buffer_unregister_all() -> void
hostlib_init_attr = nvshmemx_hostlib_init_attr(flags: u32, attr: ptr)
hostlib_finalize = nvshmemx_hostlib_finalize() -> void
set_attr_uniqueid_args = nvshmemx_set_attr_uniqueid_args(myrank: i32, nranks: i32, uniqueid: ptr, attr: ptr)
set_attr_mpi_comm_args = nvshmemx_set_attr_mpi_comm_args(mpi_comm: ptr, nvshmem_attr: ptr)
get_uniqueid = nvshmemx_get_uniqueid(uniqueid: ptr)
cumodule_init = nvshmemx_cumodule_init(module: ptr)
cumodule_finalize = nvshmemx_cumodule_finalize(module: ptr)
buffer_register_symmetric = nvshmemx_buffer_register_symmetric(buf_ptr: ptr, size: usize, flags: i32) -> ptr
buffer_unregister_symmetric = nvshmemx_buffer_unregister_symmetric(mmap_ptr: ptr, size: usize)
culibrary_init = nvshmemx_culibrary_init(library: ptr)
culibrary_finalize = nvshmemx_culibrary_finalize(library: ptr)
putmem_on_stream = nvshmemx_putmem_on_stream(dest: ptr, source: ptr, bytes: usize, pe: i32, cstrm: ptr) -> void
putmem_signal_on_stream = nvshmemx_putmem_signal_on_stream(dest: ptr, source: ptr, bytes: usize, sig_addr: ptr,
    signal: u64, sig_op: i32, pe: i32, cstrm: ptr) -> void
putmem_signal_nbi_on_stream = nvshmemx_putmem_signal_nbi_on_stream(dest: ptr, source: ptr, bytes: usize,
    sig_addr: ptr, signal: u64, sig_op: i32, pe: i32, cstrm: ptr) -> void
putmem_nbi_on_stream = nvshmemx_putmem_nbi_on_stream(dest: ptr, source: ptr, bytes: usize, pe: i32,
    cstrm: ptr) -> void
getmem_on_stream = nvshmemx_getmem_on_stream(dest: ptr, source: ptr, bytes: usize, pe: i32, cstrm: ptr) -> void
getmem_nbi_on_stream = nvshmemx_getmem_nbi_on_stream(dest: ptr, source: ptr, bytes: usize, pe: i32,
    cstrm: ptr) -> void
quiet_on_stream = nvshmemx_quiet_on_stream(cstrm: ptr) -> void
signal_op_on_stream = nvshmemx_signal_op_on_stream(sig_addr: ptr, signal: u64, sig_op: i32, pe: i32,
    cstrm: ptr) -> void
signal_wait_until_on_stream = nvshmemx_signal_wait_until_on_stream(sig_addr: ptr, cmp: i32, cmp_value: u64,
    cstream: ptr) -> void
signal_op = nvshmemx_signal_op(sig_addr: ptr, signal: u64, sig_op: i32, pe: i32) -> void
@ nvshmemx_api.h 3.7+
buffer_register_symmetric_at_preferred_address = nvshmemx_buffer_register_symmetric_at_preferred_address(buf_ptr: ptr,
    size: usize, preferred_addr: ptr, flags: i32) -> ptr
flush = nvshmemx_flush() -> void
flush_on_stream = nvshmemx_flush_on_stream(cstrm: ptr) -> void
"""

_ENUMS = """
IntEnum Flags: INIT_MAX=-2147483648 INIT_THREAD_PES=1 INIT_WITH_MPI_COMM=2 INIT_WITH_SHMEM=4 INIT_WITH_UNIQUEID=8
IntEnum Status: SUCCESS=0 ERROR_INVALID_VALUE=1 ERROR_OUT_OF_MEMORY=2 ERROR_NOT_SUPPORTED=3 ERROR_SYMMETRY=4
    ERROR_GPU_NOT_SELECTED=5 ERROR_COLLECTIVE_LAUNCH_FAILED=6 ERROR_INTERNAL=7 ERROR_SENTINEL=2147483647
"""

# Versions as the header's initializers: (1 << 16) + size.
_RECORDS = """
Record uniqueid: version=i32 internal=byte[124]
Record UniqueId: version=i32:65664 internal=byte[124]
Record UniqueIdArgs: version=i32:65560 id=ptr myrank=i32 nranks=i32
Record InitArgs: version=i32:65664 uid_args=UniqueIdArgs cuda_device_id=i32 content=byte[92]
Record InitAttr: version=i32:65680 mpi_comm=ptr args=InitArgs
"""

_library = Bindings("nvshmem", globals(), prefix="nvshmem_", errors=Errors("NvshmemError", "NVSHMEM_"))
__getattr__, __dir__ = _library.resolve, _library.names
