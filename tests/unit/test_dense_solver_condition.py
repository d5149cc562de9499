"""The guess and the estimate of condition numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvmath.linalg._solver._condition import half_as_whole, inverse_norm, norms_of, probe


def estimate(a):
    inverse = np.linalg.inv(a)
    return inverse_norm(len(a), a.dtype.name, lambda v: inverse @ v, lambda v: inverse.conj().T @ v)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 30), dtype=st.sampled_from(["float64", "complex128"]))
def test_the_estimate_is_a_lower_bound_and_close(seed, n, dtype):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if dtype[0] == "c" else 0)
    true = np.linalg.norm(np.linalg.inv(a), 1)
    assert true / 10 <= estimate(a.astype(dtype)) <= true * (1 + 1e-8)


def test_an_inverse_that_is_not_finite_has_an_infinite_norm():
    assert inverse_norm(3, "float64", lambda v: v * np.inf, lambda v: v) == np.inf
    assert inverse_norm(3, "float64", lambda v: v * np.nan, lambda v: v) == np.inf


@pytest.mark.parametrize("n", [1, 2, 5, 64, 300])
def test_the_guess_sees_a_small_singular_value_in_any_direction(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        direction = rng.standard_normal(n) * (rng.random(n) < rng.choice([1.0, 0.2]))
        direction[rng.integers(n)] += 1
        direction /= np.linalg.norm(direction)
        inverse = np.outer(rng.standard_normal(n), direction)
        assert np.abs(inverse @ probe(n, "float64")).sum() >= 0.005 * np.linalg.norm(inverse, 1)


def test_the_probe_is_fixed_and_nowhere_small():
    assert np.array_equal(probe(40, "float64"), probe(40, "float64"))
    assert np.abs(probe(1000, "float32")).min() >= 0.5
    with pytest.raises(ValueError, match="read-only"):
        probe(3, "float64")[0] = 1


@pytest.mark.parametrize("lower", [True, False])
def test_half_a_matrix_has_the_norm_of_the_whole(lower):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((4, 6, 6)) + 1j * rng.standard_normal((4, 6, 6))
    a = a + a.conj().swapaxes(1, 2)
    half = np.where(np.tri(6, dtype=bool) if lower else np.tri(6, dtype=bool).T, a, np.nan)
    np.testing.assert_allclose(norms_of(half_as_whole(half, lower)), np.linalg.norm(a, 1, axis=(1, 2)))
