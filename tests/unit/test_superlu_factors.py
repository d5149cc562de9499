"""Factors of SuperLU live in threads of their own, and die there."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from queue import SimpleQueue

import pytest

from nvmath.sparse.advanced._superlu_factors import Factors


class Traced:
    """Tells in which threads it was made and died."""

    def __init__(self, deaths: SimpleQueue[str]) -> None:
        self.born, self.deaths = threading.current_thread().name, deaths

    def __del__(self) -> None:
        self.deaths.put(threading.current_thread().name)


def test_they_die_in_the_thread_that_made_them_wherever_they_are_dropped() -> None:
    deaths: SimpleQueue[str] = SimpleQueue()
    for _ in range(10):
        made = [Factors(lambda: Traced(deaths))]
        born = made[0].lu.born
        dropping = threading.Thread(target=made.clear)
        dropping.start()
        dropping.join()
        assert deaths.get(timeout=10) == born
        assert born.startswith("nvmath-superlu")


def test_an_error_of_the_function_is_raised_and_the_next_call_works() -> None:
    for _ in range(6):
        with pytest.raises(ZeroDivisionError):
            Factors(lambda: 1 // 0)
    assert Factors(lambda: 7).lu == 7


def test_they_may_be_collected_while_others_are_made() -> None:
    """A finalizer runs at any place, also where a lock is held."""
    deaths: SimpleQueue[str] = SimpleQueue()

    class Cycle:
        def __init__(self) -> None:
            self.factors, self.myself = Factors(lambda: Traced(deaths)), self

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(300):
            Cycle()
    finally:
        gc.set_threshold(*before)
    gc.collect()
    for _ in range(300):
        deaths.get(timeout=10)


def test_nobody_waits_for_a_long_factorization_of_another_thread() -> None:
    started, end = threading.Event(), threading.Event()

    def long() -> int:
        started.set()
        assert end.wait(30)
        return 1

    busy = threading.Thread(target=Factors, args=(long,))
    busy.start()
    assert started.wait(10)
    try:
        quick = threading.Thread(target=Factors, args=(lambda: 2,))
        quick.start()
        quick.join(10)
        assert not quick.is_alive()
    finally:
        end.set()
        busy.join()


_AT_THE_END = """
import atexit
kept = []
def late():
    try:
        kept[0].lu
    except RuntimeError as error:
        print(error)
atexit.register(late)
from nvmath.sparse.advanced._superlu_factors import Factors
kept.append(Factors(lambda: 3))
"""


def test_at_the_end_of_the_process_they_say_so() -> None:
    run = subprocess.run([sys.executable, "-c", _AT_THE_END], capture_output=True, text=True, timeout=60, check=False)
    assert run.stdout == "The factors of SuperLU are gone, since the process is ending.\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_makes_its_own() -> None:
    kept = Factors(lambda: 3)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if (Factors(lambda: 4).lu, kept.lu) == (4, 3) else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
