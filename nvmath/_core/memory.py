"""Device memory that the library owns: workspaces, and buffers for operands without a device allocator."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..bindings import _cuda as driver
from . import log, place
from .lifetime import Closing

_ADDRESS: Final = ("device_ptr", "device_pointer", "ptr", "pointer")
_NO_TIMING: Final = 2
_OUT_OF_MEMORY: Final = 2
Allocate = Callable[[int, int], tuple[int, Any]]
"""(bytes, stream) -> (address, owner)."""


class DeviceMemoryError(driver.CudaError, MemoryError):
    """A GPU has no room for what an operation needs; the text says how much, and how much is free."""

    def __init__(self, nbytes: int, device: int) -> None:
        super().__init__(_OUT_OF_MEMORY)
        try:
            free, total = driver.mem_get_info()
            room = f"of its {log.readable(total)}, {log.readable(free)} are free"
        except driver.CudaError:
            room = "how much is free cannot be told"
        self.nbytes, self.device = nbytes, device
        self.args = (
            f"GPU {device} has no room for {log.readable(nbytes)} ({self.name}): {room}. Delete arrays, empty the cache of the array "
            "package (torch.cuda.empty_cache(), or free_all_blocks() of CuPy's pool), or compute in smaller pieces.",
        )

    def __reduce__(self) -> tuple[type[DeviceMemoryError], tuple[int, int]]:  # type: ignore[override]
        return type(self), (self.nbytes, self.device)


class PoolMemory:
    """Memory of our pool.

    It goes back in the order of the stream that it was taken on if it is `ordered`. Otherwise whoever used it has waited for
    the end of the work, and it goes back on a stream of our own: the user's may be destroyed, and that would end the process.
    """

    __slots__ = ("gpu", "ptr", "stream")

    def __init__(self, nbytes: int, gpu: place.Cuda, stream: int, ordered: bool) -> None:
        self.ptr = 0
        self.gpu = gpu
        pool, own = _pool(gpu.device_id)
        try:
            self.ptr = driver.mem_alloc_from_pool_async(nbytes, pool, stream)
        except driver.CudaError as error:
            if error.status != _OUT_OF_MEMORY:
                raise
            raise DeviceMemoryError(nbytes, gpu.device_id) from error
        self.stream = stream if ordered else own

    def __del__(self) -> None:
        ptr, self.ptr = self.ptr, 0
        if ptr:
            place.discard(_give_back, (ptr, self.stream, self.gpu))


def _give_back(memory: tuple[int, int, place.Cuda]) -> None:
    ptr, stream, gpu = memory
    with gpu.current():
        if _captured(stream):
            place.discard(_give_back, memory)
        else:
            driver.mem_free_async(ptr, stream)


def _captured(stream: int) -> bool:
    """Whether work on a stream would become part of a graph, or spoil one."""
    try:
        return driver.stream_is_capturing(stream) != 0  # type: ignore[no-any-return]
    except driver.CudaError:  # the legacy stream, while a stream that it would wait for is captured
        return True


_KEPT_NBYTES: Final = 1 << 30
"""What our pool keeps of freed memory: the driver's default, nothing, costs a mapping of pages for each call."""
_RELEASE_THRESHOLD: Final = 4
_NON_BLOCKING: Final = 1
_pools: dict[int, tuple[int, int]] = {}
_pools_lock = threading.Lock()


def _pool(device: int) -> tuple[int, int]:
    """Return our own memory pool of the current device, since the default pool belongs to the user, and our own stream."""
    found = _pools.get(device)
    if found is None:
        with _pools_lock:
            found = _pools.get(device)
            if found is None:
                pool = driver.mem_pool_create(device)
                driver.mem_pool_set_attribute(pool, _RELEASE_THRESHOLD, [_KEPT_NBYTES])
                found = _pools[device] = pool, driver.stream_create(_NON_BLOCKING)
    return found


def pool_allocate(nbytes: int, device: int, stream: int, ordered: bool = True) -> tuple[int, PoolMemory]:
    """Take memory of our pool on a device, a multiple of 512 bytes; see :class:`PoolMemory` for `ordered`."""
    gpu = place.cuda(device)
    with gpu.current():
        place.reap()
        memory = PoolMemory(max(512, -(-nbytes // 512) * 512), gpu, stream, ordered)
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


class Workspace(Closing):
    """Scratch memory of one operation on a GPU: taken at the first use, kept, ordered when the stream changes.

    A graph that was captured with it uses the memory whenever it is replayed: from then on it serves this stream of this capture
    only, and :meth:`close` gives it back.
    """

    __slots__ = (
        "_allocate", "_attach", "_capture", "_capturing", "_event", "_fresh", "_gpu", "_graphs", "_logger", "_owner", "_stream",
        "_used_on", "ptr", "size", "transient",
    )  # fmt: skip

    def __init__(
        self, nbytes: int, gpu: place.Cuda, allocate: Allocate, attach: Callable[[int], None], logger: logging.Logger
    ) -> None:
        self.size, self._gpu = nbytes, gpu
        self._allocate, self._attach, self._logger = allocate, attach, logger
        self.transient = False  # given back after every use, unless a graph that is being captured will use it again
        self.ptr = self._event = 0
        self._owner: Any = None
        self._fresh = False  # taken by the call that is under way
        self._graphs: list[_Lent] = []  # what graphs need besides the present memory
        self._capturing = False  # the call that is under way is being captured
        self._capture: tuple[int, int] | None = None  # the capture that used the present memory last, and its stream
        self._stream = 0  # the one that the memory was taken on
        self._used_on: int | None = None  # the one of the last use; None when that is over, or left to the user (a graph)

    def acquire(self, stream: int) -> int:
        """Return the address, valid for work queued on `stream` from now on."""
        self._capturing = stream > 1 and driver.stream_is_capturing(stream) != 0
        if not self.ptr:
            if self.size:
                self._take(stream)
        elif self._capture is not None:
            if self._capture != _capture_of(stream):
                self._graphs.append(self._lent())
                self._take(stream)
        elif self._used_on is not None and not self._capturing:
            # Also on the stream that used it last: its handle may stand for another one that was made after it was destroyed.
            # To compare cuStreamGetId costs as much, and ends a capture.
            driver.stream_wait_event(stream, self._event, 0)
        return self.ptr

    @contextmanager
    def for_call(self, stream: int, *, done: bool) -> Iterator[None]:
        """Lend the memory to one call; `done` says that its work is over when the call is."""
        self.acquire(stream)
        try:
            yield
        except BaseException:
            self.undo(stream)
            raise
        self.used(stream, done)

    def _take(self, stream: int) -> None:
        ptr, owner = self._allocate(self.size, stream)
        self._attach(ptr)
        self.ptr, self._owner, self._stream, self._fresh = ptr, owner, stream, True
        self._used_on = self._capture = None
        if self._logger.isEnabledFor(log.DEBUG):
            self._logger.debug("Allocated a workspace of %s on stream %#x.", log.readable(self.size), stream)

    def used(self, stream: int, done: bool = False) -> None:
        """Note that work which uses the memory was queued on `stream`, or that it is `done`."""
        if not self.ptr:
            return
        self._fresh = False
        if self._capturing:
            self._capture = _capture_of(stream)
        elif self.transient:
            self.ptr, self._owner = 0, None  # taken and used on one stream, so its order is enough
        elif done:
            self._used_on = None
        else:
            self._record(stream)

    def _record(self, stream: int) -> None:
        try:
            if not self._event:
                self._event = driver.event_create(_NO_TIMING)
            driver.event_record(self._event, stream)
            self._used_on = stream
        except driver.CudaError:  # then nothing can be ordered behind the work
            self._gpu.wait(stream)
            self._used_on = None

    def undo(self, stream: int) -> None:
        """Note that the call that acquired the memory failed: what it took goes back, what is kept may be in use."""
        if self._fresh and not self._capturing:
            self.ptr, self._owner, self._fresh = 0, None, False
        else:
            self.used(stream)

    def release(self) -> None:
        """Give the memory back, behind the last work that used it."""
        if self.ptr and self._capture is None:
            self._let_go()
            place.reap()
            self._logger.debug("Released the workspace.")

    def _lent(self) -> _Lent:
        """What it takes to give the present memory back; the event goes with it if it is needed for that."""
        event = 0
        if self._used_on not in (None, self._stream):
            event, self._event = self._event, 0
        return event, self._stream, self._gpu, self._owner

    def _let_go(self) -> None:
        _give_back_lent(self._lent())
        self.ptr, self._owner, self._used_on = 0, None, None

    def close(self) -> None:
        """Release the memory and the event."""
        self._let_go()
        while self._graphs:
            _give_back_lent(self._graphs.pop())
        event, self._event = self._event, 0
        if event:
            place.discard(driver.event_destroy, event)


_Lent = tuple[int, int, place.Cuda, Any]
"""Memory to give back: the event of its last use (0 for none), the stream that must wait for it, the GPU, and the owner."""


def _give_back_lent(memory: _Lent) -> None:
    if memory[0]:
        place.discard(_give_back_behind, memory)


def _give_back_behind(memory: _Lent) -> None:
    """Let the stream that memory was taken on wait for its last use, unless that is over: the stream may be destroyed by then."""
    event, stream, gpu, _ = memory
    with gpu.current():
        if not driver.event_query(event):
            if _captured(stream):
                place.discard(_give_back_behind, memory)
                return
            driver.stream_wait_event(stream, event, 0)
        driver.event_destroy(event)


def _capture_of(stream: int) -> tuple[int, int] | None:
    """The capture that is under way on a stream, and the stream."""
    status, number, *_ = driver.stream_get_capture_info(stream) if stream > 1 else (0, 0)
    return (number, stream) if status else None
