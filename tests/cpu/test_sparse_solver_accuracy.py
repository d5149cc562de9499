"""As many digits as the arithmetic allows: solutions are refined, and healthy systems of any scale are not refused."""

from __future__ import annotations

import subprocess
import sys
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from sparse_cases import csr, eps, poisson_2d

import nvmath
from nvmath.sparse.advanced import DirectSolver, IllConditionedWarning, SingularSystemError, direct_solver

pytestmark = pytest.mark.usefixtures("sparse_library")


def backward_error(a: Any, x: np.ndarray, b: np.ndarray) -> float:
    """In rounding units."""
    scale = abs(a).sum(axis=1).max() * abs(x).max() + abs(b).max()
    return float(abs(a @ x - b).max() / scale / eps(x.dtype))


def solve_quietly(a: Any, b: np.ndarray, **options: Any) -> np.ndarray:
    """Solve, and fail if there is any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return direct_solver(a, b, options=options, execution="cpu")  # type: ignore[no-any-return]


# --- scales ---------------------------------------------------------------------------------------------------------------------------

N = 200
LINE = sp.csr_array(sp.diags_array([-1.0, 100, -1], offsets=[-1, 0, 1], shape=(N, N)))
FIRST = np.eye(N)[0]
BIG_ROWS = sp.diags_array(np.where(np.arange(N) % 7 == 0, 1e6, 1.0))
SMALL_COLUMNS = sp.diags_array(np.where(np.arange(N) % 5 == 0, 1e-7, 1.0))
HEALTHY = {
    "a solution that is 0 but for rounding": (
        csr([[0.1, 0, 0, 0], [20, 20, 0, 20], [0, 0, 200, 200], [1e-4, -1e-4, 0, 3e-4]]),
        np.array([0, 1.0, 0, 0]),
    ),
    "a solution that decays into nothing": (LINE, FIRST),
    "some rows are large": (sp.csr_array(BIG_ROWS @ LINE), FIRST),
    "some columns are small": (sp.csr_array(LINE @ SMALL_COLUMNS), FIRST),
    "large rows and small columns": (sp.csr_array(BIG_ROWS @ LINE @ SMALL_COLUMNS), FIRST),
    "tiny right-hand sides": (csr([[3, 1], [1, 7]]), np.array([5e-324, 1.5e-323])),
    "a solution that is too small to be written": (csr([[1e300]]), np.array([1e-300])),
}


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("on_failure", ["retry", "raise"])
def test_healthy_systems_are_solved(name: str, on_failure: str) -> None:
    a, b = HEALTHY[name]
    expected = np.linalg.solve(a.toarray(), b)
    x = solve_quietly(a, b, on_failure=on_failure)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-13 * abs(expected).max() + 1e-323)


def test_elements_that_are_no_normal_numbers() -> None:
    """PARDISO takes them for 0."""
    np.testing.assert_allclose(solve_quietly(csr([[1e-320]]), np.array([1e-320])), 1)


@pytest.mark.parametrize("seed", range(10))
def test_rows_and_columns_of_any_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, exact = rng.standard_normal((30, 30)), rng.standard_normal(30)
    rows, columns = 10.0 ** rng.uniform(-100, 100, 30), 10.0 ** rng.uniform(-50, 50, 30)
    x = solve_quietly(sp.csr_array(rows[:, None] * a * columns), rows * (a @ exact))
    np.testing.assert_allclose(x * columns, exact, rtol=1e-10)


@pytest.mark.parametrize("kind", ["general", "symmetric"])
@pytest.mark.parametrize("right", [1e308, 1e300])
def test_sums_that_overflow_hide_no_error(kind: str, right: float) -> None:
    a, b = csr([[1e308, 1e308], [1e308, -1e308]]), np.array([right, 0])
    try:
        x = direct_solver(a, b, options={"sparse_system_type": kind}, execution="cpu")
    except SingularSystemError:  # numbers overflow
        return
    np.testing.assert_allclose(x, right * np.array([0.5e-308, 0.5e-308]), rtol=1e-12)


# --- refinement -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["general", "symmetric"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_indefinite_system_has_all_digits(kind: str, dtype: str) -> None:
    """Without refinement the pivots of the general one cost four digits."""
    a = sp.csr_array(poisson_2d(90) - 1.3 * sp.eye_array(8100)).astype(dtype)
    b = np.random.default_rng(0).standard_normal((8100, 2)).astype(dtype)
    x = solve_quietly(a, b, sparse_system_type=kind)
    for column in range(2):
        assert backward_error(a, x[:, column], b[:, column]) <= 64


@pytest.mark.parametrize("seed", [130, 132, 133, 134, 137, 138])
def test_replaced_pivots_of_symmetric_matrices_cost_no_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(50, 300))
    matrix = np.where(rng.random((n, n)) < 3 / n, rng.standard_normal((n, n)), 0)
    matrix = matrix + matrix.T + np.diag(rng.random(n) < 0.3)
    exact = rng.standard_normal(n)
    a, b = sp.csr_array(matrix), matrix @ exact
    reference = abs(spsolve(a.tocsc(), b) - exact).max()
    x = direct_solver(a, b, options={"sparse_system_type": "symmetric"}, execution="cpu")
    assert abs(x - exact).max() <= 100 * reference + 1e-13


def test_the_transpose_is_refined_too() -> None:
    rng = np.random.default_rng(0)
    a = sp.csr_array(poisson_2d(90) - 1.3 * sp.eye_array(8100) + sp.random_array((8100, 8100), density=1e-5, rng=rng))
    b = rng.standard_normal(8100)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        assert backward_error(a.T, solver.solve(trans="T"), b) <= 64


def test_no_doubt_is_told_where_the_solution_is_right() -> None:
    """A small b, and a solution of which a large part cancels in it: its residual says little."""
    matrix, exact = np.array([[1.0, 1, 0], [1, -1, 1e-3], [0, 1e-3, 1e-9]]), np.array([1.0, -1.0, 2000.0])
    a = sp.csr_array(np.diag([1e9, 1, 1]) @ matrix)
    b = a @ exact
    np.testing.assert_allclose(solve_quietly(a, b), np.linalg.solve(a.toarray(), b), rtol=1e-8)


def test_doubt_is_told_where_digits_are_lost() -> None:
    a = csr([[0.1, 0.3], [0.3, 0.9 + 1e-9]])
    with pytest.warns(IllConditionedWarning, match="Few digits"):
        direct_solver(a, np.array([1, 0.7]), execution="cpu")


# --- what is not as it was said -------------------------------------------------------------------------------------------------------


def asymmetric(m: int, excess: float, dtype: str) -> sp.csr_array:
    """A Laplacian whose lower triangle is larger than the upper one."""
    a = poisson_2d(m)
    return sp.csr_array(sp.triu(a) + (1 + excess) * sp.tril(a, -1)).astype(dtype)


def falsely_said_to_be(kind: str, on_failure: str) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    a = asymmetric(200, 0.02, "float32")
    exact = np.random.default_rng(0).standard_normal(a.shape[0])
    b = (a.astype(float) @ exact).astype("float32")
    return a, solve_quietly(a, b, sparse_system_type=kind, on_failure=on_failure), b


@pytest.mark.parametrize("on_failure", ["retry", "raise"])
def test_a_large_matrix_in_single_precision_that_is_not_definite_as_was_said_is_refused(on_failure: str) -> None:
    with pytest.raises(SingularSystemError, match="type and view"):
        falsely_said_to_be("spd", on_failure)


def test_one_that_is_not_symmetric_as_was_said_is_solved_as_what_it_is(sparse_library: str) -> None:
    a, x, b = falsely_said_to_be("symmetric", "retry")
    assert backward_error(a, x, b) <= 64
    if sparse_library == "pardiso":
        with pytest.raises(SingularSystemError, match="type and view"):
            falsely_said_to_be("symmetric", "raise")


@pytest.mark.parametrize("kind", ["hermitian", "hpd"])
@pytest.mark.parametrize("view", ["full", "lower", "upper"])
def test_a_diagonal_that_is_not_real_is_refused_by_its_place(kind: str, view: str) -> None:
    matrix = np.array([[4, 1j, 0], [-1j, 5 + 1j, 1], [0, 1, 6]])
    stored = {"full": matrix, "lower": np.tril(matrix), "upper": np.triu(matrix)}[view]
    with pytest.raises(ValueError, match=r"element \(1, 1\) has an imaginary part of 1"):
        solve_quietly(
            sp.csr_array(stored), np.ones(3, complex), sparse_system_type=kind, sparse_system_view=view
        )  # fmt: skip


def test_imaginary_parts_of_rounding_on_the_diagonal_are_none() -> None:
    matrix = np.array([[4 + 1e-16j, 1j], [-1j, 5 - 2e-16j]])
    x = solve_quietly(sp.csr_array(matrix), np.ones(2, complex), sparse_system_type="hermitian")
    np.testing.assert_allclose(matrix @ x, 1)


# --- no history -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["one call", "reset"])
def test_what_was_planned_for_other_values_is_planned_anew_before_it_is_refused(way: str) -> None:
    a, b = poisson_2d(10), np.ones(100)
    a.sort_indices()
    other = a.copy()
    other.data = np.random.default_rng(1).standard_normal(a.nnz)
    nvmath.plan_cache.clear()
    if way == "one call":
        with suppress(SingularSystemError):
            direct_solver(other, b, options={"on_failure": "raise"}, execution="cpu")
        x = direct_solver(a, b, options={"on_failure": "raise"}, execution="cpu")
    else:
        with DirectSolver(other, b, options={"on_failure": "raise"}, execution="cpu") as solver:
            solver.plan()
            solver.reset_operands(a=a)
            solver.factorize()
            x = solver.solve()
    assert backward_error(a, x, b) <= 64


def test_settings_of_a_plan_are_those_that_it_was_made_with() -> None:
    a = poisson_2d(20)
    elements = []
    for change in (False, True):
        with DirectSolver(a, np.ones(400), execution="cpu") as solver:
            solver.plan()
            if change:
                solver.plan_config.reordering_algorithm = "none"
            elements.append(solver.factorize().lu_nnz)
    assert elements[0] == elements[1]


# --- factors of SuperLU ---------------------------------------------------------------------------------------------------------------

_AT_THE_END = """
import numpy as np, scipy.sparse as sp
from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import SingularSystemError, direct_solver
mkl_pardiso.present = lambda: False
try:
    direct_solver(sp.csr_array(np.ones((3, 3))), np.ones(3), execution="cpu")
except SingularSystemError:
    print("refused")
kept = direct_solver(sp.csr_array(np.eye(3) * 2), np.ones(3), execution="cpu")
print(kept)
"""


def test_the_interpreter_ends_well_with_factors_in_the_plan_cache() -> None:
    run = subprocess.run([sys.executable, "-c", _AT_THE_END], capture_output=True, text=True, timeout=100, check=False)
    assert (run.returncode, run.stderr, run.stdout) == (0, "", "refused\n[0.5 0.5 0.5]\n")


@pytest.mark.parametrize("name", ["ir_num_steps", "host_nthreads"])
def test_numbers_that_no_library_can_take_are_refused(name: str, sparse_library: str) -> None:
    if (name, sparse_library) == ("host_nthreads", "superlu"):
        pytest.skip("SuperLU has one thread")
    with DirectSolver(poisson_2d(3), np.ones(9), execution="cpu") as solver:
        config = solver.solution_config if name == "ir_num_steps" else solver.plan_config
        with pytest.raises(ValueError, match=name):
            setattr(config, name, 2**31)
