"""Sparse solvers on a GPU that is not there: what is copied when, in which order, and that nothing stays behind."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from fake.cudss import ANALYSIS, FACTORIZED, SOLVE, gpu
from fake.driver import CudaError

import nvmath
from nvmath.bindings import cudss
from nvmath.sparse.advanced import DirectSolver, direct_solver


def system(n: int = 3) -> tuple[sp.csr_array, np.ndarray]:
    return sp.csr_array(4.0 * np.eye(n) + np.eye(n, k=1)), np.ones(n)


def test_what_is_copied_when() -> None:
    with gpu() as (made, seen):
        a, b = system()
        with DirectSolver(a, b, execution="cuda") as solver:
            assert made.count("cuMemcpyHtoDAsync_v2") == 4
            made.forget()
            solver.plan()
            solver.factorize()
            solver.solve()
            assert seen.phases == [ANALYSIS, *FACTORIZED, SOLVE]
            assert made.count("cuMemcpyHtoDAsync_v2") == 1  # what the factors are tried with
            made.forget()
            solver.reset_operands(b=np.ones((3, 2)))
            assert made.count("cuMemcpyHtoDAsync_v2") == 1
            solver.solve()
            made.forget()
            solver.reset_operands(a=sp.csr_array((2 * a.data, a.indices.copy(), a.indptr.copy()), shape=a.shape))
            assert made.count("cuMemcpyHtoDAsync_v2") == 3
            solver.factorize()  # the pattern is the same, so the plan stays
            solver.release_operands()
            with pytest.raises(RuntimeError, match="released"):
                solver.solve()


def test_hybrid_execution_copies_again() -> None:
    with gpu() as (made, _):
        a, b = system()
        with DirectSolver(a, b, execution="hybrid") as solver:
            for call, more in ((solver.plan, 0), (solver.factorize, 1), (solver.solve, 0)):
                made.forget()
                call()
                assert made.count("cuMemcpyHtoDAsync_v2") == 4 + more


def test_one_call_solutions_keep_the_plan() -> None:
    with gpu() as (_, seen):
        a, b = system()
        for factor in (1.0, 2.0, 3.0):
            scaled = sp.csr_array((a.data * factor, a.indices, a.indptr), shape=a.shape)
            direct_solver(scaled, b, execution="cuda")
        assert seen.phases == [ANALYSIS, *[*FACTORIZED, SOLVE] * 3]
        assert seen.handles == 1
        other = sp.csr_array(4.0 * np.eye(3) + np.eye(3, k=-1))  # another pattern
        direct_solver(other, b, execution="cuda")
        assert seen.phases.count(ANALYSIS) == 2


@pytest.mark.parametrize(("total", "kept"), [(141, True), (32, True), (31, False), (8, False)])
def test_factors_of_a_sixteenth_of_the_memory_are_kept(total: int, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvmath.plan_cache, "_chosen", False)
    monkeypatch.setattr(nvmath.plan_cache, "_max_nbytes", 1 << 30)
    with gpu() as (made, seen):
        made.cuda.total_nbytes = total << 30
        a, b = system()
        small, b_of_small = system(2)
        direct_solver(small, b_of_small, execution="cuda")
        of_small = nvmath.plan_cache.info().nbytes
        seen.permanent = 2 << 30
        for _ in range(3):
            direct_solver(a, b, execution="cuda")
        assert seen.phases.count(ANALYSIS) == (2 if kept else 4)
        direct_solver(small, b_of_small, execution="cuda")  # has not left for the large one
        assert seen.phases.count(ANALYSIS) == (2 if kept else 4)
        info = nvmath.plan_cache.info()
        assert info.max_nbytes == max(1 << 30, (total << 30) // 16)
        assert info.nbytes == of_small + (seen.permanent if kept else 0) <= info.max_nbytes


@pytest.mark.parametrize(("bound", "kept"), [(2 << 30, True), ((2 << 30) - 1, False)])
def test_bytes_on_a_gpu_are_bounded_by_what_was_chosen(bound: int, kept: bool) -> None:
    with gpu() as (made, seen):
        nvmath.plan_cache.configure(max_nbytes=bound)
        seen.permanent, made.cuda.total_nbytes = 2 << 30, 141 << 30
        a, b = system()
        for _ in range(3):
            direct_solver(a, b, execution="cuda")
        info = nvmath.plan_cache.info()
        assert (info.nbytes, info.max_nbytes) == ((2 << 30) if kept else 0, bound)
        assert seen.phases.count(ANALYSIS) == (1 if kept else 3)


def test_streams() -> None:
    with gpu() as (made, _):
        a, b = system()
        one, other = made.stream(), made.stream()
        with DirectSolver(a, b, execution="cuda", stream=one) as solver:
            solver.plan(stream=one)
            solver.factorize(stream=one)
            solver.solve(stream=other)
        (own,) = [call.args[1] for call in made.trace.calls("cudssSetStream")]
        assert own not in (one, other)  # the solver's, behind which the caller's wait
        assert made.streams_of("cuStreamWaitEvent")[-2:] == [own, other]


def test_a_capture_is_refused_before_anything_is_changed() -> None:
    with gpu() as (made, seen):
        a, b = system()
        stream = made.stream()
        with DirectSolver(a, b, execution="cuda", stream=stream) as solver:
            solver.plan(stream=stream)
            solver.factorize(stream=stream)
            queued = list(seen.phases)
            with made.capture(stream) as graph:
                for call in (
                    solver.plan,
                    solver.factorize,
                    solver.solve,
                    lambda stream: solver.reset_operands(a=2 * a, stream=stream),
                ):
                    with pytest.raises(RuntimeError, match="CUDA graph"):
                        call(stream=stream)
            assert (graph.broken, graph.calls, seen.phases) == ("", [], queued)
            solver.solve(stream=stream)  # the plan, the factors and the operands are still there


def test_a_capture_costs_no_kept_plan() -> None:
    with gpu() as (made, seen):
        a, b = system()
        stream = made.stream()
        direct_solver(a, b, execution="cuda")
        with made.capture(stream) as graph, pytest.raises(RuntimeError, match="CUDA graph"):
            direct_solver(a, b, execution="cuda", stream=stream)
        assert graph.broken == ""
        direct_solver(a, b, execution="cuda")
        assert seen.phases.count(ANALYSIS) == 1


def test_batches_share_a_handle() -> None:
    with gpu() as (_, seen):
        systems = [system(n) for n in (2, 3, 5)]
        found = direct_solver([a for a, _ in systems], [b for _, b in systems], execution="cuda")
        assert [x.shape for x in found] == [(2,), (3,), (5,)]
        assert seen.handles == 1
        assert seen.phases == [ANALYSIS] * 3 + FACTORIZED * 3 + [SOLVE] * 3


@pytest.mark.parametrize("name", ["cudssExecute", "cudssDataCreate", "cudssConfigCreate", "cudssCreate", "cudssMatrixCreateCsr",
                                  "cudssMatrixCreateDn", "take_buffer", "cuMemcpyHtoDAsync_v2", "cuLaunchKernel"])  # fmt: skip
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("form", ["csr", "coo"])
def test_a_failure_anywhere_leaves_nothing(name: str, at: int, form: str) -> None:
    with gpu() as (made, _):
        a, b = system()
        a = a.asformat(form)
        error = cudss.cuDSSError(5) if name.startswith("cudss") else CudaError(2)
        made.fail(name, at, error)
        for _ in range(4):  # the one that fails, and others
            try:
                direct_solver(a, b, execution="cuda")
            except (cudss.cuDSSError, CudaError, MemoryError, RuntimeError) as caught:
                caught.__traceback__ = None
        made.trace.faults.clear()
        direct_solver(a, b, execution="cuda")
