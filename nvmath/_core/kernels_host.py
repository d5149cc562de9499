"""Host twins of the device kernels: strided copies with conversion, fills and scalings, on addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ..bindings._seam import pointer
from .arrays.numpy import aligned
from .dtypes import DType
from .layout import Ints, contiguous, span

# dtypes that NumPy lacks, as an array with one more axis of their parts
_PARTS = {"complex32": (np.dtype(np.float16), 2), "bfloat16": (np.dtype(np.uint16), 1)}


def array_at(ptr: int, shape: Ints, strides: Ints, dtype: DType) -> np.ndarray[Any, Any]:
    """Return an array over foreign memory; the caller keeps that memory alive."""
    kind, parts = _PARTS.get(dtype.name, (None, 1))
    if kind is None:
        kind = np.dtype(dtype.name)
    low, high = span(shape, strides)
    nbytes = (high + 1 - low) * dtype.itemsize
    if nbytes <= 0:
        return np.empty((*shape, parts) if parts > 1 else shape, kind)
    start = ptr + low * dtype.itemsize
    memory = (ctypes.c_char * nbytes).from_address(start)
    steps = tuple(stride * dtype.itemsize for stride in strides)
    if parts > 1:
        shape, steps = (*shape, parts), (*steps, kind.itemsize)
    return np.ndarray(shape, kind, memory, ptr - start, steps)  # type: ignore[arg-type]  # any buffer will do


def viewer(shape: Ints, strides: Ints, dtype: DType) -> Callable[[int], np.ndarray[Any, Any]]:
    """Return a function that makes arrays of one layout over foreign memory: :func:`array_at` with everything prepared."""
    kind = np.dtype(dtype.name)
    low, high = span(shape, strides)
    offset, steps = -low * kind.itemsize, tuple(stride * kind.itemsize for stride in strides)
    memory = ctypes.c_char * max(0, (high + 1 - low) * kind.itemsize)
    if high < low:
        return lambda ptr: np.empty(shape, kind)
    at = memory.from_address
    return lambda ptr: np.ndarray(shape, kind, at(ptr - offset), offset, steps)  # type: ignore[arg-type]  # any buffer


def move(
    shape: Ints, in_strides: Ints, out_strides: Ints, in_dtype: DType, out_dtype: DType, zero_nbytes: int = 0
) -> Callable[[int, int], None]:
    """Return a function that copies elements from one address to another, converting the dtype."""
    if "bfloat16" in (in_dtype.name, out_dtype.name) and in_dtype is not out_dtype:
        return _move_bfloat16(shape, in_strides, out_strides, in_dtype, out_dtype)
    in_halves, out_halves = in_dtype.name == "complex32", out_dtype.name == "complex32"
    if in_dtype is out_dtype and not in_halves:
        return _move_alike(viewer(shape, in_strides, in_dtype), viewer(shape, out_strides, out_dtype), zero_nbytes)

    def run(source: int, target: int) -> None:
        if zero_nbytes:
            ctypes.memset(target, 0, zero_nbytes)
        values, result = array_at(source, shape, in_strides, in_dtype), array_at(target, shape, out_strides, out_dtype)
        if in_halves and not out_halves:
            values = np.ascontiguousarray(values, np.float32).view(np.complex64)[..., 0]
        elif out_halves and not in_halves:
            values = np.stack([values.real, values.imag], axis=-1)
        with np.errstate(over="ignore", invalid="ignore"):
            np.copyto(result, values, casting="unsafe")

    return run


def _move_alike(
    source_at: Callable[[int], np.ndarray[Any, Any]], target_at: Callable[[int], np.ndarray[Any, Any]], zero_nbytes: int
) -> Callable[[int, int], None]:
    """Copy without conversion, with as few Python calls as possible: small transforms consist of little else."""

    def run(source: int, target: int) -> None:
        if zero_nbytes:
            ctypes.memset(target, 0, zero_nbytes)
        target_at(target)[...] = source_at(source)

    return run


def _move_bfloat16(
    shape: Ints, in_strides: Ints, out_strides: Ints, in_dtype: DType, out_dtype: DType
) -> Callable[[int, int], None]:
    """The upper halves of float32 numbers, which NumPy does not know."""
    widen = in_dtype.name == "bfloat16"

    def run(source: int, target: int) -> None:
        values, result = array_at(source, shape, in_strides, in_dtype), array_at(target, shape, out_strides, out_dtype)
        if widen:
            np.copyto(result, (values.astype(np.uint32) << 16).view(np.float32), casting="unsafe")
            return
        bits = _single(values).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16  # to nearest, ties to even
        np.copyto(result, np.where(bits & 0x7FFFFFFF > 0x7F800000, bits >> 16 | 0x40, rounded), casting="unsafe")

    return run


def _single(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return values in single precision, so that rounding them once more gives what rounding the values themselves does."""
    with np.errstate(all="ignore"):
        made: np.ndarray[Any, Any] = np.ascontiguousarray(values, np.float32)
        if values.dtype != np.float64:
            return made
        made = np.where(np.abs(made) > np.abs(values), np.nextafter(made, np.float32(0)), made)  # cut off
        inexact = (made != values) & (values == values)
        made.view(np.uint32)[...] |= inexact.astype(np.uint32)  # an odd last bit says that more follows
    return made


def scale(shape: Ints, strides: Ints, dtype: DType, factor: float) -> Callable[[int, int], None]:
    """Return a function that multiplies every element of a buffer, given as input and as output, by a number."""

    def run(source: int, target: int) -> None:
        values = array_at(target, shape, strides, dtype)
        with np.errstate(all="ignore"):  # infinities are the user's, and so is what NumPy shall say of the user's own arithmetic
            for part in (values.real, values.imag) if values.dtype.kind == "c" else (values,):
                part *= part.dtype.type(factor)  # a complex factor would make NaN of infinity

    return run


def clean(shape: Ints, strides: Ints, dtype: DType) -> Callable[[int, int], None]:
    """Return a function that clears the imaginary parts of a buffer, given as input and as output."""

    def run(source: int, target: int) -> None:
        array_at(target, shape, strides, dtype).imag = 0

    return run


def scratch(nbytes: int, *stream: int) -> tuple[int, Any]:
    """Take host memory; return its address and the object that owns it."""
    block = aligned(nbytes)
    return pointer(block), block


__all__ = ["array_at", "contiguous", "move", "scale", "scratch"]
