"""CuPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final

import cupy

from ..dtypes import DType
from ..layout import Ints, contiguous, stride_order
from . import UNTIDY, View
from .numpy import dense_like, row_of

try:  # the getter behind cupy.cuda.get_current_stream(), without making a Stream object
    from cupy_backends.cuda.stream import get_current_stream_ptr as _current_stream_ptr
except ImportError:  # pragma: no cover - other releases of CuPy

    def _current_stream_ptr() -> int:
        return cupy.cuda.get_current_stream().ptr  # type: ignore[no-any-return]


def _stream(handle: int, device: int) -> Any:
    """Return a stream object that can be made current."""
    if handle == 0:
        return cupy.cuda.Stream.null
    if hasattr(cupy.cuda.Stream, "from_external"):  # CuPy 14; there ExternalStream warns
        from ..memory import StreamHandle

        return cupy.cuda.Stream.from_external(StreamHandle(handle))
    return cupy.cuda.ExternalStream(handle, device)


class CupyAdapter:
    """Arrays in the memory of one GPU."""

    name = "cupy"
    unmoved = None

    @staticmethod
    def look(obj: Any) -> tuple[int, tuple[Any, ...]]:
        data = obj.data
        return data.ptr, (obj.shape, obj.strides, obj.dtype, data.device_id)

    @staticmethod
    def pointer(obj: Any) -> int:
        return obj.data.ptr  # type: ignore[no-any-return]

    @staticmethod
    def view(obj: Any) -> View:
        dtype = row_of(obj.dtype)
        item = dtype.itemsize
        flags = 0
        if any(stride % item and extent > 1 for stride, extent in zip(obj.strides, obj.shape, strict=True)):
            flags, strides = UNTIDY, dense_like(obj.shape, obj.strides)
        else:
            strides = tuple(stride // item for stride in obj.strides)
        if obj.data.ptr % item:
            flags |= UNTIDY
        return View(obj, obj.data.ptr, obj.shape, strides, dtype, obj.data.device_id, flags, ADAPTER)

    @staticmethod
    def maker(shape: Ints, strides: Ints, dtype: DType, device: int | str) -> Callable[[], Any]:
        kind = cupy.dtype(dtype.name)
        if strides == contiguous(shape):
            return partial(cupy.ndarray, shape, kind)
        order = stride_order(shape, strides)[::-1]
        sizes = tuple(shape[axis] for axis in order)
        back = tuple(order.index(axis) for axis in range(len(shape)))
        return lambda: cupy.ndarray(sizes, kind).transpose(back)

    @staticmethod
    def pinned(shape: Ints, strides: Ints, dtype: DType) -> Any:
        raise AssertionError("CuPy arrays are never in host memory")

    @staticmethod
    def tidy(obj: Any) -> Any:
        copy = CupyAdapter.maker(obj.shape, dense_like(obj.shape, obj.strides), row_of(obj.dtype), obj.data.device_id)()
        copy[...] = obj
        return copy

    @staticmethod
    def assign(target: Any, source: Any) -> Any:
        target[...] = source
        return target

    @staticmethod
    def touched(obj: Any) -> None:
        """Nobody counts."""

    @staticmethod
    def current_stream(device: int) -> int:
        return _current_stream_ptr()  # type: ignore[no-any-return]

    @staticmethod
    def on_stream(device: int, stream: int) -> AbstractContextManager[Any]:
        return _stream(stream, device)  # type: ignore[no-any-return]

    @staticmethod
    def allocate(nbytes: int, device: int, stream: int) -> tuple[int, Any]:
        with cupy.cuda.Device(device), _stream(stream, device):
            block = cupy.cuda.alloc(nbytes)
        return block.ptr, block


ADAPTER: Final = CupyAdapter()
