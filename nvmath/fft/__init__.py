"""Fast Fourier transforms on the CPU and on GPUs.

The one-call functions :func:`fft`, :func:`ifft`, :func:`rfft` and :func:`irfft` transform over all axes by default and do not
normalise. :class:`FFT` keeps a plan for repeated use.
"""

import sys

from .._core.options import ExecutionCPU, ExecutionCUDA
from . import _api
from ._api import FFT, InvalidFFTState, estimate_workspace_size, fft, ifft, irfft, rfft
from ._callbacks import DeviceCallable, compile_epilog, compile_prolog
from ._options import FFTDirection, FFTOptions, UnsupportedLayoutError

# Code written for the original finds InvalidFFTState in a module of this name.
sys.modules.setdefault(__name__ + ".fft", _api)

__all__ = [
    "FFT",
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
