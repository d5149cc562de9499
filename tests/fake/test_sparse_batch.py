"""Batches of one pattern on a GPU that is not there: what is called how often, on which stream, and that nothing stays behind."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from fake.cudss import ANALYSIS, FACTORIZATION, SOLVE, gpu
from fake.driver import CudaError

from nvmath.bindings import cudss
from nvmath.sparse.advanced import DirectSolver, direct_solver

SIZES = range(1, 4)


def batch(count: int = 4) -> tuple[list[sp.csr_array], list[np.ndarray]]:
    return [sp.csr_array((4.0 + i) * np.eye(3) + np.eye(3, k=1)) for i in range(count)], [np.ones(3)] * count


@pytest.mark.parametrize("count", [2, 50])
def test_phases_do_not_grow_with_the_batch(count: int) -> None:
    with gpu() as (_, seen):
        a, b = batch(count)
        with DirectSolver(a, b, execution="cuda") as solver:
            solver.plan()
            solver.factorize()
            solver.solve()
            assert seen.phases == [ANALYSIS, FACTORIZATION, SOLVE, SOLVE]  # one solution proves the factors
            solver.solve()
            assert seen.phases[4:] == [SOLVE]
            assert "at once" in solver._plan_object.description


def test_every_phase_is_on_the_stream_of_the_solver() -> None:
    with gpu() as (made, seen):
        a, b = batch()
        one, other = made.stream(), made.stream()
        with DirectSolver(a, b, execution="cuda", stream=one) as solver:
            solver.plan(stream=one)
            solver.factorize(stream=one)
            for stream in (other, one, other):
                solver.solve(stream=stream)
        assert made.trace.hazards == []
        assert len({call.stream for call in seen.trace.calls("cudssExecute")}) == 1


def test_one_call_solutions_keep_the_plan() -> None:
    with gpu() as (_, seen):
        for _ in range(3):
            direct_solver(*batch(), execution="cuda")
        assert seen.phases.count(ANALYSIS) == 1


def test_a_solver_that_is_forgotten_goes() -> None:
    with gpu():
        solver = DirectSolver(*batch(), execution="cuda")
        solver.plan()
        solver.factorize()
        gone = weakref.ref(solver)
        del solver
        gc.collect()
        assert gone() is None


@pytest.mark.parametrize("name", [
    "cudssExecute", "cudssDataCreate", "cudssConfigCreate", "cudssCreate", "cudssMatrixCreateCsr", "cudssMatrixCreateDn", "take_buffer",
    "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoDAsync_v2", "cuLaunchKernel",
])  # fmt: skip
@pytest.mark.parametrize("at", SIZES)
def test_a_failure_anywhere_leaves_nothing(name: str, at: int) -> None:
    with gpu() as (made, _):
        made.fail(name, at, cudss.cuDSSError(5) if name.startswith("cudss") else CudaError(2))
        for _ in range(4):  # the one that fails, and others
            try:
                direct_solver(*batch(), execution="cuda")
            except (cudss.cuDSSError, CudaError, MemoryError, RuntimeError) as caught:
                caught.__traceback__ = None
        made.trace.faults.clear()
        direct_solver(*batch(), execution="cuda")
