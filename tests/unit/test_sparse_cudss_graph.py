"""Solutions that come back are queued as one graph, and dropped as soon as cuDSS may have taken other memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import poisson_2d

from .cudss_on_host import GRAPHS, HostCudss, needs_compiler, on_host
from .test_sparse_cudss import Solver

pytestmark = needs_compiler


class Again(Solver):
    """Solves into memory that is given."""

    def into(self, x: np.ndarray, trans: str = "N") -> np.ndarray:
        self.plan.launch(self.problem, trans, {})(*self.ptrs, x.ctypes.data, 77)
        return x


@contextmanager
def again(a: Any = None, b: Any = None, **keywords: Any) -> Iterator[tuple[HostCudss, Again, Any, Any]]:
    """A solver that is factorized, its matrix and its right-hand side."""
    a = poisson_2d(6) if a is None else a
    b = np.arange(1.0, a.shape[0] + 1) if b is None else b
    with on_host() as (made, memory):
        solver = Again(memory, a, b, **keywords)
        solver.analyse().factorize()
        yield made, solver, a, b
        solver.plan.close()
        solver.config.close()


def assert_right(a: Any, x: np.ndarray, b: np.ndarray) -> None:
    assert np.abs(a @ x - b).max() <= 1e-9 * np.abs(b).max()


@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("blocking", [False, True])
def test_the_third_solution_at_the_same_addresses_is_one_graph(form: str, blocking: bool) -> None:
    with again(poisson_2d(6).asformat(form), blocking=blocking) as (made, solver, a, b):
        x = np.empty_like(b)
        for turn in range(5):
            b *= -2
            x[:] = np.nan
            assert_right(a, solver.into(x), b)
            assert GRAPHS.launched == max(0, turn - 1)
        assert GRAPHS.captured == 1
        assert made.phases.count(1008) == 4  # one after factorize(), two, and the one that was captured
        assert solver.plan.residual({}) <= 1e-12


def test_addresses_that_take_turns_have_a_graph_each() -> None:
    with again() as (_, solver, a, b):
        results = [np.empty_like(b) for _ in range(3)]
        for turn in range(12):
            assert_right(a, solver.into(results[turn % 3]), b)
        assert (GRAPHS.captured, GRAPHS.launched) == (3, 6)


def test_results_that_are_kept_have_none() -> None:
    with again() as (_, solver, a, b):
        kept = [solver.into(np.empty_like(b)) for _ in range(70)]
        assert GRAPHS.captured == 0
        for x in kept:
            assert_right(a, x, b)


def test_there_are_at_most_eight() -> None:
    with again() as (_, solver, a, b):
        results = [np.empty_like(b) for _ in range(10)]
        for turn in range(40):
            assert_right(a, solver.into(results[turn % 10]), b)
        assert (GRAPHS.captured, GRAPHS.launched) == (8, 16)


def other_factors(solver: Again, a: Any) -> None:
    a.data *= 2
    solver.factorize()


def another_plan(solver: Again, a: Any) -> None:
    solver.analyse().factorize()


def another_setting(solver: Again, a: Any) -> None:
    solver.config.set("ir_num_steps", 2)


@pytest.mark.parametrize("change", [other_factors, another_plan, another_setting])
def test_what_changes_the_solver_drops_them(change: Callable[[Again, Any], None]) -> None:
    with again() as (_, solver, a, b):
        x = np.empty_like(b)
        for _ in range(3):
            solver.into(x)
        change(solver, a)
        for launched in (1, 1, 2):
            assert_right(a, solver.into(x), b)
            assert GRAPHS.launched == launched


def test_a_solution_of_another_shape_drops_them() -> None:
    """cuDSS may have taken other memory for it."""
    a = poisson_2d(6)
    b, wide = np.ones(a.shape[0]), np.asfortranarray(np.random.default_rng(0).random((a.shape[0], 3)))
    with again(a, b) as (_, solver, a, b):
        x = np.empty_like(b)
        for _ in range(3):
            solver.into(x)
        one = solver.problem, solver.ptrs
        solver.specify(a, wide)
        assert_right(a, solver.into(np.empty_like(wide)), wide)
        (solver.problem, solver.ptrs) = one
        for launched in (1, 1, 2):
            assert_right(a, solver.into(x), b)
            assert GRAPHS.launched == launched


@pytest.mark.parametrize("blocking", [False, True])
def test_columns_that_lie_apart_at_the_same_address_are_others(blocking: bool) -> None:
    a = poisson_2d(6)
    wide = np.asfortranarray(np.random.default_rng(0).random((a.shape[0], 4)))
    near, apart = wide[:, :2], wide[:, ::2]
    with again(a, near, blocking=blocking) as (_, solver, a, _):
        x = np.empty_like(near, order="F")
        for b in (near,) * 3 + (apart,) * 4 + (near,):
            solver.specify(a, b)
            x[:] = np.nan
            assert_right(a, solver.into(x), b)
            assert solver.plan.residual({}) <= 1e-12
        assert GRAPHS.launched == 3


def test_a_graph_that_is_not_used_for_long_makes_room() -> None:
    with again() as (_, solver, a, b):
        old, new = ([np.empty_like(b) for _ in range(count)] for count in (8, 1))
        for _ in range(2):
            for x in old:
                solver.into(x)
        assert GRAPHS.captured == 8
        for _ in range(3):
            assert_right(a, solver.into(new[0]), b)
        assert GRAPHS.captured == 8
        for _ in range(70):
            solver.into(old[0])
        for _ in range(3):
            assert_right(a, solver.into(new[0]), b)
        assert GRAPHS.captured == 9


def test_results_that_come_again_after_many_that_did_not_have_a_graph() -> None:
    with again() as (_, solver, a, b):
        kept = [solver.into(np.empty_like(b)) for _ in range(70)]
        for _ in range(3):
            assert_right(a, solver.into(kept[-1]), b)
        assert (GRAPHS.captured, GRAPHS.launched) == (1, 2)


def test_nothing_is_captured_where_there_are_threads_of_others() -> None:
    """One that waits for the device would get an error."""
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    with again() as (_, solver, a, b):
        x = np.empty_like(b)
        other.start()
        try:
            for _ in range(4):
                assert_right(a, solver.into(x), b)
            assert GRAPHS.captured == 0
        finally:
            end.set()
            other.join()
        ours = threading.Thread(target=end.wait, name="nvmath-something")
        end.clear()
        ours.start()
        try:
            for _ in range(3):
                assert_right(a, solver.into(x), b)
            assert (GRAPHS.captured, GRAPHS.launched) == (1, 2)
        finally:
            end.set()
            ours.join()


def test_one_capture_that_fails_is_not_the_last() -> None:
    with again() as (_, solver, a, b):
        x = np.empty_like(b)
        GRAPHS.fails = True
        for _ in range(2):
            solver.into(x)
        GRAPHS.fails = False
        for _ in range(3):
            assert_right(a, solver.into(x), b)
        assert (GRAPHS.captured, GRAPHS.launched) == (1, 2)


def test_a_matrix_that_has_changed_is_noticed_and_solved_for() -> None:
    with again() as (_, solver, a, b):
        x = np.empty_like(b)
        for _ in range(3):
            solver.into(x)
        a.data *= 3
        x[:] = np.nan
        assert_right(a, solver.into(x), b)


def test_what_cannot_be_captured_is_done_as_before() -> None:
    with again() as (_, solver, a, b):
        GRAPHS.fails = True
        x = np.empty_like(b)
        for _ in range(4):
            x[:] = np.nan
            assert_right(a, solver.into(x), b)
        GRAPHS.fails = False
        for _ in range(4):
            assert_right(a, solver.into(x), b)
        assert (GRAPHS.captured, GRAPHS.launched) == (0, 0)


@pytest.mark.parametrize("why", ["transposed", "copied", "hybrid", "handle of the caller"])
def test_other_ways_to_solve_have_none(why: str) -> None:
    a = sp.csr_array(poisson_2d(6) + sp.eye_array(36, k=1))
    b = np.arange(1.0, 37) if why != "copied" else np.random.default_rng(0).random((36, 2, 2))[:, :, 0]
    more: dict[str, Any] = {"hybrid": {"hybrid": True}, "handle of the caller": {"handle": 5}}.get(why, {})
    with again(a, b, **more) as (made, solver, a, b):
        x = np.empty(b.shape, order="F") if why != "copied" else np.empty(b.shape)
        for _ in range(4):
            solver.into(x, "T" if why == "transposed" else "N")
        assert GRAPHS.captured == 0
        assert made.phases.count(1008) >= 4
