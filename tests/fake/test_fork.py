"""Forked children: nothing of the parent's is used or destroyed there, and the parent does not notice."""

import gc
import os
import sys
import traceback
import warnings

import numpy as np
import pytest

import nvmath
from nvmath._core import place
from nvmath.fft import FFT, fft

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_child(work):
    """Run something in a forked child; say here what it raised there."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # "this process is multi-threaded": on purpose
        child = os.fork()
    if child == 0:
        text = "died"
        try:
            work()
            text = ""
        except BaseException:
            text = traceback.format_exc()
        finally:
            os.write(write, text.encode())
            os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    sys.stderr.write(text)
    assert text == ""


def gpu_operand(gpu):
    return gpu.array(8), {}


def host_operand(gpu):
    return np.zeros(8, np.complex64), {"execution": "cuda"}


@pytest.fixture(params=[gpu_operand, host_operand])
def used(request, gpu):
    """Operand, arguments and an object that ran on two streams."""
    operand, arguments = request.param(gpu)
    fft(operand, **arguments)
    with FFT(operand, **arguments) as transform:
        transform.plan()
        for stream in (0, gpu.stream()):
            transform.execute(stream=stream)
        yield operand, arguments, transform


def silent(gpu, work):
    """Run something that must not call any library."""
    gpu.forget()
    work()
    assert [call for call in gpu.trace if not call.name.startswith("give_back")] == []


def test_a_child_frees_without_touching_the_libraries(gpu, used):
    *_, transform = used

    def work():
        silent(gpu, transform.free)
        silent(gpu, nvmath.plan_cache.clear)
        silent(gpu, place.reap)

    in_child(work)
    transform.execute()


def test_a_child_forgets_without_touching_the_libraries(gpu):
    held = []
    for make in (gpu_operand, host_operand):
        operand, arguments = make(gpu)
        transform = FFT(operand, **arguments)
        transform.plan()
        for stream in (0, gpu.stream()):
            transform.execute(stream=stream)
        held.append(transform)
    del operand, transform

    def work():
        def forget():
            held.clear()
            gc.collect()
            place.reap()

        silent(gpu, forget)

    in_child(work)
    assert gpu.count("cufftDestroy") == 0
    for transform in held:
        transform.free()


def test_what_the_parent_had_queued_is_left_to_the_parent(gpu):
    transform = FFT(gpu.array(8))
    transform.plan()
    transform.execute()
    del transform
    in_child(lambda: silent(gpu, place.reap))
    place.reap()
    assert gpu.count("cufftDestroy") == 1


def test_a_child_says_that_cuda_cannot_be_used(gpu, used):
    operand, arguments, transform = used

    def refused(call):
        with pytest.raises(place.NoDeviceError, match="forked child"):
            call()

    def work():
        refused(transform.execute)
        refused(lambda: fft(operand, **arguments))
        refused(lambda: FFT(operand, **arguments))
        assert not place.has_device()

    in_child(work)


def test_a_child_computes_on_the_cpu(gpu, used):
    def work():
        result = fft(np.ones(8, np.complex64), execution="cpu")
        assert result[0] == 8

    in_child(work)


def test_the_parent_goes_on_as_if_nothing_had_been(gpu, used):
    operand, arguments, transform = used
    in_child(transform.free)
    gpu.forget()
    transform.execute()
    fft(operand, **arguments)
    assert gpu.names("cufftCreate", "cufftDestroy") == []
