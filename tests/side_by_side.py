"""Run the files of tests in processes of their own, several at a time, since those of a GPU take long one after the other.

    python tests/side_by_side.py [--jobs 8] tests/gpu tests/budget [-- arguments of pytest]

Tests marked `alone` (they look at the free memory of the device) run last, one process for all. The status is 1 if one of them failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

NOTHING_COLLECTED = 5


def files_of(paths: list[Path]) -> list[Path]:
    """The files of tests, those with the most to do first, as far as their size tells."""
    found = [file for path in paths for file in (path.rglob("test_*.py") if path.is_dir() else (path,))]
    return sorted(found, key=lambda file: -file.stat().st_size)


def run(what: list[Path], marker: str, more: list[str]) -> tuple[int, str, str]:
    """Run one process of pytest; return its status, a line, and everything that it wrote."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", marker, *map(str, what), *more]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    status = 0 if done.returncode == NOTHING_COLLECTED else done.returncode
    last = done.stdout.strip().rpartition("\n")[2]
    name = what[0] if len(what) == 1 else "alone"
    return status, f"{'ok    ' if status == 0 else 'FAILED'} {name}: {last} ({time.monotonic() - begin:.0f} s)", done.stdout


def main() -> int:
    """Run everything and print a line for each file, then all that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=max(1, min(8, (os.cpu_count() or 1) // 2)))
    parser.add_argument("paths", nargs="+", type=Path)
    given = sys.argv[1:]
    mine, more = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    arguments = parser.parse_args(mine)
    failed = []

    def report(outcome: tuple[int, str, str]) -> None:
        status, line, output = outcome
        print(line, flush=True)
        if status:
            failed.append(output)

    files = files_of(arguments.paths)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for outcome in pool.map(lambda file: run([file], "not alone", more), files):
            report(outcome)
    report(run(files, "alone", more))
    for output in failed:
        print(output)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
