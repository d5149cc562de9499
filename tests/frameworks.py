"""One registry of array makers: every package and place in which an operand can live.

A row is a :class:`Framework`. It makes an array with given values in a given layout, and turns an array of its package into a NumPy
array of the values. The memory between the elements holds NaN, so that a stray read shows, and can be compared afterwards, so
that a stray write shows.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

REAL_OF = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
COMPLEX_OF = {real: name for name, real in REAL_OF.items()}
EPS = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}


def real_of(dtype: str) -> str:
    """Return the real dtype of the same precision."""
    return REAL_OF.get(dtype, dtype)


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous array, in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


@dataclass(frozen=True)
class Storage:
    """The memory of an array: a flat NumPy array, and where the first element lies in it."""

    flat: np.ndarray  # of the dtype; float16 pairs (n, 2) for complex32
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def view(self) -> np.ndarray:
        """The elements (of complex32: with one more axis for real and imaginary part)."""
        item = self.flat[:1].nbytes
        if self.flat.ndim == 2:
            return np.ndarray(
                (*self.shape, 2), np.float16, self.flat, self.start * item, (*(s * item for s in self.strides), 2)
            )  # fmt: skip
        return np.ndarray(
            self.shape, self.flat.dtype, self.flat, self.start * item, tuple(s * item for s in self.strides)
        )  # fmt: skip


def storage(values: np.ndarray, dtype: str, strides: Sequence[int] | None = None, offset: int = 0) -> Storage:
    """Lay `values` out in fresh memory, `offset` elements after its begin."""
    shape = values.shape
    strides = row_major(shape) if strides is None else tuple(strides)
    low = high = 0
    if 0 not in shape:
        low = sum(s * (n - 1) for n, s in zip(shape, strides, strict=True) if s < 0)
        high = sum(s * (n - 1) for n, s in zip(shape, strides, strict=True) if s > 0)
    count = max(1, high - low + 1 + offset)
    if dtype == "complex32":
        flat = np.full((count, 2), np.nan, np.float16)
        made = Storage(flat, offset - low, shape, strides)
        view = made.view()
        view[..., 0], view[..., 1] = values.real, values.imag
    else:
        flat = np.full(count, 170 if np.dtype(dtype).kind == "u" else np.nan, np.dtype(dtype))
        made = Storage(flat, offset - low, shape, strides)
        made.view()[...] = values
    return made


@dataclass(frozen=True)
class Framework:
    """One package in one place."""

    name: str
    package: str
    place: str  # "cpu" or "cuda"
    half: bool  # has float16 transforms: complex32 can be expressed
    negative: bool  # arrays may have negative strides
    make: Callable[[Storage, str], Any]
    numpy: Callable[[Any], np.ndarray]
    strides: Callable[[Any], tuple[int, ...]]
    dtype: Callable[[Any], str]

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The complex dtypes."""
        return ("complex64", "complex128", *(("complex32",) if self.half else ()))

    def array(
        self, values: Any, dtype: str | None = None, strides: Sequence[int] | None = None, offset: int = 0
    ) -> Any:
        """Make an array that holds `values`."""
        values = np.asarray(values)
        dtype = dtype or str(values.dtype)
        return self.make(storage(values, dtype, strides, offset), dtype)

    def empty(self, shape: Sequence[int], dtype: str, strides: Sequence[int] | None = None) -> Any:
        """Make an array of rubbish."""
        return self.array(np.full(shape, np.nan, "complex128" if dtype in REAL_OF else "float64"), dtype, strides)

    def missing(self) -> str:
        """What is not installed, or an empty text."""
        if importlib.util.find_spec(self.package) is None:
            return f"{self.package} is not installed"
        return no_device(self.package) if self.place == "cuda" else ""

    def __repr__(self) -> str:
        return self.name


@cache
def no_device(package: str) -> str:
    """Why a package cannot use a GPU here, or an empty text."""
    if package == "torch":
        import torch

        return "" if torch.cuda.is_available() else "this build of torch sees no CUDA device"
    from nvmath._core import place

    return "" if place.has_device() else "there is no CUDA device"


# --- NumPy ------------------------------------------------------------------------------------------------------------


def _numpy_make(memory: Storage, dtype: str) -> np.ndarray:
    return memory.view()


def _numpy_strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


# --- PyTorch ----------------------------------------------------------------------------------------------------------


def _torch_make(device: str) -> Callable[[Storage, str], Any]:
    def make(memory: Storage, dtype: str) -> Any:
        import torch

        flat = torch.from_numpy(memory.flat).to(device)
        if dtype == "complex32":
            flat = torch.view_as_complex(flat)
        return flat.as_strided(memory.shape, memory.strides, memory.start)

    return make


def _torch_numpy(tensor: Any) -> np.ndarray:
    import torch

    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if tensor.dtype is torch.complex32:
        parts = torch.view_as_real(tensor).float().numpy()
        return parts[..., 0] + 1j * parts[..., 1]
    return tensor.numpy()


def _torch_strides(tensor: Any) -> tuple[int, ...]:
    return tuple(tensor.stride())


def _torch_dtype(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


# --- CuPy -------------------------------------------------------------------------------------------------------------


def _cupy_make(memory: Storage, dtype: str) -> Any:
    import cupy

    flat = cupy.asarray(memory.flat)
    item = memory.flat.itemsize
    return cupy.ndarray(
        memory.shape, flat.dtype, flat.data + memory.start * item, tuple(stride * item for stride in memory.strides)
    )  # fmt: skip


def _cupy_numpy(array: Any) -> np.ndarray:
    return array.get()


# --- DLPack -----------------------------------------------------------------------------------------------------------


class Foreign:
    """An array of a package that nvmath has never heard of: it offers DLPack and its namespace, nothing else."""

    __slots__ = ("_array",)

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __array_namespace__(self, api_version: str | None = None) -> type[ForeignNamespace]:
        return ForeignNamespace


class ForeignNamespace:
    """What ``__array_namespace__`` of :class:`Foreign` returns."""

    @staticmethod
    def from_dlpack(producer: Any, /, **keywords: Any) -> Foreign:
        return Foreign(np.from_dlpack(producer, **keywords))


def _foreign_make(memory: Storage, dtype: str) -> Foreign:
    return Foreign(memory.view())


FRAMEWORKS = (
    Framework(
        "numpy", "numpy", "cpu", False, True, _numpy_make, np.asarray, _numpy_strides, lambda array: str(array.dtype)
    ),
    Framework("torch-cpu", "torch", "cpu", True, False, _torch_make("cpu"), _torch_numpy, _torch_strides, _torch_dtype),
    Framework(
        "dlpack", "numpy", "cpu", False, True, _foreign_make, lambda array: array._array,
        lambda array: _numpy_strides(array._array), lambda array: str(array._array.dtype),
    ),
    Framework(
        "cupy", "cupy", "cuda", False, True, _cupy_make, _cupy_numpy, _numpy_strides, lambda array: str(array.dtype)
    ),
    Framework(
        "torch-cuda", "torch", "cuda", True, False, _torch_make("cuda"), _torch_numpy, _torch_strides, _torch_dtype
    ),
)  # fmt: skip

BY_NAME = {framework.name: framework for framework in FRAMEWORKS}
HOST = tuple(framework for framework in FRAMEWORKS if framework.place == "cpu")
DEVICE = tuple(framework for framework in FRAMEWORKS if framework.place == "cuda")


def params(frameworks: Sequence[Framework]) -> list[Any]:
    """Rows for ``pytest.mark.parametrize``; those that are not installed are skipped by name."""
    import pytest

    return [
        pytest.param(
            framework,
            id=framework.name,
            marks=[pytest.mark.skipif(bool(why), reason=why)] if (why := framework.missing()) else [],
        )
        for framework in frameworks
    ]


def leave_dirt(framework: Framework) -> None:
    """Leave NaN in memory of a GPU that the package gives again next, so that it shows what is not written."""
    if framework.place != "cuda":
        return
    package = importlib.import_module(framework.package)
    device = {"device": "cuda"} if framework.package == "torch" else {}
    kept = [package.full((nbytes,), 255, dtype=package.uint8, **device) for nbytes in (512,) * 24 + (4096,) * 8]
    del kept


def library_present(soname: str) -> bool:
    """Whether the loader finds a C library."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True
