"""Dense systems on the CPU: right to the last digits that the arithmetic allows, or refused by name."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from solver_cases import DTYPES, LAYOUTS, WORDS, assert_solves, effective, laid_out, numbers, structured, systems

import nvmath
from nvmath.linalg import (
    DirectSolver,
    DirectSolverOptions,
    ExecutionCPU,
    IllConditionedWarning,
    InvalidDirectSolverState,
    SingularMatrixError,
    direct_solver,
)
from nvmath.linalg._solver import _host, _lapack


@pytest.fixture(params=["library", "SciPy"], scope="module", autouse=True)
def lapack(request):
    """Run everything twice: on the LAPACK that is found, and on SciPy's alone."""
    nvmath.plan_cache.clear()
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "SciPy":
            for cached in (_lapack.lapack, _lapack.squares):
                cached.cache_clear()
            patch.setattr(_lapack, "source", lambda: _lapack.SCIPY)
        yield request.param
    for cached in (_lapack.lapack, _lapack.squares):
        cached.cache_clear()
    nvmath.plan_cache.clear()


def solve(a: Any, b: Any, **asked: Any) -> Any:
    asked.pop("vectors", None)
    return direct_solver(a, b, options=asked or None, execution="cpu")


# --- right ----------------------------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(case=systems())
def test_one_call_solves_systems_of_every_form(case):
    sides = case.sides().copy()
    x = solve(case.a, case.b, **case.options)
    assert isinstance(x, list) is isinstance(case.b, list)
    if case.options["inplace_b"]:
        assert all(one is other for one, other in zip(x, case.b, strict=True)) if isinstance(x, list) else x is case.b
    assert_solves(case.whole, np.stack(x) if isinstance(x, list) else x, sides, case.options["trans"])


@settings(max_examples=60, deadline=None)
@given(case=systems())
def test_one_factorization_serves_all_transpositions(case):
    asked = {key: value for key, value in case.options.items() if key not in ("vectors", "inplace_b", "trans")}
    sides = case.sides().copy()
    with DirectSolver(case.a, case.b, asked, "cpu") as solver:
        solver.plan()
        solver.factorize()
        for trans in ("N", "T", "C"):
            assert_solves(case.whole, np.stack(solver.solve(trans=trans)), sides, trans)


@settings(max_examples=60, deadline=None)
@given(case=systems())
def test_operands_stay_as_they_are_unless_they_may_be_overwritten(case):
    def copies(operand: Any) -> list[np.ndarray]:
        return [each.copy() for each in (operand if isinstance(operand, list) else [operand])]

    a, b = copies(case.a), copies(case.b)
    solve(case.a, case.b, **{**case.options, "inplace_a": False, "inplace_b": False})
    for before, after in ((a, case.a), (b, case.b)):
        for one, other in zip(before, copies(after), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 17, 65, 200, 260])
def test_sizes(dtype, n):
    rng = np.random.default_rng(n)
    a, b = numbers(rng, (n, n), dtype), numbers(rng, (n, 19), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IllConditionedWarning)
        assert_solves(a, solve(a, b), b)
        assert_solves(a, solve(np.asfortranarray(a), np.asfortranarray(b)), b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("columns", [1, 3, 20])
def test_large_batches_are_shared_by_threads(dtype, word, columns):
    rng = np.random.default_rng(4)
    whole, given = structured(rng, (700,), 20, dtype, word, True)
    b = numbers(rng, (700, 20, columns), dtype)
    assert_solves(whole, solve(given, b, assume_a=word, uplo="lower"), b)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "cols"), [(9, 4), (4, 4), (5, 1), (90, 70)])
@pytest.mark.parametrize("layout", ["row", "stepped"])
def test_least_squares_satisfy_the_normal_equations(shape, dtype, rows, cols, layout):
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (*shape, rows, cols), dtype), numbers(rng, (*shape, rows, 2), dtype)
    x = solve(laid_out(a, layout), laid_out(b, layout), least_squares=True)
    assert x.shape == (*shape, cols, 2)
    want = np.linalg.pinv(a.astype("complex128" if dtype[0] == "c" else "float64")) @ b
    condition = np.linalg.cond(a).max()
    np.testing.assert_allclose(x, want, atol=200 * np.finfo(dtype).eps * condition * np.abs(want).max())


def test_empty_systems_have_empty_solutions():
    assert solve(np.ones((0, 0)), np.ones(0)).shape == (0,)
    assert solve(np.ones((0, 0)), np.ones((0, 3))).shape == (0, 3)
    assert solve(np.eye(3), np.ones((3, 0))).shape == (3, 0)
    assert solve(np.ones((0, 3, 3)), np.ones((0, 3, 2))).shape == (0, 3, 2)
    with DirectSolver(np.ones((0, 0)), np.ones(0), execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        assert solver.solve().shape == (0,)


def test_a_batch_equals_a_loop():
    rng = np.random.default_rng(6)
    a, b = numbers(rng, (5, 7, 7), "complex128"), numbers(rng, (5, 7, 3), "complex128")
    together = solve(a, b)
    apart = solve(list(a), list(b))
    for index in range(5):
        np.testing.assert_array_equal(together[index], solve(a[index], b[index]))
        np.testing.assert_array_equal(apart[index], together[index])


def test_a_strided_batch_with_one_member_in_an_axis():
    """The original took the stride of the axis of extent 1 for the distance of matrices."""
    rng = np.random.default_rng(7)
    a, b = numbers(rng, (4, 8, 3, 3), "float64"), numbers(rng, (4, 8, 3, 1), "float64")
    assert_solves(a[:, :1], solve(a[:, :1], b[:, :1]), b[:, :1])
    assert_solves(a[:1, ::3], solve(a[:1, ::3], b[:1, ::3]), b[:1, ::3])


def test_the_cases_of_section_e():
    for matrix in (np.array([[1.0, 2], [2, 4]]), np.zeros((2, 2))):
        with pytest.raises(RuntimeError, match="singular"):
            solve(matrix, np.ones(2))
    np.testing.assert_array_equal(solve(np.array([[0.0, 1], [1, 0]]), np.array([2.0, 3])), [3, 2])
    a = np.eye(4)[None] * np.arange(1, 2001)[:, None, None]
    np.testing.assert_allclose(solve(a, np.ones((2000, 4, 1)))[:, 0, 0], 1 / np.arange(1, 2001))


def test_foreign_byte_order_and_read_only_operands():
    a, b = np.array([[0.0, 2], [4, 0]]), np.array([2.0, 4])
    np.testing.assert_array_equal(solve(a.astype(">f8"), b.astype(">f8")), [1, 1])
    for each in (a, b):
        each.flags.writeable = False
    np.testing.assert_array_equal(solve(a, b), [1, 1])
    for option in ("inplace_a", "inplace_b"):
        with pytest.raises(ValueError, match="read-only"):
            solve(a, b, **{option: True})


# --- refused --------------------------------------------------------------------------------------------------------------------------


def spoiled(count: int, word: str, how: str, n: int = 5) -> np.ndarray:
    a, _ = structured(np.random.default_rng(8), (count,), n, "float64", word, True)
    bad = a[count // 2]
    match how:
        case "zero row":
            bad[n - 2, :] = bad[:, n - 2] = 0
        case "nan":
            bad[n - 1, 0] = bad[0, n - 1] = np.nan
        case "inf":
            bad[n - 1, 0] = bad[0, n - 1] = np.inf
        case "indefinite":
            bad[n - 1, n - 1] = -1
    return a


@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("how", ["zero row", "nan", "inf"])
@pytest.mark.parametrize("inplace", [False, True])
def test_matrices_without_a_solution_are_named_and_nothing_is_returned(count, word, how, inplace):
    a = spoiled(count, word, how)
    with pytest.raises(SingularMatrixError) as caught:
        solve(a, np.ones((count, 5, 1)), assume_a=word, inplace_a=inplace)
    assert caught.value.indices == (count // 2,)
    assert f"[{count // 2}]" in str(caught.value)
    assert ("not finite" in str(caught.value)) is (how != "zero row") or word == "positive definite"


@pytest.mark.parametrize("count", [1, 7])
def test_a_matrix_that_is_not_positive_definite_is_named(count):
    with pytest.raises(SingularMatrixError, match=r"not positive definite.*assume_a") as caught:
        solve(spoiled(count, "positive definite", "indefinite"), np.ones((count, 5, 1)), assume_a="pos")
    assert caught.value.indices == (count // 2,)


def test_one_system_tells_the_pivot():
    with pytest.raises(RuntimeError, match=r"The matrix a is singular: pivot 2 .*info=2"):
        solve(np.array([[1.0, 2], [2, 4]]), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError):  # who catches NumPy's error catches ours
        solve(np.zeros((2, 2)), np.ones(2))


def test_several_bad_members_are_all_listed():
    a = np.stack([np.eye(3)] * 50)
    a[::2, 1, 1] = 0
    with pytest.raises(SingularMatrixError, match=r"a\[0, 2, 4, .*\.\.\.\] \(25 in all\) are singular") as caught:
        solve(a, np.ones((50, 3, 1)))
    assert caught.value.indices == tuple(range(0, 50, 2))


@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_right_hand_sides_that_are_not_finite_are_named(count, columns, value):
    b = np.ones((count, 4, columns))
    b[count // 2, 1, columns - 1] = value
    with pytest.raises(SingularMatrixError, match="right-hand side") as caught:
        solve(np.stack([np.eye(4)] * count), b)
    assert caught.value.indices == (count // 2,)


def test_large_numbers_do_not_look_infinite():
    big = np.full((3, 2), 1e300)
    np.testing.assert_array_equal(solve(np.eye(3), big), big)
    np.testing.assert_allclose(solve(1e-200 * np.eye(3), np.full(3, 1e-200)), np.ones(3))
    np.testing.assert_allclose(solve(1e200 * np.eye(3), np.full(3, 1e200)), np.ones(3))
    with pytest.raises(SingularMatrixError, match="overflow"):
        solve(1e-200 * np.eye(3), np.full(3, 1e200))


def test_rank_deficiency_of_least_squares_is_reported():
    a = np.ones((2, 6, 3))
    a[0] = np.random.default_rng(0).standard_normal((6, 3))
    with pytest.raises(SingularMatrixError, match="deficient rank") as caught:
        solve(a, np.ones((2, 6, 1)), least_squares=True)
    assert caught.value.indices == (1,)
    with pytest.raises(SingularMatrixError, match="deficient rank"):
        solve(np.zeros((4, 2)), np.ones(4), least_squares=True)


def hilbert(n: int, dtype: str = "float64") -> np.ndarray:
    return (1 / (np.arange(n)[:, None] + np.arange(n) + 1.0)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("word", ["gen", "sym"])
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("inplace", [False, True])
def test_ill_conditioned_matrices_are_warned_of_at_the_callers_line(dtype, word, count, inplace):
    a = np.stack([np.eye(14, dtype=dtype)] * count)
    a[count - 1] = hilbert(14, dtype)
    with pytest.warns(IllConditionedWarning, match=rf"a\[{count - 1}\] is ill-conditioned") as caught:
        x = solve(a.copy(), np.ones((count, 14, 1), dtype), assume_a=word, inplace_a=inplace)
    assert caught[0].filename == __file__
    assert caught[0].message.indices == (count - 1,)
    assert_solves(a, x, np.ones((count, 14, 1), dtype))


def test_well_conditioned_matrices_are_not_warned_of():
    for scale in (1e-30, 1, 1e30):
        np.testing.assert_allclose(solve(scale * np.eye(30), np.ones(30)), np.full(30, 1 / scale))
    a = hilbert(6)
    assert_solves(a, solve(a, np.ones(6)), np.ones((6, 1)))


def test_warnings_do_not_depend_on_the_layout():
    a = hilbert(12) @ np.diag([1.0] * 11 + [1e-3])
    for each in (a, np.asfortranarray(a), a[::-1, ::-1]):
        with pytest.warns(IllConditionedWarning):
            solve(each, np.ones(12))


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [([], [], "empty sequence"), ([[1.0, 2], [3, 4]], [1.0, 2], "no array.*numpy.asarray"), (np.eye(2), [1.0, 2], "no array")],
)
def test_what_is_no_array_is_refused(a, b, text):
    with pytest.raises(ValueError, match=text):
        direct_solver(a, b)


def test_packages_must_match():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(ValueError, match="package"):
        direct_solver(np.eye(3), torch.ones(3))


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"options": 3}, TypeError), ({"options": {"colour": 1}}, TypeError), ({"execution": "tpu"}, ValueError),
        ({"execution": 3}, ValueError), ({"execution": {"colour": 1}}, TypeError), ({"options": {"assume_a": "x"}}, ValueError),
    ],
)  # fmt: skip
def test_arguments_are_checked_by_the_one_call_function(asked, error):
    with pytest.raises(error):
        direct_solver(np.eye(3), np.ones(3), **asked)


# --- the one-call function and its cache ----------------------------------------------------------------------------------------------


def test_plans_are_kept_and_told_apart():
    nvmath.plan_cache.clear()
    a, b = np.array([[4.0, 1], [2, 3]]), np.array([1.0, 2])
    wanted = {trans: np.linalg.solve(effective(a, trans), b) for trans in "NT"}
    for _ in range(3):
        for trans in "NT":
            np.testing.assert_allclose(direct_solver(a, b, options={"trans": trans}, execution="cpu"), wanted[trans])
            asked = DirectSolverOptions(trans=trans)
            np.testing.assert_allclose(direct_solver(a, b, options=asked, execution={"name": "cpu"}), wanted[trans])
        np.testing.assert_allclose(direct_solver(a.T, b, execution="cpu"), wanted["T"])
    assert nvmath.plan_cache.info().hits > 0


def test_the_conjugate_transpose_has_two_names():
    a, b = np.array([[4.0, 1 + 2j], [2, 3j]]), np.array([1.0, 2j])
    want = np.linalg.solve(a.conj().T, b)
    for trans in ("C", "H"):
        np.testing.assert_allclose(direct_solver(a, b, options={"trans": trans}, execution="cpu"), want)
        with DirectSolver(a, b, execution="cpu") as solver:
            solver.plan()
            solver.factorize()
            np.testing.assert_allclose(solver.solve(trans=trans), want)
    assert DirectSolverOptions(trans="H") == DirectSolverOptions(trans="C")


def test_a_failed_call_does_not_spoil_the_next():
    good, bad, b = np.array([[2.0, 0], [0, 4]]), np.zeros((2, 2)), np.ones(2)
    for _ in range(3):
        with pytest.raises(SingularMatrixError):
            direct_solver(bad, b, execution="cpu")
        np.testing.assert_array_equal(direct_solver(good, b, execution="cpu"), [0.5, 0.25])


@pytest.mark.parametrize("trans", ["N", "T", "C"])
def test_one_call_leaves_no_reference(trans):
    a, b = np.eye(3) + 0j, np.ones(3) + 0j
    for _ in range(2):
        x = direct_solver(a, b, options={"trans": trans}, execution="cpu")
    references = [weakref.ref(each) for each in (a, b, x)]
    del a, b, x
    gc.collect()
    assert [each() for each in references] == [None] * 3


def test_threads():
    rng = np.random.default_rng(9)
    failures = []

    def work(seed: int) -> None:
        try:
            for n in (3, 8, 40):
                a, b = numbers(rng, (n, n), "float64") + 9 * np.eye(n), numbers(rng, (n, 2), "float64")
                assert_solves(a, direct_solver(a, b, execution="cpu"), b)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads(threads):
    rng = np.random.default_rng(10)
    a, b = numbers(rng, (300, 25, 25), "float64"), numbers(rng, (300, 25, 1), "float64")
    assert_solves(a, direct_solver(a, b, execution=ExecutionCPU(num_threads=threads)), b)


@pytest.mark.parametrize(
    ("n", "columns", "factorize", "solve"),
    [
        (100, 1, None, None),  # OpenBLAS takes one thread by itself
        (256, 1, 1, None),
        (500, 500, 3, 3),
        (256, 2000, 1, 4),
        (700, 1, None, None),  # worth all of them
    ],
)
def test_a_system_gets_as_many_threads_as_its_work_is_worth(monkeypatch, n, columns, factorize, solve):
    monkeypatch.setattr(_host, "available_threads", lambda: 8)
    with DirectSolver(np.eye(n), np.ones((n, columns)), execution=ExecutionCPU(num_threads=8)) as solver:
        solver.plan()
        plan = solver._plan_object
    if not plan.library.where.numpys:
        pytest.skip("LAPACK is not that of an OpenBLAS inside NumPy, the only one that can be told")
    assert (plan.limit, plan.solve_limit) == (factorize, solve)


def test_the_condition_of_good_positive_definite_matrices_is_not_estimated(monkeypatch):
    rng = np.random.default_rng(12)
    root = numbers(rng, (3, 128, 128), "float32") + 2 * 128**0.5 * np.eye(128, dtype="float32")
    a, b = root @ root.mT, numbers(rng, (3, 128, 1), "float32")
    examined, examine = [], _host._condition.inverse_norm
    monkeypatch.setattr(_host._condition, "inverse_norm", lambda *args: examined.append(args) or examine(*args))

    def solve():
        return direct_solver(a, b, options={"assume_a": "pos"}, execution="cpu")

    assert_solves(a, solve(), b)
    assert examined == []
    a[1] = np.diag(np.logspace(0, -9, 128))
    with pytest.warns(IllConditionedWarning, match=r"a\[1\] is ill-conditioned"):
        solve()
    assert len(examined) == 1


# --- the stateful class ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def system():
    rng = np.random.default_rng(11)
    return numbers(rng, (6, 6), "float64") + 6 * np.eye(6), numbers(rng, (6, 2), "float64")


def test_phases_come_in_order(system):
    with DirectSolver(*system, execution="cpu") as solver:
        for phase in (solver.factorize, solver.solve):
            with pytest.raises(RuntimeError, match=r"plan\(\)"):
                phase()
        solver.plan()
        solver.plan()
        with pytest.raises(RuntimeError, match=r"factorize\(\) must be called"):
            solver.solve()
        solver.factorize()
        assert_solves(system[0], solver.solve(), system[1])
    for phase in (solver.plan, solver.factorize, solver.solve, solver.release_operands, solver.reset_operands, solver.__enter__):
        with pytest.raises(InvalidDirectSolverState):
            phase()
    solver.free()


def test_edits_of_a_count_from_the_next_factorization_on(system):
    a, b = system
    a = a.copy()
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        a *= 2
        assert_solves(a / 2, solver.solve(), b)
        solver.factorize()
        assert_solves(a, solver.solve(), b)


def test_edits_of_b_count_from_the_next_solution_on(system):
    a, b = system[0], system[1].copy()
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        b += 1
        assert_solves(a, solver.solve(), b)


@settings(max_examples=40, deadline=None)
@given(case=systems(), layout=st.sampled_from(LAYOUTS))
def test_a_reset_takes_any_layout_and_a_new_b_needs_no_factorization(case, layout):
    asked = {key: value for key, value in case.options.items() if key in ("assume_a", "uplo", "trans")}
    sides = case.sides()
    with DirectSolver(case.a, case.b, asked, "cpu") as solver:
        solver.plan()
        solver.factorize()
        other = [laid_out(2 * each, LAYOUTS[2]) for each in case.b] if isinstance(case.b, list) else laid_out(2 * case.b, layout)
        solver.reset_operands(b=other)
        assert_solves(case.whole, np.stack(solver.solve()), 2 * sides, asked["trans"])
        turned = [laid_out(each, "column") for each in case.a] if isinstance(case.a, list) else laid_out(case.a, layout)
        solver.reset_operands(a=turned)
        with pytest.raises(RuntimeError, match="factorize"):
            solver.solve()
        solver.factorize()
        assert_solves(case.whole, np.stack(solver.solve()), 2 * sides, asked["trans"])


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (np.zeros((5, 5)), None, "number of columns for"), (None, np.zeros((6, 3)), "number of right-hand sides"),
        (np.zeros((1, 6, 6)), None, "batch"), ([np.zeros((6, 6))], None, "batching metadata for a"), (None, np.zeros(6), "dimensions of b"),
        (np.zeros((6, 6), "f4"), None, "dtype for a"), (None, [np.zeros(6)], "batching metadata for b"),
        (None, None, "at least one operand"), (None, np.zeros((5, 2)), "rows of b"),
    ],
)  # fmt: skip
def test_a_reset_that_does_not_fit_is_refused_and_changes_nothing(system, a, b, text):
    with DirectSolver(*system, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        with pytest.raises(ValueError, match=text):
            solver.reset_operands(a=a, b=b)
        assert_solves(system[0], solver.solve(), system[1])


@pytest.mark.parametrize("where", ["mover", "_prepare", "_solver"])
def test_a_reset_that_fails_half_way_changes_nothing(system, monkeypatch, where):
    a, b = system
    other = np.repeat(3 * b, 2, axis=0)[::2]

    def fail(*arguments: Any, **keywords: Any) -> Any:
        raise MemoryError

    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        with monkeypatch.context() as patch:
            patch.setattr(_host.HostSolverPlan, where, fail)
            with pytest.raises(MemoryError):
                solver.reset_operands(b=other)
        assert_solves(a, solver.solve(), b)
        solver.reset_operands(b=other)
        assert_solves(a, solver.solve(), other)
        solver.factorize()
        assert_solves(a, solver.solve(), other)


def test_a_reset_with_another_package_is_a_value_error(system):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with DirectSolver(*system, execution="cpu") as solver, pytest.raises(ValueError, match="package for a"):
        solver.reset_operands(a=torch.eye(6, dtype=torch.float64))


def test_release(system):
    a, b = (each.copy() for each in system)
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        solver.release_operands()
        solver.release_operands()
        reference = weakref.ref(a)
        del a
        assert reference() is None
        for phase in (solver.plan, solver.factorize, solver.solve):
            with pytest.raises(RuntimeError, match="released"):
                phase()
        for reset in (solver.reset_operands, solver.reset_operands_unchecked):
            with pytest.raises(ValueError, match="all required operands must be provided; a is missing"):
                reset(b=b)
        solver.reset_operands_unchecked(a=system[0], b=system[1])
        solver.factorize()
        assert_solves(system[0], solver.solve(), system[1])


def test_unchecked_resets(system):
    a, b = system
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        solver.reset_operands_unchecked(b=b + 1)
        assert_solves(a, solver.solve(), b + 1)
        solver.reset_operands_unchecked(a=2 * a)
        with pytest.raises(RuntimeError, match="factorize"):
            solver.solve()
        solver.factorize()
        assert_solves(2 * a, solver.solve(), b + 1)


def test_a_failed_factorization_leaves_the_object_usable(system):
    a, b = system
    with DirectSolver(np.zeros((6, 6)), b, execution="cpu") as solver:
        solver.plan()
        with pytest.raises(SingularMatrixError):
            solver.factorize()
        with pytest.raises(RuntimeError, match="factorize"):
            solver.solve()
        solver.reset_operands(a=a)
        solver.factorize()
        assert_solves(a, solver.solve(), b)


def test_in_place(system):
    a, b = np.asfortranarray(system[0]), np.asfortranarray(system[1])
    with DirectSolver(a, b, {"inplace_a": True, "inplace_b": True}, "cpu") as solver:
        solver.plan()
        solver.factorize()
        assert not np.array_equal(a, system[0])
        assert solver.solve() is b
        assert_solves(system[0], b, system[1])
        again, other = np.asfortranarray(2 * system[0]), np.asfortranarray(system[1])
        solver.reset_operands(a=again, b=other)
        solver.factorize()
        assert solver.solve() is other
        assert_solves(2 * system[0], other, system[1])


def test_execution_on_the_gpu_is_not_pretended(system):
    from nvmath._core import place

    if place.has_device():
        pytest.skip("there is a CUDA device")
    with pytest.raises(RuntimeError, match="No CUDA device"):
        direct_solver(*system, execution="cuda")


def test_the_object_cannot_be_pickled(system):
    import pickle

    with DirectSolver(*system, execution="cpu") as solver, pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(solver)


def test_the_log_tells_the_phases(system, caplog):
    with caplog.at_level("INFO"), DirectSolver(*system, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        solver.solve()
    library = _lapack.source().title
    assert all(words in caplog.text for words in ("general system of float64", library, "Factorized", "Solving"))


class Life(RuleBasedStateMachine):
    """Whatever is called in whatever order: the right solution, or the error that the state asks for."""

    def __init__(self) -> None:
        super().__init__()
        rng = np.random.default_rng(12)
        self.matrices = [numbers(rng, (2, 4, 4), "float64") + 4 * np.eye(4) for _ in range(3)]
        self.sides = [numbers(rng, (2, 4, 1), "float64") for _ in range(3)]
        self.a, self.b = self.matrices[0], self.sides[0]
        self.solver = DirectSolver(self.a, self.b, execution="cpu")
        self.planned = self.factorized = self.freed = False
        self.held = True

    def teardown(self) -> None:
        self.solver.free()

    def expect(self, function: Any, fine: bool) -> Any:
        if self.freed:
            with pytest.raises(InvalidDirectSolverState):
                function()
        elif not fine:
            with pytest.raises(RuntimeError):
                function()
        else:
            return function()
        return None

    @rule()
    def plan(self) -> None:
        self.expect(self.solver.plan, self.held)
        self.planned |= self.held and not self.freed

    @rule()
    def factorize(self) -> None:
        fine = self.held and self.planned
        self.expect(self.solver.factorize, fine)
        self.factorized |= fine and not self.freed

    @rule(trans=st.sampled_from("NTC"))
    def solve(self, trans: str) -> None:
        fine = self.held and self.planned and self.factorized
        x = self.expect(lambda: self.solver.solve(trans=trans), fine)
        if x is not None:
            assert_solves(self.a, x, self.b, trans)

    @rule(index=st.integers(0, 2), checked=st.booleans(), both=st.booleans())
    @precondition(lambda self: not self.freed)
    def new_matrix(self, index: int, checked: bool, both: bool) -> None:
        reset = self.solver.reset_operands if checked else self.solver.reset_operands_unchecked
        asked = {"a": self.matrices[index], **({"b": self.sides[index]} if both or not self.held else {})}
        reset(**asked)
        self.a, self.b = asked["a"], asked.get("b", self.b)
        self.factorized, self.held = False, True

    @rule(index=st.integers(0, 2))
    @precondition(lambda self: not self.freed and self.held)
    def new_side(self, index: int) -> None:
        self.b = self.sides[index]
        self.solver.reset_operands(b=self.b)

    @rule()
    @precondition(lambda self: not self.freed)
    def release(self) -> None:
        self.solver.release_operands()
        self.held = False

    @rule()
    def free(self) -> None:
        self.solver.free()
        self.freed = True

    @invariant()
    def valid(self) -> None:
        assert self.solver.valid_state is not self.freed


def test_any_order_of_calls():
    run_state_machine_as_test(Life, settings=settings(max_examples=30, stateful_step_count=12, deadline=None))


# --- PyTorch --------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


def test_lazy_conjugates_and_transposes_of_torch(torch):
    rng = np.random.default_rng(13)
    a = torch.from_numpy(numbers(rng, (3, 5, 5), "complex128"))
    b = torch.from_numpy(numbers(rng, (3, 5, 2), "complex128"))
    for matrix in (a, a.conj(), a.mT, a.mH, torch._neg_view(a.imag) + 3 * torch.eye(5)):
        for side in (b, b.conj()):
            side = side if matrix.is_complex() else torch._neg_view(side.imag)
            x = direct_solver(matrix, side, execution="cpu")
            assert isinstance(x, torch.Tensor)
            assert_solves(matrix.resolve_conj().resolve_neg().numpy(), x.numpy(), side.resolve_conj().resolve_neg().numpy())
    with pytest.raises(ValueError, match="lazy conjugation"):
        solve(a.conj(), b, inplace_a=True)


def test_torch_counts_what_was_overwritten(torch):
    a, b = torch.eye(3), torch.ones(3)
    solve(a, b, inplace_a=True, inplace_b=True)
    assert a._version > 0
    assert b._version > 0


def test_a_gradient_is_not_lost_in_silence(torch):
    a = torch.eye(3, requires_grad=True)
    for _ in range(2):
        with pytest.warns(UserWarning, match="gradient"):
            direct_solver(a, torch.ones(3), execution="cpu")


def test_arrays_of_other_packages(torch):
    class Foreign:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __dlpack__(self, **keywords: Any) -> Any:
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

        def __array_namespace__(self) -> Any:
            return Foreign

        @staticmethod
        def from_dlpack(array: Any) -> Any:
            return Foreign(np.asarray(array))

        shape = ()

    x = direct_solver(Foreign(np.diag([2.0, 4.0])), Foreign(np.ones(2)), execution="cpu")
    assert isinstance(x, Foreign)
    np.testing.assert_array_equal(x.array, [0.5, 0.25])


# --- memory that is written, and shared ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [lambda a: a[1], lambda a: a[:, 2], lambda a: a[::-1, 0], lambda a: a[0], lambda a: a[1:2].T])
@pytest.mark.parametrize("options", [{"inplace_a": True}, {"inplace_b": True}])
def test_a_right_hand_side_within_the_matrix_is_refused_in_place(taken, options):
    a = np.arange(9.0).reshape(3, 3) + 9 * np.eye(3)
    before = a.copy()
    with pytest.raises(ValueError, match="a and b must not share overlapping memory"):
        direct_solver(a, taken(a), options=options, execution="cpu")
    np.testing.assert_array_equal(a, before)


def test_matrix_and_right_hand_side_may_lie_in_turns():
    augmented = np.hstack([np.arange(9.0).reshape(3, 3) + 9 * np.eye(3), np.ones((3, 2))])
    want = np.linalg.solve(augmented[:, :3], augmented[:, 3:])
    x = direct_solver(augmented[:, :3], augmented[:, 3:], options={"inplace_a": True, "inplace_b": True}, execution="cpu")
    np.testing.assert_allclose(x, want)


def test_right_hand_sides_that_share_elements_are_refused_in_place():
    a, buffer = 4 * np.eye(4), np.arange(1.0, 8)
    for sides in ([buffer[:4], buffer[3:]], [buffer[:4], buffer[3::-1]]):
        with pytest.raises(ValueError, match=r"b\[0\] and b\[1\] do"):
            direct_solver([a, a], sides, options={"inplace_b": True}, execution="cpu")
    x = direct_solver([a, a], [buffer[:4], buffer[3:]], execution="cpu")  # nothing is written
    np.testing.assert_allclose(x[1], buffer[3:] / 4)


@pytest.mark.parametrize("name", ["inplace_a", "inplace_b", "least_squares"])
@pytest.mark.parametrize("value", ["no", 1, None])
def test_switches_are_true_or_false(name, value):
    with pytest.raises(ValueError, match=f"{name} must be True or False"):
        direct_solver(2 * np.eye(2), np.ones(2), options={name: value}, execution="cpu")


@pytest.mark.parametrize("word", ["pos", "gen"])
def test_large_numbers_are_no_reason_to_warn(word):
    with np.errstate(all="raise"):
        a = np.stack([np.diag([1e200] * 2)] * 2)
        np.testing.assert_allclose(direct_solver(a, 1e200 * np.ones((2, 2, 1)), options={"assume_a": word}, execution="cpu"), 1)
        np.testing.assert_allclose(direct_solver(a[0], 1e200 * np.ones((2, 2)), options={"assume_a": word}, execution="cpu"), 1)
