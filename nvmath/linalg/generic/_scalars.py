"""Alpha and beta of a product, as numbers and at the addresses where the libraries read them."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

import numpy as np

from ..._core.dtypes import DType

_HALVES: Final = {"float16": "float32", "bfloat16": "float32"}


class Scalars:
    """The two factors of one object, in the dtype of its arithmetic; one thread at a time uses it."""

    __slots__ = ("_kind", "_most", "addresses", "array", "values")

    def __init__(self, dtype: DType) -> None:
        self.array = np.array([1, 0], _HALVES.get(dtype.name, dtype.name))
        start, step = self.array.ctypes.data, self.array.itemsize
        self.addresses = start, start + step
        self.values: list[Any] = self.array.tolist()
        self._kind: Any = type(self.values[0])
        self._most = float(np.finfo(self.array.dtype).max)

    def read(self, alpha: Any = None, beta: Any = None) -> list[Any]:
        """Return what the scalars would be; None leaves one as it is.

        Raises
        ------
        ValueError
            A value cannot be converted to the dtype.
        """
        old_alpha, old_beta = self.values
        return [
            old_alpha if alpha is None else self._number(alpha, "alpha"),
            old_beta if beta is None else self._number(beta, "beta"),
        ]

    def store(self, new: list[Any]) -> None:
        """Use new values from now on, at the same addresses; as numbers too they are what the dtype makes of them."""
        self.array[:] = new
        self.values[:] = self.array.tolist()  # a tiny beta is 0 there, and then C must not be read

    def _number(self, value: Any, name: str) -> float | complex:
        if type(value) is float and -self._most <= value <= self._most:
            return self._kind(value)  # type: ignore[no-any-return]
        complex_ = self._kind is complex
        try:
            number = self._kind(_plain(value, complex_))
        except (TypeError, ValueError, OverflowError, RuntimeError):
            raise ValueError(
                f"The value of {name}, {value!r}, cannot be converted to {self.array.dtype}. Pass a "
                f"{'complex' if complex_ else 'real'} number."
            ) from None
        if any(isfinite(part) and abs(part) > self._most for part in (number.real, number.imag)):
            raise ValueError(f"The value of {name}, {value!r}, is too large for {self.array.dtype}.")
        return number  # type: ignore[no-any-return]


def _plain(value: Any, complex_: bool) -> Any:
    """Return a value that may be a number, or raise."""
    if type(value) is int:
        return value
    if isinstance(value, str | bytes) or bool(getattr(value, "ndim", 0)) or (not complex_ and np.iscomplexobj(value)):
        raise TypeError
    return value
