"""Transforms of real signals and back: lengths, the bins that must be real, and the operand that is never destroyed."""

import itertools

import numpy as np
import oracles
import pytest
from fft_cases import cases, examples
from frameworks import BY_NAME, HOST, params
from hypothesis import given
from hypothesis import strategies as st

from nvmath.fft import FFT, irfft, rfft

pytestmark = pytest.mark.usefixtures("backend")

frameworks = pytest.mark.parametrize("framework", params(HOST))
NUMPY = BY_NAME["numpy"]
ODD = {"last_axis_parity": "odd"}


def close(got, want, tolerance=1e-10):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def spectrum_of(*shape):
    """A half spectrum in which nothing is special."""
    rng = np.random.default_rng(3)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


# --- lengths ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 97, 100, 2003, 4096])
def test_r2c_and_c2r_of_any_length(n):  # R14
    x = np.random.default_rng(n).random((2, n))
    half = rfft(x, axes=[1])
    assert half.shape == (2, n // 2 + 1)
    close(half, np.fft.rfft(x))
    back = irfft(half, axes=[1], options=ODD if n % 2 else None)
    assert back.shape == (2, n)
    close(back, n * x, 1e-9)


def test_c2r_of_two_axes_with_an_odd_length():
    x = np.random.default_rng(0).random((5, 7))
    close(irfft(rfft(x, axes=[0, 1]), axes=[0, 1], options=ODD), 35 * x)


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 8])
def test_the_length_of_a_c2r_result(bins):
    operand = spectrum_of(3, bins)
    assert irfft(operand, axes=[1], options=ODD).shape == (3, 2 * bins - 1)
    if bins > 1:
        assert irfft(operand, axes=[1]).shape == (3, 2 * bins - 2)
    assert irfft(operand, axes=[1], n=2 * bins + 1).shape == (3, 2 * bins + 1)


def test_the_default_length_is_even():
    x = np.random.default_rng(0).random(7)
    close(irfft(rfft(x)), np.fft.irfft(np.fft.rfft(x), 6, norm="forward"))


# --- bins that a real signal makes real -------------------------------------------------------------------------------


def self_conjugate(shape):
    """Indices of the bins that are their own mirror image."""
    return itertools.product(*((0, n // 2) if n % 2 == 0 else (0,) for n in shape))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    "shape", [(1,), (2,), (7,), (8,), (2003,), (4006,), (8, 6), (8, 7), (7, 6), (5, 5), (1, 8), (8, 1), (1, 1), (4, 6, 8),
              (3, 5, 7), (4, 6, 5), (16, 2003), (2, 3, 4, 6)],
)  # fmt: skip
def test_imaginary_parts_that_no_real_signal_has_are_ignored(shape, dtype):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((3, *shape))
    axes = tuple(range(1, x.ndim))
    half = oracles.hermitian(x, axes).astype(complex)
    for index in self_conjugate(shape):
        half[(slice(None), *index)] += 5j * rng.standard_normal(3)
    points = int(np.prod(shape))
    want = x.astype(np.longdouble) * points
    got = irfft(half.astype(dtype), axes=axes, options=ODD if shape[-1] % 2 else None)
    oracles.assert_close(got, want, dtype, axes, points, slack=4.0)


@pytest.mark.parametrize(
    ("shape", "axes"), [((3, 4, 5), (0, 2)), ((3, 4, 5), (0, 1, 2)), ((4, 4), (1, 0)), ((2, 3, 4, 5), (3, 1, 0))]
)
def test_a_spectrum_that_no_real_signal_has_gives_what_numpy_gives(shape, axes):
    operand = spectrum_of(*shape)
    close(irfft(operand, axes=axes), np.fft.irfftn(operand, axes=axes, norm="forward"))
    close(irfft(operand, axes=axes, options=ODD), np.fft.irfftn(
        operand, [*(shape[axis] for axis in axes[:-1]), 2 * shape[axes[-1]] - 1], axes=axes, norm="forward"))  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 5, 8, 31, 64])
def test_a_lone_axis_needs_no_symmetry(n):
    bins = n // 2 + 1
    operand = spectrum_of(4, bins)
    close(irfft(operand, axes=[1], n=n), np.fft.irfft(operand, n, norm="forward"))


# --- the operand ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((5, 9), [1]), ((5, 4, 9), [1, 2]), ((4, 4, 5), [0, 1, 2]), ((9, 5), [0]), ((3, 4, 5, 6), [3, 1, 0]),
     ((3, 4, 5, 6), [0, 2, 1, 3]), ((1002, 3), [0]), ((2, 1002), [1]), ((7, 1002), [0, 1])],
)  # fmt: skip
def test_c2r_leaves_its_operand_alone(shape, axes):  # R16
    operand = spectrum_of(*shape)
    keep = operand.copy()
    for options in (None, ODD):
        irfft(operand, axes=axes, options=options)
        np.testing.assert_array_equal(operand, keep)
    operand.flags.writeable = False
    irfft(operand, axes=axes)
    with FFT(operand, axes=axes, options={"fft_type": "C2R"}) as transform:
        transform.plan()
        first, second = transform.execute(), transform.execute()
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(operand, keep)


@frameworks
@examples(100)
@given(data=st.data())
def test_no_transform_writes_to_its_operand(framework, data):
    case = data.draw(cases(framework, max_elements=3000))
    values = case.values()
    operand = case.operand(framework, values)
    with FFT(operand, **case.keywords()) as transform:
        transform.plan()
        np.testing.assert_array_equal(framework.numpy(operand), values)  # R26: planning neither
        transform.execute(case.direction)
        transform.execute(case.direction)
    np.testing.assert_array_equal(framework.numpy(operand), values)


@examples(40)
@given(data=st.data())
def test_read_only_operands(data):  # R26
    case = data.draw(cases(NUMPY, max_elements=3000))
    operand = case.operand(NUMPY, case.values())
    operand.flags.writeable = False
    with FFT(operand, **case.keywords()) as transform:
        transform.plan()
        transform.execute(case.direction)


def test_edits_of_the_operand_are_seen_by_the_next_execution():
    x = spectrum_of(3, 5)
    with FFT(x, axes=[1], options={"fft_type": "C2R"}) as transform:
        transform.plan()
        transform.execute()
        x *= 2
        close(transform.execute(), np.fft.irfft(x, norm="forward"))
