"""NumPy over addresses: the steps of a contraction that are no matrix products, and conversions of half types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.dtypes import DTYPES, DType
from .._core.kernels_host import array_at
from .._core.layout import Ints
from ._problem import ContractionProblem
from ._steps import Copy, Matrix, Product, Sum

Buffers = list[int]
Call = Callable[[Buffers], None]


def dtype_of(dtype: DType) -> np.dtype[Any]:
    """Return NumPy's dtype; bfloat16 is seen as its bits."""
    return np.dtype(np.uint16 if dtype.name == "bfloat16" else dtype.name)


def array(ptr: int, extents: Ints, strides: Ints, dtype: DType) -> np.ndarray[Any, Any]:
    """Return an array over an address; bfloat16 is seen as its bits."""
    return array_at(ptr, extents, strides, DTYPES["uint16"] if dtype.name == "bfloat16" else dtype)


def full(ptr: int, problem: ContractionProblem, strides: Ints) -> np.ndarray[Any, Any]:
    """The result, or the addend: the modes of the output."""
    return array(ptr, tuple(problem.extents[mode] for mode in problem.output.modes), strides, problem.dtype)


def matrix_at(buffers: Buffers, matrix: Matrix, batch: Ints, rows: int, columns: int, dtype: DType) -> np.ndarray[Any, Any]:
    """Return an operand of a matrix product."""
    strides = (1, matrix.ld) if matrix.transposed else (matrix.ld, 1)
    return array_at(buffers[matrix.buffer], (*batch, rows, columns), (*matrix.batch, *strides), dtype)


def wide(values: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    """The values of half types in single precision."""
    if dtype.name == "bfloat16":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return values.astype(np.float32) if dtype.name == "float16" else values


def store(values: np.ndarray[Any, Any], target: np.ndarray[Any, Any], dtype: DType) -> None:
    """Write values in single precision or better into an array of a dtype, rounded to nearest even."""
    if dtype.name == "bfloat16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
        np.copyto(target, np.where(np.isnan(values), np.uint32(0x7FC0), rounded), casting="unsafe")
        return
    with np.errstate(all="ignore"):
        np.copyto(target, values, casting="same_kind")


def round_to(values: np.ndarray[Any, Any], kind: str) -> None:
    """Round dense values in single precision, in place, to the nearest of a format with fewer bits."""
    flat = values.reshape(-1).view(np.float32)
    with np.errstate(all="ignore"):
        if kind == "16F":
            flat[...] = flat.astype(np.float16)
            return
        drop = np.uint32({"16BF": 16, "TF32": 13}[kind])
        bits = flat.view(np.uint32)
        rounded = (bits + (np.uint32(1) << (drop - 1)) - 1 + ((bits >> drop) & 1)) >> drop << drop
        bits[...] = np.where(np.isnan(flat), bits, rounded)


def copy(step: Copy) -> Call:
    """Return what does a Copy."""

    def run(buffers: Buffers) -> None:
        source = array(buffers[step.source], step.extents, step.source_strides, step.source_dtype)
        target = array_at(buffers[step.target], step.extents, step.target_strides, step.target_dtype)
        with np.errstate(all="ignore"):
            if step.conj:
                np.conjugate(source, out=target)
            else:
                values = wide(source, step.source_dtype) if step.source_dtype.name == "bfloat16" else source
                np.copyto(target, values, casting="same_kind")
        if step.rounding:
            round_to(target, step.rounding)

    return run


def reduce(step: Sum, dtype: DType) -> Call:
    """Return what does a Sum."""
    rank = len(step.extents)
    axes = tuple(range(rank - step.count, rank))
    kept = step.extents[: rank - step.count]

    def run(buffers: Buffers) -> None:
        source = array_at(buffers[step.source], step.extents, step.source_strides, dtype)
        target = array_at(buffers[step.target], kept, step.target_strides, dtype)
        with np.errstate(all="ignore"):
            np.add.reduce(source, axis=axes, out=target)

    return run


def product(step: Product, dtype: DType) -> Call:
    """Return what does a Product."""

    def run(buffers: Buffers) -> None:
        a = array_at(buffers[step.a], step.extents, step.a_strides, dtype)
        b = array_at(buffers[step.b], step.extents, step.b_strides, dtype)
        with np.errstate(all="ignore"):
            np.multiply(a, b, out=array_at(buffers[step.target], step.extents, step.target_strides, dtype))

    return run
