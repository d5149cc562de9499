"""How many Python-level calls a solution of a sparse system makes, and how many calls of libraries on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from counts import RESET_AND_EXECUTE, calls_of, entered
from fake import test_sparse_order as fakes

import nvmath
from nvmath.sparse.advanced import DirectSolver, direct_solver

PACKAGE = str(Path(nvmath.__file__).parent)
SOLVE, ON_GPU, AGAIN_ON_GPU, ONE_CALL_SOLVE = 40, 22, 12, 127
"""A judged solution takes more than an execution: a product, its norms, and a call of a library with 16 arguments."""


def system() -> tuple[sp.csr_array, np.ndarray]:
    return sp.csr_array(np.array([[4.0, 1.0], [1.0, 3.0]])), np.array([6.0, 7.0])


def ours(function: Callable[[], object]) -> int:
    """Count the Python functions of the package that are entered; the fakes have others."""
    return entered(function, PACKAGE)


@pytest.fixture
def solver():
    with DirectSolver(*system(), execution="cpu") as made:
        made.plan()
        made.factorize()
        yield made


def test_solve(solver) -> None:
    assert ours(solver.solve) <= SOLVE


def test_checked_reset_of_a_right_hand_side(solver) -> None:
    b = system()[1]
    assert calls_of(lambda: solver.reset_operands(b=b)) <= RESET_AND_EXECUTE


def test_one_call_with_a_kept_plan(fresh_cache) -> None:
    a, b = system()
    assert ours(lambda: direct_solver(a, b, execution="cpu")) <= ONE_CALL_SOLVE
    assert nvmath.plan_cache.info().hits == 1


def test_a_solution_on_a_gpu_that_is_not_waited_for() -> None:
    with fakes.systems(handle=99) as (made, _, one, stream, _):  # with a handle of the caller nothing is captured
        one.ready(stream)
        solve = partial(one.plan.launch(one.problems[1], "N", {}), *one.ptrs, one.results[1].ptr, stream)
        assert ours(solve) <= ON_GPU
        made.forget()
        solve()
        assert [call.name for call in made.trace] == [
            "cuStreamIsCapturing", "cuEventRecord", "cuStreamWaitEvent", "cudssSetStream", "cudssExecute", "cuLaunchKernel",
            "cuEventRecord", "cuStreamWaitEvent",
        ]  # fmt: skip
        del solve  # it keeps the stream of the solver


def test_a_solution_that_comes_back_on_a_gpu() -> None:
    with fakes.systems() as (made, _, one, stream, _):
        one.ready(stream)
        solve = partial(one.plan.launch(one.problems[1], "N", {}), *one.ptrs, one.results[1].ptr, stream)
        for _ in range(2):
            solve()
        assert ours(solve) <= AGAIN_ON_GPU
        assert made.count("cuGraphLaunch") == 2
        del solve


@pytest.mark.parametrize("batch", [2, 40])
def test_a_batch_on_a_gpu_takes_one_call_of_cudss(batch: int) -> None:
    with fakes.systems(batch=batch) as (made, _, one, stream, _):
        one.ready(stream)
        solve = partial(one.plan.launch(one.problems[1], "N", {}), *one.ptrs, one.results[1].ptr, stream)
        solve()
        made.forget()
        solve()
        assert made.count("cudssExecute") == 1
        assert made.count("cuLaunchKernel") == 1
        del solve
