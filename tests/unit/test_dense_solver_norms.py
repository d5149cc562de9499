"""The kernel for norms, block by block on the host, and how many blocks a matrix gets."""

import ctypes

import numpy as np
import pytest
from norms_on_host import compiled
from solver_cases import DTYPES, numbers

from nvmath._core.dtypes import DTYPES as ROWS
from nvmath.linalg._solver import _kernels

PARTS = {_kernels.WHOLE: lambda a: a, _kernels.LOWER: np.tril, _kernels.UPPER: np.triu}


def norms(stack, slices, part, split):
    """The norms that the kernel finds, of the first columns and of the others; there are zeros where several blocks meet."""
    count, cols, ld = stack.shape
    found = np.zeros((2, count))
    integer, long = ctypes.c_int, ctypes.c_longlong
    compiled(str(stack.dtype))(
        integer(count), integer(slices), ctypes.c_void_p(stack.ctypes.data), ctypes.c_void_p(found[0].ctypes.data),
        ctypes.c_void_p(found[1].ctypes.data), long(cols * ld), integer(ld - 1), integer(cols), long(ld), integer(part), integer(split),
    )  # fmt: skip
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("slices", [1, 3, 40])
@pytest.mark.parametrize("part", PARTS)
def test_it_is_the_largest_sum_of_a_column(dtype, slices, part):
    rng = np.random.default_rng(5)
    stack = numbers(rng, (2, 23, 24), dtype)  # column by column, and one element more than there are rows
    columns = np.abs(PARTS[part](stack[:, :, :23].swapaxes(1, 2))).sum(axis=1, dtype="float64")
    first, rest = norms(stack, slices, part, 20)
    np.testing.assert_allclose(first, columns[:, :20].max(axis=1), rtol=1e-5)
    np.testing.assert_allclose(rest, columns[:, 20:].max(axis=1), rtol=1e-5)


@pytest.mark.parametrize("slices", [1, 7])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_shows(slices, value):
    stack = np.ones((2, 9, 10))
    stack[1, 8, 3] = value
    first, _ = norms(stack, slices, _kernels.WHOLE, 9)
    assert first[0] == 9
    np.testing.assert_equal(first[1], abs(value))


@pytest.mark.parametrize(
    ("shape", "count", "blocks"),
    [((64, 64), 1, 1), ((4000, 4000), 1, 528), ((256, 256), 1, 64), ((256, 256), 100, 5), ((256, 256), 4000, 1)],
)
@pytest.mark.parametrize("split", [None, 255])
def test_large_matrices_are_shared_by_blocks_which_begin_with_zeros(monkeypatch, shape, count, blocks, split):
    seen = []
    monkeypatch.setattr(_kernels, "_function", lambda *key: 1)
    monkeypatch.setattr(_kernels.driver, "memset_d8_async", lambda *given: seen.append(given), raising=False)
    monkeypatch.setattr(_kernels.driver, "launch_kernel", lambda function, *grid: seen.append(grid[:2]), raising=False)
    _kernels.Norms(0, ROWS["float64"], 1, count, shape, shape[0], split=split)(100, 200, 300, 7)
    zeros = [(200, 0, 8 * count, 7), (300, 0, 8 * count, 7)][: 2 if split is not None and split < shape[1] else 1]
    assert seen == [*(zeros if blocks > 1 else []), (count, blocks)]
