"""Sparse systems on a GPU through cuDSS, for every package."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from nvmath._core import place
from nvmath.bindings import _load
from nvmath.sparse.advanced import (
    DirectSolver,
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverReorderingAlg,
    SingularSystemError,
    direct_solver,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device"),
    pytest.mark.skipif(_load.find_library("cudss") is None, reason="cuDSS is not installed (pip install nvidia-cudss-cu13)"),
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state"),
]

DTYPES = ("float32", "float64", "complex64", "complex128")
KINDS = ("GENERAL", "SYMMETRIC", "HERMITIAN", "SPD", "HPD")


class Package:
    """How a package makes CSR matrices and arrays, and gives values back."""

    def __init__(self, name: str, module: str, csr: Callable[[Any, sp.csr_array], Any], array: Callable[[Any, np.ndarray], Any],
                 numpy: Callable[[Any], np.ndarray]) -> None:  # fmt: skip
        self.name, self._module, self._csr, self._array, self.numpy = name, module, csr, array, numpy

    @property
    def module(self) -> Any:
        return pytest.importorskip(self._module, reason=f"{self._module} is not installed")

    def csr(self, matrix: sp.csr_array) -> Any:
        return self._csr(self.module, matrix)

    def array(self, values: np.ndarray) -> Any:
        return self._array(self.module, values)


def _cupy_csr(cupy: Any, matrix: sp.csr_array) -> Any:
    sparse = pytest.importorskip("cupyx.scipy.sparse", reason="CuPy is not installed")
    arrays = cupy.asarray(matrix.data), cupy.asarray(matrix.indices), cupy.asarray(matrix.indptr)
    return sparse.csr_matrix(arrays, shape=matrix.shape)


def _torch_csr(device: str) -> Callable[[Any, sp.csr_array], Any]:
    def make(torch: Any, matrix: sp.csr_array) -> Any:
        arrays = (torch.from_numpy(array).to(device) for array in (matrix.indptr, matrix.indices, matrix.data))
        return torch.sparse_csr_tensor(*arrays, size=matrix.shape)

    return make


def _torch_array(device: str) -> Callable[[Any, np.ndarray], Any]:
    def make(torch: Any, values: np.ndarray) -> Any:
        flat = torch.from_numpy(np.ascontiguousarray(values.T)).to(device).T  # columns one behind the other
        return flat if values.flags.f_contiguous else flat.contiguous()

    return make


PACKAGES = (
    Package("scipy", "scipy", lambda _, matrix: matrix, lambda _, values: values, np.asarray),
    Package("cupy", "cupy", _cupy_csr, lambda cupy, values: cupy.asarray(values, order="K"), lambda array: array.get()),
    Package("torch-cuda", "torch", _torch_csr("cuda"), _torch_array("cuda"), lambda tensor: tensor.cpu().numpy()),
    Package("torch-cpu", "torch", _torch_csr("cpu"), _torch_array("cpu"), lambda tensor: tensor.numpy()),
)  # fmt: skip
packages = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)


def system(dtype: str, kind: str, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    made = rng.uniform(-1, 1, (n, n)) * (rng.random((n, n)) < 0.3)
    if dtype.startswith("complex"):
        made = made + 1j * rng.uniform(-1, 1, (n, n)) * (made != 0)
    if kind == "SYMMETRIC":
        made = made + made.T
    elif kind != "GENERAL":
        made = made + made.conj().T
    sign = np.where(np.arange(n) % 2, 1, -1) if kind in ("SYMMETRIC", "HERMITIAN") else 1
    np.fill_diagonal(made, sign * (made.diagonal().real + 2 * n))
    return made.astype(dtype)


def assert_solves(matrix: np.ndarray, x: np.ndarray, b: np.ndarray) -> None:
    wide = matrix.astype(np.clongdouble if np.iscomplexobj(matrix) else np.longdouble)
    residual = abs(wide @ x - b).max(axis=0, initial=0)
    scale = abs(wide).sum(axis=1).max() * abs(x).max(axis=0, initial=0) + abs(b).max(axis=0, initial=0)
    assert x.shape == b.shape
    assert np.all(residual <= 1000 * float(np.finfo(b.dtype).eps) * scale)


@packages
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", ["FULL", "LOWER", "UPPER"])
def test_types_and_views(package: Package, dtype: str, kind: str, view: str) -> None:
    if (kind in ("HERMITIAN", "HPD")) != dtype.startswith("complex") and kind != "GENERAL":
        pytest.skip("not a combination that cuDSS has: symmetric and SPD are real, Hermitian and HPD complex")
    matrix = system(dtype, kind, 40)
    stored = matrix if kind == "GENERAL" or view == "FULL" else np.tril(matrix) if view == "LOWER" else np.triu(matrix)
    options = {"sparse_system_type": DirectSolverMatrixType[kind], "sparse_system_view": DirectSolverMatrixViewType[view]}
    rng = np.random.default_rng(1)
    for shape in ((40,), (40, 1), (40, 5)):
        b = np.asfortranarray(rng.random(shape).astype(dtype))
        x = direct_solver(package.csr(sp.csr_array(stored)), package.array(b), options=options, execution="cuda")
        assert_solves(matrix, package.numpy(x), b)


@packages
@pytest.mark.parametrize("n", [1, 2, 3, 200])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_sizes_and_indices(package: Package, n: int, index: str) -> None:
    matrix = system("float64", "GENERAL", n)
    a = sp.csr_array(matrix)
    a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    b = np.random.default_rng(2).random(n)
    assert_solves(matrix, package.numpy(direct_solver(package.csr(a), package.array(b), execution="cuda")), b)


@packages
def test_layouts_of_b(package: Package) -> None:
    matrix, rng = system("float64", "GENERAL", 30), np.random.default_rng(3)
    a = package.csr(sp.csr_array(matrix))
    big = rng.random((60, 8))
    for values in (big[:30, :3].copy(), np.asfortranarray(big)[:30, :3], np.asfortranarray(big[:30, :4])):
        b = package.array(values)
        kept = package.numpy(b).copy()
        assert_solves(matrix, package.numpy(direct_solver(a, b, execution="cuda")), kept)
        np.testing.assert_array_equal(package.numpy(b), kept)
    b = package.array(big)[:30, ::2]
    assert_solves(matrix, package.numpy(direct_solver(a, b, execution="cuda")), package.numpy(b))


@packages
def test_stateful(package: Package) -> None:
    matrix, rng = system("float64", "GENERAL", 50), np.random.default_rng(4)
    stored = sp.csr_array(matrix)
    b = rng.random(50)
    with DirectSolver(package.csr(stored), package.array(b), execution="cuda") as solver:
        plan = solver.plan()
        assert plan.memory_estimates.peak_device_memory > 0
        assert sorted(plan.col_permutation) == list(range(50))
        made = solver.factorize()
        assert (made.info, made.npivots) == (0, 0)
        assert made.lu_nnz >= stored.nnz
        assert_solves(matrix, package.numpy(solver.solve()), b)
        other = np.asfortranarray(rng.random((50, 3)))
        solver.reset_operands(b=package.array(other))
        assert_solves(matrix, package.numpy(solver.solve()), other)
        scaled = sp.csr_array((stored.data * 3, stored.indices, stored.indptr), shape=stored.shape)
        solver.reset_operands(a=package.csr(scaled))
        if package.name in ("scipy", "torch-cpu"):  # the pattern is compared; that of GPU operands is known by its address
            solver.factorize()
        else:
            with pytest.raises(RuntimeError, match="plan"):
                solver.factorize()
            solver.plan()
            solver.factorize()
        assert_solves(3 * matrix, package.numpy(solver.solve()), other)


def test_new_values_in_place_on_the_gpu() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    matrix = system("float64", "GENERAL", 50)
    a, b = _cupy_csr(cupy, sp.csr_array(matrix)), np.random.default_rng(5).random(50)
    with DirectSolver(a, cupy.asarray(b)) as solver:
        solver.plan()
        solver.factorize()
        a.data *= 2
        solver.factorize()
        assert_solves(2 * matrix, solver.solve().get(), b)


@packages
@pytest.mark.parametrize("options", [{}, {"blocking": True}])
def test_singular_systems_are_refused(package: Package, options: dict[str, Any]) -> None:
    for rows in ([[1.0, 1], [1, 1]], [[1, 0], [0, 0]]):
        a = sp.csr_array(np.array(rows))
        with pytest.raises(SingularSystemError):
            direct_solver(package.csr(a), package.array(np.array([2.0, 3.0])), options=options, execution="cuda")


def test_indefinite_matrix_as_spd() -> None:
    options = {"sparse_system_type": DirectSolverMatrixType.SPD}
    with pytest.raises(SingularSystemError):
        direct_solver(sp.csr_array(np.array([[1.0, 2], [2, 1]])), np.array([2.0, 3.0]), options=options, execution="cuda")


def test_random_matrices_without_strong_diagonals() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        order = rng.permutation(100)
        a = (
            sp.random_array((100, 100), density=0.1, rng=rng)
            + sp.csr_array((np.full(100, 0.05), (np.arange(100), order)), shape=(100, 100))
        ).tocsr()
        a.sort_indices()
        b = a @ rng.standard_normal(100)
        try:
            x = direct_solver(a, b, execution="cuda")
        except SingularSystemError:
            continue
        assert np.linalg.norm(a @ x - b) <= 1e-9 * np.linalg.norm(b)


def test_unsorted_patterns_are_refused() -> None:
    a = sp.csr_array((np.array([1.0, 4, 1, 3]), np.array([1, 0, 0, 1]), np.array([0, 2, 4])), shape=(2, 2))
    with pytest.raises(ValueError, match="sort_indices"):
        direct_solver(a, np.ones(2), execution="cuda")


def test_settings() -> None:
    matrix = system("float64", "GENERAL", 60)
    b = np.random.default_rng(6).random(60)
    with DirectSolver(sp.csr_array(matrix), b, execution="cuda") as solver:
        for ordering in ("DEFAULT", "AMD", "NESTED_DISSECTION", "NONE"):
            solver.plan_config.reordering_algorithm = DirectSolverReorderingAlg[ordering]
            solver.plan()
            solver.factorize()
            assert_solves(matrix, solver.solve(), b)
        solver.solution_config.ir_num_steps = 2
        assert_solves(matrix, solver.solve(), b)
    hybrid = {"name": "cuda", "hybrid_memory_mode_options": {"hybrid_memory_mode": True}}
    assert_solves(matrix, direct_solver(sp.csr_array(matrix), b, execution=hybrid), b)


def test_gpu_operands_on_the_cpu() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    matrix, b = system("float64", "GENERAL", 20), np.random.default_rng(7).random(20)
    x = direct_solver(_torch_csr("cuda")(torch, sp.csr_array(matrix)), torch.from_numpy(b).cuda(), execution="cpu")
    assert x.is_cuda
    assert_solves(matrix, x.cpu().numpy(), b)


def test_streams() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    matrix, b = system("float64", "GENERAL", 500), np.random.default_rng(8).random(500)
    a, right = _torch_csr("cuda")(torch, sp.csr_array(matrix)), torch.from_numpy(b).cuda()
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
