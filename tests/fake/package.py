"""An array package for a GPU that is not there: metadata, addresses, an allocator, a current stream per thread.

It is as strict as CuPy: memory is taken on the *current* device, in the order of the current stream, and making a
stream current does not change the device.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from fake.driver import FakeCuda, recorded

from nvmath._core.arrays import UNTIDY, View
from nvmath._core.dtypes import DType, dtype
from nvmath._core.layout import contiguous, dense, span, stride_order


class Block:
    """Device memory of the package; it goes back to the allocator when the last reference goes."""

    __slots__ = ("__weakref__", "address", "give_back", "stream")

    def __init__(self, address: int, stream: int, give_back: Callable[[int, int], None]) -> None:
        self.address, self.stream, self.give_back = address, stream, give_back

    @property
    def ptr(self) -> int:
        """The address."""
        return self.address

    def __del__(self) -> None:
        self.give_back(self.address, self.stream)


class Array:
    """An array of the package."""

    __slots__ = ("__weakref__", "block", "device", "dtype", "ptr", "shape", "strides")

    def __init__(self, block: Any, ptr: int, shape: Any, strides: Any, dtype: DType, device: int) -> None:
        self.block, self.ptr, self.device = block, ptr, device
        self.shape, self.strides, self.dtype = tuple(shape), tuple(strides), dtype

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        name = {"complex64": "<c8", "complex128": "<c16", "float32": "<f4", "float64": "<f8"}[self.dtype.name]
        return {"shape": self.shape, "typestr": name, "data": (self.ptr, False), "version": 3}


class _Current(threading.local):
    def __init__(self) -> None:
        self.streams: dict[int, int] = {}


class Package:
    """The package, and its adapter for the library."""

    name = "fakegpu"

    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda, self.trace = cuda, cuda.trace
        self._current = _Current()

    def current_device(self) -> int | None:
        """The device of the current context."""
        return self.cuda.current_device()

    # --- what its users call ------------------------------------------------------------------------------------------

    @contextmanager
    def stream(self, stream: int, device: int = 0) -> Iterator[None]:
        """Make a stream current."""
        before = self._current.streams.get(device, 0)
        self._current.streams[device] = stream
        try:
            yield
        finally:
            self._current.streams[device] = before

    def block(self, nbytes: int, stream: int) -> Block:
        """Take memory for an array."""
        return Block(self.take(nbytes, stream), stream, self.give_back)

    def buffer(self, nbytes: int, stream: int) -> Block:
        """Take memory that the library under test owns."""
        return Block(self.take_buffer(nbytes, stream), stream, self.give_back_buffer)

    @recorded
    def take(self, nbytes: int, stream: int) -> int:
        """Take memory for an array in the order of a stream."""
        self.cuda.now.stream = stream
        return self.cuda.allocate(max(1, nbytes), stream, library=False)

    @recorded
    def take_buffer(self, nbytes: int, stream: int) -> int:
        """Take memory for the library in the order of a stream."""
        self.cuda.now.stream = stream
        return self.cuda.allocate(nbytes, stream, library=True)

    @recorded
    def give_back(self, address: int, stream: int) -> None:
        """Memory of an array comes back; work that is queued later on its stream may get it again."""
        self._give_back(address, stream)

    @recorded
    def give_back_buffer(self, address: int, stream: int) -> None:
        """Memory of the library comes back."""
        self._give_back(address, stream)

    def _give_back(self, address: int, stream: int) -> None:
        memory = self.cuda.memory[address]
        self.cuda.now.stream = stream
        self.cuda.release(memory, self.cuda.stream_ids.get(stream, memory.stream))

    def array(
        self,
        shape: Sequence[int] | int,
        kind: str = "complex64",
        strides: Sequence[int] | None = None,
        device: int = 0,
        offset: int = 0,
    ) -> Array:
        """Make an array that is ready on every stream; `offset` bytes behind the begin of its memory."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        strides = contiguous(shape) if strides is None else tuple(strides)
        row = dtype(kind)
        low, high = span(shape, strides)
        before, self.cuda.thread.context = self.cuda.thread.context, 0x1000 + device
        try:
            block = self.block((high - low + 1) * row.itemsize + offset, 0)
        finally:
            self.cuda.thread.context = before
        self.cuda.synchronize()
        return Array(block, block.address - low * row.itemsize + offset, shape, strides, row, device)

    # --- the adapter --------------------------------------------------------------------------------------------------

    def look(self, obj: Array) -> tuple[int, tuple[Any, ...]]:
        return obj.ptr, (obj.shape, obj.strides, obj.dtype, obj.device)

    def view(self, obj: Array) -> View:
        flags = UNTIDY if obj.ptr % obj.dtype.itemsize else 0
        return View(obj, obj.ptr, obj.shape, obj.strides, obj.dtype, obj.device, flags, self)  # type: ignore[arg-type]

    def maker(self, shape: Any, strides: Any, dtype: DType, device: int | str) -> Callable[[], Array]:
        return partial(self.empty, shape, strides, dtype)

    def empty(self, shape: Any, strides: Any, dtype: DType) -> Array:
        """A new array on the current device, in the order of the current stream."""
        device = self.current_device() or 0
        nbytes = dtype.itemsize
        for extent in shape:
            nbytes *= extent
        block = self.block(nbytes, self.current_stream(device))
        return Array(block, block.address, shape, strides, dtype, device)

    def pinned(self, shape: Any, strides: Any, dtype: DType) -> Any:
        raise AssertionError("arrays of this package are never in host memory")

    unmoved = None

    def pointer(self, obj: Array) -> int:
        return obj.ptr

    def tidy(self, obj: Array) -> Array:
        strides = dense(obj.shape, stride_order(obj.shape, obj.strides))
        return self.assign(self.empty(obj.shape, strides, obj.dtype), obj)

    def assign(self, target: Array, source: Array) -> Array:
        self.copy(target.ptr, source.ptr, self.current_stream(self.current_device() or 0))
        return target

    @recorded
    def copy(self, target: int, source: int, stream: int) -> None:
        """Copy elements by a kernel of the package."""
        self.cuda.queued(stream)
        self.cuda.touch(stream, target, source)

    def touched(self, obj):
        """Nobody counts."""

    def current_stream(self, device: int) -> int:
        return self._current.streams.get(device, 0)

    def on_stream(self, device: int, stream: int) -> Any:
        return self.stream(stream, device)

    def allocate(self, nbytes: int, device: int, stream: int) -> tuple[int, Block]:
        block = self.buffer(nbytes, stream)
        return block.address, block
