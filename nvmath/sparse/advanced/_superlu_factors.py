"""Factors of SuperLU, which die in the thread that made them.

SciPy gives their memory back nowhere else; where they die in the thread that ends the interpreter, it even leaves an error behind.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import partial
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Final
from weakref import finalize

from ..._core.fork import children
from ..._core.options import available_threads

_MOST: Final = 4
"""Threads in which factors are made; they remain, and so does what malloc keeps for each of them."""


class _Maker:
    """A thread, and the tasks that it does one after the other. Finalizers may give it some at any time: a queue takes no lock."""

    def __init__(self, name: str) -> None:
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
    """The makers of this process, which take turns."""

    def __init__(self) -> None:
        self._after_fork()
        children.inherited.add(self)
        atexit.register(self._end)

    def _after_fork(self) -> None:
        self._lock = Lock()
        self._all: list[_Maker] = []
        self._turns = count()

    def next(self) -> _Maker:
        """The maker whose turn it is."""
        with self._lock:
            if not self._all:
                self._all = [_Maker(f"nvmath-superlu-{i}") for i in range(min(_MOST, available_threads()))]
            return self._all[next(self._turns) % len(self._all)]

    def _end(self) -> None:
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
        self._held: list[Any] = []
        maker = _makers.next()
        finalize(self, maker.drop, self._held).atexit = False
        error = maker.start(make, self._held).get()
        if error is not None:
            raise error

    @property
    def lu(self) -> Any:
        """The object of SciPy; nobody may keep it."""
        return self._held[0]
