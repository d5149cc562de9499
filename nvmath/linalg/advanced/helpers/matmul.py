"""Scales and packed formats for products in narrow precision (MXFP8 and NVFP4).

Every function takes PyTorch tensors, NumPy arrays or CuPy arrays, on the host or on a GPU, works there, and returns arrays of the same
package. NumPy and CuPy have no dtype of two 4-bit numbers in a byte: there packed FP4 is uint8. 8-bit floats of NumPy come from
``ml_dtypes``.

The scales of a matrix lie, for cuBLASLt, in tiles of 128 rows by 4 blocks. A *block* is 16 (NVFP4) or 32 (MXFP8) consecutive elements
along the *blocked axis*: -1 for a row-major operand (A), -2 for a column-major one (B). The extent of the other axis must be divisible
by 128, that of the blocked axis by four blocks.
"""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from ...._core.arrays import adapter_of
from ...._core.route import context
from .._narrow_formats import decoded
from .._narrow_packages import FLOATS, Package, package_of
from .._scales import BLOCKS, Blocked, BlockScalingFormat, blocked, coerce_format, offset, spread, tiled, untiled

__all__ = [
    "BlockScalingFormat",
    "apply_mxfp8_scale",
    "create_mxfp8_scale",
    "expand_block_scale",
    "get_block_scale_offset",
    "invert_mxfp8_scale",
    "quantize_to_fp4",
    "to_block_scale",
    "unpack_fp4",
]

_EXPONENTS: Final = np.ldexp(1.0, np.arange(256) - 127)
_THRESHOLDS: Final = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], np.float32)
_SMALLEST: Final = {"float16": (2.0**-14, 65504.0), "float32": (2.0**-126, float(np.finfo(np.float32).max))}


def _package(x: Any, name: str, error: type[Exception] = TypeError) -> Package:
    package = package_of(x)
    if package is None:
        raise error(f"{name} must be a torch.Tensor, a NumPy array or a CuPy array, not {type(x).__name__}.")
    return package


def _axis(axis: Any, rank: int) -> int:
    if axis not in (-1, -2):
        raise ValueError(f"axis must be -1 or -2, not {axis!r}.")
    if rank == 0:
        raise ValueError("The array must have at least one dimension, but it is 0-dimensional.")
    if rank == 1 and axis == -2:
        raise ValueError("axis must be -1 for a 1-dimensional array, not -2.")
    return int(axis)


def create_mxfp8_scale(x: Any, exponent: int, stream: Any = None) -> Any:
    """Create the scales of an operand with the same power of two for every block.

    Parameters
    ----------
    x : array
        The operand, of any shape: there is one scale for each 32 of its elements.
    exponent : int
        Each block is multiplied by ``2**exponent``; from -127 to 128. 128 is the code 255, which is NaN to a GPU.
    stream : optional
        For a GPU array: the stream on which the scales are filled; by default the current one of the package.

    Returns
    -------
    array
        Of uint8 and shape ``(x.size // 32,)``, on the device of `x`, filled with ``exponent + 127``.

    Raises
    ------
    ValueError
        The exponent is no integer from -127 to 128, or `x` is not an array of these packages.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced.helpers.matmul import create_mxfp8_scale
    >>> create_mxfp8_scale(np.zeros((128, 128), np.uint8), -2)[:3]
    array([125, 125, 125], dtype=uint8)
    """
    package = _package(x, "x", ValueError)
    try:
        number = operator.index(exponent)
    except TypeError:
        raise ValueError(f"The exponent must be an integer from -127 to 128, not {exponent!r}.") from None
    if not -127 <= number <= 128:
        raise ValueError(f"The exponent must be an integer from -127 to 128, not {number}.")
    count = int(np.prod(x.shape, dtype=np.int64)) // 32
    adapter = adapter_of(x)
    device = _device(x)
    with context(adapter, device, stream):
        return package.full((count,), number + 127, x)


def _device(x: Any) -> int | str:
    """Return the number of the GPU of an array, or ``"cpu"``."""
    if isinstance(x, np.ndarray):
        return "cpu"
    device = x.device
    if type(x).__module__.partition(".")[0] == "cupy":
        return int(device.id)
    return "cpu" if device.type == "cpu" else int(x.get_device())


def invert_mxfp8_scale(mx_scales: Any) -> Any:
    """Return the scales that undo others: ``254 - s``, where 255 counts as 254.

    Parameters
    ----------
    mx_scales : array
        Scales of uint8, of any shape.

    Returns
    -------
    array
        New, of the same shape.

    Raises
    ------
    ValueError
        The dtype is not uint8, or it is not an array of these packages.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced.helpers.matmul import invert_mxfp8_scale
    >>> invert_mxfp8_scale(np.array([0, 127, 130, 255], np.uint8))
    array([254, 127, 124,   0], dtype=uint8)
    """
    package = _package(mx_scales, "mx_scales", ValueError)
    name = package.dtype_name(mx_scales)
    if name != "uint8":
        raise ValueError(f"The dtype of mx_scales must be uint8, not {name}.")
    return 254 - mx_scales.clip(None, 254)


def apply_mxfp8_scale(x: Any, scales_1d: Any, output_dtype: Any = "smallest") -> Any:
    """Multiply every element by the scale of its block.

    Parameters
    ----------
    x : array
        The values, of float8_e4m3fn, float8_e5m2 or any floating dtype; blocks run along the axis that is contiguous.
    scales_1d : array
        Their scales, flat and tiled, of uint8: ``2**(s - 127)``.
    output_dtype : dtype, default "smallest"
        float16, float32 or float64 of the package; ``"smallest"`` is the smallest in which nothing overflows or becomes subnormal.

    Returns
    -------
    array
        New, of the shape and the layout of `x`. The product is taken in double precision.

    Raises
    ------
    TypeError
        The output dtype or the dtype of the scales is none of those, or the scales are of another package.
    ValueError
        The shape, the number of scales, numbers that are not real, or an output dtype in which values overflow or underflow.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced.helpers.matmul import apply_mxfp8_scale, create_mxfp8_scale
    >>> x = np.ones((128, 128), np.float32)
    >>> apply_mxfp8_scale(x, create_mxfp8_scale(x, 3))[0, :2]
    array([8., 8.], dtype=float16)
    """
    package = _package(x, "x")
    wanted = _output(package, output_dtype, FLOATS)
    operand = blocked(x, BlockScalingFormat.MXFP8, None)
    name = package.dtype_name(x)
    if "complex" in name or name == "bool":
        raise ValueError(f"x must hold real numbers, but it is {name}. Scale its real and imaginary parts one after the other.")
    if _check_flat(scales_1d, operand).name != package.name:
        raise TypeError(f"scales_1d must be an array of {package.name}, as x is, not {type(scales_1d).__name__}.")
    factors = spread(package.lookup(_EXPONENTS, untiled(scales_1d, operand, package)), operand, package)
    values = package.convert(x, "float64")
    values = values * factors
    return _fitted(package, values, wanted)


def _output(package: Package, output_dtype: Any, allowed: tuple[str, ...]) -> str:
    """Return the name of the dtype that was asked for, empty for the smallest one."""
    if isinstance(output_dtype, str) and output_dtype == "smallest":
        return ""
    name = package.names(output_dtype)
    if name not in allowed:
        raise TypeError(
            f"output_dtype must be 'smallest' or one of the dtypes {', '.join(allowed)} of {package.name}, not {output_dtype!r}."
        )
    return name


def _fitted(package: Package, values: Any, wanted: str) -> Any:
    """Convert float64 values to the wanted or the smallest dtype that holds them."""
    smallest, largest, finite = package.extremes(values)
    needed = "float64"
    if finite:
        fitting = (name for name, (low, high) in _SMALLEST.items() if smallest >= low and largest <= high)
        needed = next(fitting, "float64")
    if wanted and FLOATS.index(wanted) < FLOATS.index(needed):
        raise ValueError(
            f"The result requires at least {needed}: in {wanted} it would overflow or underflow. Ask for {needed}."
        )
    return package.convert(values, wanted or needed)


def quantize_to_fp4(x: Any, axis: int) -> Any:
    """Round float32 values to 4-bit floats (e2m1) and pack pairs of them into bytes.

    Parameters
    ----------
    x : array
        Values of float32.
    axis : int
        The axis of the pairs: -1 gives a row-major result, -2 a column-major one. Its extent must be even.

    Returns
    -------
    array
        With half the extent along `axis`; float4_e2m1fn_x2 of PyTorch (2.9 or newer), uint8 of NumPy and CuPy. The element with the
        even index is in the low half of a byte.

    Raises
    ------
    TypeError
        It is not an array of these packages.
    ValueError
        The dtype is not float32, the axis is neither -1 nor -2, or its extent is odd.

    Notes
    -----
    The values are 0, 0.5, 1, 1.5, 2, 3, 4 and 6 with either sign. What lies between two of them exactly is rounded to the smaller
    magnitude, what is larger than 6 becomes 6; NaN becomes 6 too.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced.helpers.matmul import quantize_to_fp4, unpack_fp4
    >>> unpack_fp4(quantize_to_fp4(np.array([[0.3, -1.75, 2.6, 9.0]], np.float32), -1), -1)
    array([[ 0.5, -1.5,  3. ,  6. ]], dtype=float32)
    """
    package = _package(x, "x")
    name = package.dtype_name(x)
    if name != "float32":
        raise ValueError(f"x must be float32, not {name}. Convert it first.")
    axis = _axis(axis, len(x.shape))
    extent = x.shape[axis]
    if extent % 2:
        raise ValueError(
            f"The extent of the packed axis {axis} must be even, but it is {extent} in {tuple(x.shape)}. Pad x."
        )
    turned = x if axis == -1 else _swapped(package, x)
    codes = package.nearest(package.absolute(turned), _THRESHOLDS) | (package.signs(turned) << 3)
    packed = package.contiguous(codes[..., ::2] | (codes[..., 1::2] << 4))
    packed = package.view(packed, package.packed)
    return packed if axis == -1 else _swapped(package, packed)


def _swapped(package: Package, x: Any) -> Any:
    rank = len(x.shape)
    return package.permute(x, (*range(rank - 2), rank - 1, rank - 2))


def unpack_fp4(fp4_tensor: Any, axis: int) -> Any:
    """Return packed 4-bit floats as float32.

    Parameters
    ----------
    fp4_tensor : array
        float4_e2m1fn_x2 of PyTorch, uint8 of NumPy and CuPy: two values in a byte, the even one in the low half.
    axis : int
        The axis of the pairs, -1 or -2; it is doubled.

    Returns
    -------
    array
        Of float32; row-major for axis -1, column-major for axis -2.

    Raises
    ------
    TypeError
        It is not an array of these packages.
    ValueError
        The dtype or the axis is another.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced.helpers.matmul import unpack_fp4
    >>> unpack_fp4(np.array([[0x21, 0x7F]], np.uint8), -1)
    array([[ 0.5,  1. , -6. ,  6. ]], dtype=float32)
    """
    package = _package(fp4_tensor, "fp4_tensor")
    name = package.dtype_name(fp4_tensor)
    if name != package.packed:
        raise ValueError(f"fp4_tensor must be {package.packed}, not {name}.")
    axis = _axis(axis, len(fp4_tensor.shape))
    codes = fp4_tensor if name == "uint8" else package.view(fp4_tensor, "uint8")
    turned = codes if axis == -1 else _swapped(package, codes)
    pairs = package.lookup(decoded("float4_e2m1fn_x2").astype(np.float32), turned)
    values = pairs.reshape(*turned.shape[:-1], 2 * turned.shape[-1])
    return values if axis == -1 else _swapped(package, values)


def get_block_scale_offset(
    index: tuple[Any, ...],
    operand_or_shape: Any,
    block_scaling_format: BlockScalingFormat | str,
    *,
    axis: int | None = None,
) -> Any:
    """Return where the scale of a block lies in the flat, tiled array of scales.

    Parameters
    ----------
    index : tuple of int or of arrays
        The index of the block: that of an element, with the entry of the blocked axis divided by the block size. Arrays must have
        equal shapes.
    operand_or_shape : array or tuple of int
        The operand, or its unpacked shape; at least 2-dimensional.
    block_scaling_format : BlockScalingFormat or str
        ``"NVFP4"`` or ``"MXFP8"``.
    axis : int, optional
        The blocked axis, -1 or -2; needed with a shape, found from the strides of an operand.

    Returns
    -------
    int or array
        The offset, in elements.

    Raises
    ------
    TypeError
        An entry of the index is no integer and no array of integers, or arrays come from different packages.
    ValueError
        The length of the index, the shape, the dtype, the format or the axis does not fit, or an integer index is out of range.

    Examples
    --------
    >>> from nvmath.linalg.advanced.helpers.matmul import get_block_scale_offset
    >>> get_block_scale_offset((37, 5), (128, 256), "MXFP8", axis=-1)
    597
    """
    operand = blocked(operand_or_shape, coerce_format(block_scaling_format), axis)
    shape = operand.scale_shape
    if len(index) != len(shape):
        raise ValueError(
            f"The index must have {len(shape)} entries, one for each axis of the operand, but it has {len(index)}."
        )
    index = _entries(index)
    for at, (entry, extent) in enumerate(zip(index, shape, strict=True)):
        if isinstance(entry, int) and not 0 <= entry < extent:
            raise ValueError(
                f"Entry {at} of the index is {entry}, but there are blocks from 0 to {extent - 1} on that axis."
            )
    outer, group = (index[-2], index[-1]) if operand.axis == -1 else (index[-1], index[-2])
    matrix: Any = 0
    for entry, extent in zip(index[:-2], shape[:-2], strict=True):
        matrix = matrix * extent + entry
    return matrix * (operand.rows * operand.groups) + offset(outer, group, operand.groups)


def _entries(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return an index as integers and arrays of int64, in which no offset overflows."""
    made, packages = [], {}
    for at, entry in enumerate(index):
        package = package_of(entry)
        if package is None or (package.name == "numpy" and entry.ndim == 0):
            if not hasattr(entry, "__index__") or (package is not None and entry.dtype.kind not in "iu"):
                raise TypeError(f"Entry {at} of the index must be an integer or an array of integers, not {entry!r}.")
            made.append(operator.index(entry))
            continue
        name = package.dtype_name(entry)
        if not name.startswith(("int", "uint")):
            raise TypeError(f"Entry {at} of the index must be an integer or an array of integers, not an array of {name}.")
        packages[package.name] = package
        made.append(package.convert(entry, "int64"))
    if len(packages) > 1:
        raise TypeError(f"The entries of the index must be arrays of one package, not of {' and '.join(packages)}.")
    return tuple(made)


def to_block_scale(
    scale_tensor: Any,
    operand_or_shape: Any,
    block_scaling_format: BlockScalingFormat | str,
    *,
    axis: int | None = None,
    out: Any = None,
) -> Any:
    """Bring scales from their natural order into the order that a product reads.

    Parameters
    ----------
    scale_tensor : array
        One scale for each block: the shape of the operand with the extent of the blocked axis divided by the block size. float8_e4m3fn
        or uint8 for NVFP4, uint8 for MXFP8.
    operand_or_shape : array or tuple of int
        The operand, or its unpacked shape.
    block_scaling_format : BlockScalingFormat or str
        ``"NVFP4"`` or ``"MXFP8"``.
    axis : int, optional
        The blocked axis, -1 or -2; needed with a shape.
    out : array, optional
        Where to write: 1-dimensional, of the same length and dtype.

    Returns
    -------
    array
        1-dimensional; a new array, or `out`.

    Raises
    ------
    TypeError
        It is not an array of these packages, or its dtype is another.
    ValueError
        The shapes, the format, the axis or `out` do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced.helpers.matmul import to_block_scale
    >>> scales = np.arange(128 * 4, dtype=np.int64).astype(np.uint8).reshape(128, 4)
    >>> to_block_scale(scales, (128, 128), "MXFP8", axis=-1)[:8]
    array([  0,   1,   2,   3, 128, 129, 130, 131], dtype=uint8)
    """
    package = _package(scale_tensor, "scale_tensor")
    operand = blocked(operand_or_shape, coerce_format(block_scaling_format), axis)
    _check_dtype(package, scale_tensor, operand, "scale_tensor")
    if tuple(scale_tensor.shape) != operand.scale_shape:
        raise ValueError(
            f"scale_tensor should have shape {operand.scale_shape} for an operand of shape {operand.shape} with blocks of "
            f"{operand.size} along axis {operand.axis}, but it has {tuple(scale_tensor.shape)}."
        )
    name = package.dtype_name(scale_tensor)
    if out is not None:
        other = package_of(out)
        if other is None or other.name != package.name:
            raise TypeError(f"out must be an array of {package.name}, as scale_tensor is, not {type(out).__name__}.")
        if len(out.shape) != 1 or out.shape[0] != operand.count:
            raise ValueError(
                f"out must be a 1D array of {operand.count} elements, but its shape is {tuple(out.shape)}."
            )
        if package.dtype_name(out) != name:
            raise ValueError(f"out must have the dtype of scale_tensor, {name}, not {package.dtype_name(out)}.")
    flat = tiled(package.view(scale_tensor, "uint8"), operand, package)
    if out is None:
        return package.view(flat, name)
    package.assign(package.view(out, "uint8"), flat)
    return out


def _check_dtype(package: Package, scales: Any, operand: Blocked, what: str) -> None:
    name, allowed = package.dtype_name(scales), BLOCKS[operand.kind].scales
    if name not in allowed:
        raise TypeError(f"{what} of {operand.kind.value} must have the dtype {' or '.join(allowed)}, not {name}.")


def _check_flat(scales: Any, operand: Blocked) -> Package:
    package = _package(scales, "scales_1d")
    _check_dtype(package, scales, operand, "scales_1d")
    if tuple(scales.shape) != (operand.count,):
        raise ValueError(
            f"scales_1d should have shape ({operand.count},), one scale for each {operand.size} elements of {operand.shape}, but it has "
            f"{tuple(scales.shape)}."
        )
    return package


def expand_block_scale(
    scales_1d: Any,
    operand_or_shape: Any,
    block_scaling_format: BlockScalingFormat | str,
    *,
    axis: int | None = None,
    output_dtype: Any = "smallest",
    device: str | None = None,
) -> Any:
    """Return the scale of every element of an operand, from the flat, tiled scales that a product takes or returns.

    Parameters
    ----------
    scales_1d : array
        1-dimensional; float8_e4m3fn or uint8 for NVFP4, uint8 for MXFP8.
    operand_or_shape : array or tuple of int
        The operand, or its unpacked shape.
    block_scaling_format : BlockScalingFormat or str
        ``"NVFP4"`` or ``"MXFP8"``.
    axis : int, optional
        The blocked axis, -1 or -2; needed with a shape.
    output_dtype : dtype, default "smallest"
        ``"smallest"`` leaves scales as they are stored: float8_e4m3fn for NVFP4 (uint8 of NumPy and CuPy, if the scales are uint8), and
        the bytes of the exponents for MXFP8. float16, float32 or float64 of the package gives the numbers: ``2**(s - 127)`` for MXFP8.
    device : {None, "cpu", "cuda"}
        Where the result of PyTorch is to be; None for the device of the scales.

    Returns
    -------
    array
        Dense, of the unpacked shape of the operand.

    Raises
    ------
    TypeError
        It is not an array of these packages, or a dtype is another.
    ValueError
        The shapes, the format, the axis or the device do not fit, or the values do not fit the output dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced.helpers.matmul import expand_block_scale, to_block_scale
    >>> flat = to_block_scale(np.full((128, 4), 128, np.uint8), (128, 128), "MXFP8", axis=-1)
    >>> expand_block_scale(flat, (128, 128), "MXFP8", axis=-1, output_dtype=np.float32)[0, :2]
    array([2., 2.], dtype=float32)
    """
    package = _package(scales_1d, "scales_1d")
    kind = coerce_format(block_scaling_format)
    operand = blocked(operand_or_shape, kind, axis)
    nvfp4 = kind is BlockScalingFormat.NVFP4
    wanted = _output(package, output_dtype, (("float8_e4m3fn",) if nvfp4 else ("uint8",)) + FLOATS)
    if device not in (None, "cpu", "cuda"):
        raise ValueError(f"device must be 'cuda', 'cpu' or None, not {device!r}.")
    _check_flat(scales_1d, operand)
    moved = scales_1d if device is None else package.move(scales_1d, device)
    codes = untiled(package.view(moved, "uint8"), operand, package)
    if wanted in FLOATS:
        values = package.lookup(decoded("float8_e4m3fn") if nvfp4 else _EXPONENTS, codes)
        return spread(package.convert(values, wanted) if nvfp4 else _fitted(package, values, wanted), operand, package)
    stored = spread(codes, operand, package)
    if not nvfp4 or (package.packed == "uint8" and not wanted and package.dtype_name(scales_1d) == "uint8"):
        return stored
    return package.view(stored, "float8_e4m3fn")


def __dir__() -> list[str]:
    return sorted(__all__)
