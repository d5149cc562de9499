"""Operands in one place, execution in another: what travels when, through which memory, and that it is waited for."""

from contextlib import nullcontext

import numpy as np
import pytest

from nvmath._core import staging
from nvmath.fft import FFT, InvalidFFTState, fft

EVENT = "cuEventSynchronize"
COPIES = ("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2")
UP, DOWN = COPIES
TAKE, GIVE = "cuMemAllocFromPoolAsync", "cuMemFreeAsync"
LARGE = staging.DIRECT // 8  # elements of complex64 that take twice what is copied without staging


def host(*shape):
    return np.zeros(shape or (8,), np.complex64)


@pytest.fixture
def operand():
    return host()


@pytest.fixture
def transform(gpu, operand):
    with FFT(operand, execution="cuda") as made:
        yield made


# --- what travels when ------------------------------------------------------------------------------------------------


def test_construction_uploads_the_operand_and_waits(gpu, operand):
    stream = gpu.stream()
    with FFT(operand, execution="cuda", stream=stream):
        assert gpu.names(TAKE, "cuStreamSynchronize", *COPIES) == [TAKE, UP, "cuStreamSynchronize"]
        assert set(gpu.streams_of(TAKE, "cuStreamSynchronize", *COPIES)) == {stream}
        (upload,) = gpu.trace.calls(UP)
        assert upload.args[1:3] == (operand.ctypes.data, operand.nbytes)


def test_planning_moves_nothing(gpu, transform):
    gpu.forget()
    transform.plan()
    assert gpu.names(TAKE, *COPIES) == []


def test_an_execution_downloads_the_result_and_waits(gpu, transform):
    transform.plan()
    stream = gpu.stream()
    gpu.forget()
    result = transform.execute(stream=stream)
    assert isinstance(result, np.ndarray)
    steps = ("cufftXtExec", "cuStreamSynchronize", *COPIES)
    assert gpu.names(*steps) == ["cufftXtExec", DOWN, "cuStreamSynchronize"]
    assert set(gpu.streams_of(*steps)) == {stream}
    (download,) = gpu.trace.calls(DOWN)
    assert download.args[0] == result.ctypes.data


def test_an_execution_reads_the_mirror_and_not_the_operand(gpu, transform):
    transform.plan()
    (upload,) = gpu.trace.calls(UP)
    transform.execute()
    (execution,) = gpu.trace.calls("cufftXtExec")
    assert execution.args[1] == upload.args[0]


def test_a_reset_uploads_into_the_same_mirror(gpu, transform):
    transform.plan()
    gpu.forget()
    stream = gpu.stream()
    transform.reset_operand(host(), stream=stream)
    assert gpu.names(TAKE, GIVE) == []
    assert gpu.streams_of(UP, "cuStreamSynchronize") == [stream, stream]


def test_the_same_array_is_uploaded_again_by_a_reset(gpu, transform, operand):
    transform.plan()
    transform.reset_operand(operand)
    transform.reset_operand_unchecked(operand)
    assert gpu.count(UP) == 3


def test_release_gives_the_mirror_back_and_a_reset_takes_a_new_one(gpu, transform):
    transform.plan()
    assert len(gpu.cuda.live()) == 1
    transform.release_operand()
    with pytest.raises(RuntimeError, match="released"):
        transform.execute()
    transform.reset_operand(host())  # gives back what was queued
    assert len(gpu.cuda.live()) == 1
    assert gpu.count(TAKE) == 2
    transform.execute()


def test_free_gives_everything_back(gpu, operand):
    transform = FFT(operand, execution="cuda")
    transform.plan()
    transform.execute()
    transform.free()
    assert gpu.cuda.live() == gpu.cufft.live() == []
    with pytest.raises(InvalidFFTState):
        transform.execute()


def test_in_place_the_operand_gets_the_result_and_is_returned(gpu, operand):
    with FFT(operand, execution="cuda", options={"inplace": True}) as transform:
        transform.plan()
        assert transform.execute() is operand
        (upload,), (execution,) = gpu.trace.calls(UP), gpu.trace.calls("cufftXtExec")
        assert execution.args[1] == execution.args[2] == upload.args[0]
        assert gpu.count(TAKE) == 2  # mirror and workspace, no buffer for a result


def test_a_one_call_function_leaves_nothing_behind(gpu, operand):
    for _ in range(2):
        gpu.forget()
        fft(operand, execution="cuda")
        assert gpu.names(*COPIES) == [UP, DOWN]
    assert gpu.count("cufftCreate") == 0  # the second time


def test_operands_of_a_gpu_travel_to_the_host_and_back(gpu):
    operand, stream = gpu.array((4, 8)), gpu.stream()
    with FFT(operand, axes=[1], execution="cpu", stream=stream) as transform:
        assert gpu.names(*COPIES) == [DOWN]
        transform.plan()
        result = transform.execute(stream=stream)
        assert gpu.names(*COPIES) == [DOWN, UP]
        assert set(gpu.streams_of("cuStreamSynchronize", *COPIES)) == {stream}
        assert (type(result), result.shape, result.device) == (type(operand), (4, 8), 0)
        assert gpu.trace.calls(UP)[0].args[0] == result.ptr


def test_operands_of_a_gpu_in_place_have_the_result_when_the_call_returns(gpu):
    operand = gpu.array((4, 8))
    with FFT(operand, axes=[1], execution="cpu", options={"inplace": True}) as transform:
        transform.plan()
        gpu.forget()
        assert transform.execute() is operand
        assert gpu.names("copy", "cuStreamSynchronize")[-2:] == ["copy", "cuStreamSynchronize"]


def test_travels_follow_the_current_stream_of_the_package(gpu):
    current = gpu.stream()
    with gpu.package.stream(current), FFT(gpu.array((4, 8)), axes=[1], execution="cpu") as transform:
        transform.plan()
        transform.execute()
    assert set(gpu.streams_of("cuStreamSynchronize", *COPIES)) == {current}


def test_memory_goes_back_on_a_stream_of_our_own_so_that_the_users_may_be_destroyed(gpu, operand):
    a, b, c = gpu.stream(), gpu.stream(), gpu.stream()
    transform = FFT(operand, execution="cuda", stream=a)
    transform.plan()
    gpu.cuda.destroy_stream(a)
    transform.execute(stream=b)
    gpu.cuda.destroy_stream(b)
    transform.execute(stream=c)
    fft(operand, execution="cuda", stream=c)
    gpu.cuda.destroy_stream(c)
    transform.free()
    assert gpu.cuda.live() == []
    assert set(gpu.streams_of(GIVE)) == gpu.cuda.own_streams


# --- how it travels ---------------------------------------------------------------------------------------------------


@pytest.fixture
def chunks(monkeypatch):
    """Many chunks for an operand of 2 MiB."""
    monkeypatch.setattr(staging, "_CHUNK", 1 << 18)
    return 8


def test_large_operands_travel_in_chunks_through_pinned_memory(gpu, chunks):
    operand = host(2 * LARGE)
    nbytes = operand.nbytes
    with FFT(operand, execution="cuda") as transform:
        transform.plan()
        result = transform.execute()
        ups, downs = gpu.trace.calls(UP), gpu.trace.calls(DOWN)
    for calls, device, slot in ((ups, 0, 1), (downs, 1, 0)):
        assert len(calls) == chunks
        begin = min(call.args[device] for call in calls)
        assert sorted(call.args[device] - begin for call in calls) == list(range(0, nbytes, nbytes // chunks))
        assert {call.args[slot] for call in calls} <= set(gpu.cuda.host_memory)
    assert result.nbytes == nbytes


def test_a_chunk_is_written_again_only_after_its_copy(gpu, chunks):
    with FFT(host(2 * LARGE), execution="cuda"):
        slots = [slot for pair in next(iter(staging._rings.values())).slots for slot in pair]
        of_ptr = {slot.ptr: slot.event for slot in slots}
        busy = set()
        for call in gpu.trace.calls(UP, "cuEventRecord", "cuEventSynchronize"):
            if call.name == UP:
                assert of_ptr[call.args[1]] not in busy
            elif call.name == "cuEventRecord":
                busy.add(call.args[0])
            else:
                busy.discard(call.args[0])
        assert busy


def test_a_chunk_is_read_only_after_its_copy(gpu, chunks):
    with FFT(host(2 * LARGE), execution="cuda") as transform:
        transform.plan()
        gpu.forget()
        transform.execute()
        slots = [slot for pair in next(iter(staging._rings.values())).slots for slot in pair]
        for slot in slots:
            steps = [
                call.name
                for call in gpu.trace.calls(DOWN, "cuEventRecord", "cuEventSynchronize")
                if call.args[0] == (slot.ptr if call.name == DOWN else slot.event)
            ]
            while steps[:1] == ["cuEventSynchronize"]:  # of the upload
                steps.pop(0)
            assert steps == [DOWN, "cuEventRecord", "cuEventSynchronize"] * (len(steps) // 3)


def test_a_download_waits_for_the_upload_of_another_thread(gpu, chunks, monkeypatch):
    """An upload lets go of the chunks before the device has read the last ones."""
    source, target, stream = host(2 * LARGE), host(2 * LARGE), gpu.stream()
    with FFT(source, execution="cuda") as transform:
        device = transform._ptrs[0]
        with monkeypatch.context() as patch:  # the other thread, just before it waits
            patch.setattr(staging, "_to_the_end", lambda stream: nullcontext())
            staging.upload(source.ctypes.data, device, source.nbytes, stream)
        uploaded = {slot.event for pair in next(iter(staging._rings.values())).slots for slot in pair if slot.busy}
        assert uploaded
        gpu.forget()
        staging.download(device, target.ctypes.data, target.nbytes, stream)
        slots = {slot.ptr: slot.event for pair in next(iter(staging._rings.values())).slots for slot in pair}
        waited = set()
        for call in gpu.trace.calls(DOWN, EVENT):
            if call.name == EVENT:
                waited.add(call.args[0])
            elif slots[call.args[0]] in uploaded:
                assert slots[call.args[0]] in waited


def test_work_of_a_thread_s_own_stream_is_not_given_to_other_threads(gpu, chunks, monkeypatch):
    source, stream = host(2 * LARGE), gpu.stream()
    monkeypatch.setattr(staging, "_PER_THREAD", stream)
    with FFT(source, execution="cuda", stream=stream) as transform:
        transform.plan()
        transform.execute(stream=stream)
        assert (gpu.count(UP), gpu.count(DOWN)) == (1, 1)


def test_pinned_memory_may_be_given_back_at_any_moment(gpu):
    """A finalizer can run while its thread is inside of the pool."""
    blocks = [staging.pinned_block(100) for _ in range(2)]
    with staging._pinned.lock:
        blocks.pop()
    addresses = {staging.pinned_block(100).ptr for _ in range(2)}
    assert len(addresses) == 2 or blocks
    blocks.clear()
    assert gpu.count("cuMemHostAlloc") <= 3


def test_the_chunks_are_made_once(gpu, chunks):
    for _ in range(2):
        fft(host(2 * LARGE), execution="cuda")
    assert gpu.count("cuMemHostAlloc") == 2 * next(iter(staging._rings.values())).workers


def pinned(nbytes):
    return np.asarray(staging.pinned_block(nbytes))[:nbytes].view(np.complex64)


def test_pinned_operands_travel_directly_and_give_pinned_results(gpu):
    operand = pinned(16 * LARGE)
    operand[...] = 0
    result = fft(operand, execution="cuda")
    assert gpu.names(*COPIES) == [UP, DOWN]
    assert staging.is_pinned(result.ctypes.data)
    kept = gpu.count("cuMemHostAlloc")
    del result
    again = fft(operand, execution="cuda")
    assert gpu.count("cuMemHostAlloc") == kept  # the block came back and was used again
    assert staging.is_pinned(again.ctypes.data)


def test_pinned_memory_beyond_the_bound_is_given_back(gpu, monkeypatch):
    monkeypatch.setattr(staging._pinned, "max_nbytes", 0)
    block = staging.pinned_block(100)
    del block
    assert gpu.leaks() == []
    assert gpu.count("cuMemFreeHost") == 1


# --- what fails -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize(
    ("function", "at"), [(TAKE, 1), (TAKE, 2), ("cufftXtExec", 1), (DOWN, 1), ("cuStreamSynchronize", 1)]
)
def test_nothing_leaks_when_an_execution_fails(gpu, operand, function, at, inplace):
    if inplace and (function, at) == (TAKE, 2):
        at = 1  # no buffer for a result is taken
    with FFT(operand, execution="cuda", options={"inplace": inplace}) as transform:
        transform.plan()
        before = len(gpu.cuda.live())
        gpu.fail(function, at)
        with pytest.raises(Exception, match=r"CUFFT|CUDA"):
            transform.execute(release_workspace=True)
        transform.release_operand()
        transform.reset_operand(operand)
        assert len(gpu.cuda.live()) == before
        transform.execute()


@pytest.mark.parametrize(("function", "at"), [("cuLaunchKernel", 2), ("cufftXtExec", 1), (TAKE, 3)])
def test_an_execution_of_several_steps_that_fails_is_waited_for(gpu, function, at):
    with FFT(host(4, 9), axes=[1], options={"fft_type": "C2R"}, execution="cuda") as transform:
        transform.plan()
        stream = gpu.stream()
        gpu.fail(function, at)
        gpu.forget()
        with pytest.raises(Exception, match=r"CUFFT|CUDA"):
            transform.execute(stream=stream)
        assert gpu.streams_of("cuStreamSynchronize") == [stream]  # then nothing uses the buffers any more
        transform.execute()


@pytest.mark.parametrize("function", [TAKE, UP, "cuStreamSynchronize", "cuMemPoolCreate", "cuDevicePrimaryCtxRetain"])
def test_nothing_leaks_when_a_construction_fails(gpu, operand, function):
    gpu.fail(function)
    with pytest.raises(RuntimeError, match="CUDA_ERROR"):
        FFT(operand, execution="cuda")
    assert gpu.leaks() == []
    with FFT(operand, execution="cuda"):
        pass


@pytest.mark.parametrize(("function", "at"), [("cuMemHostAlloc", 2), ("cuEventCreate", 2)])
def test_nothing_leaks_when_the_chunks_cannot_be_made(gpu, chunks, function, at):
    operand = host(2 * LARGE)
    gpu.fail(function, at)
    with pytest.raises(RuntimeError, match="CUDA_ERROR"):
        fft(operand, execution="cuda")
    assert gpu.leaks() == []
    fft(operand, execution="cuda")


@pytest.mark.parametrize("function", COPIES)
def test_nothing_leaks_when_one_chunk_fails(gpu, chunks, function):
    operand = host(2 * LARGE)
    gpu.fail(function, 5)
    with pytest.raises(RuntimeError, match="CUDA_ERROR"):
        fft(operand, execution="cuda")
    assert gpu.leaks() == []
    fft(operand, execution="cuda")


@pytest.mark.parametrize("function", [UP, "cuStreamSynchronize"])
def test_after_a_failed_upload_nothing_is_computed_from_half_an_operand(gpu, transform, function):
    transform.plan()
    gpu.fail(function)
    with pytest.raises(RuntimeError, match="CUDA_ERROR"):
        transform.reset_operand(host())
    with pytest.raises(RuntimeError, match="released"):
        transform.execute()
    transform.reset_operand(host())
    transform.execute()


def test_a_reset_with_a_wrong_stream_changes_nothing(gpu, transform):
    transform.plan()
    gpu.forget()
    with pytest.raises(TypeError, match="stream must be"):
        transform.reset_operand(host(), stream="a")
    assert gpu.names(*COPIES) == []
    transform.execute()
