"""Contenders in another process: each has its own package, both run the same case, and what fails there is told here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import nvmath
from benchmarks.harness import measure
from benchmarks.peer_process import VARIABLE, PeerProcess, clock, original

CASES = """
import nvmath
import numpy as np

def total(count, offset=0.0):
    other = nvmath.__version__ == "other"
    values = np.arange(1.0, count + 1) + (offset if other else 0.0)
    print("what packages print is no answer")
    return lambda: values * 2

def broken():
    if nvmath.__version__ == "other":
        raise KeyError("not here")
    return lambda: np.zeros(1)

def fatal():
    if nvmath.__version__ == "other":
        import os
        os._exit(3)
    return lambda: np.zeros(1)
"""


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[PeerProcess]:
    package = tmp_path / "site" / "nvmath"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "other"\n')
    file = tmp_path / "cases.py"
    file.write_text(CASES)
    with PeerProcess(str(tmp_path / "site"), file) as made:
        yield made
    assert made.process.poll() is not None


def test_each_process_has_its_own_package(peer: PeerProcess, tmp_path: Path) -> None:
    about = peer.ask(do="about")
    assert about["version"] == "other"
    assert Path(about["file"]).is_relative_to(tmp_path)
    assert not Path(nvmath.__file__).is_relative_to(tmp_path)


def test_both_are_timed_in_turns(peer: PeerProcess) -> None:
    ours, theirs = peer.both("total", count=100)
    case = measure("sum", {"original": theirs, "nvmath": ours}, "original", seconds=0.05, clock=clock("wall"), most=10)
    assert len(case.seconds["original"]) == len(case.seconds["nvmath"]) >= 5
    assert all(seconds > 0 for times in case.seconds.values() for seconds in times)
    theirs()


def test_different_results_are_refused(peer: PeerProcess) -> None:
    with pytest.raises(RuntimeError, match="differ"):
        peer.both("total", count=10, offset=3.0)


def test_what_fails_there_is_told_and_does_not_end_it(peer: PeerProcess) -> None:
    with pytest.raises(RuntimeError, match="KeyError: 'not here'"):
        peer.both("broken")
    with pytest.raises(RuntimeError, match="nothing is called 'x'"):
        peer.ask(do="x")
    peer.both("total", count=3)
    peer.ask(do="forget")


def test_a_process_that_ends(peer: PeerProcess) -> None:
    with pytest.raises(RuntimeError, match="has ended with 3"):
        peer.both("fatal")


def test_without_the_variable_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert original(Path("cases.py")) is None
