"""The life cycle of generic products, misuse, and the plan cache."""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from generic_cases import Kind

import nvmath
from nvmath.linalg import ExecutionCPU, InvalidMatmulState, Matmul, MatmulOptions, matmul, matrix_qualifiers_dtype


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def qualified(*kinds: Kind) -> np.ndarray:
    return np.array([kind.qualifier for kind in kinds], matrix_qualifiers_dtype)


# --- states -------------------------------------------------------------------------------------------------------------


def test_states(rng):
    a, b = rng.random((3, 4)), rng.random((4, 2))
    product = Matmul(a, b)
    with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
        product.execute()
    product.plan()
    product.plan()
    np.testing.assert_allclose(product.execute(), a @ b)
    product.release_operands()
    product.release_operands()
    for call in (product.execute, product.execute_unchecked, product.plan):
        with pytest.raises(ValueError, match="released"):
            call()
    for keywords in ({"a": a}, {"alpha": 2.0}, {}):
        with pytest.raises(ValueError, match="all required operands must be provided"):
            product.reset_operands(**keywords)
    product.reset_operands(a=2 * a, b=b)
    np.testing.assert_allclose(product.execute(), 2 * a @ b)
    product.free()
    product.free()
    for call in (
        product.plan, product.execute, product.execute_unchecked, product.release_operands, product.__enter__,
        lambda: product.reset_operands(a=a), lambda: product.reset_operands(alpha=1.0), lambda: product.reset_operands(c=a),
    ):  # fmt: skip
        with pytest.raises(InvalidMatmulState, match="freed"):
            call()


def test_resets(rng):
    a, b, c = rng.random((3, 3)), rng.random((3, 2)), rng.random((3, 2))
    full = np.tril(a) + np.tril(a, -1).T
    with Matmul(a, b, c, alpha=2.0, beta=1.0, qualifiers=qualified(Kind("sy"), Kind(), Kind())) as product:
        product.plan()

        def holds(want):
            np.testing.assert_allclose(product.execute(), want)
            np.testing.assert_allclose(product.execute_unchecked(), want)

        holds(2 * full @ b + c)
        product.reset_operands(b=-b)
        holds(-2 * full @ b + c)
        product.reset_operands(alpha=1.0, beta=0.5)
        holds(-full @ b + 0.5 * c)
        product.reset_operands(a=2 * a, c=2 * c, alpha=0.5)
        holds(-full @ b + c)
        product.reset_operands_unchecked(b=b)
        holds(full @ b + c)
        product.reset_operands_unchecked(beta=0.0)
        holds(full @ b)
        product.reset_operands(alpha=0.0, beta=1.0)
        holds(2 * c)
        product.reset_operands(alpha=0.5, b=np.asfortranarray(b))
        holds(full @ b + 2 * c)


def test_an_edit_of_an_operand_shows(rng):
    a, b = rng.random((3, 4)), rng.random((4, 2))
    with Matmul(a, b) as product:
        product.plan()
        a[...] = 1
        np.testing.assert_allclose(product.execute(), np.ones((3, 4)) @ b)


def test_in_place_again_and_again(rng):
    a, c = rng.random((3, 3)), np.zeros((3, 3))
    with Matmul(a, a, c, beta=1.0, options=MatmulOptions(inplace=True)) as product:
        product.plan()
        for turn in (1, 2):
            assert product.execute() is c
            np.testing.assert_allclose(c, turn * a @ a)
        other = np.ones((3, 3))
        product.reset_operands(c=other)
        assert product.execute() is other
        np.testing.assert_allclose(other, 1 + a @ a)
        with pytest.raises(ValueError, match="out= and inplace=True exclude each other"):
            product.execute(out=np.zeros((3, 3)))


def test_resets_that_are_refused(rng):
    a, b = rng.random((3, 4)), rng.random((4, 2))
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with Matmul(a, b) as product:
        product.plan()
        for error, message, keywords in (
            (ValueError, "at least one operand", {}),
            (ValueError, "extents must match", {"a": rng.random((2, 4))}),
            (ValueError, "dtype", {"b": b.astype("f")}),
            (TypeError, "torch", {"a": torch.ones(3, 4)}),
            (ValueError, "no operand c", {"c": np.ones((3, 2))}),
            (ValueError, "alpha, 'x', cannot be converted", {"alpha": "x", "a": a}),
        ):
            with pytest.raises(error, match=message):
                product.reset_operands(**keywords)
            np.testing.assert_allclose(product.execute(), a @ b)


def test_references_go_with_release(rng):
    class Array(np.ndarray):
        pass

    a, b = (rng.random((3, 3)).view(Array) for _ in range(2))
    refs = [weakref.ref(each) for each in (a, b)]
    product = Matmul(a, b)
    product.plan()
    product.execute()
    product.release_operands()
    del a, b
    gc.collect()
    assert [ref() for ref in refs] == [None, None]
    product.free()


def test_it_cannot_be_copied(rng):
    import copy

    with Matmul(rng.random((2, 2)), rng.random((2, 2))) as product, pytest.raises(TypeError, match="cannot be copied"):
        copy.copy(product)


# --- misuse -------------------------------------------------------------------------------------------------------------


def refusals() -> list[Any]:
    a, b, c, s = np.ones((3, 4)), np.ones((4, 2)), np.ones((3, 2)), np.ones((4, 4))
    ge, sy, dg = Kind(), Kind("sy"), Kind("dg")
    odd = qualified(ge, ge)
    odd["uplo"][0] = 0
    unknown = qualified(ge, ge)
    unknown["abbreviation"][0] = "xy"
    z = s + 0j
    return [
        (ValueError, "beta must be provided", lambda: matmul(a, b, c)),
        (ValueError, "K extents must match", lambda: matmul(a, a)),
        (ValueError, "K extents must match", lambda: matmul(np.array(2.0), np.ones(3))),
        (ValueError, "not compatible", lambda: matmul(np.ones((2, 3, 4)), np.ones((3, 4, 5)))),
        (ValueError, "not compatible", lambda: matmul(np.ones((2, 3, 4)), b, np.ones((3, 3, 2)), beta=1.0)),
        (ValueError, "extents of c must match", lambda: matmul(a, b, np.ones((2, 2)), beta=1.0)),
        (ValueError, r"dtype of operand A \(int64\) is not supported", lambda: matmul(a.astype(int), b.astype(int))),
        (ValueError, "Unsupported combination of dtypes", lambda: matmul(a, b.astype("f"))),
        (ValueError, "Unsupported combination of dtypes", lambda: matmul(a, b, c.astype("f"), beta=1.0)),
        (ValueError, "needs operand c", lambda: matmul(a, b, options={"inplace": True})),
        (ValueError, "must be square", lambda: matmul(a, b, qualifiers=qualified(sy, ge))),
        (ValueError, "must be square", lambda: matmul(s[0], b, qualifiers=qualified(sy, ge))),
        (ValueError, "number of qualifiers must match", lambda: matmul(a, b, qualifiers=qualified(ge))),
        (ValueError, "number of qualifiers must match", lambda: matmul(a, b, c, beta=1.0, qualifiers=qualified(ge, ge))),
        (ValueError, "number of qualifiers must match", lambda: matmul(a, b, qualifiers=qualified(ge, ge, ge, ge))),
        (ValueError, "matrix_qualifiers_dtype", lambda: matmul(a, b, qualifiers=np.zeros(2))),
        (ValueError, "matrix_qualifiers_dtype", lambda: matmul(a, b, qualifiers=[ge.qualifier, ge.qualifier])),
        (ValueError, "general with uplo=0", lambda: matmul(a, b, qualifiers=odd)),
        (ValueError, "unknown abbreviation 'xy'", lambda: matmul(a, b, qualifiers=unknown)),
        (ValueError, "C cannot be conjugated", lambda: matmul(z, z, z, beta=1.0, qualifiers=qualified(ge, ge, Kind(conj=True)))),
        (NotImplementedError, "C must be general", lambda: matmul(s, s, s, beta=1.0, qualifiers=qualified(ge, ge, sy))),
        (ValueError, "K extents must match", lambda: matmul(s, b, qualifiers=qualified(dg, dg))),
        (ValueError, "0-dimensional", lambda: matmul(np.array(2.0), np.array(1.0), qualifiers=qualified(dg, ge))),
        (TypeError, "options must be a single value", lambda: matmul(a, b, options=[1])),
        (TypeError, "options must be None", lambda: matmul(a, b, options="x")),
        (TypeError, "in_place", lambda: matmul(a, b, options={"in_place": True})),
        (TypeError, "execution must be a single value", lambda: matmul(a, b, execution=["cpu"])),
        (TypeError, "stream must be a single value", lambda: Matmul(a, b, stream=[1])),
        (ValueError, "execution 'gpu'", lambda: matmul(a, b, execution="gpu")),
        (ValueError, "alpha, 'x', cannot be converted", lambda: matmul(a, b, alpha="x")),
        (ValueError, "cannot be converted to float64", lambda: matmul(a, b, alpha=10**400)),
        (ValueError, "alpha, 1j, cannot be converted", lambda: matmul(a, b, alpha=1j)),
        (ValueError, "alpha, .*, cannot be converted", lambda: matmul(a, b, alpha=[1.0, 2.0])),
        (ValueError, "beta, .*, cannot be converted", lambda: matmul(a, b, c, beta=np.ones(1))),
        (ValueError, "not an array that nvmath knows", lambda: matmul(a, 3.0)),
        (ValueError, "blocking must be True or 'auto'", lambda: MatmulOptions(blocking=False)),
        (ValueError, "inplace must be True or False", lambda: MatmulOptions(inplace=3)),
        (TypeError, "allocator must have a method", lambda: MatmulOptions(allocator=3)),
        (TypeError, "mask", lambda: matmul(np.ma.ones((3, 4)), b)),
        (ValueError, "out must be an array of", lambda: matmul(a, b, out=np.zeros((2, 3)))),
    ]  # fmt: skip


@pytest.mark.parametrize("refusal", refusals(), ids=lambda refusal: refusal[1])
def test_refusals(refusal):
    error, message, call = refusal
    for _ in range(2):
        with pytest.raises(error, match=message):
            call()


def test_numbers_of_every_kind(rng):
    a = rng.random((3, 3))
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for alpha in (2, 2.0, np.float32(2), np.int8(2), np.array(2), True + True, torch.tensor(2.0)):
        np.testing.assert_allclose(matmul(a, a, alpha=alpha), 2 * a @ a)
        np.testing.assert_allclose(matmul(a + 0j, a + 0j, alpha=alpha), 2 * a @ a)
    np.testing.assert_allclose(matmul(a + 0j, a + 0j, alpha=2j), 2j * a @ a)
    with pytest.raises(ValueError, match="cannot be converted"):
        matmul(a, a, alpha=torch.tensor(2j))
    narrow = a.astype("f")
    with pytest.raises(ValueError, match="too large for float32"):
        matmul(narrow, narrow, alpha=1e300)
    assert np.isinf(matmul(narrow, narrow, alpha=np.inf)).all()


def test_operands_of_two_packages():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for _ in range(2):
        with pytest.raises(TypeError, match="one array package"):
            matmul(np.ones((3, 4)), torch.ones(4, 2))


def test_the_arguments_of_a_caller_are_left_alone(rng):
    a, q, options = rng.random((3, 3)), qualified(Kind("sy"), Kind()), {"blocking": True}
    matmul(a, a, qualifiers=q, options=options)
    assert options == {"blocking": True}
    np.testing.assert_array_equal(q, qualified(Kind("sy"), Kind()))
    with Matmul(a, a, qualifiers=q) as product:
        product.plan()
        q[0] = Kind().qualifier  # was copied
        np.testing.assert_allclose(product.execute(), (np.tril(a) + np.tril(a, -1).T) @ a)


def test_every_spelling_of_the_execution(rng):
    a = rng.random((3, 3))
    for execution in (
        None,
        "cpu",
        "CPU",
        {"name": "cpu", "num_threads": 1},
        {},
        ExecutionCPU(num_threads=1),
        ExecutionCPU(),
    ):
        np.testing.assert_allclose(matmul(a, a, execution=execution), a @ a)


# --- logs ---------------------------------------------------------------------------------------------------------------


def test_beta_without_c_is_said_once_by_each_operation(caplog):
    a = np.eye(3)
    ignored = "beta is ignored, since there is no operand c."
    nvmath.plan_cache.clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            np.testing.assert_array_equal(matmul(a, a, beta=2.0), a)
    assert [record.getMessage() for record in caplog.records] == [ignored]
    caplog.clear()
    with caplog.at_level(logging.WARNING), Matmul(a, a, beta=2.0) as product:
        product.reset_operands(beta=3.0)
    assert [record.getMessage() for record in caplog.records] == [ignored]


def test_gradients_are_not_followed_in_silence():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a = torch.ones(3, 3, requires_grad=True)
    for _ in range(2):
        with pytest.warns(UserWarning, match="does not record"):
            result = matmul(a, a)
        assert not result.requires_grad
    with torch.no_grad():
        matmul(a, a)


def test_the_information_log(caplog):
    a = np.eye(3)
    with caplog.at_level(logging.INFO), Matmul(a, a, qualifiers=qualified(Kind("tr"), Kind())) as product:
        product.plan()
        product.execute()
        product.reset_operands(alpha=2.0)
    for word in (
        "Specified: matmul of float64 triangular (3, 3) x (3, 3)",
        "Planned: trmm by",
        "Executing",
        "blocks",
        "replaced",
        "freed",
    ):
        assert word in caplog.text


def test_a_logger_of_its_own(caplog):
    logger = logging.getLogger("own")
    a = np.eye(3)
    with caplog.at_level(logging.INFO, "own"):
        for _ in range(2):
            matmul(a, a, options=MatmulOptions(logger=logger))
    assert {record.name for record in caplog.records} == {"own"}
    assert caplog.text.count("Specified") == 2
    assert caplog.text.count("execution took") == 2


# --- the plan cache -----------------------------------------------------------------------------------------------------


def test_one_plan_for_one_kind_of_call(rng, fresh_cache):
    a, b, c = rng.random((3, 3)), rng.random((3, 2)), rng.random((3, 2))
    q = qualified(Kind("sy"), Kind(), Kind())
    for _ in range(3):
        for alpha, beta in ((1.0, 2.0), (0.0, 1.0), (3.0, 0.0)):
            want = alpha * (np.tril(a) + np.tril(a, -1).T) @ b + beta * c
            np.testing.assert_allclose(matmul(a, b, c, alpha=alpha, beta=beta, qualifiers=q), want)
    info = nvmath.plan_cache.info()
    assert (info.misses, info.entries) == (1, 1)
    np.testing.assert_allclose(matmul(a, b, c, beta=1.0), a @ b + c)
    assert nvmath.plan_cache.info().misses == 2


def test_scalars_of_a_call_do_not_stay(rng, fresh_cache):
    a = rng.random((3, 3))
    np.testing.assert_allclose(matmul(a, a, alpha=5.0), 5 * a @ a)
    np.testing.assert_allclose(matmul(a, a), a @ a)


def test_nothing_of_the_caller_is_kept(rng, fresh_cache):
    class Array(np.ndarray):
        pass

    for options in (None, {"inplace": True}):
        a, b, c = (rng.random((3, 3)).view(Array) for _ in range(3))
        refs = [weakref.ref(each) for each in (a, b, c)]
        matmul(a, b, c, beta=1.0, options=options)
        del a, b, c
        gc.collect()
        assert [ref() for ref in refs] == [None] * 3


def test_a_failed_call_leaves_the_cache_usable(rng, fresh_cache):
    a = rng.random((3, 3))
    matmul(a, a)
    with pytest.raises(ValueError, match="alpha"):
        matmul(a, a, alpha="x")
    np.testing.assert_allclose(matmul(a, a), a @ a)


def test_many_threads(rng, fresh_cache):
    a, wrong = rng.random((8, 8)), []

    def work(number: int) -> None:
        for _ in range(50):
            if not np.allclose(matmul(a, a, alpha=float(number)), number * a @ a):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_unchecked_reset_after_a_release_needs_every_operand():
    a, b = np.ones((3, 3)), np.ones((3, 3))
    for make in (nvmath.linalg.Matmul, nvmath.linalg.advanced.Matmul):
        with make(a, b, execution="cpu") as product:
            product.plan()
            product.release_operands()
            with pytest.raises(ValueError, match="b is missing"):
                product.reset_operands_unchecked(a=a)
            product.reset_operands_unchecked(a=a, b=b)
            assert product.execute()[0, 0] == 3
        with pytest.raises(Exception, match="freed"):
            product.reset_operands_unchecked(a=a, b=b)
