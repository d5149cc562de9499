"""Products on the CPU: every package, layout and epilog, the life cycle, the plan cache."""

from __future__ import annotations

import functools
import gc
import logging
import pickle
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from frameworks import HOST, Framework, params
from hypothesis import given, settings
from matmul_cases import (
    AUXILIARY,
    EPILOGS,
    EXTRA,
    Array,
    Case,
    assert_outputs,
    assert_right,
    cases,
    check_shared,
    expected,
    shared,
)

import nvmath
from nvmath._core.errors import UngradedWarning
from nvmath.bindings import _openblas
from nvmath.linalg.advanced import (
    AlgorithmCapabilities,
    InvalidMatmulState,
    Matmul,
    MatmulEpilog,
    MatmulOptions,
    _custom_host,
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


def check(case: Case, framework: Framework, **more: Any) -> None:
    """Compute a case by the one-call function."""
    given = case.make(framework)
    result = matmul(given["a"], given["b"], given.get("c"), **case.arguments(given), **more)
    if isinstance(result, tuple):
        result, outputs = result
        assert_outputs({name: framework.numpy(each) for name, each in outputs.items()}, case)
    assert framework.dtype(result) == case.dtype
    assert_right(framework.numpy(result), case)
    for name, each in case.operands.items():
        if case.inplace and name == "c":
            assert result is given["c"]
        else:
            np.testing.assert_array_equal(framework.numpy(given[name]), each.values.astype(case.dtype_of(name)))


@backends
@settings(max_examples=300)
@given(case=cases(ALL))
def test_any_product(backend: str, case: Case) -> None:
    with using(backend):
        check(case, BY_NUMPY, **ON_CPU)


@backends
@settings(max_examples=200)
@given(case=cases(("float32", "float64", "float16"), epilogs=(*AUXILIARY, *EXTRA)))
def test_any_epilog(backend: str, case: Case) -> None:
    with using(backend):
        check(case, BY_NUMPY, **ON_CPU)


BY_NUMPY = HOST[0]


@pytest.mark.parametrize("framework", params(HOST[1:]))
@settings(max_examples=100)
@given(data=cases(ALL, negative=False, epilogs=(*EPILOGS, *AUXILIARY, *EXTRA)))
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


@settings(max_examples=150)
@given(case=cases(ALL, epilogs=(*EPILOGS, *AUXILIARY)))
def test_planned(case: Case) -> None:
    made, keywords = case.make(BY_NUMPY), case.arguments(case.make(BY_NUMPY))
    inputs = {name: made[name] for name in keywords["epilog_inputs"] or ()}
    with Matmul(
        made["a"], made["b"], made.get("c"), alpha=case.alpha, beta=case.beta, qualifiers=keywords["qualifiers"],
        options=MatmulOptions(inplace=case.inplace), **ON_CPU,
    ) as product:  # fmt: skip
        (algorithm,) = product.plan(epilog=keywords["epilog"], epilog_inputs=inputs or None)
        for chosen in (None, algorithm):
            if case.inplace and chosen is not None:
                made["c"][...] = case.c.values
            result = product.execute(algorithm=chosen)
            if isinstance(result, tuple):
                result, outputs = result
                assert_outputs(outputs, case)
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


@backends
def test_alpha_of_zero_does_not_look_at_the_factors(backend):
    nan, c = np.full((3, 3), np.nan), np.eye(3)
    with using(backend):
        np.testing.assert_array_equal(matmul(nan, nan, alpha=0.0, **ON_CPU), np.zeros((3, 3)))
        np.testing.assert_array_equal(matmul(nan, nan, c, alpha=0.0, beta=2.0, **ON_CPU), 2 * c)
        assert np.isnan(matmul(c, c, alpha=np.nan, **ON_CPU)).all()


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


@backends
@settings(max_examples=200)
@given(drawn=shared())
def test_operands_that_share_memory(backend: str, drawn: Any) -> None:
    with using(backend):
        check_shared(*drawn, functools.partial(matmul, **ON_CPU))


def test_other_result_types(rng):
    a, b = rng.random((4, 5)).astype("f2"), rng.random((5, 3)).astype("f2")
    result = matmul(a, b, options={"result_type": nvmath.CudaDataType.CUDA_R_32F}, **ON_CPU)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, a.astype("f4") @ b.astype("f4"), rtol=1e-6)
    mixed = matmul(rng.random((4, 5)), rng.random((5, 3)), np.ones((4, 3), "f"), beta=1.0, **ON_CPU)
    assert mixed.dtype == np.float32


# --- epilogs ----------------------------------------------------------------------------------------------------------


def test_forward_and_backward(rng):
    """What one product gives goes into another as it is; the gradient is that of PyTorch."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, w, bias = (
        torch.randn(5, 7, dtype=torch.float64),
        torch.randn(9, 5, dtype=torch.float64),
        torch.randn(9, dtype=torch.float64),
    )
    upstream, v = torch.randn(4, 7, dtype=torch.float64), torch.randn(4, 9, dtype=torch.float64)
    for forward, backward, activation in (
        ("RELU_AUX_BIAS", "DRELU_BGRAD", torch.relu),
        ("GELU_AUX_BIAS", "DGELU_BGRAD", lambda z: torch.nn.functional.gelu(z, approximate="tanh")),
    ):
        hidden, aux = matmul(w, x, epilog=forward, epilog_inputs={"bias": bias}, **ON_CPU)
        gradient, sums = matmul(v.T, upstream, epilog=backward, epilog_inputs=aux, **ON_CPU)
        leaf = bias.clone().requires_grad_()
        z = (w @ x + leaf[:, None]).requires_grad_()
        z.retain_grad()
        torch.testing.assert_close(activation(z), hidden)
        (v @ activation(z)).backward(upstream)
        torch.testing.assert_close(gradient, z.grad)
        (key,) = sums
        torch.testing.assert_close(sums[key], leaf.grad)


@pytest.mark.parametrize("order", ["C", "F"])
def test_activations_of_large_results(rng, order):
    """They are done in panels."""
    a, b = np.array(rng.standard_normal((400, 3)), order=order), rng.standard_normal((3, 500))
    for batch in ((), (2,)):
        z = np.broadcast_to(a, (*batch, *a.shape)) @ b
        given = np.array(np.broadcast_to(a, (*batch, *a.shape)))
        np.testing.assert_allclose(matmul(given, b, epilog="tanh", **ON_CPU), np.tanh(z), atol=1e-12)
        np.testing.assert_allclose(
            matmul(given if batch else a, b, epilog="silu", **ON_CPU), z / (1 + np.exp(-z)), atol=1e-12
        )


def test_auxiliary_outputs_beside_out_and_in_place(rng):
    a, b, c = rng.standard_normal((6, 4)), rng.standard_normal((4, 5)), rng.standard_normal((6, 5))
    with Matmul(a, b, **ON_CPU) as product:
        product.plan(epilog="GELU_AUX")
        for out in (np.empty((6, 5)), np.empty((6, 5), order="F")):
            result, outputs = product.execute(out=out)
            assert result is out
            np.testing.assert_allclose(outputs["gelu_aux"][:6], a @ b)
    result, outputs = matmul(a, b, c, beta=1.0, epilog="BGRADB", options={"inplace": True}, **ON_CPU)
    assert result is c
    np.testing.assert_allclose(outputs["bgradb"], b.sum(0))


def test_an_epilog_of_another_plan_leaves_no_trace(rng):
    a, b = rng.standard_normal((6, 4)), rng.standard_normal((4, 5))
    with Matmul(a, b, **ON_CPU) as product:
        product.plan(epilog="BGRADB")
        assert set(product.execute()[1]) == {"bgradb"}
        product.plan()
        np.testing.assert_allclose(product.execute(), a @ b)
        product.plan(epilog="RELU_AUX")
        assert set(product.execute()[1]) == {"relu_aux"}


@pytest.fixture(params=["numba", "no numba"])
def compiler(request, monkeypatch):
    """Functions are compiled, or called."""
    if request.param == "numba":
        pytest.importorskip("numba", reason="numba is not installed")
    else:
        monkeypatch.setattr(_custom_host, "find_spec", lambda name: None)
    nvmath.plan_cache.clear()
    yield request.param
    nvmath.plan_cache.clear()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
def test_a_users_function(compiler, rng, dtype, batch):
    def shifted(value, row, column, scale, table):
        return value * scale[row] + table[row, column] - column

    a, b = rng.standard_normal((*batch, 6, 4)).astype(dtype), rng.standard_normal((4, 5)).astype(dtype)
    real = "float64" if dtype == "complex128" else dtype
    scale, table = (
        rng.standard_normal(6).astype(real),
        rng.standard_normal((*batch[1:], 6, 5) if len(batch) == 2 else (6, 5)).astype(real),
    )
    wide = np.complex128 if dtype == "complex128" else np.float64
    want = (a.astype(wide) @ b.astype(wide)) * scale[:, None] + table - np.arange(5)
    tolerance = {"float16": 1e-2, "float32": 1e-5}.get(dtype, 1e-12)
    for lay in (np.ascontiguousarray, np.asfortranarray):
        inputs = {"scale": np.repeat(scale, 2)[::2], "table": lay(table)}
        for order in (a, np.asfortranarray(a)):
            result = matmul(order, b, epilog=shifted, epilog_inputs=inputs, **ON_CPU)
            assert result.dtype == dtype
            np.testing.assert_allclose(np.asarray(result, wide), want, rtol=tolerance, atol=tolerance)


def test_a_users_function_with_branches(compiler, rng):
    import math

    def clipped(value, row, column):
        if row == column:
            return 0.0
        return math.tanh(value) if value > 0 else value / 4

    a = rng.standard_normal((7, 7))
    z = a @ a
    want = np.where(z > 0, np.tanh(z), z / 4)
    np.fill_diagonal(want, 0)
    np.testing.assert_allclose(matmul(a, a, epilog=clipped, **ON_CPU), want)
    with Matmul(a, a, a.copy(), beta=0.0, options={"inplace": True}, **ON_CPU) as product:
        product.plan(epilog=clipped)
        np.testing.assert_allclose(product.execute(), want)


@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_users_function_of_many_elements(rng, order, num_threads):
    """The loop is divided among threads."""
    pytest.importorskip("numba", reason="numba is not installed")

    def placed(value, row, column):
        return value + 1000 * row + column

    a, b = np.array(rng.random((700, 2)), order=order), rng.random((2, 900))
    want = a @ b + 1000 * np.arange(700)[:, None] + np.arange(900)
    result = matmul(a, b, epilog=placed, execution={"name": "cpu", "num_threads": num_threads})
    np.testing.assert_allclose(result, want)


def test_values_that_a_function_reads_belong_to_the_plan(compiler, rng):
    a, factor = rng.standard_normal((3, 3)), 2.0

    def scaled(value, row, column):
        return factor * value

    np.testing.assert_allclose(matmul(a, a, epilog=scaled, **ON_CPU), 2 * a @ a)
    factor = 3.0
    np.testing.assert_allclose(matmul(a, a, epilog=scaled, **ON_CPU), 3 * a @ a)


def test_a_function_that_does_not_compile(rng):
    pytest.importorskip("numba", reason="numba is not installed")

    def wrong(value, row, column):
        return undefined_name(value)  # noqa: F821

    a = np.eye(3)
    with pytest.raises(ValueError, match=r"The epilog .*wrong.* cannot be compiled"):
        matmul(a, a, epilog=wrong, **ON_CPU)
    with pytest.raises(ValueError, match=r"exactly the keys: 'scale'"):
        matmul(a, a, epilog=lambda value, row, column, scale: value * scale[row], **ON_CPU)


@pytest.mark.parametrize("epilog", ["GELU", "RELU", "SILU", "SIGMOID", "TANH", "GELU_AUX"])
def test_floating_point_errors_are_not_the_callers_business(epilog):
    a = np.array([[1e30, -1e30], [1.0, np.inf]], "f")
    with np.errstate(all="raise"):
        matmul(a, np.eye(2, dtype="f"), epilog=epilog, **ON_CPU)
        matmul(np.array([[6e4, -6e4], [1.0, np.inf]], "f2"), np.eye(2, dtype="f2"), epilog=epilog, **ON_CPU)


def test_autotune_on_the_cpu(rng, capsys):
    a, b, c = rng.random((3, 4)), rng.random((4, 2)), rng.random((3, 2))
    keep = c.copy()
    with Matmul(a, b, c, beta=1.0, options={"inplace": True}, **ON_CPU) as product:
        (algorithm,) = product.plan()
        report = product.autotune(iterations=3, progress=True)
        np.testing.assert_array_equal(c, keep)
        assert [row.algorithm for row in report.rows] == [algorithm]
        assert len(report.rows[0].times_ms) == 3
        assert product.algorithms == (algorithm,)
        assert "round 3 of 3" in capsys.readouterr().err
        assert algorithm.capabilities == AlgorithmCapabilities()
        assert (algorithm.tile, algorithm.stages, algorithm.cluster_shape, algorithm.split_k) == (
            "UNDEFINED",
            "UNDEFINED",
            "AUTO",
            0,
        )
        with pytest.raises(ValueError, match="nothing that can be set"):
            algorithm.split_k = 2
        assert product.applicable_algorithm_ids() == (0,)
        assert repr(pickle.loads(pickle.dumps(algorithm))) == "<Algorithm of the CPU>"
        np.testing.assert_allclose(product.execute(algorithm=algorithm), a @ b + keep)


def test_torch_compile_calls_it(rng):
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def layer(x):
        y = matmul(2 * x, x, epilog="relu", **ON_CPU)
        with Matmul(x, y, **ON_CPU) as product:
            product.plan()
            return product.execute() + 1

    x = torch.randn(4, 4)
    compiled = torch.compile(layer, backend="eager")
    torch.testing.assert_close(compiled(x), layer(x))


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
        (TypeError, "Did you mean 'inplace'|unexpected keyword", lambda: matmul(a, b, options={"in_place": True})),
        (ValueError, "alpha = 'x' cannot be converted", lambda: matmul(a, b, alpha="x")),
        (ValueError, "exactly the keys: 'bias'", lambda: matmul(a, b, epilog=MatmulEpilog.BIAS)),
        (ValueError, "dtype of qualifiers", lambda: matmul(a, b, qualifiers=np.zeros(3))),
        (ValueError, "execution 'gpu'", lambda: matmul(a, b, execution="gpu")),
        (TypeError, "mask", lambda: matmul(np.ma.ones((3, 4)), b)),
    ):
        for _ in range(2):
            with pytest.raises(error, match=message):
                call()


def test_a_masked_array_is_named_wherever_it_is_given():
    with Matmul(np.ones((3, 3)), np.ones((3, 3)), execution="cpu") as product:
        product.plan()
        with pytest.raises(TypeError, match=r"^Operand b: A masked array would lose its mask"):
            product.reset_operands(b=np.ma.ones((3, 3)))
        with pytest.raises(TypeError, match=r"^Operand out: A masked array would lose its mask"):
            product.execute(out=np.ma.ones((3, 3)))


def test_a_masked_array_is_named_by_other_operations_too():
    masked, message = np.ma.ones(3), "A masked array would lose its mask"
    with nvmath.linalg.DirectSolver(np.eye(3), np.ones(3), execution="cpu") as solver:
        solver.plan()
        with pytest.raises(TypeError, match=f"^Operand b: {message}"):
            solver.reset_operands(b=masked)
    a = scipy.sparse.csr_array(np.eye(3))
    with nvmath.sparse.advanced.DirectSolver(a, np.ones(3), execution="cpu") as sparse_solver:  # noqa: SIM117 - it is made before
        with pytest.raises(TypeError, match=f"^Operand b: {message}"):
            sparse_solver.reset_operands(b=masked)
    with nvmath.fft.FFT(np.zeros(3, complex), execution="cpu") as transform:
        transform.plan()
        with pytest.raises(TypeError, match=f"^Operand out: {message}"):
            transform.execute(out=np.ma.zeros(3, complex))
    with pytest.raises(TypeError, match=f"^Operand out: {message}"):
        nvmath.tensor.binary_contraction("ij,jk->ik", np.eye(3), np.eye(3), out=np.ma.ones((3, 3)), execution="cpu")


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
    assert [text.split(" ")[0] for text in texts] == ["beta", "epilog_inputs", "quantization_scales"]


def test_a_logger_of_one_call_hears_of_the_execution(caplog):
    logger, a = logging.getLogger("own"), np.eye(3)
    with caplog.at_level(logging.INFO, "own"):
        matmul(a, a, options={"logger": logger}, **ON_CPU)
    assert "execution took" in caplog.text


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
    case = Case("float64", Array(a, (2, 1)), Array(a, (2, 1)), None, None, 2.0, None, "RELU", (False, False), False)
    np.testing.assert_array_equal(expected(case)[0], np.maximum(2 * a @ a, 0))


def test_the_mask_of_relu_has_the_bit_of_zero():
    """So it is in cuBLASLt (seen with 13.1), and the format is the same on both places."""
    a = np.array([[-1.0], [0.0], [1.0]])
    _, aux = matmul(np.eye(3), a, epilog="relu_aux", execution="cpu")
    assert aux["relu_aux"][0, 0] == 0b110


@pytest.mark.parametrize("tracked", ["a", "bias"])
def test_every_call_says_that_a_gradient_is_lost(tracked):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nvmath.plan_cache.clear()
    given = {"a": torch.eye(3), "bias": torch.ones(3)}
    given[tracked].requires_grad_()
    for _ in range(3):
        with pytest.warns(UngradedWarning, match="gradient") as caught:
            matmul(given["a"], torch.eye(3), epilog="bias", epilog_inputs={"bias": given["bias"]}, execution="cpu")
        assert len(caught) == 1


@pytest.mark.parametrize("epilog", ["drelu_bgrad", "dgelu_bgrad", "bgradb", "bgrada"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_of_many_terms_are_right_to_the_last_digits(epilog, order):
    count = 10**6
    terms = np.array(np.full((count, 2) if epilog == "bgradb" else (2, count), 0.1, "f"), order=order)
    inputs = {
        "drelu_bgrad": {"relu_aux": np.full((16, count), 255, np.uint8)},
        "dgelu_bgrad": {"gelu_aux": np.full((8, count), 20, "f")},  # where GELU is the identity
    }.get(epilog)
    if epilog == "bgradb":
        a, b = np.ones((1, count), "f"), terms
    elif epilog == "bgrada":
        a, b = terms, np.ones((count, 1), "f")
    else:
        a, b = np.ones((2, 1), "f"), terms[:1]
    _, sums = matmul(a, b, epilog=epilog, epilog_inputs=inputs, **ON_CPU)
    np.testing.assert_allclose(sums[epilog].ravel(), np.full(2, count * float(np.float32(0.1))), rtol=3e-7)


def per_element():
    """Functions that mean something else when they get whole arrays."""

    def of_a_row(value, row, column, x):
        return value + x[row].sum()

    def of_an_extent(value, row, column, x):
        return value + len(x[row])

    def of_a_maximum(value, row, column, x):
        return value - x[row].max()

    def of_a_mean(value, row, column, x):
        return value - np.mean(x[row])

    return {
        of_a_row: lambda z, x: z + x.sum(1)[:, None], of_an_extent: lambda z, x: z + x.shape[1],
        of_a_maximum: lambda z, x: z - x.max(1)[:, None], of_a_mean: lambda z, x: z - x.mean(1)[:, None],
    }  # fmt: skip


@pytest.mark.parametrize(("function", "want"), per_element().items(), ids=[each.__name__ for each in per_element()])
def test_a_function_gets_one_element_at_a_time(compiler, rng, function, want):
    a, x = rng.standard_normal((5, 5)), rng.standard_normal((5, 3))
    got = matmul(a, a, epilog=function, epilog_inputs={"x": x}, **ON_CPU)
    np.testing.assert_allclose(got, want(a @ a, x))


def test_a_function_that_catches_what_arrays_raise(rng, monkeypatch):
    def guarded(value, row, column):
        try:
            return float(value)
        except TypeError:
            return -1.0

    monkeypatch.setattr(_custom_host, "find_spec", lambda name: None)
    a = rng.standard_normal((3, 3))
    np.testing.assert_allclose(matmul(a, a, epilog=guarded, **ON_CPU), a @ a)


@pytest.mark.parametrize("function", [lambda value, row, column: value + 1j, lambda value, row, column: [value]])
def test_a_function_that_returns_what_the_result_cannot_hold(compiler, function):
    with pytest.raises(ValueError, match="epilog"):
        matmul(np.eye(3), np.eye(3), epilog=function, **ON_CPU)


@pytest.mark.parametrize("name", ["a_scale", "b_scale", "d_scale", "relu_aux", "gelu_aux", "aux_quantization_scale"])
def test_names_of_operands_are_no_parameters_of_functions(name):
    made = {}
    exec(f"def function(value, row, column, {name}):\n    return value * {name}[row]\n", made)
    with pytest.raises(ValueError, match=rf"parameter '{name}'.*Rename it"):
        matmul(np.eye(3), np.eye(3), epilog=made["function"], epilog_inputs={name: np.ones(3)}, **ON_CPU)


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_reset_with_other_batch_axes_is_refused(name):
    with Matmul(np.eye(3), np.eye(3), **ON_CPU) as product:
        product.plan()
        for shape in ((1, 3, 3), (2, 1, 3, 3)):
            with pytest.raises(ValueError, match="shape of the result must match"):
                product.reset_operands(**{name: np.ones(shape)})
        np.testing.assert_array_equal(product.execute(), np.eye(3))


@pytest.mark.parametrize("inputs", ["x", [1], 5])
def test_inputs_of_an_epilog_come_by_name(inputs):
    a, bias = np.eye(3), np.ones(3)
    with pytest.raises(TypeError, match="epilog_inputs must be None or a dict"):
        matmul(a, a, epilog="bias", epilog_inputs=inputs, **ON_CPU)
    with Matmul(a, a, **ON_CPU) as product:
        with pytest.raises(TypeError, match="epilog_inputs must be None or a dict"):
            product.plan(epilog="bias", epilog_inputs=inputs)
        product.plan(epilog="bias", epilog_inputs={"bias": bias})
        with pytest.raises(TypeError, match="epilog_inputs must be None or a dict"):
            product.reset_operands(epilog_inputs=inputs)


@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_scalars_beyond_the_range_are_refused(name):
    a = np.eye(2, dtype="f")
    given = {"alpha": 1.0, "beta": 1.0, name: -1e300}
    with pytest.raises(ValueError, match=rf"{name} = -1e\+300 is too large for float32"):
        matmul(a, a, a, **given, **ON_CPU)
    assert np.isinf(matmul(a, a, a, **{**given, name: np.inf}, **ON_CPU)).any()
    least = matmul(np.eye(2, dtype=np.int8), np.eye(2, dtype=np.int8), alpha=-(2**31), **ON_CPU)
    assert least[0, 0] == -(2**31)


def test_a_logger_that_is_none():
    with pytest.raises(TypeError, match=r"MatmulOptions\.logger must be a logging\.Logger, not str"):
        matmul(np.eye(2), np.eye(2), options={"logger": "x"}, **ON_CPU)


@pytest.mark.parametrize("iterations", [None, 0, -1, "x", 1.5])
def test_numbers_of_rounds(iterations):
    with Matmul(np.eye(2), np.eye(2), **ON_CPU) as product:
        product.plan()
        with pytest.raises(ValueError, match=r"iterations must be (at least 1|an integer), not"):
            product.autotune(iterations)
