"""Who does a transform: the best library for a problem and a place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from .._core import kernels_host
from .._core.arrays import Adapter
from .._core.dtypes import DType
from .._core.fork import children
from .._core.layout import dense, stride_order
from .._core.place import Cuda, Place
from . import _fftw
from ._callbacks import Callback
from ._options import FFTDirection
from ._passes import INPUT, SCRATCH, Capability, Move, Passes, lower
from ._plan import Call, launch_of
from ._problem import FFTProblem

Callbacks = tuple[Callback | None, Callback | None]

_PRIME_FOR_POCKETFFT: Final = 100
"""From this prime factor on, pocketfft is faster than MKL (measured: 10007 takes 0.6 of the time)."""
_POINTS_FOR_POCKETFFT: Final = 2000
"""Below, the cost of a call of scipy.fft is larger than what it saves."""


class HostMover:
    """Copies, scalings and scratch memory in host memory."""

    @staticmethod
    def move(step: Move) -> Call:
        """Return the function that runs a copy."""
        return kernels_host.move(
            step.shape, step.in_strides, step.out_strides, step.in_dtype, step.out_dtype, step.zero_nbytes
        )  # fmt: skip

    scale = staticmethod(kernels_host.scale)
    scratch = staticmethod(kernels_host.scratch)


class HostPlan:
    """A transform on the CPU."""

    workspace_nbytes = 0
    nbytes = 0

    def __init__(self, problem: FFTProblem, num_threads: int, callbacks: Callbacks) -> None:
        for callback in callbacks:
            if callback is not None:
                callback.require_place("cpu")
        self.problem, self.num_threads = problem, num_threads
        self.callbacks = callbacks
        self.data = [0 if callback is None else callback.data for callback in callbacks]
        self._open()

    def _open(self) -> None:
        self.generation = children.generation
        self.library, capability = _host_library(self.problem, self.num_threads)
        self.passes, self.inner = _with_prolog(self.problem, capability, self.callbacks[0])
        self.launches: dict[FFTDirection, Call] = {}

    def launch(self, direction: FFTDirection) -> Call:
        """Return the function that computes the problem in one direction."""
        call = self.launches.get(direction)
        if call is None:
            call = self.launches[direction] = self._make(direction)
        return call

    def _make(self, direction: FFTDirection) -> Call:
        problem, (prolog, epilog) = self.problem, self.callbacks
        after = None
        if epilog is not None:
            store = epilog.host()
            after = lambda target: store(  # noqa: E731
                target, self.data[1], problem.out_shape, problem.out_strides, self.num_threads
            )  # fmt: skip
        call = launch_of(self.inner, self.passes, self.library, HostMover, direction, after)
        return call if prolog is None else self._load(prolog, call)

    def _load(self, prolog: Callback, call: Call) -> Call:
        """Put the prolog before a transform that reads its dense result."""
        problem, load = self.problem, prolog.host()
        shape, strides = problem.shape, problem.in_strides
        nbytes = self.inner.in_dtype.itemsize * max(1, _size(shape))
        resize = _resizing(problem)

        def run(source: int, target: int) -> None:
            if resize is not None:
                first, owner = kernels_host.scratch(nbytes)
                resize(source, first)
                source = first
            values, keep = kernels_host.scratch(nbytes)
            load(source, values, self.data[0], shape, strides, self.inner.in_strides, self.num_threads)
            call(values, target)

        return run

    def close(self) -> None:
        """Destroy the library's plans."""
        if self.generation == children.generation:
            self.library.close()


def _size(shape: tuple[int, ...]) -> int:
    total = 1
    for extent in shape:
        total *= extent
    return total


def _resizing(problem: FFTProblem) -> Call | None:
    if problem.shape == problem.source_shape:
        return None
    common = tuple(map(min, problem.source_shape, problem.shape))
    return kernels_host.move(
        common, problem.source_strides, problem.in_strides, problem.in_dtype, problem.in_dtype,
        _size(problem.shape) * problem.in_dtype.itemsize,
    )  # fmt: skip


def _with_prolog(problem: FFTProblem, capability: Capability, prolog: Callback | None) -> tuple[Passes, FFTProblem]:
    """Lower a problem; with a prolog, the one that reads the prolog's dense result."""
    if prolog is None:
        return lower(problem, capability), problem
    strides = dense(problem.shape, stride_order(problem.shape, problem.in_strides))
    inner = replace(
        problem, source_shape=problem.shape, source_strides=strides, in_strides=strides, inplace=False
    )  # fmt: skip
    passes = lower(inner, capability)
    return replace(passes, first_strides=problem.in_strides), inner


def _host_library(problem: FFTProblem, num_threads: int) -> tuple[Any, Capability]:
    found = _fftw.flavour()
    primes = max(map(_fftw.largest_prime_factor, problem.lengths))
    slow = found is not None and found.flavour == "mkl" and primes >= _PRIME_FOR_POCKETFFT
    if found is None or (slow and problem.points >= _POINTS_FOR_POCKETFFT):
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
    problem: FFTProblem, place: Place, num_threads: int | None, callbacks: Callbacks, adapter: Adapter
) -> Any:
    """Return the plan of a problem at a place."""
    if isinstance(place, Cuda):
        from ._cufft import CufftPlan

        return CufftPlan(problem, place, callbacks, adapter)
    return HostPlan(problem, num_threads or 1, callbacks)


__all__ = ["INPUT", "SCRATCH", "HostPlan", "make_plan"]
