"""alpha and beta of a contraction: kept where C can read them, set before each execution."""

from __future__ import annotations

from array import array
from decimal import Decimal
from math import inf, log10
from numbers import Number, Real
from typing import Any, Final, NoReturn

import numpy as np

_CODES: Final = {"float32": "f", "float64": "d", "complex64": "f", "complex128": "d"}
_BEYOND: Final = {"f": 2.0**128 - 2.0**103, "d": inf}
"""From here on finite numbers are rounded to infinity."""


class Scalars:
    """The two factors of one object; one thread at a time uses it."""

    __slots__ = ("_asked", "_beyond", "_dtype", "_kind", "alpha", "alpha_ptr", "beta", "beta_ptr", "buffers")

    def __init__(self, dtype: str) -> None:
        self._kind: Any = complex if dtype.startswith("complex") else float
        self._dtype, self._beyond = dtype, _BEYOND[_CODES[dtype]]
        self.buffers = array(_CODES[dtype], [1.0, 0.0, 0.0, 0.0])
        self.alpha_ptr = self.buffers.buffer_info()[0]
        self.beta_ptr = self.alpha_ptr + 2 * self.buffers.itemsize
        self.alpha: Any = self._kind(1)
        self.beta: Any = self._kind(0)
        self._asked: tuple[Any, Any] = (1.0, 0.0)

    def set(self, alpha: Any, beta: Any) -> None:
        """Take new factors.

        Raises
        ------
        TypeError
            A factor is no number, or a complex one for real operands.
        ValueError
            A factor is finite, but not in the dtype of the factors.
        """
        if alpha is self._asked[0] and beta is self._asked[1]:
            return
        one, other = self._number("alpha", alpha), self._number("beta", beta)
        self._asked = (None, None) if isinstance(alpha, np.ndarray) or isinstance(beta, np.ndarray) else (alpha, beta)
        if self._kind is complex:
            self.buffers[0], self.buffers[1], self.buffers[2], self.buffers[3] = one.real, one.imag, other.real, other.imag
            self.alpha, self.beta = complex(self.buffers[0], self.buffers[1]), complex(self.buffers[2], self.buffers[3])
        else:
            self.buffers[0], self.buffers[2] = one, other
            self.alpha, self.beta = self.buffers[0], self.buffers[2]  # a tiny one is 0 there, and then nothing is read

    def _number(self, name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]  # the array may be written to afterwards
        if not isinstance(value, Number | np.bool_) or isinstance(value, Decimal):
            raise TypeError(f"{name} must be a number, not {type(value).__name__}.")
        if not isinstance(value, Real | np.bool_) and self._kind is float:
            raise TypeError(f"{name} = {value!r} is complex, but the operands are real. Pass a real {name}, or complex operands.")
        try:
            with np.errstate(all="ignore"):  # a longdouble becomes infinite with a warning
                number = self._kind(value)
        except OverflowError:
            number = None
        if number is None or any(map(self._is_beyond, _parts(number), _parts(value))):
            raise ValueError(f"{name} = {_short(value)} is beyond the range of {self._dtype}, the dtype of the factors.")
        return number

    def _is_beyond(self, part: float, asked: Any) -> bool:
        return abs(part) >= self._beyond and abs(asked) != inf


def refuse_beta(name: str, beta: Any) -> NoReturn:
    """Raise that beta and the addend do not go together."""
    if beta is None:
        raise ValueError(f"beta must be set, since there is the addend {name}.")
    raise ValueError(f"beta = {_short(beta)} can only be set together with an addend; pass {name}, or leave beta out.")


def _parts(value: Any) -> tuple[Any, Any]:
    return (value.real, value.imag) if hasattr(value, "imag") else (value, 0)


def _short(value: Any) -> str:
    if isinstance(value, int) and abs(value) >= 10**20:
        return f"{'-' * (value < 0)}10**{_digits(abs(value)) - 1}..."
    try:
        text = repr(value)
    except ValueError:  # a fraction of integers that Python does not write out
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _digits(value: int) -> int:
    """How many digits a positive integer has; Python does not write out those of thousands."""
    guess = int(log10(value))
    return guess + int(value >= 10**guess) + int(value >= 10 ** (guess + 1))
