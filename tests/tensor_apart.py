"""Checks in a process of their own: a fault of a GPU ends every later call of its process, so it would hide what comes after it.

Run as a program, it reads pickled checks and answers each with an empty text or with what went wrong.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

MOST_FAULTS = 6
"""Starting a process takes seconds: after so many faults the rest of a test is left out."""


class Apart:
    """A process that runs checks; after a fault another one takes its place."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, check: str, case: Any, framework: str, execution: Any) -> str:
        """Return what is wrong with a case, or an empty text."""
        if self.process is None:
            here = os.path.dirname(os.path.abspath(__file__))
            path = os.pathsep.join([here, os.path.dirname(here), os.environ.get("PYTHONPATH", "")])
            self.process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            pickle.dump((check, case, framework, execution), self.process.stdin)
            self.process.stdin.flush()
            wrong, usable = pickle.load(self.process.stdout)
        except (EOFError, OSError):
            wrong, usable = f"the process ended with {self.process.wait()}", False
        if not usable:
            self.close()
        return wrong

    def close(self) -> None:
        """End the process."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def every(self, check: str, strategy: st.SearchStrategy[Any], count: int, framework: str, execution: Any) -> None:
        """Run a check on many cases and tell all that fail, each with its expression, shapes and strides."""
        found: list[str] = []

        @hypothesis.settings(max_examples=count, deadline=None, phases=[hypothesis.Phase.generate], database=None)
        @hypothesis.given(case=strategy)
        def examine(case: Any) -> None:
            if len(found) < MOST_FAULTS and (wrong := self.run(check, case, framework, execution)):
                found.append(f"{case}\n{wrong}")

        examine()
        if found:
            pytest.fail(f"{len(found)} cases of {check} fail:\n" + "\n".join(found), pytrace=False)


def _usable() -> bool:
    """Whether the GPU of this process still answers."""
    from nvmath.bindings import _cuda as driver

    try:
        driver.stream_synchronize(0)
    except Exception:
        return False
    return True


def serve(read: Callable[[], Any], write: Callable[[Any], None]) -> None:
    """Run checks until there are no more."""
    from frameworks import BY_NAME
    from tensor_cases import CHECKS

    while True:
        try:
            check, case, framework, execution = read()
        except EOFError:
            return
        wrong = ""
        try:
            CHECKS[check](case, BY_NAME[framework], execution)
        except BaseException:
            wrong = traceback.format_exc(limit=-8)
        usable = not wrong or _usable()
        write((wrong if usable else f"{wrong}The GPU is lost to this process.", usable))


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get among the answers

    def answer(value: Any) -> None:
        pickle.dump(value, answers)
        answers.flush()

    serve(lambda: pickle.load(sys.stdin.buffer), answer)
