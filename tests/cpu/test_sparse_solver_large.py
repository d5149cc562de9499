"""Systems that are large enough for what MKL PARDISO does with several threads: other orderings, another factorization."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import assert_solves, hermitian, poisson_2d

from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import DirectSolver, SingularSystemError, direct_solver

pytestmark = pytest.mark.skipif(not mkl_pardiso.present(), reason="MKL is not installed (pip install mkl)")

SIDE = 150
N = SIDE**2


def shifted(shift: float) -> tuple[sp.csr_array, np.ndarray]:
    """Second differences less a multiple of the identity, and the eigenvalues."""
    line = 2 - 2 * np.cos(np.pi * np.arange(1, SIDE + 1) / (SIDE + 1))
    return sp.csr_array(poisson_2d(SIDE) - shift * sp.eye_array(N)), (line[:, None] + line).ravel() - shift


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_definite_systems(dtype: str) -> None:
    real = dtype.startswith("float")
    a = sp.csr_array(poisson_2d(SIDE) if real else hermitian(SIDE) + sp.eye_array(N)).astype(dtype)
    b = np.random.default_rng(0).random((N, 2)).astype(dtype)
    with DirectSolver(a, b, options={"sparse_system_type": "SPD" if real else "HPD"}, execution="cpu") as solver:
        solver.plan()
        for factor in (1.0, 2.0):
            solver.reset_operands(a=sp.csr_array((a.data * a.dtype.type(factor), a.indices, a.indptr), shape=a.shape))
            solver.factorize()
            assert_solves(factor * a, solver.solve(), b, 10_000)
        assert solver.factorization_info.inertia.tolist() == [N, 0]


@pytest.mark.parametrize("shift", [0.1, 2.5, 9.0])
def test_a_matrix_that_is_not_definite_is_refused(shift: float) -> None:
    a, _ = shifted(shift)
    with pytest.raises(SingularSystemError, match="not positive definite"):
        direct_solver(a, np.ones(N), options={"sparse_system_type": "SPD"}, execution="cpu")


@pytest.mark.parametrize("shift", [0.1, 2.5, 9.0])
def test_eigenvalues_of_indefinite_systems_are_counted(shift: float) -> None:
    a, values = shifted(shift)
    with DirectSolver(a, np.ones(N), options={"sparse_system_type": "SYMMETRIC"}, execution="cpu") as solver:
        solver.plan()
        info = solver.factorize()
        assert_solves(a, solver.solve(), np.ones(N), 10_000)
        np.testing.assert_array_equal(info.inertia, [(values > 0).sum(), (values < 0).sum()])


@pytest.mark.parametrize("ordering", ["default", "nested_dissection", "amd", "none"])
def test_orderings(ordering: str) -> None:
    a = sp.csr_array(poisson_2d(SIDE) + sp.diags_array([np.full(N - 1, 0.3)], offsets=[1], shape=(N, N)))
    a = a[: 2000 if ordering == "none" else N, : 2000 if ordering == "none" else N]
    b = np.random.default_rng(1).random(a.shape[0])
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan_config.reordering_algorithm = ordering
        order = solver.plan().row_permutation
        solver.factorize()
        assert_solves(a, solver.solve(), b, 10_000)
        assert_solves(a.T, solver.solve(trans="T"), b, 10_000)
        np.testing.assert_array_equal(np.sort(order), np.arange(a.shape[0]))
