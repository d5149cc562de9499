"""What a forked child must know: which threads and handles of its parent do not exist any more."""

from __future__ import annotations

import os
import sys
import threading
from typing import Final, Protocol
from weakref import WeakSet

IMPORTING: Final = threading.RLock()
"""Held by a plan that imports what is too large to be imported with us. Python never gives up the lock of a module that another thread was
importing at a fork, so a fork waits for the import, where otherwise the child would."""


class Inherited(Protocol):
    """An object that a child must not use as it is."""

    def _after_fork(self) -> None:
        """Forget what belongs to the parent."""


class Children:
    """Counts forks, as seen from inside: 0 in a process that was not forked from one that had imported this package."""

    def __init__(self) -> None:
        self.generation = 0
        self.inherited: WeakSet[Inherited] = WeakSet()

    def born(self) -> None:
        """Run in a child, right after the fork."""
        self.generation += 1
        for heir in self.inherited:
            heir._after_fork()

    def openmp_is_unsafe(self) -> bool:
        """Whether a parallel region could hang: GNU's OpenMP keeps waiting for the parent's threads."""
        return bool(self.generation) and _gnu_openmp_is_loaded()


def _gnu_openmp_is_loaded() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    with open("/proc/self/maps") as maps:
        return any("libgomp" in line for line in maps)


children = Children()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=IMPORTING.acquire, after_in_parent=IMPORTING.release, after_in_child=IMPORTING.release)
    os.register_at_fork(after_in_child=children.born)
