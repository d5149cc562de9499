"""Compute types and factors of contractions on the CPU, whichever BLAS serves."""

import numpy as np
import pytest
from tensor_blas import blas as blas

import nvmath
from nvmath.tensor import BinaryContraction, binary_contraction, ternary_contraction

# --- compute types ---------------------------------------------------------------------------------------------------------------


def _compute(name: str) -> dict[str, int]:
    return {"compute_type": getattr(nvmath.tensor.ComputeDesc, "COMPUTE_" + name)()}


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", ["16F", "16BF", "TF32"])
def test_narrow_compute_types_round_the_operands(dtype: str, name: str) -> None:
    rng = np.random.default_rng(12)
    a, b, c = (rng.standard_normal(shape).astype(np.float32).astype(dtype) for shape in ((5, 6), (6, 7), (7, 3)))
    if dtype == "complex64":
        a, b = a * (1 + 0.3j), b * (0.2 - 1j)
    a, b = a.astype(dtype), b.astype(dtype)
    keeps = {"16F": 10, "16BF": 7, "TF32": 10}[name]

    def rounded(values: np.ndarray) -> np.ndarray:
        parts = np.ascontiguousarray(values).view(np.float32).astype(np.float64)
        mantissa, exponent = np.frexp(parts)
        scaled = np.ldexp(np.rint(np.ldexp(mantissa, keeps + 1)), exponent - keeps - 1)
        return scaled.view(np.complex128) if values.dtype.kind == "c" else scaled

    want = rounded(a) @ rounded(b)
    got = binary_contraction("ij,jk->ik", a, b, options=_compute(name), execution="cpu")
    assert got.dtype == dtype
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert abs(got - a.astype(want.dtype) @ b).max() > 1e-5  # it does make a difference
    got = ternary_contraction("ij,jk,kl->il", a, b, c, options=_compute(name), execution="cpu")
    np.testing.assert_allclose(got, want @ rounded(c), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_double_precision_can_be_computed_in_single(dtype: str) -> None:
    rng = np.random.default_rng(13)
    a, b, c = (rng.standard_normal((6, 6)).astype(dtype) for _ in range(3))
    if dtype == "complex128":
        a, b, c = a * (1 + 0.3j), b * 1j, c * (2 - 1j)
    narrow = "float32" if dtype == "float64" else "complex64"
    want = (a.astype(narrow) @ b.astype(narrow)).astype(dtype)
    for expression, arrays, wanted in (("ij,jk->ik", (a, b), want), ("ij,jk->ki", (a, b.T[::-1]), None), ("ij,ij->ij", (a, b), None)):
        wanted = np.einsum(expression, *(x.astype(narrow) for x in arrays)) if wanted is None else wanted
        got = binary_contraction(expression, *arrays, c=c, alpha=2, beta=0.1, options=_compute("32F"), execution="cpu")
        assert got.dtype == dtype
        np.testing.assert_allclose(got, 2 * wanted.astype(dtype) + 0.1 * c, rtol=1e-5, atol=1e-5)
        got = binary_contraction(expression, *arrays, options=_compute("32F"), execution="cpu")
        np.testing.assert_array_equal(got, got.astype(narrow))  # nothing below single precision
    exact = binary_contraction("ij,jk->ik", a, b, c=c, beta=1e-12, alpha=0, options=_compute("32F"), execution="cpu")
    np.testing.assert_allclose(exact, 1e-12 * c, rtol=1e-14)  # the addend keeps its precision


@pytest.mark.parametrize(("dtype", "name"), [("float32", "3XTF32"), ("float32", "4X16F"), ("complex64", "9X16BF"), ("float64", "8XINT8")])
def test_emulations_are_as_good_as_what_they_stand_for(dtype: str, name: str) -> None:
    rng = np.random.default_rng(14)
    a, b = rng.standard_normal((9, 9)).astype(dtype), rng.standard_normal((9, 9)).astype(dtype)
    np.testing.assert_array_equal(
        binary_contraction("ij,jk->ik", a, b, options=_compute(name), execution="cpu"),
        binary_contraction("ij,jk->ik", a, b, execution="cpu"),
    )


def test_rounding_keeps_special_values() -> None:
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, np.finfo(np.float32).max, 1e-45], np.float32)
    for name in ("16F", "16BF", "TF32"):
        got = binary_contraction("i,->i", special, np.ones((), np.float32), options=_compute(name), execution="cpu")
        assert np.isnan(got[0])
        assert list(got[1:5]) == [np.inf, -np.inf, 0, 0]
        assert got[5] == np.inf
        assert np.signbit(got[4])


# --- factors --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "dtype", "kind", "text"),
    [
        (10**400, "float64", ValueError, r"alpha = 10\*\*400\.\.\. is beyond the range of float64"),
        (10**400, "complex128", ValueError, "beyond the range of complex128"),
        (1e300, "float32", ValueError, "alpha = 1e[+]?300 is beyond the range of float32"),
        (1e300, "complex64", ValueError, "beyond the range of complex64"),
        (1 + 0j, "float64", TypeError, "is complex, but the operands are real"),
        (np.complex64(1), "float32", TypeError, "is complex, but the operands are real"),
        ("2", "float64", TypeError, "alpha must be a number, not str"),
        (None, "float64", TypeError, "alpha must be a number, not NoneType"),
        (np.ones(1), "float64", TypeError, "alpha must be a number, not ndarray"),
    ],
)
def test_factors_that_are_refused(factor: object, dtype: str, kind: type[Exception], text: str) -> None:
    a = np.ones((2, 2), dtype)
    with pytest.raises(kind, match=text):
        binary_contraction("ij,jk->ik", a, a, alpha=factor, execution="cpu")
    with BinaryContraction("ij,jk->ik", a, a, execution="cpu") as contraction:
        contraction.plan()
        with pytest.raises(kind, match=text):
            contraction.execute(alpha=factor)
        assert contraction.execute()[0, 0] == 2


def test_factors_of_every_kind() -> None:
    from fractions import Fraction

    a = np.ones((2, 2))
    factor = np.array(2.0)
    with BinaryContraction("ij,jk->ik", a, a, execution="cpu") as contraction:
        contraction.plan()
        for value, want in ((True, 2), (Fraction(1, 2), 1), (np.int8(3), 6), (np.float16(0.5), 1), (np.inf, np.inf), (factor, 4)):
            assert contraction.execute(alpha=value)[0, 0] == want
        factor[()] = 5.0  # the same object, another value
        assert contraction.execute(alpha=factor)[0, 0] == 10
        assert np.isnan(contraction.execute(alpha=np.nan)).all()


def test_beta_and_the_addend_go_together() -> None:
    a = np.ones((2, 2))
    with pytest.raises(ValueError, match="beta must be set, since there is the addend c"):
        binary_contraction("ij,jk->ik", a, a, c=a, execution="cpu")
    with pytest.raises(ValueError, match="beta = 1 can only be set together with an addend; pass d"):
        ternary_contraction("ij,jk,kl->il", a, a, a, beta=1, execution="cpu")
    with BinaryContraction("ij,jk->ik", a, a, c=a, execution="cpu") as contraction:
        contraction.plan()
        with pytest.raises(ValueError, match="beta must be set"):
            contraction.execute()


@pytest.mark.parametrize("factor", [1.5e308 + 1.5e308j, 3e38 + 3e38j])
def test_complex_factors_fit_if_their_parts_do(factor: complex) -> None:
    dtype = "complex64" if factor.real < 1e300 else "complex128"
    got = binary_contraction("i,->i", np.ones(3, dtype), np.ones((), dtype), alpha=factor, execution="cpu")
    np.testing.assert_array_equal(got, np.full(3, factor, dtype))


def test_factors_are_refused_where_rounding_makes_them_infinite() -> None:
    a, largest = np.ones(3, np.float32), np.finfo(np.float32).max
    for factor in (3.4028235e38, float(largest) + 2.0**102):
        np.testing.assert_array_equal(binary_contraction("i,i->i", a, a, alpha=factor, execution="cpu"), np.full(3, largest))
    with pytest.raises(ValueError, match="beyond the range of float32"):
        binary_contraction("i,i->i", a, a, alpha=2.0**128 - 2.0**103, execution="cpu")


@pytest.mark.filterwarnings("error")
def test_factors_of_any_length_are_named() -> None:
    from fractions import Fraction

    a = np.ones((2, 2))
    for factor, text in ((10**5000, r"10\*\*5000"), (-(10**5000) + 1, r"-10\*\*4999"), (Fraction(10**5000, 3), "a Fraction")):
        with pytest.raises(ValueError, match=rf"alpha = {text}.* is beyond the range of float64"):
            binary_contraction("ij,jk->ik", a, a, alpha=factor, execution="cpu")
    with pytest.raises(ValueError, match="can only be set together with an addend"):
        binary_contraction("ij,jk->ik", a, a, beta=10**5000, execution="cpu")
    wide = np.nextafter(np.longdouble(np.inf), 0)
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(ValueError, match="beyond the range of float64"):
            binary_contraction("ij,jk->ik", a, a, alpha=wide, execution="cpu")
    assert binary_contraction("ij,jk->ik", a, a, alpha=np.longdouble(np.inf), execution="cpu")[0, 0] == np.inf


def test_booleans_of_numpy_are_numbers_as_those_of_python() -> None:
    a = np.ones((2, 2))
    for factor in (True, np.True_, np.array(True)):
        assert binary_contraction("ij,jk->ik", a, a, alpha=factor, execution="cpu")[0, 0] == 2


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [2, 70])
@pytest.mark.parametrize("expression", ["ij,jk->ik", "ij,jk->ki", "ij,ij->ij", "bi,bi->b", "bij,bjk->bik", "ij,j->i", "i,i->", "ij,kl->"])
def test_with_an_alpha_of_zero_no_operand_is_read(expression: str, n: int, dtype: str, blas: str) -> None:
    first, second = expression.partition("->")[0].split(",")
    a, b = (np.full((n,) * len(term), np.nan).astype(dtype) for term in (first, second))
    got = binary_contraction(expression, a, b, alpha=0, execution="cpu")
    np.testing.assert_array_equal(got, np.zeros_like(got))
    c = np.full(got.shape, 2, dtype)
    more = binary_contraction(expression, a, b, c=c, alpha=0, beta=3, execution="cpu")
    np.testing.assert_array_equal(more, np.full(got.shape, 6, dtype))
    binary_contraction(expression, a, b, c=c, alpha=0, beta=3, out=c, execution="cpu")
    np.testing.assert_array_equal(c, more)
    none = np.full(got.shape, np.nan).astype(dtype)
    np.testing.assert_array_equal(binary_contraction(expression, a, b, c=none, alpha=0, beta=0, execution="cpu"), np.zeros_like(got))


def test_with_an_alpha_of_zero_three_operands_are_not_read(blas: str) -> None:
    a = np.full((4, 4), np.inf)
    with nvmath.tensor.TernaryContraction("ij,jk,kl->il", a, a, a, d=np.ones((4, 4)), execution="cpu") as contraction:
        contraction.plan()
        np.testing.assert_array_equal(contraction.execute(alpha=0, beta=2), np.full((4, 4), 2.0))
        assert not np.isfinite(contraction.execute(alpha=1, beta=2)).any()


@pytest.mark.filterwarnings("error")
def test_numpy_does_not_warn_of_what_overflows(blas: str) -> None:
    big = np.full((2, 2), 1e200)
    assert binary_contraction("ij,jk->ik", big, big, options=_compute("32F"), execution="cpu")[0, 0] == np.inf
    empty = np.ones((2, 0)), np.ones((0, 2))
    assert binary_contraction("ij,jk->ik", *empty, c=np.full((2, 2), 1e308), beta=10, execution="cpu")[0, 0] == np.inf
    for qualifiers in ([np.nan, 1, 1], [1j, 1, 1], [1e300, 1, 1]):
        with pytest.raises(TypeError, match="qualifiers must be integers"):
            binary_contraction("ij,jk->ik", big, big, qualifiers=qualifiers, execution="cpu")


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_a_factor_that_is_zero_once_rounded_reads_nothing(dtype: str, blas: str) -> None:
    a, c = np.ones((3, 3), dtype), np.full((3, 3), np.nan, dtype)
    np.testing.assert_array_equal(binary_contraction("ij,jk->ik", a, a, c=c, beta=1e-50, execution="cpu"), np.full_like(a, 3))
    np.testing.assert_array_equal(binary_contraction("ij,jk->ik", c, a, alpha=1e-50, execution="cpu"), np.zeros_like(a))
