"""Layout algebra: pure functions over shapes and strides.

Strides are counted in elements (or in any other unit, consistently) and may be negative or zero. The stride of an axis of
extent 1 is meaningless; :func:`normalise` replaces it before any decision is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Ints = tuple[int, ...]
Dim = tuple[int, int, int]
"""(extent, stride in the input, stride in the output)."""


def contiguous(shape: Sequence[int]) -> Ints:
    """Strides of a row-major array."""
    strides, step = [0] * len(shape), 1
    for axis in range(len(shape) - 1, -1, -1):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def dense(shape: Sequence[int], order: Iterable[int]) -> Ints:
    """Strides of a dense array whose axes, fastest first, are `order`."""
    strides, step = [0] * len(shape), 1
    for axis in order:
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def stride_order(shape: Sequence[int], strides: Sequence[int]) -> Ints:
    """Axes from the fastest to the slowest: ascending by (absolute stride, extent, axis)."""
    return tuple(sorted(range(len(shape)), key=lambda axis: (abs(strides[axis]), shape[axis], axis)))


def normalise(shape: Sequence[int], strides: Sequence[int]) -> Ints:
    """Give every axis of extent 1 the stride that it would have if it were adjacent to its right neighbour.

    All strides become row-major when the array is empty.
    """
    if 0 in shape:
        return contiguous(shape)
    if 1 not in shape:
        return tuple(strides)
    result, step = list(strides), 1
    for axis in range(len(shape) - 1, -1, -1):
        if shape[axis] == 1:
            result[axis] = step
        else:
            step = abs(strides[axis]) * shape[axis]
    return tuple(result)


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the array fills one block of memory without gaps or overlap, in any order of its axes."""
    step = 1
    for axis in stride_order(shape, strides):
        if shape[axis] != 1:
            if strides[axis] != step:
                return False
            step *= shape[axis]
    return True


def may_overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether two elements could share memory (a sufficient test: nested strides prove that none do)."""
    if 0 in shape:
        return False
    reach = 0
    for axis in stride_order(shape, strides):
        if shape[axis] > 1:
            if abs(strides[axis]) <= reach:
                return True
            reach += abs(strides[axis]) * (shape[axis] - 1)
    return False


def span(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Offsets of the first and the last element in memory, relative to element (0, ..., 0)."""
    low = high = 0
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 0:
            return 0, -1
        if stride < 0:
            low += stride * (extent - 1)
        else:
            high += stride * (extent - 1)
    return low, high


def merge(dims: Iterable[Dim]) -> list[Dim]:
    """Join dimensions that are walked with one stride, in the input and in the output alike; slowest first.

    Dimensions of extent 1 vanish.
    """
    ordered = sorted((dim for dim in dims if dim[0] != 1), key=lambda dim: (-abs(dim[1]), -abs(dim[2]), -dim[0]))
    result: list[Dim] = []
    for extent, i_stride, o_stride in ordered:
        if result:
            outer, i_outer, o_outer = result[-1]
            if i_outer == i_stride * extent and o_outer == o_stride * extent:
                result[-1] = (outer * extent, i_stride, o_stride)
                continue
        result.append((extent, i_stride, o_stride))
    return result


def size(shape: Iterable[int]) -> int:
    """Number of elements."""
    return math.prod(shape)
