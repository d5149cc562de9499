"""The other end of `peer_process`: a process that sets cases up and times bursts of calls on request. It imports nothing of ours.

One JSON object a line comes in and one goes out; what the packages print goes to the standard error stream.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

Function = Callable[[], Any]


def by_wall(function: Function, count: int) -> float:
    """Seconds that pass for the caller."""
    begin = time.perf_counter()
    for _ in range(count):
        function()
    return time.perf_counter() - begin


def by_queue(function: Function, count: int) -> float:
    """The same for calls that only queue work: it waits before and after, outside of the time."""
    import torch

    torch.cuda.synchronize()
    seconds = by_wall(function, count)
    torch.cuda.synchronize()
    return seconds


def by_device(function: Function, count: int) -> float:
    """Seconds on the device, between two events."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(count):
        function()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e-3


CLOCKS = {"wall": by_wall, "once": by_wall, "queued": by_queue, "device": by_device}


def burst(function: Function, count: int, clock: str) -> float:
    """Time some calls; but for "once" after one that brings the device back from whoever had it."""
    if clock != "once":
        function()
    return CLOCKS[clock](function, count)


def digest(result: Any) -> list[float]:
    """Two numbers that tell one result from another: the mean and the mean magnitude of what it holds."""
    if isinstance(result, tuple):
        result = result[0]
    if hasattr(result, "double"):  # of PyTorch
        values = result.double()
        return [float(values.mean()), float(values.abs().mean())]
    return [float(result.mean()), float(abs(result).mean())]


def load(file: str) -> Any:
    """Import the file with the cases."""
    spec = importlib.util.spec_from_file_location("peer_cases", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(known: dict[str, Function], asked: dict[str, Any]) -> Any:
    """Do one thing that is asked for."""
    match asked["do"]:
        case "about":
            import nvmath

            return {"version": getattr(nvmath, "__version__", "unknown"), "file": nvmath.__file__}
        case "setup":
            known[asked["key"]] = getattr(load(asked["file"]), asked["case"])(**asked["arguments"])
            return digest(known[asked["key"]]())
        case "burst":
            return burst(known[asked["key"]], asked["count"], asked["clock"])
        case "forget":
            known.clear()
            return None
    raise ValueError(f"nothing is called {asked['do']!r}")


def main() -> None:
    """Answer until the input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    known: dict[str, Function] = {}
    for line in sys.stdin:
        try:
            reply = {"value": answer(known, json.loads(line))}
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
