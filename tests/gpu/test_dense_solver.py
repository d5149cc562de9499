"""Dense systems on a GPU through cuSOLVER and cuBLAS, for every package and route."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from solver_cases import DTYPES, LAYOUTS, WORDS, assert_solves, laid_out, numbers, structured, systems

import nvmath
from nvmath._core import place
from nvmath.bindings import _load
from nvmath.linalg import DirectSolver, IllConditionedWarning, SingularMatrixError, direct_solver
from nvmath.linalg._solver import _fused, _kernels

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device"),
    pytest.mark.skipif(_load.find_library("cusolver") is None, reason="cuSOLVER is not installed (pip install nvidia-cusolver)"),
]

CUPY, TORCH = "cupy", "torch"


class Package:
    """How a package takes and gives back values, keeping strides."""

    def __init__(self, name: str, execution: str | None) -> None:
        self.name, self.execution = name, execution

    def array(self, values: np.ndarray) -> Any:
        if self.name == "numpy":
            return values
        base = values
        while isinstance(base.base, np.ndarray):  # the memory that the view is of
            base = base.base
        offset = (values.ctypes.data - base.ctypes.data) // values.itemsize
        strides = tuple(stride // values.itemsize for stride in values.strides)
        if self.name == "cupy":
            cupy = pytest.importorskip("cupy", reason="cupy is not installed")
            flat = cupy.asarray(base.ravel(order="K"))
            return cupy.lib.stride_tricks.as_strided(flat[offset:], values.shape, [s * values.itemsize for s in strides])
        torch = pytest.importorskip("torch", reason="torch is not installed")
        if min(strides, default=0) < 0:
            return torch.from_numpy(np.ascontiguousarray(values)).to(self._device)
        flat = torch.from_numpy(base.ravel(order="K").copy()).to(self._device)
        return torch.as_strided(flat, values.shape, strides, offset)

    @property
    def _device(self) -> str:
        return "cpu" if self.name == "torch-cpu" else "cuda"

    def numpy(self, array: Any) -> np.ndarray:
        return array.get() if hasattr(array, "get") else array.cpu().numpy() if hasattr(array, "cpu") else array

    def give(self, operand: Any) -> Any:
        return [self.array(each) for each in operand] if isinstance(operand, list) else self.array(operand)

    def take(self, result: Any) -> np.ndarray:
        return np.stack([self.numpy(each) for each in result]) if isinstance(result, list) else self.numpy(result)


PATHS = [
    Package("cupy", None), Package("torch", None), Package("numpy", "cuda"), Package("torch-cpu", "cuda"), Package("cupy", "cpu"),
    Package("torch", "cpu"),
]  # fmt: skip


@pytest.fixture(params=PATHS, ids=lambda path: f"{path.name}-{path.execution or 'there'}", scope="module")
def path(request):
    return request.param


def solve(path: Package, a: Any, b: Any, **asked: Any) -> np.ndarray:
    asked.pop("vectors", None)
    return path.take(direct_solver(path.give(a), path.give(b), options=asked or None, execution=path.execution))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=systems())
def test_systems_of_every_form(path, case):
    sides = case.sides().copy()
    assert_solves(case.whole, solve(path, case.a, case.b, **case.options), sides, case.options["trans"])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=systems())
def test_one_factorization_serves_all_transpositions_and_layouts(path, case):
    asked = {key: case.options[key] for key in ("assume_a", "uplo")}
    sides = case.sides()
    with DirectSolver(path.give(case.a), path.give(case.b), asked, path.execution) as solver:
        solver.plan()
        solver.factorize()
        for trans in "NTC":
            assert_solves(case.whole, path.take(solver.solve(trans=trans)), sides, trans)
        other = [2 * each for each in case.b] if isinstance(case.b, list) else laid_out(2 * case.b, "stepped")
        solver.reset_operands(b=path.give(other))
        assert_solves(case.whole, path.take(solver.solve()), 2 * sides)
        solver.reset_operands(a=path.give([2 * each for each in case.a] if isinstance(case.a, list) else 2 * case.a))
        solver.factorize()
        assert_solves(2 * case.whole, path.take(solver.solve()), 2 * sides)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(("count", "n", "columns"), [(1, 300, 3), (3, 100, 1), (40, 33, 2), (700, 64, 1), (2, 600, 40)])
@pytest.mark.parametrize("layout", ["row", "column"])
def test_sizes(dtype, word, count, n, columns, layout):
    path = PATHS[1]
    rng = np.random.default_rng(n)
    whole, given = structured(rng, (count,), n, dtype, word, True)
    b = numbers(rng, (count, n, columns), dtype)
    x = solve(path, laid_out(given, layout), laid_out(b, layout), assume_a=word, uplo="lower")
    for index in {0, count // 2, count - 1}:
        assert_solves(whole[index], x[index], b[index])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 16, 17, 31, 32, 33, 51, 64, 74, 75, 100, 117, 118, 127, 128, 129])
@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("trans", ["N", "T", "C"])
@pytest.mark.parametrize("layout", ["row", "column", "stepped"])
@pytest.mark.parametrize("count", [1, 60])
def test_systems_that_fit_into_shared_memory_and_some_that_do_not(dtype, n, columns, trans, layout, count):
    rng = np.random.default_rng(n)
    a, b = numbers(rng, (count, n, n), dtype) + 2 * n**0.5 * np.eye(n, dtype=dtype), numbers(rng, (count, n, columns), dtype)
    for _ in range(3):  # a race would not show every time
        assert_solves(a, solve(PATHS[1], laid_out(a, layout), laid_out(b, layout), trans=trans), b, trans)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 64, 110])
@pytest.mark.parametrize("sides", [(), (1,), (3,)])
def test_a_single_small_system_is_left_to_our_kernel(torch, monkeypatch, dtype, n, sides):
    calls, run = [], _fused.Fused.__call__
    monkeypatch.setattr(_fused.Fused, "__call__", lambda self, *given: (calls.append(self.count), run(self, *given)))
    rng = np.random.default_rng(n)
    a, b = numbers(rng, (n, n), dtype) + 2 * n**0.5 * np.eye(n, dtype=dtype), numbers(rng, (n, *sides), dtype)
    x = direct_solver(torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda())
    wide = "complex128" if dtype[0] == "c" else "float64"
    want = np.linalg.solve(a.astype(wide), b.astype(wide))
    np.testing.assert_allclose(x.cpu().numpy(), want, atol=100 * np.finfo(dtype).eps * np.abs(want).max())
    assert calls == [1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "n"), [(1, 63), (1, 65), (1, 700), (3, 200), (600, 70)])
@pytest.mark.parametrize("layout", ["row", "column"])
def test_norms_are_the_largest_sums_however_many_blocks_share_a_matrix(dtype, count, n, layout):
    path, rng = PATHS[1], np.random.default_rng(n)
    a = numbers(rng, (count, n, n), dtype) + 2 * n**0.5 * np.eye(n, dtype=dtype)
    with DirectSolver(path.give(laid_out(a, layout)), path.give(np.ones((count, n, 1), dtype))) as solver:
        solver.plan()
        for _ in range(3):
            solver.factorize()
            plan = solver._plan_object
            sums = np.abs(a).sum(axis=-1 if plan.form.turned else -2, dtype="float64")
            np.testing.assert_allclose(plan.measured[0], sums.max(axis=-1), rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [5, 40, 64])
def test_batches_need_pivots(dtype, n):
    rng = np.random.default_rng(n)
    a = numbers(rng, (200, n, n), dtype)
    a[:, np.arange(n), np.arange(n)] = 0
    for index in range(200):
        a[index, rng.permutation(n), np.arange(n)] += 2 * n**0.5
    b = numbers(rng, (200, n, 1), dtype)
    assert_solves(a, solve(PATHS[0], a, b), b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize(("rows", "cols"), [(9, 4), (5, 5), (300, 70)])
def test_least_squares(path, dtype, batch, rows, cols):
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (*batch, rows, cols), dtype), numbers(rng, (*batch, rows, 2), dtype)
    want = np.linalg.pinv(a.astype("complex128" if dtype[0] == "c" else "float64")) @ b
    tolerance = 200 * np.finfo(dtype).eps * np.linalg.cond(a).max() * np.abs(want).max()
    np.testing.assert_allclose(solve(path, a, b, least_squares=True), want, atol=tolerance)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("count", [1, 7, 100])
@pytest.mark.parametrize("n", [5, 80])
@pytest.mark.parametrize("how", ["zero row", "nan", "inf"])
def test_matrices_without_a_solution_are_named(path, word, count, n, how):
    a, _ = structured(np.random.default_rng(2), (count,), n, "float64", word, True)
    bad = a[count // 2]
    if how == "zero row":
        bad[n - 2] = bad[:, n - 2] = 0
    else:
        bad[n - 1, 0] = bad[0, n - 1] = float(how)
    with pytest.raises(SingularMatrixError) as caught:
        solve(path, a, np.ones((count, n, 1)), assume_a=word)
    assert caught.value.indices == (count // 2,)


@pytest.mark.parametrize("count", [1, 12])
def test_right_hand_sides_that_are_not_finite_are_named(path, count):
    b = np.ones((count, 4, 2))
    b[count - 1, 1, 1] = np.nan
    with pytest.raises(SingularMatrixError, match="right-hand side") as caught:
        solve(path, np.stack([np.eye(4)] * count), b)
    assert caught.value.indices == (count - 1,)


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("layout", ["row", "column"])
def test_ill_conditioned_matrices_are_warned_of(path, count, layout):
    a = np.stack([np.eye(14)] * count)
    a[count - 1] = 1 / (np.arange(14)[:, None] + np.arange(14) + 1.0)
    with pytest.warns(IllConditionedWarning, match=rf"a\[{count - 1}\]"):
        x = solve(path, laid_out(a, layout), np.ones((count, 14, 1)))
    assert_solves(a, x, np.ones((count, 14, 1)))


def test_rank_deficiency_is_reported(path):
    with pytest.raises(SingularMatrixError, match="deficient rank"):
        solve(path, np.ones((6, 3)), np.ones((6, 1)), least_squares=True)


def test_in_place_gives_the_same_objects(path):
    rng = np.random.default_rng(3)
    values, sides = numbers(rng, (6, 6), "float64") + 6 * np.eye(6), numbers(rng, (6, 2), "float64")
    a, b = path.give(np.asfortranarray(values)), path.give(np.asfortranarray(sides))
    x = direct_solver(a, b, options={"inplace_a": True, "inplace_b": True}, execution=path.execution)
    assert x is b
    assert_solves(values, path.take(b), sides)


def test_edits_count_from_the_next_phase_on(path):
    a, b = path.give(2 * np.eye(3)), path.give(np.ones((3, 1)))
    with DirectSolver(a, b, execution=path.execution) as solver:
        solver.plan()
        for scale in (1, 2, 4):
            solver.factorize()
            for _ in range(2):
                np.testing.assert_allclose(path.take(solver.solve()), np.full((3, 1), 1 / (2 * scale)))
            a *= 2
        solver.factorize()
        b += 1
        np.testing.assert_allclose(path.take(solver.solve()), np.full((3, 1), 1 / 8))


def test_the_one_call_function_keeps_its_plan(path):
    nvmath.plan_cache.clear()
    a, b = path.give(np.diag([2.0, 4.0])), path.give(np.ones(2))
    for _ in range(3):
        np.testing.assert_array_equal(path.take(direct_solver(a, b, execution=path.execution)), [0.5, 0.25])
    assert nvmath.plan_cache.info().hits == 2


def test_streams(torch):
    rng = np.random.default_rng(4)
    values, sides = numbers(rng, (500, 500), "float64") + 30 * np.eye(500), numbers(rng, (500, 1), "float64")
    for stream in (torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            a, b = torch.tensor(values, device="cuda"), torch.tensor(sides, device="cuda")
            torch.cuda._sleep(10_000_000)
            a *= 2
            x = direct_solver(a, b)
        assert_solves(2 * values, x.cpu().numpy(), sides)
    other = torch.cuda.Stream()
    a, b = torch.tensor(values, device="cuda"), torch.tensor(sides, device="cuda")
    torch.cuda.synchronize()
    with DirectSolver(a, b, stream=other) as solver:
        solver.plan(other)
        solver.factorize(stream=other)
        assert_solves(values, solver.solve().cpu().numpy(), sides)


def test_a_capture_is_refused_and_goes_on(torch):
    a, b = torch.eye(3, device="cuda"), torch.ones(3, device="cuda")
    direct_solver(a, b)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = b + 1
        with pytest.raises(RuntimeError, match="captured"):
            direct_solver(a, b)
    graph.replay()
    torch.cuda.synchronize()
    assert y.tolist() == [2, 2, 2]


def test_lazy_conjugates(torch):
    rng = np.random.default_rng(5)
    values, sides = numbers(rng, (3, 5, 5), "complex128"), numbers(rng, (3, 5, 2), "complex128")
    a, b = torch.tensor(values, device="cuda"), torch.tensor(sides, device="cuda")
    assert_solves(values.conj(), direct_solver(a.conj(), b).cpu().numpy(), sides)
    assert_solves(values.conj().swapaxes(1, 2), direct_solver(a.mH, b.conj()).cpu().numpy(), sides.conj())


def test_no_memory_is_kept_by_one_calls_or_after_free(torch):
    a, b = torch.eye(300, device="cuda", dtype=torch.float64), torch.ones(300, 2, device="cuda", dtype=torch.float64)
    direct_solver(a, b)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        direct_solver(a, b)
        with DirectSolver(a, b) as solver:
            solver.plan()
            solver.factorize()
            solver.solve()
        with pytest.raises(SingularMatrixError):
            direct_solver(0 * a, b)
    nvmath.plan_cache.clear()
    gc.collect()  # the tracebacks of the refusals
    assert torch.cuda.memory_allocated() <= before


def test_a_handle_of_the_caller(torch):
    from nvmath.bindings import cusolverDn

    handle = cusolverDn.create()
    try:
        a, b = torch.diag(torch.tensor([2.0, 4.0], device="cuda")), torch.ones(2, device="cuda")
        assert direct_solver(a, b, options={"handle": handle}).tolist() == [0.5, 0.25]
    finally:
        cusolverDn.destroy(handle)


# --- our kernels against NumPy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("part", "rows", "cols", "ld"),
    [
        (_kernels.WHOLE, 1, 1, 1), (_kernels.WHOLE, 33, 33, 40), (_kernels.WHOLE, 200, 70, 200), (_kernels.WHOLE, 7, 1, 7),
        (_kernels.LOWER, 33, 33, 40), (_kernels.UPPER, 33, 33, 40), (_kernels.LOWER, 200, 200, 200), (_kernels.UPPER, 1, 1, 1),
    ],
)  # fmt: skip
def test_norms(torch, dtype, part, rows, cols, ld):
    from nvmath._core.dtypes import DTYPES as ALL

    values = numbers(np.random.default_rng(6), (5, cols, ld), dtype)
    values[3, cols - 1, rows - 1] = np.nan
    memory, result = torch.tensor(values, device="cuda"), torch.zeros(5, dtype=torch.float64, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    run = _kernels.Norms(0, ALL[dtype], cols * ld, 5, (rows, cols), ld, part)
    run(memory.data_ptr(), result.data_ptr(), 0, stream)
    matrices = np.abs(values[:, :, :rows].swapaxes(1, 2).astype("complex128"))
    cut = {0: matrices, 1: np.tril(matrices), 2: np.triu(matrices)}[part]
    np.testing.assert_allclose(result.cpu().numpy(), cut.sum(axis=1).max(axis=1), rtol=1e-6)


def test_norms_of_two_groups_of_columns(torch):
    from nvmath._core.dtypes import DTYPES as ALL

    values = np.arange(24.0).reshape(2, 4, 3)
    memory, result = torch.tensor(values, device="cuda"), torch.zeros(4, dtype=torch.float64, device="cuda")
    run = _kernels.Norms(0, ALL["float64"], 12, 2, (3, 4), 3, _kernels.WHOLE, 3)
    run(memory.data_ptr(), result.data_ptr(), result.data_ptr() + 16, torch.cuda.current_stream().cuda_stream)
    sums = values.sum(axis=2)
    assert result.tolist() == [*sums[:, :3].max(axis=1), *sums[:, 3]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [1, 5, 100])
def test_fill(torch, dtype, lower, n):
    from nvmath._core.dtypes import DTYPES as ALL

    values = numbers(np.random.default_rng(7), (3, n, n), dtype)
    memory = torch.tensor(values.swapaxes(1, 2).copy(), device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    _kernels.fill(0, ALL[dtype], memory.data_ptr(), n * n, 3, n, n, lower, True, stream)
    half = np.tril(values, -1) if lower else np.triu(values, 1)
    want = half + half.conj().swapaxes(1, 2) + np.eye(n) * np.diagonal(values, axis1=1, axis2=2).real[:, None]
    np.testing.assert_array_equal(memory.cpu().numpy().swapaxes(1, 2), want.astype(dtype))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_conjugation(torch, layout):
    from nvmath._core.dtypes import DTYPES as ALL

    values = numbers(np.random.default_rng(8), (3, 4, 5), "complex64")
    memory = Package("torch", None).array(laid_out(values, layout))
    strides = tuple(memory.stride())
    _kernels.conjugation(0, ALL["complex64"], (3, 4, 5), strides)(memory.data_ptr(), torch.cuda.current_stream().cuda_stream)
    np.testing.assert_array_equal(memory.cpu().numpy(), values.conj())
