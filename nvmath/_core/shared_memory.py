"""Which arrays have elements in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from .arrays import View
from .layout import size, span

_MOST_WORK: Final = 10_000


def shared_pair(views: Sequence[View], matters: Callable[[int, int], bool]) -> tuple[int, int] | None:
    """Return the numbers of two arrays that have elements in common, of the pairs that matter, or None."""
    order = sorted((*_ends(view), index) for index, view in enumerate(views) if size(view.shape))
    before: list[tuple[int, int]] = []  # the end and the number of those that reach beyond the present one
    for begin, end, index in order:
        before = [(other_end, other) for other_end, other in before if other_end > begin]
        for _, other in before:
            first, second = min(other, index), max(other, index)
            if matters(first, second) and share(views[first], views[second]):
                return first, second
        before.append((end, index))
    return None


def share(a: View, b: View) -> bool:
    """Whether two arrays have elements in common; if that is too hard to tell, True."""
    (a0, a1), (b0, b1) = _ends(a), _ends(b)
    if not (a0 < b1 and b0 < a1):
        return False
    try:
        return bool(np.shares_memory(_stand_in(a), _stand_in(b), max_work=_MOST_WORK))  # type: ignore[arg-type]  # any number
    except np.exceptions.TooHardError:
        return True


def _ends(view: View) -> tuple[int, int]:
    low, high = span(view.shape, view.strides)
    return view.ptr + low * view.dtype.itemsize, view.ptr + (high + 1) * view.dtype.itemsize


def _stand_in(view: View) -> Any:
    """An array at the same addresses; its elements are never touched, so these may be those of a GPU."""
    itemsize = view.dtype.itemsize
    strides = tuple(step * itemsize for step in view.strides)
    interface = {"version": 3, "data": (view.ptr, False), "shape": view.shape, "strides": strides, "typestr": f"|V{itemsize}"}
    return np.asarray(SimpleNamespace(__array_interface__=interface))
