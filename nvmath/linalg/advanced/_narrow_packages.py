"""The few array functions that scales and packed formats need, for PyTorch tensors and for NumPy and CuPy arrays.

They work where the arrays are: on the host or on a GPU.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

import numpy as np

FLOATS: Final = ("float16", "float32", "float64")


class NumpyPackage:
    """NumPy, or CuPy, which has the same names."""

    packed = "uint8"  # neither has a dtype of two 4-bit numbers
    narrow: Final = {"float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}

    def __init__(self, module: ModuleType) -> None:
        self.module, self.name = module, module.__name__

    def dtype_name(self, x: Any) -> str:
        return str(x.dtype.name)

    def dtype(self, name: str) -> Any:
        return np.dtype(name)

    def names(self, dtype: Any) -> str | None:
        """Return the name of what somebody passed as a dtype, None if it is none."""
        try:
            return str(np.dtype(dtype).name)
        except TypeError:
            return None

    def strides(self, x: Any) -> tuple[int, ...]:
        return tuple(x.strides)

    def full(self, shape: tuple[int, ...], value: int, like: Any) -> Any:
        return self.module.full(shape, value, np.uint8)

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        return x.transpose(axes)

    def contiguous(self, x: Any) -> Any:
        return self.module.ascontiguousarray(x)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        return self.module.broadcast_to(x, shape)

    def view(self, x: Any, name: str) -> Any:
        return x.view(name)

    def convert(self, x: Any, name: str) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return x.astype(name)

    def lookup(self, table: np.ndarray[Any, Any], codes: Any) -> Any:
        return self.module.asarray(table)[codes]

    def nearest(self, magnitudes: Any, thresholds: np.ndarray[Any, Any]) -> Any:
        """Return for each magnitude how many thresholds are smaller."""
        return self.module.searchsorted(self.module.asarray(thresholds), magnitudes, side="left").astype(np.uint8)

    def signs(self, x: Any) -> Any:
        return self.module.signbit(x).astype(np.uint8)

    def absolute(self, x: Any) -> Any:
        return self.module.abs(x)

    def assign(self, target: Any, source: Any) -> None:
        target[...] = source

    def extremes(self, x: Any) -> tuple[float, float, bool]:
        """Return the smallest nonzero and the largest magnitude, and whether all are finite."""
        magnitude = self.module.abs(x)
        if not magnitude.size:
            return 1.0, 0.0, True
        smallest = self.module.where(magnitude == 0, np.inf, magnitude).min()
        return float(smallest), float(magnitude.max()), bool(self.module.isfinite(magnitude).all())

    def move(self, x: Any, device: str) -> Any:
        if device == ("cpu" if self.name == "numpy" else "cuda"):
            return x
        raise ValueError(f"device must be None for {self.name} arrays, which stay where they are; got {device!r}.")


class TorchPackage:
    """PyTorch."""

    name = "torch"
    packed = "float4_e2m1fn_x2"

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def dtype_name(self, x: Any) -> str:
        return str(x.dtype).removeprefix("torch.")

    def dtype(self, name: str) -> Any:
        kind = getattr(self.module, name, None)
        if kind is None:
            raise RuntimeError(
                f"This version of PyTorch ({self.module.__version__}) has no dtype {name}; 2.9 or newer has."
            )
        return kind

    def names(self, dtype: Any) -> str | None:
        """Return the name of what somebody passed as a dtype, None if it is none."""
        known = isinstance(dtype, self.module.dtype | str)
        return str(dtype).removeprefix("torch.") if known else None

    def strides(self, x: Any) -> tuple[int, ...]:
        return tuple(x.stride())

    def full(self, shape: tuple[int, ...], value: int, like: Any) -> Any:
        return self.module.full(shape, value, dtype=self.module.uint8, device=like.device)

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        return x.permute(axes)

    def contiguous(self, x: Any) -> Any:
        return x.contiguous()

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x.expand(shape)

    def view(self, x: Any, name: str) -> Any:
        return x.view(self.dtype(name))

    def convert(self, x: Any, name: str) -> Any:
        return x.to(self.dtype(name))

    def lookup(self, table: np.ndarray[Any, Any], codes: Any) -> Any:
        return self.module.as_tensor(table.copy(), device=codes.device)[codes.long()]

    def nearest(self, magnitudes: Any, thresholds: np.ndarray[Any, Any]) -> Any:
        """Return for each magnitude how many thresholds are smaller."""
        limits = self.module.as_tensor(thresholds.copy(), device=magnitudes.device)
        return self.module.bucketize(magnitudes.contiguous(), limits).to(self.module.uint8)

    def signs(self, x: Any) -> Any:
        return self.module.signbit(x).to(self.module.uint8)

    def absolute(self, x: Any) -> Any:
        return x.abs()

    def assign(self, target: Any, source: Any) -> None:
        target.copy_(source)

    def extremes(self, x: Any) -> tuple[float, float, bool]:
        """Return the smallest nonzero and the largest magnitude, and whether all are finite."""
        if not x.numel():
            return 1.0, 0.0, True
        magnitude = x.abs()
        smallest = self.module.where(magnitude == 0, float("inf"), magnitude).min()
        return float(smallest), float(magnitude.max()), bool(self.module.isfinite(magnitude).all())

    def move(self, x: Any, device: str) -> Any:
        if device == "cuda" and not self.module.cuda.is_available():
            raise RuntimeError(
                "device='cuda' needs a GPU and a PyTorch that can use it, and torch.cuda.is_available() is False. Leave device out, and "
                "the result is where the scales are."
            )
        return x.to(device)


Package = NumpyPackage | TorchPackage


def package_of(x: Any) -> Package | None:
    """Return the package of an array, None for anything else."""
    name = type(x).__module__.partition(".")[0]
    if isinstance(x, np.ndarray):
        return NumpyPackage(np)
    if name == "cupy":
        return NumpyPackage(sys.modules["cupy"])
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return TorchPackage(torch)
    return None
