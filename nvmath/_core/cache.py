"""The plan cache of the one-call functions: one per process, bounded by count and bytes.

``take`` removes an entry and ``give`` returns it, so two threads, or a call made while another is under way, never share one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol


class Entry(Protocol):
    """What can be cached."""

    nbytes: int
    pinned: bool  # part of a captured graph: its memory must outlive the cache
    stack: list[Any] | None  # set by the cache: where the entry returns to
    stamp: int  # set by the cache: when it was used last

    def close(self) -> None:
        """Give up what the entry owns."""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """A look at the plan cache."""

    hits: int
    misses: int
    entries: int
    nbytes: int
    pinned: int
    max_entries: int
    max_nbytes: int
    enabled: bool


class PlanCache:
    """Plans of the one-call functions, kept for the next call with the same metadata.

    Parameters
    ----------
    max_entries : int
        Number of plans that are kept at most.
    max_nbytes : int
        Bytes that kept plans may own at most, as far as the libraries tell.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.plan_cache.clear()
    >>> nvmath.plan_cache.info().entries
    0
    """

    def __init__(self, max_entries: int = 256, max_nbytes: int = 2**30) -> None:
        self._max_entries, self._max_nbytes = max_entries, max_nbytes
        self._enabled = os.environ.get("NVMATH_PLAN_CACHE", "1") != "0"
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._table: dict[Hashable, list[Any]] = {}
        self._known: dict[int, tuple[Hashable, Any]] = {}  # by id: every entry that is kept or under way
        self._clock = count().__next__
        self._nbytes = self._hits = self._misses = 0

    def take(self, key: Hashable) -> Any:
        """Remove and return an entry, or return None.

        No lock: popping from a list is atomic, and counts may lose an increment to another thread.
        """
        try:
            entry = self._table[key].pop()
        except (KeyError, IndexError):
            self._misses += 1
            return None
        self._hits += 1
        return entry

    def give(self, key: Hashable, entry: Any) -> None:
        """Put an entry back; the least recently used ones leave when a new one exceeds a bound."""
        entry.stamp = self._clock()
        stack = entry.stack
        if stack is None or not self._enabled:
            self._admit(key, entry)
        else:
            stack.append(entry)

    def _admit(self, key: Hashable, entry: Any) -> None:
        if not self._enabled and not entry.pinned:
            self.drop(key, entry)
            entry.close()
            return
        with self._lock:
            if id(entry) in self._known:
                entry.stack.append(entry)
                return
            entry.stack = self._table.setdefault(key, [])
            entry.stack.append(entry)
            self._known[id(entry)] = key, entry
            self._nbytes += entry.nbytes
            evicted = self._evict()
        for old in evicted:
            old.close()

    def _evict(self) -> list[Any]:
        """Take out the oldest entries that are neither under way nor pinned, until the others hold the bounds."""
        evicted: list[Any] = []
        if len(self._known) <= self._max_entries and self._nbytes <= self._max_nbytes:
            return evicted
        loose = sorted((pair for pair in self._known.values() if not pair[1].pinned), key=lambda pair: pair[1].stamp)
        entries, nbytes = len(loose), sum(entry.nbytes for _, entry in loose)
        for key, entry in loose:
            if entries <= self._max_entries and nbytes <= self._max_nbytes:
                break
            try:
                entry.stack.remove(entry)
            except ValueError:  # under way in another thread
                continue
            self._leave(key, entry)
            entries, nbytes = entries - 1, nbytes - entry.nbytes
            evicted.append(entry)
        return evicted

    def _leave(self, key: Hashable, entry: Any) -> None:
        del self._known[id(entry)]
        self._nbytes -= entry.nbytes
        if not entry.stack and all(other.stack is not entry.stack for _, other in self._known.values()):
            self._table.pop(key, None)  # else one that is under way comes back to this stack

    def drop(self, key: Hashable, entry: Any) -> None:
        """Forget an entry that was taken and will not come back."""
        if entry.stack is not None:
            with self._lock:
                if id(entry) in self._known:
                    self._leave(key, entry)

    def info(self) -> CacheInfo:
        """Return counts: hits, misses, entries, bytes, and how many plans are pinned by captured graphs."""
        with self._lock:
            pinned = sum(entry.pinned for _, entry in self._known.values())
            return CacheInfo(
                self._hits, self._misses, len(self._known), self._nbytes, pinned, self._max_entries, self._max_nbytes,
                self._enabled,
            )  # fmt: skip

    def clear(self) -> None:
        """Drop every plan that is neither under way nor part of a captured graph, and reset the counts of hits and misses."""
        with self._lock:
            bounds = self._max_entries, self._max_nbytes
            self._max_entries = self._max_nbytes = -1
            evicted = self._evict()
            self._max_entries, self._max_nbytes = bounds
            self._hits = self._misses = 0
        for entry in evicted:
            entry.close()

    def configure(
        self, *, max_entries: int | None = None, max_nbytes: int | None = None, enabled: bool | None = None
    ) -> None:
        """Change the bounds, or switch the cache off or on.

        Parameters
        ----------
        max_entries, max_nbytes : int, optional
            New bounds; at least 0.
        enabled : bool, optional
            With False nothing is kept any more. ``NVMATH_PLAN_CACHE=0`` in the environment starts with False.

        Raises
        ------
        ValueError
            A bound is negative.
        """
        for name, bound in (("max_entries", max_entries), ("max_nbytes", max_nbytes)):
            if bound is not None and bound < 0:
                raise ValueError(f"{name} must be at least 0, not {bound}.")
        with self._lock:
            self._max_entries = self._max_entries if max_entries is None else max_entries
            self._max_nbytes = self._max_nbytes if max_nbytes is None else max_nbytes
            self._enabled = self._enabled if enabled is None else enabled
            evicted = self._evict()
        for old in evicted:
            old.close()
        if not self._enabled:
            self.clear()


plan_cache = PlanCache()

if hasattr(os, "register_at_fork"):
    # The child must never use, nor destroy, what the parent's plans own; a lock held by another thread stays locked for ever.
    os.register_at_fork(after_in_child=plan_cache._reset)
