"""Which matrices turn out to be positive definite, though nothing was said of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import convection_diffusion, csr, poisson_2d

from nvmath.sparse.advanced import DirectSolverMatrixType, DirectSolverMatrixViewType
from nvmath.sparse.advanced._dominance import Dominance
from nvmath.sparse.advanced._pattern import Assembly


def dominated(a: sp.csr_array) -> bool:
    pattern = Assembly(
        a.indptr, a.indices, a.shape[0], DirectSolverMatrixType.GENERAL, DirectSolverMatrixViewType.FULL
    )  # fmt: skip
    return Dominance(pattern)(pattern.values(a.data))


def laplacian(n: int, seed: int) -> sp.csr_array:
    """Of a graph with random weights, which no boundary holds: its diagonal has rounding errors."""
    rng = np.random.default_rng(seed)
    links = sp.csr_array(
        sp.random_array((n, n), density=5 / n, rng=rng) + sp.diags_array([np.ones(n - 1)], offsets=[1])
    )
    links = sp.csr_array(sp.triu(links, 1))
    links = links + links.T
    return sp.csr_array(sp.diags_array(links.sum(axis=1)) - links)


def test_finite_differences_and_laplacians_are() -> None:
    for dtype in ("float32", "float64"):
        assert dominated(poisson_2d(20).astype(dtype))
    for seed in range(10):
        assert dominated(laplacian(50, seed))


@pytest.mark.parametrize(
    "a",
    [
        csr([[2, 1], [0, 2]]), csr([[2, 1], [1.5, 2]]), csr([[1, 2], [2, 1]]), csr([[-2, 1], [1, -2]]), csr([[0, 0], [0, 1]]),
        csr([[0, 1], [1, 0]]), csr([[2, np.nan], [np.nan, 2]]), csr([[np.nan, 0], [0, 1]]), -poisson_2d(4), convection_diffusion(5),
        sp.csr_array(poisson_2d(5) - 0.1 * sp.eye_array(25)),
    ],
)  # fmt: skip
def test_others_are_not(a: sp.csr_array) -> None:
    assert not dominated(a)


def test_what_is_has_no_negative_eigenvalue_but_for_rounding() -> None:
    rng, seen = np.random.default_rng(0), 0
    for _ in range(300):
        n = int(rng.integers(1, 6))
        a = rng.integers(-2, 3, (n, n)) + np.diag(rng.integers(0, 9, n))
        a = a + a.T if rng.random() < 0.8 else a
        if a.any() and dominated(csr(a)):
            seen += 1
            assert np.linalg.eigvalsh(a.astype(float)).min() > -1e-12 * n
            np.testing.assert_array_equal(a, a.T)
    assert seen > 30


def test_numbers_may_be_as_large_as_they_like() -> None:
    assert dominated(csr(np.array([[1e308, -9e307], [-9e307, 1e308]])))
