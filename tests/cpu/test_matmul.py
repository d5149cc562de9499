"""Products on the CPU: every package, layout and epilog, the life cycle, the plan cache."""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from frameworks import HOST, Framework, params
from hypothesis import given, settings
from matmul_cases import Case, assert_right, cases, expected

import nvmath
from nvmath.bindings import _openblas
from nvmath.linalg.advanced import (
    InvalidMatmulState,
    Matmul,
    MatmulEpilog,
    MatmulOptions,
    matmul,
    matrix_qualifiers_dtype,
)

ALL = ("float32", "float64", "complex64", "complex128")
ON_CPU = {"execution": "cpu"}


backends = pytest.mark.parametrize("backend", ["openblas", "numpy"])


@contextmanager
def using(backend: str) -> Iterator[None]:
    """NumPy's OpenBLAS, or numpy.matmul alone."""
    if backend == "openblas" and not _openblas.present():
        pytest.skip("this NumPy brings no OpenBLAS")
    nvmath.plan_cache.clear()
    with pytest.MonkeyPatch.context() as patch:
        if backend == "numpy":
            patch.setattr(_openblas, "present", lambda: False)
        yield
    nvmath.plan_cache.clear()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def qualifiers(case: Case) -> Any:
    if not any(case.conj):
        return None
    made = np.zeros(3, matrix_qualifiers_dtype)
    made["is_conjugate"] = (*case.conj, 0)
    return made


def one_call(case: Case, framework: Framework, **more: Any) -> Any:
    """Compute a case by the one-call function; return the result and the operands."""
    given = {
        name: framework.array(each.values, case.dtype, each.strides, each.offset)
        for name, each in case.operands.items()
    }
    keywords: dict[str, Any] = {"qualifiers": qualifiers(case)}
    if case.alpha is not None:
        keywords["alpha"] = case.alpha
    if case.beta is not None:
        keywords["beta"] = case.beta
    if case.epilog:
        keywords["epilog"] = MatmulEpilog[case.epilog]
    if case.bias is not None:
        keywords["epilog_inputs"] = {"bias": given["bias"]}
    if case.inplace:
        keywords["options"] = {"inplace": True}
    return matmul(given["a"], given["b"], given.get("c"), **keywords, **more), given


def check(case: Case, framework: Framework, **more: Any) -> None:
    result, given = one_call(case, framework, **more)
    assert framework.dtype(result) == case.dtype
    assert_right(framework.numpy(result), case)
    for name, each in case.operands.items():
        if case.inplace and name == "c":
            assert result is given["c"]
        else:
            np.testing.assert_array_equal(framework.numpy(given[name]), each.values.astype(case.dtype))


@backends
@settings(max_examples=300)
@given(case=cases(ALL))
def test_any_product(backend: str, case: Case) -> None:
    with using(backend):
        check(case, BY_NUMPY, **ON_CPU)


BY_NUMPY = HOST[0]


@pytest.mark.parametrize("framework", params(HOST[1:]))
@settings(max_examples=100)
@given(data=cases(ALL, negative=False))
def test_other_packages(framework: Framework, data: Case) -> None:
    check(data, framework, **ON_CPU)


@settings(max_examples=100)
@given(case=cases(("float16",)))
def test_half(case: Case) -> None:
    check(case, BY_NUMPY, **ON_CPU)


@settings(max_examples=60)
@given(case=cases(("bfloat16",), negative=False))
def test_bfloat16(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def tensor(array: Any) -> Any:
        flat = torch.from_numpy(np.ascontiguousarray(array.values)).to(torch.bfloat16)
        made = torch.zeros(
            1 + sum(s * (n - 1) for s, n in zip(array.strides, flat.shape, strict=True) if n), dtype=torch.bfloat16
        )
        return made.as_strided(flat.shape, array.strides).copy_(flat) if flat.numel() else flat

    made = {name: tensor(each) for name, each in case.operands.items()}
    result = matmul(
        made["a"], made["b"], made.get("c"), alpha=case.alpha, beta=case.beta,
        epilog=MatmulEpilog[case.epilog] if case.epilog else None,
        epilog_inputs={"bias": made["bias"]} if case.bias is not None else None, options={"inplace": case.inplace}, **ON_CPU,
    )  # fmt: skip
    assert result.dtype is torch.bfloat16
    assert_right(result.double().numpy(), case)


@settings(max_examples=100)
@given(case=cases(ALL))
def test_planned(case: Case) -> None:
    made = {
        name: BY_NUMPY.array(each.values, case.dtype, each.strides, each.offset) for name, each in case.operands.items()
    }
    with Matmul(
        made["a"], made["b"], made.get("c"), alpha=case.alpha, beta=case.beta, qualifiers=qualifiers(case),
        options=MatmulOptions(inplace=case.inplace), **ON_CPU,
    ) as product:  # fmt: skip
        product.plan(
            epilog=MatmulEpilog[case.epilog] if case.epilog else None,
            epilog_inputs={"bias": made["bias"]} if case.bias is not None else None,
        )
        result = product.execute()
        assert (result is made.get("c")) == case.inplace
        assert_right(np.asarray(result), case)


# --- operands ---------------------------------------------------------------------------------------------------------


@backends
def test_expanded_operands(backend, rng):
    a = np.broadcast_to(rng.random((1, 4)), (3, 4))
    b = np.lib.stride_tricks.sliding_window_view(rng.random(9), 5)[:4]
    c = np.broadcast_to(rng.random(5), (3, 5))
    with using(backend):
        np.testing.assert_allclose(matmul(a, b, **ON_CPU), a @ b)
        np.testing.assert_allclose(matmul(a, b, c, beta=2.0, **ON_CPU), a @ b + 2 * c)


def test_a_sliced_batch_of_one(rng):
    x, b = rng.random((4, 8, 3, 5)), rng.random((5, 2))
    np.testing.assert_allclose(matmul(x[:, :1], b, **ON_CPU), x[:, :1] @ b)


def test_foreign_byte_order_and_odd_bytes(rng):
    a, b = rng.random((4, 5)), rng.random((5, 3))
    np.testing.assert_allclose(matmul(a.astype(">f8"), b, **ON_CPU), a @ b)
    raw = np.zeros(a.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(4, 5)
    raw[...] = a
    np.testing.assert_allclose(matmul(raw, b, **ON_CPU), a @ b)
    fields = np.zeros((4, 5), [("x", "f4"), ("y", "f8")])["y"]
    fields[...] = a
    np.testing.assert_allclose(matmul(fields, b, **ON_CPU), a @ b)
    with pytest.raises(ValueError, match="c cannot be overwritten"):
        matmul(b.T @ b, b.T @ b, np.zeros((3, 3), ">f8"), beta=1.0, options={"inplace": True}, **ON_CPU)


def test_c_is_left_alone_unless_in_place(rng):
    a, c = rng.random((4, 4)), rng.random((4, 4))
    keep = c.copy()
    matmul(a, a, c, beta=1.0, **ON_CPU)
    np.testing.assert_array_equal(c, keep)
    result = matmul(a, a, c, beta=1.0, options={"inplace": True}, **ON_CPU)
    assert result is c
    np.testing.assert_allclose(c, a @ a + keep)


@pytest.mark.parametrize("cached", [False, True])
def test_in_place_over_an_operand(rng, cached, fresh_cache):
    if cached:
        e = rng.random((4, 4))
        matmul(e.copy(), e, rng.random((4, 4)), beta=1.0, options={"inplace": True}, **ON_CPU)
    d = rng.random((4, 4))
    want = d @ d + d
    assert matmul(d, d, d, beta=1.0, options={"inplace": True}, **ON_CPU) is d
    np.testing.assert_allclose(d, want)
    wide = rng.random((4, 8))
    left, right = wide[:, :4], wide[:, 4:]
    want = left @ left
    matmul(left, left, right, beta=0.0, options={"inplace": True}, **ON_CPU)
    np.testing.assert_allclose(right, want)
    e = rng.random((4, 4))
    matmul(rng.random((4, 4)), e, e.T, beta=1.0, options={"inplace": True}, **ON_CPU)


def test_in_place_over_a_read_only_array(fresh_cache, rng):
    a, c = rng.random((3, 3)), np.zeros((3, 3))
    matmul(a, a, c, beta=1.0, options={"inplace": True}, **ON_CPU)
    c.flags.writeable = False
    with pytest.raises(ValueError, match="c is read-only"):
        matmul(a, a, c, beta=1.0, options={"inplace": True}, **ON_CPU)
    np.testing.assert_allclose(matmul(c, a, c, beta=1.0, **ON_CPU), c @ a + c)


@backends
def test_beta_of_zero_does_not_read_c(backend):
    a = np.eye(3)
    nan = np.full((3, 3), np.nan)
    with using(backend):
        np.testing.assert_array_equal(matmul(a, a, nan, beta=0.0, **ON_CPU), a)
        np.testing.assert_array_equal(matmul(a, a, nan, beta=0.0, options={"inplace": True}, **ON_CPU), a)


def test_relu_keeps_nan():
    for n in (1, 2, 3, 5, 8, 17, 33):
        result = matmul(np.eye(n, dtype="f"), np.full((n, n), np.nan, "f"), epilog=MatmulEpilog.RELU, **ON_CPU)
        assert np.isnan(result).all()


def test_lazy_conjugates(rng):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b = torch.randn(3, 5, dtype=torch.complex128), torch.randn(5, 2, dtype=torch.complex128)
    torch.testing.assert_close(matmul(a.conj(), b, **ON_CPU), a.conj().resolve_conj() @ b)
    torch.testing.assert_close(matmul(b.mH, a.mH, **ON_CPU), b.mH @ a.mH)
    q = np.zeros(3, matrix_qualifiers_dtype)
    q["is_conjugate"][0] = 1
    torch.testing.assert_close(matmul(a.conj(), b, qualifiers=q, **ON_CPU), a @ b)
    assert list(q["is_conjugate"]) == [1, 0, 0]
    c = torch.randn(3, 2, dtype=torch.complex128)
    torch.testing.assert_close(matmul(a, b, c.conj(), beta=1.0, **ON_CPU), a @ b + c.conj())
    negative = torch.complex(torch.zeros(3, 5).double(), torch.ones(3, 5).double()).conj().imag
    assert negative.is_neg()
    torch.testing.assert_close(matmul(negative, torch.ones(5, 2).double(), **ON_CPU), -5 * torch.ones(3, 2).double())


def test_float32_is_float32(rng):
    a, b = rng.standard_normal((64, 512)).astype("f"), rng.standard_normal((512, 64)).astype("f")
    reference = a.astype(float) @ b
    assert np.linalg.norm(matmul(a, b, **ON_CPU) - reference) / np.linalg.norm(reference) < 1e-6


def test_many_batches():
    a, b = np.ones((65537, 2, 3), "f"), np.ones((65537, 3, 2), "f")
    assert (matmul(a, b, **ON_CPU) == 3).all()


def test_other_result_types(rng):
    a, b = rng.random((4, 5)).astype("f2"), rng.random((5, 3)).astype("f2")
    result = matmul(a, b, options={"result_type": nvmath.CudaDataType.CUDA_R_32F}, **ON_CPU)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, a.astype("f4") @ b.astype("f4"), rtol=1e-6)
    mixed = matmul(rng.random((4, 5)), rng.random((5, 3)), np.ones((4, 3), "f"), beta=1.0, **ON_CPU)
    assert mixed.dtype == np.float32


# --- wrong use --------------------------------------------------------------------------------------------------------


def test_errors():
    a, b = np.ones((3, 4)), np.ones((4, 2))
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for error, message, call in (
        (ValueError, "value for beta must be provided", lambda: matmul(a, b, np.ones((3, 2)))),
        (ValueError, "value for beta must be provided", lambda: Matmul(a, b, np.ones((3, 2)))),
        (TypeError, "one array package", lambda: matmul(a, torch.ones(4, 2))),
        (
            TypeError,
            "package mismatch",
            lambda: matmul(a, b, epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": torch.ones(3)}),
        ),
        (ValueError, "not an array that nvmath knows", lambda: matmul(a, [[1.0]])),
        (TypeError, "options must be None", lambda: matmul(a, b, options=3)),
        (TypeError, "unexpected keyword", lambda: matmul(a, b, options={"in_place": True})),
        (ValueError, "alpha = 'x' cannot be converted", lambda: matmul(a, b, alpha="x")),
        (ValueError, "exactly the keys: 'bias'", lambda: matmul(a, b, epilog=MatmulEpilog.BIAS)),
        (ValueError, "dtype of qualifiers", lambda: matmul(a, b, qualifiers=np.zeros(3))),
        (ValueError, "execution 'gpu'", lambda: matmul(a, b, execution="gpu")),
        (NotImplementedError, "algorithm", lambda: matmul(a, b, algorithm=1)),
        (TypeError, "mask", lambda: matmul(np.ma.ones((3, 4)), b)),
    ):
        for _ in range(2):
            with pytest.raises(error, match=message):
                call()


def test_a_masked_array_does_not_meet_the_plan_of_another(fresh_cache):
    a, b = np.ones((3, 4)), np.ones((4, 2))
    matmul(a, b, **ON_CPU)
    with pytest.raises(TypeError, match="mask"):
        matmul(np.ma.masked_array(a, mask=True), b, **ON_CPU)


def test_warnings_in_the_log(caplog):
    a = np.eye(3)
    with caplog.at_level(logging.WARNING):
        matmul(a, a, beta=2.0, **ON_CPU)
        matmul(a, a, beta=2.0, **ON_CPU)
        matmul(a, a, epilog_inputs={"bias": a[0]}, **ON_CPU)
        matmul(a, a, quantization_scales={"a": 1.0}, **ON_CPU)
    texts = [record.getMessage() for record in caplog.records]
    assert [text.split(" ")[0] for text in texts] == ["beta", "beta", "epilog_inputs", "quantization_scales"]


def test_the_information_log(caplog):
    a = np.eye(3)
    with caplog.at_level(logging.INFO), Matmul(a, a, **ON_CPU) as product:
        product.plan(epilog=MatmulEpilog.RELU)
        product.execute()
    text = caplog.text
    for word in (
        "Specified: matmul of float64 (3, 3) x (3, 3)",
        "The planning took",
        "Executing",
        "epilog RELU",
        "blocks",
        "freed",
    ):
        assert word in text


# --- the life cycle ---------------------------------------------------------------------------------------------------


def test_states(rng):
    a, b = rng.random((3, 4)), rng.random((4, 2))
    product = Matmul(a, b, **ON_CPU)
    with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
        product.execute()
    product.plan()
    np.testing.assert_allclose(product.execute(), a @ b)
    product.release_operands()
    product.release_operands()
    with pytest.raises(RuntimeError, match="released"):
        product.execute()
    with pytest.raises(RuntimeError, match="released"):
        product.plan()
    with pytest.raises(ValueError, match="all required operands must be provided; b is missing"):
        product.reset_operands(a=a)
    with pytest.raises(ValueError, match="all required operands must be provided"):
        product.reset_operands(alpha=2.0)
    product.reset_operands(a=2 * a, b=b)
    np.testing.assert_allclose(product.execute(), 2 * a @ b)
    product.free()
    product.free()
    for call in (product.plan, product.execute, product.release_operands, product.autotune, product.applicable_algorithm_ids,
                 lambda: product.reset_operands(a=a), lambda: product.reset_operands(alpha=1.0), product.__enter__):  # fmt: skip
        with pytest.raises(InvalidMatmulState, match="freed"):
            call()


def test_resets(rng):
    a, b, c, bias = rng.random((3, 4)), rng.random((4, 2)), rng.random((3, 2)), rng.random(3)
    with Matmul(a, b, c, alpha=2.0, beta=1.0, **ON_CPU) as product:
        product.plan(epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": bias})

        def holds(want):
            np.testing.assert_allclose(product.execute(), want)

        holds(2 * a @ b + c + bias[:, None])
        product.reset_operands(b=-b)
        holds(-2 * a @ b + c + bias[:, None])
        product.reset_operands(alpha=1.0, beta=0.5)
        holds(-a @ b + 0.5 * c + bias[:, None])
        product.reset_operands(epilog_inputs={"bias": 2 * bias})
        holds(-a @ b + 0.5 * c + 2 * bias[:, None])
        product.reset_operands(a=2 * a, c=2 * c, alpha=0.5, epilog_inputs={"bias": bias})
        holds(-a @ b + c + bias[:, None])
        product.reset_operands_unchecked(b=b)
        holds(a @ b + c + bias[:, None])
        product.reset_operands_unchecked(beta=0.0)
        holds(a @ b + bias[:, None])
        a *= 2  # held by reference? no: the present a is a copy
        holds(a / 2 @ b + bias[:, None])
        product.release_operands()
        with pytest.raises(ValueError, match="bias is missing"):
            product.reset_operands(a=a, b=b, c=c)
        product.reset_operands(a=a, b=b, c=c, epilog_inputs={"bias": bias})
        holds(0.5 * a @ b + bias[:, None])


def test_an_edit_of_an_operand_shows(rng):
    a, b = rng.random((3, 4)), rng.random((4, 2))
    with Matmul(a, b, **ON_CPU) as product:
        product.plan()
        a[...] = 1
        np.testing.assert_allclose(product.execute(), np.ones((3, 4)) @ b)


def test_resets_that_are_refused(rng):
    a, b = rng.random((3, 4)), rng.random((4, 2))
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with Matmul(a, b, **ON_CPU) as product:
        product.plan()
        for error, message, keywords in (
            (ValueError, "at least one operand", {}),
            (ValueError, "extents must match", {"a": rng.random((2, 4))}),
            (ValueError, "dtype", {"b": b.astype("f")}),
            (TypeError, "torch", {"a": torch.ones(3, 4)}),
            (ValueError, "no operand c at construction", {"c": np.ones((3, 2))}),
            (ValueError, "unknown name 'bias'", {"epilog_inputs": {"bias": a}}),
            (ValueError, "alpha", {"a": 2 * a, "alpha": "x"}),
            (ValueError, "K extents must match", {"b": rng.random((5, 2))}),
        ):
            with pytest.raises(error, match=message):
                product.reset_operands(**keywords)
        np.testing.assert_allclose(product.execute(), a @ b)


def test_other_strides_after_a_reset_keep_the_layout_of_the_result(rng):
    a, b = rng.random((3, 4)), rng.random((4, 2))
    with Matmul(a, b, **ON_CPU) as product:
        product.plan()
        assert product.execute().flags.c_contiguous
        product.reset_operands(a=np.asfortranarray(a), b=np.repeat(b, 2, 1)[:, ::2])
        result = product.execute()
        assert result.flags.c_contiguous
        np.testing.assert_allclose(result, a @ b)


def test_another_plan(rng):
    a, b, bias = rng.standard_normal((3, 4)), rng.random((4, 2)), rng.random(3)
    with Matmul(a, b, **ON_CPU) as product:
        product.plan(epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": bias})
        np.testing.assert_allclose(product.execute(), np.maximum(a @ b + bias[:, None], 0))
        product.plan()
        result = product.execute()
        np.testing.assert_allclose(result, a @ b)
        assert result.flags.c_contiguous
        with pytest.raises(ValueError, match="bias must match"):
            product.plan(epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": b})
        with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
            product.execute()
        product.plan(epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": bias})
        np.testing.assert_allclose(product.execute(), a @ b + bias[:, None])


def test_in_place_again_and_again(rng):
    a, c = np.eye(3), rng.random((3, 3))
    keep = c.copy()
    with Matmul(a, a, c, beta=1.0, options={"inplace": True}, **ON_CPU) as product:
        product.plan()
        for count in range(1, 4):
            assert product.execute() is c
            np.testing.assert_allclose(c, keep + count * a)
        other = np.zeros((3, 3))
        product.reset_operands(c=other)
        assert product.execute() is other
        np.testing.assert_array_equal(other, a)
        product.reset_operands(a=other)
        assert product.execute() is other


def test_out(rng):
    a, b = rng.random((3, 4)), rng.random((4, 2))
    with Matmul(a, b, **ON_CPU) as product:
        product.plan()
        for out in (np.empty((3, 2)), np.empty((3, 2), order="F"), np.empty((6, 4))[::2, ::2]):
            assert product.execute(out=out) is out
            np.testing.assert_allclose(out, a @ b)
        with pytest.raises(ValueError, match="out must be"):
            product.execute(out=np.empty((2, 3)))


def test_what_is_not_there_yet():
    a = np.eye(3)
    with Matmul(a, a, **ON_CPU) as product:
        calls = (
            product.autotune, product.applicable_algorithm_ids, lambda: product.algorithms,
            lambda: product.plan(algorithms=[1]), lambda: product.plan(epilog=MatmulEpilog.RELU_AUX),
            lambda: product.execute(algorithm=1),
        )  # fmt: skip
        for call in calls:
            with pytest.raises(NotImplementedError, match=r"not supported by nvmath\.linalg\.advanced yet"):
                call()


def test_threads_of_the_library(rng):
    if not _openblas.present():
        pytest.skip("this NumPy brings no OpenBLAS")
    before = _openblas.get_num_threads()
    a = rng.random((64, 64))
    np.testing.assert_allclose(matmul(a, a, execution={"name": "cpu", "num_threads": 1}), a @ a)
    assert _openblas.get_num_threads() == before


# --- the plan cache ---------------------------------------------------------------------------------------------------


def test_a_kept_plan_serves_other_scalars(fresh_cache, rng):
    a, c = rng.random((3, 3)), rng.random((3, 3))
    for alpha, beta in ((None, 1.0), (2.0, 0.5), (0.0, 0.0), (None, 2.0)):
        want = (1.0 if alpha is None else alpha) * a @ a + beta * c
        np.testing.assert_allclose(matmul(a, a, c, alpha=alpha, beta=beta, **ON_CPU), want)
    np.testing.assert_allclose(matmul(a, a, alpha=3.0, **ON_CPU), 3 * a @ a)
    np.testing.assert_allclose(matmul(a, a, **ON_CPU), a @ a)
    info = nvmath.plan_cache.info()
    assert (info.entries, info.hits) == (2, 4)


def test_what_makes_another_plan(fresh_cache, rng):
    a = rng.random((4, 4))
    q = np.zeros(3, matrix_qualifiers_dtype)
    calls = (
        {}, {"epilog": MatmulEpilog.RELU}, {"epilog": MatmulEpilog.BIAS, "epilog_inputs": {"bias": a[0]}},
        {"epilog": MatmulEpilog.BIAS, "epilog_inputs": {"bias": a[:, 0]}}, {"options": {"compute_type": 71}}, {"qualifiers": q},
    )  # fmt: skip
    for _ in range(3):
        for keywords in calls:
            matmul(a, a, **keywords, **ON_CPU)
    matmul(a.T, a, **ON_CPU)
    matmul(a.astype("f"), a.astype("f"), **ON_CPU)
    info = nvmath.plan_cache.info()
    assert (info.entries, info.hits) == (len(calls) + 2, 2 * len(calls))


def test_a_logger_or_an_allocator_is_not_kept(fresh_cache):
    a = np.eye(3)
    matmul(a, a, options={"logger": logging.getLogger("mine")}, **ON_CPU)
    assert nvmath.plan_cache.info().entries == 0


def test_a_kept_plan_holds_no_operand(fresh_cache):
    class Mine(np.ndarray):
        pass

    a = np.eye(3).view(Mine)
    result = matmul(a, a, **ON_CPU)
    assert type(result) is np.ndarray
    ref = weakref.ref(a)
    del a
    gc.collect()
    assert ref() is None


def test_many_threads(fresh_cache, rng):
    operands = [rng.random((n, n)) for n in range(1, 9)]
    wrong = []

    def work():
        for _ in range(50):
            for a in operands:
                if not np.allclose(matmul(a, a, alpha=2.0, **ON_CPU), 2 * a @ a):
                    wrong.append(a.shape)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_oracle():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    from matmul_cases import Array

    case = Case("float64", Array(a, (2, 1)), Array(a, (2, 1)), None, None, 2.0, None, "RELU", (False, False), False)
    np.testing.assert_array_equal(expected(case)[0], np.maximum(2 * a @ a, 0))
