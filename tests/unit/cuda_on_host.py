"""A CUDA driver whose device memory is that of the host and whose streams do everything at once: for whole calls without a GPU."""
# ruff: noqa: N802, N815, the names of the C functions

from __future__ import annotations

import ctypes
from typing import Any


class HostCuda:
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    def __init__(self, launch: Any) -> None:
        self.launch = launch
        self.memory: dict[int, Any] = {}
        self.events: set[int] = set()
        self.context = 0
        self._last = 0x100

    def _handle(self, *arguments: Any) -> int:
        self._last += 16
        return self._last

    def _nothing(self, *arguments: Any) -> int:
        return 0

    cuInit = cuMemPoolSetAttribute = cuStreamSynchronize = cuStreamWaitEvent = cuStreamIsCapturing = cuEventRecord = (
        _nothing
    )
    cuEventSynchronize = cuThreadExchangeStreamCaptureMode = cuEventQuery = cuStreamGetId = cuStreamQuery = _nothing
    cuMemPoolCreate = cuStreamCreate = _handle

    def cuDeviceGetCount(self) -> int:
        return 1

    def cuDeviceGet(self, ordinal: int) -> int:
        return ordinal

    def cuDeviceGetAttribute(self, attribute: int, device: int) -> int:
        return {75: 9, 76: 0}.get(attribute, 1 << 10)

    def cuDeviceTotalMem_v2(self, device: int) -> int:
        return 1 << 30

    def cuDriverGetVersion(self) -> int:
        return 13000

    def cuDeviceGetName(self, text: Any, length: int, device: int) -> None:
        text[:4] = b"host"

    def cuDevicePrimaryCtxRetain(self, device: int) -> int:
        return 0x1000

    def cuCtxGetCurrent(self) -> int:
        return self.context

    def cuCtxSetCurrent(self, context: int) -> None:
        self.context = context

    def cuCtxGetDevice(self) -> int:
        return 0

    def cuPointerGetAttribute(self, attribute: int, pointer: int) -> int:
        return 0

    # --- memory -------------------------------------------------------------------------------------------------------

    def cuMemAllocFromPoolAsync(self, nbytes: int, pool: int, stream: int) -> int:
        block = (ctypes.c_char * (nbytes + 256))()
        ctypes.memset(block, 0xFE, nbytes + 256)  # what is not written shows
        address = -(-ctypes.addressof(block) // 256) * 256
        self.memory[address] = block
        return address

    def cuMemFreeAsync(self, address: int, stream: int) -> None:
        del self.memory[address]

    def cuMemcpyHtoDAsync_v2(self, destination: int, source: int, nbytes: int, stream: int) -> None:
        ctypes.memmove(destination, source, nbytes)

    cuMemcpyDtoHAsync_v2 = cuMemcpyDtoDAsync_v2 = cuMemcpyHtoDAsync_v2

    def cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> None:
        ctypes.memset(address, value, count)

    # --- events and kernels -------------------------------------------------------------------------------------------

    def cuEventCreate(self, flags: int) -> int:
        event = self._handle()
        self.events.add(event)
        return event

    def cuEventDestroy_v2(self, event: int) -> None:
        self.events.remove(event)

    def cuEventElapsedTime(self, start: int, end: int) -> float:
        return 1.0

    def cuLaunchKernel(self, function: int, *rest: Any) -> None:
        self.launch(function, *rest)
