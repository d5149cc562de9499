"""Run the same cases in the interpreter of the original and in this one, and compare what came of them.

A case is plain data. A script that compares says how to draw cases, how to run one, and how two outcomes relate.
"""

from __future__ import annotations

import argparse
import collections
import logging
import os
import pickle
import random
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Case = dict[str, Any]
Relation = tuple[str, bool, str]  # its name, whether it keeps the promises, details
PEER = "NVMATH_PEER_PYTHON"


def attempt(call: Callable[[], Any]) -> tuple[Any, ...]:
    """What a call gives; errors are part of the outcome."""
    try:
        return "ok", call()
    except Exception as error:
        return "error", type(error).__name__, [base.__name__ for base in type(error).__mro__], str(error)[:300]


def described(array: Any) -> tuple[Any, ...]:
    """Everything that a caller sees of a NumPy array: type, dtype, shape, strides in elements, values."""
    item = array.dtype.itemsize
    return type(array).__name__, array.dtype.str, array.shape, tuple(s // item for s in array.strides), np.array(array)


def same_strides(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Equal but for axes of extent 1, and for empty arrays."""
    return 0 in a[2] or all(s == t for s, t, n in zip(a[3], b[3], a[2], strict=True) if n != 1)


def relate_errors(theirs: tuple[Any, ...], mine: tuple[Any, ...]) -> Relation | None:
    """The relation of two outcomes of which the original's is an error, or ours."""
    if theirs[0] == "ok":
        return None if mine[0] == "ok" else (f"original accepts, ours refuses: {mine[1]}", False, mine[3])
    if mine[0] == "ok":
        return f"superset: the original raises {theirs[1]}", True, ""
    if theirs[1] == mine[1] or theirs[1] in mine[2]:
        return f"both raise {theirs[1]}", True, ""
    return f"original raises {theirs[1]}, ours {mine[1]}", False, f"{theirs[3]} / {mine[3]}"


def outcomes(script: str, peer: str, cases: list[Case]) -> tuple[list[Any], list[Any]]:
    """Run the cases in both interpreters; only ours sees PYTHONPATH."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "cases")
        Path(source).write_bytes(pickle.dumps(cases))
        found = []
        for name, python in (("theirs", peer), ("mine", sys.executable)):
            target = os.path.join(folder, name)
            environment = {key: value for key, value in os.environ.items() if name == "mine" or key != "PYTHONPATH"}
            subprocess.run([python, os.path.abspath(script), "--serve", source, target], check=True, env=environment)
            found.append(pickle.loads(Path(target).read_bytes()))
    return found[0], found[1]


def compare(
    script: str, peer: str, cases: list[Case], relate: Callable[[Case, Any, Any], Relation]
) -> tuple[collections.Counter[str], list[str]]:
    """Run everything; return how often each relation came up, and the cases that break a promise."""
    table: collections.Counter[str] = collections.Counter()
    broken = []
    for case, theirs, mine in zip(cases, *outcomes(script, peer, cases), strict=True):
        name, good, details = relate(case, theirs, mine)
        table[name] += 1
        if not good:
            broken.append(f"{name}\n    {case}\n    {details}")
    return table, broken


def serve(source: str, target: str, run: Callable[[Case], Any]) -> None:
    """Run the cases of a file and write what came of them."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    cases = pickle.loads(Path(source).read_bytes())
    Path(target).write_bytes(pickle.dumps([run(case) for case in cases]))


def command(
    script: str,
    text: str | None,
    count: int,
    generate: Callable[[int, int], list[Case]],
    run: Callable[[Case], Any],
    relate: Callable[[Case, Any, Any], Relation],
) -> int:
    """The command line of a script; the status is 1 where a promise is broken."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default=os.environ.get(PEER), help="an interpreter with nvmath-python 1.0")
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", type=Path, help="write the outcome as a Markdown table")
    parser.add_argument("--serve", nargs=2, metavar=("CASES", "OUTCOMES"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(*arguments.serve, run)
        return 0
    if not arguments.peer:
        parser.error(f"name the interpreter of the original: --peer, or {PEER}")
    table, broken = compare(script, arguments.peer, generate(arguments.count, arguments.seed), relate)
    rows = [f"| {name} | {number} |" for name, number in table.most_common()]
    lines = "\n".join(["| relation | cases |", "| --- | ---: |", *rows])
    print(lines)
    if arguments.table:
        arguments.table.write_text(lines + "\n")
    for each in broken:
        print(each)
    print(f"{sum(table.values())} cases, {len(broken)} broken promises")
    return int(bool(broken))


def drawn(draw: Callable[[random.Random], Case]) -> Callable[[int, int], list[Case]]:
    """The generator of a script whose cases are all drawn."""

    def generate(count: int, seed: int) -> list[Case]:
        rng = random.Random(seed)
        return [draw(rng) for _ in range(count)]

    return generate
