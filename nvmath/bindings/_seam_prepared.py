"""Prepared calls and tables of them without the C extension: same functions, same answers as `_seam.c`."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from nvmath.bindings import _seam_ctypes

_MAX_OPERANDS, _MAX_RANK, _MAX_GUARD, _MAX_ENTRIES = 4, 4, 64, 256


class _Look(NamedTuple):
    """What of an array decides whether a prepared call suits it; the dtype is compared by identity."""

    dtype: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]


_Seen = tuple[tuple[_Look, ...], tuple[int, ...]]  # looks and addresses


def _look_at(kind: type[Any], arrays: tuple[Any, ...]) -> _Seen | None:
    looks, addresses = [], []
    for array in arrays:
        if type(array) is not kind:
            return None
        try:
            with _seam_ctypes.buffer_of(array) as view:
                rank = view.ndim
                if rank > _MAX_RANK:
                    return None
                extents, strides = (
                    tuple((ctypes.c_ssize_t * rank).from_address(at)) if rank else ()
                    for at in (view.shape, view.strides)
                )
                addresses.append(int(view.buf or 0))
            looks.append(_Look(id(array.dtype), extents, strides))
        except Exception:
            return None
    return tuple(looks), tuple(addresses)


class Prepared:
    """A call of a bound function whose arguments are all known but for the addresses of arrays that are alike."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        places: tuple[int, ...],
        like: tuple[Any, ...],
        make: Callable[[], Any],
        guard: Any,
        kept: Any,
    ) -> None:
        seen = _look_at(type(like[0]), like)
        if seen is None:
            raise TypeError(
                "prepare(): needs arrays of one type with a dtype, the buffer protocol and at most "
                f"{_MAX_RANK} dimensions, got {like!r}"
            )
        self.function, self.args, self.places, self.make, self.kept = function, args, places, make, kept
        self.foreign = function.__target__.foreign  # type: ignore[attr-defined]  # kept when the function forgets it
        self.kind, self.looks = type(like[0]), seen[0]
        self.dtypes = tuple(array.dtype for array in like)  # kept, so that no other has their identity
        self.alignments = tuple(dtype.alignment for dtype in self.dtypes)
        self.guard = memoryview(guard).cast("B")
        if self.guard.nbytes > _MAX_GUARD:
            raise ValueError(f"prepare(): the guard may have {_MAX_GUARD} bytes, not {self.guard.nbytes}")
        self.guarded = bytes(self.guard)
        self.home: Table | None = None
        self.answers = 0

    def __call__(self, *arrays: Any) -> Any:
        if len(arrays) != len(self.looks):
            raise TypeError(f"{self.function.__name__}() is prepared for {len(self.looks)} arrays, got {len(arrays)}")
        seen = _look_at(self.kind, arrays)
        return self.run(seen[1]) if seen is not None and self.suits(seen) else NotImplemented

    def suits(self, seen: _Seen) -> bool:
        """Whether arrays are like those that it was prepared for, and nothing that it relies on has changed."""
        looks, addresses = seen
        aligned = not any(address % each for address, each in zip(addresses, self.alignments, strict=False))
        return looks == self.looks and aligned and self.guard == self.guarded

    def run(self, addresses: tuple[int, ...]) -> Any:
        """Call with the addresses of the arrays, and that of a new result."""
        result = self.make()
        with _seam_ctypes.buffer_of(result, writable=True) as view:
            target = int(view.buf or 0)
        args = list(self.args)
        for place, address in zip(self.places, (*addresses, target), strict=True):
            args[place] = address
        self.function.__call_at__(self.foreign, tuple(args))  # type: ignore[attr-defined]
        self.answers += 1
        return result


def prepare(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    places: tuple[int, ...],
    like: tuple[Any, ...],
    make: Callable[[], Any],
    guard: Any,
    kept: Any = None,
    /,
) -> Prepared:
    """A call that gives addresses only; see `nvmath.bindings._seam.prepare`."""
    for given in (args, places, like):
        if not isinstance(given, tuple):
            raise TypeError(f"prepare(): args, places and like must be tuples, got {given!r}")
    if not hasattr(_seam_ctypes.opened(function), "__call_at__"):
        raise TypeError(f"prepare() needs a function made by bind(), got {function!r}")
    slots, _ = function.__seam__  # type: ignore[attr-defined]
    if not 1 <= len(like) <= _MAX_OPERANDS or len(places) != len(like) + 1:
        raise ValueError(
            f"prepare(): 1 to {_MAX_OPERANDS} arrays, and one place more, got {len(like)} and {len(places)}"
        )
    _seam_ctypes.check_repeatable(function, args, "prepare")
    for place in places:
        if not 0 <= place < len(slots) or slots[place].code not in "Pvw":
            raise ValueError(f"prepare(): argument {place} of {function.__name__}() takes no address")
    _seam_ctypes.check_arguments(function, args)
    return Prepared(function, args, places, like, make, guard, kept)


class Table:
    """Prepared calls, found by what their arrays look like. It does not keep them alive."""

    def __init__(self, kind: type) -> None:
        if not isinstance(kind, type):
            raise TypeError(f"table(): needs the type of the arrays, got {kind!r}")
        self.kind = kind
        self.entries: tuple[weakref.ref[Prepared], ...] = ()  # replaced, never changed: other threads go through it
        self.lock = threading.RLock()  # a signal handler may enter one, too

    def __call__(self, *arrays: Any) -> Any:
        seen = _look_at(self.kind, arrays) if len(arrays) <= _MAX_OPERANDS else None
        if seen is not None:
            for entry in self.known():
                if entry.kind is self.kind and entry.suits(seen):
                    return entry.run(seen[1])
        return NotImplemented

    def known(self) -> list[Prepared]:
        """The calls that live and are in no other table by now, the oldest first."""
        living = [entry for reference in self.entries if (entry := reference()) is not None]
        return [entry for entry in living if entry.home is self]

    def add(self, prepared: Prepared) -> None:
        """Take a call in, as the youngest; of too many the oldest leaves."""
        with self.lock:
            others = [entry for entry in self.known() if entry is not prepared]
            self.entries = tuple(map(weakref.ref, [*others, prepared][-_MAX_ENTRIES:]))
            prepared.home = self


def table(kind: type, /) -> Table:
    """Makes a table; see `nvmath.bindings._seam.table`."""
    return Table(kind)


def enter(table: Table, prepared: Prepared, /) -> None:
    """Puts a prepared call into a table, in place of the oldest if that is full; see `nvmath.bindings._seam.enter`."""
    if not isinstance(table, Table) or not isinstance(prepared, Prepared):
        raise TypeError(f"enter(): needs a table and a prepared call, got {table!r} and {prepared!r}")
    table.add(prepared)


def answered(prepared: Prepared, /) -> int:
    """How many calls a prepared one made; see `nvmath.bindings._seam.answered`."""
    if not isinstance(prepared, Prepared):
        raise TypeError(f"answered(): needs a prepared call, got {prepared!r}")
    answers, prepared.answers = prepared.answers, 0
    return answers
