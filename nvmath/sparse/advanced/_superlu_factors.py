"""Factors of SuperLU, which die in the thread that made them.

SciPy gives their memory back nowhere else; where they die in the thread that ends the interpreter, it even leaves an error behind.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import RLock, Thread
from typing import Any, Final
from weakref import finalize

from ..._core.fork import children
from ..._core.options import available_threads

_LEAST: Final = 2
"""As many threads there may be in any case, so that nobody has to wait for a single long factorization."""


class _Maker:
    """A thread, and the tasks that it does one after the other. Finalizers may give it some at any time: a queue takes no lock."""

    def __init__(self, name: str) -> None:
        self.under_way = 0
        """How many callers wait."""
        self._tasks: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._alive: dict[int, list[Any]] = {}  # the thread's own
        Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while True:
            self._tasks.get()()

    def start(self, make: Callable[[], Any], held: list[Any]) -> SimpleQueue[BaseException | None]:
        """Call a function and hold what it returns; the queue gets the error that it raises, or None."""
        done: SimpleQueue[BaseException | None] = SimpleQueue()

        def task() -> None:
            try:
                held.append(make())
            except BaseException as error:  # whatever it is, the caller waits for it
                done.put(error)
            else:
                self._alive[id(held)] = held
                done.put(None)

        self._tasks.put(task)
        return done

    def drop(self, held: list[Any]) -> None:
        """Let go of what is held."""
        self._tasks.put(partial(self._drop, held))

    def _drop(self, held: list[Any]) -> None:
        self._alive.pop(id(held), None)
        held.clear()

    def end(self) -> None:
        """Let go of everything, and wait for that."""
        done: SimpleQueue[None] = SimpleQueue()
        self._tasks.put(partial(self._drop_all, done))
        done.get()

    def _drop_all(self, done: SimpleQueue[None]) -> None:
        for held in self._alive.values():
            held.clear()
        done.put(None)


class _Makers:
    """The makers of this process: as many as have been busy at once, up to the number of threads that there may be."""

    def __init__(self) -> None:
        self._after_fork()
        self.ended = False
        children.inherited.add(self)
        atexit.register(self._end)

    def _after_fork(self) -> None:
        self._lock = RLock()  # a signal handler may solve as well
        self._all: list[_Maker] = []

    def make(self, function: Callable[[], Any], factors: Factors) -> None:
        """Call a function in the thread that has least to do, and let `factors` hold what it returns."""
        with self._lock:
            least = min(self._all, key=lambda maker: maker.under_way, default=None)
            if least is None or (least.under_way and len(self._all) < max(_LEAST, available_threads())):
                least = _Maker(f"nvmath-superlu-{len(self._all)}")
                self._all.append(least)
            least.under_way += 1
        try:
            held = factors.held
            finalize(factors, least.drop, held).atexit = False
            error = least.start(function, held).get()
        finally:
            with self._lock:
                least.under_way -= 1
        if error is not None:
            raise error

    def _end(self) -> None:
        self.ended = True
        for maker in self._all:
            maker.end()


_makers: Final = _Makers()


class Factors:
    """What a function made, or the error that it raised.

    Parameters
    ----------
    make : callable
        Returns factors; it is called in one of the threads.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self.held: list[Any] = []
        _makers.make(make, self)

    @property
    def lu(self) -> Any:
        """The object of SciPy; nobody may keep it.

        Raises
        ------
        RuntimeError
            The process is ending.
        """
        if _makers.ended:
            raise RuntimeError("The factors of SuperLU are gone, since the process is ending.")
        return self.held[0]
