"""How many Python-level calls a solution makes."""

import numpy as np
import pytest
from counts import EXECUTE, ONE_CALL, RESET_AND_EXECUTE, calls_of

import nvmath
from nvmath.linalg import DirectSolver, direct_solver

SHORT = 12
"""A small system takes as long as ten Python functions."""


@pytest.fixture(params=["numpy", "torch"])
def system(request):
    a, b = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([6.0, 7.0])
    if request.param == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        return torch.from_numpy(a), torch.from_numpy(b)
    return a, b


def test_one_call_with_a_kept_plan(system, fresh_cache):
    assert calls_of(lambda: direct_solver(*system, execution="cpu")) <= SHORT
    assert nvmath.plan_cache.info().hits == 1


def test_one_call_for_a_batch(fresh_cache):
    a, b = np.stack([np.eye(3)] * 5), np.ones((5, 3, 1))
    assert calls_of(lambda: direct_solver(a, b, execution="cpu")) <= 2 * ONE_CALL  # whatever the number of systems


def test_solve(system):
    with DirectSolver(*system, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        assert calls_of(solver.solve) <= EXECUTE


def test_checked_reset_of_a_right_hand_side(system):
    with DirectSolver(*system, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        assert calls_of(lambda: solver.reset_operands(b=system[1])) <= RESET_AND_EXECUTE
