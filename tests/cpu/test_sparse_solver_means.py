"""Stronger means that cannot be had: for want of memory, say. The solver can be used on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import assert_solves, poisson_2d

from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import DirectSolver
from nvmath.sparse.advanced._host import HostPlan
from nvmath.sparse.advanced._pardiso import PardisoEngine

pytestmark = pytest.mark.skipif(not mkl_pardiso.present(), reason="MKL is not installed (pip install mkl)")

N = 150**2
"""So many rows that a definite matrix is factorized as one even if nothing was said of it."""


def no_memory(*_: Any, **__: Any) -> Any:
    raise MemoryError("none left")


def never_good_enough(patch: pytest.MonkeyPatch) -> None:
    """Whatever the means, a factorization fails and the next ones are tried."""
    patch.setattr(HostPlan, "_may_be_singular", lambda *_: True)
    patch.setattr(HostPlan, "_disproof", lambda *_: "not good enough")


@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC"])
@pytest.mark.parametrize("step", ["assemble", "analyse"])
def test_memory_that_is_missing_for_stronger_means(kind: str, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = poisson_2d(150), np.random.default_rng(0).random(N)
    with DirectSolver(a, b, options={"sparse_system_type": kind}, execution="cpu") as solver:
        solver.plan()
        with monkeypatch.context() as patch:
            never_good_enough(patch)
            owner, name = (HostPlan, "_assemble") if step == "assemble" else (PardisoEngine, "analyse")
            patch.setattr(owner, name, no_memory)
            with pytest.raises(MemoryError, match="none left"):
                solver.factorize()
        with pytest.raises(RuntimeError, match=r"factorize\(\) must be called"):
            solver.solve()
        solver.factorize()
        for trans in "NT":
            assert_solves(a.T if trans == "T" else a, solver.solve(trans=trans), b, 10_000)


def test_a_change_that_fails_leaves_what_there_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guess that turned out to be wrong, and no memory for another arrangement of the entries."""
    a, b = poisson_2d(150), np.random.default_rng(0).random(N)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        plan = solver._plan_object.plans[0]
        before = plan._rung, plan._engine, plan._source
        with monkeypatch.context() as patch:
            rung = plan._rungs[0]()
            rung.full = True
            patch.setattr(plan, "_rungs", [lambda: rung])
            patch.setattr(plan, "_assemble", no_memory)
            with pytest.raises(MemoryError):
                plan._change(0, a.data)
        assert (plan._rung, plan._engine, plan._source) == before
        solver.factorize()
        assert_solves(a, solver.solve(), b, 10_000)


@pytest.mark.parametrize("code", [-2, -5])
def test_a_solution_that_led_to_a_factorization_that_failed_needs_another(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that were edited since they were factorized make `solve` factorize them; what there was of factors is lost by that."""
    a, b = sp.csr_array(poisson_2d(20)), np.ones(400)
    call = mkl_pardiso.Pardiso.__call__

    def failing(pardiso: Any, phase: int, *arguments: Any) -> None:
        if phase == 22:
            raise mkl_pardiso.PardisoError(code)
        call(pardiso, phase, *arguments)

    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        a.data *= np.random.default_rng(1).uniform(0.5, 1, a.nnz)
        with monkeypatch.context() as patch:
            patch.setattr(mkl_pardiso.Pardiso, "__call__", failing)
            with pytest.raises(mkl_pardiso.PardisoError):
                solver.solve()
        with pytest.raises(RuntimeError, match=r"factorize\(\) must be called"):
            solver.solve()
        solver.factorize()
        assert_solves(a, solver.solve(), b, 10_000)
