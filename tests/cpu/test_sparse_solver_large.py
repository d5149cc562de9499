"""Systems that are large enough for what MKL PARDISO does with several threads: other orderings, another factorization."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import assert_solves, hermitian, poisson_2d, poisson_3d

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


def order(a: sp.csr_array, ordering: str) -> np.ndarray:
    """In which order a symmetric matrix is factorized."""
    with DirectSolver(a, np.ones(a.shape[0]), options={"sparse_system_type": "SYMMETRIC"}, execution="cpu") as solver:
        solver.plan_config.reordering_algorithm = ordering
        return solver.plan().row_permutation


def test_only_a_grid_in_the_plane_numbered_row_by_row_is_ordered_by_minimum_degree() -> None:
    grid, shuffle = poisson_2d(SIDE), np.random.default_rng(0).permutation(N)
    for a, flat in ((grid, True), (sp.csr_array(grid[shuffle][:, shuffle]), False), (poisson_3d(24), False)):
        np.testing.assert_array_equal(order(a, "default"), order(a, "amd" if flat else "nested_dissection"))


# --- a matrix of which nothing was said, and that is positive definite ------------------------------------------------------------


def changed(a: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    """The same pattern with other values."""
    return sp.csr_array((data, a.indices, a.indptr), shape=a.shape)


def elements(a: sp.csr_array, kind: str) -> int:
    """How many elements the factors have: of a positive definite matrix only one triangle."""
    b = np.ones(a.shape[0], a.dtype)
    with DirectSolver(a, b, options={"sparse_system_type": kind}, execution="cpu") as solver:
        solver.plan()
        return solver.factorize().lu_nnz


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_symmetric_dominated_matrix_is_factorized_as_a_definite_one(dtype: str, form: str) -> None:
    a = poisson_2d(SIDE).astype(dtype).asformat(form)
    b = np.random.default_rng(0).random((N, 2)).astype(dtype)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        assert solver.factorize().lu_nnz == elements(a, "SPD")
        for trans in "NTH":
            assert_solves(a, solver.solve(trans=trans), b, 10_000)


def test_values_decide_it_at_every_factorization() -> None:
    a, b = poisson_2d(SIDE), np.random.default_rng(0).random(N)
    unsymmetric = changed(a, a.data * np.random.default_rng(1).uniform(0.5, 1, a.nnz))
    indefinite = sp.csr_array(a - 2.5 * sp.eye_array(N))
    negative = changed(a, -a.data)
    with DirectSolver(a, b, execution="cpu") as solver:
        for other in (unsymmetric, indefinite, negative):
            solver.reset_operands(a=a)
            solver.plan()
            half = solver.factorize().lu_nnz
            assert_solves(a, solver.solve(), b, 10_000)
            solver.reset_operands(a=other)
            assert solver.factorize().lu_nnz > 1.5 * half
            assert_solves(other, solver.solve(), b, 10_000)
            assert_solves(other.T, solver.solve(trans="T"), b, 10_000)


def test_values_that_change_in_place_without_a_factorization_are_noticed() -> None:
    a, b = poisson_2d(SIDE), np.random.default_rng(0).random(N)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        a.data *= np.random.default_rng(1).uniform(0.5, 1, a.nnz)
        assert_solves(a, solver.solve(), b, 10_000)


@pytest.mark.parametrize("on_failure", ["retry", "raise"])
def test_a_floating_grid_is_singular_whatever_it_was_factorized_as(on_failure: str) -> None:
    rng = np.random.default_rng(0)
    links = sp.csr_array(sp.triu(poisson_2d(SIDE), 1))
    links.data = -rng.uniform(0.1, 1, links.nnz)
    links = links + links.T
    a = sp.csr_array(links - sp.diags_array(links.sum(axis=1)))
    with pytest.raises(SingularSystemError, match="singular"):
        direct_solver(a, np.ones(N), options={"on_failure": on_failure}, execution="cpu")


@pytest.mark.parametrize(
    ("phase", "name", "value"),
    [("plan", "matching_algorithm", "max_diag_product"), ("factorization", "pivot_eps", 1e-8)],
)
def test_settings_of_pivots_and_matching_are_obeyed(phase: str, name: str, value: object) -> None:
    a = poisson_2d(SIDE)
    with DirectSolver(a, np.ones(N), execution="cpu") as solver:
        if phase == "plan":
            setattr(solver.plan_config, name, value)
        solver.plan()
        if phase == "factorization":
            setattr(solver.factorization_config, name, value)
        assert solver.factorize().lu_nnz > 1.5 * elements(a, "SPD")
        assert_solves(a, solver.solve(), np.ones(N), 10_000)
