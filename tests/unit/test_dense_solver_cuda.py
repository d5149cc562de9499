"""The plans for cuSOLVER and cuBLAS over stand-ins that compute on the host: addresses, layouts, operations, judgement, no GPU."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from solver_cases import DTYPES, LAYOUTS, assert_solves, laid_out, numbers, structured, systems
from solver_on_host import HostCublas, HostCusolver, libraries

from nvmath._core import kernels_host
from nvmath._core.arrays import adapter_of
from nvmath.bindings import cusolverDn
from nvmath.linalg import DirectSolverOptions, IllConditionedWarning, SingularMatrixError
from nvmath.linalg._solver._cuda import CudaSolverPlan, plan_on
from nvmath.linalg._solver._problem import Given, specify

PLACE: Any = SimpleNamespace(device_id=0, current=nullcontext, wait=lambda stream: None)
LENT: list[Any] = []


def allocate(nbytes: int, device: int, stream: int) -> tuple[int, Any]:
    """Take memory full of NaN, so that nobody relies on zeros, and note it."""
    address, owner = kernels_host.scratch(nbytes)
    owner[...] = 255
    LENT.append(weakref.ref(owner))
    return address, owner


ADAPTER: Any = SimpleNamespace(allocate=allocate)


@pytest.fixture(scope="module")
def stand_ins() -> Iterator[tuple[HostCusolver, HostCublas]]:
    with libraries() as both:
        yield both


def given_of(name: str, operand: Any) -> Given:
    arrays = operand if isinstance(operand, list) else [operand]
    views = tuple(adapter_of(array).view(array) for array in arrays)
    return Given(name, views, isinstance(operand, list), (False,) * len(views))


class Solved:
    """One plan, with the operands of a problem."""

    def __init__(self, a: Any, b: Any, **asked: Any) -> None:
        options = DirectSolverOptions(**asked)
        self.a, self.b = given_of("a", a), given_of("b", b)
        self.problem = specify(self.a, self.b, options)
        self.plan: CudaSolverPlan = plan_on(self.problem, options.inplace_a, PLACE, ADAPTER, options)
        x = self.problem.x
        item = self.problem.dtype.itemsize
        self.results = [
            np.lib.stride_tricks.as_strided(np.empty(int(np.prod(shape)), self.problem.dtype.name), shape, [s * item for s in strides])
            for shape, strides in zip(x.shapes, x.strides, strict=True)
        ]
        if options.inplace_b:
            self.results = [view.obj for view in self.b.views]

    def addresses(self, given: Given) -> tuple[int, ...]:
        return tuple(view.ptr for view in given.views)

    def targets(self) -> tuple[int, ...]:
        return tuple(each.ctypes.data for each in self.results)

    def factorize(self) -> None:
        self.plan.factorize(self.addresses(self.a), 5)

    def solve(self) -> np.ndarray:
        self.plan.solve(self.addresses(self.b), self.targets(), self.problem.trans, 5)
        return self.value()

    def once(self) -> np.ndarray:
        self.plan.once(self.addresses(self.a), self.addresses(self.b), self.targets(), self.problem.trans, 5)
        return self.value()

    def value(self) -> np.ndarray:
        return np.stack(self.results) if self.problem.b.explicit else self.results[0]


@settings(max_examples=150, deadline=None)
@given(case=systems())
def test_systems_of_every_form_are_solved(stand_ins, case):
    sides = case.sides().copy()
    options = {key: value for key, value in case.options.items() if key != "vectors"}
    solved = Solved(case.a, case.b, **options)
    solved.factorize()
    assert_solves(case.whole, solved.solve(), sides, options["trans"])


@settings(max_examples=50, deadline=None)
@given(case=systems())
def test_factorizing_and_solving_with_one_wait_gives_the_same(stand_ins, case):
    sides = case.sides().copy()
    options = {key: value for key, value in case.options.items() if key not in ("vectors", "inplace_b")}
    assert_solves(case.whole, Solved(case.a, case.b, **options).once(), sides, options["trans"])


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("trans", ["N", "T"])
def test_with_one_wait_all_is_judged_as_well(stand_ins, count, trans):
    hilbert = 1 / (np.arange(14)[:, None] + np.arange(14) + 1.0)
    a, b = np.stack([np.eye(14)] * count), np.ones((count, 14, 2))
    a[count - 1] = hilbert
    with pytest.warns(IllConditionedWarning):
        assert_solves(a, Solved(a, b, trans=trans).once(), b, trans)
    a[count - 1] = 0
    with pytest.raises(SingularMatrixError):
        Solved(a, b, trans=trans).once()
    b[count - 1, 0, 1] = np.nan
    a[count - 1] = np.eye(14)
    with pytest.raises(SingularMatrixError, match="right-hand side"):
        Solved(a, b, trans=trans).once()


@pytest.mark.parametrize(
    ("count", "n", "batched"), [(1, 8, False), (2, 8, True), (2, 64, False), (9, 64, True), (2, 600, False)]
)
def test_batches_of_small_systems_go_to_cublas(stand_ins, count, n, batched):
    solver, blas = stand_ins
    solver.calls.clear()
    blas.calls.clear()
    rng = np.random.default_rng(0)
    a, _ = structured(rng, (count,), n, "float64", "general", True)
    Solved(a, numbers(rng, (count, n, 1), "float64")).factorize()
    assert ("getrfBatched" in blas.calls) is batched
    assert ("getrf" in solver.calls) is not batched


@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (7, 1)])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_least_squares_agree_with_numpy(stand_ins, shape, batch, dtype):
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (*batch, *shape), dtype), numbers(rng, (*batch, shape[0], 2), dtype)
    solved = Solved(a, b, least_squares=True)
    solved.factorize()
    np.testing.assert_allclose(solved.solve(), np.linalg.pinv(a) @ b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n", [3, 70])
@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("word", ["general", "symmetric", "positive definite", "upper triangular"])
def test_a_singular_matrix_is_named(stand_ins, n, count, word):
    rng = np.random.default_rng(2)
    a, _ = structured(rng, (count,), n, "float64", word, True)
    a[count // 2, :, n - 1] = a[count // 2, n - 1] = 0
    with pytest.raises(SingularMatrixError) as caught:
        Solved(a, np.ones((count, n, 1)), assume_a=word).factorize()
    assert caught.value.indices == (count // 2,)


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_is_named(stand_ins, count, value):
    a = np.stack([np.eye(3)] * count)
    a[count - 1, 0, 2] = value
    with pytest.raises(SingularMatrixError, match="not finite") as caught:
        Solved(a, np.ones((count, 3, 1))).factorize()
    assert caught.value.indices == (count - 1,)


@pytest.mark.parametrize("count", [1, 12])
def test_a_right_hand_side_that_is_not_finite_is_named(stand_ins, count):
    b = np.ones((count, 3, 2))
    b[count - 1, 1, 1] = np.inf
    solved = Solved(np.stack([np.eye(3)] * count), b)
    solved.factorize()
    with pytest.raises(SingularMatrixError, match="right-hand side b") as caught:
        solved.solve()
    assert caught.value.indices == (count - 1,)


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("word", ["general", "symmetric"])
def test_an_ill_conditioned_matrix_is_warned_of_and_the_factors_stay_right(stand_ins, count, order, word):
    hilbert = 1 / (np.arange(14)[:, None] + np.arange(14) + 1.0)
    a = np.stack([np.eye(14)] * count)
    a[count - 1] = hilbert
    a = a if order == "C" else np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2)
    b = np.ones((count, 14, 1))
    solved = Solved(a, b, assume_a=word)
    with pytest.warns(IllConditionedWarning, match="ill-conditioned"):
        solved.factorize()
    assert_solves(a, solved.solve(), b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 7, 20, 45, 110])
@pytest.mark.parametrize("trans", ["N", "T", "C"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_our_kernel_solves_batches_of_small_systems(stand_ins, dtype, n, trans, layout):
    rng = np.random.default_rng(n)
    a, b = numbers(rng, (3, n, n), dtype) + 2 * n**0.5 * np.eye(n, dtype=dtype), numbers(rng, (3, n, 2), dtype)
    solved = Solved(laid_out(a, layout), laid_out(b, layout), trans=trans)
    assert_solves(a, solved.once(), b, solved.problem.trans)
    assert solved.plan.fused.calls == 1
    alone = Solved(laid_out(a[0], layout), laid_out(b[0], layout), trans=trans)
    assert_solves(a[0], alone.once(), b[0], alone.problem.trans)
    assert alone.plan.fused.calls == 1
    norms = np.abs(a).sum(axis=1 if trans == "N" else 2).max(axis=1)
    np.testing.assert_allclose(solved.plan.measured[0], norms, rtol=1e-5)


def test_our_kernel_pivots(stand_ins):
    rng = np.random.default_rng(0)
    a = np.stack([np.eye(6)[rng.permutation(6)] * rng.uniform(1, 2, 6) for _ in range(20)])
    a[:, 0, :] += 1e-18
    b = numbers(rng, (20, 6, 1), "float64")
    solved = Solved(a, b)
    assert_solves(a, solved.once(), b)
    assert solved.plan.fused.calls == 1
    assert solved.plan.joint is None  # there was no doubt


@pytest.mark.parametrize(
    ("a", "b", "asked"),
    [
        ((3, 200, 200), (3, 200, 1), {}), ((3, 8, 8), (3, 8, 700), {}), ((129, 129), (129, 1), {}), ((8, 8), (8, 1), {"handle": 1}),
        ((3, 8, 8), (3, 8, 1), {"assume_a": "pos"}),
        ((3, 8, 8), (3, 8, 1), {"inplace_b": True}), ((3, 8, 8), (3, 8, 1), {"inplace_a": True}),
    ],
)  # fmt: skip
def test_other_systems_go_to_the_libraries(stand_ins, a, b, asked):
    assert Solved(np.zeros(a), np.zeros(b), **asked).plan.layout is None


def test_batches_that_are_not_one_loop_go_to_the_libraries(stand_ins):
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (2, 6, 5, 5), "float64")[:, :2], numbers(rng, (2, 2, 5, 1), "float64")
    solved = Solved(a, b)
    assert solved.plan.layout is None
    assert_solves(a, solved.once(), b)


@pytest.mark.parametrize("step", ["Xgetrf", "Xgetrs"])
def test_a_failure_of_the_library_leaves_no_memory_behind(stand_ins, step):
    def fail(*arguments: Any) -> None:
        raise MemoryError(step)

    gc.collect()
    LENT.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cusolverDn, step.lower(), fail, raising=False)
        with pytest.raises(MemoryError):
            Solved(np.eye(130), np.ones(130)).once()
    gc.collect()
    assert LENT
    assert not [each for each in LENT if each() is not None]


def test_a_plan_without_its_memory_can_be_used_again(stand_ins):
    solved = Solved(np.diag([1.0, 2.0, 4.0]), np.ones(3))
    solved.factorize()
    solved.plan.release()
    assert not solved.plan.factorized
    solved.factorize()
    np.testing.assert_array_equal(solved.solve(), [1, 0.5, 0.25])


def test_other_right_hand_sides_need_no_new_factorization(stand_ins):
    rng = np.random.default_rng(3)
    a = numbers(rng, (4, 5, 5), "complex128")
    first, second = numbers(rng, (4, 5, 2), "complex128"), np.asfortranarray(numbers(rng, (4, 5, 2), "complex128"))
    solved = Solved(a, first)
    solved.factorize()
    other = Solved(a, second)
    solved.plan.take(other.problem)
    solved.plan.solve(other.addresses(other.b), other.targets(), "N", 5)
    assert_solves(a, other.value(), second)


def test_the_workspace_comes_from_the_allocator_of_the_options(stand_ins):
    class Allocator:
        taken: list[int] = []  # noqa: RUF012

        def memalloc(self, size: int) -> Any:
            self.taken.append(size)
            address, owner = kernels_host.scratch(size)
            return SimpleNamespace(ptr=address, owner=owner)

    solved = Solved(np.eye(3), np.ones(3), allocator=Allocator())
    solved.factorize()
    solved.solve()
    solved.factorize()
    assert Allocator.taken == [1024]


def test_a_handle_of_the_caller_is_used_and_gets_its_stream_back(stand_ins):
    solver, _ = stand_ins
    handle = solver.cusolverDnCreate()
    solver.cusolverDnSetStream(handle, 99)
    made = len(solver.streams)
    solved = Solved(np.eye(3), np.ones(3), handle=handle)
    solved.factorize()
    np.testing.assert_array_equal(solved.solve(), np.ones(3))
    assert solver.streams[handle] == 99
    assert len(solver.streams) == made
