"""Execution, options, blocking and the log."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest

import nvmath
from nvmath.fft import FFT, ExecutionCPU, FFTOptions, fft, irfft, rfft

pytestmark = pytest.mark.usefixtures("backend")


def z(*shape):
    rng = np.random.default_rng(0)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()

# --- execution --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("execution", "threads"),
    [(None, CORES), ("cpu", CORES), ("CPU", CORES), ("Cpu", CORES), ({}, CORES), ({"name": None}, CORES), ({"name": "CPU"}, CORES),
     ({"num_threads": 2}, 2), ({"name": "cpu", "num_threads": 3}, 3), (ExecutionCPU(), CORES), (ExecutionCPU(num_threads=1), 1),
     ({"num_threads": np.int32(2)}, 2)],
)  # fmt: skip
def test_every_spelling_of_cpu_execution(execution, threads):
    a = z(8, 16)
    with FFT(a, execution=execution) as transform:
        assert transform.execution_options == ExecutionCPU(num_threads=threads)
        transform.plan()
        np.testing.assert_allclose(transform.execute(), np.fft.fft2(a))
    for _ in range(2):
        np.testing.assert_allclose(fft(a, execution=execution), np.fft.fft2(a))


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
def test_any_number_of_threads_gives_the_same_result(threads):
    a = z(64, 64, 16)
    for axes in ([0], [1, 2], [0, 1, 2]):
        np.testing.assert_allclose(
            fft(a, axes=axes, execution={"num_threads": threads}), np.fft.fftn(a, axes=axes), atol=1e-9
        )
    x = a.real.copy()
    np.testing.assert_allclose(rfft(x, execution={"num_threads": threads}), np.fft.rfftn(x), atol=1e-9)
    half = np.fft.rfftn(x)
    np.testing.assert_allclose(irfft(half, execution={"num_threads": threads}), x * x.size, atol=1e-7)


def test_the_caller_s_execution_object_is_not_changed():
    execution = ExecutionCPU()
    fft(z(8), execution=execution)
    assert execution.num_threads is None


def test_the_environment_replaces_the_default_only():
    code = (
        "import numpy as np, nvmath\n"
        "a = np.ones(8, complex)\n"
        "print(nvmath.fft.FFT(a, execution='cpu').execution_space,"
        " nvmath.fft.FFT(a, execution={'num_threads': 1}).execution_space)\n"
        "try: print(nvmath.fft.FFT(a).execution_space)\n"
        "except RuntimeError as error: print('no device' if 'No CUDA device' in str(error) else error)\n"
    )
    environment = {**os.environ, "NVMATH_EXECUTION": "CUDA", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert run.stdout.splitlines()[0] == "cpu cpu", run.stderr
    assert run.stdout.splitlines()[1] in ("cuda", "no device")
    environment["NVMATH_EXECUTION"] = "tpu"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert "NVMATH_EXECUTION='tpu'" in run.stderr


# --- options ----------------------------------------------------------------------------------------------------------


def test_options_as_an_object_as_a_dict_and_not_at_all():
    a = z(4, 6, 8)
    for options in (None, {}, FFTOptions(), {"fft_type": "C2C"}, FFTOptions("C2C"), {"fft_type": None}):
        np.testing.assert_allclose(fft(a, options=options), np.fft.fftn(a))
    with FFT(a, options={"result_layout": "natural"}) as transform:
        assert transform.options == FFTOptions(result_layout="natural")


def test_an_allocator_is_not_needed_on_the_cpu():
    class Allocator:
        def memalloc(self, size):
            raise AssertionError

    np.testing.assert_allclose(fft(z(8), options={"allocator": Allocator()}), np.fft.fft(z(8)))


@pytest.mark.parametrize("blocking", [True, "auto"])
def test_the_cpu_always_blocks(blocking):
    with FFT(z(8), options={"blocking": blocking}) as transform:
        assert transform.blocking


def test_ifft_with_c2r():
    half = np.fft.rfft(np.arange(8.0))
    got = nvmath.fft.ifft(half, options={"fft_type": "C2R"})
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, 8 * np.arange(8.0), atol=1e-12)
    odd = nvmath.fft.ifft(half, options={"fft_type": "C2R", "last_axis_parity": "odd"})
    assert odd.shape == (9,)


def test_a_direction_for_the_functions_that_have_one():
    a = z(8)
    np.testing.assert_allclose(fft(a, direction="inverse"), 8 * np.fft.ifft(a))
    np.testing.assert_allclose(nvmath.fft.ifft(a, direction=-1), np.fft.fft(a))
    np.testing.assert_allclose(fft(a, direction=None), np.fft.fft(a))
    np.testing.assert_allclose(nvmath.fft.ifft(a, direction=None), 8 * np.fft.ifft(a))


@pytest.mark.parametrize(
    "make",
    [tuple, list, np.array, iter, set, dict.fromkeys, lambda axes: (axis for axis in axes), lambda axes: map(np.int8, axes),
     lambda axes: range(0, 3, 2), lambda axes: (-3, -1)],
)  # fmt: skip
def test_axes_of_any_kind(make):  # W30
    a = z(3, 4, 5)
    np.testing.assert_allclose(fft(a, axes=make([0, 2])), np.fft.fftn(a, axes=(0, 2)))
    with FFT(a, axes=make([0, 2])) as transform:
        assert transform.axes == (0, 2)


def test_axes_as_an_array_of_one():
    a = z(2, 3, 2, 2)
    np.testing.assert_allclose(fft(a, axes=np.array([0])), np.fft.fft(a, axis=0))


# --- the log ----------------------------------------------------------------------------------------------------------


class Records(logging.Handler):
    def __init__(self):
        super().__init__()
        self.texts = []
        self.levels = []

    def emit(self, record):
        self.texts.append(record.getMessage())
        self.levels.append(record.levelno)


@pytest.fixture
def logger():
    logger = logging.Logger("test", logging.DEBUG)
    logger.addHandler(Records())
    return logger


def life(logger, level, operand=None):
    logger.setLevel(level)
    a = z(4, 8) if operand is None else operand
    with FFT(a, axes=[1], options={"logger": logger}) as transform:
        transform.plan()
        result = transform.execute()
        transform.reset_operand(a)
        transform.release_operand()
        transform.release_operand()
    return result, "\n".join(logger.handlers[0].texts)


def test_what_is_logged_at_info(logger):
    _, text = life(logger, logging.INFO)
    for word in (
        "C2C",
        "complex128",
        "(4, 8)",
        "(8, 1)",
        "(1,)",
        "cpu",
        "blocks",
        "planning",
        "ms",
        "xecut",
        "replaced",
        "released",
        "freed",
    ):
        assert word in text, text
    assert set(logger.handlers[0].levels) == {logging.INFO}


def test_what_is_logged_at_debug(logger):
    with FFT(z(8), options={"logger": logger}) as transform:
        transform.plan()
        transform.plan()
    assert logging.DEBUG in logger.handlers[0].levels
    assert any("already planned" in text for text in logger.handlers[0].texts)


def test_nothing_is_logged_at_warning(logger):
    _, text = life(logger, logging.WARNING)
    assert text == ""


def test_the_log_does_not_change_the_result(logger):
    quiet, _ = life(logger, logging.ERROR)
    loud, _ = life(logger, logging.DEBUG)
    np.testing.assert_array_equal(quiet, loud)


def test_the_root_logger_is_the_default(caplog):
    with caplog.at_level(logging.INFO):
        fft(z(3, 5))
        fft(z(3, 5))
    assert sum("xecuting" in record.getMessage() for record in caplog.records) == 2
    assert all(record.name == "root" for record in caplog.records)
    caplog.clear()
    fft(z(3, 5))
    assert not caplog.records


def test_no_handler_is_ever_installed():  # W23
    root = list(logging.getLogger().handlers)
    logger = logging.Logger("own")
    for _ in range(50):
        with FFT(z(8), options={"logger": logger}) as transform:
            transform.plan()
            transform.reset_operand(z(8))
        FFT.create_key(z(8))
    assert logger.handlers == []
    assert logging.getLogger().handlers == root
    assert not [name for name in logging.Logger.manager.loggerDict if name.startswith("nvmath")]


def test_a_logger_of_one_call_is_used_and_its_plan_not_kept(logger, fresh_cache):
    logger.setLevel(logging.INFO)
    fft(z(8), options={"logger": logger})
    assert any("xecuting" in text for text in logger.handlers[0].texts)
    assert any("execution took" in text for text in logger.handlers[0].texts)
    assert nvmath.plan_cache.info().entries == 0


def test_an_adapter_serves_as_a_logger(logger):
    adapter = logging.LoggerAdapter(logger, {})
    with FFT(z(8), options={"logger": adapter}) as transform:
        transform.plan()
    assert logger.handlers[0].texts
