"""The plan cache of the one-call functions: leased, bounded, and holding nothing of the user's."""

import logging
import threading
import weakref

import numpy as np
import pytest

import nvmath
from nvmath._core import jit
from nvmath.fft import FFT, DeviceCallable, fft, ifft, irfft, rfft

info = nvmath.plan_cache.info


def handles_of(gpu):
    """The handles of the executions so far, in their order."""
    return [call.args[0] for call in gpu.trace.calls("cufftXtExec")]


# --- hits and misses --------------------------------------------------------------------------------------------------


def test_the_second_call_plans_nothing(gpu):
    a = gpu.array((4, 8))
    fft(a, axes=[1])
    gpu.forget()
    fft(gpu.array((4, 8)), axes=[1])
    assert gpu.names("cufftCreate", "cufftXtMakePlanMany", "cuModuleLoadData", "cuMemHostAlloc") == []
    assert (info().hits, info().misses, info().entries) == (1, 1, 1)


@pytest.mark.parametrize(
    "other",
    [
        lambda gpu: fft(gpu.array((4, 9))),
        lambda gpu: fft(gpu.array((4, 8), "complex128")),
        lambda gpu: fft(gpu.array((4, 8), strides=(1, 4))),
        lambda gpu: fft(gpu.array((4, 8), offset=8)),
        lambda gpu: fft(gpu.array((4, 8)), axes=[0]),
        lambda gpu: fft(gpu.array((4, 8)), norm="ortho"),
        lambda gpu: fft(gpu.array((4, 8)), s=(4, 4)),
        lambda gpu: fft(gpu.array((4, 8)), direction="inverse"),
        lambda gpu: fft(gpu.array((4, 8)), options={"inplace": True}),
        lambda gpu: fft(gpu.array((4, 8)), options={"blocking": True}),
        lambda gpu: fft(gpu.array((4, 8)), execution="cpu"),
        lambda gpu: ifft(gpu.array((4, 8))),
        lambda gpu: irfft(gpu.array((4, 8))),
        lambda gpu: rfft(gpu.array((4, 8), "float32")),
        lambda gpu: fft(np.zeros((4, 8), np.complex64), execution="cuda"),
    ],
    ids=[
        "shape", "dtype", "strides", "alignment", "axes", "norm", "s", "direction", "in place", "blocking", "execution",
        "ifft", "irfft", "rfft", "package",
    ],
)  # fmt: skip
def test_what_a_plan_depends_on_is_in_the_key(gpu, other):
    fft(gpu.array((4, 8)))
    other(gpu)
    assert (info().hits, info().entries) == (0, 2)


def test_streams_are_not_in_the_key(gpu):
    a = gpu.array(8)
    for stream in (0, gpu.stream(), gpu.stream()):
        fft(a, stream=stream)
    assert info().entries == 1


def test_stateful_objects_never_share_a_plan(gpu):
    a = gpu.array(8)
    fft(a)
    with FFT(a) as first, FFT(a) as second:
        for transform in (first, second):
            transform.plan()
            transform.execute()
        fft(a)
        assert len(set(handles_of(gpu))) == 3
    assert info().entries == 1


def test_a_logger_is_neither_held_nor_shared(gpu):
    logger = logging.Logger("mine")
    gone = weakref.ref(logger)
    fft(gpu.array(8), options={"logger": logger})
    del logger
    assert info().entries == 0
    assert gone() is None


# --- leases -----------------------------------------------------------------------------------------------------------


def test_a_call_within_a_call_makes_its_own_plan(gpu):
    a = gpu.array(8)
    fft(a)
    for function in ("take", "cufftXtExec"):  # a finalizer or a signal handler of the user could run here
        gpu.trace.meanwhile[function] = lambda: fft(a)
        fft(a)
    assert len(gpu.cufft.live()) == info().entries == 2
    first, *rest = handles_of(gpu)
    inner, outer = rest[:2], rest[2:]
    assert first in inner
    assert len(set(inner)) == len(set(outer)) == 2


def test_a_call_in_another_thread_makes_its_own_plan(gpu):
    a = gpu.array(8)
    fft(a)

    def other_thread():
        thread = threading.Thread(target=fft, args=(a,))
        thread.start()
        thread.join()

    gpu.trace.meanwhile["cufftXtExec"] = other_thread
    fft(a)
    assert info().entries == 2
    assert len(set(handles_of(gpu)[1:])) == 2


def test_what_was_under_way_comes_back_after_a_clear(gpu):
    a = gpu.array(8)
    fft(a)
    gpu.trace.meanwhile["cufftXtExec"] = nvmath.plan_cache.clear
    fft(a)
    assert info().entries == 1
    fft(a)
    assert gpu.count("cufftCreate") == 1


def test_a_plan_that_comes_back_is_found_though_its_sister_was_evicted(gpu):
    a = gpu.array(8)
    gpu.trace.meanwhile["cufftXtExec"] = lambda: fft(a)
    fft(a)  # two plans of one key
    gpu.trace.meanwhile["cufftXtExec"] = nvmath.plan_cache.clear  # while one is under way
    fft(a)
    created = gpu.count("cufftCreate")
    fft(a)
    assert gpu.count("cufftCreate") == created


def test_what_was_under_way_is_given_up_when_the_cache_is_switched_off(gpu):
    a = gpu.array(8)
    fft(a)
    gpu.trace.meanwhile["cufftXtExec"] = lambda: nvmath.plan_cache.configure(enabled=False)
    fft(a)
    assert info().entries == 0
    assert gpu.cufft.live() == []


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_the_least_recently_used_plan_is_destroyed(gpu):
    nvmath.plan_cache.configure(max_entries=2)
    a, b, c = (gpu.array(n) for n in (8, 9, 10))
    for operand in (a, b, a, c):
        fft(operand)
    assert gpu.cufft.live() == [1, 3]
    gpu.forget()
    fft(a)
    fft(c)
    assert gpu.count("cufftCreate") == 0
    fft(b)
    assert gpu.count("cufftCreate") == 1


def test_clear_destroys_every_plan_and_its_memory(gpu):
    for n in range(8, 12):
        fft(gpu.array(n))
        irfft(gpu.array(n))
    nvmath.plan_cache.clear()
    assert gpu.cufft.live() == gpu.cuda.live() == []
    assert info().entries == 0


def test_switched_off_every_call_leaves_nothing(gpu):
    nvmath.plan_cache.configure(enabled=False)
    for _ in range(2):
        fft(gpu.array(8))
        assert gpu.cufft.live() == []
    assert info().entries == 0


# --- what it must not hold --------------------------------------------------------------------------------------------


@pytest.fixture
def compiled(monkeypatch):
    """No function is compiled: the code is never run."""
    monkeypatch.setattr(jit, "to_ltoir", lambda *arguments: b"code")


def test_callback_data_is_not_held(gpu, compiled):
    def multiply(data_in, offset, filter, shared):
        return data_in[offset] * filter[offset]

    a = gpu.array((4, 8))
    for _ in range(2):
        data = gpu.array((4, 8))
        prolog = {"function": multiply, "data": data}
        fft(a, prolog=prolog)
        gone = weakref.ref(data)
        del data, prolog
        assert gone() is None
    assert (info().hits, info().entries) == (1, 1)


def test_one_plan_serves_other_callback_data(gpu):
    a = gpu.array((4, 8))
    for address in (4096, 8192):
        fft(a, prolog=DeviceCallable(b"code", data=address))
        assert (info().entries, gpu.count("cufftCreate")) == (1, 1)


def test_a_callback_function_is_not_held(gpu, compiled):
    def make():
        def double(data_in, offset, filter, shared):
            return 2 * data_in[offset]

        return double

    function = make()
    gone = weakref.ref(function)
    fft(gpu.array(8), prolog=function)
    del function
    assert info().entries == 1
    assert gone() is None


def test_the_tables_of_a_library_count(gpu):
    """Where it convolves, cuFFT keeps 4 n elements with each plan: a prime of 16 million points takes half a GiB."""
    fft(gpu.array(1024))
    assert info().nbytes == 0
    fft(gpu.array((131, 1009)), axes=[1])
    assert info().nbytes == 4 * 1009 * 8
    nvmath.plan_cache.configure(max_nbytes=4 * 1009 * 8)
    fft(gpu.array(10007))
    assert info().nbytes <= 4 * 1009 * 8
