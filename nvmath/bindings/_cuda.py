"""The CUDA driver (``cuda.h``): devices, memory, streams, events, modules. Private; used by `nvmath._core`.

Names that the driver versions (``cuMemAlloc_v2``) appear without the version. Handles and addresses are ints.
"""

from __future__ import annotations

import struct

from nvmath.bindings._bind import Bindings
from nvmath.bindings._errors import LibraryNotFoundError

_ROWS = """
cuInit(flags: u32)
cuDriverGetVersion(&version: i32)
_error_name = cuGetErrorName(error: i32, &text: str) -> i32
_error_string = cuGetErrorString(error: i32, &text: str) -> i32

cuDeviceGet(&device: i32, ordinal: i32)
cuDeviceGetCount(&count: i32)
cuDeviceGetAttribute(&value: i32, attribute: i32, device: i32)
_device_get_name = cuDeviceGetName(name: char[], length: i32, device: i32)
_device_get_uuid = cuDeviceGetUuid_v2(uuid: char[], device: i32)
device_get_pci_bus_id = cuDeviceGetPCIBusId(pci_bus_id: char[], length: i32, device: i32)
cuDeviceTotalMem_v2(&nbytes: usize, device: i32)
cuDeviceGetDefaultMemPool(&pool: ptr, device: i32)
cuDeviceGetMemPool(&pool: ptr, device: i32)
cuDeviceCanAccessPeer(&can_access: i32, device: i32, peer: i32)
cuDevicePrimaryCtxRetain(&context: ptr, device: i32)
cuDevicePrimaryCtxRelease_v2(device: i32)
cuDevicePrimaryCtxGetState(device: i32, &flags: u32, &active: i32)
cuCtxGetCurrent(&context: ptr)
cuCtxSetCurrent(context: ptr)
cuCtxPushCurrent_v2(context: ptr)
cuCtxPopCurrent_v2(&context: ptr)
cuCtxGetDevice(&device: i32)
cuCtxSynchronize()
cuCtxGetStreamPriorityRange(&least: i32, &greatest: i32)

cuMemGetInfo_v2(&free: usize, &total: usize)
cuMemAlloc_v2(&address: ptr, nbytes: usize)
cuMemAllocManaged(&address: ptr, nbytes: usize, flags: u32)
cuMemFree_v2(address: ptr)
cuMemAllocAsync(&address: ptr, nbytes: usize, stream: ptr)
cuMemAllocFromPoolAsync(&address: ptr, nbytes: usize, pool: ptr, stream: ptr)
cuMemFreeAsync(address: ptr, stream: ptr)
_mem_pool_create = cuMemPoolCreate(&pool: ptr, properties: char[])
cuMemPoolDestroy(pool: ptr)
cuMemPoolSetAttribute(pool: ptr, attribute: i32, value: u64[])
cuMemPoolGetAttribute(pool: ptr, attribute: i32, &value: u64)
cuMemPoolTrimTo(pool: ptr, min_nbytes_to_keep: usize)
cuMemHostAlloc(&address: ptr, nbytes: usize, flags: u32)
cuMemFreeHost(address: ptr)
cuMemHostRegister_v2(address: ptr, nbytes: usize, flags: u32)
cuMemHostUnregister(address: ptr)
cuMemHostGetDevicePointer_v2(&address: ptr, host: ptr, flags: u32)
memset_d8_async = cuMemsetD8Async(address: ptr, value: char, count: usize, stream: ptr)
memset_d32_async = cuMemsetD32Async(address: ptr, value: u32, count: usize, stream: ptr)
memcpy = cuMemcpy(destination: ptr, source: ptr, nbytes: usize)
memcpy_async = cuMemcpyAsync(destination: ptr, source: ptr, nbytes: usize, stream: ptr)
memcpy_host_to_device = cuMemcpyHtoD_v2(destination: ptr, source: ptr, nbytes: usize)
memcpy_device_to_host = cuMemcpyDtoH_v2(destination: ptr, source: ptr, nbytes: usize)
memcpy_host_to_device_async = cuMemcpyHtoDAsync_v2(destination: ptr, source: ptr, nbytes: usize, stream: ptr)
memcpy_device_to_host_async = cuMemcpyDtoHAsync_v2(destination: ptr, source: ptr, nbytes: usize, stream: ptr)
memcpy_device_to_device_async = cuMemcpyDtoDAsync_v2(destination: ptr, source: ptr, nbytes: usize, stream: ptr)
memcpy_peer_async = cuMemcpyPeerAsync(destination: ptr, destination_context: ptr, source: ptr, source_context: ptr,
    nbytes: usize, stream: ptr)
cuPointerGetAttribute(&value: u64, attribute: i32, pointer: ptr)
cuPointerGetAttributes(count: u32, attributes: i32[], values: ptr[], pointer: ptr)

cuStreamCreate(&stream: ptr, flags: u32)
cuStreamCreateWithPriority(&stream: ptr, flags: u32, priority: i32)
cuStreamDestroy_v2(stream: ptr)
cuStreamSynchronize(stream: ptr)
_stream_query = cuStreamQuery(stream: ptr) -> i32
cuStreamWaitEvent(stream: ptr, event: ptr, flags: u32)
cuStreamGetId(stream: ptr, &id: u64)
cuStreamGetCtx(stream: ptr, &context: ptr)
cuStreamGetFlags(stream: ptr, &flags: u32)
cuStreamIsCapturing(stream: ptr, &status: i32)
cuStreamGetCaptureInfo_v2(stream: ptr, &status: i32, &id: u64, &graph: ptr, &dependencies: ptr, &count: usize)
stream_get_capture_info_v3 = cuStreamGetCaptureInfo_v3(stream: ptr, &status: i32, &id: u64, &graph: ptr,
    &dependencies: ptr, &edges: ptr, &count: usize)
cuStreamBeginCapture_v2(stream: ptr, mode: i32)
cuStreamEndCapture(stream: ptr, &graph: ptr)
cuThreadExchangeStreamCaptureMode(mode: i32[])
cuGraphInstantiateWithFlags(&executable: ptr, graph: ptr, flags: u64)
cuGraphLaunch(executable: ptr, stream: ptr)
cuGraphExecDestroy(executable: ptr)
cuGraphDestroy(graph: ptr)

cuEventCreate(&event: ptr, flags: u32)
cuEventRecord(event: ptr, stream: ptr)
cuEventSynchronize(event: ptr)
_event_query = cuEventQuery(event: ptr) -> i32
cuEventElapsedTime(&milliseconds: f32, start: ptr, end: ptr)
cuEventDestroy_v2(event: ptr)

_module_load_data = cuModuleLoadData(&module: ptr, image: char[])
cuModuleUnload(module: ptr)
cuModuleGetFunction(&function: ptr, module: ptr, name: str)
cuModuleGetGlobal_v2(&address: ptr, &nbytes: usize, module: ptr, name: str)
cuFuncGetAttribute(&value: i32, attribute: i32, function: ptr)
cuFuncSetAttribute(function: ptr, attribute: i32, value: i32)
cuLaunchKernel(function: ptr, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
    shared_nbytes: u32, stream: ptr, parameters: ptr[], extra: ptr[])
cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks: i32, function: ptr, block_size: i32, shared_nbytes: usize)
cuOccupancyMaxPotentialBlockSize(&min_grid_size: i32, &block_size: i32, function: ptr, shared_nbytes_of_block: ptr,
    shared_nbytes: usize, block_size_limit: i32)
"""

_ENUMS = """
IntEnum Result: SUCCESS=0 INVALID_VALUE=1 OUT_OF_MEMORY=2 NOT_INITIALIZED=3 DEINITIALIZED=4 STUB_LIBRARY=34
    NO_DEVICE=100 INVALID_DEVICE=101 INVALID_IMAGE=200 INVALID_CONTEXT=201 NO_BINARY_FOR_GPU=209 INVALID_PTX=218
    UNSUPPORTED_PTX_VERSION=222 INVALID_HANDLE=400 NOT_FOUND=500 NOT_READY=600 ILLEGAL_ADDRESS=700
    LAUNCH_OUT_OF_RESOURCES=701 PRIMARY_CONTEXT_ACTIVE=708 CONTEXT_IS_DESTROYED=709
    HOST_MEMORY_ALREADY_REGISTERED=712 HOST_MEMORY_NOT_REGISTERED=713 LAUNCH_FAILED=719 NOT_PERMITTED=800
    NOT_SUPPORTED=801 SYSTEM_NOT_READY=802 SYSTEM_DRIVER_MISMATCH=803 STREAM_CAPTURE_UNSUPPORTED=900
    STREAM_CAPTURE_INVALIDATED=901 STREAM_CAPTURE_IMPLICIT=906 UNKNOWN=999
IntEnum DeviceAttribute: MAX_THREADS_PER_BLOCK=1 MAX_BLOCK_DIM_X=2 MAX_GRID_DIM_X=5 MAX_SHARED_MEMORY_PER_BLOCK=8
    WARP_SIZE=10 MULTIPROCESSOR_COUNT=16 INTEGRATED=18 CAN_MAP_HOST_MEMORY=19 COMPUTE_MODE=20 ECC_ENABLED=32
    L2_CACHE_SIZE=38 MAX_THREADS_PER_MULTIPROCESSOR=39 UNIFIED_ADDRESSING=41 COMPUTE_CAPABILITY_MAJOR=75
    COMPUTE_CAPABILITY_MINOR=76 MANAGED_MEMORY=83 PAGEABLE_MEMORY_ACCESS=88 CONCURRENT_MANAGED_ACCESS=89
    COOPERATIVE_LAUNCH=95 MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=97 MEMORY_POOLS_SUPPORTED=115
IntEnum FunctionAttribute: MAX_THREADS_PER_BLOCK=0 SHARED_SIZE_BYTES=1 LOCAL_SIZE_BYTES=3 NUM_REGS=4
    MAX_DYNAMIC_SHARED_SIZE_BYTES=8
IntEnum PointerAttribute: CONTEXT=1 MEMORY_TYPE=2 DEVICE_POINTER=3 HOST_POINTER=4 IS_MANAGED=8 DEVICE_ORDINAL=9
    RANGE_START_ADDR=11 RANGE_SIZE=12
IntEnum MemoryType: HOST=1 DEVICE=2 ARRAY=3 UNIFIED=4
IntEnum MemPoolAttribute: REUSE_FOLLOW_EVENT_DEPENDENCIES=1 REUSE_ALLOW_OPPORTUNISTIC=2
    REUSE_ALLOW_INTERNAL_DEPENDENCIES=3 RELEASE_THRESHOLD=4 RESERVED_MEM_CURRENT=5 RESERVED_MEM_HIGH=6
    USED_MEM_CURRENT=7 USED_MEM_HIGH=8
IntFlag StreamFlags: DEFAULT=0 NON_BLOCKING=1
IntFlag EventFlags: DEFAULT=0 BLOCKING_SYNC=1 DISABLE_TIMING=2 INTERPROCESS=4
IntFlag HostAllocFlags: PORTABLE=1 DEVICEMAP=2 WRITECOMBINED=4
IntEnum StreamCaptureStatus: NONE=0 ACTIVE=1 INVALIDATED=2
IntEnum StreamCaptureMode: GLOBAL=0 THREAD_LOCAL=1 RELAXED=2
"""


class CudaError(RuntimeError):
    """A driver function did not succeed.

    Attributes
    ----------
    status : int
        What it returned.
    name, description : str
        What the driver calls it, such as ``CUDA_ERROR_OUT_OF_MEMORY`` and ``out of memory``.
    """

    def __init__(self, status: int) -> None:
        self.status = status
        self.name = _library._error_name(status)[1] or "unknown error"
        self.description = _library._error_string(status)[1] or "no description"
        super().__init__(f"{self.name}: {self.description} ({status})")

    def __reduce__(self) -> tuple[type[CudaError], tuple[int]]:
        return type(self), (self.status,)


def check_status(status: int) -> None:
    """Raise `CudaError` unless a status is success."""
    if status != 0:
        raise CudaError(status)


_library = Bindings("cuda", globals(), prefix="cu", on_error=check_status, error="CudaError")
__getattr__, __dir__ = _library.resolve, _library.names


def initialize() -> None:
    """Calls ``cuInit`` once; every later call is a dict lookup.

    Raises
    ------
    LibraryNotFoundError
        There is no driver.
    CudaError
        The driver cannot start, or there is no device.
    """
    if "initialized" not in _library.state:
        _library.init(0)
        _library.state["initialized"] = True


def device_count() -> int:
    """The number of usable devices: 0 without a driver or with one that cannot start. Never raises.

    `why_no_device` says why it is 0.
    """
    count: int | None = _library.state.get("device count")
    if count is None:
        try:
            initialize()
            count = int(_library.device_get_count())
            reason = "" if count else "the CUDA driver finds no device"
        except (CudaError, LibraryNotFoundError) as error:
            count, reason = 0, str(error).splitlines()[0].partition(";")[0]
        _library.state.update({"device count": count, "no device": reason})
    return count


def why_no_device() -> str:
    """Why `device_count` is 0, in one line; ``""`` if it is not."""
    device_count()
    return str(_library.state["no device"])


def device_name(device: int) -> str:
    """The name of a device: ``cuDeviceGetName``."""
    text = bytearray(256)
    _library._device_get_name(text, len(text), device)
    return text.partition(b"\0")[0].decode("utf-8", "replace")


def device_uuid(device: int) -> bytes:
    """The 16 bytes that identify a device: ``cuDeviceGetUuid``."""
    uuid = bytearray(16)
    _library._device_get_uuid(uuid, device)
    return bytes(uuid)


def compute_capability(device: int) -> tuple[int, int]:
    """The major and minor compute capability of a device."""
    attribute = _library.device_get_attribute
    return attribute(75, device), attribute(76, device)


def stream_query(stream: int) -> bool:
    """Whether all work of a stream is done: ``cuStreamQuery``."""
    return _done(_library._stream_query(stream))


def event_query(event: int) -> bool:
    """Whether an event has happened: ``cuEventQuery``."""
    return _done(_library._event_query(event))


def _done(status: int) -> bool:
    if status == 600:  # not ready
        return False
    check_status(status)
    return True


def mem_pool_create(device: int) -> int:
    """Makes a memory pool of ordinary device memory: ``cuMemPoolCreate``.

    Parameters
    ----------
    device : int
        The device.

    Returns
    -------
    int
        The pool.
    """
    # struct CUmemPoolProps: pinned allocations (1), no export handles (0), location device (1) number `device`; 88 bytes
    return int(_library._mem_pool_create(bytearray(struct.pack("4i72x", 1, 0, 1, device))))


def module_load_data(image: bytes) -> int:
    """Loads a cubin, a fatbin or PTX: ``cuModuleLoadData``.

    Parameters
    ----------
    image : bytes
        The code; PTX need not end with NUL.

    Returns
    -------
    int
        The module.
    """
    return int(_library._module_load_data(image + b"\0"))
