"""Where work runs: the host, or one GPU. Places know integers only: addresses, sizes, stream handles."""

from __future__ import annotations

import os
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ..bindings import _cuda as driver
from . import log

_CAPTURE_RELAXED: Final = 2
_NOTHING: Final = nullcontext()


class NoDeviceError(RuntimeError):
    """CUDA execution was asked for and cannot be had; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Host:
    """The CPU and its memory."""

    name: ClassVar[str] = "cpu"

    def __str__(self) -> str:
        return "the CPU"

    device_id: ClassVar[str] = "cpu"


class Cuda:
    """One GPU; get it with :func:`cuda`, so that each device has one object."""

    name: ClassVar[str] = "cuda"
    __slots__ = ("capability", "context", "device_id", "several")

    def __init__(self, device_id: int) -> None:
        count = device_count()
        if not 0 <= device_id < count:
            raise ValueError(f"There is no CUDA device {device_id}: this machine has {count}, numbered from 0.")
        self.device_id = device_id
        self.several = count > 1
        self.context = driver.device_primary_ctx_retain(driver.device_get(device_id))
        self.capability = driver.compute_capability(device_id)

    def __repr__(self) -> str:
        return f"Cuda({self.device_id})"

    def bind(self) -> None:
        """Make sure that this thread has a current context; another one that is already current stays."""
        if not driver.ctx_get_current():
            driver.ctx_set_current(self.context)
        thread.bound = True

    def current(self) -> AbstractContextManager[None]:
        """Make this device current, and the previous one at the end; the only one always is, once the thread has a context."""
        return self._current() if self.several or not thread.bound else _NOTHING

    @contextmanager
    def _current(self) -> Iterator[None]:
        before = driver.ctx_get_current()
        if before != self.context:
            driver.ctx_set_current(self.context)
        thread.bound = True
        try:
            yield
        finally:
            if before not in (0, self.context):
                driver.ctx_set_current(before)

    @staticmethod
    def wait(stream: int) -> None:
        """Block until everything queued on a stream is done."""
        driver.stream_synchronize(stream)

    @staticmethod
    def capturing(stream: int) -> bool:
        """Whether a graph is being captured on a stream; never true for the legacy default stream, 0 or 1."""
        return stream > 1 and driver.stream_is_capturing(stream) != 0


HOST: Final = Host()
Place = Host | Cuda


class _Thread(threading.local):
    """Whether the present thread has a current context: a new one has none, and calls on the default stream then fail."""

    bound = False


thread: Final = _Thread()
_cuda: dict[int, Cuda] = {}
_lock = threading.Lock()
_forked = False


def device_count() -> int:
    """Number of CUDA devices, at least 1.

    Raises
    ------
    NoDeviceError
        There is no driver, none of its devices can be used, or this is a forked child of a process that used one.
    """
    if _forked:
        raise NoDeviceError(
            "CUDA cannot be used in a forked child process once the parent has used it. Start processes with the 'spawn' method, "
            'or pass execution="cpu" for host operands.'
        )
    count = driver.device_count()
    if count == 0:
        raise NoDeviceError(
            f'No CUDA device can be used here: {driver.why_no_device().rstrip(".")}. Pass execution="cpu" to compute on the host.'
        )
    return count


def cuda(device_id: int) -> Cuda:
    """Return the place of a GPU, ready to use in this thread.

    Raises
    ------
    NoDeviceError
        There is no driver or no device.
    ValueError
        The number is out of range.
    """
    place = _cuda.get(device_id)
    if place is None:
        with _lock:
            place = _cuda.get(device_id)
            if place is None:
                place = _cuda[device_id] = Cuda(device_id)
    if not thread.bound:
        place.bind()
    return place


def has_device() -> bool:
    """Whether a CUDA device can be used."""
    try:
        return device_count() > 0
    except NoDeviceError:
        return False


@contextmanager
def relaxed() -> Iterator[None]:
    """Let this thread do what a capture forbids every thread, though it does no harm."""
    mode = array("i", [_CAPTURE_RELAXED])
    driver.thread_exchange_stream_capture_mode(mode)
    try:
        yield
    finally:
        driver.thread_exchange_stream_capture_mode(mode)


# --- handles of forgotten objects -----------------------------------------------------------------------------------------------

_garbage: deque[tuple[Callable[[Any], object], Any]] = deque()


def discard(destroy: Callable[[Any], object], handle: Any) -> None:
    """Queue a library handle for destruction; safe in finalizers and during a graph capture. A child leaves the parent's alone."""
    if not _forked and _garbage is not None:  # None: the interpreter is going down
        _garbage.append((destroy, handle))


def reap() -> None:
    """Destroy what was queued, in a way that does not disturb a capture in another thread.

    A handle that cannot be destroyed is nobody's fault who happens to call this: it is logged.
    """
    if not _garbage:
        return
    mode = array("i", [_CAPTURE_RELAXED])
    opened = bool(_cuda)  # asked once: another thread may open a GPU meanwhile
    if opened:
        driver.thread_exchange_stream_capture_mode(mode)
    try:
        for _ in range(len(_garbage)):  # what is queued meanwhile waits for the next time
            try:
                destroy, handle = _garbage.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                destroy(handle)
            except Exception as error:
                log.ROOT.critical("%r could not be destroyed: %s", handle, error)
    finally:
        if opened:
            driver.thread_exchange_stream_capture_mode(mode)


def _after_fork() -> None:
    """The parent's contexts and handles do not exist in a child."""
    global _forked, _lock
    _forked = _forked or bool(_cuda)
    _lock = threading.Lock()
    _cuda.clear()
    _garbage.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
