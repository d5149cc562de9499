"""Random lives of several objects over several streams, with failures, captures and forgotten objects.

No race, no leak, no broken capture. The user of these lives is a careful one as far as graphs go (they are replayed,
and objects in them freed, when nothing else is under way); between streams the library's memory is in order by itself.
"""

import os
import re

import numpy as np
from fake.machine import machine
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import nvmath
from nvmath.bindings._cuda import CudaError
from nvmath.bindings.cufft import cuFFTError
from nvmath.fft import FFT, fft, irfft

EFFORT = float(os.environ.get("NVMATH_TEST_EFFORT", "1"))
FAILURES = (CudaError, cuFFTError)
FUNCTIONS = (
    "cufftCreate", "cufftXtMakePlanMany", "cufftXtExec", "cufftSetWorkArea", "take", "take_buffer",
    "cuMemAllocFromPoolAsync", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuLaunchKernel", "cuEventCreate",
    "cuEventRecord", "cuStreamSynchronize",
)  # fmt: skip
KINDS = ("C2C", "C2R", "untidy", "host")
STREAMS = 3

kinds = st.sampled_from(KINDS)
streams = st.integers(0, STREAMS)
anyone = st.integers(0, 9)


class Lives(RuleBasedStateMachine):
    """Objects in any phase, on one GPU. Hypothesis must not hold them, so they are drawn by number."""

    def __init__(self):
        super().__init__()
        self.objects, self.graphs, self.results, self.failing = [], [], [], False

    @initialize(workspace_nbytes=st.sampled_from([0, 4096]))
    def begin(self, workspace_nbytes):
        self.context = machine(workspace_nbytes=workspace_nbytes)
        self.gpu = gpu = self.context.__enter__()
        self.handles = [0, *(gpu.stream() for _ in range(STREAMS))]
        self.operands = {
            "C2C": [gpu.array((4, 8)) for _ in range(2)],
            "C2R": [gpu.array((4, 9)) for _ in range(2)],
            "untidy": [gpu.array((4, 8), offset=4) for _ in range(2)],
            "host": [np.zeros((4, 8), np.complex64) for _ in range(2)],
        }

    def pick(self, number):
        """One of the objects, and its kind."""
        return self.objects[number % len(self.objects)]

    def attempt(self, call):
        """Let a call succeed, fail as ordered, or be refused since the object is not that far."""
        try:
            return call()
        except FAILURES:
            assert self.failing
        except RuntimeError as error:
            if not re.search("must be called|released", str(error)):
                raise
        finally:
            self.stop_failing()
        return None

    def stop_failing(self):
        self.failing = False
        self.gpu.trace.faults.clear()

    @rule(kind=kinds, blocking=st.booleans(), stream=streams)
    def construct(self, kind, blocking, stream):
        options = {"fft_type": "C2R" if kind == "C2R" else "C2C", "blocking": blocking or "auto"}
        operand, handle = self.operands[kind][0], self.handles[stream]
        made = self.attempt(lambda: FFT(operand, axes=[1], options=options, execution="cuda", stream=handle))
        if made is not None:
            self.objects.append((kind, made))

    @precondition(lambda self: self.objects)
    @rule(number=anyone)
    def plan(self, number):
        self.attempt(self.pick(number)[1].plan)

    @precondition(lambda self: self.objects)
    @rule(number=anyone, stream=streams, release=st.booleans(), fresh=st.booleans())
    def execute(self, number, stream, release, fresh):
        _, transform = self.pick(number)
        if fresh:
            self.attempt(transform.plan)
        self.attempt(lambda: transform.execute(stream=self.handles[stream], release_workspace=release))

    @precondition(lambda self: self.objects)
    @rule(number=anyone, which=st.integers(0, 1), stream=streams)
    def reset(self, number, which, stream):
        kind, transform = self.pick(number)
        self.attempt(lambda: transform.reset_operand(self.operands[kind][which], stream=self.handles[stream]))

    @precondition(lambda self: self.objects)
    @rule(number=anyone)
    def release_operand(self, number):
        self.pick(number)[1].release_operand()

    @precondition(lambda self: self.objects)
    @rule(number=anyone, explicitly=st.booleans())
    def end(self, number, explicitly):
        self.gpu.end_graphs()
        _, transform = self.objects.pop(number % len(self.objects))
        if explicitly:
            transform.free()

    @rule(kind=kinds, stream=streams, blocking=st.booleans())
    def one_call(self, kind, stream, blocking):
        function = irfft if kind == "C2R" else fft
        options = {"blocking": blocking or "auto"}
        operand, handle = self.operands[kind][0], self.handles[stream]
        self.attempt(lambda: function(operand, axes=[1], options=options, stream=handle, execution="cuda"))

    @precondition(lambda self: self.objects)
    @rule(number=anyone, stream=st.integers(1, STREAMS), blocking=st.booleans(), times=st.integers(1, 2))
    def capture(self, number, stream, blocking, times):
        _, transform = self.pick(number)
        self.stop_failing()
        if transform.blocking or not transform.fft_planned:
            return
        self.gpu.cuda.synchronize()
        handle = self.handles[stream]
        with self.gpu.capture(handle, blocking=blocking) as graph:
            self.results += [self.attempt(lambda: transform.execute(stream=handle)) for _ in range(times)]
        assert not graph.broken
        self.graphs.append(graph)

    @rule(kind=st.sampled_from(["C2C", "C2R", "untidy"]), stream=st.integers(1, STREAMS), times=st.integers(1, 2))
    def capture_one_call(self, kind, stream, times):
        function = irfft if kind == "C2R" else fft
        operand, handle = self.operands[kind][0], self.handles[stream]
        self.stop_failing()
        function(operand, axes=[1])  # makes the plan that is kept
        self.gpu.cuda.synchronize()
        with self.gpu.capture(handle) as graph:
            self.results += [function(operand, axes=[1], stream=handle) for _ in range(times)]
        assert not graph.broken
        self.graphs.append(graph)

    @rule(stream=streams)
    def replay(self, stream):
        self.gpu.cuda.synchronize()  # the objects in the graphs may have been used elsewhere
        for graph in self.graphs:
            if graph.alive:
                graph.replay(self.handles[stream])
                self.gpu.cuda.synchronize()

    @rule(number=st.integers(1, STREAMS))
    def destroy_a_stream(self, number):
        self.gpu.cuda.synchronize()
        self.gpu.cuda.destroy_stream(self.handles[number])
        self.handles[number] = self.gpu.stream(handle=self.handles[number])

    @rule(function=st.sampled_from(FUNCTIONS), at=st.integers(1, 3))
    def let_something_fail(self, function, at):
        self.stop_failing()
        self.gpu.fail(function, at)
        self.failing = True

    @rule()
    def clear_the_plan_cache(self):
        nvmath.plan_cache.clear()

    @invariant()
    def nothing_is_wrong(self):
        if hasattr(self, "gpu"):
            assert self.gpu.trace.hazards == []

    def teardown(self):
        if hasattr(self, "gpu"):
            self.stop_failing()
            self.gpu.end_graphs()
            self.objects.clear()
            self.results.clear()
            self.context.__exit__(None, None, None)


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=round(60 * EFFORT), stateful_step_count=25, deadline=None)
