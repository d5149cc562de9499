"""The original, where an interpreter that has it is named, gives the same results and refuses with the same exceptions."""

import os

import compare_peer
import pytest

PEER = os.environ.get("NVMATH_PEER_PYTHON")


@pytest.mark.skipif(not PEER, reason="NVMATH_PEER_PYTHON names no interpreter with nvmath-python[cpu] 1.0")
@pytest.mark.parametrize("seed", [0, 1])
def test_the_original_agrees_wherever_it_accepts(seed):
    table, broken = compare_peer.compare(PEER, 2000, seed)
    assert not broken, "\n".join(broken[:10])
    assert table["equal: values, strides, dtype, key, layouts"] > 500


def test_cases_are_the_same_for_the_same_seed():
    assert compare_peer.generate(50, 3) == compare_peer.generate(50, 3)


def test_ours_runs_every_case_and_never_fails_inside():
    for case in compare_peer.generate(300, 5):
        outcome = compare_peer.run(case)["result"]
        if outcome[0] == "error":
            assert outcome[1] not in ("AssertionError", "KeyError", "IndexError", "NameError", "UnboundLocalError"), (
                case,
                outcome,
            )
