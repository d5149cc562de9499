"""Sparse systems on a GPU through cuDSS, for every package."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from on_cudss import NEEDS_CUDSS
from sparse_cases import (
    FORMATS,
    KINDS,
    NAMED,
    SINGULAR,
    assert_solves,
    csr,
    dependent,
    free_laplacian,
    part_of,
    poisson_2d,
    rank,
    right_side,
    scrambled,
    solved,
    tiny_and_huge,
    well_conditioned,
)

import nvmath
from nvmath._core import place
from nvmath.sparse.advanced import (
    DirectSolver,
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverReorderingAlg,
    ExecutionHybrid,
    SingularSystemError,
    direct_solver,
)
from nvmath.sparse.advanced._threading import threading_library

pytestmark = NEEDS_CUDSS

DTYPES = ("float32", "float64", "complex64", "complex128")


class Package:
    """How a package makes sparse matrices and arrays, and gives values back."""

    def __init__(
        self, name: str, module: str, sparse: Callable[[Any, Any], Any], array: Callable[[Any, np.ndarray], Any],
        numpy: Callable[[Any], np.ndarray], formats: tuple[str, ...],
    ) -> None:  # fmt: skip
        self.name, self._module, self._sparse, self._array, self.numpy = name, module, sparse, array, numpy
        self.formats = formats
        self.on_gpu = name in ("cupy", "torch-cuda")

    @property
    def module(self) -> Any:
        return pytest.importorskip(self._module, reason=f"{self._module} is not installed")

    def sparse(self, matrix: Any) -> Any:
        """Move a SciPy matrix, with the order of its entries."""
        return self._sparse(self.module, matrix)

    def array(self, values: np.ndarray) -> Any:
        """Move an array, with the order of its axes."""
        return self._array(self.module, values)


def _cupy_sparse(cupy: Any, matrix: Any) -> Any:
    sparse = pytest.importorskip("cupyx.scipy.sparse", reason="CuPy is not installed")
    data = cupy.asarray(matrix.data)
    if matrix.format == "coo":
        return sparse.coo_matrix((data, (cupy.asarray(matrix.row), cupy.asarray(matrix.col))), shape=matrix.shape)
    kind = getattr(sparse, f"{matrix.format}_matrix")
    return kind((data, cupy.asarray(matrix.indices), cupy.asarray(matrix.indptr)), shape=matrix.shape)


def _torch_sparse(device: str) -> Callable[[Any, Any], Any]:
    def make(torch: Any, matrix: Any) -> Any:
        data = torch.from_numpy(matrix.data).to(device)
        if matrix.format == "coo":
            indices = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64)).to(device)
            return torch.sparse_coo_tensor(indices, data, matrix.shape)
        arrays = (torch.from_numpy(array).to(device) for array in (matrix.indptr, matrix.indices))
        kind = getattr(torch, f"sparse_{matrix.format}_tensor")
        return kind(*arrays, data, size=matrix.shape, check_invariants=False)

    return make


def _torch_array(device: str) -> Callable[[Any, np.ndarray], Any]:
    def make(torch: Any, values: np.ndarray) -> Any:
        if values.ndim == 2 and values.flags.f_contiguous:  # columns one behind the other
            return torch.from_numpy(np.ascontiguousarray(values.T)).to(device).mT
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    return make


PACKAGES = (
    Package("scipy", "scipy", lambda _, matrix: matrix, lambda _, values: values, np.asarray, FORMATS),
    Package(
        "cupy", "cupy", _cupy_sparse, lambda cupy, values: cupy.asarray(values, order="K"), lambda array: array.get(),
        ("csr", "csc", "coo"),
    ),
    Package("torch-cuda", "torch", _torch_sparse("cuda"), _torch_array("cuda"), lambda tensor: tensor.cpu().numpy(), FORMATS),
    Package("torch-cpu", "torch", _torch_sparse("cpu"), _torch_array("cpu"), lambda tensor: tensor.numpy(), FORMATS),
)  # fmt: skip
packages = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)


def kind_of(kind: str, view: str = "FULL") -> dict[str, Any]:
    return {"sparse_system_type": DirectSolverMatrixType[kind], "sparse_system_view": DirectSolverMatrixViewType[view]}


def random(n: int, dtype: str = "float64", kind: str = "GENERAL", seed: int = 0) -> np.ndarray:
    return well_conditioned(np.random.default_rng(seed), n, dtype, kind, 0.3)


# --- every kind of system -----------------------------------------------------------------------------------------------------------


@packages
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", ["FULL", "LOWER", "UPPER"])
def test_types_and_views(package: Package, dtype: str, kind: str, view: str) -> None:
    matrix = random(40, dtype, kind)
    stored, dtype = sp.csr_array(part_of(matrix, kind, view)), str(matrix.dtype)
    rng = np.random.default_rng(1)
    for shape in ((40,), (40, 1), (40, 5)):
        b = right_side(rng, shape, dtype, "F")
        x = direct_solver(package.sparse(stored), package.array(b), options=kind_of(kind, view), execution="cuda")
        assert_solves(matrix, package.numpy(x), b)


@packages
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC", "SPD"])
@pytest.mark.parametrize("in_order", [False, True])
def test_formats_and_orders(package: Package, form: str, kind: str, in_order: bool) -> None:
    if form not in package.formats:
        pytest.skip(f"{package.name} has no {form}")
    rng = np.random.default_rng(2)
    for view in ("FULL", "LOWER", "UPPER"):
        matrix = random(30, kind=kind)
        stored = part_of(matrix, kind, view)
        a = sp.csr_array(stored).asformat(form) if in_order else scrambled(rng, stored, form)
        b = right_side(rng, (30, 2), "float64", "F")
        x = direct_solver(package.sparse(a), package.array(b), options=kind_of(kind, view), execution="cuda")
        assert_solves(matrix, package.numpy(x), b)


@packages
@pytest.mark.parametrize("name", NAMED)
def test_named_matrices(package: Package, name: str) -> None:
    make, kind = NAMED[name]
    a = make(12)
    b = right_side(np.random.default_rng(0), (a.shape[0], 2), str(a.dtype), "F")
    x = direct_solver(package.sparse(a), package.array(b), options=kind_of(kind), execution="cuda")
    assert_solves(a, package.numpy(x), b)


@packages
@pytest.mark.parametrize("n", [1, 2, 3, 200])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_sizes_and_indices(package: Package, n: int, index: str) -> None:
    matrix = random(n)
    a = sp.csr_array(matrix)
    a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    b = np.random.default_rng(2).random(n)
    if package.name == "cupy" and index == "int64":
        pytest.skip("cupyx converts indices to int32")
    with DirectSolver(package.sparse(a), package.array(b), execution="cuda") as solver:
        info = solver.plan()
        assert sorted(info.col_permutation) == list(range(n))
        assert info.col_permutation.dtype == index
        made = solver.factorize()
        assert (made.info, made.npivots) == (0, 0)
        assert_solves(matrix, package.numpy(solver.solve()), b)


@packages
def test_layouts_of_b(package: Package) -> None:
    matrix, rng = random(30), np.random.default_rng(3)
    a = package.sparse(sp.csr_array(matrix))
    big = rng.random((60, 8))
    for values in (big[:30, :3].copy(), np.asfortranarray(big)[:30, :3], np.asfortranarray(big[:30, :4])):
        b = package.array(values)
        kept = package.numpy(b).copy()
        assert_solves(matrix, package.numpy(direct_solver(a, b, execution="cuda")), kept)
        np.testing.assert_array_equal(package.numpy(b), kept)
    b = package.array(big)[:30, ::2]
    assert_solves(matrix, package.numpy(direct_solver(a, b, execution="cuda")), package.numpy(b))
    many = rng.random((2, 3, 30, 2))
    x = package.numpy(direct_solver(a, package.array(many), execution="cuda"))
    np.testing.assert_allclose(matrix @ x, many, atol=1e-9)


@packages
def test_complex_right_sides_of_a_real_matrix(package: Package) -> None:
    matrix, rng = random(30), np.random.default_rng(3)
    for layout in ("C", "F"):
        b = right_side(rng, (30, 2), "complex128", layout)
        x = direct_solver(package.sparse(sp.csr_array(matrix)), package.array(b), execution="cuda")
        assert_solves(matrix, package.numpy(x), b)


@packages
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC", "HERMITIAN"])
def test_transposes(package: Package, dtype: str, kind: str) -> None:
    matrix, b = random(25, dtype, kind), right_side(np.random.default_rng(4), (25, 2), dtype, "F")
    with DirectSolver(
        package.sparse(sp.csr_array(matrix)), package.array(b), options=kind_of(kind), execution="cuda"
    ) as solver:
        solver.plan()
        solver.factorize()
        for trans in "NTHN":
            assert_solves(solved(matrix, trans), package.numpy(solver.solve(trans=trans)), b)


# --- batches ------------------------------------------------------------------------------------------------------------------------


@packages
def test_sequences(package: Package) -> None:
    rng = np.random.default_rng(5)
    dense = [random(n, seed=n) for n in (3, 1, 20)]
    a = [package.sparse(sp.csr_array(matrix)) for matrix in dense]
    sides = [right_side(rng, shape, "float64", "F") for shape in ((3,), (1, 2), (20, 3))]
    with DirectSolver(a, [package.array(side) for side in sides], execution="cuda") as solver:
        solver.plan()
        solver.factorize()
        for trans in "NT":
            for matrix, x, side in zip(dense, solver.solve(trans=trans), sides, strict=True):
                assert_solves(solved(matrix, trans), package.numpy(x), side)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (1, 1)])
def test_stacks(device: str, shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    mask = random(6) != 0  # stacks have equally many entries in every matrix
    count = int(np.prod(shape))
    dense = np.stack(
        [well_conditioned(np.random.default_rng(i), 6, "float64", "GENERAL", 1.0) * mask for i in range(count)]
    )
    stack = torch.from_numpy(dense.reshape(*shape, 6, 6)).to(device)
    for columns in (1, 3):
        b = torch.from_numpy(np.random.default_rng(1).random((*shape, 6, columns))).to(device)
        for side in (b, b.mT.contiguous().mT):
            x = direct_solver(stack.to_sparse_csr(), side, execution="cuda")
            torch.testing.assert_close(stack @ x, b)


# --- state --------------------------------------------------------------------------------------------------------------------------


@packages
def test_stateful(package: Package) -> None:
    matrix, rng = random(50), np.random.default_rng(4)
    stored = sp.csr_array(matrix)
    b = rng.random(50)
    with DirectSolver(package.sparse(stored), package.array(b), execution="cuda") as solver:
        plan = solver.plan()
        assert plan.memory_estimates.peak_device_memory > 0
        made = solver.factorize()
        assert made.residual is None
        assert made.lu_nnz >= stored.nnz
        assert_solves(matrix, package.numpy(solver.solve()), b)
        assert made.residual <= 1e-12
        other = np.asfortranarray(rng.random((50, 3)))
        solver.reset_operands(b=package.array(other))
        assert_solves(matrix, package.numpy(solver.solve()), other)
        scaled = sp.csr_array((stored.data * 3, stored.indices.copy(), stored.indptr.copy()), shape=stored.shape)
        solver.reset_operands(a=package.sparse(scaled))  # the pattern is compared: the plan stays
        solver.factorize()
        assert_solves(3 * matrix, package.numpy(solver.solve()), other)
        moved = scaled.copy()
        moved.indices[:2] = np.setdiff1d(np.arange(50), moved.indices[: moved.indptr[1]])[:2]
        moved.sort_indices()
        solver.reset_operands(a=package.sparse(moved))
        with pytest.raises(RuntimeError, match="plan"):
            solver.factorize()
        solver.release_operands()
        with pytest.raises(RuntimeError, match="released"):
            solver.plan()


@pytest.mark.parametrize("package", [one for one in PACKAGES if one.on_gpu], ids=lambda package: package.name)
def test_values_in_place_on_the_gpu(package: Package) -> None:
    matrix, b = random(50), np.random.default_rng(5).random(50)
    a = package.sparse(sp.csr_array(matrix))
    data = a.data if package.name == "cupy" else a.values()
    with DirectSolver(a, package.array(b)) as solver:
        solver.plan()
        solver.factorize()
        data *= 2
        solver.factorize()
        assert_solves(2 * matrix, package.numpy(solver.solve()), b)
        data *= 1.001
        solver.solution_config.ir_num_steps = 5  # instead of a factorization
        assert_solves(2.002 * matrix, package.numpy(solver.solve()), b)


@packages
def test_plans_of_one_call_solutions_are_kept(package: Package) -> None:
    stored, b = sp.csr_array(random(40)), np.random.default_rng(5).random(40)
    nvmath.plan_cache.clear()
    for factor in (1.0, 2.0, 3.0):
        a = sp.csr_array((stored.data * factor, stored.indices, stored.indptr), shape=stored.shape)
        assert_solves(a, package.numpy(direct_solver(package.sparse(a), package.array(b), execution="cuda")), b)
    assert nvmath.plan_cache.info().hits == 2
    other = sp.csr_array(random(40)[::-1].copy())  # as many entries elsewhere
    assert_solves(other, package.numpy(direct_solver(package.sparse(other), package.array(b), execution="cuda")), b)


def test_kept_factors_count_the_bytes_that_cudss_tells(fresh_cache: None) -> None:
    a, b = poisson_2d(60), np.ones(3600)
    with DirectSolver(a, b, execution="cuda") as solver:
        solver.plan()
        solver.factorize()
        nbytes = solver._plan_object.nbytes
    assert nbytes > 8 * a.nnz
    for bound, entries in ((nbytes, 1), (nbytes - 1, 0)):
        nvmath.plan_cache.configure(max_nbytes=bound)
        assert_solves(a, direct_solver(a, b, execution="cuda"), b, 10_000)
        info = nvmath.plan_cache.info()
        assert (info.entries, info.nbytes, info.max_nbytes) == (entries, entries * nbytes, bound)


@pytest.mark.alone
def test_memory_comes_back() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    a, b = _cupy_sparse(cupy, poisson_2d(100)), cupy.ones(10_000)

    def solve() -> int:
        with DirectSolver(a, b) as solver:
            solver.plan()
            solver.factorize()
            solver.solve()
        place.reap()
        cupy.cuda.Device().synchronize()
        return cupy.cuda.Device().mem_info[0]

    solve()
    first = solve()
    for _ in range(5):
        last = solve()
    assert last >= first - (8 << 20)


# --- trust ---------------------------------------------------------------------------------------------------------------------------


@packages
@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("consistent", [False, True])
def test_singular_systems_are_refused(package: Package, name: str, consistent: bool) -> None:
    a, kind = SINGULAR[name]
    n = a.shape[0]
    with np.errstate(all="ignore"):
        b = a @ np.ones(n) if consistent else np.random.default_rng(3).random(n)
    with pytest.raises(SingularSystemError):
        direct_solver(package.sparse(a), package.array(b), options=kind_of(kind) | {"blocking": True}, execution="cuda")


@pytest.mark.parametrize("name", [name for name in SINGULAR if name not in ("NaN", "infinity")])
def test_singular_matrices_are_refused_without_waiting_for_a_solution(name: str) -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    a, kind = SINGULAR[name]
    with pytest.raises(SingularSystemError):
        direct_solver(_cupy_sparse(cupy, a), cupy.ones(a.shape[0]), options=kind_of(kind))


@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC", "SPD"])
def test_matrices_that_are_singular_but_for_rounding_are_refused(kind: str) -> None:
    """Whether a solution is waited for or not."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    for seed in range(8):
        a = free_laplacian(12 + seed, np.random.default_rng(seed))
        b = a @ np.random.default_rng(0).integers(-3, 4, a.shape[0])
        with pytest.raises(SingularSystemError, match=r"singular|definite"):
            direct_solver(_cupy_sparse(cupy, a), cupy.asarray(b), options={"sparse_system_type": kind})


@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("on_failure", ["retry", "raise"])
def test_dependent_rows_of_integers_are_refused(kind: str, dtype: str, on_failure: str) -> None:
    for seed in range(40):
        a = dependent(seed, kind).astype(dtype)
        b = a @ np.random.default_rng(0).integers(-3, 4, a.shape[0]).astype(dtype)
        with pytest.raises(SingularSystemError, match=r"singular|definite"):
            direct_solver(a, b, options={"sparse_system_type": kind, "on_failure": on_failure}, execution="cuda")


def test_regular_matrices_of_integers_are_solved() -> None:
    """What is looked at more closely is not refused."""
    solved = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, kind = int(rng.integers(2, 20)), ("GENERAL", "SYMMETRIC")[seed % 2]
        matrix = rng.integers(-4, 5, (n, n)) * (rng.random((n, n)) < 3 / n)
        matrix = matrix + matrix.T if kind == "SYMMETRIC" else matrix
        if rank(matrix) == n:
            b = rng.standard_normal(n)
            x = direct_solver(csr(matrix), b, options={"sparse_system_type": kind}, execution="cuda")
            assert_solves(matrix, x, b)
            solved += 1
    assert solved > 20


@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_indefinite_system_has_all_digits(kind: str, dtype: str) -> None:
    a = sp.csr_array(poisson_2d(90) - 1.3 * sp.eye_array(8100)).astype(dtype)
    b = np.random.default_rng(0).standard_normal((8100, 2)).astype(dtype)
    assert_solves(a, direct_solver(a, b, options={"sparse_system_type": kind}, execution="cuda"), b, 64)


@pytest.mark.parametrize("kind", ["SPD", "SYMMETRIC"])
def test_a_large_matrix_in_single_precision_that_is_not_as_was_said(kind: str) -> None:
    """It is refused, or solved as what it is."""
    laplacian = poisson_2d(200)
    a = sp.csr_array(sp.triu(laplacian) + 1.02 * sp.tril(laplacian, -1)).astype("float32")
    b = a @ np.random.default_rng(0).standard_normal(40_000).astype("float32")
    if kind == "SPD":
        with pytest.raises(SingularSystemError, match="type and view"):
            direct_solver(a, b, options={"sparse_system_type": kind}, execution="cuda")
    else:
        assert_solves(a, direct_solver(a, b, options={"sparse_system_type": kind}, execution="cuda"), b, 64)


def test_right_hand_sides_too_small_for_normal_numbers() -> None:
    x = direct_solver(csr([[3, 1], [1, 7]]), np.array([5e-324, 1.5e-323]), execution="cuda")
    np.testing.assert_allclose(x, 0, atol=1e-322)


def test_a_solution_that_is_not_waited_for_tells_its_residual() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    a, b = _cupy_sparse(cupy, csr([[4, 1], [1, 3]])), cupy.array([1.0, np.nan])
    with DirectSolver(a, b) as solver:
        solver.plan()
        info = solver.factorize()
        solver.solve()
        assert not info.residual <= 1
        b[:] = 1
        solver.solve()
        assert info.residual <= 1e-15


@pytest.mark.parametrize("seed", range(20))
def test_random_matrices_without_strong_diagonals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(100)
    a = (
        sp.random_array((100, 100), density=0.1, rng=rng)
        + sp.csr_array((np.full(100, 0.05), (np.arange(100), order)), shape=(100, 100))
    ).tocsr()
    b = a @ rng.standard_normal(100)
    x = direct_solver(a, b, execution="cuda")
    assert np.linalg.norm(a @ x - b) <= 1e-9 * np.linalg.norm(b)


@pytest.mark.parametrize("decades", [5, 60])
def test_entries_of_very_different_sizes(decades: int) -> None:
    a, exact = tiny_and_huge(8, decades)
    b = a @ exact
    try:
        x = direct_solver(a, b, execution="cuda")
    except SingularSystemError:
        assert decades == 60  # refused by name, which is right where rows differ by 1e120
        return
    np.testing.assert_allclose(x, exact, rtol=1e-6)


def test_condition_and_determinant() -> None:
    matrix = np.diag([1.0, 2, -4]) + np.diag([0.5, 0.5], 1)
    with DirectSolver(csr(matrix), np.ones(3), execution="cuda") as solver:
        solver.plan()
        info = solver.factorize()
        assert info.condition == pytest.approx(np.linalg.cond(matrix, 1), rel=0.7)
        assert info.logdet == (-1, pytest.approx(np.log(8)))


# --- settings and places -----------------------------------------------------------------------------------------------------------


def test_settings() -> None:
    matrix = random(60)
    b = np.random.default_rng(6).random(60)
    with DirectSolver(sp.csr_array(matrix), b, execution="cuda") as solver:
        for ordering in ("DEFAULT", "AMD", "NESTED_DISSECTION", "NONE"):
            solver.plan_config.reordering_algorithm = DirectSolverReorderingAlg[ordering]
            solver.plan()
            solver.factorize()
            assert_solves(matrix, solver.solve(), b)
        solver.solution_config.ir_num_steps = 2
        assert_solves(matrix, solver.solve(), b)


@pytest.mark.parametrize("limit", [None, "50%", 1 << 30])
def test_hybrid_memory(limit: Any) -> None:
    a, b = poisson_2d(40), np.ones(1600)
    execution = {
        "name": "cuda",
        "hybrid_memory_mode_options": {"hybrid_memory_mode": True, "hybrid_device_memory_limit": limit},
    }
    assert_solves(a, direct_solver(a, b, execution=execution), b)


@packages
def test_hybrid_execution(package: Package) -> None:
    a, rng = poisson_2d(20), np.random.default_rng(0)
    for shape in ((400,), (400, 1), (400, 3)):
        b = right_side(rng, shape, "float64", "F")
        for execution in ("hybrid", ExecutionHybrid(num_threads=1)):
            assert_solves(a, package.numpy(direct_solver(package.sparse(a), package.array(b), execution=execution)), b)


def test_hybrid_execution_sees_edits_of_host_arrays() -> None:
    a, b = poisson_2d(5), np.ones(25)
    with DirectSolver(a, b, execution="hybrid") as solver:
        solver.plan()
        solver.factorize()
        first = solver.solve()
        b *= 2
        np.testing.assert_allclose(solver.solve(), 2 * first)
        a.data *= 4
        solver.factorize()
        np.testing.assert_allclose(solver.solve(), first / 2)


def test_the_threading_layer_is_found() -> None:
    from nvmath.sparse.advanced import DirectSolverOptions

    if not threading_library(DirectSolverOptions()):
        pytest.skip("cuDSS's threading layer (libcudss_mtlayer_gomp) is not installed")
    a, b = poisson_2d(60), np.ones(3600)
    with DirectSolver(a, b, execution="cuda") as solver:
        solver.plan_config.host_nthreads = 2
        assert solver.plan_config.host_nthreads == 2
        solver.plan()
        solver.factorize()
        assert_solves(a, solver.solve(), b)


def test_gpu_operands_on_the_cpu() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    matrix, b = random(20), np.random.default_rng(7).random(20)
    x = direct_solver(_torch_sparse("cuda")(torch, sp.csr_array(matrix)), torch.from_numpy(b).cuda(), execution="cpu")
    assert x.is_cuda
    assert_solves(matrix, x.cpu().numpy(), b)


def test_streams() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    matrix, b = random(500), np.random.default_rng(8).random(500)
    a, right = _torch_sparse("cuda")(torch, sp.csr_array(matrix)), torch.from_numpy(b).cuda()
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    x = direct_solver(a, right, stream=stream)
    stream.synchronize()
    assert_solves(matrix, x.cpu().numpy(), b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with torch.cuda.stream(stream):
            x = direct_solver(a, right)
        stream.synchronize()
    assert_solves(matrix, x.cpu().numpy(), b)
