"""What one call costs the caller: transforms of 64 points, where the work itself is next to nothing.

On the CPU beside numpy.fft.fft; on a GPU beside torch.fft.fft and cupy.fft.fft, where the time until the call returns
is measured, not the transform.

    python -m benchmarks.host_overhead [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nvmath
from nvmath.fft import FFT

from .harness import Case, Contenders, arguments, measure, report, wall
from .peers import gpu_cupy, gpu_torch, peer

POINTS = 64


def ours(first: Any, second: Any) -> Contenders:
    """Return the three ways to call."""
    transform = FFT(first)
    transform.plan()

    def reset_and_execute() -> Any:
        transform.reset_operand(second)
        return transform.execute()

    return {
        "nvmath one call": lambda: nvmath.fft.fft(first),
        "nvmath reset + execute": reset_and_execute,
        "nvmath execute": transform.execute,
    }


def queued(synchronize: Callable[[], Any]) -> Callable[[Callable[[], Any], int], float]:
    """Return a clock for calls that only queue work: it waits before and after, outside of the time."""

    def clock(function: Callable[[], Any], count: int) -> float:
        synchronize()
        seconds = wall(function, count)
        synchronize()
        return seconds

    return clock


def cases(seconds: float) -> list[Case]:
    """Measure for every package that is here."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(POINTS) + 1j * rng.standard_normal(POINTS) for _ in range(2))
    scipy_fft, mkl_fft, torch = peer("scipy.fft"), peer("mkl_fft"), peer("torch")
    peers: Contenders = {"numpy.fft": lambda: np.fft.fft(a), "scipy.fft": lambda: scipy_fft.fft(a)}
    if mkl_fft is not None:
        peers["mkl_fft"] = lambda: mkl_fft.fft(a)
    done = [measure("NumPy arrays, CPU", ours(a, b) | peers, "numpy.fft", seconds=seconds)]
    if torch is not None:
        t, u = torch.from_numpy(a), torch.from_numpy(b)
        contenders = ours(t, u) | {"torch.fft": lambda: torch.fft.fft(t)}
        done.append(measure("PyTorch tensors, CPU", contenders, "torch.fft", seconds=seconds))
    torch, cupy = gpu_torch(), gpu_cupy()
    if torch is not None:
        v, w = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
        contenders = ours(v, w) | {"torch.fft": lambda: torch.fft.fft(v)}
        clock = queued(torch.cuda.synchronize)
        done.append(measure("PyTorch tensors, GPU", contenders, "torch.fft", seconds=seconds, clock=clock, most=100))
    if cupy is not None:
        x, y = cupy.asarray(a), cupy.asarray(b)
        contenders = ours(x, y) | {"cupy.fft": lambda: cupy.fft.fft(x)}
        clock = queued(cupy.cuda.get_current_stream().synchronize)
        done.append(measure("CuPy arrays, GPU", contenders, "cupy.fft", seconds=seconds, clock=clock, most=100))
    return done


if __name__ == "__main__":
    asked = arguments(__doc__)
    report(f"Cost of a call: complex128 FFT of {POINTS} points", cases(asked.seconds), asked)
