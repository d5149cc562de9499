"""NCCL (``nccl.h``): communication between CUDA devices."""

from __future__ import annotations

import ctypes
from typing import Any

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ nccl.h
ncclMemAlloc(ptr: ptr, size: usize)
ncclMemFree(ptr: ptr)
ncclGetVersion(&version: i32)
ncclCommInitAll(comm: buf, ndev: i32, devlist: i32[])
ncclCommFinalize(comm: ptr)
ncclCommDestroy(comm: ptr)
ncclCommAbort(comm: ptr)
ncclCommRevoke(comm: ptr, revoke_flags: i32)
ncclCommSplit(comm: ptr, color: i32, key: i32, &newcomm: ptr, config: ptr)
ncclCommShrink(comm: ptr, exclude_ranks_list: ptr, exclude_ranks_count: i32, &newcomm: ptr, config: ptr,
    shrink_flags: i32)
ncclCommInitRankScalable(&newcomm: ptr, nranks: i32, myrank: i32, n_id: i32, comm_ids: ptr, config: ptr)
ncclGetErrorString(result: i32) -> str
ncclGetLastError(comm: ptr) -> str
ncclCommGetAsyncError(comm: ptr, &async_error: i32)
ncclCommCount(comm: ptr, &count: i32)
ncclCommCuDevice(comm: ptr, &device: i32)
ncclCommUserRank(comm: ptr, &rank: i32)
ncclCommRegister(comm: ptr, buff: ptr, size: usize, &handle: ptr)
ncclCommDeregister(comm: ptr, handle: ptr)
ncclCommWindowRegister(comm: ptr, buff: ptr, size: usize, &win: ptr, win_flags: i32)
ncclCommWindowDeregister(comm: ptr, win: ptr)
ncclRedOpCreatePreMulSum(&op: i32, scalar: ptr, datatype: i32, residence: i32, comm: ptr)
ncclRedOpDestroy(op: i32, comm: ptr)
ncclReduce(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, op: i32, root: i32, comm: ptr, stream: ptr)
ncclBcast(buff: ptr, count: usize, datatype: i32, root: i32, comm: ptr, stream: ptr)
ncclBroadcast(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, root: i32, comm: ptr, stream: ptr)
ncclAllReduce(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, op: i32, comm: ptr, stream: ptr)
ncclReduceScatter(sendbuff: ptr, recvbuff: ptr, recvcount: usize, datatype: i32, op: i32, comm: ptr, stream: ptr)
ncclAllGather(sendbuff: ptr, recvbuff: ptr, sendcount: usize, datatype: i32, comm: ptr, stream: ptr)
ncclAlltoAll(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, comm: ptr, stream: ptr)
ncclGather(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, root: i32, comm: ptr, stream: ptr)
ncclScatter(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, root: i32, comm: ptr, stream: ptr)
ncclSend(sendbuff: ptr, count: usize, datatype: i32, peer: i32, comm: ptr, stream: ptr)
ncclRecv(recvbuff: ptr, count: usize, datatype: i32, peer: i32, comm: ptr, stream: ptr)
ncclGroupStart()
ncclGroupEnd()
ncclGroupSimulateEnd(sim_info: buf)
@ nccl.h 2.29+
ncclCommGetUniqueId(comm: ptr, unique_id: buf)
ncclCommGrow(comm: ptr, n_ranks: i32, unique_id: cbuf, rank: i32, &newcomm: ptr, config: ptr)
ncclCommSuspend(comm: ptr, flags: i32)
ncclCommResume(comm: ptr)
ncclCommMemStats(comm: ptr, stat: i32, &value: u64)
ncclWinGetUserPtr(comm: ptr, win: ptr, &out_user_ptr: ptr)
ncclPutSignal(localbuff: ptr, count: usize, datatype: i32, peer: i32, peer_win: ptr, peer_win_offset: usize,
    sig_idx: i32, ctx: i32, flags: u32, comm: ptr, stream: ptr)
ncclSignal(peer: i32, sig_idx: i32, ctx: i32, flags: u32, comm: ptr, stream: ptr)
ncclWaitSignal(n_desc: i32, signal_descs: ptr, comm: ptr, stream: ptr)
@ nccl.h 2.32+
ncclAllReduceConfig(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, op: i32, comm: ptr, stream: ptr,
    config: ptr)
ncclBroadcastConfig(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, root: i32, comm: ptr, stream: ptr,
    config: ptr)
ncclReduceConfig(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, op: i32, root: i32, comm: ptr,
    stream: ptr, config: ptr)
ncclAllGatherConfig(sendbuff: ptr, recvbuff: ptr, sendcount: usize, datatype: i32, comm: ptr, stream: ptr,
    config: ptr)
ncclReduceScatterConfig(sendbuff: ptr, recvbuff: ptr, recvcount: usize, datatype: i32, op: i32, comm: ptr,
    stream: ptr, config: ptr)
ncclAlltoAllConfig(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, comm: ptr, stream: ptr, config: ptr)
ncclGatherConfig(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, root: i32, comm: ptr, stream: ptr,
    config: ptr)
ncclScatterConfig(sendbuff: ptr, recvbuff: ptr, count: usize, datatype: i32, root: i32, comm: ptr, stream: ptr,
    config: ptr)
ncclSetEncryption(config: ptr)
ncclParamBind(out: ptr, key: str)
ncclParamGetI8(h: ptr, out: buf)
ncclParamGetI16(h: ptr, out: buf)
ncclParamGetI32(h: ptr, out: buf<i32>)
ncclParamGetI64(h: ptr, out: buf<i64>)
ncclParamGetU8(h: ptr, out: buf)
ncclParamGetU16(h: ptr, out: buf)
ncclParamGetU32(h: ptr, out: buf<u32>)
ncclParamGetU64(h: ptr, out: buf<u64>)
ncclParamGetStr(h: ptr, out: buf)
ncclParamGet(h: ptr, out: buf, max_len: i32, len: buf<i32>)
ncclParamGetParameter(key: str, &value: str, value_len: buf<i32>)
ncclParamGetAllParameterKeys(table: buf, table_len: buf<i32>)
ncclParamDumpAll() -> void
@ nccl.h -2.29
ncclResetDebugInit() -> void
"""

_SPECIAL = """
@ nccl.h
_get_unique_id = ncclGetUniqueId(unique_id: buf)
"""

_ENUMS = """
IntEnum Result: Success=0 UnhandledCudaError=1 SystemError=2 InternalError=3 InvalidArgument=4 InvalidUsage=5
    RemoteError=6 InProgress=7 Timeout=8 NumResults=9
IntEnum RedOp_dummy: dummy=5
IntEnum RedOp: Sum=0 Prod=1 Max=2 Min=3 Avg=4 NumOps=5 MaxRedOp=2147483647
IntEnum DataType: Int8=0 Char=0 Uint8=1 Int32=2 Int=2 Uint32=3 Int64=4 Uint64=5 Float16=6 Half=6 Float32=7 Float=7
    Float64=8 Double=8 Bfloat16=9 Float8e4m3=10 Float8e5m2=11 NumTypes=12
IntEnum ScalarResidence: ScalarDevice=0 ScalarHostImmediate=1
IntEnum CommMemStat: StatGpuMemSuspend=0 StatGpuMemSuspended=1 StatGpuMemPersist=2 StatGpuMemTotal=3
IntEnum HostCftMode: HostCftDefault=-2147483648 HostCftEnable=1 HostCftDisable=2 HostCftFallback=3
IntEnum NvlsHostMode: NvlsHostModeDefault=-2147483648 NvlsHostModeEnable=0 NvlsHostModeDisableTransport=1
    NvlsHostModeDisableSymmetricMultimem=2 NvlsHostModeDisable=2147483647
IntEnum EncryptionMode: NONE=0 PSK=1
"""

_RECORDS = """
Record UniqueId: internal=byte[128]
"""

_library = Bindings(
    "nccl", globals(), prefix="nccl", errors=Errors("NCCLError", "nccl", "Result", explain="get_error_string")
)
__getattr__, __dir__ = _library.resolve, _library.names


class _UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_char * 128),)


def get_unique_id() -> bytes:
    """Return a new identifier of a communicator, to be sent to every rank: ``ncclGetUniqueId``.

    Returns
    -------
    bytes
        128 bytes.

    Raises
    ------
    NCCLError
        The result is not success.
    """
    unique_id = bytearray(128)
    _library._get_unique_id(unique_id)
    return bytes(unique_id)


def comm_init_rank(nranks: int, comm_id: Any, rank: int) -> int:
    """Join a communicator: ``ncclCommInitRank``. It waits until every rank has called.

    Parameters
    ----------
    nranks : int
        How many ranks it has.
    comm_id : bytes or buffer
        What `get_unique_id` returned on one of them.
    rank : int
        The own number.

    Returns
    -------
    int
        The communicator, to be ended with `comm_destroy`.

    Raises
    ------
    NCCLError
        The result is not success.
    """
    return _join("ncclCommInitRank", nranks, comm_id, rank)


def comm_init_rank_config(nranks: int, comm_id: Any, rank: int, config: int | None) -> int:
    """Join a communicator with settings: ``ncclCommInitRankConfig``.

    Parameters
    ----------
    nranks, comm_id, rank
        As in `comm_init_rank`.
    config : int or None
        The address of an ``ncclConfig_t`` that is initialized as NCCL's header does it for the version in use, or None.

    Returns
    -------
    int
        The communicator.

    Raises
    ------
    NCCLError
        The result is not success.
    """
    return _join("ncclCommInitRankConfig", nranks, comm_id, rank, ctypes.c_void_p(config))


def _join(c_name: str, nranks: int, comm_id: Any, rank: int, *config: Any) -> int:
    """The identifier is a structure that C passes by value, which the seam does not."""
    data = bytes(comm_id)
    if len(data) != 128:
        raise ValueError(f"comm_id must have 128 bytes, got {len(data)}")
    address = _library.symbol(c_name)
    if _library.substituted is not None:
        return int(address(nranks, data, rank))
    communicator = ctypes.c_void_p()
    types = (ctypes.c_void_p, ctypes.c_int, _UniqueId, ctypes.c_int, *(ctypes.c_void_p for _ in config))
    function = ctypes.CFUNCTYPE(ctypes.c_int, *types)(address)
    given = (ctypes.byref(communicator), nranks, _UniqueId.from_buffer_copy(data), rank, *config)
    status = function(*given)
    if status and _library.errors is not None:
        _library.errors.failed(c_name)(status)
    return communicator.value or 0
