"""Who holds what for how long: handles, operands, results; and when handles are destroyed."""

import gc
import sys
import weakref

import pytest

import nvmath
from nvmath._core import place
from nvmath.fft import FFT, InvalidFFTState, fft

RELAXED = 2


# --- handles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(8,), (2, 3, 4, 5)], ids=["one handle", "two handles"])
def test_free_destroys_each_handle_once(gpu, shape):
    transform = FFT(gpu.array(shape))
    transform.plan()
    transform.execute()
    transform.free()
    transform.free()
    del transform
    gc.collect()
    place.reap()
    assert sorted(call.args[0] for call in gpu.trace.calls("cufftDestroy")) == sorted(gpu.cufft.plans)


def test_free_without_a_plan_destroys_nothing(gpu):
    FFT(gpu.array(8)).free()
    assert gpu.names("cufftDestroy", "cuEventDestroy_v2", "cuMemFreeAsync") == []


def test_a_forgotten_object_is_destroyed_at_the_next_planning(gpu):
    transform = FFT(gpu.array(8))
    transform.plan()
    transform.execute()
    del transform
    gc.collect()
    assert gpu.names("cufftDestroy", "cuEventDestroy_v2") == []  # a finalizer may run in the middle of a capture
    other = FFT(gpu.array(8))
    assert gpu.names("cufftDestroy", "cuEventDestroy_v2") == []
    other.plan()
    assert sorted(gpu.names("cufftDestroy", "cuEventDestroy_v2")) == ["cuEventDestroy_v2", "cufftDestroy"]
    assert len(gpu.cufft.live()) == 1


def test_a_forgotten_object_in_a_cycle_is_destroyed_too(gpu):
    transform = FFT(gpu.array(8))
    transform.plan()
    transform.execute()
    transform.itself = transform
    del transform
    assert gpu.leaks() == []


def test_handles_are_destroyed_with_the_capture_mode_relaxed(gpu):
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        transform.execute()
    destroyed = gpu.trace.calls("cufftDestroy", "cuEventDestroy_v2")
    assert [call.mode for call in destroyed] == [RELAXED] * 2
    assert gpu.cuda.thread.mode == 0
    assert [call.args for call in gpu.trace.calls("cuThreadExchangeStreamCaptureMode")] != []


def test_the_capture_mode_comes_back_when_a_destruction_fails(gpu, caplog):
    transform = FFT(gpu.array(8))
    transform.plan()
    gpu.fail("cufftDestroy")
    transform.free()
    assert gpu.cuda.thread.mode == 0
    gpu.cufft.plans[1].alive = False  # it did not work


def test_nothing_is_exchanged_when_nothing_is_to_destroy(gpu):
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        assert gpu.count("cuThreadExchangeStreamCaptureMode") == 0


# --- operands ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def operand(gpu):
    return gpu.array((4, 8))


@pytest.fixture
def planned(operand):
    with FFT(operand, axes=[1]) as transform:
        transform.plan()
        yield transform


def holders(obj):
    """How many references there are to an object, those of the caller left out."""
    return sys.getrefcount(obj) - 3


def test_an_object_holds_its_operand_once(gpu):
    a = gpu.array(8)
    assert holders(a) == 0
    transform = FFT(a)
    transform.plan()
    transform.execute()
    assert holders(a) == 1
    transform.free()
    assert holders(a) == 0


def test_the_operand_lives_as_long_as_it_may_be_read(gpu):
    with FFT(gpu.array(8)) as transform:  # nobody else has it
        transform.plan()
        transform.execute()  # no hazard, says the fixture


@pytest.mark.parametrize("reset", ["reset_operand", "reset_operand_unchecked"])
def test_a_reset_lets_go_of_the_old_operand(gpu, planned, reset):
    new = gpu.array((4, 8))
    getattr(planned, reset)(new)
    assert holders(new) == 1
    gone = weakref.ref(new)
    getattr(planned, reset)(gpu.array((4, 8)))
    del new
    assert gone() is None


def test_a_reset_that_plans_anew_lets_go_of_the_old_operand(gpu):
    old = gpu.array((3, 2, 8), strides=(16, 8, 1))
    with FFT(old, axes=[2]) as transform:
        transform.plan()
        transform.reset_operand(gpu.array((2, 3, 8), strides=(24, 8, 1)))
        assert gpu.count("cufftCreate") == 2
        gone = weakref.ref(old)
        del old
        assert gone() is None


def test_release_lets_go_of_the_operand_and_keeps_the_plan(gpu, planned):
    last = gpu.array((4, 8))
    planned.reset_operand(last)
    planned.execute()
    gone = weakref.ref(last)
    del last
    assert gone() is not None
    planned.release_operand()
    assert gone() is None
    planned.release_operand()  # again is no error
    with pytest.raises(RuntimeError, match="have been released"):
        planned.execute()
    gpu.forget()
    planned.reset_operand(gpu.array((4, 8)))
    planned.execute()
    assert gpu.count("cufftCreate") == gpu.workspaces == 0


def test_a_refused_operand_is_not_held(gpu, planned):
    wrong = gpu.array((4, 9))
    gone = weakref.ref(wrong)
    with pytest.raises(ValueError, match="does not fit"):
        planned.reset_operand(wrong)
    del wrong
    gc.collect()
    assert gone() is None


def test_an_operand_whose_construction_is_refused_is_not_held(gpu):
    wrong = gpu.array(8, "float32")
    gone = weakref.ref(wrong)
    with pytest.raises(ValueError, match="complex operand"):
        fft(wrong)
    del wrong
    gc.collect()
    assert gone() is None


def test_results_are_not_held(planned):
    gone = weakref.ref(planned.execute())
    assert gone() is None


def test_the_one_call_functions_hold_neither_operand_nor_result(gpu):
    for make in (lambda: gpu.array(8), lambda: gpu.array(8, offset=4)):
        a = make()
        gone = weakref.ref(a), weakref.ref(fft(a)), weakref.ref(fft(a))
        del a
        assert [ref() for ref in gone] == [None] * 3
    assert nvmath.plan_cache.info().entries == 2


def test_in_place_one_call_functions_hold_nothing(gpu):
    for _ in range(2):
        a = gpu.array(8)
        assert fft(a, options={"inplace": True}) is a
        gone = weakref.ref(a)
        del a
        assert gone() is None
    assert nvmath.plan_cache.info().hits == 1


def test_a_freed_object_holds_nothing(gpu):
    a = gpu.array(8)
    gone = weakref.ref(a)
    transform = FFT(a)
    transform.plan()
    del a
    assert gone() is not None
    transform.free()
    assert gone() is None
    with pytest.raises(InvalidFFTState):
        transform.execute()


def test_out_is_not_held(gpu, planned):
    out = gpu.array((4, 8))
    planned.execute(out=out)
    assert holders(out) == 0
