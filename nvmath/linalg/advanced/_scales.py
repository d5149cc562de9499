"""Where block scales lie: cuBLASLt keeps them in tiles of 128 rows and 4 blocks.

A matrix is seen with its blocked axis last: `rows` of `groups` blocks each. The scale of row o and block g lies at

    128 * (4 * (g // 4) + (o // 128) * groups) + 16 * (o % 32) + 4 * (o % 128 // 32) + g % 4
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any, Final

from ..._core.layout import Ints
from ._narrow_packages import Package, package_of

ROWS: Final = 128
GROUPS: Final = 4


class BlockScalingFormat(str, Enum):  # noqa: UP042, the texts of a StrEnum differ from the original's
    """Formats with one scale for each block of consecutive elements; their names as texts do as well.

    ``NVFP4``: 16 values of 4 bits (float4_e2m1fn) share a float8_e4m3fn scale. ``MXFP8``: 32 values of 8 bits (float8_e4m3fn or
    float8_e5m2) share a power of two, 2**(x - 127) for the byte x.
    """

    NVFP4 = "NVFP4"
    MXFP8 = "MXFP8"


@dataclass(frozen=True, slots=True)
class Blocks:
    """What belongs to a format of blocks.

    Attributes
    ----------
    size : int
        Elements in a block.
    scale : str
        Name of the format of scales.
    operands : tuple of str
        The dtypes of operands.
    scales : tuple of str
        The dtypes of arrays of scales.
    """

    size: int
    scale: str
    operands: tuple[str, ...]
    scales: tuple[str, ...]


BLOCKS: Final = {
    BlockScalingFormat.NVFP4: Blocks(16, "float8_e4m3fn", ("float4_e2m1fn_x2",), ("float8_e4m3fn", "uint8")),
    BlockScalingFormat.MXFP8: Blocks(32, "ue8m0", ("float8_e4m3fn", "float8_e5m2"), ("uint8",)),
}


def coerce_format(value: Any) -> BlockScalingFormat:
    """Return the member of a format or its name.

    Raises
    ------
    ValueError
        It is neither.
    """
    try:
        return BlockScalingFormat(value.upper() if type(value) is str else value)
    except ValueError:
        raise ValueError(
            f"block_scaling_format must be a member of BlockScalingFormat, 'NVFP4' or 'MXFP8', not {value!r}."
        ) from None


@dataclass(frozen=True, slots=True)
class Blocked:
    """An operand in blocks: its unpacked shape and which of the last two axes the blocks run along.

    Attributes
    ----------
    shape : tuple of int
        Unpacked.
    axis : int
        -1 or -2.
    kind : BlockScalingFormat
        The format.
    """

    shape: Ints
    axis: int
    kind: BlockScalingFormat

    @property
    def size(self) -> int:
        """Elements in a block."""
        return BLOCKS[self.kind].size

    @property
    def rows(self) -> int:
        """Extent of the axis without blocks."""
        return self.shape[-3 - self.axis]

    @property
    def groups(self) -> int:
        """Blocks along the other axis."""
        return self.shape[self.axis] // self.size

    @property
    def count(self) -> int:
        """Number of scales."""
        return prod(self.shape) // self.size

    @property
    def scale_shape(self) -> Ints:
        """Shape of the scales in their natural order."""
        batch = self.shape[:-2]
        return (*batch, self.rows, self.groups) if self.axis == -1 else (*batch, self.groups, self.rows)


def blocked(operand: Any, kind: BlockScalingFormat, axis: int | None) -> Blocked:
    """See an array, or the shape of one, in blocks.

    Raises
    ------
    ValueError
        The shape, the axis or the dtype does not fit; the text says which and what would.
    """
    if isinstance(operand, tuple):
        if axis is None:
            raise ValueError("axis must be given together with a shape: -1 or -2, the axis along which the blocks run.")
        shape = tuple(int(extent) for extent in operand)
        return _checked(shape, _axis(axis, len(shape)), kind)
    package = package_of(operand)
    if package is None:
        raise ValueError(
            "The operand must be a tensor, a NumPy or CuPy array, or a tuple with its shape, "
            f"not {type(operand).__name__}."
        )
    name, shape = package.dtype_name(operand), tuple(operand.shape)
    if len(shape) < 2:
        raise ValueError(f"The operand must be at least 2-dimensional, but its shape is {shape}.")
    for other, row in BLOCKS.items():
        if name in row.operands and other is not kind:
            raise ValueError(f"An operand of {name} requires block_scaling_format={other.value!r}, got {kind.value!r}.")
    strides = package.strides(operand)
    found = -1 if strides[-2] > strides[-1] else -2
    if axis is not None and _axis(axis, len(shape)) != found:
        layout = "row-major" if found == -1 else "column-major"
        raise ValueError(f"axis={axis} contradicts the operand, which is {layout}: its blocks run along axis {found}.")
    if name == "float4_e2m1fn_x2":
        shape = tuple(2 * extent if at == len(shape) + found else extent for at, extent in enumerate(shape))
    return _checked(shape, found, kind)


def _axis(axis: int, rank: int) -> int:
    if axis not in (-1, -2, rank - 1, rank - 2):
        raise ValueError(f"axis must be -1 or -2, the axis along which the blocks run, not {axis!r}.")
    return axis if axis < 0 else axis - rank


def _checked(shape: Ints, axis: int, kind: BlockScalingFormat) -> Blocked:
    if len(shape) < 2:
        raise ValueError(f"The operand must be at least 2-dimensional, but its shape is {shape}.")
    if min(shape) <= 0:
        raise ValueError(f"The extents of the operand must be positive, got {shape}.")
    result, whole = Blocked(shape, axis, kind), GROUPS * BLOCKS[kind].size
    for what, at, multiple in (("", -3 - axis, ROWS), ("blocked ", axis, whole)):
        if shape[at] % multiple:
            raise ValueError(
                f"The extent of the {what}axis {at} must be divisible by {multiple} for {kind.value} (scales lie in tiles of {ROWS} rows "
                f"and {GROUPS} blocks of {result.size} elements), but it is {shape[at]} in {shape}. Pad the operand."
            )
    return result


def offset(outer: Any, group: Any, groups: int) -> Any:
    """Return where the scale of a row and a block lies within its matrix; of integers or arrays."""
    return (
        (outer // ROWS) * (ROWS * groups)
        + (group // 4) * 512
        + (outer % 32) * 16
        + (outer % ROWS // 32) * 4
        + group % 4
    )


def tiled(scales: Any, operand: Blocked, package: Package) -> Any:
    """Return scales in their natural order as one flat, tiled copy."""
    batch, rank = operand.shape[:-2], len(operand.shape) - 2
    if operand.axis == -2:
        scales = package.permute(scales, (*range(rank), rank + 1, rank))
    parts = scales.reshape(*batch, operand.rows // ROWS, 4, 32, operand.groups // GROUPS, GROUPS)
    axes = tuple(rank + axis for axis in (0, 3, 2, 1, 4))
    return package.contiguous(package.permute(parts, (*range(rank), *axes))).reshape(-1)


def untiled(flat: Any, operand: Blocked, package: Package) -> Any:
    """Return flat, tiled scales in their natural order; a view where the package can."""
    batch, rank = operand.shape[:-2], len(operand.shape) - 2
    parts = flat.reshape(*batch, operand.rows // ROWS, operand.groups // GROUPS, 32, 4, GROUPS)
    axes = tuple(rank + axis for axis in (0, 3, 2, 1, 4))
    scales = package.permute(parts, (*range(rank), *axes)).reshape(*batch, operand.rows, operand.groups)
    if operand.axis == -2:
        scales = package.permute(scales, (*range(rank), rank + 1, rank))
    return scales


def spread(scales: Any, operand: Blocked, package: Package) -> Any:
    """Return the scale of every element, dense, from scales in their natural order."""
    at = len(operand.shape) + operand.axis
    shape = operand.scale_shape
    wide = package.broadcast(
        scales.reshape(*shape[: at + 1], 1, *shape[at + 1 :]), (*shape[: at + 1], operand.size, *shape[at + 1 :])
    )
    return package.contiguous(wide).reshape(operand.shape)
