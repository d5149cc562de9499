"""The same calls by the original and by us, in two processes that take turns, on a GPU.

The environment variable ``NVMATH_BENCH_PEER`` names the folder where the original is installed (``pip install --no-deps --target FOLDER
nvmath-python``); what it needs besides is taken from this interpreter. A case that one of the two cannot do here is left out, and the error
stream says why.

    NVMATH_BENCH_PEER=FOLDER python -m benchmarks.against_original [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from .harness import Case, Contenders, arguments, measure, report
from .peer_process import VARIABLE, PeerProcess, clock, original
from .peers import gpu_torch

FILE = Path(__file__).with_name("original_cases.py")
BASE = "the original"

# name, function in the file, its arguments, clock
ROWS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    *((f"relu(A B + bias), 4096^3, {dtype}", "relu_bias", {"size": 4096, "dtype": dtype}, "device")
      for dtype in ("float16", "bfloat16", "float32")),
    ("relu(A B + bias), 4096^3, FP8 to bfloat16", "relu_bias_fp8", {"size": 4096}, "device"),
    ("(10M x 10) @ (10 x 40) + C, float32, autotuned", "tall", {"rows": 10_000_000, "k": 10, "columns": 40, "dtype": "float32"}, "device"),
    ("relu(A B + bias), 64^3, float32, host time", "relu_bias", {"size": 64, "dtype": "float32"}, "queued"),
    *((f"contraction, {dtype}", "contraction", {"expression": "abcd,cdef->abef", "extents": dict.fromkeys("abcdef", 64), "dtype": dtype},
       "device") for dtype in ("float32", "float64")),
    ("sparse, 1000 x 1000 grid, plan, factorize, solve", "sparse_total", {"side": 1000}, "once"),
    ("sparse solve, 1000 x 1000 grid, one column", "sparse_solve", {"side": 1000}, "device"),
    ("sparse solve, 100 x 100 grid, one column", "sparse_solve", {"side": 100}, "device"),
)  # fmt: skip


def case(peer: PeerProcess, row: tuple[str, str, dict[str, Any], str], seconds: float) -> Case | None:
    """Measure one row; None, with a word on the error stream, when it cannot be."""
    name, function, asked, time = row
    try:
        ours, theirs = peer.both(function, **asked)
    except (ImportError, RuntimeError) as error:
        print(f"left out: {name}: {error}", file=sys.stderr)
        return None
    finally:
        print(f"{name}: set up", file=sys.stderr)
    contenders: Contenders = {BASE: theirs, "nvmath": ours}
    if time == "once":  # takes seconds
        done = Case(
            name, BASE, {key: [clock(time)(function, 1) for _ in range(2)] for key, function in contenders.items()}
        )
    else:
        done = measure(name, contenders, BASE, seconds=seconds, clock=clock(time), most=20 if time == "device" else 100)
    peer.ask(do="forget")
    return done


def cases(seconds: float) -> list[Case]:
    """All rows; none without a GPU or without the original."""
    if gpu_torch() is None:
        return []
    peer = original(FILE)
    if peer is None:
        print(f"{VARIABLE} does not say where the original is.", file=sys.stderr)
        return []
    with peer:
        about = peer.ask(do="about")
        print(f"The original: {about['version']} in {about['file']}.", file=sys.stderr)
        return [made for row in ROWS if (made := case(peer, row, seconds)) is not None]


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Beside the original", cases(asked.seconds), asked)
