"""The judgement of a solution: pure functions of numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from nvmath.sparse.advanced._residual import Verdict, explain, judge, judge_by_rows, sizes_of, verdict_of, worst


@pytest.mark.parametrize(
    ("residual", "right", "solution", "norm", "expected"),
    [
        (0.0, 1.0, 1.0, 1.0, Verdict.GOOD),
        (0.0, 0.0, 0.0, 0.0, Verdict.GOOD),
        (1e-15, 1.0, 1.0, 1.0, Verdict.GOOD),
        (1e-10, 1.0, 1.0, 1.0, Verdict.BAD),
        (1e-5, 1.0, 1e10, 10.0, Verdict.DOUBTFUL),  # as good as the arithmetic allows, but large next to b
        (1.0, 0.0, 0.0, 1.0, Verdict.BAD),
        (math.nan, 1.0, 1.0, 1.0, Verdict.BAD),
        (1e-15, 1.0, math.nan, 1.0, Verdict.BAD),
        (1e-15, 1.0, math.inf, 1.0, Verdict.BAD),
        (0.0, 1.0, math.inf, 1.0, Verdict.BAD),
        (math.inf, 1.0, 1.0, 1.0, Verdict.BAD),
        (1e-300, 1e-300, 0.0, 1e300, Verdict.GOOD),  # the solution underflows
        (5e-324, 5e-324, 5e-324, 10.0, Verdict.GOOD),
        (1e-300, 1e-300, 0.0, 1.0, Verdict.BAD),  # 0 is no solution where one can be written
        (1e300, 1e300, 0.0, math.inf, Verdict.BAD),  # a row sum that overflows hides nothing
    ],
)
def test_verdicts(residual: float, right: float, solution: float, norm: float, expected: Verdict) -> None:
    found = verdict_of(residual, right, solution, norm, 10, "float64")
    assert found.verdict is expected
    assert found.refused == (expected is Verdict.BAD)


@pytest.mark.parametrize("n", [10, 10**6])
def test_in_single_precision_an_error_of_a_thousandth_is_never_good(n: int) -> None:
    assert verdict_of(1e-3, 1.0, 1.0, 1.0, n, "float32").verdict is Verdict.BAD


@pytest.mark.parametrize(("units", "improvable"), [(2, False), (20, False), (200, True), (1e9, True), (math.nan, True)])
def test_what_refinement_would_make_better(units: float, improvable: bool) -> None:
    unit = float(np.finfo(np.float64).eps)
    assert verdict_of(units * unit, 0.5, 1.0, 0.5, 10, "float64").improvable is improvable


def test_equations_that_vanish_beside_the_others_are_weighed_by_them() -> None:
    """The first unknown is 0, but for rounding of the others."""
    a = np.array([[0.1, 0, 0, 0], [20, 20, 0, 20], [0, 0, 200, 200], [1e-4, -1e-4, 0, 3e-4]])
    x, b = np.array([-3e-18, 0.0375, -0.0125, 0.0125]), np.array([0.0, 1, 0, 0])
    assert judge_by_rows(lambda v: a @ v, sizes_of(sp.csr_array(a)), x, b).verdict is Verdict.GOOD
    x[0] = 1e-9
    assert judge_by_rows(lambda v: a @ v, sizes_of(sp.csr_array(a)), x, b).verdict is Verdict.BAD


def test_sizes_do_not_depend_on_how_rows_and_columns_are_scaled() -> None:
    a = np.random.default_rng(0).standard_normal((6, 6))
    rows, columns = 2.0 ** np.arange(-90, 90, 30), 2.0 ** np.arange(60, -60, -20)
    sizes = sizes_of(sp.csr_array(rows[:, None] * a * columns))
    x = np.linalg.solve(a, np.ones(6))
    found = judge_by_rows(lambda v: rows[:, None] * (a * columns) @ v, sizes, x / columns, rows)
    assert found.verdict is Verdict.GOOD
    x[2] *= 1 + 1e-8
    assert judge_by_rows(lambda v: (rows[:, None] * a * columns) @ v, sizes, x / columns, rows).verdict is Verdict.BAD


def test_single_precision_is_judged_by_its_own_unit() -> None:
    assert verdict_of(1e-6, 1.0, 1.0, 1.0, 10, "float32").verdict is Verdict.GOOD
    assert verdict_of(1e-6, 1.0, 1.0, 1.0, 10, "float64").verdict is Verdict.BAD


@pytest.mark.parametrize("shape", [(50,), (50, 3), (5000,), (5000, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_matrices(shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(0)
    scale = rng.uniform(1, 2, shape[0]).astype(dtype)
    x = rng.standard_normal(shape).astype(dtype)

    def product(v: np.ndarray) -> np.ndarray:
        return (scale if v.ndim == 1 else scale[:, None]) * v

    b = product(x)
    for judged in (
        lambda x: judge(product, lambda: 2.0, x, b),
        lambda x: judge_by_rows(product, sizes_of(sp.diags_array(scale, format="csr")), x, b),
    ):
        assert judged(x).verdict is Verdict.GOOD
        wrong = x.copy()
        wrong[3] *= 1.5
        assert judged(wrong).verdict is Verdict.BAD
        wrong[3] = np.nan
        assert judged(wrong).verdict is Verdict.BAD


def test_small_rows_count_as_much_as_large_ones() -> None:
    rows = np.array([1.0, 1e-20])
    b, wrong = np.array([1.0, 1e-20]), np.array([1.0, 2.0])
    assert judge(lambda v: rows * v, lambda: 1.0, wrong, b).verdict is Verdict.GOOD  # the norm does not see it
    assert judge_by_rows(lambda v: rows * v, (rows, np.ones(2)), wrong, b).verdict is Verdict.BAD


def test_the_worst_column_counts() -> None:
    good, bad = verdict_of(0.0, 1.0, 1.0, 1.0, 2, "float64"), verdict_of(1.0, 1.0, 1.0, 1.0, 2, "float64")
    assert worst([good, bad, good]) == bad
    slow = verdict_of(1e-13, 1.0, 1e-3, 1.0, 2, "float64")
    found = worst([good, slow, verdict_of(1e-6, 1.0, 1e9, 1.0, 2, "float64")])
    assert (found.backward, found.improvable, found.verdict) == (slow.backward, True, Verdict.DOUBTFUL)
    assert worst([]).verdict is Verdict.GOOD


def test_texts_say_what_to_do() -> None:
    bad = verdict_of(1.0, 1.0, 1.0, 1.0, 2, "float64")
    text = explain(bad, 2, "a library")
    assert "2 zero or tiny pivots had to be replaced" in text
    assert "call factorize() again" in text
    assert "not finite" in explain(verdict_of(math.nan, 1.0, 1.0, 1.0, 2, "float64"), 0, "a library")
