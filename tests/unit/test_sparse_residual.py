"""The judgement of a solution: pure functions of numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nvmath.sparse.advanced._residual import Verdict, explain, judge, judge_by_rows, verdict_of, worst


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
    ],
)
def test_verdicts(residual: float, right: float, solution: float, norm: float, expected: Verdict) -> None:
    found = verdict_of(residual, right, solution, norm, 10, "float64")
    assert found.verdict is expected
    assert found.refused == (expected is Verdict.BAD)


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
        lambda x: judge_by_rows(product, lambda v: abs(product(v)), x, b),
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
    assert judge_by_rows(lambda v: rows * v, lambda v: rows * abs(v), wrong, b).verdict is Verdict.BAD


def test_the_worst_column_counts() -> None:
    good, bad = verdict_of(0.0, 1.0, 1.0, 1.0, 2, "float64"), verdict_of(1.0, 1.0, 1.0, 1.0, 2, "float64")
    assert worst([good, bad, good]) is bad
    assert worst([]).verdict is Verdict.GOOD


def test_texts_say_what_to_do() -> None:
    bad = verdict_of(1.0, 1.0, 1.0, 1.0, 2, "float64")
    text = explain(bad, 2, "a library")
    assert "2 zero or tiny pivots had to be replaced" in text
    assert "call factorize() again" in text
    assert "not finite" in explain(verdict_of(math.nan, 1.0, 1.0, 1.0, 2, "float64"), 0, "a library")
