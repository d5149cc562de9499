"""Copies between host and device memory; they return when the copy is complete.

Pinned memory is copied directly. Ordinary memory goes through a ring of pinned chunks, which several threads fill or empty while
the device copies: the copy engine is faster than one core.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from ..bindings import _cuda as driver
from .options import available_threads

_MEMORY_TYPE: Final = 2
_HOST: Final = 1
_PORTABLE: Final = 1
_NO_TIMING: Final = 2
_PER_THREAD: Final = 2
"""The handle of a stream that is another one in each thread, so that no other thread can copy on it."""
_CHUNK: Final = 4 << 20
DIRECT: Final = 1 << 20
"""Up to this size the driver's own staging is as fast."""
_WORKERS: Final = 8


def is_pinned(ptr: int) -> bool:
    """Whether a host address is page-locked memory that the device can copy from by itself."""
    try:
        return driver.pointer_get_attribute(_MEMORY_TYPE, ptr) == _HOST  # type: ignore[no-any-return]
    except driver.CudaError:
        return False


class _Slot:
    """One pinned chunk, and the event of the last copy that used it."""

    __slots__ = ("busy", "event", "ptr")

    def __init__(self) -> None:
        self.busy = False
        self.event = driver.event_create(_NO_TIMING)
        try:
            self.ptr = driver.mem_host_alloc(_CHUNK, _PORTABLE)
        except BaseException:
            driver.event_destroy(self.event)
            raise

    def close(self) -> None:
        driver.event_destroy(self.event)
        driver.mem_free_host(self.ptr)

    def wait(self) -> None:
        if self.busy:
            driver.event_synchronize(self.event)
            self.busy = False

    def copied(self, stream: int) -> None:
        driver.event_record(self.event, stream)
        self.busy = True


class _Ring:
    """The workers of one device and their chunks; one copy at a time uses it."""

    def __init__(self, context: int) -> None:
        self.context = context
        self.lock = threading.Lock()
        self.workers = max(1, min(_WORKERS, available_threads()))
        with ExitStack() as undo:  # all slots or none
            slots: list[_Slot] = []
            for _ in range(2 * self.workers):
                slots.append(_Slot())
                undo.callback(slots[-1].close)
            undo.pop_all()
        self.slots = list(zip(slots[::2], slots[1::2], strict=True))
        self.pool = ThreadPoolExecutor(self.workers, "nvmath-staging", self._enter)

    def _enter(self) -> None:
        driver.ctx_set_current(self.context)

    def run(self, copy: Callable[[tuple[_Slot, _Slot], Iterator[int]], None], nbytes: int) -> None:
        """Let every worker take chunks until none is left."""
        chunks = iter(range(0, nbytes, _CHUNK))
        with self.lock:
            futures = [self.pool.submit(copy, pair, chunks) for pair in self.slots]
            try:
                errors = [error for future in futures if (error := future.exception()) is not None]
            finally:  # Ctrl-C can come while it waits: the workers must not outlive the memory that they copy, nor share their chunks
                wait(futures)
        if errors:
            raise errors[0]


_rings: dict[int, _Ring] = {}
_lock = threading.Lock()


@contextmanager
def _ring() -> Iterator[_Ring]:
    context = driver.ctx_get_current()
    with _lock:
        ring = _rings.get(context)
        if ring is None:
            ring = _rings[context] = _Ring(context)
    yield ring


@contextmanager
def _to_the_end(stream: int) -> Iterator[None]:
    """Wait for the copies; also when one fails, since the others must not outlive their memory."""
    try:
        yield
        driver.stream_synchronize(stream)
    except BaseException:
        with suppress(driver.CudaError):
            driver.stream_synchronize(stream)
        raise


def upload(source: int, target: int, nbytes: int, stream: int) -> None:
    """Copy host memory to the current device, ordered on `stream`."""
    if not nbytes:
        return
    if nbytes <= DIRECT or stream == _PER_THREAD or is_pinned(source):
        with _to_the_end(stream):
            driver.memcpy_host_to_device_async(target, source, nbytes, stream)
        return

    def copy(pair: tuple[_Slot, _Slot], chunks: Iterator[int]) -> None:
        for turn, begin in enumerate(chunks):
            slot, size = pair[turn % 2], min(_CHUNK, nbytes - begin)
            slot.wait()
            ctypes.memmove(slot.ptr, source + begin, size)
            driver.memcpy_host_to_device_async(target + begin, slot.ptr, size, stream)
            slot.copied(stream)

    with _ring() as ring, _to_the_end(stream):
        ring.run(copy, nbytes)


def download(source: int, target: int, nbytes: int, stream: int) -> None:
    """Copy memory of the current device to the host, ordered on `stream`."""
    if not nbytes:
        return
    if nbytes <= DIRECT or stream == _PER_THREAD or is_pinned(target):
        with _to_the_end(stream):
            driver.memcpy_device_to_host_async(target, source, nbytes, stream)
        return

    def copy(pair: tuple[_Slot, _Slot], chunks: Iterator[int]) -> None:
        waiting: list[tuple[_Slot, int, int]] = []
        for turn, begin in enumerate(chunks):
            slot, size = pair[turn % 2], min(_CHUNK, nbytes - begin)
            slot.wait()  # another thread's upload may still be read from it
            driver.memcpy_device_to_host_async(slot.ptr, source + begin, size, stream)
            slot.copied(stream)
            waiting.append((slot, begin, size))
            if len(waiting) == len(pair):
                _empty(*waiting.pop(0), target)
        for late in waiting:
            _empty(*late, target)

    with _ring() as ring, _to_the_end(stream):
        ring.run(copy, nbytes)


def _empty(slot: _Slot, begin: int, size: int, target: int) -> None:
    slot.wait()
    ctypes.memmove(target + begin, slot.ptr, size)


class PinnedBlock:
    """Page-locked host memory, given back to a pool when the last array over it is gone."""

    __slots__ = ("nbytes", "ptr")

    def __init__(self, ptr: int, nbytes: int) -> None:
        self.ptr, self.nbytes = ptr, nbytes

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.ptr, False), "version": 3}

    def __del__(self, exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not exiting():
            _pinned.give(self.ptr, self.nbytes)


class _PinnedPool:
    """Page-locked blocks that are kept, since making one takes longer than copying through it."""

    def __init__(self, max_nbytes: int) -> None:
        self.max_nbytes = max_nbytes
        self.nbytes = 0
        self.free: list[tuple[int, int]] = []  # (bytes, address)
        self.returned: deque[tuple[int, int]] = deque()  # what finalizers gave back: they can run anywhere, so they take no lock
        self.lock = threading.Lock()

    def take(self, nbytes: int) -> PinnedBlock:
        size = max(1 << 16, 1 << (nbytes - 1).bit_length()) if nbytes < 1 << 24 else -(-nbytes // (1 << 24)) << 24
        with self.lock:
            self._collect()
            found = next((index for index, (kept, _) in enumerate(self.free) if kept == size), None)
            if found is not None:
                self.nbytes -= size
                ptr = self.free.pop(found)[1]
        return PinnedBlock(driver.mem_host_alloc(size, _PORTABLE) if found is None else ptr, size)

    def give(self, ptr: int, nbytes: int) -> None:
        self.returned.append((nbytes, ptr))
        if self.lock.acquire(blocking=False):  # else it is collected by the next one to take or give
            try:
                self._collect()
            finally:
                self.lock.release()

    def _collect(self) -> None:
        from .place import discard

        while self.returned:
            nbytes, ptr = self.returned.popleft()
            if self.nbytes + nbytes <= self.max_nbytes:
                self.free.append((nbytes, ptr))
                self.nbytes += nbytes
            else:
                discard(driver.mem_free_host, ptr)

    def forget(self) -> None:
        self.free, self.nbytes, self.lock = [], 0, threading.Lock()
        self.returned.clear()


_pinned: Final = _PinnedPool(0 if os.environ.get("NVMATH_DISABLE_PINNED_MEMORY_POOL", "0") not in ("", "0") else 2 << 30)


def pinned_block(nbytes: int) -> PinnedBlock:
    """Take page-locked memory; it is aligned to a page."""
    return _pinned.take(max(1, nbytes))


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _rings.clear()
    _pinned.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
