"""MKL PARDISO with integers of 32 bits where they suffice, and of 64 bits where they do not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import assert_solves, hermitian, poisson_2d, poisson_3d

import nvmath
from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import DirectSolver, _pardiso, direct_solver

pytestmark = pytest.mark.skipif(not mkl_pardiso.present(), reason="MKL is not installed (pip install mkl)")

ANALYSIS, FACTORIZATION, SOLUTION, RELEASE = 11, 22, 33, -1
OVERFLOW = -8


class Calls:
    """The phases of PARDISO that were run, each with the size of its integers; some can be made to fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[int, int]] = []
        self.failing: dict[tuple[int, int], int] = {}
        self.objects: dict[int, Any] = {}
        call = mkl_pardiso.Pardiso.__call__

        def watched(pardiso: Any, phase: int, *arguments: Any) -> None:
            which = phase, 8 * pardiso.iparm.itemsize
            self.seen.append(which)
            self.objects[id(pardiso)] = None if phase == RELEASE else pardiso
            if which in self.failing:
                raise mkl_pardiso.PardisoError(self.failing[which])
            call(pardiso, phase, *arguments)

        monkeypatch.setattr(mkl_pardiso.Pardiso, "__call__", watched)

    @property
    def open(self) -> int:
        """How many objects hold memory."""
        return sum(each is not None for each in self.objects.values())


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    made = Calls(monkeypatch)
    yield made
    nvmath.plan_cache.clear()
    assert made.open == 0


@pytest.fixture
def short() -> None:
    if not mkl_pardiso.has_short():
        pytest.skip("MKL works with 64-bit integers only: MKL_INTERFACE_LAYER is ILP64")


@pytest.mark.parametrize("limit", ["interface", "estimate", "memory"])
@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC", "SPD"])
def test_solutions_do_not_depend_on_the_size_of_integers(
    limit: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = poisson_2d(30), np.random.default_rng(0).random((900, 3))

    def solve() -> tuple[np.ndarray, np.ndarray, int, bool]:
        with DirectSolver(a, b, options={"sparse_system_type": kind}, execution="cpu") as solver:
            order = solver.plan().row_permutation
            elements = solver.factorize().lu_nnz
            return solver.solve(), order, elements, solver._plan_object.plans[0]._engine._pardiso.iparm.itemsize == 4

    x, permutation, elements, short = solve()
    assert short == mkl_pardiso.has_short()
    if limit == "interface":
        monkeypatch.setattr(mkl_pardiso, "has_short", lambda: False)
    else:
        monkeypatch.setattr(_pardiso, "_KIB_FOR_SHORT", 0)
        if limit == "memory":
            monkeypatch.setattr(_pardiso, "_likely_elements", lambda *_: 0)
    other, order, count, short = solve()
    assert not short
    np.testing.assert_array_equal(order, permutation)
    assert (order.dtype, count) == (permutation.dtype, elements)
    np.testing.assert_allclose(other, x, rtol=1e-12)


# --- which size is tried first ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "sizes"), [(1 << 20, [32]), (0, [64])])
def test_the_matrix_is_ordered_once(
    limit: int, sizes: list[int], short: None, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_pardiso, "_KIB_FOR_SHORT", limit)
    direct_solver(poisson_3d(12), np.ones(12**3), execution="cpu")
    assert [size for phase, size in calls.seen if phase == ANALYSIS] == sizes


def test_factors_that_are_larger_than_expected_take_a_second_analysis(
    short: None, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, n = np.random.default_rng(0), 2000
    # No mesh: its factors are nearly dense.
    a = sp.csr_array(sp.random_array((n, n), density=4 / n, rng=rng) + 4 * sp.eye_array(n))
    monkeypatch.setattr(_pardiso, "_KIB_FOR_SHORT", 1 << 10)
    assert_solves(a, direct_solver(a, np.ones(n), execution="cpu"), np.ones(n), 10_000)
    assert [size for phase, size in calls.seen if phase in (ANALYSIS, FACTORIZATION)] == [32, 64, 64]


@pytest.mark.parametrize("kind", ["GENERAL", "SPD"])
@pytest.mark.parametrize(("make", "side"), [(poisson_2d, 150), (poisson_2d, 300), (poisson_3d, 20), (poisson_3d, 32)])
def test_the_elements_of_factors_of_meshes_are_roughly_known(make: Any, side: int, kind: str) -> None:
    a = make(side)
    if kind == "GENERAL":
        a.data *= np.random.default_rng(0).uniform(0.5, 1, a.nnz)  # else it is taken for a definite one
    with DirectSolver(a, np.ones(a.shape[0]), options={"sparse_system_type": kind}, execution="cpu") as solver:
        solver.plan_config.reordering_algorithm = "nested_dissection"
        solver.plan()
        engine = solver._plan_object.plans[0]._engine
        assert 0.5 < _pardiso._likely_elements(engine.pattern, kind == "SPD") / engine.info("lu_nnz") < 2


# --- an integer that overflows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [ANALYSIS, FACTORIZATION])
@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC", "HPD"])
def test_an_overflow_of_32_bits_is_no_error(phase: int, kind: str, short: None, calls: Calls) -> None:
    a = sp.csr_array(hermitian(12) + sp.eye_array(144)) if kind == "HPD" else poisson_2d(12)
    b = np.ones((144, 2), a.dtype)
    calls.failing[phase, 32] = OVERFLOW
    with DirectSolver(a, b, options={"sparse_system_type": kind}, execution="cpu") as solver:
        solver.plan()
        for factor in (1, 2):
            solver.reset_operands(a=sp.csr_array((factor * a.data, a.indices, a.indptr), shape=a.shape))
            solver.factorize()
            assert_solves(factor * a, solver.solve(), b, 10_000)
        assert calls.open == 1
    assert calls.seen.count((phase, 32)) == 1
    assert calls.seen.count((ANALYSIS, 64)) == 1


@pytest.mark.parametrize("phase", [ANALYSIS, FACTORIZATION])
def test_an_overflow_of_64_bits_is_an_error(phase: int, calls: Calls) -> None:
    calls.failing = {(phase, 32): OVERFLOW, (phase, 64): OVERFLOW}
    with pytest.raises(mkl_pardiso.PardisoError, match="overflowed"):
        direct_solver(poisson_2d(12), np.ones(144), execution="cpu")


@pytest.mark.parametrize("phase", [ANALYSIS, FACTORIZATION])
def test_other_errors_are_not_tried_again(phase: int, short: None, calls: Calls) -> None:
    calls.failing = {(phase, 32): -2}
    with pytest.raises(mkl_pardiso.PardisoError, match="memory"):
        direct_solver(poisson_2d(12), np.ones(144), execution="cpu")
    assert not [size for _, size in calls.seen if size == 64]


# --- limits of calls --------------------------------------------------------------------------------------------------------------


def test_right_hand_sides_are_taken_in_parts_where_they_have_too_many_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = poisson_2d(30), np.random.default_rng(0).random((900, 7))
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        monkeypatch.setattr(solver._plan_object.plans[0]._engine, "_columns", 2)
        assert_solves(a, solver.solve(), b)


@pytest.mark.parametrize("layer", ["LP64", "ILP64"])
def test_any_interface_layer_of_mkl_will_do(layer: str) -> None:
    program = (
        "import numpy as np, scipy.sparse as sp; from nvmath.bindings import mkl_pardiso; "
        "from nvmath.sparse.advanced import direct_solver; a = sp.csr_array([[4.0, 1], [1, 3]]); "
        "print(mkl_pardiso.has_short(), direct_solver(a, np.array([6.0, 7]), execution='cpu').tolist())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"MKL_INTERFACE_LAYER": layer}, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert ran.stdout.strip() == f"{layer == 'LP64'} [1.0, 2.0]"
