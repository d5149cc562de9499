"""What can be asked of an FFT."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Literal

from .._core.errors import join
from .._core.keywords import explained_fields
from ..memory import BaseCUDAMemoryManager, BaseCUDAMemoryManagerAsync


class FFTDirection(IntEnum):
    """Sign of the exponent of a transform."""

    FORWARD = -1
    INVERSE = 1


_DIRECTIONS: Final = {"forward": FFTDirection.FORWARD, "inverse": FFTDirection.INVERSE}

_CHOICES: Final[dict[str, tuple[Any, ...]]] = {
    "fft_type": (None, "C2C", "C2R", "R2C"),
    "inplace": (False, True),
    "last_axis_parity": ("even", "odd"),
    "result_layout": ("natural", "optimized"),
    "blocking": (True, "auto"),
}


@explained_fields
@dataclass
class FFTOptions:
    """Options of an FFT.

    Parameters
    ----------
    fft_type : {None, "C2C", "C2R", "R2C"}, optional
        Kind of transform; by default C2C for a complex operand and R2C for a real one.
    inplace : bool, default False
        Overwrite the operand with the result (C2C only).
    last_axis_parity : {"even", "odd"}, default "even"
        C2R only: whether the length of the last axis of the result is even or odd.
    result_layout : {"optimized", "natural"}, default "optimized"
        ``"natural"`` keeps the order of the operand's strides; ``"optimized"`` may make the transformed axes the fastest.
        Shapes never differ, only strides do. Ignored in place.
    logger : logging.Logger, optional
        By default the root logger.
    blocking : {"auto", True}, default "auto"
        ``"auto"`` returns as soon as the work is queued when operand and execution are both on a GPU.
    allocator : BaseCUDAMemoryManager or BaseCUDAMemoryManagerAsync, optional
        Source of the workspace; by default the operand's package.

    Raises
    ------
    ValueError
        A field has a value that it may not have.
    TypeError
        The allocator has neither ``memalloc`` nor ``memalloc_async``.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.fft.FFTOptions(result_layout="natural").inplace
    False
    """

    fft_type: Literal["C2C", "C2R", "R2C"] | None = None
    inplace: bool = False
    last_axis_parity: Literal["even", "odd"] = "even"
    result_layout: Literal["natural", "optimized"] = "optimized"
    logger: logging.Logger | None = None
    blocking: Literal[True, "auto"] = "auto"
    allocator: BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not any(value == choice for choice in choices) or (name == "inplace" and not isinstance(value, bool)):
                raise ValueError(f"FFTOptions.{name} must be one of {join(choices)}, not {value!r}.")
        if self.allocator is not None and (
            isinstance(self.allocator, type)  # it has the methods, but no self to call them on
            or not isinstance(self.allocator, BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync)
        ):
            raise TypeError(
                "FFTOptions.allocator must have a method memalloc(size) or memalloc_async(size, stream) "
                f"(nvmath.BaseCUDAMemoryManager or nvmath.BaseCUDAMemoryManagerAsync); got {self.allocator!r}."
            )

        if self.logger is not None and not hasattr(self.logger, "isEnabledFor"):
            raise TypeError(f"FFTOptions.logger must be a logging.Logger or None, not {type(self.logger).__name__}.")

    def key(self) -> tuple[Any, ...]:
        """Everything that a plan or a result depends on."""
        return self.fft_type, self.inplace, self.last_axis_parity, self.result_layout, self.blocking


class UnsupportedLayoutError(Exception):
    """A layout that a library cannot read.

    Kept for code that catches it: this implementation handles every layout itself, by passes or one internal copy.

    Parameters
    ----------
    message : str
        The text of the exception.
    permutation : sequence of int
        Transposing the operand by it and copying makes a layout that works.
    axes : sequence of int
        The axes to transform after the transposition.
    """

    def __init__(self, message: str, permutation: Any, axes: Any) -> None:
        self.message, self.permutation, self.axes = message, permutation, axes
        super().__init__(message, permutation, axes)

    def __str__(self) -> str:
        return self.message


def coerce_direction(value: Any) -> FFTDirection:
    """Accept an FFTDirection, -1 or 1, or a name in any letter case.

    Raises
    ------
    ValueError
        Anything else.
    """
    direction = _DIRECTIONS.get(value.lower()) if isinstance(value, str) else None
    if direction is None:
        try:
            direction = FFTDirection(value)
        except ValueError:
            raise ValueError(
                f"The direction must be FFTDirection.FORWARD (-1, 'forward') or FFTDirection.INVERSE (1, 'inverse'), not {value!r}."
            ) from None
    return direction


NORMS: Final[dict[str | None, tuple[Callable[[int], float], Callable[[int], float]]]] = {
    # name: (factor of the forward transform, factor of the inverse) of N points
    None: (lambda n: 1.0, lambda n: 1.0),
    "backward": (lambda n: 1.0, lambda n: 1.0 / n),
    "ortho": (lambda n: float(n) ** -0.5, lambda n: float(n) ** -0.5),
    "forward": (lambda n: 1.0 / n, lambda n: 1.0),
}


def coerce_norm(norm: Any) -> str | None:
    """Accept None (no factor in either direction) or one of NumPy's names.

    Raises
    ------
    ValueError
        Anything else.
    """
    if not isinstance(norm, str | None) or norm not in NORMS:
        raise ValueError(f"norm must be one of {join(NORMS)}, not {norm!r}.")
    return norm
