"""When a phase fails, what it took goes back, what was there stays, and the object can be used again."""

import numpy as np
import pytest

import nvmath
from nvmath.bindings._cuda import CudaError
from nvmath.bindings.cufft import cuFFTError
from nvmath.fft import FFT, fft, irfft

C2R = {"fft_type": "C2R"}
FAILURE = (CudaError, cuFFTError)


# --- planning ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["cufftCreate", "cufftSetAutoAllocation", "cufftXtMakePlanMany"])
def test_a_failed_plan_leaves_an_unplanned_object_that_can_be_planned(gpu, function):
    with FFT(gpu.array(8)) as transform:
        gpu.fail(function)
        with pytest.raises(cuFFTError):
            transform.plan()
        assert not transform.fft_planned
        assert transform.workspace is transform.handle is None
        with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
            transform.execute()
        transform.plan()
        assert len(gpu.cufft.live()) == 1  # the handle of the failure is gone
        transform.execute()


def test_a_gpu_that_cannot_be_used_can_be_asked_again(gpu):
    gpu.fail("cuDevicePrimaryCtxRetain")
    with pytest.raises(CudaError):
        FFT(gpu.array(8))
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        transform.execute()


@pytest.mark.parametrize("at", [1, 2])
def test_a_plan_of_several_handles_leaves_none(gpu, at):
    with FFT(gpu.array((2, 3, 4, 5))) as transform:
        gpu.fail("cufftXtMakePlanMany", at)
        with pytest.raises(cuFFTError):
            transform.plan()
        assert gpu.count("cufftCreate") == at
        transform.free()
        assert gpu.count("cufftDestroy") == at
        assert gpu.cufft.live() == []


def test_a_plan_whose_kernels_cannot_be_made_leaves_no_handle(gpu):
    with FFT(gpu.array((4, 9)), axes=[1], options=C2R) as transform:
        gpu.fail("cuModuleLoadData")
        with pytest.raises(CudaError):
            transform.plan(direction="inverse")
        assert not transform.fft_planned
        transform.plan(direction="inverse")
        assert len(gpu.cufft.live()) == 1
        transform.execute()


# --- execution --------------------------------------------------------------------------------------------------------


AT_EXECUTION = ["take", "take_buffer", "cufftSetWorkArea", "cufftSetStream", "cufftXtExec"]


@pytest.mark.parametrize("function", AT_EXECUTION)
def test_the_first_execution_fails_and_leaves_no_memory(gpu, function):
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        gpu.fail(function)
        with pytest.raises(FAILURE):
            transform.execute(stream=gpu.stream())
        assert gpu.cuda.live() == []
        assert transform.fft_planned
        transform.execute(stream=gpu.stream())


@pytest.mark.parametrize("function", [name for name in AT_EXECUTION if name not in ("take_buffer", "cufftSetWorkArea")])
def test_a_later_execution_fails_and_keeps_the_workspace_in_order(gpu, function):
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        transform.execute()
        (kept,) = gpu.cuda.live()
        gpu.fail(function)
        with pytest.raises(FAILURE):
            transform.execute(stream=gpu.stream())
        assert gpu.cuda.live() == [kept]
        transform.execute(stream=gpu.stream())
    assert gpu.workspaces == 1


@pytest.mark.parametrize(
    ("function", "at"),
    [("take_buffer", 1), ("take_buffer", 2), ("cuLaunchKernel", 1), ("cuLaunchKernel", 2), ("cufftXtExec", 1)],
)
def test_an_execution_of_several_steps_fails_in_the_middle(gpu, function, at):
    with FFT(gpu.array((4, 9)), axes=[1], options=C2R) as transform:
        transform.plan()
        gpu.fail(function, at)
        with pytest.raises(FAILURE):
            transform.execute(stream=gpu.stream())
        assert gpu.cuda.live() == []
        transform.execute(stream=gpu.stream())


def test_a_kept_workspace_that_half_an_execution_used_is_ordered_behind_it(gpu):
    with FFT(gpu.array((2, 3, 4, 5))) as transform:  # two library calls
        transform.plan()
        transform.execute()
        gpu.fail("cufftXtExec", 2)
        a, b = gpu.stream(), gpu.stream()
        with pytest.raises(cuFFTError):
            transform.execute(stream=a)
        gpu.forget()
        transform.execute(stream=b)
        assert gpu.streams_of("cuStreamWaitEvent") == [b]


def test_a_failed_blocking_execution_leaves_no_memory(gpu):
    with FFT(gpu.array(8), options={"blocking": True}) as transform:
        transform.plan()
        gpu.fail("cuStreamSynchronize")
        with pytest.raises(CudaError):
            transform.execute()
        assert gpu.cuda.live() == []
        transform.execute()


def test_a_failed_result_leaves_the_operand_held(gpu):
    with FFT(gpu.array(8)) as transform:
        transform.plan()
        gpu.fail("take", error=MemoryError("nothing left"))
        with pytest.raises(MemoryError):
            transform.execute()
        transform.execute()


# --- one-call functions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [*AT_EXECUTION, "cufftCreate", "cufftXtMakePlanMany"])
def test_a_failed_one_call_leaves_nothing_at_all(gpu, function):
    a = gpu.array(8)
    gpu.fail(function)
    with pytest.raises(FAILURE):
        fft(a)
    assert nvmath.plan_cache.info().entries == 0
    assert gpu.cuda.live() == []
    fft(a)
    assert len(gpu.cufft.live()) == 1


def test_a_failed_one_call_drops_the_kept_plan(gpu):
    a = gpu.array((4, 9))
    irfft(a, axes=[1])
    gpu.fail("cuLaunchKernel", 2)
    with pytest.raises(CudaError):
        irfft(a, axes=[1])
    assert nvmath.plan_cache.info().entries == 0
    irfft(a, axes=[1])
    assert nvmath.plan_cache.info().entries == 1


# --- resets -----------------------------------------------------------------------------------------------------------


class Other:
    """An array of no package."""


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda gpu: gpu.array((4, 8), "complex128"), ValueError),
        (lambda gpu: gpu.array((4, 9)), ValueError),
        (lambda gpu: gpu.array((4, 8), strides=(1, 4)), ValueError),
        (lambda gpu: Other(), ValueError),
        (lambda gpu: None, ValueError),
    ],
    ids=["dtype", "shape", "strides", "class", "None"],
)
def test_a_refused_reset_leaves_the_old_operand_and_plan(gpu, make, error):
    old = gpu.array((4, 8))
    with FFT(old, axes=[1]) as transform:
        transform.plan()
        handle = transform.handle
        with pytest.raises(error):
            transform.reset_operand(make(gpu))
        transform.execute()
        (call,) = gpu.trace.calls("cufftXtExec")
        assert call.args[:2] == (handle, old.ptr)


def swapped(gpu):
    """Two operands that one key fits, but not one plan of ours."""
    return gpu.array((3, 2, 8), strides=(16, 8, 1)), gpu.array((2, 3, 8), strides=(24, 8, 1))


def test_a_reset_that_plans_anew_destroys_the_old_plan(gpu):
    old, new = swapped(gpu)
    with FFT(old, axes=[2]) as transform:
        transform.plan()
        transform.execute()
        transform.reset_operand(new)
        transform.execute(stream=gpu.stream())
        assert gpu.trace.calls("cufftXtExec")[-1].args[1] == new.ptr
        transform.free()
        assert sorted(call.args[0] for call in gpu.trace.calls("cufftDestroy")) == sorted(gpu.cufft.plans)


def test_a_reset_whose_planning_fails_leaves_the_old_operand_and_plan(gpu):
    old, new = swapped(gpu)
    with FFT(old, axes=[2]) as transform:
        transform.plan()
        transform.execute()
        handle = transform.handle
        gpu.fail("cufftXtMakePlanMany")
        with pytest.raises(cuFFTError):
            transform.reset_operand(new)
        assert transform.handle == handle
        transform.execute()
        assert gpu.trace.calls("cufftXtExec")[-1].args[:2] == (handle, old.ptr)
        assert gpu.workspaces == 1


# --- the end ----------------------------------------------------------------------------------------------------------


def test_leaving_a_with_block_by_an_error_frees(gpu):
    def fail():
        with FFT(gpu.array(8)) as transform:
            transform.plan()
            transform.execute()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert gpu.cufft.live() == []
    assert gpu.cuda.live() == []
    assert not gpu.cuda.events


def test_a_handle_that_cannot_be_destroyed_stops_nobody(gpu, caplog):
    first, second = FFT(gpu.array((2, 3, 4, 5))), FFT(gpu.array(8))
    first.plan()
    second.plan()
    gpu.fail("cufftDestroy")
    first.free()
    second.free()
    assert gpu.count("cufftDestroy") == 3
    assert "could not be destroyed" in caplog.text
    (left,) = gpu.cufft.live()
    gpu.cufft.plans[left].alive = False


def test_no_room_on_the_gpu_says_how_much_is_needed_and_free(gpu):  # R30
    """Memory of our own pool; array packages say it themselves."""
    a = np.ones((1 << 20,), np.complex64)
    gpu.fail("cuMemAllocFromPoolAsync")
    with pytest.raises(MemoryError, match=r"no room for 8.00 MiB \(.*\): of its 80.00 GiB, 3.00 GiB are free.*empty_cache"):
        fft(a, execution="cuda")
    assert fft(a, execution="cuda").shape == a.shape
