"""Matrices that look as if they could be solved: singular ones that come through, indefinite ones, and those that libraries crash on."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import assert_solves, csr, dependent, free_laplacian, poisson_2d, rank

from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import DirectSolver, IllConditionedWarning, SingularSystemError, direct_solver

pytestmark = pytest.mark.usefixtures("sparse_library")

# --- crashes: each in a process of its own --------------------------------------------------------------------------------------------

_FUZZ = """
import sys, warnings
import numpy as np
import scipy.sparse as sp
from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import SingularSystemError, direct_solver

library, kind, dtype = sys.argv[1:]
if library == "superlu":
    mkl_pardiso.present = lambda: False
warnings.simplefilter("ignore")
solved = 0
for seed in [178, *range(120)]:
    rng = np.random.default_rng(seed)
    n = 25 if seed == 178 else int(rng.integers(2, 40))

    def graded():
        if seed % 2:
            return rng.integers(-3, 4, (n, n))
        return rng.standard_normal((n, n)) * 10.0 ** rng.integers(-3, 3, (n, n))

    matrix = graded() + 1j * graded() if dtype.startswith("complex") else graded()
    matrix = matrix * (rng.random((n, n)) < (4 if seed == 178 else rng.integers(1, 6)) / n)
    if kind != "GENERAL":
        matrix = np.triu(matrix, 1)
        matrix = matrix + (matrix.conj().T if kind == "HERMITIAN" else matrix.T)
    for preferences in (None, {"pivot_type": "BUNCH_KAUFMAN"}) if library == "pardiso" else (None,):
        for on_failure in ("retry", "warn"):
            options = {"sparse_system_type": kind, "on_failure": on_failure}
            try:
                direct_solver(
                    sp.csr_array(matrix.astype(dtype)), np.ones(n, dtype), options=options, plan_preferences=preferences, execution="cpu"
                )
                solved += 1
            except SingularSystemError:
                pass
assert solved > 20, solved
"""


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("HERMITIAN", "complex128"), ("HERMITIAN", "complex64"), ("SYMMETRIC", "complex128"), ("SYMMETRIC", "float64"),
        ("GENERAL", "float64"), ("GENERAL", "complex64"),
    ],
)  # fmt: skip
def test_no_matrix_crashes_a_library(sparse_library: str, kind: str, dtype: str) -> None:
    command = [sys.executable, "-c", _FUZZ, sparse_library, kind, dtype]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    assert "illegal value" not in run.stdout + run.stderr  # what BLAS says of the arguments that SuperLU then gives


def test_an_indefinite_hermitian_matrix_is_solved() -> None:
    matrix = np.array([[0, -1 - 3j, -2 - 1j], [-1 + 3j, 0, 0.5], [-2 + 1j, 0.5, 0]])
    b = np.array([1, 2j, 3])
    assert_solves(matrix, direct_solver(csr(matrix, "complex128"), b, options={"sparse_system_type": "HERMITIAN"}), b)


STRUCTURAL = {
    "empty rows": [[2.0, -1, -1, 0], [0, 0, 0, -2], [0, 0, 0, 0], [0, 0, 0, 0]],
    "no diagonal": [[0.0, 0, 1], [0, 0, 1], [1, 1, 0]],
}


@pytest.mark.parametrize("name", STRUCTURAL)
@pytest.mark.parametrize("stored", ["entries", "zeros as well"])
def test_patterns_that_allow_no_full_rank_are_refused(name: str, stored: str) -> None:
    matrix = np.array(STRUCTURAL[name])
    a = sp.csr_array(matrix)
    if stored == "zeros as well":
        a = sp.csr_array(np.ones_like(matrix))
        a.data[:] = matrix.ravel()
    for on_failure in ("retry", "raise"):
        with pytest.raises(SingularSystemError, match="structurally singular"):
            direct_solver(a, a @ np.ones(len(matrix)), options={"on_failure": on_failure}, execution="cpu")


def test_the_determinant_of_a_pattern_that_allows_no_full_rank() -> None:
    a = sp.csr_array(np.array(STRUCTURAL["empty rows"]))
    with DirectSolver(a, np.ones(4), options={"on_failure": "warn"}, execution="cpu") as solver:
        solver.plan()
        with pytest.warns(IllConditionedWarning, match="structurally"):
            info = solver.factorize()
        assert info.logdet == (0, -np.inf)


# --- singular, with a right-hand side that has solutions ------------------------------------------------------------------------------


def symmetric_in_integers() -> sp.csr_array:
    """Eleven equations whose pattern allows a rank of ten."""
    entries = [
        (0, 1, -2), (0, 3, 2), (0, 10, -2), (1, 4, -1), (1, 10, -1), (2, 6, 1), (2, 9, -2), (3, 4, 1), (3, 5, 1), (3, 10, 2),
        (4, 7, -2), (4, 8, -2), (4, 10, 2), (5, 5, -4), (5, 9, 2), (5, 10, -2),
    ]  # fmt: skip
    matrix = np.zeros((11, 11))
    for row, column, value in entries:
        matrix[row, column] = matrix[column, row] = value
    return sp.csr_array(matrix)


def assert_refused(a: sp.csr_array, kind: str, **options: Any) -> None:
    b = a @ np.random.default_rng(0).integers(-3, 4, a.shape[0]).astype(a.dtype)
    with pytest.raises(SingularSystemError, match=r"singular|definite"):
        direct_solver(a, b, options={"sparse_system_type": kind, **options}, execution="cpu")


@pytest.mark.parametrize("on_failure", ["retry", "raise"])
@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC"])
def test_stronger_means_do_not_take_a_singular_matrix(kind: str, on_failure: str) -> None:
    assert_refused(symmetric_in_integers(), kind, on_failure=on_failure)
    assert_refused(free_laplacian(40), kind, on_failure=on_failure)
    assert_refused(sp.csr_array(-free_laplacian(40)), kind, on_failure=on_failure)


@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC", "SPD"])
def test_matrices_that_are_singular_but_for_rounding_are_refused(kind: str) -> None:
    for seed in range(8):
        assert_refused(free_laplacian(12 + seed, np.random.default_rng(seed)), kind)


@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dependent_rows_of_integers_are_refused(kind: str, dtype: str) -> None:
    for seed in range(60):
        assert_refused(dependent(seed, kind).astype(dtype), kind)


def test_regular_matrices_of_integers_are_solved() -> None:
    """What is looked at more closely is not refused."""
    solved = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n, kind = int(rng.integers(2, 20)), ("GENERAL", "SYMMETRIC")[seed % 2]
        matrix = rng.integers(-4, 5, (n, n)) * (rng.random((n, n)) < 3 / n)
        matrix = matrix + matrix.T if kind == "SYMMETRIC" else matrix
        if rank(matrix) < n:
            continue
        b = rng.standard_normal(n)
        assert_solves(matrix, direct_solver(csr(matrix), b, options={"sparse_system_type": kind}, execution="cpu"), b)
        solved += 1
    assert solved > 40


def test_an_ill_conditioned_matrix_is_not_taken_for_a_singular_one() -> None:
    rng, n = np.random.default_rng(0), 30
    bidiagonal = sp.diags_array([np.ones(n), np.full(n - 1, 2.0)], offsets=[0, 1], format="csr")  # a condition of 2**30
    graded = sp.diags_array(10.0 ** -np.arange(12.0), format="csr")
    scaled = sp.csr_array(graded @ csr(rng.random((12, 12))) @ graded)
    for a in (bidiagonal, graded, scaled):
        b = a @ rng.standard_normal(a.shape[0])
        assert_solves(a, direct_solver(a, b, execution="cpu"), b)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e290])
def test_a_matrix_of_tiny_or_huge_elements_is_not_taken_for_a_singular_one(scale: float) -> None:
    k = 60
    line = sp.diags_array([-1.0, 2.0, -1.1], offsets=[-1, 0, 1], shape=(k, k))
    a = sp.csr_array(sp.kron(sp.eye_array(k), line) + sp.kron(line, sp.eye_array(k)))
    b = np.random.default_rng(0).random(k * k)
    assert_solves(a, scale * direct_solver(scale * a, b, execution="cpu"), b)


# --- definite or not ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["SPD", "HPD"])
def test_large_matrices_that_are_not_definite_are_refused(kind: str) -> None:
    """From 50,000 entries on another way of the library was used, which let some through."""
    rng = np.random.default_rng(0)
    n = 110
    for count in range(4):
        a = poisson_2d(n)
        if kind == "HPD":
            a = a.astype(complex)
            phases = sp.diags_array(np.exp(2j * np.pi * rng.random(n * n)))
            a = sp.csr_array(phases @ a @ phases.conj())
        smallest = 8 * np.sin(np.pi / (2 * (n + 1))) ** 2  # of the eigenvalues
        negative = sp.csr_array(a - (count + 1.5) * smallest * sp.eye_array(n * n))
        with pytest.raises(SingularSystemError, match="not positive definite"):
            direct_solver(negative, np.ones(n * n, a.dtype), options={"sparse_system_type": kind}, execution="cpu")
        b = np.ones(n * n, a.dtype)
        x = direct_solver(a, b, options={"sparse_system_type": kind}, execution="cpu")
        assert abs(a @ x - b).max() < 1e-9


@pytest.mark.parametrize("kind", ["SPD", "HPD"])
@pytest.mark.parametrize("n", [2, 3, 7, 30, 120, 400])
def test_one_eigenvalue_that_is_a_little_negative_is_enough(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for density in (1 / n, min(1.0, 4 / n), min(1.0, 15 / n)):
        a = sp.random_array((n, n), density=density, rng=rng, data_sampler=lambda size: rng.standard_normal(size))
        if kind == "HPD":
            a = a + 1j * sp.random_array((n, n), density=density, rng=rng)
        a = sp.csr_array(a @ a.conj().T + sp.eye_array(n))
        values = np.linalg.eigvalsh(a.toarray())
        b, options = np.ones(n, a.dtype), {"sparse_system_type": kind}
        for distance, definite in ((1e-7, False), (-1e-7, True)):
            moved = sp.csr_array(a - (values[0] + distance * values[-1]) * sp.eye_array(n))
            if definite:
                assert_solves(moved, direct_solver(moved, b, options=options, execution="cpu"), b, 10_000)
            else:
                with pytest.raises(SingularSystemError, match="not positive definite"):
                    direct_solver(moved, b, options=options, execution="cpu")


@pytest.mark.parametrize("code", [1, 10, 17, 19, 53, -4])
def test_whatever_code_says_that_a_matrix_is_not_definite(
    code: int, sparse_library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sparse_library != "pardiso":
        pytest.skip("the codes are those of PARDISO")
    call = mkl_pardiso.Pardiso.__call__

    def failing(self: Any, phase: int, *arguments: Any) -> None:
        if phase == 22:
            raise mkl_pardiso.PardisoError(code)
        call(self, phase, *arguments)

    monkeypatch.setattr(mkl_pardiso.Pardiso, "__call__", failing)
    with pytest.raises(SingularSystemError, match="not positive definite"):
        direct_solver(poisson_2d(3), np.ones(9), options={"sparse_system_type": "SPD"}, execution="cpu")


def test_other_codes_are_errors_at_run_time() -> None:
    assert issubclass(mkl_pardiso.PardisoError, RuntimeError)


@pytest.mark.parametrize("name", ["SPD", "HPD", "NaN", "infinity", "no entries", "NaN, symmetric"])
def test_where_there_are_no_factors_a_warning_is_not_enough(name: str) -> None:
    kind = {"SPD": "SPD", "HPD": "HPD", "NaN, symmetric": "SYMMETRIC"}.get(name, "GENERAL")
    dtype = "complex128" if kind == "HPD" else "float64"
    made = [[1, 2], [2, 1]] if kind in ("SPD", "HPD") else [[1, np.inf if name == "infinity" else np.nan], [np.nan, 1]]
    a = sp.csr_array((2, 2)) if name == "no entries" else csr(made, dtype)
    with pytest.raises(SingularSystemError):
        direct_solver(a, np.ones(2, dtype), options={"sparse_system_type": kind, "on_failure": "warn"}, execution="cpu")


def test_what_is_not_read_may_be_anything() -> None:
    a = csr([[4, np.nan], [1, 3]])
    options = {"sparse_system_type": "SYMMETRIC", "sparse_system_view": "LOWER"}
    np.testing.assert_allclose(direct_solver(a, np.array([5.0, 4]), options=options, execution="cpu"), [1, 1])
