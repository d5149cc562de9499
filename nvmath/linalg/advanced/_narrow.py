"""Narrow precision (FP8, MXFP8, NVFP4): what goes together, as tables; which scales there are and what else is returned.

Pure: everything here follows from metadata and options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..._core.dtypes import DTYPES, DType
from ..._core.layout import Ints
from ...bindings import cublasLt
from .._matrix import COLUMN, Matrix, Operand
from ._options import BY_CODE, MatmulOptions
from ._scales import BlockScalingFormat

NARROW: Final = ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2")
E4M3, E5M2, FP4 = (DTYPES[name] for name in NARROW)
F16, BF16, F32 = (DTYPES[name] for name in ("float16", "bfloat16", "float32"))
MODE: Final = cublasLt.MatmulMatrixScale

SCALES: Final = {name: f"{name}_scale" for name in ("a", "b", "c", "d")}
"""Names of the operands that hold the scales."""
AUX_SCALE: Final = "aux_quantization_scale"
FLAT: Final = ("result_amax", "d_out_scale", "gelu_aux_amax")
"""Outputs that are 1-dimensional whatever the batch."""

# (C, D) that go with (A, B); a C that is not there has the type of D, or float16 where D is narrow.
_PLAIN: Final = ((F16, F16), (BF16, BF16), (F32, F32))
_TO_E4M3: Final = ((F16, E4M3), (BF16, E4M3))
_TO_E5M2: Final = ((F16, E5M2), (BF16, E5M2))
RESULTS: Final[dict[tuple[DType, DType, bool], tuple[tuple[DType, DType], ...]]] = {
    (E4M3, E4M3, False): _PLAIN + _TO_E4M3,
    (E4M3, E5M2, False): _PLAIN + _TO_E4M3 + _TO_E5M2,
    (E5M2, E4M3, False): _PLAIN + _TO_E4M3 + _TO_E5M2,
    (E4M3, E4M3, True): _PLAIN + _TO_E4M3 + _TO_E5M2,
    (E4M3, E5M2, True): _PLAIN + _TO_E4M3 + _TO_E5M2,
    (E5M2, E4M3, True): _PLAIN + _TO_E4M3 + _TO_E5M2,
    (FP4, FP4, True): (*_PLAIN, (F16, FP4), (BF16, FP4)),
}  # fmt: skip

CAPABILITIES: Final = {
    MODE.SCALAR_32F: ("FP8", (8, 9), None),
    MODE.OUTER_VEC_32F: ("FP8 with a scale for each row and column", (9, 0), (9, 0)),
    MODE.VEC128_32F: ("FP8 with scales of 128 elements", (9, 0), (9, 0)),
    MODE.BLK128x128_32F: ("FP8 with scales of 128x128 blocks", (9, 0), (9, 0)),
    MODE.VEC32_UE8M0: ("MXFP8", (10, 0), None),
    MODE.VEC16_UE4M3: ("NVFP4", (10, 0), None),
}
"""What a mode is called, and the first and last compute capability that has it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scales of one operand, as they are given.

    Attributes
    ----------
    operand : str
        ``"a"``, ``"b"`` or ``"d"``.
    mode : int
        A member of MatmulMatrixScale.
    shape, strides : tuple of int
        Of the array of scales.
    """

    operand: str
    mode: int
    shape: Ints
    strides: Ints


@dataclass(frozen=True, slots=True)
class Narrow:
    """What a product in narrow precision has besides an ordinary one.

    Attributes
    ----------
    scales : tuple of Scale
        Of A, of B, and of D where that is given.
    addend : DType
        The dtype of C, also where there is none.
    block_format : BlockScalingFormat or None
        The format of block scales.
    amax : bool
        Whether the largest magnitude of the result is returned.
    aux_scale : bool
        Whether the auxiliary output is narrow and has a scale.
    aux_amax : bool
        Whether the largest magnitude of the auxiliary output is returned.
    """

    scales: tuple[Scale, ...]
    addend: DType
    block_format: BlockScalingFormat | None = None
    amax: bool = False
    aux_scale: bool = False
    aux_amax: bool = False

    def __str__(self) -> str:
        return ", ".join(f"{each.operand}: {MODE(each.mode).name}" for each in self.scales)

    @property
    def key(self) -> tuple[Any, ...]:
        """What the choice of an algorithm depends on, as text and numbers."""
        return (
            tuple((each.operand, each.mode) for each in self.scales),
            self.addend.name,
            self.amax,
            self.aux_scale,
            self.aux_amax,
        )


def is_narrow(dtype: DType) -> bool:
    """Whether a dtype has 8 bits or fewer."""
    return dtype.name in NARROW


def unpacked(operand: Operand, axis: int) -> Operand:
    """Return a packed FP4 operand with its extents and strides in values instead of bytes; others as they are.

    Raises
    ------
    ValueError
        The pairs do not lie along `axis`, or rows begin at addresses that the library cannot read.
    """
    if operand.dtype is not FP4:
        return operand
    name, layout = ("a", "row-major") if axis == -1 else ("b", "column-major")
    shape, strides = operand.shape, operand.strides
    if len(shape) < 2:
        raise ValueError(f"FP4 operands must have at least two dimensions, but the shape of {name} is {shape}.")
    if strides[axis] != 1 and shape[axis] > 1:
        raise ValueError(
            f"The FP4 operand {name} must be {layout} (two values along K share a byte), but its strides are {strides}. Pack it with "
            f"quantize_to_fp4(x, axis={axis})."
        )
    if any(stride % 16 for at, stride in enumerate(strides) if at != len(shape) + axis and shape[at] > 1):
        raise ValueError(
            f"The rows of the FP4 operand {name} must be aligned to 16 bytes, but its strides in bytes are {strides}. Copy it with padded "
            "rows."
        )
    at = len(shape) + axis
    logical = tuple(2 * extent if index == at else extent for index, extent in enumerate(shape))
    steps = tuple(1 if index == at else 2 * stride for index, stride in enumerate(strides))
    _divisible(name, "rows" if axis == -1 else "columns", logical[-3 - axis], 128, logical)
    _divisible(name, "K", logical[axis], 64, logical)
    return operand._replace(shape=logical, strides=steps)


def _divisible(name: str, what: str, extent: int, unit: int, shape: Ints) -> None:
    if extent % unit:
        raise ValueError(
            f"FP4 operands need {what} divisible by {unit}, but operand {name} of the unpacked shape {shape} has {extent}. "
            f"Pad it with zeros to {-(-extent // unit) * unit}."
        )


def check_pair(a: DType, b: DType, options: MatmulOptions) -> None:
    """Refuse operands that cannot be multiplied, one of them at least being narrow.

    Raises
    ------
    ValueError
        That is so; the text says which can.
    """
    if (a is FP4) != (b is FP4):
        raise ValueError(
            f"Mixed FP4/non-FP4 operands are not supported: a is {a} and b is {b}. Quantize both of them to FP4."
        )
    if a is FP4 and not options.block_scaling:
        raise ValueError(
            "block_scaling=True is required for FP4 operands, which have a scale for each 16 values (NVFP4)."
        )
    if (a, b, options.block_scaling) not in RESULTS:
        fitting = ", ".join(f"{one} with {other}" for one, other, blocks in RESULTS if blocks == options.block_scaling)
        raise ValueError(
            f"Unsupported combination of dtypes: a is {a} and b is {b}. Those that are supported: {fitting}."
        )


def result_types(a: DType, b: DType, c: DType | None, options: MatmulOptions) -> tuple[DType, DType]:
    """Return the dtype of D and the one that C has, or would have.

    Raises
    ------
    ValueError
        They do not go with A and B; the text lists those that do.
    """
    asked = None if options.result_type is None or options.inplace else BY_CODE[int(options.result_type)]
    d = asked or c or a
    addend = c or (F16 if is_narrow(d) else d)
    pairs = RESULTS[a, b, options.block_scaling]
    if (addend, d) not in pairs:
        fitting = ", ".join(f"{one} -> {other}" for one, other in pairs)
        given = f"c of {c} and a result of {d}" if c else f"a result of {d}"
        raise ValueError(
            f"Unsupported combination of dtypes: {given} for a of {a} and b of {b}. Those of c -> result that are supported: {fitting}."
        )
    return d, addend


def addend_beside(bias: DType, default: DType) -> DType:
    """Return the dtype of a C that is not there, beside a bias: that of a bias of 16 bits, which the library wants."""
    return bias if bias in (F16, BF16) else default


def packed_result(d: Matrix, shape: Ints, strides: Ints) -> tuple[Ints, Ints]:
    """Return shape and strides of a result; of an FP4 one in bytes, from those in values."""
    if d.dtype is not FP4:
        return shape, strides
    at = len(shape) - (2 if d.order == COLUMN else 1)
    halves = tuple(extent // 2 if index == at else extent for index, extent in enumerate(shape))
    return halves, tuple(1 if index == at else stride // 2 for index, stride in enumerate(strides))
