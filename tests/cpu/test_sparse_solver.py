"""Sparse systems on the CPU, through MKL PARDISO and through SuperLU: right, or refused by name."""

import logging
import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp
from fft_cases import examples
from hypothesis import given
from hypothesis import strategies as st

import nvmath
from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import (
    DirectSolver,
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverOptions,
    DirectSolverReorderingAlg,
    IllConditionedWarning,
    InvalidDirectSolverState,
    SingularSystemError,
    direct_solver,
)

DTYPES = ("float32", "float64", "complex64", "complex128")
KINDS = ("GENERAL", "SYMMETRIC", "HERMITIAN", "SPD", "HPD")


@pytest.fixture(params=["pardiso", "superlu"], scope="module", autouse=True)
def library(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the module twice: on MKL, and on SciPy's SuperLU alone."""
    if request.param == "pardiso" and not mkl_pardiso.present():
        pytest.skip("MKL is not installed (pip install mkl)")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "superlu":
            patch.setattr(mkl_pardiso, "present", lambda: False)
        yield request.param


def csr(rows: object, dtype: str = "float64") -> sp.csr_array:
    return sp.csr_array(np.array(rows, dtype=dtype))


def eps(dtype: str) -> float:
    return float(np.finfo(dtype).eps)


def assert_solves(matrix: np.ndarray, x: np.ndarray, b: np.ndarray) -> None:
    """The backward error of every column is a small multiple of the rounding unit."""
    wide = matrix.astype(np.clongdouble if np.iscomplexobj(matrix) else np.longdouble)
    residual = abs(wide @ x - b).max(axis=0, initial=0)
    scale = abs(wide).sum(axis=1).max() * abs(x).max(axis=0, initial=0) + abs(b).max(axis=0, initial=0)
    assert x.shape == b.shape
    assert x.dtype == b.dtype
    assert np.all(residual <= 1000 * eps(str(b.dtype)) * scale)


@st.composite
def systems(draw: st.DrawFn) -> tuple[np.ndarray, str, str]:
    """A well-conditioned matrix, what is known of it, and which part is to be read."""
    dtype, kind = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(KINDS))
    n, density = draw(st.sampled_from([1, 2, 3, 5, 8, 20, 60])), draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    made = rng.uniform(-1, 1, (n, n)) * (rng.random((n, n)) < density)
    if dtype.startswith("complex"):
        made = made + 1j * rng.uniform(-1, 1, (n, n)) * (made != 0)
    made = made + np.diag(rng.choice([-1, 1], n) * (2 + n))
    if kind in ("SYMMETRIC", "SPD") or (kind != "GENERAL" and not dtype.startswith("complex")):
        made = made + made.T
    elif kind != "GENERAL":
        made = made + made.conj().T
    if kind in ("SPD", "HPD"):
        if kind == "SPD":
            made, dtype = made.real, {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
        np.fill_diagonal(made, abs(made.diagonal()) + 2 * n)
    if kind == "GENERAL" and draw(st.booleans()):
        made = made[rng.permutation(n)]  # zeros on the diagonal
    return made.astype(dtype), kind, draw(st.sampled_from(["FULL", "LOWER", "UPPER"]))


@st.composite
def right_sides(draw: st.DrawFn, n: int, dtype: str) -> np.ndarray:
    """One or several columns, in any layout."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    columns = draw(st.sampled_from([None, 1, 2, 5]))
    shape = (n,) if columns is None else (n, columns)
    made = rng.uniform(-1, 1, (*(2 * s for s in shape),)).astype(dtype)
    return draw(
        st.sampled_from(
            [
                np.ascontiguousarray(made[tuple(slice(s) for s in shape)]),
                np.asfortranarray(made[tuple(slice(s) for s in shape)]),
                made[tuple(slice(None, None, 2) for s in shape)],
                made[tuple(slice(s, None) for s in shape)][::-1],
            ]
        )
    )


def part_of(matrix: np.ndarray, kind: str, view: str) -> np.ndarray:
    """What is stored of a matrix."""
    if kind == "GENERAL" or view == "FULL":
        return matrix
    return np.tril(matrix) if view == "LOWER" else np.triu(matrix)


@examples(250)
@given(data=st.data())
def test_any_system(data: st.DataObject) -> None:
    matrix, kind, view = data.draw(systems())
    b = data.draw(right_sides(len(matrix), str(matrix.dtype)))
    a = sp.csr_array(part_of(matrix, kind, view))
    index = data.draw(st.sampled_from(["int32", "int64"]))
    a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    kept = b.copy(), a.data.copy(), a.indices.copy(), a.indptr.copy()
    options = {"sparse_system_type": DirectSolverMatrixType[kind], "sparse_system_view": DirectSolverMatrixViewType[view]}
    x = direct_solver(a, b, options=options, execution="cpu")
    assert_solves(matrix, x, b)
    for was, now in zip(kept, (b, a.data, a.indices, a.indptr), strict=True):
        np.testing.assert_array_equal(was, now)


@examples(60)
@given(data=st.data())
def test_unsorted_and_doubled_entries(data: st.DataObject) -> None:
    matrix, kind, view = data.draw(systems())
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    stored = sp.coo_array(part_of(matrix, kind, view))
    split = rng.random(stored.nnz).astype(matrix.real.dtype)
    rows, columns = (np.concatenate([c, c]) for c in stored.coords)
    values = np.concatenate([stored.data * split, stored.data * (1 - split)]).astype(matrix.dtype)
    order = rng.permutation(rows.size)
    order = order[np.argsort(rows[order], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(matrix)))])
    a = sp.csr_array((values[order], columns[order], indptr), shape=matrix.shape)
    b = rng.random(len(matrix)).astype(matrix.dtype)
    kept = a.indices.copy()
    options = {"sparse_system_type": DirectSolverMatrixType[kind], "sparse_system_view": DirectSolverMatrixViewType[view]}
    x = direct_solver(a, b, options=options, execution="cpu")
    assert_solves(matrix, x, b)
    np.testing.assert_array_equal(a.indices, kept)


def test_stateful() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.random((30, 30)) * (rng.random((30, 30)) < 0.2) + 10 * np.eye(30)
    a, b = sp.csr_array(matrix), rng.random(30)
    with DirectSolver(a, b, execution="cpu") as solver:
        for call, missing in ((solver.factorize, "plan"), (solver.solve, "plan")):
            with pytest.raises(RuntimeError, match=missing):
                call()
        solver.plan()
        with pytest.raises(RuntimeError, match="factorize"):
            solver.solve()
        solver.factorize()
        first = solver.solve()
        assert_solves(matrix, first, b)
        np.testing.assert_array_equal(first, solver.solve())
        other = rng.random(30)
        solver.reset_operands(b=other)
        assert_solves(matrix, solver.solve(), other)
        b2 = np.asfortranarray(rng.random((30, 4)))
        solver.reset_operands(b=b2)  # another number of right-hand sides
        assert_solves(matrix, solver.solve(), b2)
        scaled = sp.csr_array((a.data * 3, a.indices, a.indptr), shape=a.shape)
        solver.reset_operands(a=scaled)
        solver.factorize()
        assert_solves(3 * matrix, solver.solve(), b2)
        solver.reset_operands_unchecked(a=a)
        solver.factorize()
        assert_solves(matrix, solver.solve(), b2)
        solver.release_operands()
        for call in (solver.plan, solver.factorize, solver.solve):
            with pytest.raises(RuntimeError, match="released"):
                call()
        with pytest.raises(ValueError, match="b is missing"):
            solver.reset_operands(a=a)
        solver.reset_operands(a=a, b=b)
        assert_solves(matrix, solver.solve(), b)
        with pytest.raises(ValueError, match="Pass a, b or both"):
            solver.reset_operands()
    solver.free()
    for call in (solver.plan, solver.factorize, solver.solve, solver.release_operands, lambda: solver.reset_operands(a=a)):
        with pytest.raises(InvalidDirectSolverState, match="freed"):
            call()
    views = solver.plan_config, solver.plan_info, solver.factorization_info
    for view, name in zip(views, ("host_nthreads", "memory_estimates", "info"), strict=True):
        with pytest.raises(RuntimeError, match="freed"):
            getattr(view, name)


def test_in_place_edits_are_seen() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0])
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        b *= 2
        np.testing.assert_allclose(solver.solve(), [2, 2])
        a.data *= 2
        solver.factorize()
        np.testing.assert_allclose(solver.solve(), [1, 1])


def test_values_that_changed_a_little_are_refined(library: str) -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0])
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        a.data *= 1.01
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b), rtol=1e-12)
        a.data *= -3
        with pytest.raises(SingularSystemError, match="call factorize"):
            solver.solve()
        solver.factorize()
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b), rtol=1e-12)


def test_another_pattern_needs_another_plan(caplog: pytest.LogCaptureFixture) -> None:
    first, second = csr([[4, 1, 0], [0, 4, 1], [1, 0, 4]]), csr([[4, 0, 1], [1, 4, 0], [0, 1, 4]])
    assert (first.indptr == second.indptr).all()
    b = np.array([1.0, 2, 3])
    with DirectSolver(first, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        solver.solve()
        solver.reset_operands(a=second)
        assert "pattern" in caplog.text
        with pytest.raises(RuntimeError, match="plan"):
            solver.solve()
        with pytest.raises(RuntimeError, match="plan"):
            solver.factorize()
        solver.plan()
        solver.factorize()
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(second.toarray(), b))
        solver.reset_operands(a=csr([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))  # fewer entries
        solver.plan()
        solver.factorize()
        np.testing.assert_allclose(solver.solve(), [-1, 2, 3])
        second.indices[:] = second.indices[::-1].copy()
        solver.reset_operands(a=first)
        solver.plan()
        first.indices[:2] = [1, 2]
        with pytest.raises(RuntimeError, match=r"pattern .* has changed"):
            solver.factorize()


@pytest.mark.parametrize("matrix", [[[1, 1], [1, 1]], [[1, 0], [0, 0]], [[0, 0], [0, 0]], [[1, 2], [np.nan, 1]], [[np.inf, 0], [0, 1]]])
def test_singular_systems_are_refused(matrix: list[list[float]]) -> None:
    a = csr(matrix)
    if not a.nnz:
        a = sp.csr_array((np.zeros(2), [0, 1], [0, 1, 2]), shape=(2, 2))
    for b in (np.array([2.0, 3.0]), np.array([[2.0, 1], [3.0, 5]])):
        with pytest.raises(SingularSystemError):
            direct_solver(a, b, execution="cpu")
    assert issubclass(SingularSystemError, np.linalg.LinAlgError)


def test_wrong_types_are_refused(library: str) -> None:
    b = np.ones(2)
    if library == "pardiso":
        with pytest.raises(SingularSystemError, match="not positive definite"):
            direct_solver(csr([[1, 2], [2, 1]]), b, options={"sparse_system_type": DirectSolverMatrixType.SPD}, execution="cpu")
    with pytest.raises(SingularSystemError, match="type and view"):
        direct_solver(csr([[1, 2], [3, 1]]), b, options={"sparse_system_type": DirectSolverMatrixType.SYMMETRIC}, execution="cpu")


def test_random_matrices_without_strong_diagonals() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        order = rng.permutation(100)
        a = (
            sp.random_array((100, 100), density=0.1, rng=rng)
            + sp.csr_array((np.full(100, 0.05), (np.arange(100), order)), shape=(100, 100))
        ).tocsr()
        b = a @ rng.standard_normal(100)
        try:
            x = direct_solver(a, b, execution="cpu")
        except SingularSystemError:
            continue
        assert np.linalg.norm(a @ x - b) <= 1e-9 * np.linalg.norm(b)


def test_ill_conditioned_systems_give_a_warning() -> None:
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


@pytest.mark.parametrize("what", ["csc", "coo", "bsr", "lil", "dia"])
def test_other_formats_are_refused(what: str) -> None:
    with pytest.raises(TypeError, match=r"tocsr\(\)"):
        direct_solver(csr([[4, 1], [1, 3]]).asformat(what), np.ones(2), execution="cpu")


def bad(indptr: list[int], indices: list[int]) -> sp.csr_array:
    made = csr([[4, 1], [1, 3]])
    made.indptr, made.indices = np.array(indptr, np.int32), np.array(indices, np.int32)
    return made


@pytest.mark.parametrize(
    ("a", "b", "kind", "part"),
    [
        (np.eye(2), np.ones(2), TypeError, "must be a CSR matrix"),
        ("x", np.ones(2), TypeError, "must be a CSR matrix"),
        (csr([[1, 0, 0], [0, 1, 0]]), np.ones(2), TypeError, "square"),
        (csr([[1, 0], [0, 1]]), np.ones(3), TypeError, "extent N is not consistent"),
        (csr([[1, 0], [0, 1]]), np.ones((2, 1, 1)), TypeError, r"shape \(n,\) or \(n, k\)"),
        (csr([[1, 0], [0, 1]]), np.ones(2, np.float32), TypeError, "one dtype"),
        (csr([[1, 0], [0, 1]], "int64"), np.ones(2, np.int64), TypeError, "dtype int64"),
        ([csr([[1, 0], [0, 1]])], [np.ones(2)], NotImplementedError, "Batches"),
        (csr([[1, 0], [0, 1]]), [np.ones(2)], NotImplementedError, "Batches"),
        (bad([0, 2, 4], [0, 1, 0, 2]), np.ones(2), ValueError, "outside of 0 to 1"),
        (bad([0, 2, 4], [0, -1, 0, 1]), np.ones(2), ValueError, "outside of 0 to 1"),
        (bad([0, 5, 4], [0, 1, 0, 1]), np.ones(2), ValueError, "decrease"),
        (bad([1, 2, 4], [0, 1, 0, 1]), np.ones(2), ValueError, "from 0"),
        (bad([0, 2, 3], [0, 1, 0, 1]), np.ones(2), ValueError, "number of entries"),
    ],
)
def test_bad_operands(a: object, b: object, kind: type[Exception], part: str) -> None:
    with pytest.raises(kind, match=part):
        direct_solver(a, b, execution="cpu")


@pytest.mark.parametrize(
    ("keywords", "kind", "part"),
    [
        ({"options": {"sparse_system_type": 9}}, ValueError, "DirectSolverMatrixType"),
        ({"options": {"sparse_system_view": "x"}}, ValueError, "DirectSolverMatrixViewType"),
        ({"options": {"blocking": False}}, ValueError, "blocking"),
        ({"options": {"nonsense": 1}}, TypeError, "nonsense"),
        ({"options": 3}, TypeError, "DirectSolverOptions"),
        ({"execution": "gpu"}, ValueError, "'hybrid'"),
        ({"execution": "hybrid"}, NotImplementedError, "Hybrid"),
        ({"execution": {"name": "cpu", "nonsense": 1}}, TypeError, "nonsense"),
        ({"execution": 3}, ValueError, "execution"),
        ({"plan_preferences": {"nonsense": 1}}, TypeError, "nonsense"),
        ({"plan_preferences": 3}, TypeError, "plan_preferences"),
        ({"plan_preferences": {"max_nnz": 3}}, ValueError, "max_nnz = 3 is not supported on the CPU"),
        ({"plan_preferences": {"reordering_algorithm": 77}}, ValueError, "reordering_algorithm must be a member"),
        ({"plan_preferences": {"reordering_algorithm": DirectSolverReorderingAlg.BTF_COLAMD}}, ValueError, "not supported on the CPU"),
        ({"solution_preferences": {"ir_num_steps": -1}}, ValueError, "ir_num_steps"),
        ({"factorization_preferences": {"pivot_eps": 0.3}}, ValueError, "pivot_eps"),
    ],
)
def test_bad_options(keywords: dict[str, object], kind: type[Exception], part: str) -> None:
    with pytest.raises(kind, match=part):
        direct_solver(csr([[4, 1], [1, 3]]), np.ones(2), **({"execution": "cpu"} | keywords))


def test_complex_spd_is_refused() -> None:
    with pytest.raises(TypeError, match="HPD"):
        direct_solver(csr([[4, 1], [1, 3]], "complex128"), np.ones(2, complex), options={"sparse_system_type": 3}, execution="cpu")


def test_resets_that_do_not_fit() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.ones(2)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        for keywords, part in (
            ({"a": csr(np.eye(3))}, "shape"),
            ({"a": csr([[4, 1], [1, 3]], "float32")}, "float32"),
            ({"a": np.eye(2)}, "CSR"),
            ({"b": np.ones(3)}, "extent N"),
            ({"b": np.ones(2, complex)}, "complex128"),
        ):
            with pytest.raises(TypeError, match=part):
                solver.reset_operands(**keywords)
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b))


def test_settings(library: str) -> None:
    a, b = csr([[4, 1, 0], [1, 3, 1], [0, 1, 5]]), np.ones(3)
    orderings = ["DEFAULT", "AMD", "NONE", "NESTED_DISSECTION" if library == "pardiso" else "COLAMD"]
    with DirectSolver(a, b, execution="cpu") as solver:
        for name in orderings:
            solver.plan_config.reordering_algorithm = DirectSolverReorderingAlg[name]
            assert solver.plan_config.reordering_algorithm is DirectSolverReorderingAlg[name]
            solver.plan()
            solver.factorize()
            np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b), rtol=1e-12)
        solver.solution_config.ir_num_steps = 3
        assert solver.solution_config.ir_num_steps == 3
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b), rtol=1e-14)
        with pytest.raises(AttributeError):
            solver.plan_config.algorithm = 1
    if library == "pardiso":
        symmetric = DirectSolverOptions(sparse_system_type=DirectSolverMatrixType.SYMMETRIC)
        indefinite = csr([[0, 1, 0], [1, 0, 2], [0, 2, 1]])
        x = direct_solver(
            indefinite, b, options=symmetric, execution={"name": "cpu", "num_threads": 1},
            plan_preferences={"pivot_type": nvmath.bindings.cudss.PivotType.PIVOT_BUNCH_KAUFMAN, "host_nthreads": 1},
            factorization_preferences={"pivot_eps": 1e-10},
        )  # fmt: skip
        assert_solves(indefinite.toarray(), x, b)


def test_information(library: str) -> None:
    matrix = np.diag([1.0, -2, 3, -4, 5])
    matrix[0, 1] = matrix[1, 0] = 0.5
    symmetric = DirectSolverOptions(sparse_system_type=DirectSolverMatrixType.SYMMETRIC)
    with DirectSolver(csr(matrix), np.ones(5), options=symmetric, execution="cpu") as solver:
        with pytest.raises(RuntimeError, match="plan"):
            _ = solver.plan_info.memory_estimates
        info = solver.plan()
        assert info.memory_estimates.dtype.names == nvmath.sparse.advanced.memory_estimates_dtype.names
        with pytest.raises(RuntimeError, match="factorize"):
            _ = solver.factorization_info.lu_nnz
        made = solver.factorize()
        assert (made.info, made.npivots) == (0, 0)
        assert made.lu_nnz >= 6
        if library == "pardiso":
            np.testing.assert_array_equal(made.inertia, [3, 2])
            assert made.inertia.dtype == np.int32
            assert info.memory_estimates.permanent_host_memory > 0
        with pytest.raises(NotImplementedError, match="diag"):
            _ = made.diag


def test_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that its sparse tensors are in beta state
        a = torch.tensor([[4.0, 1], [1, 3]], dtype=torch.float64).to_sparse_csr()
        for b in (torch.ones(2, dtype=torch.float64), torch.rand(2, 3, dtype=torch.float64), torch.rand(3, 2, dtype=torch.float64).T):
            x = direct_solver(a, b, execution="cpu")
            torch.testing.assert_close(a.to_dense() @ x, b)
        with pytest.raises(TypeError, match="do not go together"):
            direct_solver(a, np.ones(2), execution="cpu")
        with pytest.raises(TypeError, match="to_sparse_csr"):
            direct_solver(a.to_dense(), torch.ones(2, dtype=torch.float64), execution="cpu")
        both = torch.stack([a.to_dense(), a.to_dense()]).to_sparse_csr()
        with pytest.raises(NotImplementedError, match="Batches"):
            direct_solver(both, torch.ones(2, 2, 1, dtype=torch.float64), execution="cpu")


def test_foreign_byte_order_of_b() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0], ">f8")
    x = direct_solver(a, b, execution="cpu")
    np.testing.assert_allclose(x, [1, 1])
    swapped = csr([[4, 1], [1, 3]])
    swapped.data = swapped.data.astype(">f8")
    with pytest.raises(ValueError, match=r"a\.data must be contiguous"):
        direct_solver(swapped, b, execution="cpu")


def test_right_hand_sides_that_are_not_finite() -> None:
    with pytest.raises(SingularSystemError, match="not finite"):
        direct_solver(csr([[4, 1], [1, 3]]), np.array([np.nan, 1]), execution="cpu")


def test_references_are_dropped() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.ones(2)
    before = [sys.getrefcount(array) for array in (a.data, a.indices, a.indptr, b)]
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        solver.solve()
    direct_solver(a, b, execution="cpu")
    assert [sys.getrefcount(array) for array in (a.data, a.indices, a.indptr, b)] == before


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("solver")
    with caplog.at_level(logging.DEBUG):
        direct_solver(csr([[4, 1], [1, 3]]), np.ones(2), options={"logger": logger}, execution="cpu")
    assert "sparse system of float64 with n=2, 4 entries" in caplog.text
    assert {record.name for record in caplog.records} == {"solver"}


def test_large_enough_for_threads() -> None:
    n = 60
    one = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    a = (sp.kron(one, sp.eye_array(n)) + sp.kron(sp.eye_array(n), one)).tocsr()
    b = np.random.default_rng(0).random((n * n, 2))
    for execution in ("cpu", {"name": "cpu", "num_threads": 1}):
        x = direct_solver(a, b, options={"sparse_system_type": DirectSolverMatrixType.SPD}, execution=execution)
        assert np.abs(a @ x - b).max() < 1e-9
