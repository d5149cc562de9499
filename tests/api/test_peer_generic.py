"""The original, where an interpreter that has it is named, gives the same generic products and refuses with the same exceptions."""

import os

import compare_peer_generic
import pytest

PEER = os.environ.get("NVMATH_PEER_PYTHON")


@pytest.mark.skipif(not PEER, reason="NVMATH_PEER_PYTHON names no interpreter with nvmath-python[cpu] 1.0")
@pytest.mark.parametrize("seed", [0, 1])
def test_the_original_agrees_wherever_it_is_right(seed):
    table, broken = compare_peer_generic.compare(PEER, 2000, seed)
    assert not broken, "\n".join(broken[:10])
    assert table["equal: values, strides, dtype, object"] > 500


def test_cases_are_the_same_for_the_same_seed():
    assert compare_peer_generic.generate(50, 3) == compare_peer_generic.generate(50, 3)


def test_ours_is_right_wherever_it_accepts_and_never_fails_inside():
    for case in compare_peer_generic.generate(300, 5):
        outcome = compare_peer_generic.run(case)
        if outcome[0] == "error":
            inside = ("AssertionError", "KeyError", "IndexError", "NameError", "UnboundLocalError")
            assert outcome[1] not in inside, (case, outcome)
        elif case["form"] != "misuse":
            assert compare_peer_generic.close(outcome[1][4], compare_peer_generic.truth(case)), case
