"""The scalars of a product: alpha and beta, where the libraries read them."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

import numpy as np

from ..._enums import CudaDataType

_KINDS: Final = {
    CudaDataType.CUDA_R_16F: "float16", CudaDataType.CUDA_R_32F: "float32", CudaDataType.CUDA_R_64F: "float64",
    CudaDataType.CUDA_C_32F: "complex64", CudaDataType.CUDA_C_64F: "complex128", CudaDataType.CUDA_R_32I: "int32",
}  # fmt: skip


class Scalars:
    """Alpha and beta as numbers and, at fixed addresses, as one element each of the scale type.

    `idle` says whether alpha is 0 as the library sees it; `unit` and `zero` are the addresses of a 1 and a 0.
    """

    __slots__ = ("addresses", "array", "constants", "idle", "unit", "values", "zero")

    def __init__(self, scale_type: int) -> None:
        self.array = np.array([1, 0], _KINDS[CudaDataType(scale_type)])
        start, step = self.array.ctypes.data, self.array.itemsize
        self.addresses = start, start + step
        self.values: list[Any] = self.array.tolist()
        self.constants = np.array([1, 0], self.array.dtype)
        self.unit: int = self.constants.ctypes.data
        self.zero = self.unit + step
        self.idle = False

    def read(self, alpha: Any = None, beta: Any = None) -> list[Any]:
        """Return what the scalars would be; None leaves one as it is.

        Raises
        ------
        ValueError
            A value cannot be converted to the scale type, or is too large for it.
        """
        kind = self.array.dtype
        return [
            old if value is None else _number(value, name, kind)
            for name, value, old in (("alpha", alpha, self.values[0]), ("beta", beta, self.values[1]))
        ]

    def store(self, new: list[Any]) -> None:
        """Use new values from now on, at the same addresses; as numbers too they are what the scale type makes of them."""
        self.array[:] = new
        self.values[:] = self.array.tolist()  # a tiny beta is 0 there, and then C must not be read
        self.idle = self.values[0] == 0


def _number(value: Any, name: str, dtype: np.dtype[Any]) -> float | complex:
    complex_ = dtype.kind == "c"
    try:
        if isinstance(value, str | bytes) or (not complex_ and np.iscomplexobj(value)):
            raise TypeError
        if dtype.kind == "i":
            if int(value) != value or not np.iinfo(dtype).min <= int(value) <= np.iinfo(dtype).max:
                raise TypeError
            return int(value)
        number = complex(value) if complex_ else float(value)
    except (TypeError, ValueError, OverflowError):
        needed = {"c": "a complex number", "i": "an integer"}.get(dtype.kind, "a real number")
        raise ValueError(f"{name} = {value!r} cannot be converted to {dtype}. Pass {needed}.") from None
    if any(isfinite(part) and abs(part) > float(np.finfo(dtype).max) for part in (number.real, number.imag)):
        raise ValueError(f"{name} = {value!r} is too large for {dtype}.")
    return number
