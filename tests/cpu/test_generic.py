"""Generic products on the CPU: every qualifier on both sides, every layout and package, against dense matrices in long precision."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from frameworks import HOST, Framework, params, storage
from generic_cases import CREATE, Case, Kind, assert_right, cases, check, expected, made
from hypothesis import given, settings
from hypothesis import strategies as st
from matmul_cases import layouts

import nvmath
from nvmath._core.options import available_threads
from nvmath.bindings import _load, _openblas
from nvmath.linalg import Matmul, MatmulOptions, _gemm, matmul, matrix_qualifiers_dtype

ALL = ("float32", "float64", "complex64", "complex128")
BY_NUMPY = HOST[0]

backends = pytest.mark.parametrize("backend", ["openblas", "installed", "numpy"])


@contextmanager
def using(backend: str) -> Iterator[None]:
    """NumPy's OpenBLAS, the BLAS that is installed, or numpy.matmul alone."""
    if backend == "openblas" and not _openblas.present():
        pytest.skip("this NumPy brings no OpenBLAS")
    if backend == "installed" and _load.find_library("blas") is None:
        pytest.skip("no BLAS (MKL, NVPL, OpenBLAS) is installed")
    nvmath.plan_cache.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_openblas, "present", lambda: backend == "openblas")
        if backend == "numpy":
            patch.setattr(_load, "find_library", lambda name: None)
        assert (_gemm.host_library().module is None) == (backend == "numpy")
        yield
    nvmath.plan_cache.clear()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def qualified(*kinds: Kind) -> np.ndarray:
    return np.array([kind.qualifier for kind in kinds], matrix_qualifiers_dtype)


@backends
@settings(max_examples=400)
@given(case=cases(ALL))
def test_any_product(backend: str, case: Case) -> None:
    with using(backend):
        check(case, BY_NUMPY)


@pytest.mark.parametrize("framework", params(HOST[1:]))
@settings(max_examples=100)
@given(data=st.data())
def test_other_packages(framework: Framework, data: Any) -> None:
    check(data.draw(cases(ALL, negative=framework.negative)), framework)


@backends
@settings(max_examples=100)
@given(case=cases(("float16",)))
def test_half(backend: str, case: Case) -> None:
    with using(backend):
        check(case, BY_NUMPY)


@backends
@settings(max_examples=60)
@given(case=cases(("bfloat16",), negative=False))
def test_bfloat16(backend: str, case: Case) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def tensor(array: Any) -> Any:
        flat = torch.from_numpy(np.array(array.values, order="C")).to(torch.bfloat16)
        room = 1 + sum(s * (n - 1) for s, n in zip(array.strides, flat.shape, strict=True) if n)
        holder = torch.zeros(room, dtype=torch.bfloat16)
        return holder.as_strided(flat.shape, array.strides).copy_(flat) if flat.numel() else flat

    operands = [tensor(each) for each in case.operands.values()]
    with using(backend):
        result = matmul(*operands, **case.keywords())
    assert result.dtype is torch.bfloat16
    assert_right(result.double().numpy(), case)


@settings(max_examples=150)
@given(case=cases(ALL), data=st.data())
def test_planned_and_into_an_array(case: Case, data: Any) -> None:
    operands = made(case, BY_NUMPY)
    with Matmul(*operands.values(), **case.keywords()) as product:
        product.plan()
        result = product.execute()
        assert (result is operands.get("c")) == case.inplace
        assert_right(np.asarray(result), case)
        if not case.inplace:
            assert_right(np.asarray(product.execute_unchecked()), case)
            nothing = np.full(result.shape, np.nan)
            out = BY_NUMPY.array(nothing, case.dtype, data.draw(layouts(result.shape, True)))
            assert product.execute(out=out) is out
            assert_right(out, case)


@settings(max_examples=60)
@given(case=cases(ALL))
def test_the_memory_between_the_elements_is_left_alone(case: Case) -> None:
    memory = {name: storage(each.values, case.dtype, each.strides, each.offset) for name, each in case.operands.items()}
    before = {name: each.flat.copy() for name, each in memory.items()}
    matmul(*(each.view() for each in memory.values()), **case.keywords())
    for name, each in memory.items():
        if case.inplace and name == "c":
            each.view()[...] = np.nan
            before_c = storage(np.full_like(each.view(), np.nan), case.dtype, case.c.strides, case.c.offset)
            assert np.isnan(each.flat).sum() == np.isnan(before_c.flat).sum()
        else:
            np.testing.assert_array_equal(each.flat, before[name])


# --- what structure means -----------------------------------------------------------------------------------------------


@backends
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("order", ["C", "F", "transposed view"])
@pytest.mark.parametrize("kind", ["sy", "he"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("conj", [False, True])
def test_one_triangle_and_a_real_diagonal(backend, side, order, kind, upper, conj, rng):
    """R62: the other triangle, the imaginary diagonal, and the difference of symmetric and Hermitian."""
    base = rng.random((4, 4)) + 1j * rng.random((4, 4))
    other = rng.random((4, 3)) + 1j * rng.random((4, 3))
    half = np.triu(base, 1) if upper else np.tril(base, -1)
    diagonal = np.diag(np.diag(base).real if kind == "he" else np.diag(base))
    full = half + (half.conj() if kind == "he" else half).T + diagonal
    full = full.conj() if conj else full
    a = np.where(half != 0, base, 9 + 9j) + np.diag(np.diag(base) - 9 - 9j)
    a = np.asfortranarray(a) if order == "F" else np.ascontiguousarray(a.T).T if order == "transposed view" else a
    special, general = Kind(kind, conj, upper), Kind()
    with using(backend):
        if side == "left":
            np.testing.assert_allclose(matmul(a, other, qualifiers=qualified(special, general)), full @ other)
        else:
            np.testing.assert_allclose(matmul(other.T, a, qualifiers=qualified(general, special)), other.T @ full)


@backends
@pytest.mark.parametrize("kind", list(CREATE))
def test_beta_and_alpha_count_for_every_kind(backend, kind, rng):
    a = rng.random(3 if kind == "dg" else (3, 3))
    b, c = rng.random((3, 2)), rng.random((3, 2))
    plain = Kind(kind).dense(a) @ b
    q = qualified(Kind(kind), Kind(), Kind())
    with using(backend):
        np.testing.assert_allclose(matmul(a, b, c, alpha=2.0, beta=0.5, qualifiers=q), 2 * plain + 0.5 * c)
        keep = c.copy()
        assert matmul(a, b, c, alpha=2.0, beta=0.5, qualifiers=q, options={"inplace": True}) is c
        np.testing.assert_allclose(c, 2 * plain + 0.5 * keep)


@backends
@pytest.mark.parametrize("kind", list(CREATE))
def test_nothing_is_read_that_is_multiplied_by_zero(backend, kind):
    extent = 3
    nan = np.full((extent, extent), np.nan)
    a = np.ones(extent) if kind == "dg" else np.eye(extent)
    q = qualified(Kind(kind), Kind(), Kind())
    for options in ({}, {"inplace": True}):
        with using(backend):
            c = nan.copy()
            np.testing.assert_array_equal(
                matmul(a, np.eye(extent), c, beta=0.0, qualifiers=q, options=options), np.eye(extent)
            )
            c = np.ones((extent, extent))
            got = matmul(np.full_like(a, np.nan), nan, c, alpha=0.0, beta=2.0, qualifiers=q, options=options)
            np.testing.assert_array_equal(got, np.full((extent, extent), 2.0))


@backends
def test_a_diagonal_does_not_spread_what_is_not_finite(backend):
    b = np.array([[np.inf, 1.0], [2.0, np.nan], [3.0, 4.0]])
    with using(backend):
        got = matmul(np.array([2.0, 3.0, 4.0]), b, qualifiers=qualified(Kind("dg"), Kind()))
    np.testing.assert_array_equal(got, np.array([[np.inf, 2.0], [6.0, np.nan], [12.0, 16.0]]))


def test_a_default_numpy_matrix_times_a_diagonal(rng):
    """The original refuses every matrix that is not column-major here."""
    a, d = rng.random((3, 4)), rng.random(4)
    got = matmul(a, d, qualifiers=qualified(Kind(), Kind("dg")))
    np.testing.assert_allclose(got, a * d)
    assert got.flags.c_contiguous
    np.testing.assert_allclose(matmul(d, d, qualifiers=qualified(Kind("dg"), Kind())), d * d)


def test_batches_of_diagonals(rng):
    d, b = rng.random((5, 3)), rng.random((3, 2))
    got = matmul(d, b, qualifiers=qualified(Kind("dg"), Kind()))
    np.testing.assert_allclose(got, d[:, :, None] * b)


# --- operands -----------------------------------------------------------------------------------------------------------


def variants(m: np.ndarray) -> list[np.ndarray]:
    return [m, m[::-1], m[:, ::-1], np.asfortranarray(m), m.T.copy().T, np.repeat(m, 2, 1)[:, ::2]]


def test_reversed_stepped_and_column_major_operands(rng):
    """R40."""
    for x in variants(rng.random((6, 8))):
        for y in variants(rng.random((8, 6))):
            np.testing.assert_allclose(matmul(x, y), x.copy() @ y.copy())
            c = np.zeros((6, 6), order="F")[::-1]
            assert matmul(x, y, c, beta=1.0, options={"inplace": True}) is c
            np.testing.assert_allclose(c, x.copy() @ y.copy())


def test_empty_problems(rng):
    """R42: beta * C when there is nothing to sum up."""
    c = rng.random((3, 4))
    np.testing.assert_array_equal(matmul(np.ones((3, 0)), np.ones((0, 4)), c, alpha=2.0, beta=3.0), 3 * c)
    np.testing.assert_array_equal(matmul(np.ones((3, 0)), np.ones((0, 4))), np.zeros((3, 4)))
    assert matmul(np.ones((0, 2)), np.ones((2, 4))).shape == (0, 4)
    np.testing.assert_array_equal(matmul(np.ones((3, 0), "f2"), np.ones((0, 4), "f2")), np.zeros((3, 4), "f2"))


@pytest.mark.parametrize("cached", [False, True])
def test_in_place_over_an_operand(rng, cached, fresh_cache):
    """R44."""
    a, c = rng.random((4, 4)), rng.random((4, 4))
    if cached:
        matmul(rng.random((4, 4)), a, rng.random((4, 4)), beta=1.0, options={"inplace": True})
    keep = c.copy()
    np.testing.assert_allclose(matmul(a, a, c, beta=1.0), a @ a + keep)
    np.testing.assert_array_equal(c, keep)
    want = a @ a + a
    assert matmul(a, a, a, beta=1.0, options={"inplace": True}) is a
    np.testing.assert_allclose(a, want)
    d = rng.random((4, 4))
    want = np.tril(d) @ d + d
    matmul(d, d, d, beta=1.0, options={"inplace": True}, qualifiers=qualified(Kind("tr"), Kind(), Kind()))
    np.testing.assert_allclose(d, want)


def test_an_output_that_is_an_operand(rng):
    a, b = rng.random((4, 4)), rng.random((4, 4))
    want = a @ b
    assert matmul(a, b, out=a) is a
    np.testing.assert_allclose(a, want)


def test_a_sliced_batch_of_one(rng):
    """The original takes the stride of the axis of extent 1 for the distance of matrices, silently."""
    x, b = rng.random((4, 8, 3, 5)), rng.random((5, 2))
    np.testing.assert_allclose(matmul(x[:, :1], b), x[:, :1] @ b)
    y = rng.random((4, 8, 5, 2))
    np.testing.assert_allclose(matmul(x[:, :1], y[:, :1]), x[:, :1] @ y[:, :1])


def test_one_c_for_a_batch(rng):
    """The original returns C unchanged in place, without an exception."""
    a, b, c = rng.random((5, 3, 4)), rng.random((5, 4, 2)), rng.random((3, 2))
    np.testing.assert_allclose(matmul(a, b, c, beta=2.0), a @ b + 2 * c)
    with pytest.raises(ValueError, match="cannot be inplace if operand C is broadcast"):
        matmul(a, b, c, beta=2.0, options={"inplace": True})


def test_expanded_operands(rng):
    a = np.broadcast_to(rng.random((1, 4)), (3, 4))
    b = np.lib.stride_tricks.sliding_window_view(rng.random(9), 5)[:4]
    c = np.broadcast_to(rng.random(5), (3, 5))
    np.testing.assert_allclose(matmul(a, b, c, beta=2.0), a @ b + 2 * c)


def test_strided_vectors(rng):
    x, b = rng.random(12)[::3], rng.random((4, 3))
    np.testing.assert_allclose(matmul(x, b), x @ b)
    np.testing.assert_allclose(matmul(b.T, x[::-1]), b.T @ x[::-1])
    np.testing.assert_allclose(matmul(x, x), x @ x)


def test_foreign_byte_order_and_odd_bytes(rng):
    a, b = rng.random((4, 4)), rng.random((4, 3))
    q = qualified(Kind("sy"), Kind())
    want = (np.tril(a) + np.tril(a, -1).T) @ b
    np.testing.assert_allclose(matmul(a.astype(">f8"), b, qualifiers=q), want)
    raw = np.zeros(a.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(4, 4)
    raw[...] = a
    np.testing.assert_allclose(matmul(raw, b, qualifiers=q), want)
    with pytest.raises(ValueError, match="c cannot be overwritten"):
        matmul(a, b, np.zeros((4, 3), ">f8"), beta=1.0, options={"inplace": True})


def test_lazy_conjugates(rng):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b = torch.randn(4, 4, dtype=torch.complex128), torch.randn(4, 2, dtype=torch.complex128)
    torch.testing.assert_close(matmul(a.conj(), b), a.conj().resolve_conj() @ b)
    torch.testing.assert_close(matmul(a.conj(), b, qualifiers=qualified(Kind(conj=True), Kind())), a @ b)
    torch.testing.assert_close(matmul(b.mH, a.mH), b.mH @ a.mH)
    lower = torch.tril(a)
    torch.testing.assert_close(
        matmul(a.conj(), b, qualifiers=qualified(Kind("tr"), Kind())), lower.conj().resolve_conj() @ b
    )
    c = torch.randn(4, 2, dtype=torch.complex128)
    torch.testing.assert_close(matmul(a, b, c.conj(), beta=1.0), a @ b + c.conj())


def test_float32_is_float32(rng):
    """R58."""
    a, b = rng.standard_normal((64, 512)).astype("f"), rng.standard_normal((512, 64)).astype("f")
    reference = a.astype(float) @ b
    assert np.linalg.norm(matmul(a, b) - reference) / np.linalg.norm(reference) < 1e-6


def test_many_small_products_overflow_without_a_warning(rng):
    a = rng.standard_normal((50, 4, 4))
    a[7] = 1e200
    with Matmul(a, a, execution="cpu") as product, warnings.catch_warnings():
        warnings.simplefilter("error")
        product.plan()
        first, second = product.execute(), product.execute()
    assert np.isinf(first[7]).all()
    assert first.flags.c_contiguous
    assert not np.shares_memory(first, second)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(first, np.matmul(a, a))


def test_many_batches():
    """R60."""
    a, b = np.ones((65537, 2, 3), "f"), np.ones((65537, 3, 2), "f")
    assert (matmul(a, b) == 3).all()
    assert (matmul(a[:, :, :2], b[:, :2], qualifiers=qualified(Kind("sy"), Kind())) == 2).all()


@pytest.mark.parametrize("extent", [1, 3])
def test_conjugate_transposes_with_an_extent_of_one(extent, rng):
    """R46."""
    for k in (1, 4):
        for n in (1, 2):
            a = (rng.random((5, k, extent)) + 1j * rng.random((5, k, extent))).transpose(0, 2, 1)
            b = (rng.random((5, n, k)) + 1j * rng.random((5, n, k))).transpose(0, 2, 1)
            for conj_a in (False, True):
                for conj_b in (False, True):
                    got = matmul(a, b, qualifiers=qualified(Kind(conj=conj_a), Kind(conj=conj_b)))
                    np.testing.assert_allclose(got, (a.conj() if conj_a else a) @ (b.conj() if conj_b else b))


@backends
def test_a_limit_of_threads(backend, rng):
    a = rng.random((300, 300))
    one = {"name": "cpu", "num_threads": 1}
    before = _openblas._library.get_num_threads()
    with using(backend):
        if available_threads() > 1 and backend == "numpy":
            with pytest.raises(ValueError, match="num_threads=1 cannot be kept"):
                matmul(a, a, execution=one)
        else:
            np.testing.assert_allclose(matmul(a, a, execution=one), a @ a)
    assert _openblas._library.get_num_threads() == before


def test_the_library_that_the_environment_names(rng, monkeypatch, fresh_cache, caplog):
    path = _load.find_library("blas")
    if path is None:
        pytest.skip("no BLAS (MKL, NVPL, OpenBLAS) is installed")
    monkeypatch.setenv("NVMATH_BLAS_CPU_LIBRARY", path)
    a = rng.random((3, 3))
    with caplog.at_level("INFO"):
        np.testing.assert_allclose(matmul(a, a, qualifiers=qualified(Kind("tr"), Kind())), np.tril(a) @ a)
    assert f"trmm by {_load.open_library('blas').title}" in caplog.text


@settings(max_examples=100)
@given(case=cases(("float64",)))
def test_order_of_the_result(case: Case) -> None:
    """Row-major if A and B are, or C is; else column-major."""
    operands = made(case, BY_NUMPY)
    result = matmul(*operands.values(), **case.keywords())
    if case.inplace or result.ndim < 2 or min(result.shape) < 2:
        return
    row = abs(result.strides[-2]) > abs(result.strides[-1])
    dense = sorted(abs(stride) // 8 for stride, extent in zip(result.strides, result.shape, strict=True) if extent > 1)
    assert dense[0] == 1
    c = operands.get("c")
    if c is not None and c.shape[-2:] == result.shape[-2:]:
        assert row == (abs(c.strides[-2]) > abs(c.strides[-1]))
    elif (
        case.kinds == (Kind(), Kind())
        and min(operands["a"].ndim, operands["b"].ndim) > 1
        and 1 not in result.shape + operands["a"].shape
    ):
        assert row == all(abs(each.strides[-2]) > abs(each.strides[-1]) for each in (operands["a"], operands["b"]))


def test_the_oracle_is_a_dense_product(rng):
    a, b = rng.random((3, 3)), rng.random((3, 2))
    case = Case(
        "float64", storage_of(a), storage_of(b), None, (Kind("tr", unit=True, upper=True), Kind()), 2.0, None, False
    )
    np.testing.assert_allclose(expected(case)[0].astype(float), 2 * (np.triu(a, 1) + np.eye(3)) @ b)


def storage_of(values: np.ndarray) -> Any:
    from matmul_cases import Array

    return Array(values, (values.shape[1], 1))


def test_options_object(rng):
    a = rng.random((3, 3))
    c = np.zeros((3, 3))
    assert matmul(a, a, c, beta=1.0, options=MatmulOptions(inplace=True)) is c
    np.testing.assert_allclose(c, a @ a)


@backends
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("rows", [1, 45])
def test_large_products_with_vectors(backend, dtype, rows, rng):
    """Those are another function of the library: every layout of the matrix and of the vector, conjugates, C, in place."""
    cols = 60
    complex_ = dtype.startswith("complex")

    def values(*shape: int) -> np.ndarray:
        return (rng.random(shape) + (1j * rng.random(shape) if complex_ else 0)).astype(dtype)

    matrices = [
        *variants(values(rows, cols)),
        np.asfortranarray(values(rows + 3, cols))[:rows],
        values(rows, cols + 2)[:, :cols],
    ]
    vectors = [
        values(cols),
        values(cols)[::-1],
        values(2 * cols)[::2],
        values(cols, 1),
        values(cols, 3)[:, 1:2],
        values(1, cols).T,
    ]
    tolerance = {"rtol": 1e-4 if dtype == "float32" else 1e-12}
    with using(backend):
        for matrix in matrices:
            for vector in vectors:
                for conj in ((False, False), (True, False), (False, True)) if complex_ else ((False, False),):
                    q = qualified(*(Kind(conj=flag) for flag in conj), Kind())
                    one, other = (np.conj(x) if flag else x for x, flag in zip((matrix, vector), conj, strict=True))
                    np.testing.assert_allclose(matmul(matrix, vector, qualifiers=q[:2]), one @ other, **tolerance)
                    got = matmul(vector.T, matrix.T, qualifiers=q[[1, 0]])
                    np.testing.assert_allclose(got, other.T @ one.T, **tolerance)
                    c = np.ones(got.shape, dtype)
                    matmul(
                        vector.T, matrix.T, c, beta=2.0, alpha=3.0, qualifiers=q[[1, 0, 2]], options={"inplace": True}
                    )
                    np.testing.assert_allclose(c, 3 * (other.T @ one.T) + 2, **tolerance)
        nan = np.full(rows, np.nan, dtype)
        assert np.isfinite(matmul(matrices[0], vectors[0], nan, beta=0.0, options={"inplace": True})).all()
