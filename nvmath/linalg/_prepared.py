"""Products of small matrices on the CPU: one call of C that looks at the operands, makes the result and multiplies.

What Python does around a product takes longer than the product. So an operation that turns out to be one foreign call on NumPy arrays
keeps a prepared call among its runners; it says NotImplemented, before anything is done, when the operands are not exactly as they were,
and then the long way is taken. The one-call functions find such calls in a table, which knows them for as long as their plans live.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from .._core.operation import Operation
from ..bindings import _seam

PREPARED: Final = "prepared"
"""Under what an operation keeps its prepared call among its runners."""
_RANK: Final = 4


class Whole(NamedTuple):
    """A foreign call that is all of an operation."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    places: tuple[int, ...]
    """Which arguments are the addresses of the operands, in their order, and last that of the result."""
    guard: np.ndarray[Any, Any]
    """Numbers on which the arguments depend."""
    kept: Any = None
    """What an argument is an address of."""


def prepare(operation: Operation, call: Whole | None) -> None:
    """Keep the prepared call of an operation, or none if it is more than one call, or its operands are no plain NumPy arrays."""
    operation._runners.pop(PREPARED, None)
    objs, route = operation._objs, operation._route
    if call is None or operation._inplace or route.across or any(route.untidy) or not _seam.can_prepare(call.function):
        return
    if any(type(obj) is not np.ndarray or obj.ndim > _RANK for obj in objs):
        return
    if any(extent < 2 for obj in objs for extent in obj.shape):
        return  # the layout of the result follows from all strides, and the buffer protocol does not tell those of such axes
    if any(operation._look(obj)[1] != look for obj, (_, look, _) in zip(objs, operation._known, strict=True)):
        return  # reshaped or resized where they are: the plan is for what they were
    result = operation._result()
    make = operation._adapter.maker(result.shape, result.strides, result.dtype, operation._device)
    operation._runners[PREPARED] = _seam.prepare(
        call.function, call.arguments, call.places, objs, make, call.guard, call.kept
    )  # fmt: skip


def answered(operation: Operation) -> int:
    """Return how many calls the prepared one of an operation made since this was asked last."""
    prepared: Any = operation._runners.get(PREPARED)
    return 0 if prepared is None else _seam.answered(prepared)


class Tables:
    """The prepared calls of a one-call function, for operands alone and no argument but `execution`."""

    def __init__(self) -> None:
        self._make()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._make)

    def _make(self) -> None:
        self.of: dict[Any, Callable[..., Any]] = {place: _seam.table(np.ndarray) for place in (None, "cpu")}

    def enter(self, execution: Any, operation: Operation) -> None:
        """Make the prepared call of an operation known, if it has one."""
        prepared: Any = operation._runners.get(PREPARED)
        if prepared is not None and (execution is None or type(execution) is str) and execution in self.of:
            _seam.enter(self.of[execution], prepared)
