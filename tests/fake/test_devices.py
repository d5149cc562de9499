"""Two GPUs: work is done on the one that the operand is on, and the caller's is current again afterwards."""

import numpy as np
import pytest

from nvmath.bindings.cufft import cuFFTError
from nvmath.fft import FFT, fft, irfft

WORK = (
    "take", "take_buffer", "cufftCreate", "cufftXtMakePlanMany", "cufftXtExec", "cuLaunchKernel", "copy",
    "cuEventCreate", "cuEventRecord",
)  # fmt: skip
COPIES = ("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemAllocFromPoolAsync", "cuMemFreeAsync")
CONTEXT = 0x1000


@pytest.fixture(params=[0, 1], ids=["GPU 0 current", "GPU 1 current"])
def current(request, gpus):
    """The device that is current for the caller."""
    gpus.cuda.thread.context = CONTEXT + request.param
    return request.param


@pytest.fixture
def restored(gpus, current):
    yield
    assert gpus.cuda.current_device() == current


def devices_of(gpus):
    return {call.device for call in gpus.trace.calls(*WORK)}


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize("explicit", [False, True], ids=["current stream", "stream given"])
def test_work_is_done_on_the_device_of_the_operand(gpus, device, explicit):
    a = gpus.array((4, 9), device=device)
    stream = gpus.stream(device) if explicit else None
    gpus.forget()
    with FFT(a, axes=[1], options={"fft_type": "C2R"}, stream=stream) as transform:
        transform.plan(stream=stream)
        for _ in range(2):
            assert transform.execute(stream=stream).device == device
    fft(a, stream=stream)
    irfft(a, axes=[1], stream=stream)
    assert devices_of(gpus) == {device}


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("explicit", [False, True], ids=["current stream", "stream given"])
@pytest.mark.parametrize("device", [0, 1])
def test_copies_are_made_on_the_device_of_the_operand(gpus, device, explicit):
    untidy = gpus.array((4, 8), device=device, offset=4)
    out = gpus.array((4, 8), strides=(1, 4), device=device)
    stream = gpus.stream(device) if explicit else None
    gpus.forget()
    with FFT(untidy, axes=[1]) as transform:
        transform.plan()
        transform.execute(stream=stream)
        transform.execute(stream=stream, out=out)
    assert gpus.count("copy") == 3
    assert devices_of(gpus) == {device}


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("function", ["cufftXtMakePlanMany", "take", "take_buffer", "cufftXtExec"])
@pytest.mark.parametrize("explicit", [False, True], ids=["current stream", "stream given"])
def test_the_current_device_comes_back_after_an_error(gpus, function, explicit):
    for device in (0, 1):
        a = gpus.array(8, device=device)
        stream = gpus.stream(device) if explicit else None
        gpus.fail(function, error=cuFFTError(5))
        with pytest.raises(cuFFTError):
            fft(a, stream=stream)
        fft(a, stream=stream)


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("device", [0, 1])
def test_host_operands_run_on_the_device_asked_for(gpus, device):
    a = np.zeros(8, np.complex64)
    execution = {"name": "cuda", "device_id": device}
    with FFT(a, execution=execution) as transform:
        transform.plan()
        transform.execute()
    fft(a, execution=execution)
    assert {call.device for call in gpus.trace.calls("cufftXtExec", *COPIES)} == {device}


@pytest.mark.usefixtures("restored")
def test_the_device_asked_for_does_not_count_for_gpu_operands(gpus):
    with FFT(gpus.array(8, device=1), execution={"name": "cuda", "device_id": 0}) as transform:
        transform.plan()
        assert transform.execute().device == 1
        assert transform.execution_options.device_id == transform.device_id == 1


def test_a_device_that_is_not_there_is_refused(gpus):
    with pytest.raises(ValueError, match="no CUDA device 2: this machine has 2"):
        FFT(np.zeros(8, np.complex64), execution={"name": "cuda", "device_id": 2})


class Stream:
    def __init__(self, handle, **attributes):
        self.ptr = handle
        self.__dict__.update(attributes)


@pytest.mark.parametrize("attribute", ["device_id", "device_index"])
def test_a_stream_of_another_device_is_refused(gpus, attribute):
    a = gpus.array(8, device=1)
    wrong, right = (Stream(gpus.stream(device), **{attribute: device}) for device in (0, 1))
    with FFT(a) as transform:
        transform.plan()
        gpus.forget()
        with pytest.raises(ValueError, match=r"belongs to device 0, but .* device 1"):
            transform.execute(stream=wrong)
        assert gpus.names(*WORK) == []
        transform.execute(stream=right)
    with pytest.raises(ValueError, match="belongs to device 0"):
        fft(a, stream=wrong)
    with pytest.raises(ValueError, match="belongs to device 0"):
        FFT(np.zeros(8, np.complex64), execution={"name": "cuda", "device_id": 1}, stream=wrong)


def test_operands_of_another_device_are_refused_by_a_reset(gpus):
    with FFT(gpus.array(8)) as transform:
        transform.plan()
        with pytest.raises(ValueError, match="device 0, so it cannot be replaced by an operand on 1"):
            transform.reset_operand(gpus.array(8, device=1))
        transform.execute()


@pytest.mark.usefixtures("restored")
def test_objects_on_two_devices_do_not_meet(gpus):
    transforms = [FFT(gpus.array(8, device=device)) for device in (0, 1)]
    for transform in transforms:
        transform.plan()
    for _ in range(2):
        assert [transform.execute().device for transform in transforms] == [0, 1]
    assert {plan.device for plan in gpus.cufft.plans.values()} == {0, 1}
    for transform in transforms:
        transform.free()


def test_plans_of_two_devices_are_two_entries_of_the_cache(gpus):
    for device in (0, 1, 0, 1):
        assert fft(gpus.array(8, device=device)).device == device
    assert gpus.count("cufftCreate") == 2


@pytest.mark.usefixtures("restored")
def test_a_workspace_is_freed_in_order_while_another_device_is_current(gpus):
    transform = FFT(gpus.array(8, device=1))
    transform.plan()
    for stream in (0, gpus.stream(1)):
        transform.execute(stream=stream)
    gpus.forget()
    transform.free()
    assert [call.device for call in gpus.trace.calls("cuStreamWaitEvent")] == [1]
