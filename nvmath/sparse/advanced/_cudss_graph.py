"""Solutions that come back: what one queues is kept as a CUDA graph, and queued in one call the next time.

cuDSS queues up to twenty kernels for a solution, which takes the host 30 to 70 us; a graph of them and of the judgement takes 5. It is of
use where the addresses of operands and result come again, as in loops: array packages give out first what was given back last. It is
used only as long as nothing but solutions of the same kind was done with the handle of cuDSS, since other phases may take other memory; and
every solution is judged, whoever queued it.

While something is captured, a thread that waits for the whole device gets an error (900, seen with driver 580). So nothing is captured
where there are threads of others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from ...bindings import _cuda as driver
from ...bindings import cudss
from ._cuda_matrix import Pointers
from ._cudss_factors import CudssFactors
from ._order import Order
from ._systems import Answer

_THREAD_LOCAL: Final = 1
"""What cannot be captured is an error, in this thread only."""
_OURS: Final = "nvmath-"
_MOST: Final = 8
_IDLE: Final = 64
"""How many solutions later a graph may make room for another."""
_REMEMBERED: Final = 64
_FAILURES: Final = 3
"""After so many captures that failed none is tried any more: for such a system cuDSS waits in between."""


class Graphs:
    """Graphs of solutions, by the addresses that they read and write, and how columns lie there.

    Parameters
    ----------
    order : Order
        The order of the calls of the solver.
    """

    __slots__ = ("_failures", "_seen", "_state", "_turn", "_used", "made", "order")

    def __init__(self, order: Order) -> None:
        self.order = order
        self._failures = self._turn = 0
        self._state: Any = None
        self._seen: set[Any] = set()
        self.made: dict[Any, int] = {}
        """What can be launched."""
        self._used: dict[Any, int] = {}  # when that was done last

    def find(self, state: Any, key: Any) -> int:
        """Return the graph for some addresses, ready to be launched, or 0; those of another state are dropped."""
        if state != self._state:
            self.clear()
            self._state = state
        self._turn += 1
        found = self.made.get(key, 0)
        if found:
            self._used[key] = self._turn
        return found

    def keep(self, state: Any, key: Any, work: Callable[[], object]) -> None:
        """Capture what has just been done for some addresses, when it is done for the second time."""
        if self._failures == _FAILURES or self.find(state, key):
            return
        if key in self._seen:
            if _are_alone() and self._has_room():
                self._capture(key, work)
        else:
            if len(self._seen) == _REMEMBERED:
                self._seen.clear()
            self._seen.add(key)

    def _has_room(self) -> bool:
        if len(self.made) < _MOST:
            return True
        oldest = min(self._used, key=self._used.__getitem__)
        if self._turn - self._used[oldest] <= _IDLE:  # they take turns
            return False
        self._drop(oldest)
        return True

    def _capture(self, key: Any, work: Callable[[], object]) -> None:
        graph = 0
        self.order.mark()
        try:
            driver.stream_begin_capture(self.order.stream, _THREAD_LOCAL)
            try:
                work()
            finally:
                graph = driver.stream_end_capture(self.order.stream)
            self.made[key] = driver.graph_instantiate_with_flags(graph, 0)
            self._used[key], self._failures = self._turn, 0
        except (driver.CudaError, cudss.cuDSSError):
            self._failures += 1
        finally:
            if graph:
                driver.graph_destroy(graph)

    def clear(self) -> None:
        """Drop all graphs, behind the last call."""
        for key in list(self.made):
            self._drop(key)
        self._seen.clear()

    def _drop(self, key: Any) -> None:
        del self._used[key]
        self.order.discard(driver.graph_exec_destroy, self.made.pop(key))


def _are_alone() -> bool:
    """Whether this is the only Python thread, but for those that do work of ours."""
    current = threading.current_thread()
    return all(thread is current or thread.name.startswith(_OURS) for thread in threading.enumerate())


class Repeatable:
    """A solution for one right-hand side, which may be done again by a graph.

    Parameters
    ----------
    plan : CudssPlan
        The plan of the system.
    factors : CudssFactors
        Its factors.
    run : callable
        Solves for addresses of the operands, the result and the stream, and judges as :class:`CudssPlan` does.
    queue : callable
        Queues no more than that, for addresses of the operands and of the result.
    slots : int
        How many of the addresses are read.
    columns : tuple of int
        Number of columns, and their leading dimensions in b and in x.
    """

    __slots__ = ("_columns", "_factors", "_graphs", "_plan", "_queue", "_run", "_slots")

    def __init__(
        self, plan: Any, factors: CudssFactors, run: Callable[[Pointers, int, int], Answer], queue: Callable[[Pointers, int], None],
        slots: int, columns: tuple[int, int, int],
    ) -> None:  # fmt: skip
        self._plan, self._factors, self._run, self._queue = plan, factors, run, queue
        self._slots, self._columns = slots, columns
        self._graphs: Graphs = plan.graphs

    def __call__(self, ptrs: Pointers, x_ptr: int, stream: int) -> Answer:
        """Solve."""
        return self._run(ptrs, x_ptr, stream)

    def again(self, ptrs: Pointers, x_ptr: int, stream: int) -> Answer | None:
        """Solve by a graph on the stream of the caller; None where there is none, or the solution is not good enough."""
        if not self._graphs.made:
            return None
        executable = self._graphs.find(self._factors.state, self._key(ptrs, x_ptr))
        if not executable:
            return None
        with self._graphs.order.directly(stream):
            driver.graph_launch(executable, stream)
            return self._plan.judged_now(self._columns[0], stream)  # type: ignore[no-any-return]

    def keep(self, ptrs: Pointers, x_ptr: int, answer: Answer) -> None:
        """Note a solution, on the stream of the solver."""
        state = self._factors.state
        if state is not None and (answer[0] is None or not answer[0].refused):
            self._graphs.keep(state, self._key(ptrs, x_ptr), lambda: self._queue(ptrs, x_ptr))

    def _key(self, ptrs: Pointers, x_ptr: int) -> Any:
        return (*ptrs[: self._slots], x_ptr, *self._columns)
