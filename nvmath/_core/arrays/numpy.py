"""NumPy arrays, and device memory for NumPy operands that run on a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Final

import numpy as np

from ...bindings._seam import pointer, unmoved
from ..dtypes import DTYPES, DType
from ..layout import Ints, contiguous, size, stride_order
from . import READONLY, UNTIDY, View

ALIGNMENT: Final = 64
ALIGN_FROM: Final = 32 * 1024  # up to here, alignment costs more than the work it speeds up
_FOREIGN_ORDER: Final = ">" if sys.byteorder == "little" else "<"


class NumpyAdapter:
    """Arrays in host memory."""

    name = "numpy"
    pointer = staticmethod(pointer)
    unmoved = staticmethod(unmoved)

    @staticmethod
    def look(obj: Any) -> tuple[int, tuple[Any, ...]]:
        return pointer(obj), (obj.shape, obj.strides, obj.dtype)

    @staticmethod
    def view(obj: np.ndarray[Any, Any]) -> View:
        if type(obj) is not np.ndarray and _is_masked(obj):
            raise TypeError("A masked array would lose its mask. Pass a.filled(value), or a.data if the mask does not matter.")
        dtype = row_of(obj.dtype)
        item = dtype.itemsize
        flags = 0 if obj.flags.writeable else READONLY
        strides = obj.strides
        if obj.dtype.byteorder == _FOREIGN_ORDER or not obj.flags.aligned or any(
            stride % item and extent > 1 for stride, extent in zip(strides, obj.shape, strict=True)
        ):
            flags |= UNTIDY
            elements = dense_like(obj.shape, strides)
        else:
            elements = tuple(stride // item for stride in strides)
        return View(obj, pointer(obj), obj.shape, elements, dtype, "cpu", flags, ADAPTER)

    @staticmethod
    def maker(shape: Ints, strides: Ints, dtype: DType, device: int | str) -> Callable[[], Any]:
        kind = np.dtype(dtype.name)
        order = stride_order(shape, strides)[::-1]
        nbytes = size(shape) * kind.itemsize
        straight = strides == contiguous(shape)
        if nbytes <= ALIGN_FROM and straight:
            return partial(np.empty, shape, kind)
        sizes = tuple(shape[axis] for axis in order)
        back = tuple(int(axis) for axis in np.argsort(order))
        if nbytes <= ALIGN_FROM:
            return lambda: np.empty(sizes, kind).transpose(back)
        steps = contiguous(sizes)
        dense = tuple(steps[axis] * kind.itemsize for axis in back)

        def make() -> np.ndarray[Any, Any]:
            block = np.empty(nbytes + ALIGNMENT, np.uint8)
            return np.ndarray(shape, kind, block, -pointer(block) % ALIGNMENT, dense)

        return make

    @staticmethod
    def pinned(shape: Ints, strides: Ints, dtype: DType) -> Any:
        from ..staging import pinned_block

        kind = np.dtype(dtype.name)
        order = stride_order(shape, strides)[::-1]
        nbytes = size(shape) * kind.itemsize
        block = np.asarray(pinned_block(nbytes))[:nbytes].view(kind)
        return block.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))

    @staticmethod
    def tidy(obj: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        strides = dense_like(obj.shape, obj.strides)
        copy: np.ndarray[Any, Any] = NumpyAdapter.maker(obj.shape, strides, row_of(obj.dtype), "cpu")()
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
        return 0

    @staticmethod
    def on_stream(device: int, stream: int) -> AbstractContextManager[Any]:
        return nullcontext()

    @staticmethod
    def allocate(nbytes: int, device: int, stream: int) -> tuple[int, Any]:
        from ..memory import pool_allocate

        return pool_allocate(nbytes, device, stream, ordered=False)


ADAPTER: Final = NumpyAdapter()


def _is_masked(obj: Any) -> bool:
    """Whether it is a masked array; their module is imported by nobody who does not use them."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(obj, getattr(masked, "MaskedArray", ()))


def row_of(dtype: np.dtype[Any]) -> DType:
    """Return our row of a NumPy dtype.

    Raises
    ------
    ValueError
        The dtype is none of ours; the text names it and those that are.
    """
    row = DTYPES.get(dtype.name)
    if row is None or dtype.kind == "m" or row.itemsize != dtype.itemsize:
        near = "complex128" if dtype.kind == "c" else "float64"
        mask = "; a mask becomes 0.0 and 1.0. (As relu_aux pass the output of RELU_AUX, as it is)" if dtype.kind == "b" else ""
        raise ValueError(
            f"The NumPy dtype {dtype.name!r} is not supported: operations compute with floating-point and complex numbers. Convert the "
            f"array first, e.g. with array.astype({near!r}){mask}."
        )
    return row


def dense_like(shape: Ints, strides: Ints) -> Ints:
    """Dense element strides that keep the axis order of byte strides."""
    result, step = [0] * len(shape), 1
    for axis in stride_order(shape, strides):
        result[axis] = step
        step *= shape[axis]
    return tuple(result)


def aligned(nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Uninitialised bytes whose address is a multiple of 64."""
    block = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -pointer(block) % ALIGNMENT
    return block[start : start + nbytes]
