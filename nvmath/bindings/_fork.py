"""Locks and forks."""

from __future__ import annotations

import os
from typing import Protocol, TypeVar


class _Lock(Protocol):
    def acquire(self) -> bool: ...

    def release(self) -> None: ...


T = TypeVar("T", bound=_Lock)


def held_at_fork(lock: T) -> T:
    """Hold a lock while the process forks: one that another thread held would stay locked in the child for ever."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
