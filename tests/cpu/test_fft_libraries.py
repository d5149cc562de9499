"""What is promised of the libraries behind the FFTW3 interface, on the library itself and through genuine FFTW."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import oracles
import pytest
import scipy.fft
from frameworks import library_present
from numpy.lib.stride_tricks import as_strided

from nvmath.bindings._seam import pointer
from nvmath.bindings.nvpl import fft as fftw
from nvmath.fft import _fftw
from nvmath.fft._primes import largest_prime_factor

FOUND = _fftw.flavour()
LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    11,
    12,
    13,
    15,
    16,
    17,
    25,
    31,
    32,
    49,
    64,
    97,
    101,
    127,
    128,
    243,
    256,
    509,
    1009,
    1024,
]

needs_library = pytest.mark.skipif(
    FOUND is None, reason="no library with the FFTW3 interface is installed (pip install mkl)"
)


def draw_layout(rng, shape):
    """Strides of an array with steps and gaps, in any order of its axes."""
    order = list(range(len(shape)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    strides, step = [0] * len(shape), rng.choice([1, 1, 2, 3])
    for axis in order[::-1]:
        strides[axis] = step
        step *= shape[axis]
        if rng.random() < 0.2:
            step += rng.randint(1, 3)
    return strides


def room(shape, strides):
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


@needs_library
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
@pytest.mark.parametrize("bits", [32, 64])
def test_c2r_spares_its_input_where_we_rely_on_it(rank, bits):
    """Ranks, layouts, odd and prime lengths, batches, threads: what `Capability` says of the library is true."""
    if not _fftw.CAPABILITIES[FOUND.flavour].preserves_c2r(rank):
        pytest.skip(f"{FOUND.flavour} does not promise it for {rank} axes, and we do not rely on it")
    rng, values = random.Random(rank), np.random.default_rng(rank)
    complex_, real = (np.complex64, np.float32) if bits == 32 else (np.complex128, np.float64)
    execute = fftw.execute_c2r_float if bits == 32 else fftw.execute_c2r_double
    most = {1: 1024, 2: 128, 3: 32, 4: 13}[rank]
    for _ in range(250):
        lengths = [rng.choice([n for n in LENGTHS if n <= most]) for _ in range(rank)]
        batch = rng.choice([1, 1, 2, 3, 7, 33])
        half = [batch, *lengths[:-1], lengths[-1] // 2 + 1]
        inner, outer = draw_layout(rng, half), draw_layout(rng, [batch, *lengths])
        source = values.standard_normal(2 * room(half, inner)).astype(real).view(complex_)
        target = np.zeros(room([batch, *lengths], outer), real)
        keep = source.copy()
        flags = 1 << 6 | (fftw.PRESERVE_INPUT if rank == 1 else 0) | (fftw.UNALIGNED if FOUND.flavour == "fftw" else 0)
        dims = list(zip(lengths, inner[1:], outer[1:], strict=True))
        howmany = [(batch, inner[0], outer[0])] if batch > 1 else []
        plan = fftw.plan_guru(bits, 2, 1, dims, howmany, 1 << 20, 1 << 30, flags=flags, num_threads=rng.choice([1, 2]))
        execute(plan, pointer(source), pointer(target))
        fftw.destroy_guru(bits, plan)
        np.testing.assert_array_equal(source, keep, err_msg=f"{lengths} x {batch}, strides {inner} to {outer}")
        if rank == 1:
            seen = as_strided(source, half, [stride * source.itemsize for stride in inner])
            got = as_strided(target, [batch, *lengths], [stride * target.itemsize for stride in outer])
            want = scipy.fft.irfft(seen.astype(complex), lengths[0], axis=1, norm="forward")
            scale = np.linalg.norm(seen) * lengths[0] ** 0.5 * 2
            assert np.linalg.norm(got - want) <= oracles.bound(str(np.dtype(real)), lengths[0]) * scale


@needs_library
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_planning_touches_no_memory(kind):
    """Planning is given addresses at which nothing is mapped."""
    for dims in ([(8, 1, 1)], [(1009, 1, 1)], [(64, 33, 64), (64, 1, 1)], [(4, 60, 60), (6, 10, 10), (5, 1, 1)]):
        for howmany in ([], [(7, 5000, 5000)]):
            plan = fftw.plan_guru(64, kind, 1 if kind == 2 else -1, dims, howmany, 1 << 20, 1 << 30, num_threads=2)
            fftw.destroy_guru(64, plan)


@pytest.mark.parametrize(
    ("length", "largest"), [(1, 1), (2, 2), (97, 97), (1024, 2), (30030, 13), (2 * 10007, 10007), (49, 7)]
)
def test_largest_prime_factor(length, largest):
    assert largest_prime_factor(length) == largest


# --- genuine FFTW -----------------------------------------------------------------------------------------------------

FFTW = "libfftw3.so.3"
fftw_only = pytest.mark.skipif(
    not (library_present(FFTW) and library_present("libfftw3f.so.3")),
    reason="FFTW is not installed (apt install libfftw3-double3 libfftw3-single3)",
)


def through_fftw(*arguments, timeout=300):
    environment = {
        **os.environ,
        "NVMATH_FFT_CPU_LIBRARY": FFTW,
        "NVMATH_TEST_EFFORT": "0.4",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, check=False, timeout=timeout, cwd=Path(__file__).parents[2], env=environment,
    )  # fmt: skip


@fftw_only
def test_fftw_is_found_where_it_is_named():
    run = through_fftw("-c", "from nvmath.bindings.nvpl import fft; print(fft.fftw_library().flavour)")
    assert run.stdout == "fftw\n", run.stderr


@fftw_only
@pytest.mark.parametrize("module", ["test_fft_any", "test_fft_real"])
def test_the_suite_passes_on_fftw(module):  # W1
    run = through_fftw("-m", "pytest", "-q", "-k", "library", "-p", "no:cacheprovider", f"tests/cpu/{module}.py")
    assert run.returncode == 0, run.stdout[-3000:]


@fftw_only
def test_fftw_in_a_forked_child():
    run = through_fftw(
        "-W", "ignore", "-c",
        "import os, numpy as np, nvmath\n"
        "a = np.ones((256, 256), complex); nvmath.fft.fft(a)\n"
        "pid = os.fork()\n"
        "if pid == 0: os._exit(0 if nvmath.fft.fft(a)[0, 0] == 65536 else 1)\n"
        "print(os.waitpid(pid, 0)[1])",
        timeout=60,
    )  # fmt: skip
    assert run.stdout == "0\n", run.stderr
