"""The rules of narrow precision: which scales a product needs, what their shapes mean, which extents it may have.

Pure: everything here follows from metadata and options, and is checked before anything is touched.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from typing import Final

from ..._core.dtypes import DTYPES, DType
from ..._core.layout import Ints
from .._matrix import Matrix, Operand
from ._narrow import AUX_SCALE, F32, FP4, MODE, SCALES, Narrow, Scale, is_narrow
from ._options import MatmulOptions
from ._preferences import MatmulEpilogPreferences
from ._scales import BLOCKS, BlockScalingFormat

# Modes of A and B that go together, tried in this order when the shapes of scales are read.
_PAIRS: Final = (
    (MODE.SCALAR_32F, MODE.SCALAR_32F),
    (MODE.OUTER_VEC_32F, MODE.OUTER_VEC_32F),
    (MODE.VEC128_32F, MODE.VEC128_32F),
    (MODE.VEC128_32F, MODE.BLK128x128_32F),
    (MODE.BLK128x128_32F, MODE.VEC128_32F),
)


def check_scales(given: Collection[str], d: DType, options: MatmulOptions) -> None:
    """Refuse scales that are missing or that nothing can be done with.

    Parameters
    ----------
    given : collection of str
        The operands that have scales.
    d : DType
        The dtype of D.
    options : MatmulOptions
        What was asked.

    Raises
    ------
    ValueError
        That is so.
    """
    if not given:
        raise ValueError(
            "Scales are required for narrow-precision operands: pass quantization_scales, for example {'a': 1, 'b': 1"
            + (", 'd': 1}." if is_narrow(d) and not options.block_scaling else "}.")
        )
    for name in ("a", "b"):
        if name not in given:
            raise ValueError(
                f"The scale of {name} is not specified, but a and b are narrow-precision operands. Pass it, 1 if need be."
            )
    for name, narrow in (("c", False), ("d", is_narrow(d))):  # there is no narrow C
        if name in given and not narrow:
            what = f"a result of {d}" if name == "d" else "c"
            raise ValueError(
                f"A scale of {name} is not supported for {what} when it is not a narrow-precision one. Leave it out."
            )
    if is_narrow(d) and options.block_scaling and "d" in given:
        raise ValueError(
            "A scale of d is not supported with block_scaling=True: the scales of the result are computed and returned as 'd_out_scale'."
        )
    if is_narrow(d) and not options.block_scaling and "d" not in given:
        raise ValueError(
            f"The scale of d is not specified, but the result is of {d}. Pass it, 1 if need be, or ask for another result_type."
        )


def specify(
    a: Matrix,
    b: Matrix,
    d: Matrix,
    addend: DType,
    batch: Ints,
    inputs: Mapping[str, Operand],
    options: MatmulOptions,
    batches: tuple[Ints, Ints],
    auxiliary: tuple[tuple[str, Matrix], ...],
    wishes: MatmulEpilogPreferences,
) -> Narrow:
    """Read the scales of a product and what else is wanted of it.

    Parameters
    ----------
    a, b, d : Matrix
        The operands and the result.
    addend : DType
        The dtype of C, also where there is none.
    batch : tuple of int
        Batch extents of the problem.
    inputs : dict
        Operands by name, scales among them.
    options : MatmulOptions
        What was asked.
    batches : pair of tuple of int
        The batch extents of A and of B themselves.
    auxiliary : tuple
        The outputs of the epilog.
    wishes : MatmulEpilogPreferences
        What was asked of them.

    Raises
    ------
    ValueError
        Scales are missing or too many, or their shapes or dtypes do not fit; the text gives those that would.
    """
    for name, matrix in (("a", a), ("b", b)):
        if matrix.alignment < 16:
            raise ValueError(
                f"Operand {name} must be aligned to 16 bytes, as narrow-precision operands are, but its address is a multiple of "
                f"{matrix.alignment} only. Copy it."
            )
    given = {name: inputs[key] for name, key in SCALES.items() if key in inputs}
    check_scales(given, d.dtype, options)
    if options.result_amax and not is_narrow(d.dtype):
        raise ValueError(
            f"MatmulOptions.result_amax is not supported for a result of {d.dtype} when it is not a narrow-precision (FP8 or FP4) one. "
            "Compute abs(result).max() instead."
        )
    aux_scale = any(is_narrow(matrix.dtype) for _, matrix in auxiliary)
    check_aux_scale(inputs.get(AUX_SCALE), aux_scale)
    if options.block_scaling:
        check_batches(*batches)
        kind = BlockScalingFormat.NVFP4 if a.dtype is FP4 else BlockScalingFormat.MXFP8
        made = tuple(_block_scale(name, matrix, given[name], kind, batch) for name, matrix in (("a", a), ("b", b)))
        return Narrow(made, addend, kind, options.result_amax, aux_scale, wishes.aux_amax)
    made = _plain_scales(a, b, given, batch)
    if "d" in given:
        if made[0].mode != MODE.SCALAR_32F:
            raise ValueError(
                f"A result of {d.dtype} is not supported with scales of rows, columns or blocks. Ask for float16, bfloat16 or float32 by "
                "result_type."
            )
        made = (*made, _single("d", given["d"]))
    return Narrow(made, addend, None, options.result_amax, aux_scale, wishes.aux_amax)


def check_aux_scale(given: Operand | None, wanted: bool) -> None:
    """Refuse a scale of an auxiliary output that is missing, or that nothing can be done with.

    Raises
    ------
    ValueError
        That is so.
    """
    if wanted and given is None:
        raise ValueError(
            "The scale of the auxiliary output is not specified, but aux_type is a narrow-precision one. Pass "
            f"epilog_inputs[{AUX_SCALE!r}]."
        )
    if given is not None and not wanted:
        raise ValueError(
            f"epilog_inputs[{AUX_SCALE!r}] is not supported for an auxiliary output when it is not a narrow-precision one. Leave it out, "
            "or set aux_type."
        )
    if given is not None:
        _single("the auxiliary output", given)


def outputs(narrow: Narrow, d: Matrix, batch: Ints) -> tuple[tuple[str, Matrix], ...]:
    """Return what a product gives besides D and the outputs of its epilog."""
    still = (0,) * len(batch)
    wanted = {"result_amax": narrow.amax, "gelu_aux_amax": narrow.aux_amax}
    made = [(name, Matrix(1, 1, 1, 1, still, F32)) for name, asked in wanted.items() if asked]
    if narrow.block_format is not None and is_narrow(d.dtype):
        count = prod(batch) * d.rows * d.cols // BLOCKS[narrow.block_format].size
        dtype = DTYPES[BLOCKS[narrow.block_format].scales[0]]
        made.append(("d_out_scale", Matrix(count, 1, 1, count, still, dtype)))
    return tuple(made)


def differences(old: Narrow | None, new: Narrow | None) -> list[str]:
    """Say in which respects the scales of two products differ."""
    if old is None or new is None or old.block_format is not new.block_format:
        return []
    return [
        f"the scale of {one.operand} must match: expected {MODE(one.mode).name} of shape {one.shape}, given {MODE(other.mode).name} of "
        f"shape {other.shape}"
        for one, other in zip(old.scales, new.scales, strict=True)
        if one.mode != other.mode
    ]


def _block_scale(name: str, matrix: Matrix, given: Operand, kind: BlockScalingFormat, batch: Ints) -> Scale:
    row = BLOCKS[kind]
    wanted = row.scales[0]
    if given.dtype.name != wanted:
        raise ValueError(
            f"The scale of {name} must be {wanted} tensor with {kind.value} block scaling, but it is {given.dtype}."
        )
    count = prod(batch) * matrix.rows * matrix.cols // row.size
    if given.shape != (count,):
        raise ValueError(
            f"The scale of {name} should have shape ({count},), one for each {row.size} values, in the order that to_block_scale() gives; "
            f"its shape is {given.shape}."
        )
    if given.strides != (1,) and count > 1:
        raise ValueError(f"The scale of {name} must be contiguous, but its stride is {given.strides[0]}. Copy it.")
    mode = MODE.VEC16_UE4M3 if kind is BlockScalingFormat.NVFP4 else MODE.VEC32_UE8M0
    return Scale(name, int(mode), given.shape, given.strides)


def _single(name: str, given: Operand) -> Scale:
    if given.dtype is not F32 or given.shape not in ((), (1,)):
        raise ValueError(
            f"The scale of {name} must be a number or a float32 tensor with a single value, of shape () or (1,); it is {given.dtype} of "
            f"shape {given.shape}."
        )
    return Scale(name, int(MODE.SCALAR_32F), given.shape, given.strides)


def scale_shape(name: str, mode: int, rows: int, cols: int) -> Ints:
    """Return the shape that scales of rows, columns or blocks have."""
    if mode == MODE.OUTER_VEC_32F:
        return (rows, 1) if name == "a" else (1, cols)
    blocks = -(-rows // 128), -(-cols // 128)
    if mode == MODE.VEC128_32F:
        return (rows, blocks[1]) if name == "a" else (blocks[0], cols)
    return blocks


def _plain_scales(a: Matrix, b: Matrix, given: Mapping[str, Operand], batch: Ints) -> tuple[Scale, ...]:
    named = (("a", a), ("b", b))
    if all(given[name].shape in ((), (1,)) for name, _ in named):
        return tuple(_single(name, given[name]) for name, _ in named)
    for pair in _PAIRS[1:]:
        if not batch and all(
            given[name].dtype is F32 and given[name].shape == scale_shape(name, mode, matrix.rows, matrix.cols)
            for (name, matrix), mode in zip(named, pair, strict=True)
        ):
            return tuple(
                Scale(name, int(mode), given[name].shape, given[name].strides)
                for (name, _), mode in zip(named, pair, strict=True)
            )
    if batch:
        for name, _ in named:
            _single(name, given[name])
    fitting = "; ".join(
        " with ".join(
            f"{name} {'() or (1,)' if mode == MODE.SCALAR_32F else scale_shape(name, mode, matrix.rows, matrix.cols)}"
            for (name, matrix), mode in zip(named, pair, strict=True)
        )
        for pair in _PAIRS
    )
    shown = ", ".join(f"{name} {given[name].dtype} {given[name].shape}" for name, _ in named)
    raise ValueError(
        f"The scales of a and b must be a single value each, or have float32 elements and one of these shapes: {fitting}. Given: {shown}. "
        "block_scaling=True is required for MXFP8."
    )


def check_extents(m: int, n: int, k: int, narrow: Narrow) -> None:
    """Refuse extents that the library cannot multiply.

    Raises
    ------
    ValueError
        One is not divisible as it must be.
    """
    unit = 128 if narrow.block_format is BlockScalingFormat.MXFP8 else 16
    for name, extent in (("M", m), ("N", n), ("K", k)):
        if extent % unit or not extent:
            raise ValueError(
                f"M, N and K must be divisible by {unit} for {'MXFP8' if unit == 128 else 'narrow-precision'} operands, but {name} is "
                f"{extent} in ({m}, {k}) x ({k}, {n}). Pad the operands with zeros to {max(1, -(-extent // unit)) * unit}."
            )


def check_batches(a: Ints, b: Ints) -> None:
    """Refuse batches that block scales cannot be shared by.

    Raises
    ------
    ValueError
        The batch extents differ.
    """
    if a != b:
        raise ValueError(
            f"The batch extents must match with block_scaling=True: a has {a} and b has {b}, and scales are not broadcast. Expand the "
            "operand and its scales."
        )
