"""Whether a matrix is too ill-conditioned: a guess that costs one solve, and a good estimate where the guess is alarming.

The guess takes ``a @ y = z`` for one fixed vector z without small elements. Unless z is nearly orthogonal to the vector that matters,
the norm of y is at least that of the inverse times a fair part of 1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from ..._core.condition import Solve as Solve
from ..._core.condition import inverse_norm as inverse_norm

Array = np.ndarray[Any, Any]

_MARGIN: Final = 0.05
"""The part of the inverse's norm that the guess finds all but surely."""


@lru_cache(maxsize=64)
def probe(n: int, dtype: str) -> Array:
    """Return the right-hand side of the guess: fixed numbers of size 0.5 to 1.5 and random sign."""
    random = np.random.default_rng(20261130)
    values = (0.5 + random.random(n)) * random.choice((-1.0, 1.0), n)
    made: Array = values.astype(dtype)
    made.flags.writeable = False
    return made


@lru_cache(maxsize=8)
def limit(dtype: str) -> float:
    """Return the condition number from which on no digit is sure: the reciprocal of the precision."""
    return 1 / float(np.finfo(dtype).eps)


def alarm(dtype: str) -> float:
    """Return the product of norms from which on the guess is followed by an estimate."""
    return _MARGIN * limit(dtype)


def norms_of(matrices: Array) -> Array:
    """Return the 1-norms of matrices, the last two axes."""
    with np.errstate(all="ignore"):
        result: Array = np.abs(matrices).sum(axis=-2).max(axis=-1, initial=0)
    return result


def half_as_whole(matrices: Array, lower: bool) -> Array:
    """Return the sizes of the elements of matrices that equal their transposes in size, from one triangle."""
    part = np.abs(np.tril(matrices, -1) if lower else np.triu(matrices, 1))
    diagonal = np.zeros_like(part)
    np.einsum("...ii->...i", diagonal)[...] = np.abs(np.einsum("...ii->...i", matrices))
    whole: Array = part + part.swapaxes(-1, -2) + diagonal
    return whole
