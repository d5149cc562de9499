"""Arrays of any other package that offers DLPack: read without a copy, results handed back by the package's own ``from_dlpack``.

Host arrays are seen through NumPy, GPU arrays through CuPy or PyTorch, whichever is there.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Final

import numpy as np

from ..dtypes import DType
from ..layout import Ints
from . import Adapter, View
from .numpy import ADAPTER as HOST

_ON_HOST: Final = (1, 3)  # kDLCPU, kDLCUDAHost
_ON_GPU: Final = (2, 13)  # kDLCUDA, kDLCUDAManaged
_GPU_PACKAGES: Final = ("cupy", "torch")


@cache
def _gpu_package(name: str) -> tuple[Callable[[Any], Any], Adapter] | None:
    """How to see GPU arrays: ``from_dlpack`` of a package that is installed, one that is in use already first."""
    for package in sorted(_GPU_PACKAGES, key=lambda package: package not in sys.modules):
        if importlib.util.find_spec(package) is not None:
            return importlib.import_module(package).from_dlpack, importlib.import_module(
                "." + package, __package__
            ).ADAPTER
    return None


class DlpackAdapter:
    """The arrays of one foreign class."""

    unmoved = None

    def __init__(self, cls: type, namespace: Any) -> None:
        self.cls: Any = cls
        self.name = cls.__module__.partition(".")[0]
        self.from_dlpack = namespace.from_dlpack

    def _gpu(self) -> tuple[Callable[[Any], Any], Adapter]:
        found = _gpu_package(self.name)
        if found is None:
            raise RuntimeError(
                f"Arrays of {self.name} on a GPU are read through CuPy or PyTorch, and neither is installed. Install one of them, "
                "or pass a host array."
            )
        return found

    def _seen(self, obj: Any) -> tuple[Any, Adapter]:
        """Return an array over the same memory, of NumPy, CuPy or PyTorch, and its adapter."""
        if not isinstance(obj, self.cls):  # an internal copy
            return obj, HOST if isinstance(obj, np.ndarray) else self._gpu()[1]
        kind, _ = obj.__dlpack_device__()
        see: Callable[[Any], Any] = np.from_dlpack
        adapter: Adapter = HOST
        if kind in _ON_HOST:
            pass
        elif kind in _ON_GPU:
            see, adapter = self._gpu()
        else:
            raise ValueError(
                f"A {self.name} array on a device of DLPack type {kind} is not supported; move it to the CPU or a CUDA device."
            )
        try:
            return see(obj), adapter
        except (BufferError, RuntimeError, TypeError) as error:
            raise ValueError(f"The {self.name} array cannot be read through DLPack: {error}") from error

    def look(self, obj: Any) -> tuple[int, tuple[Any, ...]]:
        seen, adapter = self._seen(obj)
        return adapter.look(seen)

    def pointer(self, obj: Any) -> int:
        seen, adapter = self._seen(obj)
        return adapter.pointer(seen)

    def view(self, obj: Any) -> View:
        seen, adapter = self._seen(obj)
        view = adapter.view(seen)
        if view.dtype.name == "float16":
            raise TypeError(
                f"float16 arrays of {self.name} are not supported: no complex32 result can be given back. Convert to float32."
            )
        view.obj, view.adapter = obj, self
        return view

    def pinned(self, shape: Ints, strides: Ints, dtype: DType) -> Any:
        return self.from_dlpack(HOST.pinned(shape, strides, dtype))

    def maker(self, shape: Ints, strides: Ints, dtype: DType, device: int | str) -> Callable[[], Any]:
        adapter = HOST if device == "cpu" else self._gpu()[1]
        make = adapter.maker(shape, strides, dtype, device)
        return lambda: self.from_dlpack(make())

    def tidy(self, obj: Any) -> Any:
        seen, adapter = self._seen(obj)
        return adapter.tidy(seen)

    def assign(self, target: Any, source: Any) -> Any:
        seen, adapter = self._seen(target)
        adapter.assign(seen, self._seen(source)[0])
        return target

    def touched(self, obj: Any) -> None:
        """Nobody counts."""

    def _streams(self) -> Adapter:
        """Who knows the current stream: a package whose arrays are in use, else the default stream."""
        found = _gpu_package(self.name) if any(package in sys.modules for package in _GPU_PACKAGES) else None
        return HOST if found is None else found[1]

    def current_stream(self, device: int) -> int:
        return self._streams().current_stream(device)

    def on_stream(self, device: int, stream: int) -> AbstractContextManager[Any]:
        return self._streams().on_stream(device, stream)

    def allocate(self, nbytes: int, device: int, stream: int) -> tuple[int, Any]:
        return HOST.allocate(nbytes, device, stream)


def adapter_for(obj: Any) -> DlpackAdapter:
    """Return the adapter for the class of a DLPack producer.

    Raises
    ------
    ValueError
        Its package has no ``from_dlpack`` by which a result could be handed back.
    """
    cls = type(obj)
    namespace = obj.__array_namespace__() if hasattr(obj, "__array_namespace__") else None
    if not hasattr(namespace, "from_dlpack"):
        raise ValueError(
            f"{cls.__module__}.{cls.__qualname__} offers DLPack, but no __array_namespace__() with from_dlpack, so a result "
            "cannot be handed back in its package. Pass numpy.from_dlpack(operand), or the same of CuPy or PyTorch for a GPU array."
        )
    return DlpackAdapter(cls, namespace)
