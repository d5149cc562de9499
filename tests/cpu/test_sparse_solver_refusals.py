"""What sparse solvers refuse, by name and before anything is touched; settings and information."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import assert_solves, csr, poisson_2d, well_conditioned

import nvmath
from nvmath.sparse.advanced import (
    DirectSolver,
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverOptions,
    DirectSolverReorderingAlg,
    ExecutionHybrid,
    direct_solver,
)

pytestmark = pytest.mark.usefixtures("sparse_library")


def bad(form: str, first: list[int], second: list[int]) -> Any:
    made = csr([[4, 1], [1, 3]]).asformat(form)
    if form == "coo":
        made.coords = (np.array(first, np.int32), np.array(second, np.int32))
    else:
        made.indptr, made.indices = np.array(first, np.int32), np.array(second, np.int32)
    return made


@pytest.mark.parametrize(
    ("a", "b", "kind", "part"),
    [
        (np.eye(2), np.ones(2), TypeError, "must be a CSR matrix"),
        ("x", np.ones(2), TypeError, "must be a CSR matrix"),
        (None, np.ones(2), TypeError, "must be a CSR matrix"),
        (csr(np.eye(2)), None, ValueError, "NoneType"),
        (csr(np.eye(2)), [1.0, 2.0], ValueError, "float"),
        (csr([[1, 0, 0], [0, 1, 0]]), np.ones(2), TypeError, "square"),
        (sp.csr_array((0, 0)), np.ones(0), TypeError, "no rows"),
        (csr(np.eye(2)), np.ones(3), TypeError, "extent N is not consistent"),
        (csr(np.eye(2)), np.ones((3, 2)), TypeError, "extent N is not consistent"),
        (csr(np.eye(2)), np.ones((2, 1, 1)), TypeError, "extent N is not consistent"),
        (csr(np.eye(2)), np.array(1.0), TypeError, r"shape \(n,\) or \(n, k\)"),
        (csr(np.eye(2)), np.ones(2, np.float32), TypeError, "one dtype"),
        (csr(np.eye(2), "complex128"), np.ones(2), TypeError, "one dtype"),
        (csr(np.eye(2), "float32"), np.ones(2, complex), TypeError, "one dtype"),
        (csr(np.eye(2), "int64"), np.ones(2, np.int64), TypeError, "dtype int64"),
        (
            bad("csr", [0, 2, 4], [0, 1, 0, 2]),
            np.ones(2),
            ValueError,
            r"column index is outside of 0 to 1: .* go from 0 to 2",
        ),
        (bad("csr", [0, 2, 4], [0, -1, 0, 1]), np.ones(2), ValueError, "outside of 0 to 1"),
        (bad("csr", [0, 5, 4], [0, 1, 0, 1]), np.ones(2), ValueError, "decrease"),
        (bad("csr", [1, 2, 4], [0, 1, 0, 1]), np.ones(2), ValueError, "from 0"),
        (bad("csr", [0, 2, 3], [0, 1, 0, 1]), np.ones(2), ValueError, "number of entries"),
        (bad("csr", [0, 4], [0, 1, 0, 1]), np.ones(2), TypeError, "no CSR matrix"),
        (bad("csr", [0, 2, 4], [0, 1]), np.ones(2), TypeError, "no CSR matrix"),
        (bad("csc", [0, 2, 4], [0, 1, 0, 2]), np.ones(2), ValueError, "row index is outside"),
        (bad("csc", [0, 5, 4], [0, 1, 0, 1]), np.ones(2), ValueError, "column offsets must rise"),
        (bad("coo", [0, 2, 0, 1], [0, 1, 0, 1]), np.ones(2), ValueError, "row index is outside"),
        (bad("coo", [0, 1, 0, 1], [0, 1, 0, -1]), np.ones(2), ValueError, "column index is outside"),
    ],
)
def test_bad_operands(a: Any, b: Any, kind: type[Exception], part: str) -> None:
    with pytest.raises(kind, match=part):
        direct_solver(a, b, execution="cpu")


@pytest.mark.parametrize("what", ["lil", "dia", "dok"])
def test_other_formats_are_refused(what: str) -> None:
    with pytest.raises(TypeError, match=r"tocsr\(\)"):
        direct_solver(csr([[4, 1], [1, 3]]).asformat(what), np.ones(2), execution="cpu")


@pytest.mark.parametrize(
    ("keywords", "kind", "part"),
    [
        ({"options": {"sparse_system_type": 9}}, ValueError, "DirectSolverMatrixType"),
        ({"options": {"sparse_system_view": "x"}}, ValueError, "DirectSolverMatrixViewType"),
        ({"options": {"sparse_system_type": DirectSolverMatrixViewType.UPPER}}, ValueError, "DirectSolverMatrixType"),
        ({"options": {"blocking": False}}, ValueError, "blocking"),
        ({"options": {"on_failure": "ignore"}}, ValueError, "'retry', 'raise', 'warn'"),
        ({"options": {"nonsense": 1}}, TypeError, "nonsense"),
        ({"options": 3}, TypeError, "DirectSolverOptions"),
        ({"execution": "gpu"}, ValueError, "'hybrid'"),
        ({"execution": {"name": "cpu", "nonsense": 1}}, TypeError, "nonsense"),
        ({"execution": {"name": "hybrid", "num_threads": 0}}, ValueError, "num_threads"),
        ({"execution": 3}, ValueError, "execution"),
        ({"plan_preferences": {"nonsense": 1}}, TypeError, "nonsense"),
        ({"plan_preferences": 3}, TypeError, "plan_preferences"),
        ({"plan_preferences": {"max_nnz": 3}}, ValueError, "max_nnz = 3 is not supported on the CPU"),
        ({"plan_preferences": {"reordering_algorithm": 77}}, ValueError, "reordering_algorithm must be a member"),
        (
            {"plan_preferences": {"reordering_algorithm": DirectSolverReorderingAlg.BTF_COLAMD}},
            ValueError,
            "not supported on the CPU",
        ),
        ({"solution_preferences": {"ir_num_steps": -1}}, ValueError, "ir_num_steps"),
        ({"factorization_preferences": {"pivot_eps": 0.3}}, ValueError, "pivot_eps"),
    ],
)
def test_bad_options(keywords: dict[str, object], kind: type[Exception], part: str) -> None:
    with pytest.raises(kind, match=part):
        direct_solver(csr([[4, 1], [1, 3]]), np.ones(2), **({"execution": "cpu"} | keywords))


@pytest.mark.skipif(nvmath._core.place.has_device(), reason="there is a CUDA device")
@pytest.mark.parametrize("execution", ["cuda", "hybrid", ExecutionHybrid()])
def test_a_gpu_that_is_not_there_is_named(execution: Any) -> None:
    with pytest.raises(RuntimeError, match="No CUDA device"):
        direct_solver(csr(np.eye(2)), np.ones(2), execution=execution)


def test_complex_spd_is_refused() -> None:
    with pytest.raises(TypeError, match="HPD"):
        direct_solver(
            csr([[4, 1], [1, 3]], "complex128"), np.ones(2, complex), options={"sparse_system_type": 3}, execution="cpu"
        )


def test_values_of_foreign_byte_order_are_refused() -> None:
    a = csr([[4, 1], [1, 3]])
    a.data = a.data.astype(">f8")
    with pytest.raises(ValueError, match=r"a\.data must be contiguous"):
        direct_solver(a, np.ones(2), execution="cpu")


def test_resets_that_do_not_fit() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.ones(2)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        for keywords, part in (
            ({"a": csr(np.eye(3))}, "shape"),
            ({"a": csr([[4, 1], [1, 3]], "float32")}, "float32"),
            ({"a": a.tocsc()}, "in format csr"),
            ({"a": np.eye(2)}, "CSR"),
            ({"a": [a]}, "single object, so it cannot be replaced by a sequence"),
            ({"b": [b]}, "single object, so it cannot be replaced by a sequence"),
            ({"b": np.ones(3)}, "extent N"),
            ({"b": np.ones(2, complex)}, "complex128"),
        ):
            with pytest.raises(TypeError, match=part):
                solver.reset_operands(**keywords)
        with pytest.raises(ValueError, match="Pass a, b or both"):
            solver.reset_operands()
        for trans in ("X", ["N"], None):
            with pytest.raises(ValueError, match="trans must be one of"):
                solver.solve(trans=trans)  # type: ignore[arg-type]
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b))


# --- settings -----------------------------------------------------------------------------------------------------------------------


def test_settings(sparse_library: str) -> None:
    a, b = csr([[4, 1, 0], [1, 3, 1], [0, 1, 5]]), np.ones(3)
    orderings = ["DEFAULT", "AMD", "NONE", "NESTED_DISSECTION" if sparse_library == "pardiso" else "COLAMD"]
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


def test_settings_of_pardiso(sparse_library: str) -> None:
    symmetric = DirectSolverOptions(sparse_system_type=DirectSolverMatrixType.SYMMETRIC)
    indefinite, b = csr([[0, 1, 0], [1, 0, 2], [0, 2, 1]]), np.ones(3)

    def solve() -> Any:
        return direct_solver(
            indefinite, b, options=symmetric, execution={"name": "cpu", "num_threads": 1},
            plan_preferences={"pivot_type": nvmath.bindings.cudss.PivotType.PIVOT_BUNCH_KAUFMAN, "host_nthreads": 1},
            factorization_preferences={"pivot_eps": 1e-10},
        )  # fmt: skip

    if sparse_library == "pardiso":
        assert_solves(indefinite, solve(), b)
    else:
        with pytest.raises(ValueError, match="not supported on the CPU by SuperLU"):
            solve()


# --- information ---------------------------------------------------------------------------------------------------------------------


def test_information(sparse_library: str) -> None:
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
        assert (made.info, made.npivots, made.residual) == (0, 0, None)
        assert made.lu_nnz >= 6
        np.testing.assert_array_equal(made.inertia, [3, 2])
        assert made.inertia.dtype == np.int32
        solver.solve()
        assert 0 <= made.residual <= 1e-14
        if sparse_library == "pardiso":
            assert info.memory_estimates.permanent_host_memory > 0
            assert sorted(info.row_permutation) == list(range(5))
            assert info.row_permutation.dtype == np.int32
            with pytest.raises(NotImplementedError, match="diag"):
                _ = made.diag
        else:
            assert sorted(made.row_permutation) == list(range(5))
            np.testing.assert_allclose(np.abs(np.prod(made.diag)), abs(np.linalg.det(matrix)))
            with pytest.raises(NotImplementedError, match="row_permutation"):
                _ = info.row_permutation
        solver.plan_config.matching_algorithm = 0
        with pytest.raises(RuntimeError, match="matching"):
            _ = made.row_scale_factors
        solver.release_operands()
        for name in ("condition", "logdet"):
            with pytest.raises(RuntimeError, match="released"):
                getattr(made, name)


@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC", "HERMITIAN", "SPD", "HPD"])
@pytest.mark.parametrize("view", [0, 1, 2])
def test_determinant_and_condition(kind: str, view: int) -> None:
    rng = np.random.default_rng(view)
    for n in (1, 2, 9, 30):
        dtype = "complex128" if kind in ("HERMITIAN", "HPD") else "float64"
        matrix = well_conditioned(rng, n, dtype, kind, 0.4, permuted=kind == "GENERAL")
        stored = {0: matrix, 1: np.tril(matrix), 2: np.triu(matrix)}[view if kind != "GENERAL" else 0]
        options = DirectSolverOptions(sparse_system_type=DirectSolverMatrixType[kind], sparse_system_view=view)
        with DirectSolver(csr(stored, dtype), np.ones(n, dtype), options=options, execution="cpu") as solver:
            solver.plan()
            info = solver.factorize()
            sign, log = info.logdet
            expected = np.linalg.slogdet(matrix)
            assert sign == pytest.approx(expected[0])
            assert log == pytest.approx(expected[1])
            assert 0.3 * np.linalg.cond(matrix, 1) <= info.condition <= 1.01 * np.linalg.cond(matrix, 1)
            if kind != "GENERAL":
                values = np.linalg.eigvalsh(matrix)
                np.testing.assert_array_equal(info.inertia, [(values > 0).sum(), (values < 0).sum()])


def test_condition_of_a_grid() -> None:
    a = poisson_2d(8)
    with DirectSolver(a, np.ones(64), execution="cpu") as solver:
        solver.plan()
        assert solver.factorize().condition == pytest.approx(np.linalg.cond(a.toarray(), 1), rel=1e-6)


# --- PyTorch ---------------------------------------------------------------------------------------------------------------------------


def test_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that its sparse tensors are in beta state
        dense = torch.tensor([[4.0, 1], [1, 3]], dtype=torch.float64)
        forms = (dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse(), dense.to_sparse_bsr((1, 2)))
        b = torch.rand(2, dtype=torch.float64)
        for a in forms:
            for side in (b, torch.rand(2, 3, dtype=torch.float64), torch.rand(3, 2, dtype=torch.float64).T):
                torch.testing.assert_close(dense @ direct_solver(a, side, execution="cpu"), side)
        uncoalesced = torch.sparse_coo_tensor([[0, 0, 1, 0], [0, 1, 1, 0]], [1.0, 1, 3, 3], (2, 2), dtype=torch.float64)
        torch.testing.assert_close(uncoalesced.to_dense() @ direct_solver(uncoalesced, b, execution="cpu"), b)
        with pytest.raises(TypeError, match="do not go together"):
            direct_solver(forms[0], np.ones(2), execution="cpu")
        with pytest.raises(TypeError, match="do not go together"):
            direct_solver(csr(np.eye(2)), b, execution="cpu")
        for wrong, part in (
            (dense, "to_sparse_csr"),
            (dense.to_sparse_bsc((1, 2)), "to_sparse_csr"),
            (torch.stack([dense, dense]).to_sparse(), "two sparse dimensions"),
            (torch.stack([dense, dense], dim=-1).to_sparse(2), "sparse and 1 dense"),
        ):
            with pytest.raises(TypeError, match=part):
                direct_solver(wrong, b, execution="cpu")


def test_tensors_that_require_gradients_warn() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse")
        a = torch.tensor([[4.0, 1], [1, 3]]).to_sparse_csr()
    with pytest.warns(UserWarning, match="gradient"):
        direct_solver(a, torch.ones(2, requires_grad=True), execution="cpu")
