"""A contender in a process of its own, since its package has the name of ours: the original nvmath, say.

Both processes run the same functions of one file of cases, each with its own ``nvmath``. They take turns: a burst of calls here, a burst
there, each timed where it runs and each after one call that is not timed, so that no process pays for what the other one left behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .harness import Clock
from .peer_worker import burst, digest, load

WORKER = Path(__file__).with_name("peer_worker.py")
VARIABLE = "NVMATH_BENCH_PEER"
"""The folder, or folders, where the original is installed (``pip install --target``); without it there is no such contender."""
_TOLERANCE = 2e-2


class Remote:
    """A case in the other process; it is timed there."""

    def __init__(self, process: PeerProcess, key: str) -> None:
        self.process, self.key = process, key

    def __call__(self) -> None:
        self.process.ask(do="burst", key=self.key, count=1, clock="wall")


class PeerProcess(AbstractContextManager["PeerProcess"]):
    """The other process.

    Parameters
    ----------
    folders : str
        What its Python finds packages in before its own: folders joined as in PYTHONPATH.
    file : Path
        The cases: functions that take plain data and return what is to be timed.
    python : str, optional
        Its interpreter; by default this one.
    """

    def __init__(self, folders: str, file: Path, python: str = sys.executable) -> None:
        self.file = file
        environment = {**os.environ, "PYTHONPATH": folders}
        self.process = subprocess.Popen(
            [python, "-P", str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )  # fmt: skip

    def ask(self, **asked: Any) -> Any:
        """Ask for one thing and wait for the answer.

        Raises
        ------
        RuntimeError
            It failed there, or the process has ended.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"The other process has ended with {self.process.wait()}.")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(f"The other process says: {reply['error']}")
        return reply["value"]

    def both(self, case: str, **arguments: Any) -> tuple[Callable[[], Any], Remote]:
        """Set a case up here and there, and see that both give the same.

        Parameters
        ----------
        case : str
            A function in the file.
        **arguments
            Plain data for it.

        Returns
        -------
        tuple
            What is to be timed here, and there.

        Raises
        ------
        RuntimeError
            The results differ, or the case failed there.
        """
        here = getattr(load(str(self.file)), case)(**arguments)
        key = json.dumps([case, arguments])
        theirs = self.ask(do="setup", key=key, file=str(self.file), case=case, arguments=arguments)
        ours = digest(here())
        if any(
            abs(one - other) > _TOLERANCE * max(abs(ours[1]), 1e-30) for one, other in zip(ours, theirs, strict=True)
        ):
            raise RuntimeError(f"The results of {case} {arguments} differ: {ours} here, {theirs} there.")
        return here, Remote(self, key)

    def __exit__(self, *error: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def clock(name: str) -> Clock:
    """Return a clock for contenders here and in other processes: ``"wall"``, ``"queued"`` or ``"device"``."""

    def run(function: Callable[[], Any], count: int) -> float:
        if isinstance(function, Remote):
            return float(function.process.ask(do="burst", key=function.key, count=count, clock=name))
        return burst(function, count, name)

    return run


def original(file: Path) -> PeerProcess | None:
    """Start the original, or return None where the environment does not say where it is."""
    folders = os.environ.get(VARIABLE, "")
    return PeerProcess(folders, file) if folders else None
