"""Who does a transform: the best library for a problem and a place."""

from __future__ import annotations

from typing import Any, Final

from .._core import kernels_host
from .._core.arrays import Adapter
from .._core.dtypes import DType
from .._core.fork import IMPORTING
from .._core.place import Cuda, Place
from . import _fftw
from ._callback_pair import CallbackPair
from ._options import FFTDirection
from ._passes import Capability, Clean, Load, Move, Store, lower
from ._plan import Call, launch_of
from ._primes import largest_prime_factor
from ._problem import FFTProblem

_PRIME_FOR_POCKETFFT: Final = 100
"""From this prime factor on, pocketfft is faster than MKL (measured: 10007 takes 0.6 of the time)."""
_POINTS_FOR_POCKETFFT: Final = 2000
"""Below, the cost of a call of scipy.fft is larger than what it saves."""


class HostMover:
    """Copies, scalings, callbacks and scratch memory in host memory."""

    scale = staticmethod(kernels_host.scale)
    columns = None

    def __init__(self, callbacks: CallbackPair, num_threads: int) -> None:
        self.callbacks, self.num_threads = callbacks, num_threads

    scratch = staticmethod(kernels_host.scratch)

    def move(self, step: Move) -> Call:
        """Return the function that runs a copy."""
        return kernels_host.move(
            step.shape, step.in_strides, step.out_strides, step.in_dtype, step.out_dtype, step.zero_nbytes
        )  # fmt: skip

    def load(self, step: Load) -> Call:
        """Return the function that applies the prolog."""
        load, data, threads = self.callbacks.host(0), self.callbacks.data, self.num_threads
        layout = step.shape, step.in_strides, step.out_strides
        return lambda source, target: load(source, target, data[0], *layout, threads)

    def store(self, step: Store) -> Call:
        """Return the function that applies the epilog."""
        store, data, threads = self.callbacks.host(1), self.callbacks.data, self.num_threads
        return lambda source, target: store(target, data[1], step.shape, step.strides, threads)

    def clean(self, step: Clean) -> Call:
        """Return the function that clears imaginary parts."""
        return kernels_host.clean(step.shape, step.strides, step.dtype)


class HostPlan:
    """A transform on the CPU."""

    workspace_nbytes = 0
    nbytes = 0

    def __init__(self, problem: FFTProblem, num_threads: int, callbacks: CallbackPair) -> None:
        callbacks.require_place("cpu")
        self.problem, self.num_threads, self.callbacks = problem, num_threads, callbacks
        self.mover = HostMover(callbacks, num_threads)
        self.library, capability = _host_library(problem, num_threads)
        self.passes = lower(problem, capability, prolog=callbacks.prolog, epilog=callbacks.epilog)

    @property
    def description(self) -> str:
        """Who computes, for the log."""
        return f"{self.library}, {self.num_threads} thread{'s' if self.num_threads > 1 else ''} at most, {len(self.passes.steps)} step(s)"

    def launch(self, direction: FFTDirection) -> Call:
        """Return the function that computes the problem in one direction."""
        return launch_of(self.problem, self.passes, self.library, self.mover, direction)

    def rebind(self, callbacks: CallbackPair) -> bool:
        """Use the data of other callbacks of the same code."""
        self.callbacks.take_data(callbacks)
        return True

    def close(self) -> None:
        """Destroy the library's plans."""
        self.library.close()


def _host_library(problem: FFTProblem, num_threads: int) -> tuple[Any, Capability]:
    found = _fftw.flavour()
    primes = max(map(largest_prime_factor, problem.lengths))
    slow = found is not None and found.flavour == "mkl" and primes >= _PRIME_FOR_POCKETFFT
    if found is None or (slow and problem.points >= _POINTS_FOR_POCKETFFT):
        with IMPORTING:  # SciPy
            from . import _pocketfft

        return _pocketfft.PocketfftLibrary(num_threads), _pocketfft.CAPABILITY
    return _fftw.FftwLibrary(found.flavour, num_threads), _fftw.CAPABILITIES[found.flavour]


def alignment(dtype: DType, place: Place) -> int:
    """Return the multiple of bytes at which an operand must lie: cuFFT reads real data in pairs, and so may NVPL."""
    if isinstance(place, Cuda):
        return dtype.complex.itemsize
    found = _fftw.flavour()
    return dtype.complex.itemsize if found is not None and found.flavour == "nvpl" and dtype.partner else 1


def make_plan(
    problem: FFTProblem, place: Place, num_threads: int | None, callbacks: CallbackPair, adapter: Adapter
) -> Any:
    """Return the plan of a problem at a place."""
    if isinstance(place, Cuda):
        from ._cufft import CufftPlan

        return CufftPlan(problem, place, callbacks, adapter)
    return HostPlan(problem, num_threads or 1, callbacks)
