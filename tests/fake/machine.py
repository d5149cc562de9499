"""A machine with GPUs that are not there: the fake driver, cuFFT and array package, in the place of the real ones."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from fake.driver import FakeCuda, FakeCufft, Trace
from fake.package import Array, Package

import nvmath
from nvmath._core import arrays, kernels, memory, place, staging
from nvmath.bindings import _nvjitlink, _nvrtc
from nvmath.bindings._bind import substitute


class Machine:
    """What a test sees."""

    def __init__(self, devices: int, workspace_nbytes: int) -> None:
        self.trace = Trace()
        self.cuda = FakeCuda(self.trace, devices)
        self.cufft = FakeCufft(self.trace, self.cuda, workspace_nbytes)
        self.package = Package(self.cuda)
        self.array = self.package.array
        self.stream = self.cuda.make_stream
        self.capture = self.cuda.capture
        self.fail = self.trace.fail

    def names(self, *names: str) -> list[str]:
        """The names of the calls of some functions so far, in their order."""
        return self.trace.names(*names)

    def count(self, name: str) -> int:
        """How often a function was called so far."""
        return self.trace.count(name)

    def streams_of(self, *names: str) -> list[int | None]:
        """The streams on which some functions queued work, in their order."""
        return [call.stream for call in self.trace.calls(*names)]

    @property
    def workspaces(self) -> int:
        """How often the package was asked for memory that the library owns."""
        return self.count("take_buffer")

    def forget(self) -> None:
        """Begin a new page of the trace."""
        self.trace.clear()

    def end_graphs(self) -> None:
        """Wait for every graph that was captured and destroy it: from now on the plans in it may be freed."""
        self.cuda.synchronize()
        for graph in self.cuda.known_graphs:
            graph.destroy()

    def leaks(self) -> list[Any]:
        """What the library still owns, apart from what it keeps for the whole process."""
        empty_cache()
        if self._owned():  # by objects in cycles, perhaps
            gc.collect()
        return self._owned()

    def _owned(self) -> list[Any]:
        while place._garbage:  # what is destroyed may queue more
            place.reap()
        slots = [slot for ring in staging._rings.values() for pair in ring.slots for slot in pair]
        events = set(self.cuda.events) - {slot.event for slot in slots}
        host = set(self.cuda.host_memory) - {slot.ptr for slot in slots} - {ptr for _, ptr in staging._pinned.free}
        return [
            *self.cuda.live(), *(f"cuFFT handle {number}" for number in self.cufft.live()),
            *(f"event {event:#x}" for event in events), *(f"pinned memory {address:#x}" for address in host),
            *(f"graph {number:#x}" for number in self.cuda.own_graphs),
        ]  # fmt: skip


def empty_cache() -> None:
    """Clear the plan cache, of pinned plans too."""
    nvmath.plan_cache.clear(captured=True)


@contextmanager
def machine(devices: int = 1, workspace_nbytes: int = 4096) -> Iterator[Machine]:
    """Put a fake machine in the place of the real one; at the end check that nothing leaked and no rule was broken."""
    nvmath.plan_cache.clear()
    made = Machine(devices, workspace_nbytes)
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        for module, name, value in (
            (place, "_cuda", {}), (place, "_garbage", deque()), (place, "_forked", False),
            (memory, "_pools", {}), (staging, "_rings", {}), (staging, "_pinned", staging._PinnedPool(1 << 30)),
            (kernels, "_functions", {}), (_nvrtc, "compile", lambda *a, **k: b"cubin"),
            (_nvjitlink, "link", lambda *a, **k: b"cubin"),
        ):  # fmt: skip
            patch.setattr(module, name, value)
        patch.setitem(arrays._by_type, Array, made.package)
        stack.enter_context(substitute("cuda", made.cuda))
        stack.enter_context(substitute("cufft", made.cufft))
        place.thread.bound = False
        try:
            yield made
            made.end_graphs()
            leaks = made.leaks()
        finally:
            nvmath.plan_cache.configure(max_entries=256, max_nbytes=2**30, enabled=True)
            empty_cache()
            for ring in staging._rings.values():
                ring.pool.shutdown()
            place.thread.bound = False
    assert made.trace.hazards == []
    assert leaks == []
    assert made.trace.faults == []  # a failure that was ordered never happened
