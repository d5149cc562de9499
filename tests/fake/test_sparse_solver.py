"""Sparse solvers on a GPU that is not there: what is copied when, in which order, and that nothing stays behind."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from fake.driver import CudaError, recorded
from fake.machine import Machine, machine

import nvmath
from nvmath.bindings import cudss
from nvmath.bindings._bind import substitute
from nvmath.sparse.advanced import DirectSolver, _cudss_handle, direct_solver

ANALYSIS, FACTORIZATION, SOLVE = 3, 4, 1008


class Recorder:
    """A cuDSS that computes nothing, over the fake driver."""

    def __init__(self, made: Machine) -> None:
        self.trace, self.cuda = made.trace, made.cuda
        self.alive: set[int] = set()
        self.next = 0x9000
        self.handles = 0

    def current_device(self) -> int | None:
        return self.cuda.current_device()

    @recorded
    def cudssExecute(self, handle: int, phase: int, *rest: int) -> None:  # noqa: N802
        """Queue a phase."""

    @recorded
    def cudssSetStream(self, handle: int, stream: int) -> None:  # noqa: N802
        """Set the stream of a handle."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cudss"):
            raise AttributeError(name)
        if name == "cudssGetProperty":
            return lambda part: (0, 8, 0)[part]
        if "Create" in name:
            return lambda *arguments: self._make(name)
        if "Destroy" in name:
            return lambda *arguments: self.alive.remove(arguments[-1])
        if name in ("cudssConfigGet", "cudssDataGet"):
            at = 2 if name == "cudssConfigGet" else 3
            return lambda *arguments: ctypes.memset(arguments[at], 0, arguments[at + 1])
        return lambda *arguments: None

    def _make(self, name: str) -> int:
        from fake.driver import Call

        with self.trace.lock:
            self.trace.enter(Call(name, (), self.current_device()))
        self.next += 1
        if name == "cudssCreate":
            self.handles += 1
        else:
            self.alive.add(self.next)
        return self.next

    @property
    def phases(self) -> list[int]:
        return [call.args[1] for call in self.trace.calls("cudssExecute")]


@contextmanager
def gpu() -> Iterator[tuple[Machine, Recorder]]:
    """A machine with a GPU and cuDSS; at the end no memory and no object of cuDSS is left."""
    _cudss_handle._free.clear()
    with machine() as made:
        recorder = Recorder(made)
        with substitute("cudss", recorder):
            yield made, recorder
            nvmath.plan_cache.clear()
            made.leaks()  # destroys what was given up
            assert recorder.alive == set()
        _cudss_handle._free.clear()


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
            assert seen.phases == [ANALYSIS, FACTORIZATION, SOLVE]
            assert made.count("cuMemcpyHtoDAsync_v2") == 0
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
            for call in (solver.plan, solver.factorize, solver.solve):
                made.forget()
                call()
                assert made.count("cuMemcpyHtoDAsync_v2") == 4


def test_one_call_solutions_keep_the_plan() -> None:
    with gpu() as (_, seen):
        a, b = system()
        for factor in (1.0, 2.0, 3.0):
            scaled = sp.csr_array((a.data * factor, a.indices, a.indptr), shape=a.shape)
            direct_solver(scaled, b, execution="cuda")
        assert seen.phases == [ANALYSIS, FACTORIZATION, SOLVE, FACTORIZATION, SOLVE, FACTORIZATION, SOLVE]
        assert seen.handles == 1
        other = sp.csr_array(4.0 * np.eye(3) + np.eye(3, k=-1))  # another pattern
        direct_solver(other, b, execution="cuda")
        assert seen.phases.count(ANALYSIS) == 2


def test_streams() -> None:
    with gpu() as (made, _):
        a, b = system()
        one, other = made.stream(), made.stream()
        with DirectSolver(a, b, execution="cuda", stream=one) as solver:
            solver.plan(stream=one)
            solver.factorize(stream=one)
            solver.solve(stream=other)
        assert [call.args[1] for call in made.trace.calls("cudssSetStream")] == [one, other]


def test_batches_share_a_handle() -> None:
    with gpu() as (_, seen):
        systems = [system(n) for n in (2, 3, 5)]
        found = direct_solver([a for a, _ in systems], [b for _, b in systems], execution="cuda")
        assert [x.shape for x in found] == [(2,), (3,), (5,)]
        assert seen.handles == 1
        assert seen.phases == [ANALYSIS] * 3 + [FACTORIZATION] * 3 + [SOLVE] * 3


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
