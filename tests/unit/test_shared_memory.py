"""Arrays that have elements in common, by their addresses alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nvmath._core.arrays import adapter_of
from nvmath._core.shared_memory import share, shared_pair

MEMORY = np.zeros(64)
slices = st.builds(slice, st.integers(0, 63), st.integers(0, 64), st.sampled_from((1, 2, 3, -1, -2)))


def view(array):
    return adapter_of(array).view(array)


@given(slices, slices)
def test_two_arrays(one, other):
    a, b = MEMORY[one], MEMORY[other]
    assert share(view(a), view(b)) == np.shares_memory(a, b)


@given(st.lists(slices, max_size=6))
def test_the_pair_that_is_found_shares_elements(many):
    arrays = [MEMORY[each] for each in many]
    pair = shared_pair([view(each) for each in arrays], lambda i, j: True)
    sharing = {(i, j) for j in range(len(arrays)) for i in range(j) if np.shares_memory(arrays[i], arrays[j])}
    assert (pair is None) == (not sharing)
    assert pair is None or pair in sharing


def test_only_pairs_that_matter_are_looked_at():
    views = [view(MEMORY), view(MEMORY[3:5]), view(MEMORY[4:])]
    assert shared_pair(views, lambda i, j: (i, j) == (1, 2)) == (1, 2)
    assert shared_pair(views, lambda i, j: False) is None


def test_columns_in_turns_share_nothing():
    both = np.zeros((5, 6))
    assert not share(view(both[:, :4]), view(both[:, 4:]))
