"""The plan cache of the one-call functions: one per process, bounded by count and bytes.

A one-call function leases an entry (``lease`` removes it, ``give`` returns it), so two threads, or a call made while another is under
way, never share one::

    key, entry = plan_cache.lease(key, settle)
    if entry is None:
        entry = open(...)
    try:
        result = ...
    except BaseException:
        plan_cache.discard(entry)
        raise
    plan_cache.give(key, entry)
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Protocol

_NBYTES: Final = 2**30
"""The bound of bytes to begin with, unless one is chosen."""


class Entry(Protocol):
    """What can be cached."""

    _nbytes: int  # that it owns, as far as its library tells
    _pinned: bool  # part of a captured graph: its memory must outlive the cache
    _stack: list[Any] | None  # set by the cache: where the entry returns to
    _stamp: int  # set by the cache: when it was used last

    def _answered(self) -> int:
        """Return how many calls were answered without the cache since this was asked last."""

    def free(self) -> None:
        """Give up what the entry owns."""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """A look at the plan cache.

    Attributes
    ----------
    hits, misses : int
        How many calls of one-call functions found a plan in the cache, and how many did not, since it was cleared last.
    entries : int
        Plans that are kept, or under way in a call.
    nbytes : int
        Bytes that these plans own, in host memory and on GPUs together, as far as the libraries tell.
    pinned : int
        Plans that are part of captured CUDA graphs, and do not leave.
    max_entries, max_nbytes : int
        The present bounds of `entries` and `nbytes`. Pinned plans do not count, and what is under way does not leave.
    enabled : bool
        Whether plans are kept at all.
    """

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
    max_nbytes : int, optional
        Bytes that kept plans may own at most, in host memory and on GPUs together, as far as the libraries tell. By default 1 GiB; once
        the factors of a sparse matrix are on a GPU a sixteenth of its memory, if that is more.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.plan_cache.clear()
    >>> nvmath.plan_cache.info().entries
    0
    """

    def __init__(self, max_entries: int = 256, max_nbytes: int | None = None) -> None:
        self._max_entries, self._max_nbytes = max_entries, _NBYTES if max_nbytes is None else max_nbytes
        self._chosen = max_nbytes is not None  # the bound of bytes
        self._enabled = os.environ.get("NVMATH_PLAN_CACHE", "1") != "0"
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.RLock()  # a signal handler may transform, too, while its thread is in here
        self._table: dict[Hashable, list[Any]] = {}
        # By id, every entry that is kept or under way. Weak, since one that is under way when Ctrl-C arrives may never come back.
        self._known: dict[int, tuple[Hashable, weakref.ref[Any], int]] = {}
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

    def lease(self, key: Any, settle: Callable[[Any], Hashable | None]) -> tuple[Any, Any]:
        """Remove an entry; return its key and it, or None for a miss.

        A key that cannot be hashed (it holds a list, a dict, ...) is settled first: `settle` returns one that can be, or None when
        the call must not be kept.
        """
        try:
            entry = self._table[key].pop()
        except (KeyError, IndexError):
            self._misses += 1
            return key, None
        except TypeError:
            key = settle(key)
            return key, None if key is None else self.take(key)
        self._hits += 1
        return key, entry

    def give(self, key: Hashable | None, entry: Any) -> None:
        """Put an entry back; the least recently used ones leave when a new one exceeds a bound. Without a key it is given up.

        So is one that exceeds the bound of bytes by itself: no others leave for it.
        """
        stack = entry._stack
        if stack is None or not self._enabled:
            self._admit(key, entry)
        else:
            entry._stamp = self._clock()
            stack.append(entry)

    def _admit(self, key: Hashable | None, entry: Any) -> None:
        if (key is None or not self._enabled or entry._nbytes > self._max_nbytes) and not entry._pinned:
            self.discard(entry)
            return
        entry._stamp = self._clock()
        with self._lock:
            if self._knows(entry):
                entry._stack.append(entry)
                return
            # The books first: Ctrl-C can come after any line, and only what is in the books can leave.
            self._known[id(entry)] = key, weakref.ref(entry), entry._nbytes
            self._nbytes += entry._nbytes
            entry._stack = self._table.setdefault(key, [])
            entry._stack.append(entry)
            evicted = self._evict(self._max_entries, self._max_nbytes)
        for old in evicted:
            old.free()

    def _knows(self, entry: Any) -> bool:
        known = self._known.get(id(entry))
        return known is not None and known[1]() is entry

    def _living(self) -> list[Any]:
        """Return every entry, and strike out those that were lost."""
        living = []
        for number, (_, reference, _) in list(self._known.items()):
            entry = reference()
            if entry is None:
                self._strike(number)
            else:
                living.append(entry)
        return living

    def _evict(self, max_entries: int, max_nbytes: int) -> list[Any]:
        """Take out the oldest entries that are neither under way nor pinned, until the others hold the bounds."""
        evicted: list[Any] = []
        if len(self._known) <= max_entries and self._nbytes <= max_nbytes:
            return evicted
        loose = sorted((entry for entry in self._living() if not entry._pinned), key=lambda entry: entry._stamp)
        for entry in loose:
            if entry._answered():  # it was used, and nobody stamped it
                entry._stamp = self._clock()
        loose.sort(key=lambda entry: entry._stamp)
        entries, nbytes = len(loose), sum(entry._nbytes for entry in loose)
        for entry in loose:
            if entries <= max_entries and nbytes <= max_nbytes:
                break
            try:
                (entry._stack or []).remove(entry)
            except ValueError:  # under way in another thread
                continue
            self._strike(id(entry))
            entries, nbytes = entries - 1, nbytes - entry._nbytes
            evicted.append(entry)
        return evicted

    def _strike(self, number: int) -> None:
        """Strike an entry out of the books; its key too, when nobody comes back to it."""
        key, _, nbytes = self._known.pop(number)
        self._nbytes -= nbytes
        if not self._table.get(key) and all(other != key for other, _, _ in self._known.values()):
            self._table.pop(key, None)

    def discard(self, entry: Any) -> None:
        """Give up an entry that was leased, or that never was inside."""
        if entry._stack is not None:
            with self._lock:
                if self._knows(entry):
                    self._strike(id(entry))
        entry.free()

    def make_room(self, nbytes: int) -> None:
        """Let kept plans own at least so many bytes, unless a bound has been chosen."""
        with self._lock:
            if not self._chosen:
                self._max_nbytes = max(self._max_nbytes, nbytes)

    def info(self) -> CacheInfo:
        """Return counts: hits, misses, entries, bytes, and how many plans are pinned by captured graphs."""
        with self._lock:
            pinned = sum(entry._pinned for entry in self._living())
            return CacheInfo(
                self._hits, self._misses, len(self._known), self._nbytes, pinned, self._max_entries, self._max_nbytes,
                self._enabled,
            )  # fmt: skip

    def clear(self, *, captured: bool = False) -> None:
        """Drop every plan that is not under way, and reset the counts of hits and misses.

        Parameters
        ----------
        captured : bool, default False
            Drop also the plans that are part of captured CUDA graphs. Only for a program that replays none of these graphs any more:
            a replay would use memory that has been given back.
        """
        with self._lock:
            if captured:
                for entry in self._living():
                    entry._pinned = False
            evicted = self._evict(-1, -1)
            self._hits = self._misses = 0
        for entry in evicted:
            entry.free()

    def configure(
        self, *, max_entries: int | None = None, max_nbytes: int | None = None, enabled: bool | None = None
    ) -> None:
        """Change the bounds, or switch the cache off or on.

        Parameters
        ----------
        max_entries : int, optional
            How many plans are kept at most; at least 0.
        max_nbytes : int, optional
            How many bytes they may own at most, in host memory and on GPUs together; at least 0. It holds from then on, whatever GPUs
            there are.
        enabled : bool, optional
            With False nothing is kept any more. ``NVMATH_PLAN_CACHE=0`` in the environment starts with False.

        Raises
        ------
        TypeError
            A bound is not an integer, or `enabled` not a bool.
        ValueError
            A bound is negative.
        """
        for name, bound in (("max_entries", max_entries), ("max_nbytes", max_nbytes)):
            if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool)):
                raise TypeError(f"{name} must be an integer, not {bound!r}.")
            if bound is not None and bound < 0:
                raise ValueError(f"{name} must be at least 0, not {bound}.")
        if enabled is not None and not isinstance(enabled, bool):
            raise TypeError(f"enabled must be True or False, not {enabled!r}.")
        with self._lock:
            self._max_entries = self._max_entries if max_entries is None else max_entries
            if max_nbytes is not None:
                self._max_nbytes, self._chosen = max_nbytes, True
            self._enabled = self._enabled if enabled is None else enabled
            evicted = self._evict(self._max_entries, self._max_nbytes)
        for old in evicted:
            old.free()
        if not self._enabled:
            self.clear()


plan_cache = PlanCache()

if hasattr(os, "register_at_fork"):
    # The child must never use, nor destroy, what the parent's plans own; a lock held by another thread stays locked for ever.
    os.register_at_fork(after_in_child=plan_cache._reset)
