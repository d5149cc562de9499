"""Transforms on the CPU through :mod:`scipy.fft`: always there, and the faster one for lengths with large prime factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scipy import fft as scipy_fft

from .._core.dtypes import DTYPES, DType
from .._core.kernels_host import array_at
from ._fftw import loop_limit, never
from ._options import FFTDirection
from ._passes import Capability, Transform
from ._plan import Call

CAPABILITY: Final = Capability(
    max_rank=32, nested=False, c2r_rank=32, preserves_c2r=lambda rank: True, ignores_imaginary=True, paired=False, half=never,
    loop_limit=loop_limit,
)  # fmt: skip

# Names of scipy.fft by kind and direction; every one without a factor (norm) of its own.
_FUNCTIONS: Final[dict[tuple[str, FFTDirection], tuple[str, str]]] = {
    ("C2C", FFTDirection.FORWARD): ("fftn", "backward"),
    ("C2C", FFTDirection.INVERSE): ("ifftn", "forward"),
    ("R2C", FFTDirection.FORWARD): ("rfftn", "backward"),
    ("C2R", FFTDirection.INVERSE): ("irfftn", "forward"),
}


class PocketfftLibrary:
    """Calls of scipy.fft over foreign memory."""

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads

    def __str__(self) -> str:
        return "scipy.fft"

    def call(self, step: Transform, direction: FFTDirection) -> Call:
        """Return the function that runs a transform."""
        real, complex_ = step.precision, DTYPES[step.precision.complex.name]
        dtypes: tuple[DType, DType] = (
            real if step.kind == "R2C" else complex_, real if step.kind == "C2R" else complex_
        )  # fmt: skip
        name, norm = _FUNCTIONS[step.kind, direction]
        function: Callable[..., Any] = getattr(scipy_fft, name)
        outer = [dim for dim in (*step.loop, step.batch) if dim[0] != 1]
        lengths = tuple(dim[0] for dim in step.dims)
        batch = tuple(dim[0] for dim in outer)
        half = (*lengths[:-1], lengths[-1] // 2 + 1)
        shapes = (
            batch + (half if step.kind == "C2R" else lengths), batch + (half if step.kind == "R2C" else lengths)
        )  # fmt: skip
        strides = tuple(tuple(dim[side] for dim in (*outer, *step.dims)) for side in (1, 2))
        axes = tuple(range(len(outer), len(outer) + len(lengths)))
        workers = self.num_threads

        def run(source: int, target: int) -> None:
            values = array_at(source, shapes[0], strides[0], dtypes[0])
            result = array_at(target, shapes[1], strides[1], dtypes[1])
            result[...] = function(values, s=lengths, axes=axes, norm=norm, workers=workers)

        return run

    def close(self) -> None:
        """Nothing is owned."""
