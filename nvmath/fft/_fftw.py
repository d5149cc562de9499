"""Transforms on the CPU through the FFTW3 interface: MKL, NVPL or FFTW."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, Final

from .._core.fork import children
from .._core.place import discard, reap
from ..bindings import _seam
from ..bindings.nvpl import fft as fftw
from ._options import FFTDirection
from ._passes import Capability, Transform
from ._plan import Call
from ._problem import FFTProblem

_KINDS: Final = {"C2C": 1, "C2R": 2, "R2C": 3}
_PRECISIONS: Final = {"float32": (32, "float"), "float64": (64, "double")}
_IN_PLACE: Final = (1 << 20, 1 << 20)
_OUT_OF_PLACE: Final = (1 << 20, 1 << 30)
"""Addresses for planning by estimate, which does not touch memory; whether they are equal is all that counts."""

_ELEMENTS_PER_THREAD: Final = 1 << 14


def never(problem: FFTProblem) -> bool:
    """No half precision on the CPU: it is converted."""
    return False


def loop_limit(work: int) -> int:
    """A loop of calls costs about 0.3 us each; a copy costs about 1 ns an element, twice."""
    return max(4, work // 128 * 8)


def _capability(max_rank: int, c2r_rank: int, *, preserves: Callable[[int], bool], negative: bool) -> Capability:
    return Capability(
        max_rank=max_rank, nested=False, c2r_rank=c2r_rank, preserves_c2r=preserves, ignores_imaginary=True, paired=False,
        half=never, loop_limit=loop_limit, negative=negative,
    )  # fmt: skip


CAPABILITIES: Final = {
    # MKL leaves the input of an out-of-place C2R transform alone (tested). Of a spectrum that is no real signal's it reads half of the
    # planes at frequency 0 and n/2 only, when several axes are transformed at once: then the result would depend on the library.
    "mkl": _capability(7, 1, preserves=lambda rank: True, negative=True),
    "nvpl": _capability(3, 3, preserves=lambda rank: rank == 1, negative=False),
    # FFTW 3.3.10 crashes while it plans some transforms with negative strides, such as (11, 1, 1) (4, 77, -77) x (7, 11, 11).
    "fftw": _capability(7, 7, preserves=lambda rank: rank == 1, negative=False),
}


class FftwLibrary:
    """The plans of one problem; those of a C2C transform are made per direction, at first use."""

    def __init__(self, flavour: str, num_threads: int) -> None:
        self.num_threads = num_threads
        self.flags = 1 << 6 | fftw.PRESERVE_INPUT | (fftw.UNALIGNED if flavour == "fftw" else 0)
        self.generation = children.generation
        self.handles: list[tuple[int, int]] = []

    def __str__(self) -> str:
        found = fftw.fftw_library()
        return f"{found.flavour} {found.version}"

    def call(self, step: Transform, direction: FFTDirection) -> Call:
        """Return the function that runs a transform."""
        bits, name = _PRECISIONS[step.precision.name]
        kind = step.kind.lower()
        in_place = step.source == step.target and step.kind == "C2C"
        batch = [step.batch] if step.batch[0] != 1 else []
        handle = fftw.plan_guru(
            bits, _KINDS[step.kind], direction, step.dims, batch, *(_IN_PLACE if in_place else _OUT_OF_PLACE),
            flags=self.flags if step.kind != "C2R" or len(step.dims) == 1 else self.flags & ~fftw.PRESERVE_INPUT,
            num_threads=threads_for(step, self.num_threads),
        )  # fmt: skip
        self.handles.append((bits, handle))
        execute = getattr(fftw, f"execute_{kind}_{name}")
        if not step.loop:
            return partial(execute, handle)
        extents = tuple(dim[0] for dim in step.loop)
        real = step.precision.itemsize
        sizes = (real if step.kind == "R2C" else 2 * real, real if step.kind == "C2R" else 2 * real)
        steps = (
            (0,) * len(step.loop), tuple(dim[1] * sizes[0] for dim in step.loop), tuple(dim[2] * sizes[1] for dim in step.loop)
        )  # fmt: skip
        return lambda source, target: _seam.repeat(execute, extents, steps, (handle, source, target))

    def close(self) -> None:
        """Destroy the plans."""
        self.__del__()
        reap()

    handles: list[tuple[int, int]] = []  # noqa: RUF012  # __init__ may end before it makes one

    def __del__(self) -> None:
        # Destroying takes the planner's lock, which a finalizer must not wait for. A forked child leaves the parent's plans alone.
        handles, self.handles = self.handles, []
        if self.generation == children.generation:
            for handle in handles:
                discard(_destroy, handle)


def _destroy(handle: tuple[int, int]) -> None:
    fftw.destroy_guru(*handle)


def threads_for(step: Transform, available: int) -> int:
    """Fewer threads for small transforms: starting one costs more than it saves."""
    if children.openmp_is_unsafe():
        return 1
    work = prod(dim[0] for dim in step.dims) * step.batch[0]
    return max(1, min(available, work // _ELEMENTS_PER_THREAD))


def flavour() -> Any:
    """Return which library serves the interface, or None when there is none; a library that the user asked for must be there."""
    try:
        return fftw.fftw_library()
    except RuntimeError:
        if os.environ.get("NVMATH_FFT_CPU_LIBRARY"):
            raise
        return None
