"""Calls of a LAPACK function for every system of a batch: one foreign call for all, or one for each of several threads."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from ..._core.layout import Ints
from ..._core.options import available_threads
from ...bindings import _openblas, _seam
from ._lapack import arguments_of


class Constants:
    """Numbers and letters in memory, since Fortran takes addresses."""

    def __init__(self, integer: np.dtype[Any]) -> None:
        self.integer = integer
        self.kept: dict[int | str, Any] = {}

    def number(self, value: int) -> int:
        """Return the address of an integer."""
        kept = self.kept.get(value)
        if kept is None:
            kept = self.kept[value] = np.array([value], self.integer)
        return int(kept.ctypes.data)

    def text(self, letter: str) -> int:
        """Return the address of a letter."""
        kept = self.kept.get(letter)
        if kept is None:
            kept = self.kept[letter] = array("b", letter.encode())
        return kept.buffer_info()[0]


class Routine:
    """A function with its arguments, for every turn of a loop.

    Parameters
    ----------
    function : callable
        Bound, taking addresses.
    name : str
        Its row in the table of arguments.
    named : dict
        For each argument by name the first value and its steps along the loop in bytes, or None for no steps. Those of the
        argument ``work`` are an integer: the bytes of the part of one thread.
    extents : tuple of int
        Of the loop.
    parallel : int
        Number of threads that share the loop.
    """

    def __init__(
        self, function: Callable[..., None], name: str, named: dict[str, tuple[int, Any]], extents: Ints, parallel: int
    ) -> None:
        names = arguments_of(name)
        self.function, self.extents, self.parallel = function, extents, parallel
        self.arguments = tuple(named[each][0] for each in names)
        none = (0,) * len(extents)
        self.steps = tuple(named[each][1] if isinstance(named[each][1], tuple) else none for each in names)
        self.work = names.index("work") if "work" in names else None
        self.part = named["work"][1] if self.work is not None else 0
        self.names = names

    def bound(self) -> Callable[[], None]:
        """Return the function without arguments."""
        function, arguments = self.function, self.arguments
        if not self.extents:
            return lambda: function(*arguments)
        return lambda: self._loop(arguments)

    def around(self, name: str) -> tuple[Callable[..., None], tuple[int, ...], tuple[int, ...]]:
        """Return the function, for one turn, with the arguments before and after one that is to come."""
        place = self.names.index(name)
        return self.function, self.arguments[:place], self.arguments[place + 1 :]

    def of(self, name: str) -> Callable[[int], None]:
        """Return the function of one address."""
        function, head, tail = self.around(name)
        if not self.extents:
            return lambda address: function(*head, address, *tail)
        return lambda address: self._loop((*head, address, *tail))

    def _loop(self, arguments: tuple[int, ...]) -> None:
        if self.parallel < 2:
            _seam.repeat(self.function, self.extents, self.steps, arguments)
            return
        extent, parts = self.extents[0], self.parallel
        bounds = [extent * part // parts for part in range(parts + 1)]
        inner = self.extents[1:]
        pieces = [
            ((end - begin, *inner), self.steps, self._moved(arguments, begin, part))
            for part, (begin, end) in enumerate(zip(bounds, bounds[1:], strict=False))
        ]
        with _openblas.at_most(1):  # only NumPy's OpenBLAS is called by several threads
            jobs = [_pool().submit(_seam.repeat, self.function, *piece) for piece in pieces[1:]]
            try:
                _seam.repeat(self.function, *pieces[0])
            finally:
                wait(jobs)
        for job in jobs:
            job.result()

    def _moved(self, arguments: tuple[int, ...], begin: int, part: int) -> tuple[int, ...]:
        moved = [value + steps[0] * begin for value, steps in zip(arguments, self.steps, strict=True)]
        if self.work is not None:
            moved[self.work] += part * self.part
        return tuple(moved)


_executor: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def _pool() -> ThreadPoolExecutor:
    global _executor
    with _lock:
        if _executor is None:
            _executor = ThreadPoolExecutor(available_threads(), thread_name_prefix="nvmath-lapack")
        return _executor


def _after_fork() -> None:
    global _executor, _lock
    _executor, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
