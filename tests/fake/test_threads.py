"""Objects and plans that are used in other threads than the one that made them: a new thread has no current context."""

import threading

import numpy as np
import pytest

from nvmath.fft import FFT, fft, irfft


def in_a_new_thread(work):
    """Run something in a thread that has never seen a GPU; what it raises is raised here."""
    errors, results = [], []

    def run():
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors.pop()
    return results[0]


@pytest.fixture(params=[0, "stream"], ids=["default stream", "stream"])
def stream(request, gpu):
    return request.param and gpu.stream()


CALLS = {
    "direct": lambda a, stream: fft(a, stream=stream),
    "with kernels": lambda a, stream: irfft(a, stream=stream),
    "blocking": lambda a, stream: fft(a, stream=stream, options={"blocking": True}),
    "scaled": lambda a, stream: fft(a, stream=stream, norm="ortho"),
}


@pytest.mark.parametrize("known", [False, True], ids=["new", "kept plan"])
@pytest.mark.parametrize("what", CALLS)
def test_a_one_call_function_in_a_new_thread(gpu, stream, what, known):
    a = gpu.array((4, 9))
    call = CALLS[what]
    if known:
        call(a, stream)
    in_a_new_thread(lambda: call(a, stream))


@pytest.mark.parametrize("fft_type", ["C2C", "C2R"])
def test_an_object_of_one_thread_executed_and_freed_in_others(gpu, stream, fft_type):
    a = gpu.array((4, 9))
    transform = FFT(a, options={"fft_type": fft_type})
    transform.plan()
    in_a_new_thread(lambda: transform.execute(stream=stream))
    in_a_new_thread(lambda: transform.reset_operand(gpu.array((4, 9))))
    in_a_new_thread(lambda: transform.execute(stream=gpu.stream()))
    in_a_new_thread(transform.free)
    assert gpu.cufft.live() == gpu.cuda.live() == []


@pytest.mark.parametrize("fft_type", ["C2C", "C2R"])
def test_an_object_made_in_a_thread_that_has_ended(gpu, stream, fft_type):
    a = gpu.array((4, 9))

    def make():
        transform = FFT(a, options={"fft_type": fft_type})
        transform.plan()
        transform.execute(stream=stream)
        return transform

    with in_a_new_thread(make) as transform:
        transform.execute()


def test_host_operands_in_a_new_thread(gpu, stream):
    a = np.zeros((4, 9), np.complex64)
    with FFT(a, execution="cuda") as transform:
        transform.plan()
        in_a_new_thread(lambda: transform.execute(stream=stream))
        in_a_new_thread(lambda: transform.reset_operand(a, stream=stream))
        in_a_new_thread(transform.release_operand)
    fft(a, execution="cuda")
    in_a_new_thread(lambda: fft(a, execution="cuda", stream=stream))


def test_what_another_thread_forgot_is_destroyed_here(gpu):
    def forget():
        transform = FFT(np.zeros(8, np.complex64), execution="cuda")
        transform.plan()
        transform.execute()

    in_a_new_thread(forget)
    assert len(gpu.cufft.live()) == 1
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        assert len(gpu.cufft.live()) == 1


def test_what_was_forgotten_here_is_destroyed_by_another_thread(gpu):
    transform = FFT(np.zeros(8, np.complex64), execution="cuda")
    transform.plan()
    transform.execute()
    del transform
    other = FFT(gpu.array(8))
    in_a_new_thread(other.plan)
    assert len(gpu.cufft.live()) == 1
    other.free()


def test_a_context_that_the_caller_made_current_stays(gpus):
    a = gpus.array(8, device=0)

    def work():
        gpus.cuda.thread.context = 0x1001
        fft(a)
        return gpus.cuda.current_device()

    assert in_a_new_thread(work) == 1
