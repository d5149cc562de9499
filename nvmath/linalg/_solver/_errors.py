"""What a solver says when there is no solution, or none that can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..._core.errors import IllConditionedWarning as IllConditionedWarning
from ..._core.errors import InvalidStateError

_SHOWN: Final = 20


class InvalidDirectSolverState(InvalidStateError):
    """A solver was used after it had been freed."""


class SingularMatrixError(RuntimeError, np.linalg.LinAlgError):
    """Systems could not be solved: singular, not definite as was said, of deficient rank, or not finite.

    Attributes
    ----------
    indices : tuple of int
        The systems of the batch, counted from 0 in the order of its axes; ``(0,)`` for one system.
    """

    def __init__(self, text: str, indices: Sequence[int] = (0,)) -> None:
        super().__init__(text)
        self.indices = tuple(indices)


def listed(indices: Sequence[int]) -> str:
    """Write numbers of systems; of many the first ones."""
    shown = ", ".join(map(str, indices[:_SHOWN]))
    return f"[{shown}]" if len(indices) <= _SHOWN else f"[{shown}, ...] ({len(indices)} in all)"


def which(indices: Sequence[int], batched: bool) -> str:
    """Say which matrices are meant."""
    if not batched:
        return "The matrix a is"
    return f"In the batch, the matri{'x' if len(indices) == 1 else 'ces'} a{listed(indices)} {'is' if len(indices) == 1 else 'are'}"
