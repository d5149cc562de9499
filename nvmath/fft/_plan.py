"""Plans of several steps: what one library call cannot do, on any library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .._core.dtypes import DType
from .._core.layout import Ints
from ._options import NORMS, FFTDirection
from ._passes import OUTPUT, Clean, Columns, Load, Move, Passes, Step, Store, Transform
from ._problem import FFTProblem

Call = Callable[..., None]
"""Called with (input address, output address), and on a GPU with the stream."""


class Library(Protocol):
    """What a library's plan offers to the steps."""

    def call(self, step: Transform, direction: FFTDirection) -> Call:
        """Return the function that runs one transform, loops included."""


class Mover(Protocol):
    """The copies, scalings, callbacks, scratch memory and own transforms of a place."""

    @property
    def columns(self) -> Callable[[Columns, FFTDirection], Call] | None:
        """Return the function that transforms columns; None where the capability has none."""

    def move(self, step: Move) -> Call:
        """Return the function that runs a copy."""

    def load(self, step: Load) -> Call:
        """Return the function that applies the prolog."""

    def store(self, step: Store) -> Call:
        """Return the function that applies the epilog."""

    def clean(self, step: Clean) -> Call:
        """Return the function that clears imaginary parts."""

    def scale(self, shape: Ints, strides: Ints, dtype: DType, factor: float) -> Call:
        """Return the function that multiplies a buffer, given as input and as output, by a number."""

    def scratch(self, nbytes: int, *stream: int) -> tuple[int, Any]:
        """Take memory for the time of one launch: its address, and the object that owns it."""


def launch_of(
    problem: FFTProblem, passes: Passes, library: Library, mover: Mover, direction: FFTDirection
) -> Call:
    """Return the function that computes a whole problem in one direction."""
    if passes.direct:
        step = passes.steps[0]
        assert isinstance(step, Transform)
        return library.call(step, direction)
    calls = [(step.source, step.target, _call_of(step, library, mover, direction)) for step in passes.steps]
    factor = NORMS[problem.norm][direction is FFTDirection.INVERSE](problem.points)
    if factor != 1.0 and passes.scaled:
        _insert_scaling(calls, problem, passes, mover, factor)
    sizes, scratch = passes.scratch, mover.scratch

    def launch(source: int, target: int, *stream: int) -> None:
        buffers, owners = [source, target], []
        for nbytes in sizes:
            address, owner = scratch(nbytes, *stream)
            buffers.append(address)
            owners.append(owner)
        for i, o, call in calls:
            call(buffers[i], buffers[o], *stream)

    return launch


def _call_of(step: Step, library: Library, mover: Mover, direction: FFTDirection) -> Call:
    match step:
        case Transform():
            return library.call(step, direction)
        case Move():
            return mover.move(step)
        case Load():
            return mover.load(step)
        case Store():
            return mover.store(step)
        case Clean():
            return mover.clean(step)
        case Columns():
            assert mover.columns is not None
            return mover.columns(step, direction)


def _insert_scaling(
    calls: list[tuple[int, int, Call]], problem: FFTProblem, passes: Passes, mover: Mover, factor: float
) -> None:
    """Scale the result at the end, or before it is narrowed, since the narrow type could overflow."""
    last = passes.steps[-1]
    if isinstance(last, Move) and last.in_dtype is not last.out_dtype:
        scale = mover.scale(last.shape, last.in_strides, last.in_dtype, factor)
        calls.insert(-1, (last.source, last.source, scale))
    else:
        scale = mover.scale(problem.out_shape, problem.out_strides, problem.out_dtype, factor)
        calls.append((OUTPUT, OUTPUT, scale))
