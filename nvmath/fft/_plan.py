"""Plans of several steps: what one library call cannot do, on any library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ._options import NORMS, FFTDirection
from ._passes import Move, Passes, Transform
from ._problem import FFTProblem

Call = Callable[..., None]
"""Called with (input address, output address), and on a GPU with the stream."""


class Library(Protocol):
    """What a library's plan offers to the steps."""

    def call(self, step: Transform, direction: FFTDirection) -> Call:
        """Return the function that runs one transform, loops included."""


class Mover(Protocol):
    """The copies, fills and scalings of a place."""

    def move(self, step: Move) -> Call: ...

    def scale(self, shape: Any, strides: Any, dtype: Any, factor: float) -> Callable[..., None]: ...

    def scratch(self, nbytes: int, *stream: int) -> tuple[int, Any]: ...


def launch_of(
    problem: FFTProblem,
    passes: Passes,
    library: Library,
    mover: Mover,
    direction: FFTDirection,
    after: Callable[[int], None] | None = None,
) -> Call:
    """Return the function that computes a whole problem in one direction; `after` works on the result before it is scaled."""
    if passes.direct and after is None:
        step = passes.steps[0]
        assert isinstance(step, Transform)
        return library.call(step, direction)
    calls = [
        (step.source, step.target, mover.move(step) if isinstance(step, Move) else library.call(step, direction))
        for step in passes.steps
    ]
    factor = NORMS[problem.norm][direction is FFTDirection.INVERSE](problem.points)
    scale = None if factor == 1.0 or problem.empty else mover.scale(
        problem.out_shape, problem.out_strides, problem.out_dtype, factor
    )  # fmt: skip
    sizes = passes.scratch

    def launch(source: int, target: int, *stream: int) -> None:
        owners = [mover.scratch(nbytes, *stream) for nbytes in sizes]
        buffers = [source, target, *(owner[0] for owner in owners)]
        for i, o, call in calls:
            call(buffers[i], buffers[o], *stream)
        if after is not None:
            after(target)
        if scale is not None:
            scale(target, *stream)

    return launch
