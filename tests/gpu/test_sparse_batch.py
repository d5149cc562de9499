"""Batches of sparse systems of one pattern on a GPU: all at once, and those that cuDSS does not do well by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from on_cudss import NEEDS_CUDSS
from sparse_cases import assert_solves, poisson_2d, solved

from nvmath.sparse.advanced import DirectSolver, SingularSystemError, direct_solver

pytestmark = NEEDS_CUDSS

KINDS = {"GENERAL": "float64", "SYMMETRIC": "float32", "SPD": "float64", "HERMITIAN": "complex64", "HPD": "complex128"}


def values_of(count: int, dtype: str = "float64", kind: str = "SPD", side: int = 6) -> tuple[sp.csr_array, np.ndarray]:
    """A pattern and values on it, of so many matrices of a kind."""
    rng = np.random.default_rng(3)
    pattern = poisson_2d(side)
    rows, columns = pattern.tocoo().coords
    scale = 1 + rng.random((count, 1))
    values = pattern.data * scale
    if kind == "GENERAL":
        values = values * (1 + 0.2 * rng.random(values.shape))
    if kind in ("SYMMETRIC", "HERMITIAN"):
        values = values - 1.7 * (rows == columns)
    if dtype.startswith("complex"):
        values = values + 0.1j * np.sign(columns - rows)
    return pattern, values.astype(dtype)


def matrices(pattern: sp.csr_array, values: np.ndarray) -> list[sp.csr_array]:
    return [sp.csr_array((one, pattern.indices, pattern.indptr), shape=pattern.shape) for one in values]


def stack(torch: Any, pattern: sp.csr_array, values: np.ndarray, device: str = "cuda") -> Any:
    count, n = len(values), pattern.shape[0]
    rows, columns = (
        torch.from_numpy(np.tile(array, (count, 1))).to(device) for array in (pattern.indptr, pattern.indices)
    )
    data = torch.from_numpy(values).to(device)
    return torch.sparse_csr_tensor(rows, columns, data, size=(count, n, n), check_invariants=False)


def right(count: int, n: int, columns: int, dtype: str = "float64") -> np.ndarray:
    rng = np.random.default_rng(4)
    made = rng.random((count, n, columns))
    return (made + 1j * rng.random(made.shape) if dtype.startswith("complex") else made).astype(dtype)


def at_once(solver: DirectSolver) -> bool:
    return "at once" in solver._plan_object.description


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blocking", [True, "auto"])
@pytest.mark.parametrize(
    ("count", "columns"), [(2, 1), (40, 5), (500, 1)]
)  # with cuDSS 0.8 several columns at once are wrong from 16 on
def test_stacks(torch: Any, kind: str, blocking: Any, count: int, columns: int) -> None:
    pattern, values = values_of(count, KINDS[kind], kind)
    b = right(count, pattern.shape[0], columns, KINDS[kind])
    options = {"sparse_system_type": kind, "blocking": blocking}
    with DirectSolver(stack(torch, pattern, values), torch.from_numpy(b).cuda(), options=options) as solver:
        solver.plan()
        solver.factorize()
        assert at_once(solver)
        x = solver.solve().cpu().numpy()
        assert solver.factorization_info.residual < (1e-2 if values.real.dtype == np.float32 else 1e-10)
    for matrix, one, side in zip(matrices(pattern, values), x, b, strict=True):
        assert_solves(matrix, one, side, 10_000)


@pytest.mark.parametrize("package", ["scipy", "cupy", "torch"])
def test_sequences(package: str) -> None:
    pattern, values = values_of(20)
    made, b = matrices(pattern, values), right(20, pattern.shape[0], 3)
    if package == "cupy":
        cupy = pytest.importorskip("cupy", reason="cupy is not installed")
        sparse = pytest.importorskip("cupyx.scipy.sparse", reason="cupy is not installed")
        given, sides = [sparse.csr_matrix(sp.csr_matrix(one)) for one in made], [cupy.asarray(side) for side in b]
    elif package == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        arrays = [torch.from_numpy(array).cuda() for array in (pattern.indptr, pattern.indices)]
        parts = [(*arrays, torch.from_numpy(one).cuda()) for one in values]
        given = [torch.sparse_csr_tensor(*part, size=pattern.shape, check_invariants=False) for part in parts]
        sides = [torch.from_numpy(side).cuda() for side in b]
    else:
        given, sides = made, list(b)
    with DirectSolver(given, sides, execution="cuda") as solver:
        solver.plan()
        solver.factorize()
        assert at_once(solver)
        found = solver.solve()
    for matrix, x, side in zip(made, found, b, strict=True):
        assert_solves(
            matrix, np.asarray(x.get() if hasattr(x, "get") else x.cpu() if hasattr(x, "cpu") else x), side, 10_000
        )


def test_new_values_and_right_sides(torch: Any) -> None:
    pattern, values = values_of(10)
    b = torch.from_numpy(right(10, pattern.shape[0], 1)).cuda()
    with DirectSolver(stack(torch, pattern, values), b) as solver:
        solver.plan()
        for factor in (1.0, 3.0, -2.0):
            solver.reset_operands(a=stack(torch, pattern, factor * values), b=factor * b)
            solver.factorize()
            assert at_once(solver)
            x = solver.solve().cpu().numpy()
            for matrix, one, side in zip(
                matrices(pattern, factor * values), x, (factor * b).cpu().numpy(), strict=True
            ):
                assert_solves(matrix, one, side, 10_000)


@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_transposes(torch: Any, trans: Any) -> None:
    pattern, values = values_of(5, "complex128", "GENERAL")
    b = right(5, pattern.shape[0], 2, "complex128")
    with DirectSolver(stack(torch, pattern, values), torch.from_numpy(b).cuda()) as solver:
        solver.plan()
        solver.factorize()
        x = solver.solve(trans=trans).cpu().numpy()
    for matrix, one, side in zip(matrices(pattern, values), x, b, strict=True):
        assert_solves(solved(matrix, trans), one, side, 10_000)


@pytest.mark.parametrize("kind", ["GENERAL", "SPD"])
def test_a_singular_system_is_named(torch: Any, kind: str) -> None:
    pattern, values = values_of(6)
    values[4] = 0.0
    b = torch.ones((6, pattern.shape[0], 1), dtype=torch.float64, device="cuda")
    with DirectSolver(stack(torch, pattern, values), b, options={"sparse_system_type": kind}) as solver:
        solver.plan()
        with pytest.raises(SingularSystemError, match="System 4 of the batch"):
            (solver.factorize(), solver.solve())


def test_a_system_that_has_solutions_but_is_singular_is_named(torch: Any) -> None:
    pattern, values = values_of(6, kind="GENERAL")
    for row in range(2):  # two equal rows
        begin, end = pattern.indptr[row : row + 2]
        values[3, begin:end] = 0.0
        values[3, begin : begin + 2] = 1.0
    dense = matrices(pattern, values)[3].toarray()
    assert np.linalg.matrix_rank(dense) < len(dense)
    b = np.ones((6, len(dense), 1))
    b[3, :, 0] = dense @ np.ones(len(dense))
    with pytest.raises(SingularSystemError, match="System 3 of the batch"):
        direct_solver(stack(torch, pattern, values), torch.from_numpy(b).cuda(), options={"blocking": True})


def test_patterns_that_differ_are_taken_one_by_one(torch: Any) -> None:
    pattern, values = values_of(3)
    made = matrices(pattern, values)
    made[1] = sp.csr_array(sp.eye_array(pattern.shape[0]) * 2.0)
    b = right(3, pattern.shape[0], 1)
    with DirectSolver(made, list(b), execution="cuda") as solver:
        solver.plan()
        solver.factorize()
        assert not at_once(solver)
        for matrix, x, side in zip(made, solver.solve(), b, strict=True):
            assert_solves(matrix, x, side, 10_000)


def test_information(torch: Any) -> None:
    pattern, values = values_of(3, kind="SYMMETRIC")
    b = torch.ones((3, pattern.shape[0], 1), dtype=torch.float64, device="cuda")
    options = {"sparse_system_type": "symmetric"}
    with DirectSolver(stack(torch, pattern, values), b, options=options) as solver:
        solver.plan()
        info = solver.factorize()
        assert at_once(solver)
        expected = [np.linalg.eigvalsh(one.toarray()) for one in matrices(pattern, values)]
        np.testing.assert_array_equal(info.inertia, [[(one > 0).sum(), (one < 0).sum()] for one in expected])
        assert info.npivots == 0
        assert info.lu_nnz >= 3 * pattern.shape[0]
        assert info.condition.shape == (3,)


def test_other_streams(torch: Any) -> None:
    pattern, values = values_of(30)
    b = torch.from_numpy(right(30, pattern.shape[0], 1)).cuda()
    one, other = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with DirectSolver(stack(torch, pattern, values), b, stream=one) as solver:
        solver.plan(stream=one)
        solver.factorize(stream=one)
        for stream in (other, one, other):
            with torch.cuda.stream(stream):
                x = solver.solve() + 0  # read by the next kernel of the stream
            stream.synchronize()
            for matrix, found, side in zip(matrices(pattern, values), x.cpu().numpy(), b.cpu().numpy(), strict=True):
                assert_solves(matrix, found, side, 10_000)
