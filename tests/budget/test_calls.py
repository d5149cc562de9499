"""How many Python-level calls a transform makes: counted, since times are noise on shared machines.

A call of a Python function counts, whoever it belongs to; a call of a C function does not.
"""

import numpy as np
import pytest
from counts import EXECUTE, ONE_CALL, RESET_AND_EXECUTE, calls_of

import nvmath
from nvmath.bindings import _cuda
from nvmath.fft import FFT


def numpy_arrays(shape, dtype):
    rng = np.random.default_rng(1)
    return [rng.standard_normal(shape).astype(dtype) for _ in range(2)]


def torch_arrays(shape, dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return [torch.from_numpy(array) for array in numpy_arrays(shape, dtype)]


def torch_gpu_arrays(shape, dtype):
    needs_device()
    return [tensor.cuda() for tensor in torch_arrays(shape, dtype)]


def cupy_arrays(shape, dtype):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    needs_device()
    return [cupy.asarray(array) for array in numpy_arrays(shape, dtype)]


def needs_device():
    if _cuda.device_count() == 0:
        pytest.skip("no CUDA device")


SHAPES = [((64,), None), ((4, 64), (1,)), ((4, 6, 8), (0, 1, 2))]
KINDS = {"fft": "complex64", "ifft": "complex128", "rfft": "float32", "irfft": "complex64"}
MAKERS = {"fft": None, "ifft": None, "rfft": "R2C", "irfft": "C2R"}


@pytest.fixture(params=[numpy_arrays, torch_arrays, torch_gpu_arrays, cupy_arrays], ids=lambda maker: maker.__name__)
def arrays(request):
    request.param((1,), "float32")
    return request.param


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_execute(arrays, name, shape, axes):
    first, _ = arrays(shape, KINDS[name])
    with FFT(first, axes=axes, options={"fft_type": MAKERS[name]}) as transform:
        transform.plan()
        assert calls_of(transform.execute) <= EXECUTE


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_checked_reset_and_execute(arrays, name, shape, axes):
    first, second = arrays(shape, KINDS[name])
    with FFT(first, axes=axes, options={"fft_type": MAKERS[name]}) as transform:
        transform.plan()

        def both():
            transform.reset_operand(second)
            transform.execute()

        assert calls_of(both) <= RESET_AND_EXECUTE


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_one_call_with_a_kept_plan(arrays, name, shape, axes):
    first, _ = arrays(shape, KINDS[name])
    function = getattr(nvmath.fft, name)
    nvmath.plan_cache.clear()
    assert calls_of(lambda: function(first, axes=axes)) <= ONE_CALL
    assert nvmath.plan_cache.info().hits == 1


def test_the_counter_counts():
    def inner():
        return len(str(3))

    assert calls_of(lambda: (inner(), inner())) == 2
