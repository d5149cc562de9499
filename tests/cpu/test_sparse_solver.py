"""Sparse systems on the CPU, through MKL PARDISO and through SuperLU: right, or refused by name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from fft_cases import examples
from hypothesis import given
from hypothesis import strategies as st
from sparse_cases import (
    DTYPES,
    FORMATS,
    KINDS,
    LAYOUTS,
    NAMED,
    SINGULAR,
    assert_solves,
    csr,
    part_of,
    poisson_2d,
    right_side,
    scrambled,
    solved,
    tiny_and_huge,
    well_conditioned,
)

from nvmath.sparse.advanced import (
    DirectSolver,
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    IllConditionedWarning,
    SingularSystemError,
    direct_solver,
)

pytestmark = pytest.mark.usefixtures("sparse_library")


def options(kind: str, view: str = "FULL") -> dict[str, object]:
    return {"sparse_system_type": DirectSolverMatrixType[kind], "sparse_system_view": DirectSolverMatrixViewType[view]}


@examples(250)
@given(data=st.data())
def test_any_system(data: st.DataObject) -> None:
    dtype, kind, view = (data.draw(st.sampled_from(group)) for group in (DTYPES, KINDS, ("FULL", "LOWER", "UPPER")))
    n, density = data.draw(st.sampled_from([1, 2, 3, 6, 8, 20, 60])), data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    matrix = well_conditioned(rng, n, dtype, kind, density, permuted=kind == "GENERAL" and data.draw(st.booleans()))
    stored, form = part_of(matrix, kind, view), data.draw(st.sampled_from(FORMATS))
    a = scrambled(rng, stored, form) if data.draw(st.booleans()) else sp.csr_array(stored).asformat(form)
    if form != "coo":
        index = data.draw(st.sampled_from(["int32", "int64"]))
        a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    columns = data.draw(st.sampled_from([None, 0, 1, 2, 5]))
    complex_beside_real = not np.iscomplexobj(matrix) and data.draw(st.booleans())
    b_dtype = (
        {"float32": "complex64", "float64": "complex128"}[str(matrix.dtype)]
        if complex_beside_real
        else str(matrix.dtype)
    )
    b = right_side(rng, (n,) if columns is None else (n, columns), b_dtype, data.draw(st.sampled_from(LAYOUTS)))
    arrays = (a.row, a.col, a.data) if form == "coo" else (a.indptr, a.indices, a.data)
    kept = [array.copy() for array in (*arrays, b)]
    trans = data.draw(st.sampled_from("NTH"))
    with DirectSolver(a, b, options=options(kind, view), execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        assert_solves(solved(matrix, trans), solver.solve(trans=trans), b)
    assert_solves(matrix, direct_solver(a, b, options=options(kind, view), execution="cpu"), b)
    for was, now in zip(kept, (*arrays, b), strict=True):
        np.testing.assert_array_equal(was, now)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("columns", [(), (3,)])
def test_named_matrices(name: str, columns: tuple[int, ...]) -> None:
    make, kind = NAMED[name]
    a = make(16)
    rng = np.random.default_rng(0)
    b = right_side(rng, (a.shape[0], *columns), str(a.dtype), "F")
    assert_solves(a, direct_solver(a, b, options=options(kind), execution="cpu"), b)
    for view, part in (("LOWER", sp.tril), ("UPPER", sp.triu)):
        if kind != "GENERAL":
            stored = sp.csr_array(part(a))
            assert_solves(a, direct_solver(stored, b, options=options(kind, view), execution="cpu"), b)


@pytest.mark.parametrize("decades", [10, 60])
def test_entries_of_very_different_sizes(decades: int) -> None:
    a, exact = tiny_and_huge(8, decades)
    b = a @ exact
    x = direct_solver(a, b, execution="cpu")
    rows = abs(a) @ abs(x)  # row by row: the norm of the matrix says nothing about the small rows
    assert np.all(abs(a @ x - b) <= 1e-12 * rows)
    np.testing.assert_allclose(x, exact, rtol=1e-10)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_matrices_of_any_scale(size: float) -> None:
    a = poisson_2d(5)
    scaled = sp.csr_array((a.data * size, a.indices, a.indptr), shape=a.shape)
    b = np.arange(25.0) * size
    np.testing.assert_allclose(
        direct_solver(scaled, b, execution="cpu"), np.linalg.solve(a.toarray(), np.arange(25.0)), rtol=1e-10
    )


# --- singular in every way --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("consistent", [False, True])
def test_singular_systems_are_refused(name: str, consistent: bool) -> None:
    a, kind = SINGULAR[name]
    n = a.shape[0]
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        b = a @ np.ones(n) if consistent else rng.random(n)
    for side in (b, np.stack([b, 2 * b], axis=1)):
        with pytest.raises(SingularSystemError):
            direct_solver(a, side, options=options(kind), execution="cpu")


def test_structural_singularity_is_named() -> None:
    a, _ = SINGULAR["structurally"]
    with pytest.raises(SingularSystemError, match=r"structurally singular.*rank of 2 at most, of 3"):
        direct_solver(a, np.ones(3), execution="cpu")


def test_singular_errors_are_errors_of_linear_algebra() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        direct_solver(csr([[1, 1], [1, 1]]), np.ones(2), execution="cpu")


def test_an_unsymmetric_matrix_is_not_taken_for_a_symmetric_one() -> None:
    a, b = csr([[3, 2], [1, 3]]), np.ones(2)
    with pytest.raises(SingularSystemError, match="type and view"):
        direct_solver(a, b, options=options("SPD"), execution="cpu")
    assert_solves(a, direct_solver(a, b, options=options("SYMMETRIC"), execution="cpu"), b)  # by all of its entries


def test_nan_in_b_is_reported() -> None:
    with pytest.raises(SingularSystemError, match="not finite"):
        direct_solver(csr([[4, 1], [1, 3]]), np.array([1.0, np.nan]), execution="cpu")


def test_ill_conditioned_systems_are_reported() -> None:
    n = 12
    hilbert = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
    b = np.zeros(n)
    b[-1] = 1  # the solution is of the order of the inverse
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            x = direct_solver(sp.csr_array(hilbert), b, execution="cpu")
        except SingularSystemError:
            return
    assert [warning.category for warning in seen] == [IllConditionedWarning]
    assert abs(x).max() > 1e10


def test_single_precision_of_usual_condition_gives_no_warning() -> None:
    a, b = poisson_2d(100).astype("float32"), np.ones(10_000, "float32")
    assert_solves(a, direct_solver(a, b, execution="cpu"), b)  # warnings are errors here


def test_what_happens_on_failure() -> None:
    a, b = csr([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]), np.array([1.0, 0, 0])  # singular but for rounding
    for choice in ("retry", "raise"):
        with pytest.raises(SingularSystemError):
            direct_solver(a, b, options={"on_failure": choice}, execution="cpu")
    with pytest.warns(IllConditionedWarning):
        x = direct_solver(a, b, options={"on_failure": "warn"}, execution="cpu")
    assert x.shape == b.shape


@pytest.mark.parametrize("form", ["empty row", "free grid"])
def test_a_matrix_without_factors_gets_the_best_that_there_is(form: str) -> None:
    n = 50
    a = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1]).tolil()
    if form == "empty row":
        a[7] = 0
    else:
        a[0, 0] = a[-1, -1] = 1
    b = a @ np.arange(n)  # has solutions
    with pytest.warns(IllConditionedWarning):
        x = direct_solver(a.tocsr(), b, options={"on_failure": "warn"}, execution="cpu")
    assert np.isfinite(x).all()


@pytest.mark.parametrize("kind", ["SYMMETRIC", "GENERAL"])
def test_zero_diagonals_are_no_reason_to_fail(kind: str) -> None:
    rng = np.random.default_rng(0)
    for n in (2, 10, 50):
        upper = np.triu(rng.random((n, n)), 1) * (rng.random((n, n)) < 0.5)
        matrix = upper + upper.T + np.fliplr(np.eye(n))
        np.fill_diagonal(matrix, 0)
        if np.linalg.cond(matrix) < 1e8:
            b = rng.random(n)
            assert_solves(matrix, direct_solver(sp.csr_array(matrix), b, options=options(kind), execution="cpu"), b)


# --- real reports -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("matching", [0, 6])
def test_random_matrices_without_strong_diagonals(seed: int, matching: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(100)
    a = (
        sp.random_array((100, 100), density=0.1, rng=rng)
        + sp.csr_array((np.full(100, 0.05), (np.arange(100), order)), shape=(100, 100))
    ).tocsr()
    b = a @ rng.standard_normal(100)
    x = direct_solver(
        a, b, execution="cpu", plan_preferences={"matching_algorithm": matching} if matching != 6 else None
    )
    assert np.linalg.norm(a @ x - b) <= 1e-9 * np.linalg.norm(b)


def test_patterns_with_equal_row_offsets_are_told_apart() -> None:
    first, second = csr([[4, 1, 0], [0, 4, 1], [1, 0, 4]]), csr([[4, 0, 1], [1, 4, 0], [0, 1, 4]])
    assert (first.indptr == second.indptr).all()
    b = np.array([1.0, 2, 3])
    for a in (first, second, first, second):
        np.testing.assert_allclose(direct_solver(a, b, execution="cpu"), np.linalg.solve(a.toarray(), b))


def test_b_is_not_overwritten_with_refinement() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([1.0, 2])
    x = direct_solver(a, b, execution="cpu", solution_preferences={"ir_num_steps": 2})
    np.testing.assert_array_equal(b, [1, 2])
    np.testing.assert_allclose(a @ x, b, rtol=1e-15)


def test_shapes_and_layouts_of_b() -> None:
    a = csr([[4, 1, 0], [0, 4, 1], [1, 0, 4]])
    m = np.random.default_rng(0).random((3, 6))
    for b in (m[:, 0], m[:, :1], m[:, :3], np.asfortranarray(m), np.asfortranarray(m)[:, 1:3], m[:, ::2], m[::-1, :2]):
        assert_solves(a, direct_solver(a, b, execution="cpu"), b)
    many = np.random.default_rng(1).random((2, 4, 3, 5))  # more right-hand sides of one matrix
    x = direct_solver(a, many, execution="cpu")
    np.testing.assert_allclose(a.toarray() @ x, many, atol=1e-12)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_means_the_same_matrix(form: str) -> None:
    matrix = np.array([[4.0, 1, 0], [0, 4, 2], [3, 0, 4]])
    b = np.array([1.0, 2, 3])
    for make in (sp.csr_array, sp.csr_matrix):
        x = direct_solver(make(matrix).asformat(form), b, execution="cpu")
        np.testing.assert_allclose(x, np.linalg.solve(matrix, b))


def test_tiny_systems() -> None:
    np.testing.assert_allclose(direct_solver(csr([[4.0]]), np.array([2.0]), execution="cpu"), [0.5])
    np.testing.assert_allclose(direct_solver(csr([[0, 1], [1, 0]]), np.array([2.0, 3]), execution="cpu"), [3, 2])
    dense = np.random.default_rng(0).random((7, 7)) + 7 * np.eye(7)
    assert_solves(dense, direct_solver(sp.csr_array(dense), np.ones(7), execution="cpu"), np.ones(7))
    diagonal = sp.diags_array(np.arange(1.0, 5)).tocsr()
    np.testing.assert_allclose(direct_solver(diagonal, np.ones(4), execution="cpu"), 1 / np.arange(1.0, 5))


def test_foreign_byte_order_of_b() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0], ">f8")
    np.testing.assert_allclose(direct_solver(a, b, execution="cpu"), [1, 1])
