"""Narrow operands as float arrays on the host, and float results as narrow ones: where codes and scales meet."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any, Final

import numpy as np

from ..._core import kernels_host
from ..._core.dtypes import DTYPES, DType
from ..._core.layout import Ints
from .._matrix import COLUMN, ROW, Matrix, packed
from ._narrow import F32, FP4, MODE, Scale
from ._narrow_formats import FORMATS, Array, decode, decoded, encode, pack
from ._narrow_packages import NumpyPackage
from ._scales import BLOCKS, Blocked, BlockScalingFormat, tiled, untiled

_NUMPY: Final = NumpyPackage(np)
_UINT8: Final = DTYPES["uint8"]
_SAFE: Final = 2.0**60
"""Scales, and products of two, between this and its inverse leave the products of 8-bit numbers in the range of float32, summed up too."""


def codes_at(ptr: int, matrix: Matrix, batch: Ints) -> Array:
    """Return the bytes of a matrix over foreign memory, with the axis of its pairs last if it is FP4, else as they are."""
    extents = batch if matrix.batched else (1,) * len(batch)
    shape, strides = (*extents, matrix.rows, matrix.cols), (*matrix.batch_strides, matrix.row_stride, matrix.col_stride)
    if matrix.dtype is not FP4:
        return kernels_host.array_at(ptr, shape, strides, _UINT8)
    if matrix.order == COLUMN:
        shape, strides = (*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2])
    halves = (*(stride // 2 for stride in strides[:-1]), 1)
    return kernels_host.array_at(ptr, (*shape[:-1], shape[-1] // 2), halves, _UINT8)


class Factor:
    """A narrow operand: its values, times its scales, in a dense array with K innermost.

    Parameters
    ----------
    name : str
        ``"a"`` or ``"b"``.
    matrix : Matrix
        The operand.
    scale : Scale
        Its scales.
    batch : tuple of int
        Batch extents of the problem.
    axes : tuple of int
        The batch axes from the fastest to the slowest.
    """

    def __init__(self, name: str, matrix: Matrix, scale: Scale, batch: Ints, axes: Ints) -> None:
        self.name, self.matrix, self.scale, self.batch, self.axes = name, matrix, scale, batch, axes
        self.k_last = matrix if name == "a" else matrix.transposed
        kind = {MODE.VEC32_UE8M0: BlockScalingFormat.MXFP8, MODE.VEC16_UE4M3: BlockScalingFormat.NVFP4}.get(
            MODE(scale.mode)
        )
        self.blocks = None if kind is None else Blocked((*batch, self.k_last.rows, self.k_last.cols), -1, kind)

    def dense(self, dtype: DType) -> Matrix:
        """Return the layout of the values."""
        return packed(
            replace(self.matrix, dtype=dtype), ROW if self.name == "a" else COLUMN, self.batch, self.axes, dtype
        )

    def scales(self, ptr: int) -> Array:
        """Return the scales as numbers: one, or one for each row and group along K, after the batch axes for blocks."""
        if self.blocks is not None:
            flat = kernels_host.array_at(ptr, self.scale.shape, self.scale.strides, _UINT8)
            table: Array = decoded("ue8m0" if self.blocks.kind is BlockScalingFormat.MXFP8 else "ue4m3")
            made: Array = table[untiled(flat, self.blocks, _NUMPY)]
            return made
        given: Array = kernels_host.array_at(ptr, self.scale.shape, self.scale.strides, F32).astype(np.float64)
        return given.T if self.name == "b" and given.ndim == 2 else given

    def load(self, ptr: int, scales: Array, values: Array, first: int = 0) -> None:
        """Write the values of some vectors along K, from the one at `first` on, into an array with K last."""
        codes = codes_at(ptr, self.matrix, self.batch)
        if self.matrix.dtype is not FP4 and self.name == "b":
            codes = codes.swapaxes(-1, -2)
        codes = codes[..., first : first + values.shape[-2], :]
        name = self.matrix.dtype.name
        if scales.size == 1 and self.blocks is None:
            decode(codes, name, values, float(scales.reshape(())))
            return
        step = max(1, (1 << 16) // max(1, values.shape[-1]))
        for index in np.ndindex(values.shape[:-2]):
            own = scales[index] if self.blocks is not None else scales
            for start in range(0, values.shape[-2], step):
                part = slice(start, start + step)
                panel = values[index][part]
                pairs = panel.reshape(*panel.shape[:-1], -1, 2) if self.matrix.dtype is FP4 else panel
                decode(codes[index][part], name, pairs)
                self._multiply(panel, own, first + start)

    def _multiply(self, panel: Array, scales: Array, start: int) -> None:
        """Multiply the values of some rows, from `start` on, by their scales."""
        rows, k = panel.shape
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if self.blocks is not None:
                panel.reshape(rows, -1, self.blocks.size)[...] *= scales[start : start + rows, :, None].astype(
                    panel.dtype
                )
                return
            own = (
                scales[start : start + rows]
                if len(scales) == self.k_last.rows
                else scales[np.arange(start, start + rows) // 128]
            )
            own = own.astype(panel.dtype)
            if own.shape[1] == 1:
                panel *= own
                return
            for group in range(own.shape[1]):
                panel[:, 128 * group : min(k, 128 * (group + 1))] *= own[:, group, None]


def wide(*scales: Array) -> bool:
    """Whether values times these scales may leave the range of float32 before they are summed up."""
    ends = [(1.0, 1.0)]
    for each in scales:
        sizes = np.abs(each[np.isfinite(each) & (each != 0)])
        if sizes.size:
            ends.append((float(sizes.min()), float(sizes.max())))
    products = [(prod(low for low, _ in some), prod(high for _, high in some)) for some in (*([each] for each in ends), ends)]
    return any(low < 1 / _SAFE or high > _SAFE for low, high in products)


def largest(values: Array) -> Any:
    """Return the largest magnitude; NaN if there is one."""
    return np.maximum(np.max(values), -np.min(values))


def store(values: Array, matrix: Matrix, batch: Ints, ptr: int, factor: float = 1.0) -> None:
    """Write float32 values, of the shape of `matrix` with its contiguous axis last, as codes of its dtype, times one factor."""
    target = codes_at(ptr, matrix, batch)
    name = matrix.dtype.name
    if matrix.dtype is FP4:
        codes = np.empty(values.shape, np.uint8)
        encode(values, name, codes, factor)
        target[...] = pack(codes)
        return
    encode(values, name, target.swapaxes(-1, -2) if matrix.order == COLUMN else target, factor)


def store_blocks(values: Array, matrix: Matrix, batch: Ints, kind: BlockScalingFormat, ptr: int, scales: Array) -> None:
    """Write float32 values, with the contiguous axis of `matrix` last, as codes; choose the scale of each block and write it too.

    The scale of a block is its largest magnitude divided by the largest value of the format: rounded up to a power of two (MXFP8), or
    to the nearest float8_e4m3fn (NVFP4).
    """
    pieces = values.reshape(*values.shape[:-1], -1, BLOCKS[kind].size)
    top = np.float32(FORMATS[matrix.dtype.name].largest)
    ratios = np.maximum(pieces.max(-1), -pieces.min(-1)) / top
    codes = _powers(ratios) if kind is BlockScalingFormat.MXFP8 else _nearest(ratios)
    factors = decoded("ue8m0" if kind is BlockScalingFormat.MXFP8 else "ue4m3")[codes]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        scaled = np.where(factors[..., None] == 0, np.float32(0), pieces / factors[..., None]).astype(np.float32)
    store(scaled.reshape(values.shape), matrix, batch, ptr)
    scales[...] = codes


class BlockScales:
    """The scales of a result: collected in their natural order, with the blocks last, and written in tiles at the end."""

    def __init__(self, matrix: Matrix, batch: Ints, kind: BlockScalingFormat) -> None:
        self.column = matrix.order == COLUMN
        extents = (matrix.cols, matrix.rows) if self.column else (matrix.rows, matrix.cols)
        self.blocks = Blocked((*batch, *extents), -1, kind)
        self.codes: Array = np.empty(self.blocks.scale_shape, np.uint8)

    def part(self, start: int, rows: int) -> Array:
        """Return the scales of some rows."""
        if self.column:
            return self.codes[..., start // self.blocks.size : (start + rows) // self.blocks.size]
        return self.codes[..., start : start + rows, :]

    def write(self, ptr: int) -> None:
        """Write all of them in the order that a product reads."""
        kernels_host.array_at(ptr, (self.blocks.count,), (1,), _UINT8)[...] = tiled(self.codes, self.blocks, _NUMPY)


def _powers(ratios: Array) -> Array:
    """Round up to powers of two: 2**(code - 127)."""
    with np.errstate(invalid="ignore"):
        mantissa, exponent = np.frexp(ratios)
    exponent = exponent - (mantissa == 0.5)
    codes = np.clip(exponent + 127, 0, 254)
    codes[ratios == 0] = 0
    codes[np.isinf(ratios)] = 254
    codes[np.isnan(ratios)] = 255
    made: Array = codes.astype(np.uint8)
    return made


def _nearest(ratios: Array) -> Array:
    codes = np.empty(ratios.shape, np.uint8)
    encode(np.ascontiguousarray(ratios, np.float32), "float8_e4m3fn", codes)
    return codes


def values_at(ptr: int, matrix: Matrix, batch: Ints, *, last: str) -> Array:
    """Return a dense float matrix over foreign memory, with its rows (``"rows"``) or its columns last."""
    extents = tuple(extent if step else 1 for extent, step in zip(batch, matrix.batch_strides, strict=True))
    turned: Any = matrix.transposed if last == "rows" else matrix
    return kernels_host.array_at(
        ptr,
        (*extents, turned.rows, turned.cols),
        (*turned.batch_strides, turned.row_stride, turned.col_stride),
        turned.dtype,
    )
