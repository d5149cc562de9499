"""The life of a sparse solver on the CPU: phases, resets, clones, one-call plans that are kept."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sparse_cases import assert_solves, csr, part_of, poisson_2d, right_side, scrambled, solved, well_conditioned

import nvmath
from nvmath.bindings import _openblas
from nvmath.sparse.advanced import (
    DirectSolver,
    DirectSolverMatrixType,
    DirectSolverOptions,
    IllConditionedWarning,
    InvalidDirectSolverState,
    SingularSystemError,
    direct_solver,
)
from nvmath.sparse.advanced._systems import SystemsPlan

pytestmark = pytest.mark.usefixtures("sparse_library")


class Life(RuleBasedStateMachine):
    """Any order of calls: a step that is missing is named, and every solution solves the present system."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.default_rng(0)
        self.planned = self.factorized = self.released = False

    @initialize(form=st.sampled_from(["csr", "csc", "coo"]))
    def start(self, form: str) -> None:
        self.form = form
        self.pattern = self.new_pattern()
        self.a, self.matrix = self.new_matrix()
        self.b = self.rng.random(7)
        self.solver = DirectSolver(self.a, self.b, execution="cpu")

    def new_pattern(self) -> np.ndarray:
        return (self.rng.random((7, 7)) < 0.3) | np.eye(7, dtype=bool)

    def new_matrix(self) -> tuple[Any, np.ndarray]:
        dense = np.where(self.pattern, well_conditioned(self.rng, 7, "float64", "GENERAL", 1.0), 0)
        return sp.csr_array(dense).asformat(self.form), dense

    @rule()
    def plan(self) -> None:
        if self.released:
            with pytest.raises(RuntimeError, match="released"):
                self.solver.plan()
        else:
            self.solver.plan()
            self.planned, self.factorized = True, False

    @rule()
    def factorize(self) -> None:
        if self.released or not self.planned:
            with pytest.raises(RuntimeError, match="released" if self.released else r"plan\(\) must be called"):
                self.solver.factorize()
        else:
            self.solver.factorize()
            self.factorized = True

    @rule(trans=st.sampled_from("NTH"))
    def solve(self, trans: str) -> None:
        if self.released or not self.factorized:
            with pytest.raises(RuntimeError, match="released" if self.released else "must be called"):
                self.solver.solve(trans=trans)
        else:
            assert_solves(solved(self.matrix, trans), self.solver.solve(trans=trans), self.b)

    @rule(shape=st.sampled_from([(7,), (7, 1), (7, 4), (7, 0)]), layout=st.sampled_from(["C", "F", "reversed"]))
    def new_b(self, shape: tuple[int, ...], layout: str) -> None:
        b = right_side(self.rng, shape, "float64", layout)
        if self.released:
            with pytest.raises(ValueError, match="a is missing"):
                self.solver.reset_operands(b=b)
        else:
            self.b = b
            self.solver.reset_operands(b=b)

    @rule(same_pattern=st.booleans())
    def new_a(self, same_pattern: bool) -> None:
        if self.released:
            with pytest.raises(ValueError, match="b is missing"):
                self.solver.reset_operands(a=self.a)
            return
        old = self.pattern
        if not same_pattern:
            self.pattern = self.new_pattern()
        self.a, self.matrix = self.new_matrix()
        self.solver.reset_operands(a=self.a)
        if (old != self.pattern).any():
            self.planned = self.factorized = False

    @rule()
    def both(self) -> None:
        self.b = self.rng.random(7)
        self.solver.reset_operands(a=self.a, b=self.b)
        self.released = False

    @rule(factor=st.sampled_from([2.0, 1.001]))
    def edit_values_in_place(self, factor: float) -> None:
        self.a.data *= factor
        self.matrix = self.matrix * factor

    @precondition(lambda self: not self.released)
    @rule()
    def edit_b_in_place(self) -> None:
        self.b *= -1

    @rule()
    def release(self) -> None:
        self.solver.release_operands()
        self.released = True

    @invariant()
    def nothing_is_said_of_what_is_not_there(self) -> None:
        if hasattr(self, "solver") and not self.planned:
            with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
                _ = self.solver.plan_info.memory_estimates

    def teardown(self) -> None:
        if hasattr(self, "solver"):
            self.solver.free()
            with pytest.raises(InvalidDirectSolverState):
                self.solver.solve()


def test_life() -> None:
    run_state_machine_as_test(Life, settings=settings(max_examples=40, stateful_step_count=25, deadline=None))


def test_freed_solvers() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.ones(2)
    solver = DirectSolver(a, b, execution="cpu")
    views = solver.plan_config, solver.plan_info, solver.factorization_info
    solver.free()
    solver.free()
    for call in (
        solver.plan,
        solver.factorize,
        solver.solve,
        solver.release_operands,
        solver.clone_solver,
        lambda: solver.reset_operands(a=a),
    ):
        with pytest.raises(InvalidDirectSolverState, match="freed"):
            call()
    for view, name in zip(views, ("host_nthreads", "memory_estimates", "info"), strict=True):
        with pytest.raises(RuntimeError, match="freed"):
            getattr(view, name)
    from nvmath.sparse.advanced.direct_solver import InvalidDirectSolverState as Found  # where the original has it

    assert Found is InvalidDirectSolverState


def test_references_to_operands_are_given_back() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.ones(2)
    before = [sys.getrefcount(one) for one in (a, b, a.data, a.indices)]
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        x = solver.solve()
    del solver
    direct_solver(a, b, execution="cpu")
    gc.collect()
    assert [sys.getrefcount(one) for one in (a, b, a.data, a.indices)] == before
    assert x is not b


def test_values_that_changed() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0])
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        a.data *= 1.01
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b), rtol=1e-12)  # refined
        a.data[:] = [1, -7, 5, 1]
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b), rtol=1e-12)  # factorized again
    with DirectSolver(a, b, options={"on_failure": "raise"}, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        a.data[:] = [9, 1, 2, 3]
        with pytest.raises(SingularSystemError, match="call factorize"):
            solver.solve()
        solver.factorize()
        np.testing.assert_allclose(solver.solve(), np.linalg.solve(a.toarray(), b), rtol=1e-12)


def test_a_pattern_that_changed_in_place_is_seen(caplog: pytest.LogCaptureFixture) -> None:
    first, second = csr([[4, 1, 0], [0, 4, 1], [1, 0, 4]]), csr([[4, 0, 1], [1, 4, 0], [0, 1, 4]])
    with DirectSolver(first, np.array([1.0, 2, 3]), execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        solver.reset_operands(a=second)
        assert "pattern" in caplog.text
        solver.reset_operands(a=first)
        solver.plan()
        first.indices[:2] = [1, 2]
        with pytest.raises(RuntimeError, match=r"pattern .* has changed"):
            solver.factorize()


def test_planning_for_values_that_come_later() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0])
    values = a.data.copy()
    a.data[:] = 0
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        a.data[:] = values
        solver.factorize()
        np.testing.assert_allclose(solver.solve(), [1, 1])


def test_unchecked_resets() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0])
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        solver.reset_operands_unchecked(b=2 * b)
        np.testing.assert_allclose(solver.solve(), [2, 2])
        solver.reset_operands_unchecked(a=sp.csr_array((2 * a.data, a.indices, a.indptr), shape=a.shape))
        solver.factorize()
        np.testing.assert_allclose(solver.solve(), [1, 1])


def test_everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0])
    logger = logging.getLogger("of the user")
    direct_solver(a, b, options=DirectSolverOptions(logger=logger), execution="cpu")
    assert "Specified: sparse system of float64 with n=2, 4 entries" in caplog.text
    assert {record.name for record in caplog.records} == {"of the user"}


# --- clones -----------------------------------------------------------------------------------------------------------------------


def test_a_clone_that_solves_meanwhile_does_not_exchange_the_right_hand_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = poisson_2d(4), np.random.default_rng(0).random((16, 2))
    launch = SystemsPlan.launch
    with DirectSolver(a, np.ones(16), execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        with solver.clone_solver() as clone:
            clone.reset_operands(b=b)
            found: list[np.ndarray] = []

            def meanwhile(plan: SystemsPlan, *arguments: Any) -> Any:
                monkeypatch.undo()
                thread = threading.Thread(target=lambda: found.append(clone.solve()))
                thread.start()
                thread.join()
                return launch(plan, *arguments)

            monkeypatch.setattr(SystemsPlan, "launch", meanwhile)
            x = solver.solve()
    assert x.shape == (16,)
    assert_solves(a, x, np.ones(16))
    assert_solves(a, found[0], b)


def test_the_residual_of_a_clone_is_that_of_its_own_solution() -> None:
    a = poisson_2d(4)
    with DirectSolver(a, np.ones(16), options={"on_failure": "warn"}, execution="cpu") as solver:
        solver.plan()
        info = solver.factorize()
        solver.solve()
        known = info.residual
        with solver.clone_solver() as clone:
            assert clone.factorization_info.residual is None
            clone.reset_operands(b=np.full(16, np.nan))
            with pytest.warns(IllConditionedWarning):
                clone.solve()
            assert not clone.factorization_info.residual <= 1
        assert info.residual == known <= 1e-14
        solver.plan()
        solver.factorize()
        assert info.residual is None


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_operands_whose_memory_was_exchanged() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a = poisson_2d(4)
    arrays = (torch.from_numpy(array) for array in (a.indptr, a.indices, a.data))
    stored = torch.sparse_csr_tensor(*arrays, size=a.shape, check_invariants=True)
    b, other = torch.ones(16, dtype=torch.float64), torch.rand(16, dtype=torch.float64)
    with DirectSolver(stored, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        solver.solve()
        b.data = other
        assert_solves(a, solver.solve().numpy(), other.numpy())
        b.data = torch.rand(16, 3, dtype=torch.float64)
        assert_solves(a, solver.solve().numpy(), b.numpy())


def test_a_matrix_whose_memory_was_exchanged() -> None:
    a, b = poisson_2d(4), np.ones(16)
    a.data = 2 * a.data  # an array that owns its memory
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        size = a.data.size
        a.data.resize(1 << 20, refcheck=False)  # moves, and nearly always to stay elsewhere
        a.data.resize(size, refcheck=False)
        a.data *= 3
        solver.factorize()
        assert_solves(a, solver.solve(), b)


def test_clones_share_the_factors_and_nothing_else() -> None:
    a = poisson_2d(12)
    rng = np.random.default_rng(0)
    b = rng.random(144)
    with DirectSolver(a, b, execution="cpu") as solver:
        with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
            solver.clone_solver()
        solver.plan()
        solver.factorize()
        clones = [solver.clone_solver() for _ in range(3)]
        sides = [rng.random((144, 1 + i)) for i in range(3)]
        found: dict[int, np.ndarray] = {}

        def work(i: int) -> None:
            clones[i].reset_operands(b=sides[i])
            for _ in range(20):
                found[i] = clones[i].solve()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            assert_solves(a, solver.solve(), b)
        for thread in threads:
            thread.join()
        for i, side in enumerate(sides):
            assert_solves(a, found[i], side)
        clones[0].reset_operands(a=sp.csr_array((2 * a.data, a.indices, a.indptr), shape=a.shape), b=b)
        clones[0].factorize()  # gets factors of its own
        assert_solves(2 * a, clones[0].solve(), b)
        assert_solves(a, solver.solve(), b)
        clones[1].solution_config.ir_num_steps = 3
        assert solver.solution_config.ir_num_steps == 0
    assert_solves(a, clones[2].solve(), sides[2])  # the factors live as long as somebody uses them
    for clone in clones:
        clone.free()


@pytest.mark.parametrize("num_threads", [None, 1])
def test_the_number_of_threads_of_numpy_is_left_alone(
    num_threads: int | None, fresh_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        pytest.fail("it is one for the whole process")

    monkeypatch.setattr(_openblas._library, "set_num_threads", refuse, raising=False)
    a, b = poisson_2d(150), np.ones(150**2)
    assert_solves(a, direct_solver(a, b, execution={"name": "cpu", "num_threads": num_threads}), b, 10_000)


# --- one-call solutions ------------------------------------------------------------------------------------------------------------


def test_plans_are_kept_for_a_known_pattern(fresh_cache: None) -> None:
    a, b = poisson_2d(6), np.arange(36.0)
    for factor in (1.0, 2.0, 3.0):
        scaled = sp.csr_array((a.data * factor, a.indices.copy(), a.indptr.copy()), shape=a.shape)
        assert_solves(scaled, direct_solver(scaled, b, execution="cpu"), b)
    info = nvmath.plan_cache.info()
    assert (info.hits, info.misses, info.entries) == (2, 1, 1)
    spd = {"sparse_system_type": DirectSolverMatrixType.SPD}
    for keywords in (
        {"options": spd},
        {"execution": {"name": "cpu", "num_threads": 1}},
        {"solution_preferences": {"ir_num_steps": 1}},
    ):
        assert_solves(a, direct_solver(a, b, **({"execution": "cpu"} | keywords)), b)
    assert nvmath.plan_cache.info().entries == 4
    other = scrambled(np.random.default_rng(0), a.toarray(), "csr")
    assert_solves(a, direct_solver(other, b, execution="cpu"), b)
    assert nvmath.plan_cache.info().entries == 5


@pytest.mark.parametrize("kind", ["GENERAL", "HPD"])
def test_the_bytes_of_factors_are_those_of_their_type(kind: str, fresh_cache: None) -> None:
    owned = []
    for dtype in ("float32", "float64", "complex128"):
        a, options = poisson_2d(60).astype(dtype), {"sparse_system_type": kind}
        nvmath.plan_cache.clear()
        direct_solver(a, np.ones(3600, dtype), options=options, execution="cpu")
        owned.append(nvmath.plan_cache.info().nbytes)
        with DirectSolver(a, np.ones(3600, dtype), options=options, execution="cpu") as solver:
            solver.plan()
            assert solver.factorize().lu_nnz * a.dtype.itemsize <= owned[-1]
    assert owned == sorted(owned)


def test_a_failed_solution_leaves_no_plan(fresh_cache: None) -> None:
    a = csr([[4, 1], [1, 3]])
    for b in (np.ones(2), np.array([np.nan, 1]), np.ones(2)):
        if np.isnan(b).any():
            with pytest.raises(SingularSystemError):
                direct_solver(a, b, execution="cpu")
            assert nvmath.plan_cache.info().entries == 0
        else:
            assert_solves(a, direct_solver(a, b, execution="cpu"), b)


def test_options_that_change_are_noticed(fresh_cache: None) -> None:
    matrix = np.array([[4.0, 1], [2, 3]])
    a, b, options = sp.csr_array(matrix), np.ones(2), DirectSolverOptions()
    assert_solves(matrix, direct_solver(a, b, options=options, execution="cpu"), b)
    options.sparse_system_type, options.sparse_system_view = DirectSolverMatrixType.SYMMETRIC, 1
    lower = np.tril(matrix)
    assert_solves(lower + np.tril(lower, -1).T, direct_solver(a, b, options=options, execution="cpu"), b)


def test_threads_do_not_share_a_plan(fresh_cache: None) -> None:
    a = poisson_2d(10)
    wrong: list[BaseException] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(15):
                b = rng.random(100)
                assert_solves(a, direct_solver(a, b, execution="cpu"), b)
        except BaseException as error:  # told by the main thread
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_a_forked_child_solves(again: bool, count: int) -> None:
    a, b = [poisson_2d(5)] * count, [np.ones(25)] * count
    with DirectSolver(a, b, execution={"name": "cpu", "num_threads": 2}) as solver:
        solver.plan()
        solver.factorize()
        expected = solver.solve()
        child = os.fork()
        if child == 0:
            try:
                if again:
                    solver.factorize()
                good = np.allclose(solver.solve(), expected, rtol=1e-12)
            except BaseException:
                good = False
            os._exit(0 if good else 1)
        assert status_of(child) == 0
        np.testing.assert_array_equal(solver.solve(), expected)


def status_of(child: int) -> int:
    """Wait for a child, but not for one that hangs."""
    for _ in range(300):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    "call",
    [
        lambda solver, clone: solver.solve(),
        lambda solver, clone: clone.solve(),
        lambda solver, clone: solver.factorization_info.condition,
        lambda solver, clone: solver.factorization_info.lu_nnz,
        lambda solver, clone: repr(clone.factorization_info),
    ],
    ids=["solve", "solve of a clone", "condition", "elements", "text"],
)
def test_a_child_forked_while_another_thread_solves_does_not_hang(call: Any) -> None:
    a, b = poisson_2d(5), np.ones(25)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        with solver.clone_solver() as clone:
            expected = clone.solve(), solver.solve()
            held, over = threading.Event(), threading.Event()

            def work() -> None:
                with solver._plan_object.plans[0]._lock:
                    held.set()
                    over.wait()

            thread = threading.Thread(target=work)
            thread.start()
            held.wait()
            child = os.fork()
            if child == 0:
                try:
                    call(solver, clone)
                    good = np.allclose(solver.solve(), expected[1], rtol=1e-12)
                except BaseException:
                    good = False
                os._exit(0 if good else 1)
            try:
                assert status_of(child) == 0
            finally:
                over.set()
                thread.join()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_right_hand_side_that_is_not_finite_changes_no_factors(value: float) -> None:
    a, b = poisson_2d(20), np.ones(400)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        engine, expected = solver._plan_object.plans[0]._engine, solver.solve()
        b[3] = value
        with pytest.raises(SingularSystemError, match="right-hand side has infinities or NaN"):
            solver.solve()
        assert solver._plan_object.plans[0]._engine is engine
        b[3] = 1
        np.testing.assert_array_equal(solver.solve(), expected)


def test_parts_of_a_symmetric_matrix_in_any_format() -> None:
    rng = np.random.default_rng(0)
    matrix, b = well_conditioned(rng, 9, "complex128", "HERMITIAN", 0.5), rng.random(9) + 0j
    options = DirectSolverOptions(sparse_system_type=DirectSolverMatrixType.HERMITIAN, sparse_system_view=1)
    for form in ("csr", "csc", "coo", "bsr"):
        a = scrambled(rng, part_of(matrix, "HERMITIAN", "LOWER"), form)
        with DirectSolver(a, b, options=options, execution="cpu") as solver:
            solver.plan()
            solver.factorize()
            for trans in "NTH":
                assert_solves(solved(matrix, trans), solver.solve(trans=trans), b)


def test_nothing_leaks() -> None:
    resource = pytest.importorskip("resource", reason="there is no resource module")
    a, b = poisson_2d(40), np.ones(1600)

    def grow(count: int) -> int:
        for _ in range(count):
            with DirectSolver(a, b, execution={"name": "cpu", "num_threads": 1}) as solver:
                solver.plan()
                solver.factorize()
                solver.solve()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = grow(20)
    assert grow(60) - first < 30_000  # KiB; one factorization takes about 1,000
