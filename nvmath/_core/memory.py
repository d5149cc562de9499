"""Device memory that the library owns: workspaces, and buffers for operands without a device allocator."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from ..bindings import _cuda as driver
from . import log, place

_ADDRESS: Final = ("device_ptr", "device_pointer", "ptr", "pointer")
_NO_TIMING: Final = 2
Allocate = Callable[[int, int], tuple[int, Any]]
"""(bytes, stream) -> (address, owner)."""


class PoolMemory:
    """Memory of a stream-ordered pool, returned to it in the order of the stream it was taken on."""

    __slots__ = ("ptr", "stream")

    def __init__(self, nbytes: int, pool: int, stream: int) -> None:
        self.ptr = 0
        self.ptr = driver.mem_alloc_from_pool_async(nbytes, pool, stream)
        self.stream = stream

    def __del__(self) -> None:
        ptr, self.ptr = self.ptr, 0
        if ptr:
            stream = self.stream
            place.discard(lambda ptr: driver.mem_free_async(ptr, stream), ptr)


_KEPT_NBYTES: Final = 1 << 30
"""What our pool keeps of freed memory: the driver's default, nothing, costs a mapping of pages for each call."""
_RELEASE_THRESHOLD: Final = 4
_pools: dict[int, int] = {}


def _pool(device: int) -> int:
    """Return our own memory pool of a device; the default pool belongs to the user."""
    pool = _pools.get(device)
    if pool is None:
        pool = _pools[device] = driver.mem_pool_create(device)
        driver.mem_pool_set_attribute(pool, _RELEASE_THRESHOLD, [_KEPT_NBYTES])
    return pool


def pool_allocate(nbytes: int, device: int, stream: int) -> tuple[int, PoolMemory]:
    """Take memory of our pool on a device, a multiple of 512 bytes."""
    with place.cuda(device).current():
        place.reap()
        memory = PoolMemory(max(512, -(-nbytes // 512) * 512), _pool(device), stream)
    return memory.ptr, memory


class StreamHandle:
    """Stands for a stream where an allocator expects a ``cuda.core.Stream`` and that package is absent."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def stream_object(handle: int) -> Any:
    """Return a ``cuda.core.Stream`` when that package is installed, else a look-alike."""
    try:
        from cuda.core import Stream
    except ImportError:
        return StreamHandle(handle)
    return Stream.from_handle(handle)


def from_user(allocator: Any, device: int) -> Allocate:
    """Turn a user's allocator into our form."""
    ordered = hasattr(allocator, "memalloc_async")
    protocol = "BaseCUDAMemoryManagerAsync" if ordered else "BaseCUDAMemoryManager"

    def allocate(nbytes: int, stream: int) -> tuple[int, Any]:
        try:
            owner = allocator.memalloc_async(nbytes, stream_object(stream)) if ordered else allocator.memalloc(nbytes)
        except TypeError as error:
            raise TypeError(f"The allocator {type(allocator).__name__} does not conform to nvmath.{protocol}: {error}") from error
        for name in _ADDRESS:
            address = getattr(owner, name, None)
            if address is not None:
                return int(address), owner
        raise AttributeError(
            f"The memory object that {type(allocator).__name__} returned has no address: one of {', '.join(_ADDRESS)} is needed."
        )

    return allocate


class Workspace:
    """Scratch memory of one operation on a GPU: taken at the first use, kept, ordered when the stream changes."""

    __slots__ = ("_allocate", "_attach", "_event", "_gpu", "_logger", "_owner", "_stream", "_used_on", "ptr", "size", "transient")

    def __init__(
        self, nbytes: int, gpu: place.Cuda, allocate: Allocate, attach: Callable[[int], None], logger: logging.Logger
    ) -> None:
        self.size, self._gpu = nbytes, gpu
        self._allocate, self._attach, self._logger = allocate, attach, logger
        self.transient = False  # given back after every use, unless a graph that is being captured will use it again
        self.ptr = 0
        self._owner: Any = None
        self._stream = self._used_on = 0
        self._event = 0

    def acquire(self, stream: int) -> int:
        """Return the address, valid for work queued on `stream` from now on."""
        if not self.ptr and self.size:
            self.ptr, self._owner = self._allocate(self.size, stream)
            self._stream = self._used_on = stream
            self._attach(self.ptr)
            if self._logger.isEnabledFor(log.DEBUG):
                self._logger.debug("Allocated a workspace of %s on stream %#x.", log.readable(self.size), stream)
        elif self._event and stream != self._used_on:
            driver.stream_wait_event(stream, self._event, 0)
        return self.ptr

    def used(self, stream: int) -> None:
        """Note that work which uses the memory was queued on `stream`."""
        if not self.ptr:
            return
        if self.transient:
            if not self._gpu.capturing(stream):
                self.ptr, self._owner = 0, None  # taken and used on one stream, so its order is enough
            return
        if not self._event:
            if self._gpu.capturing(stream):
                return
            self._event = driver.event_create(_NO_TIMING)
        driver.event_record(self._event, stream)
        self._used_on = stream

    def release(self) -> None:
        """Give the memory back, behind the last work that used it."""
        if not self.ptr:
            return
        if self._event and self._used_on != self._stream:
            driver.stream_wait_event(self._stream, self._event, 0)
        self.ptr, self._owner = 0, None
        self._logger.debug("Released the workspace.")

    def close(self) -> None:
        """Release the memory and the event."""
        self.release()
        self.__del__()

    def __del__(self) -> None:
        event, self._event = self._event, 0
        if event:
            place.discard(driver.event_destroy, event)
