"""Calls while the user captures a CUDA graph: they become part of it, or are refused by name before they spoil it."""

import numpy as np
import pytest

import nvmath
from nvmath.fft import FFT, fft, ifft, irfft

FORBIDDEN = ("cuEventRecord", "cuStreamWaitEvent", "cuStreamSynchronize", "cuEventSynchronize", "cuEventQuery")


@pytest.fixture
def planned(gpu):
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        yield transform
        gpu.end_graphs()


@pytest.fixture
def stream(gpu):
    return gpu.stream()


def unharmed(graph, *names):
    """Whether the graph holds just these calls, and no rule of captures was broken."""
    return not graph.broken and [call.name for call in graph.calls] == list(names)


# --- stateful objects -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [[], ["captured"], ["other"], ["captured", "other"]], ids=" ".join)
def test_an_execution_becomes_part_of_the_graph(gpu, planned, stream, before):
    streams = {"captured": stream, "other": gpu.stream()}
    for name in before:  # the workspace was taken, and used last, on one of these
        planned.execute(stream=streams[name])
    gpu.forget()
    with gpu.capture(stream) as graph:
        result = planned.execute(stream=stream)
        assert gpu.names(*FORBIDDEN) == []
    assert unharmed(graph, "cufftXtExec")
    gpu.cuda.synchronize()
    graph.replay(stream)
    assert result.shape == (8,)


@pytest.mark.parametrize("before", [0, 1])
def test_an_execution_after_a_capture_waits_for_nothing_that_was_captured(gpu, planned, stream, before):
    for _ in range(before):
        planned.execute(stream=stream)
    with gpu.capture(stream) as graph:
        planned.execute(stream=stream)
        planned.execute(stream=stream)
    gpu.cuda.synchronize()
    for other in (gpu.stream(), stream, gpu.stream()):
        planned.execute(stream=other)  # an event that was recorded in a capture would be an error here
    assert unharmed(graph, "cufftXtExec", "cufftXtExec")


def test_the_workspace_of_a_graph_stays_until_free(gpu, planned, stream):
    with gpu.capture(stream) as graph:
        result = planned.execute(stream=stream, release_workspace=True)
    assert unharmed(graph, "cufftXtExec")
    assert len(gpu.cuda.live()) == 1
    planned.execute(release_workspace=True)
    assert len(gpu.cuda.live()) == 1
    graph.replay(stream)
    gpu.end_graphs()
    planned.free()
    assert result.shape == (8,)
    assert gpu.cuda.live() == []


def test_memory_that_a_graph_got_goes_back_in_the_order_of_its_own_uses(gpu, stream):
    a, b = gpu.stream(), gpu.stream()
    transform = FFT(gpu.array(8))
    transform.plan()
    transform.execute(stream=a)
    transform.execute(stream=b)
    with gpu.capture(stream) as graph:
        result = transform.execute(stream=stream)
    transform.execute(stream=b)  # takes other memory
    assert gpu.workspaces == 2
    gpu.cuda.synchronize()
    graph.replay(stream)
    gpu.end_graphs()
    transform.free()
    assert gpu.cuda.live() == []
    assert not gpu.cuda.events
    assert result.shape == (8,)


def test_steps_of_our_own_are_captured_too(gpu, stream):
    with FFT(gpu.array((4, 9)), axes=[1], options={"fft_type": "C2R"}) as transform:
        transform.plan()
        transform.execute(stream=stream)  # compiles
        with gpu.capture(stream) as graph:
            result = transform.execute(stream=stream)
        assert not graph.broken
        assert [call.name for call in graph.calls] == ["cuLaunchKernel", "cuLaunchKernel", "cufftXtExec"]
        graph.replay(stream)
        gpu.end_graphs()
    assert result.shape == (4, 16)


def test_an_untidy_operand_is_copied_inside_the_graph(gpu, stream):
    with FFT(gpu.array(8, offset=4)) as transform:
        transform.plan()
        with gpu.capture(stream) as graph:
            result = transform.execute(stream=stream)
        assert unharmed(graph, "copy", "cufftXtExec")
        graph.replay(stream)
        gpu.end_graphs()
    assert result.shape == (8,)


@pytest.mark.parametrize("blocking", [True, False])
def test_a_capture_of_the_current_stream_counts(gpu, stream, blocking):
    with FFT(gpu.array(8), options={"blocking": True}) as transform:
        transform.plan()
        current, capture = gpu.package.stream(stream), gpu.capture(stream, blocking=blocking)
        with current, capture as graph, pytest.raises(RuntimeError, match="blocking"):
            transform.execute()
        assert unharmed(graph)


def test_a_capture_of_another_stream_does_not_disturb(gpu, planned, stream):
    other = gpu.stream()
    with gpu.capture(other) as graph:
        planned.execute(stream=stream)
        planned.execute(stream=stream)
    assert unharmed(graph)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_blocking_execution_is_refused_by_name(gpu, stream):
    with FFT(gpu.array(8), options={"blocking": True}) as transform:
        transform.plan()
        with gpu.capture(stream) as graph, pytest.raises(RuntimeError, match=r"captured.*options\.blocking=True"):
            transform.execute(stream=stream)
        assert unharmed(graph)
        assert gpu.cuda.live() == []
        transform.execute(stream=stream)


@pytest.mark.parametrize("known", [False, True], ids=["new", "kept plan"])
@pytest.mark.parametrize("function", [fft, ifft])
def test_a_blocking_one_call_is_refused_by_name(gpu, stream, function, known):
    a = gpu.array(8)
    if known:
        function(a, options={"blocking": True})
    with gpu.capture(stream) as graph, pytest.raises(RuntimeError, match="captured"):
        function(a, options={"blocking": True}, stream=stream)
    assert unharmed(graph)


HOST = {
    "construction": lambda transform, a, stream: FFT(a, execution="cuda", stream=stream),
    "execution": lambda transform, a, stream: transform.execute(stream=stream),
    "reset": lambda transform, a, stream: transform.reset_operand(a, stream=stream),
    "unchecked reset": lambda transform, a, stream: transform.reset_operand_unchecked(a, stream=stream),
    "one call": lambda transform, a, stream: fft(a, execution="cuda", stream=stream),
    "one call with a kept plan": lambda transform, a, stream: irfft(a, execution="cuda", stream=stream),
}


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("what", HOST)
def test_host_operands_are_refused_by_name(gpu, stream, what, blocking):
    a = np.zeros(8, np.complex64)
    irfft(a, execution="cuda")
    with FFT(a, execution="cuda") as transform:
        transform.plan()
        refused = pytest.raises(RuntimeError, match=r"captured.*between host and GPU")
        with gpu.capture(stream, blocking=blocking) as graph, refused:
            HOST[what](transform, a, stream)
        assert unharmed(graph)
        transform.reset_operand(a)
        transform.execute(stream=stream)


def test_gpu_operands_on_the_cpu_are_refused_by_name(gpu, stream):
    with FFT(gpu.array(8), execution="cpu") as transform:
        transform.plan()
        with gpu.capture(stream) as graph, pytest.raises(RuntimeError, match=r"captured.*between host and GPU"):
            transform.execute(stream=stream)
        assert unharmed(graph)


def test_planning_is_refused_by_name(gpu, stream):
    with FFT(gpu.array(8)) as transform:
        with gpu.capture(stream) as graph, pytest.raises(RuntimeError, match=r"captured.*Plan before"):
            transform.plan(stream=stream)
        assert unharmed(graph)
        transform.plan(stream=stream)


def test_a_one_call_that_would_have_to_plan_is_refused_by_name(gpu, stream):
    a = gpu.array(8)
    with gpu.capture(stream) as graph, pytest.raises(RuntimeError, match=r"captured.*before the capture"):
        fft(a, stream=stream)
    assert unharmed(graph)
    fft(a, stream=stream)


# --- one-call functions -----------------------------------------------------------------------------------------------


@pytest.fixture
def operand(gpu):
    """An operand whose plan is kept."""
    a = gpu.array(8)
    fft(a)
    return a


def pinned():
    return nvmath.plan_cache.info().pinned


def test_a_captured_one_call_pins_its_plan(gpu, operand, stream):
    assert pinned() == 0
    with gpu.capture(stream) as graph:
        result = fft(operand, stream=stream)
    assert unharmed(graph, "cufftXtExec")
    assert pinned() == 1
    nvmath.plan_cache.clear()
    nvmath.plan_cache.configure(max_entries=0)
    nvmath.plan_cache.configure(max_entries=5, enabled=False)
    assert pinned() == 1
    gpu.cuda.synchronize()
    graph.replay(stream)
    assert len(gpu.cuda.live()) == 1
    assert result.shape == (8,)


def test_evictions_pass_a_pinned_plan_by(gpu, operand, stream):
    nvmath.plan_cache.configure(max_entries=2)
    with gpu.capture(stream) as graph:
        result = fft(operand, stream=stream)
    for n in range(9, 15):
        fft(gpu.array(n))
    assert pinned() == 1
    assert len(gpu.cufft.live()) == 3
    gpu.cuda.synchronize()
    graph.replay(stream)
    assert result.shape == (8,)


def into(a, **keywords):
    return fft(a, out=a, **keywords)


def in_place(a, **keywords):
    return fft(a, options={"inplace": True}, **keywords)


@pytest.mark.parametrize("call", [fft, into, in_place])
def test_later_calls_leave_the_workspace_of_a_graph_alone(gpu, operand, stream, call):
    call(operand)
    with gpu.capture(stream) as graph:
        result = call(operand, stream=stream)
    other = gpu.stream()
    gpu.cuda.synchronize()
    for _ in range(2):
        graph.replay(stream)
        call(operand, stream=other)
        graph.replay(stream)
    assert len(gpu.cuda.live()) == 1
    assert not graph.broken
    assert result.shape == (8,)


def test_calls_of_one_capture_and_stream_share_a_workspace(gpu, operand, stream):
    with gpu.capture(stream) as graph:
        results = [fft(operand, stream=stream) for _ in range(3)]
    assert len(gpu.cuda.live()) == 1
    with gpu.capture(stream) as another:
        results += [fft(operand, stream=stream) for _ in range(2)]
    assert len(gpu.cuda.live()) == 2
    assert pinned() == 1
    gpu.cuda.synchronize()
    graph.replay(stream)
    another.replay(gpu.stream())  # at the same time: they share nothing
    assert len(results) == 5


def test_calls_with_an_own_allocator_have_no_kept_plan_and_are_refused(gpu, stream):
    class Allocator:
        @staticmethod
        def memalloc(size):
            return gpu.package.buffer(size, stream)

    a, options = gpu.array(8), {"allocator": Allocator()}
    with gpu.capture(stream) as graph, pytest.raises(RuntimeError, match="before the capture"):
        fft(a, options=options, stream=stream)
    assert unharmed(graph)
    assert pinned() == 0


# --- what happens beside a capture ------------------------------------------------------------------------------------


def forget_a_plan(gpu):
    FFT(gpu.array(8)).plan()


def forget_a_workspace_of_two_streams(gpu):
    transform = FFT(gpu.array(8))
    transform.plan()
    transform.execute()
    transform.execute(stream=gpu.stream())


def forget_a_mirror(gpu):
    FFT(np.zeros(8, np.complex64), execution="cuda")


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("forget", [forget_a_plan, forget_a_workspace_of_two_streams, forget_a_mirror])
def test_what_was_forgotten_does_not_spoil_a_capture(gpu, planned, stream, forget, blocking):
    forget(gpu)
    with gpu.capture(stream, blocking=blocking) as graph:
        planned.execute(stream=stream)
        with FFT(gpu.array(8)):
            pass  # free destroys what was queued
    assert unharmed(graph, "cufftXtExec")
    gpu.cuda.synchronize()
    assert planned.execute() is not None


def test_a_workspace_released_while_its_stream_is_captured_goes_back_later(gpu, planned, stream):
    planned.execute(stream=stream)
    with gpu.capture(stream) as graph:
        planned.execute(stream=gpu.stream(), release_workspace=True)
        assert len(gpu.cuda.live()) == 1
    assert unharmed(graph)
    with FFT(gpu.array(8)) as other:
        other.plan()
    assert gpu.cuda.live() == []
