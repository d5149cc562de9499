"""Products of int8 on the CPU: exact, whatever the shape and layout, and modulo 2**32 where int32 ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvmath import CudaDataType
from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

CPU: dict[str, Any] = {"execution": "cpu"}


@settings(max_examples=40)
@given(
    st.tuples(*(st.sampled_from((0, 1, 3, 8, 70)),) * 3),
    st.sampled_from(((), (2,), (2, 3))),
    st.booleans(),
    st.sampled_from((1, -3, 0)),
    st.sampled_from((None, 0, 1, 7)),
    st.integers(0, 1000),
)
def test_every_sum_is_exact(extents, batch, turned, alpha, beta, seed):
    m, n, k = extents
    rng = np.random.default_rng(seed)
    a = rng.integers(-128, 128, (*batch, m, k)).astype(np.int8)
    b = rng.integers(-128, 128, (n, k) if turned else (k, n)).astype(np.int8)
    b = b.T if turned else b
    want = alpha * (a.astype(np.int64) @ b.astype(np.int64))
    c = None
    if beta is not None:
        c = rng.integers(-1000, 1000, (m, n)).astype(np.int32)
        want = want + beta * c.astype(np.int64)
    got = matmul(a, b, c, alpha=alpha, beta=beta, **CPU)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, want)


def test_sums_wrap_around():
    a = np.full((2, 4), 127, np.int8)
    got = matmul(a, a.T, alpha=2**30 + 1, **CPU)
    want = (4 * 127 * 127 * (2**30 + 1) + 2**31) % 2**32 - 2**31
    np.testing.assert_array_equal(got, np.full((2, 2), want))


def test_in_place_and_replaced_operands():
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (4, 6)).astype(np.int8), rng.integers(-9, 9, (6, 5)).astype(np.int8)
    c = np.ones((4, 5), np.int32)
    assert matmul(a, b, c, beta=2, options={"inplace": True}, **CPU) is c
    np.testing.assert_array_equal(c, a.astype(int) @ b.astype(int) + 2)
    with Matmul(a, b, **CPU) as product:
        product.plan()
        product.reset_operands(a=-a, alpha=2)
        np.testing.assert_array_equal(product.execute(), -2 * (a.astype(int) @ b.astype(int)))


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    a = torch.arange(-12, 12, dtype=torch.int8).reshape(4, 6)
    got = matmul(a, a.T, **CPU)
    assert got.dtype is torch.int32
    assert torch.equal(got, (a.int() @ a.T.int()))


def test_refusals():
    a, wide = np.ones((4, 4), np.int8), np.ones((4, 4), np.float32)
    for words, call in (
        ("Unsupported combination of dtypes: a is int8 and b is float32", lambda: matmul(a, a.astype("f"), **CPU)),
        ("c is float32, but a and b are int8", lambda: matmul(a, a, a.astype("f"), beta=1, **CPU)),
        ("RELU is not supported for a result of int32", lambda: matmul(a, a, epilog=MatmulEpilog.RELU, **CPU)),
        ("result of float32 is not supported", lambda: matmul(a, a, options={"result_type": CudaDataType.CUDA_R_32F}, **CPU)),
        ("COMPUTE_32F", lambda: matmul(a, a, options={"compute_type": 68}, **CPU)),
        ("COMPUTE_32I is not supported for operands of float32", lambda: matmul(wide, wide, options={"compute_type": 72}, **CPU)),
        (r"alpha = 1\.5 cannot be converted to int32. Pass an integer", lambda: matmul(a, a, alpha=1.5, **CPU)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call()
