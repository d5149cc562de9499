"""Measure contenders in turns, and write what came out as a table, as JSON and as a plot.

All contenders of a case run in every round, in a new order each round, so that whatever else the machine does meets
each of them. A time is the median over the rounds; a ratio is the median over the rounds of the ratio within a round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import machine

Contenders = dict[str, Callable[[], Any]]
Clock = Callable[[Callable[[], Any], int], float]
"""Runs a function so many times and returns the seconds of all."""

BATCH_SECONDS = 2e-3


@dataclass
class Case:
    """What was measured: seconds per call, one entry a round, for each contender."""

    name: str
    base: str
    seconds: dict[str, list[float]]

    def median(self, contender: str) -> float:
        """Seconds of a call."""
        return statistics.median(self.seconds[contender])

    def ratio(self, contender: str) -> float:
        """How often the base's time fits into the contender's; one that takes long may take part in the first rounds only."""
        pairs = zip(self.seconds[contender], self.seconds[self.base], strict=False)
        return statistics.median(theirs / base for theirs, base in pairs)


def wall(function: Callable[[], Any], count: int) -> float:
    """Time that passes for the caller."""
    begin = time.perf_counter()
    for _ in range(count):
        function()
    return time.perf_counter() - begin


def measure(
    name: str, contenders: Contenders, base: str, *, seconds: float = 2.0, clock: Clock = wall, most: int = 10_000
) -> Case:
    """Measure a case.

    Parameters
    ----------
    name : str
        What is done.
    contenders : dict
        Name -> function without arguments.
    base : str
        The contender that ratios refer to.
    seconds : float
        Time to spend on the whole case, roughly.
    clock : callable
        Runs a function so many times and returns the seconds.
    most : int
        Most calls in one batch.
    """
    counts = {}
    for key, function in contenders.items():
        clock(function, 3)
        once = min(clock(function, 1) for _ in range(3))
        counts[key] = max(1, min(most, int(BATCH_SECONDS / max(once, 1e-7))))
    times: dict[str, list[float]] = {key: [] for key in contenders}
    order, end = list(contenders), time.perf_counter() + seconds
    while len(times[base]) < 5 or (time.perf_counter() < end and len(times[base]) < 400):
        for key in order:
            times[key].append(clock(contenders[key], counts[key]) / counts[key])
        order = [*order[1:], order[0]]
    return Case(name, base, times)


# --- reports ----------------------------------------------------------------------------------------------------------


def readable(seconds: float) -> str:
    """Write a time with three digits."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.2g} us"


def table(cases: list[Case]) -> str:
    """Write a Markdown table: a row a case, a column a contender; in brackets the ratio to the base."""
    names = list(dict.fromkeys(key for case in cases for key in case.seconds))
    rows = [["case", *names]]
    for case in cases:
        cells = []
        for key in names:
            if key not in case.seconds:
                cells.append("-")
            elif key == case.base:
                cells.append(readable(case.median(key)))
            else:
                cells.append(f"{readable(case.median(key))} ({case.ratio(key):.2f})")
        rows.append([case.name, *cells])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def as_json(title: str, cases: list[Case], about: dict[str, Any]) -> dict[str, Any]:
    """Return everything that a later comparison needs."""
    results = [
        {
            "case": case.name,
            "base": case.base,
            "rounds": len(case.seconds[case.base]),
            "contenders": {
                key: {
                    "median_s": case.median(key),
                    "p10_s": sorted(times)[len(times) // 10],
                    "ratio_to_base": case.ratio(key),
                }
                for key, times in case.seconds.items()
            },
        }
        for case in cases
    ]
    return {"title": title, "machine": about, "results": results}


def plot(title: str, cases: list[Case], file: Path) -> None:
    """Draw the ratios to the base: right of the line a contender is slower than it."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(key for case in cases for key in case.seconds if key != case.base))
    figure, axes = plt.subplots(figsize=(10, 1.8 + 0.36 * len(cases)), layout="constrained")
    axes.axvline(1, color="black", linewidth=1)
    for name, marker in zip(names, "osD^vPX*<>hp" * 3, strict=False):
        points = [(case.ratio(name), row) for row, case in enumerate(cases) if name in case.seconds]
        axes.plot([x for x, _ in points], [y for _, y in points], marker, markersize=7, label=name, alpha=0.85)
    axes.set_yticks(range(len(cases)), [f"{case.name}  [{readable(case.median(case.base))}]" for case in cases])
    axes.set_ylim(len(cases) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    low, high = axes.get_xlim()
    between = "25" if high < 50 * low else ""  # over more decades these labels would overlap
    axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in between else "")
    axes.grid(axis="x", which="both", alpha=0.25)
    bases = " or ".join(dict.fromkeys(case.base for case in cases))
    axes.set_xlabel(f"time / {bases} (in brackets); right of 1 is slower", loc="right")
    axes.set_title(title, loc="left")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def report(title: str, cases: list[Case], asked: argparse.Namespace) -> None:
    """Print a table and write the files that were asked for."""
    about = machine.describe()
    text = f"## {title}\n\n{table(cases)}\n\nIn brackets: time divided by that of the base. {machine.sentence(about)}\n"
    print(text)
    if asked.json:
        asked.json.write_text(json.dumps(as_json(title, cases, about), indent=1) + "\n", encoding="utf-8")
    if asked.markdown:
        asked.markdown.write_text(text, encoding="utf-8")
    if asked.plot:
        plot(title, cases, asked.plot)


def arguments(description: str | None, *, places: bool = False) -> argparse.Namespace:
    """Parse what every benchmark understands; with `places` also where to measure."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results for programs")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the ratios (needs matplotlib)")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each case (default: 2)")
    if places:
        parser.add_argument("--only", choices=("cpu", "gpu"), help="measure the rows of the CPU, or of the GPU, only")
    return parser.parse_args()
