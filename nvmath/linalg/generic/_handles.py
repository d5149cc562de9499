"""The cuBLAS handles: one for each thread and device, kept until the thread ends."""

from __future__ import annotations

import atexit
import threading
from typing import Final

from ..._core.fork import children
from ..._core.place import cuda, discard
from ...bindings import cublas


class _Handle:
    """A cuBLAS handle of one thread on one device, and the stream that it has."""

    __slots__ = ("handle", "stream")

    def __init__(self, device: int) -> None:
        with cuda(device).current():
            self.handle: int = cublas.create()
        self.stream = 0

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            discard(cublas.destroy, self.handle)


class _Handles(threading.local):
    """The handles of a thread: a handle has a stream, so threads cannot share one."""

    def __init__(self) -> None:
        self.of_device: dict[int, _Handle] = {}


class _Heir:
    """In a forked child: the parent's handles are not ours."""

    def _after_fork(self) -> None:
        for kept in _handles.of_device.values():
            kept.handle = 0
        _handles.of_device.clear()


_handles: Final = _Handles()
_heir: Final = _Heir()
children.inherited.add(_heir)
atexit.register(_handles.of_device.clear)


def handle_of(device: int, stream: int) -> _Handle:
    """Return this thread's handle of a device."""
    kept = _handles.of_device.get(device)
    if kept is None:
        if cuda(device).capturing(stream):
            raise RuntimeError(
                "A CUDA graph is being captured on the stream, and this thread has no cuBLAS handle yet, which cannot be made "
                "meanwhile. Compute any product in this thread before the capture."
            )
        kept = _handles.of_device[device] = _Handle(device)
    return kept


def handle_on(device: int, stream: int) -> int:
    """Return this thread's handle of a device, with a stream."""
    kept = _handles.of_device.get(device) or handle_of(device, stream)
    if kept.stream != stream:
        cublas.set_stream(kept.handle, stream)
        kept.stream = stream
    return kept.handle
