"""Which products cuBLASLt gets as a whole, and which without their epilog since it would round in between."""

from __future__ import annotations

import pytest
from frameworks import row_major

from nvmath._core.dtypes import DTYPES
from nvmath.linalg._matrix import Operand
from nvmath.linalg.advanced import MatmulOptions
from nvmath.linalg.advanced._epilogs import coerce_epilog
from nvmath.linalg.advanced._problem import MatmulProblem, specify
from nvmath.linalg.advanced._split import loses_sums, rounds_between

BIASED = ("BIAS", "RELU_BIAS", "GELU_BIAS", "RELU_AUX_BIAS", "GELU_AUX_BIAS")


def product(
    m: int, n: int, k: int, epilog: str, dtype: str = "float16", *, c: bool = False, gap: int = 0, alignment: int = 16
) -> MatmulProblem:
    kind = DTYPES[dtype]

    def matrix(rows: int, cols: int) -> Operand:
        return Operand((rows, cols), (cols + gap, 1), kind, alignment=alignment)

    inputs = {"bias": Operand((m,), row_major((m,)), kind)} if "BIAS" in epilog else {}
    return specify(
        matrix(m, k), matrix(k, n), matrix(m, n) if c else None, inputs=inputs, options=MatmulOptions(), epilog=coerce_epilog(epilog)
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("epilog", BIASED)
def test_a_bias_is_fused_only_in_groups_of_16_bytes(epilog: str, dtype: str) -> None:
    assert not rounds_between(product(64, 128, 8, epilog, dtype))
    for m, n, k in ((63, 128, 8), (64, 129, 8), (64, 128, 1)):
        assert rounds_between(product(m, n, k, epilog, dtype))
    assert rounds_between(product(64, 128, 8, epilog, dtype, gap=1))
    assert rounds_between(product(64, 128, 8, epilog, dtype, alignment=2))


@pytest.mark.parametrize("epilog", BIASED)
def test_it_is_not_fused_when_c_is_added(epilog: str) -> None:
    assert rounds_between(product(64, 64, 64, epilog, c=True))


@pytest.mark.parametrize("epilog", ["DEFAULT", "RELU", "RELU_AUX"])
def test_without_a_bias_nothing_is_rounded_twice(epilog: str) -> None:
    assert not rounds_between(product(63, 5, 3, epilog, c=True))


@pytest.mark.parametrize("epilog", BIASED)
def test_single_precision_is_not_concerned(epilog: str) -> None:
    assert not rounds_between(product(63, 5, 3, epilog, "float32"))


@pytest.mark.parametrize("epilog", ["BGRADA", "BGRADB"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_of_the_factors_of_a_single_row_or_column_are_our_own(epilog: str, dtype: str) -> None:
    assert loses_sums(product(1, 17, 5, epilog, dtype))
    assert loses_sums(product(17, 1, 5, epilog, dtype))
    assert not loses_sums(product(2, 17, 5, epilog, dtype))
    assert not loses_sums(product(1, 17, 5, epilog, "float32"))
    assert not loses_sums(product(1, 17, 5, "BIAS", dtype))
