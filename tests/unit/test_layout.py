"""Layout algebra: pure functions over shapes and strides."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvmath._core import layout

extents = st.integers(0, 6)
steps = st.integers(-40, 40)
shapes = st.lists(extents, max_size=5).map(tuple)


@st.composite
def arrays(draw, least=0):
    """A shape and strides of any kind."""
    shape = draw(st.lists(st.integers(least, 6), min_size=0, max_size=5))
    return tuple(shape), tuple(draw(steps) for _ in shape)


def offsets(shape, strides):
    """Offset of every element, by brute force."""
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*shape)]


@given(shapes)
def test_contiguous_is_row_major(shape):
    strides = layout.contiguous(shape)
    if 0 not in shape:
        assert offsets(shape, strides) == list(range(math.prod(shape)))


@given(st.lists(st.integers(1, 6), max_size=5).map(tuple), st.randoms())
def test_dense_fills_memory_in_any_order(shape, random):
    order = list(range(len(shape)))
    random.shuffle(order)
    strides = layout.dense(shape, order)
    assert sorted(offsets(shape, strides)) == list(range(math.prod(shape)))
    assert layout.is_dense(shape, strides)
    if 1 not in shape:
        assert layout.stride_order(shape, strides) == tuple(order)


@given(arrays(least=1))
def test_is_dense_by_brute_force(array):
    shape, strides = array
    filled = all(stride > 0 for extent, stride in zip(shape, strides, strict=True) if extent > 1) and (
        sorted(offsets(shape, [s if n > 1 else 0 for n, s in zip(shape, strides, strict=True)]))
        == list(range(math.prod(shape)))
    )
    assert layout.is_dense(shape, strides) == filled


@given(arrays())
def test_span_by_brute_force(array):
    shape, strides = array
    found = offsets(shape, strides)
    assert layout.span(shape, strides) == ((min(found), max(found)) if found else (0, -1))


@given(arrays())
def test_arrays_that_may_not_overlap_do_not(array):
    shape, strides = array
    found = offsets(shape, strides)
    if not layout.may_overlap(shape, strides):
        assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("shape", "strides", "overlap"),
    [((4, 8), (8, 1), False), ((4, 8), (0, 1), True), ((4, 8), (-8, -1), False), ((4, 8), (1, 4), False), ((3, 4), (1, 1), True),
     ((4, 8), (7, 1), True), ((1, 8), (0, 1), False), ((), (), False), ((4, 0), (0, 1), False), ((2, 2), (9, -3), False)],
)  # fmt: skip
def test_may_overlap(shape, strides, overlap):
    assert layout.may_overlap(shape, strides) is overlap


@given(arrays())
def test_normalise_changes_no_offset(array):
    shape, strides = array
    normal = layout.normalise(shape, strides)
    assert offsets(shape, normal) == offsets(shape, strides)
    assert layout.normalise(shape, normal) == normal


@given(st.lists(st.integers(1, 5), max_size=4).map(tuple), st.integers(-99, 99))
def test_normalise_forgets_strides_that_mean_nothing(shape, junk):
    strides = layout.contiguous(shape)
    other = tuple(junk if extent == 1 else stride for extent, stride in zip(shape, strides, strict=True))
    assert layout.normalise(shape, other) == strides


def test_normalise_of_an_empty_array_is_row_major():
    assert layout.normalise((3, 0, 4), (1, 99, -5)) == layout.contiguous((3, 0, 4))


dims = st.lists(st.tuples(st.integers(1, 5), steps, steps), max_size=5)


@given(dims)
def test_merge_visits_the_same_pairs(given_dims):
    def pairs(dims):
        shape = [dim[0] for dim in dims]
        return sorted(
            zip(offsets(shape, [dim[1] for dim in dims]), offsets(shape, [dim[2] for dim in dims]), strict=True)
        )

    merged = layout.merge(given_dims)
    assert pairs(merged) == pairs(given_dims)
    assert len(merged) <= len(given_dims)
    assert all(dim[0] != 1 for dim in merged)


def test_merge_joins_what_one_stride_walks():
    assert layout.merge([(4, 48, 24), (6, 8, 4)]) == [(24, 8, 4)]
    assert layout.merge([(4, 48, 24), (6, 8, 5)]) == [(4, 48, 24), (6, 8, 5)]
    assert layout.merge([(1, 5, 7)]) == layout.merge([]) == []
    assert layout.merge([(3, -12, 12), (4, -3, 3)]) == [(12, -3, 3)]


def test_order_of_equal_strides_is_by_extent_then_axis():
    assert layout.stride_order((3, 2, 2), (4, 4, 4)) == (1, 2, 0)
    assert layout.stride_order((2, 3), (-8, 1)) == (1, 0)


@given(shapes)
def test_size(shape):
    assert layout.size(shape) == math.prod(shape)
