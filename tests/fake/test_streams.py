"""Work is queued on the stream of the call: the one given, or the one that is current in the operand's package then."""

import pytest

from nvmath.fft import FFT, fft, irfft

QUEUES = ("take", "take_buffer", "cufftXtExec", "cuLaunchKernel", "cuMemsetD8Async", "cuEventRecord")
C2R = {"fft_type": "C2R"}


@pytest.fixture
def spectrum(gpu):
    """An operand whose transform takes kernels, scratch memory and a library call."""
    return gpu.array((4, 9))


@pytest.fixture
def planned(gpu, spectrum):
    with FFT(spectrum, axes=[1], options=C2R) as transform:
        transform.plan()
        gpu.forget()
        yield transform


def test_all_work_of_a_call_goes_to_the_stream_given(gpu, planned):
    stream = gpu.stream()
    planned.execute(stream=stream)
    assert set(gpu.names(*QUEUES)) >= {"take", "take_buffer", "cufftXtExec", "cuLaunchKernel"}
    assert set(gpu.streams_of(*QUEUES)) == {stream}


def test_all_work_of_a_call_goes_to_the_current_stream_of_the_package(gpu, planned):
    stream = gpu.stream()
    with gpu.package.stream(stream):
        planned.execute()
    assert set(gpu.streams_of(*QUEUES)) == {stream}


def test_the_stream_given_goes_before_the_current_one(gpu, planned):
    given, current = gpu.stream(), gpu.stream()
    with gpu.package.stream(current):
        planned.execute(stream=given)
    assert set(gpu.streams_of(*QUEUES)) == {given}


def test_the_current_stream_is_looked_up_at_each_call(gpu, spectrum):
    first, second, third = gpu.stream(), gpu.stream(), gpu.stream()
    with gpu.package.stream(first):
        transform = FFT(spectrum, axes=[1], options=C2R)
        transform.plan()
    with gpu.package.stream(second):
        transform.execute()
    with gpu.package.stream(third):
        transform.execute()
    transform.execute()
    assert gpu.streams_of("cufftXtExec") == [second, third, 0]
    transform.free()


def test_the_stream_of_plan_is_not_the_stream_of_execute(gpu, spectrum):
    with FFT(spectrum, axes=[1], options=C2R) as transform:
        transform.plan(stream=gpu.stream())
        transform.execute()
    assert gpu.streams_of("cufftXtExec") == [0]


@pytest.mark.parametrize("function", [fft, irfft])
def test_one_call_functions_follow_the_stream_too(gpu, spectrum, function):
    current, given = gpu.stream(), gpu.stream()
    for _ in range(2):  # without and with a kept plan
        gpu.forget()
        function(spectrum, axes=[1], stream=given)
        assert set(gpu.streams_of(*QUEUES)) == {given}
        gpu.forget()
        with gpu.package.stream(current):
            function(spectrum, axes=[1])
        assert set(gpu.streams_of(*QUEUES)) == {current}


class _Stream:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class _Protocol:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


@pytest.mark.parametrize(
    "wrap",
    [int, _Protocol, lambda handle: _Stream(ptr=handle), lambda handle: _Stream(cuda_stream=handle, device_index=0)],
    ids=["int", "__cuda_stream__", "ptr", "cuda_stream"],
)
def test_any_stream_object_will_do(gpu, planned, wrap):
    stream = gpu.stream()
    planned.execute(stream=wrap(stream))
    assert gpu.streams_of("cufftXtExec") == [stream]


@pytest.mark.parametrize("stream", ["0", 1.5, True, object()], ids=lambda stream: type(stream).__name__)
def test_what_is_no_stream_is_refused_before_anything_happens(gpu, planned, stream):
    with pytest.raises(TypeError, match=f"stream must be .* got {type(stream).__name__}"):
        planned.execute(stream=stream)
    assert gpu.names(*QUEUES) == []
    planned.execute()


def test_the_library_hears_of_a_stream_only_when_it_changes(gpu):
    a, b = gpu.stream(), gpu.stream()
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        for stream in (a, a, b, b, a):
            transform.execute(stream=stream)
    assert [call.args[1] for call in gpu.trace.calls("cufftSetStream")] == [a, b, a]


@pytest.mark.parametrize("failing", [None, "take", "cufftXtExec"])
def test_the_current_stream_of_the_caller_comes_back(gpu, failing):
    current = gpu.stream()
    with FFT(gpu.array(8)) as transform, gpu.package.stream(current):
        transform.plan()
        if failing:
            gpu.fail(failing, error=RuntimeError("as ordered"))
            with pytest.raises(RuntimeError, match="as ordered"):
                transform.execute(stream=gpu.stream())
        else:
            transform.execute(stream=gpu.stream())
        assert gpu.package.current_stream(0) == current


def test_a_one_gpu_machine_is_never_asked_for_its_current_device(gpu, planned):
    planned.execute()
    planned.execute(stream=gpu.stream())
    assert gpu.names("cuCtxGetCurrent", "cuCtxSetCurrent") == []


def test_an_operand_that_must_be_copied_is_copied_on_the_stream_of_the_call(gpu):
    operand = gpu.array(8, offset=4)  # not aligned to its items
    stream = gpu.stream()
    with FFT(operand) as transform:
        transform.plan()
        gpu.forget()
        transform.execute(stream=stream)
        assert gpu.count("copy") == 1
        assert set(gpu.streams_of("copy", *QUEUES)) == {stream}


def test_a_result_for_out_of_another_layout_is_copied_on_the_stream_of_the_call(gpu):
    stream = gpu.stream()
    out = gpu.array((4, 8), strides=(1, 4))
    with FFT(gpu.array((4, 8)), axes=[1]) as transform:
        transform.plan()
        gpu.forget()
        assert transform.execute(stream=stream, out=out) is out
        assert gpu.names("cufftXtExec", "copy") == ["cufftXtExec", "copy"]
        assert set(gpu.streams_of("copy", *QUEUES)) == {stream}
