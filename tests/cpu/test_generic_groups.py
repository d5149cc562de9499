"""Sequences of operands: entry by entry, one entry serving all."""

from __future__ import annotations

import numpy as np
import pytest
from generic_cases import Kind

from nvmath.linalg import InvalidMatmulState, Matmul, matmul, matrix_qualifiers_dtype


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(9)


@pytest.fixture
def operands(rng):
    a = [rng.random((3, 4)), rng.random((2, 5, 4)), rng.random(4)]
    return a, [rng.random((4, 2))], [rng.random((3, 2)), rng.random((2, 5, 2)), rng.random(2)]


def qualified(*kinds: Kind) -> np.ndarray:
    return np.array([kind.qualifier for kind in kinds], matrix_qualifiers_dtype)


def same(got, want):
    assert isinstance(got, list)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other)


def test_entries_differ_in_shape(operands):
    a, (b,), c = operands
    same(matmul(a, [b]), [each @ b for each in a])
    same(matmul(tuple(a), (b,), c, beta=2.0), [each @ b + 2 * other for each, other in zip(a, c, strict=True)])


def test_scalars_take_part(operands):
    (a, *_), b, (c, *_) = operands
    same(matmul([a], b, alpha=[1.0, 2.0, 3.0]), [scale * a @ b[0] for scale in (1, 2, 3)])
    same(matmul([a], b, [c], beta=[0.0, 2.0]), [a @ b[0], a @ b[0] + 2 * c])


def test_qualifiers_for_each_entry(rng):
    a, b = rng.random((3, 3)), rng.random((3, 2))
    sets = [qualified(Kind(), Kind()), qualified(Kind("tr"), Kind())]
    same(matmul([a], [b], qualifiers=sets), [a @ b, np.tril(a) @ b])
    same(matmul([a, 2 * a], [b], qualifiers=sets[1]), [np.tril(a) @ b, 2 * np.tril(a) @ b])


def test_in_place(operands):
    a, b, c = operands
    want = [each @ b[0] + other for each, other in zip(a, c, strict=True)]
    got = matmul(a, b, c, beta=1.0, options={"inplace": True})
    assert all(one is other for one, other in zip(got, c, strict=True))
    same(got, want)
    with pytest.raises(ValueError, match="cannot be inplace if operand C is broadcast"):
        matmul([a[0], a[0]], b, [c[0]], beta=1.0, options={"inplace": True})


def test_into_arrays(operands):
    a, b, _ = operands
    out = [np.zeros((3, 2)), np.zeros((2, 5, 2)), np.zeros(2)]
    got = matmul(a, b, out=out)
    assert all(one is other for one, other in zip(got, out, strict=True))
    same(out, [each @ b[0] for each in a])
    with pytest.raises(ValueError, match="sequence of 3 arrays"):
        matmul(a, b, out=out[0])


def test_life_cycle(operands):
    a, b, c = operands
    products = Matmul(a, b, c, alpha=2.0, beta=1.0)
    assert isinstance(products, Matmul)
    with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
        products.execute()
    with products:
        products.plan()
        same(products.execute(), [2 * each @ b[0] + other for each, other in zip(a, c, strict=True)])
        products.reset_operands(b=-b[0])
        same(products.execute_unchecked(), [-2 * each @ b[0] + other for each, other in zip(a, c, strict=True)])
        products.reset_operands(alpha=1.0, beta=[0.0, 1.0, 2.0])
        same(
            products.execute(),
            [scale * other - each @ b[0] for each, other, scale in zip(a, c, (0, 1, 2), strict=True)],
        )
        products.reset_operands_unchecked(b=b, beta=0.0)
        same(products.execute(), [each @ b[0] for each in a])
        products.release_operands()
        with pytest.raises(ValueError, match="released"):
            products.execute()
        with pytest.raises(ValueError, match="all required operands"):
            products.reset_operands(a=a)
        products.reset_operands(a=a, b=b, c=c)
        same(products.execute(), [each @ b[0] for each in a])
    for call in (products.execute, products.plan, products.release_operands, lambda: products.reset_operands(a=a)):
        with pytest.raises(InvalidMatmulState, match="freed"):
            call()
    products.free()


def test_resets_that_are_refused_change_nothing(operands):
    a, b, _ = operands
    with Matmul(a, b) as products:
        products.plan()
        for message, keywords in (
            ("given with 3 entries", {"a": a[:1]}),
            ("given with 3 entries", {"a": a[0]}),
            ("no operand c", {"c": [a[0]]}),
            ("given with 1 entries", {"alpha": [1.0, 2.0]}),
            ("extents must match", {"a": [-a[0], -a[1], np.ones(3)]}),
            ("cannot be converted", {"a": [-a[0], -a[1], -a[2]], "alpha": [1.0, 2.0, "x"]}),
            ("at least one operand", {}),
        ):
            with pytest.raises(ValueError, match=message):
                products.reset_operands(**keywords)
            same(products.execute(), [each @ b[0] for each in a])


def test_refusals(operands):
    a, b, c = operands
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for error, message, call in (
        (ValueError, "explicitly batched", lambda: matmul(a, b[0])),
        (ValueError, "explicitly batched", lambda: matmul(a[0], b)),
        (ValueError, "explicitly batched", lambda: matmul(a[0], b[0], [c[0]], beta=1.0)),
        (ValueError, "at least one entry", lambda: matmul([], [])),
        (ValueError, "cannot be nested", lambda: matmul([a], [b])),
        (ValueError, "same length", lambda: matmul(a, b + b)),
        (ValueError, "same length", lambda: matmul(a, b, alpha=[1.0, 2.0])),
        (ValueError, "same length", lambda: matmul(a, b, alpha=[])),
        (ValueError, "same dtype", lambda: matmul([a[0], a[0].astype("f")], [b[0], b[0].astype("f")])),
        (TypeError, "one package", lambda: matmul([a[0], torch.from_numpy(a[0])], [b[0], torch.from_numpy(b[0])])),
        (ValueError, "beta must be provided", lambda: matmul(a, b, c)),
        (ValueError, "K extents", lambda: matmul(a, [np.ones((3, 3))])),
        (TypeError, "options must be a single value", lambda: matmul(a, b, options=[{}])),
    ):
        with pytest.raises(error, match=message):
            call()


def test_bad_entries_are_found_before_anything_is_written(operands):
    a, b, c = operands
    keep = [each.copy() for each in c]
    with pytest.raises(ValueError, match="extents of c must match"):
        matmul(a, b, [*c[:2], np.ones(3)], beta=1.0, options={"inplace": True})
    same(list(c), keep)


def test_a_result_is_not_written_where_a_later_product_reads(rng):
    a, b, c = rng.random((3, 3)), rng.random((3, 3)), rng.random((3, 3))
    before = b.copy()
    with pytest.raises(ValueError, match=r"out\[0\] shares memory with b\[1\].*Pass a copy"):
        matmul([a, 2 * a], [b, b], out=[b, np.empty((3, 3))])
    np.testing.assert_array_equal(b, before)
    want = [a @ c, 2 * a @ b]
    same(matmul([a, 2 * a], [c, b], out=[np.empty((3, 3)), c]), want)  # c is read before it is written
    later = rng.random((3, 3))
    with pytest.raises(ValueError, match=r"c\[0\] shares memory with a\[1\]"):
        Matmul([a, later], [b], [later, c], beta=0.0, options={"inplace": True})


def test_no_two_results_in_one_place(rng):
    a, b, out = rng.random((3, 3)), rng.random((3, 3)), np.empty((3, 6))
    with pytest.raises(ValueError, match=r"out\[0\] and out\[1\] share memory"):
        matmul([a, 2 * a], [b], out=[out[:, :3], out[:, 1:4]])
    same(matmul([a, 2 * a], [b], out=[out[:, ::2], out[:, 1::2]]), [a @ b, 2 * a @ b])  # one beside the other
    with pytest.raises(ValueError, match=r"c\[0\] and c\[1\] share memory"):
        Matmul([a, 2 * a], [b], [b + 1, b.copy()][:1] * 2, beta=1.0, options={"inplace": True})


def test_a_reset_to_arrays_that_are_not_apart_changes_nothing(rng):
    a, b = [rng.random((3, 3)) for _ in range(2)], rng.random((3, 3))
    c = [np.zeros((3, 3)) for _ in range(2)]
    with Matmul(a, [b], c, beta=0.0, options={"inplace": True}) as products:
        products.plan()
        with pytest.raises(ValueError, match="shares memory"):
            products.reset_operands(a=[a[0], c[0]])
        same(products.execute(), [each @ b for each in a])
