"""What every Fourier transform obeys, without a reference implementation."""

import numpy as np
import oracles
import pytest
from fft_cases import examples, shapes
from frameworks import BY_NAME, EPS, real_of
from hypothesis import given
from hypothesis import strategies as st

from nvmath.fft import fft, ifft, irfft, rfft

pytestmark = pytest.mark.usefixtures("backend")

NUMPY = BY_NAME["numpy"]


@st.composite
def signals(draw, kind="c", min_ndim=1):
    """Values, the axes to transform and the number of points."""
    shape = draw(shapes(max_elements=4000, long=draw(st.booleans())).filter(lambda shape: len(shape) >= min_ndim))
    dtype = draw(st.sampled_from(["complex64", "complex128"] if kind == "c" else ["float32", "float64"]))
    axes = draw(st.permutations(range(len(shape))))[: draw(st.integers(1, len(shape)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    values = rng.standard_normal(shape)
    if kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype), axes, int(np.prod([shape[axis] for axis in axes]))


def tolerance(values, points, scale=1.0):
    """Allowed error in the 2-norm, for values of that size."""
    return 2 * oracles.bound(str(values.dtype), points) * scale


def norm(values):
    return float(np.linalg.norm(np.asarray(values).astype(complex).ravel()))


@examples(60)
@given(signal=signals(), seed=st.integers(0, 99), factor=st.complex_numbers(max_magnitude=10))
def test_linearity(signal, seed, factor):
    x, axes, points = signal
    rng = np.random.default_rng(seed)
    y = (rng.standard_normal(x.shape) + 1j * rng.standard_normal(x.shape)).astype(x.dtype)
    factor = x.dtype.type(factor)
    left = fft((factor * x + y).astype(x.dtype), axes=axes)
    right = factor * fft(x, axes=axes) + fft(y, axes=axes)
    assert norm(left - right) <= tolerance(x, points, points**0.5 * (abs(factor) * norm(x) + norm(y)) * 2)


@examples(60)
@given(signal=signals())
def test_parseval(signal):
    x, axes, points = signal
    assert norm(fft(x, axes=axes)) == pytest.approx(points**0.5 * norm(x), rel=tolerance(x, points))
    assert norm(fft(x, axes=axes, norm="ortho")) == pytest.approx(norm(x), rel=tolerance(x, points))


@examples(60)
@given(signal=signals())
def test_inverse_of_forward_is_n_times_the_signal(signal):
    x, axes, points = signal
    spectrum = fft(x, axes=axes)
    assert norm(ifft(spectrum, axes=axes) - points * x) <= tolerance(x, points, points * norm(x))
    assert norm(ifft(spectrum, axes=axes, norm="backward") - x) <= tolerance(x, points, norm(x))


@examples(60)
@given(signal=signals("f"))
def test_c2r_of_r2c_is_n_times_the_signal(signal):
    x, axes, points = signal
    parity = "odd" if x.shape[axes[-1]] % 2 else "even"
    back = irfft(rfft(x, axes=axes), axes=axes, options={"last_axis_parity": parity})
    assert back.dtype == x.dtype
    assert norm(back - points * x) <= tolerance(x, points, points * norm(x))


@examples(60)
@given(signal=signals("f"))
def test_r2c_is_the_first_half_of_c2c(signal):
    x, axes, points = signal
    half = rfft(x, axes=axes)
    full = fft(x.astype(half.dtype), axes=axes)
    kept = tuple(slice(x.shape[axis] // 2 + 1) if axis == axes[-1] else slice(None) for axis in range(x.ndim))
    assert norm(half - full[kept]) <= tolerance(x, points, points**0.5 * norm(x))


@examples(40)
@given(signal=signals(), shift=st.integers(-20, 20))
def test_a_shift_is_a_phase(signal, shift):
    x, axes, points = signal
    axis = axes[0]
    length = x.shape[axis]
    phase = np.exp(-2j * np.pi * ((np.arange(length) * shift) % length) / length)
    phase = phase.reshape([-1 if other == axis else 1 for other in range(x.ndim)])
    difference = fft(np.roll(x, shift, axis), axes=axes) - fft(x, axes=axes) * phase
    assert norm(difference) <= tolerance(x, points, points**0.5 * norm(x))


@examples(40)
@given(signal=signals())
def test_an_impulse_is_constant_and_a_constant_is_an_impulse(signal):
    x, axes, points = signal
    impulse = np.zeros_like(x)
    impulse[tuple(0 if axis in axes else slice(None) for axis in range(x.ndim))] = 1
    np.testing.assert_allclose(fft(impulse, axes=axes), 1, atol=8 * EPS[real_of(str(x.dtype))] * np.log2(points + 2))
    constant = fft(np.ones_like(x), axes=axes)
    assert norm(constant - points * impulse) <= tolerance(x, points, points**0.5 * x.size**0.5)


@examples(40)
@given(signal=signals(min_ndim=2))
def test_a_batch_is_a_loop(signal):
    x, axes, points = signal
    if len(axes) == x.ndim:
        axes = axes[:-1]
    batch = next(axis for axis in range(x.ndim) if axis not in axes)
    whole = fft(x, axes=axes)
    inner = [axis - (axis > batch) for axis in axes]
    for index in range(x.shape[batch]):
        one = fft(np.take(x, index, batch), axes=inner)
        assert norm(np.take(whole, index, batch) - one) <= tolerance(x, points, norm(one))


@examples(40)
@given(signal=signals(min_ndim=2))
def test_axes_separate(signal):
    x, axes, points = signal
    together = fft(x, axes=axes)
    apart = x
    for axis in axes:
        apart = fft(apart, axes=[axis])
    assert norm(together - apart) <= tolerance(x, points, norm(together))


@examples(40)
@given(data=st.data(), signal=signals())
def test_the_layout_of_the_operand_does_not_matter(data, signal):
    from fft_cases import strides

    x, axes, points = signal
    layout = data.draw(strides(x.shape, negative=True, zero=False))
    other = NUMPY.array(x, None, layout, data.draw(st.integers(0, 3)))
    want = fft(x, axes=axes)
    assert norm(fft(other, axes=axes) - want) <= tolerance(x, points, norm(want))


@examples(30)
@given(signal=signals())
def test_conjugation_reverses_the_direction(signal):
    x, axes, points = signal
    difference = fft(x.conj(), axes=axes) - ifft(x, axes=axes).conj()
    assert norm(difference) <= tolerance(x, points, points**0.5 * norm(x))


@pytest.mark.parametrize("length", [97, 1009, 4093, 10007, 65537, 30030, 1 << 17])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_accuracy_does_not_drop_for_large_primes(length, dtype):  # R34
    rng = np.random.default_rng(length)
    x = (rng.standard_normal(length) + 1j * rng.standard_normal(length)).astype(dtype)
    y = fft(x)
    oracles.assert_close(y, oracles.fft(x, (0,), "C2C", (length,)), dtype, (0,), length)
    assert norm(ifft(y) / length - x) <= tolerance(x, length, norm(x))
