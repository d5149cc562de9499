"""Transforms on a GPU: a filter in the epilog beside a transform and a product; host operands beside the bare copies.

python -m benchmarks.gpu_fft [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import nvmath
from nvmath.fft import FFT

from .harness import Case, Contenders, arguments, measure, report, wall
from .peers import gpu_cupy, gpu_torch


def device_clock(cupy: Any) -> Callable[[Callable[[], Any], int], float]:
    """Return a clock that measures what passes on the device, between two events."""

    def clock(function: Callable[[], Any], count: int) -> float:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        for _ in range(count):
            function()
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end)) * 1e-3

    return clock


def multiply(spectrum, offset, element, factors, reserved):  # type: ignore[no-untyped-def]
    """The filter, as an epilog."""
    spectrum[offset] = element * factors[offset]


def filtered(cupy: Any, torch: Any, size: int, seconds: float) -> Case:
    """R2C of size x size float32, times a filter."""
    rng = cupy.random.default_rng(0)
    image = rng.standard_normal((size, size), dtype=cupy.float32)
    factors = rng.standard_normal((size, size // 2 + 1), dtype=cupy.float32)
    expected = cupy.fft.rfft2(image) * factors
    fused, plain = FFT(image), FFT(image)
    fused.plan(epilog={"function": multiply, "data": factors})
    plain.plan()
    found: Contenders = {
        "nvmath, epilog": fused.execute,
        "nvmath, then product": lambda: cupy.multiply(spectrum := plain.execute(), factors, out=spectrum),
        "cupy.fft, then product": lambda: cupy.multiply(spectrum := cupy.fft.rfft2(image), factors, out=spectrum),
    }
    if torch is not None:
        tensor, filter_ = torch.as_tensor(image, device="cuda"), torch.as_tensor(factors, device="cuda")
        found["torch.fft, then product"] = lambda: torch.fft.rfft2(tensor).mul_(filter_)
    for name, function in found.items():
        difference = cupy.linalg.norm(cupy.asarray(function()) - expected) / cupy.linalg.norm(expected)
        if not difference < 1e-5:
            raise AssertionError(f"{name} differs from cupy by {float(difference):.1e}")
    clock = device_clock(cupy)
    return measure(
        f"r2c {size} x {size} f32 and filter", found, "nvmath, epilog", seconds=seconds, clock=clock, most=20
    )


def round_trip(cupy: Any, torch: Any, size: int, seconds: float) -> list[Case]:
    """R2C of a host array of size x size float32 on the GPU, back to the host; from ordinary and from pinned memory."""
    image = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    pinned = _pinned(cupy, image.shape, "float32")
    pinned[...] = image
    target = _pinned(cupy, (size, size // 2 + 1), "complex64")
    there, back = cupy.empty(image.shape, "float32"), cupy.empty(target.shape, "complex64")
    stream = cupy.cuda.get_current_stream()

    def copies() -> None:
        there.set(pinned)
        back.get(out=target)
        stream.synchronize()

    done = []
    for kind, operand in (("pinned", pinned), ("ordinary", image)):
        found: Contenders = {
            "nvmath": lambda operand=operand: nvmath.fft.rfft(operand, execution="cuda"),  # type: ignore[misc]
            "pinned copies alone": copies,
            "cupy": lambda operand=operand: cupy.asnumpy(cupy.fft.rfft2(cupy.asarray(operand))),  # type: ignore[misc]
        }
        if torch is not None:
            tensor = torch.from_numpy(operand)
            found["torch"] = lambda tensor=tensor: torch.fft.rfft2(tensor.cuda()).cpu()  # type: ignore[misc]
        name = f"r2c {size} x {size} f32, {kind} host memory there and back"
        done.append(measure(name, found, "nvmath", seconds=seconds, clock=wall, most=1))
    return done


def _pinned(cupy: Any, shape: tuple[int, ...], dtype: str) -> Any:
    count = int(np.prod(shape))
    memory = cupy.cuda.alloc_pinned_memory(count * np.dtype(dtype).itemsize)
    return np.frombuffer(memory, dtype, count).reshape(shape)


def cases(seconds: float) -> list[Case]:
    """Measure everything; needs CuPy, and takes PyTorch along."""
    cupy, torch = gpu_cupy(), gpu_torch()
    if cupy is None:
        sys.exit("This benchmark needs a GPU and CuPy.")
    return [filtered(cupy, torch, 4096, seconds), *round_trip(cupy, torch, 8192, seconds)]


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("FFT on a GPU", cases(asked.seconds), asked)
