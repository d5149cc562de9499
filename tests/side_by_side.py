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
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

NOTHING_COLLECTED = 5
PARTS = {
    "test_examples": 4,
    "test_dense_solver": 4,
    "test_sparse_solver": 4,
    "test_fft_any": 3,
    "test_generic": 2,
    "test_sparse_batch": 2,
}
"""In how many processes the longest files run."""


def jobs_of(paths: list[Path]) -> list[tuple[Path, str]]:
    """The files of tests with their parts, the longest first."""
    found = [file for path in paths for file in (path.rglob("test_*.py") if path.is_dir() else (path,))]
    found.sort(key=lambda file: (-PARTS.get(file.stem, 1), -file.stat().st_size))
    return [(file, f"{i + 1}/{parts}") for file in found for parts in (PARTS.get(file.stem, 1),) for i in range(parts)]


def run(what: list[Path], part: str, marker: str, more: list[str]) -> tuple[int, str, str]:
    """Run one process of pytest; return its status, a line, and everything that it wrote."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", marker, *map(str, what), *more]
    environment = {**os.environ, "NVMATH_TESTS_PART": part}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    status = 0 if done.returncode == NOTHING_COLLECTED else done.returncode
    last = done.stdout.strip().rpartition("\n")[2]
    name = f"{what[0]}{'' if part == '1/1' else ' ' + part}" if len(what) == 1 else "alone"
    return (
        status,
        f"{'ok    ' if status == 0 else 'FAILED'} {name}: {last} ({time.monotonic() - begin:.0f} s)",
        done.stdout,
    )


def main() -> int:
    """Run everything and print a line for each file, with its output where it failed; then the failed lines again."""
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
            print(output, flush=True)
            failed.append(line)

    jobs = jobs_of(arguments.paths)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done in as_completed([pool.submit(run, [file], part, "not alone", more) for file, part in jobs]):
            report(done.result())
    report(run(list(dict.fromkeys(file for file, _ in jobs)), "1/1", "alone", more))
    for line in failed:
        print(line)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
