"""alpha and beta of a contraction: kept where C can read them, set before each execution."""

from __future__ import annotations

from array import array
from typing import Any, Final

import numpy as np

_CODES: Final = {"float32": "f", "float64": "d", "complex64": "f", "complex128": "d"}


class Scalars:
    """The two factors of one object; one thread at a time uses it."""

    __slots__ = ("_asked", "_kind", "alpha", "alpha_ptr", "beta", "beta_ptr", "buffers")

    def __init__(self, dtype: str) -> None:
        self._kind: Any = complex if dtype.startswith("complex") else float
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
        """
        if alpha is self._asked[0] and beta is self._asked[1]:
            return
        one, other = self._number("alpha", alpha), self._number("beta", beta)
        self.alpha, self.beta, self._asked = one, other, (alpha, beta)
        if self._kind is complex:
            self.buffers[0], self.buffers[1], self.buffers[2], self.buffers[3] = one.real, one.imag, other.real, other.imag
        else:
            self.buffers[0], self.buffers[2] = one, other

    def _number(self, name: str, value: Any) -> Any:
        if isinstance(value, float | int | np.floating | np.integer):
            return self._kind(value)
        if not isinstance(value, complex | np.complexfloating):
            raise TypeError(f"{name} must be a number, not {type(value).__name__}.")
        if self._kind is float:
            raise TypeError(f"{name} = {value!r} is complex, but the operands are real. Pass a real {name}, or complex operands.")
        return complex(value)
