"""Calls of a sparse solver on several streams, without waiting: cuDSS orders nothing, and memory may be in use when it is dropped."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from fake.cudss import FakeCudss, gpu
from fake.driver import CudaError
from fake.machine import Machine

from nvmath._core import place
from nvmath._core.arrays import adapter_of
from nvmath.bindings import cudss
from nvmath.sparse.advanced import DirectSolverOptions
from nvmath.sparse.advanced._config import CudssConfig
from nvmath.sparse.advanced._cuda_matrix import DeviceMatrix
from nvmath.sparse.advanced._libraries import make_plan
from nvmath.sparse.advanced._operands import take_all
from nvmath.sparse.advanced._problem import specify


class Systems:
    """What DirectSolver does with operands in GPU memory and blocking="auto"; patterns are read from host memory."""

    def __init__(self, made: Machine, form: str = "csr", batch: int = 1, handle: int | None = None) -> None:
        self.made, self.options = made, DirectSolverOptions(handle=handle)
        a = sp.csr_array(4.0 * np.eye(3) + np.eye(3, k=1)).asformat(form)
        self.stored, _ = take_all([a] * batch)
        self.batch = batch
        # Made before any call: to make an array here waits for the GPU.
        self.problems = {columns: self.specify(columns) for columns in (5, 3, 2, 1)}
        self.results = {columns: made.array(one.result.shape, "float64") for columns, one in self.problems.items()}
        self.config = CudssConfig(False)
        needed = SimpleNamespace(
            _problem=self.problems[1], options=self.options, _place=place.cuda(0), _adapter=made.package, _config=self.config,
            _asked=None, blocking=False,
        )  # fmt: skip
        self.plan = make_plan(needed)

    def specify(self, columns: int) -> Any:
        """Right-hand sides with so many columns."""
        sides = [np.ones((3, columns), order="F") for _ in range(self.batch)]
        self.host = [*(array for one in self.stored for array in one.arrays), *sides]
        views = tuple(adapter_of(array).view(array) for array in self.host)
        self.device = [self.made.array(view.shape, view.dtype.name, view.strides) for view in views]
        return specify([one.meta for one in self.stored], (True, True), views, (False,) * len(views), self.options)

    @property
    def ptrs(self) -> tuple[int, ...]:
        return tuple(array.ptr for array in self.device)

    @property
    def addresses(self) -> tuple[int, ...]:
        return tuple(array.ctypes.data for array in self.host)

    def phase(self, name: str, stream: int) -> None:
        getattr(self.plan, name)(self.ptrs, stream, self.addresses)

    def ready(self, stream: int) -> Systems:
        self.phase("analyse", stream)
        self.phase("factorize", stream)
        return self

    def solve(self, stream: int, trans: str = "N", columns: int = 1) -> None:
        self.plan.launch(self.problems[columns], trans, {})(*self.ptrs, self.results[columns].ptr, stream)

    def close(self) -> None:
        self.plan.close()
        self.plan = None
        self.config.close()


@contextmanager
def systems(**keywords: Any) -> Iterator[tuple[Machine, FakeCudss, Systems, int, int]]:
    """Systems on a machine with two streams."""
    analyse = DeviceMatrix.analyse
    with gpu() as (made, seen), pytest.MonkeyPatch.context() as patch:
        one, other = made.stream(), made.stream()
        solver = Systems(made, **keywords)
        host = solver.addresses  # for the transpose as well
        patch.setattr(DeviceMatrix, "analyse", lambda matrix, ptrs, stream, _: analyse(matrix, ptrs, stream, host))
        yield made, seen, solver, one, other
        solver.close()
        place.reap()
        assert made.trace.hazards == []


@pytest.mark.parametrize("form", ["csr", "coo"])  # as they are, and put in order
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("trans", ["N", "T"])
def test_a_call_waits_for_the_one_before_on_another_stream(form: str, batch: int, trans: str) -> None:
    with systems(form=form, batch=batch) as (made, _, solver, one, other):
        solver.ready(one)
        for stream in (one, other, other, one):
            solver.solve(stream, trans)
            assert made.trace.hazards == []
        solver.phase("factorize", other)
        solver.solve(one, trans)
        solver.phase("analyse", other)


def test_one_event_orders_all_systems_of_a_batch() -> None:
    with systems(batch=3) as (made, _, solver, one, other):
        solver.ready(one)
        made.forget()
        solver.solve(one)
        solver.solve(other)
        own = solver.plan._order.stream
        assert made.streams_of("cuEventRecord") == [one, own, other, own]
        assert made.streams_of("cuStreamWaitEvent") == [own, one, own, other]


@pytest.mark.parametrize("name", ["cudssMatrixCreateDn", "cuLaunchKernel"])
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("trans", ["N", "T"])
def test_a_solution_that_failed_leaves_nothing_that_the_next_one_reads(name: str, at: int, trans: str) -> None:
    with systems() as (made, seen, solver, one, _other):
        pointed: dict[int, int] = {}

        def create(rows: int, columns: int, ld: int, ptr: int, *rest: int) -> int:
            number = seen._make("cudssMatrixCreateDn")
            pointed[number] = ptr
            return number

        seen.cudssMatrixCreateDn, seen.cudssMatrixSetValues = create, pointed.__setitem__
        solver.ready(one)
        error = cudss.cuDSSError(5) if "dss" in name else CudaError(2)
        made.fail(name, at, error)
        other = solver.results[3].ptr
        with suppress(CudaError, cudss.cuDSSError):
            solver.plan.launch(solver.problems[5], trans, {})(*solver.ptrs, other, one)
        error.__traceback__ = None  # it keeps the plan
        made.trace.faults.clear()
        made.forget()
        solver.solve(one, trans, 5)
        x, b = made.trace.calls("cudssExecute")[-1].args[5:]
        assert (pointed[x], pointed[b]) == (solver.results[5].ptr, solver.ptrs[3])
        assert solver.plan.residual({}) == 0


# --- on the default stream, and by graphs ---------------------------------------------------------------------------------------

DEFAULT = 0


def test_a_solution_that_comes_back_is_one_graph_on_the_stream_of_the_caller() -> None:
    with systems() as (made, _, solver, one, _other):
        solver.ready(DEFAULT)
        for _ in range(3):
            solver.solve(DEFAULT)
        made.forget()
        solver.solve(DEFAULT)
        assert [call.name for call in made.trace] == ["cuStreamIsCapturing", "cuGraphLaunch", "cuEventRecord"]
        assert made.streams_of("cuGraphLaunch", "cuEventRecord") == [DEFAULT] * 2
        made.forget()
        solver.solve(one)
        assert [call.name for call in made.trace][1:] == ["cuStreamWaitEvent", "cuGraphLaunch", "cuEventRecord"]
        assert made.streams_of("cuStreamWaitEvent", "cuGraphLaunch", "cuEventRecord") == [one] * 3


@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("order", ["00112200", "01020102", "11112222", "12012012", "0010020011"])
@pytest.mark.parametrize("columns", [(1,), (1, 5), (1, 1, 1, 1, 5, 1, 1)])
def test_graphs_and_other_calls_are_in_order(form: str, order: str, columns: tuple[int, ...]) -> None:
    with systems(form=form) as (made, _, solver, one, other):
        solver.ready(one)
        for turn, stream in enumerate(order * 2):
            solver.solve((DEFAULT, one, other)[int(stream)], columns=columns[turn % len(columns)])
            assert made.trace.hazards == []
        if len(columns) == 1:
            assert made.count("cuGraphLaunch") == 2 * len(order) - 2
        solver.phase("factorize", other)
        for stream in (one, DEFAULT, other, one):
            solver.solve(stream)
        solver.phase("analyse", DEFAULT)


def test_a_stream_with_the_handle_of_one_that_is_gone_is_another_one() -> None:
    with systems() as (made, _, solver, one, other):
        solver.ready(one)
        for _ in range(4):
            solver.solve(other)
        made.cuda.destroy_stream(other)  # its work goes on
        made.cuda.make_stream(0, other)
        for _ in range(2):
            solver.solve(other)
            assert made.trace.hazards == []


def test_what_another_thread_reaps_during_a_capture_does_not_end_it(caplog: pytest.LogCaptureFixture) -> None:
    """Graphs of the factors before are garbage then, and must not wait for the stream that is captured."""
    with systems() as (made, _, solver, one, _other):
        solver.ready(one)
        for _ in range(4):
            solver.solve(one)
        solver.phase("factorize", one)
        solver.solve(one)
        assert place._garbage
        made.trace.meanwhile["cuStreamEndCapture"] = place.reap
        made.forget()
        for _ in range(4):
            solver.solve(one)
        assert made.count("cuGraphLaunch") == 3
        assert caplog.text == ""


@pytest.mark.parametrize("last", [0, 1])
def test_graphs_are_destroyed_behind_the_last_call(last: int) -> None:
    with systems() as (made, _, solver, one, other):
        solver.ready(one)
        for _ in range(4):
            solver.solve((DEFAULT, other)[last])
        solver.phase("factorize", one)
        solver.solve(one)
        for _ in range(4):
            solver.solve(other)
        solver.plan.close()
        place.reap()
        assert made.trace.hazards == []
        assert not made.cuda.own_graphs


@pytest.mark.parametrize("name", ["cudssExecute", "cuLaunchKernel", "cuGraphInstantiateWithFlags"])
def test_a_capture_that_fails_once_leaves_nothing_and_is_tried_again(name: str) -> None:
    with systems() as (made, _, solver, one, _other):
        solver.ready(one)
        solver.solve(one)
        made.fail(name, 1 if "Graph" in name else 2, cudss.cuDSSError(5) if "dss" in name else CudaError(901))
        for _ in range(4):
            solver.solve(one)
        assert made.count("cuStreamBeginCapture_v2") == 2
        assert made.count("cuGraphLaunch") == 2
        assert len(made.cuda.own_graphs) == 1


def test_a_graph_that_cannot_be_launched_is_an_error_and_nothing_is_lost() -> None:
    with systems() as (made, _, solver, one, other):
        solver.ready(one)
        for _ in range(3):
            solver.solve(one)
        made.fail("cuGraphLaunch", 1, CudaError(2))
        with pytest.raises(CudaError):
            solver.solve(other)
        solver.solve(one)


@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("columns", [1, 5])
def test_other_streams_wait_for_the_default_stream_and_it_for_them(
    form: str, batch: int, trans: str, columns: int
) -> None:
    with systems(form=form, batch=batch) as (made, _, solver, one, other):
        solver.ready(DEFAULT)
        for stream in (one, DEFAULT, other, one, DEFAULT, DEFAULT, other):
            solver.solve(stream, trans)
            solver.solve(stream, trans, columns)
            assert made.trace.hazards == []
        solver.phase("factorize", other)
        solver.solve(one, trans)
        solver.phase("analyse", other)
        made.forget()
        solver.phase("factorize", one)
        own = solver.plan._order.stream
        assert made.streams_of("cuStreamWaitEvent") == [own, one]


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("blocking", [False, True])
def test_memory_goes_during_a_capture(last: int, blocking: bool) -> None:
    """To wait for the default stream would end the capture of a stream that is blocking towards it."""
    with systems(form="coo") as (made, _, solver, one, other):
        solver.ready(DEFAULT)
        solver.solve((DEFAULT, one)[last])
        solver.plan.close()
        with made.capture(other, blocking=blocking) as graph:
            place.reap()
            assert graph.broken == ""


@pytest.mark.parametrize("times", [1, 4])  # without a graph of its own, and with one
def test_what_would_end_a_capture_is_refused(times: int) -> None:
    with systems() as (made, seen, solver, one, other):
        solver.ready(DEFAULT)
        for _ in range(times):
            solver.solve(DEFAULT)
        queued = len(seen.phases)
        with made.capture(other, blocking=True) as graph:
            for call in (lambda: solver.solve(DEFAULT), lambda: solver.phase("factorize", DEFAULT)):
                with pytest.raises(RuntimeError, match=r"CUDA graph.*default stream would wait for.*non-blocking"):
                    call()
            assert graph.broken == ""
            assert len(seen.phases) == queued
            solver.solve(one)
            assert graph.broken == ""
        with made.capture(one), pytest.raises(RuntimeError, match="CUDA graph is being captured on the stream"):
            solver.solve(one)
        solver.solve(one)


@pytest.mark.parametrize("how", ["close", "plan", "collected"])
@pytest.mark.parametrize("trans", ["N", "T"])
def test_memory_and_factors_go_behind_the_last_call(how: str, trans: str) -> None:
    with systems(form="coo") as (made, seen, solver, one, other):
        solver.ready(one)
        solver.solve(one, trans)
        solver.solve(other, trans)
        if how == "plan":
            solver.phase("analyse", one)
            place.reap()
        elif how == "close":
            solver.plan.close()
            place.reap()
            assert seen.streams  # the handle is kept
        else:
            solver.plan = SimpleNamespace(close=lambda: None)
            gc.collect()
            place.reap()
        assert made.trace.hazards == []


@pytest.mark.parametrize("streams", [(0, 1, 0), (0, 1, 1), (1, 1, 0)])
def test_more_columns_take_more_memory_behind_the_last_call(streams: tuple[int, ...]) -> None:
    with systems() as (made, _, solver, *two):
        solver.ready(two[0])
        for columns, stream in zip((2, 2, 5), streams, strict=True):
            solver.solve(two[stream], columns=columns)
        assert made.trace.hazards == []


def test_fewer_columns_use_the_same_memory() -> None:
    with systems() as (made, _, solver, one, _other):
        solver.ready(one)
        solver.solve(one, columns=5)
        taken = made.count("take_buffer")
        for columns in (3, 5, 1):
            solver.solve(one, columns=columns)
        assert made.count("take_buffer") == taken


def test_the_stream_of_the_last_call_may_be_destroyed() -> None:
    with systems() as (made, seen, solver, one, other):
        solver.ready(one)
        solver.solve(other)
        made.cuda.destroy_stream(other)  # its work goes on
        assert solver.plan.residual({}) == 0
        assert solver.plan.info("lu_nnz", solver.ptrs) == 0
        assert list(seen.streams.values()) == [solver.plan._order.stream]


def test_the_handle_of_the_caller_is_set_to_the_stream_of_every_phase() -> None:
    with systems(handle=99) as (_, seen, solver, one, other):
        solver.ready(one)
        seen.streams[99] = other  # by the caller
        solver.solve(one)
        seen.streams[99] = other
        solver.phase("factorize", one)
        assert {call.stream for call in seen.trace.calls("cudssExecute")} == {solver.plan._order.stream}


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("name", ["cuEventRecord", "cuStreamWaitEvent"])
def test_what_cannot_be_ordered_is_refused_before_the_call_and_waited_for_after_it(name: str, at: int) -> None:
    with systems() as (made, seen, solver, one, other):
        solver.ready(one)
        queued = len(seen.phases)
        made.fail(name, at, CudaError(2))
        with pytest.raises(CudaError) if at == 1 else nullcontext():
            solver.solve(one)
        assert len(seen.phases) == queued + at - 1
        solver.solve(other)
