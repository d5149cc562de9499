"""Memory stays flat: after every plan has been made, nothing grows."""

import gc
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import nvmath

SHAPES = (
    [(size,) for size in range(16, 56)]
    + [(3, size) for size in (8, 11, 16, 30, 32)]
    + [(4, 5, size) for size in range(6, 11)]
)
CALLS = 100_000


def resident() -> int:
    """Bytes of memory that the process occupies."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def operands():
    rng = np.random.default_rng(2)
    nvmath.plan_cache.clear(captured=True)
    yield [rng.standard_normal(shape).astype("complex64") for shape in SHAPES]
    nvmath.plan_cache.clear(captured=True)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux says how much memory is resident")
def test_resident_memory_is_flat_over_100_000_calls_of_50_shapes(operands):
    assert len(operands) == 50

    def rounds(count):
        for _ in range(count // len(operands)):
            for operand in operands:
                nvmath.fft.fft(operand)

    rounds(10_000)
    gc.collect()
    before = resident()
    rounds(CALLS)
    gc.collect()
    assert resident() - before < 2 * 2**20


def test_python_objects_are_as_many_after_as_before(operands):
    def rounds(count):
        for _ in range(count):
            for operand in operands:
                nvmath.fft.fft(operand)

    rounds(3)
    gc.collect()
    tracemalloc.start()
    try:
        rounds(2)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        rounds(100)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 8 * 1024


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux says how much memory is resident")
def test_plans_that_leave_the_cache_give_their_memory_back(operands):
    nvmath.plan_cache.clear(captured=True)  # plans of the graphs of other tests do not count
    bounds = nvmath.plan_cache.info()
    nvmath.plan_cache.configure(max_entries=5)
    try:

        def rounds(count):
            for _ in range(count):
                for operand in operands:
                    nvmath.fft.fft(operand)

        rounds(20)
        gc.collect()
        before = resident()
        rounds(60)
        gc.collect()
        assert nvmath.plan_cache.info().entries <= 5
        assert resident() - before < 2 * 2**20
    finally:
        nvmath.plan_cache.configure(max_entries=bounds.max_entries)


def test_objects_that_nobody_freed_give_their_memory_back(operands):
    def rounds(count):
        for _ in range(count):
            transform = nvmath.fft.FFT(operands[0])
            transform.plan()
            transform.execute()
            del transform

    rounds(50)
    gc.collect()
    tracemalloc.start()
    try:
        rounds(10)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        rounds(500)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # An object that stayed would be kilobytes; Python's cache of attribute names keeps some that were made at run time.
    assert after - before < 500 * 100
