"""Fast Fourier transforms on the CPU and on GPUs.

The one-call functions :func:`fft`, :func:`ifft`, :func:`rfft` and :func:`irfft` transform over all axes by default and do not
normalise. :class:`FFT` keeps a plan for repeated use.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._core.options import ExecutionCPU, ExecutionCUDA
from . import _api
from ._api import FFT, InvalidFFTState, estimate_workspace_size, fft, ifft, irfft, rfft
from ._device_callable import DeviceCallable
from ._options import FFTDirection, FFTOptions, UnsupportedLayoutError

if TYPE_CHECKING:
    from ._callbacks import CompiledCallback, compile_epilog, compile_prolog

# Code written for the original finds InvalidFFTState in a module of this name.
sys.modules.setdefault(__name__ + ".fft", _api)

__all__ = [
    "FFT",
    "CompiledCallback",
    "DeviceCallable",
    "ExecutionCPU",
    "ExecutionCUDA",
    "FFTDirection",
    "FFTOptions",
    "InvalidFFTState",
    "UnsupportedLayoutError",
    "compile_epilog",
    "compile_prolog",
    "estimate_workspace_size",
    "fft",
    "ifft",
    "irfft",
    "rfft",
]


def __getattr__(name: str) -> Any:
    if name in ("CompiledCallback", "compile_epilog", "compile_prolog"):  # the compilers take as long to import as NumPy
        from . import _callbacks

        value = globals()[name] = getattr(_callbacks, name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
