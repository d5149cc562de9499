"""Handles of cuBLASLt: one for each device."""

from __future__ import annotations

import threading
from typing import Final

from ..._core.fork import children
from ..._core.place import Cuda
from ...bindings import cublasLt

_handles: dict[int, int] = {}
_lock = threading.Lock()


def handle_of(place: Cuda) -> int:
    """Return our handle of a device: it holds no state, so all threads share it, and it lives as long as the process."""
    handle = _handles.get(place.device_id)
    if handle is None:
        with _lock, place.current():
            handle = _handles.get(place.device_id)
            if handle is None:
                handle = _handles[place.device_id] = cublasLt.create()
    return handle


class _Handles:
    """Forgets the parent's handles in a forked child."""

    def _after_fork(self) -> None:
        _handles.clear()


_heir: Final = _Handles()
children.inherited.add(_heir)
