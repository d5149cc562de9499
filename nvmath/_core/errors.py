"""The exceptions that operations share.

Exception *types* follow the library whose interface this package implements, so that ``except`` clauses written for it keep
working; what is added here are common bases and texts that say what was expected, what was given and what to do.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Final

_PACKAGE: Final = __name__.partition(".")[0] + "."


class InvalidStateError(Exception):
    """An object was used after it had been freed."""


class IllConditionedWarning(UserWarning):
    """A matrix is so ill-conditioned that few digits of a solution may be right.

    Attributes
    ----------
    indices : tuple of int
        Which matrices of a batch, where that is known.
    """

    def __init__(self, text: str, indices: Sequence[int] = ()) -> None:
        super().__init__(text)
        self.indices = tuple(indices)


class UngradedWarning(UserWarning):
    """A tensor that requires a gradient was used; the result is cut from the autograd graph."""


def join(values: object) -> str:
    """Write the legal choices of an option for an error text."""
    return ", ".join(repr(value) for value in values)  # type: ignore[attr-defined]


def warn(text: str | Warning, category: type[Warning]) -> None:
    """Warn at the line that called into this package, however deep the cause was found."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
