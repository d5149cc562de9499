"""A cuDSS over the fake driver: it computes nothing, but says on which stream a phase uses the factors, and when these are destroyed."""
# ruff: noqa: N802, the names of the C functions

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fake.driver import Call, Memory, recorded
from fake.machine import Machine, machine

import nvmath
from nvmath.bindings._bind import substitute
from nvmath.sparse.advanced import _cudss_handle

ANALYSIS, FACTORIZATION, SOLVE = 3, 4, 1008
FACTORIZED = [FACTORIZATION, SOLVE]
"""A factorization, and the solution that shows whether the matrix may be singular."""
MEMORY_ESTIMATES = 13


class FakeCudss:
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    def __init__(self, made: Machine) -> None:
        self.trace, self.cuda = made.trace, made.cuda
        self.alive: set[int] = set()
        self.data: dict[int, Memory] = {}
        self.streams: dict[int, int] = {}  # of the handles
        self.analysed: dict[int, int] = {}  # the streams of analyses
        self.next = 0x9000
        self.handles = 0
        self.permanent = 0  # bytes of factors

    def current_device(self) -> int | None:
        return self.cuda.current_device()

    @recorded
    def cudssExecute(self, handle: int, phase: int, config: int, data: int, *rest: int) -> None:
        """Queue a phase. cuDSS has no order between streams, and does part of a solution on the stream of the analysis."""
        stream = self.streams[handle]
        graph = self.cuda.queued(stream)
        if graph is not None:
            graph.memory.append(self.data[data])
            return
        self.cuda.use(self.data[data], stream)
        if phase == ANALYSIS:
            self.analysed[data] = stream
        elif self.analysed.get(data, stream) != stream:
            self.cuda.hazard("a phase is on another stream than the analysis was")

    @recorded
    def cudssSetStream(self, handle: int, stream: int) -> None:
        self.streams[handle] = stream

    @recorded
    def cudssDataGet(self, handle: int, data: int, number: int, buffer: int, nbytes: int, written: Any) -> None:
        self.cuda.identity(self.streams[handle])
        ctypes.memset(buffer, 0, nbytes)
        if number == MEMORY_ESTIMATES:
            ctypes.c_uint64.from_address(buffer).value = self.permanent

    @recorded
    def cudssDataDestroy(self, handle: int, data: int) -> None:
        self.alive.remove(data)
        known = self.cuda.order.host
        if any(tick > known.get(origin, 0) for origin, tick in self.data[data].uses.items()):
            self.cuda.hazard("factors were destroyed while they were used")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cudss"):
            raise AttributeError(name)
        if name == "cudssGetProperty":
            return lambda part: (0, 8, 0)[part]
        if "Create" in name:
            return lambda *arguments: self._make(name)
        if "Destroy" in name:
            return lambda *arguments: self.alive.remove(arguments[-1])
        if name == "cudssConfigGet":
            return lambda *arguments: ctypes.memset(arguments[2], 0, arguments[3])
        return lambda *arguments: None

    def _make(self, name: str) -> int:
        with self.trace.lock:
            self.trace.enter(Call(name, (), self.current_device()))
        self.next += 1
        if name == "cudssCreate":
            self.handles += 1
        else:
            self.alive.add(self.next)
        if name == "cudssDataCreate":
            self.data[self.next] = Memory(self.next, 0, 0, 0, 0, True)
        return self.next

    @property
    def phases(self) -> list[int]:
        return [call.args[1] for call in self.trace.calls("cudssExecute")]


@contextmanager
def gpu() -> Iterator[tuple[Machine, FakeCudss]]:
    """A machine with a GPU and cuDSS; at the end no memory and no object of cuDSS is left."""
    _cudss_handle._free.clear()
    with machine() as made:
        recorder = FakeCudss(made)
        with substitute("cudss", recorder):
            yield made, recorder
            nvmath.plan_cache.clear()
            made.leaks()  # destroys what was given up
            assert recorder.alive == set()
    _cudss_handle._free.clear()
