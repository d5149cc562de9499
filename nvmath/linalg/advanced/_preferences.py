"""Preferences for the choice of an algorithm, and scales of narrow-precision operands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from ..._core.keywords import explained_fields
from ..._enums import CudaDataType
from ...bindings import cublasLt
from ._coerce import coerce, flags, member, natural, shown

MatmulInnerShape = cublasLt.MatmulInnerShape
MatmulReductionScheme = cublasLt.ReductionScheme

_EVERYTHING: Final = 2**64 - 1


class MatmulNumericalImplFlags(IntEnum):
    """Which kinds of instructions an algorithm may use; combine them with ``|``."""

    OP_TYPE_FMA = 0x1
    OP_TYPE_TENSOR_HMMA = 0x2
    OP_TYPE_TENSOR_IMMA = 0x4
    OP_TYPE_TENSOR_DMMA = 0x8
    OP_TYPE_TENSOR_MASK = 0xFE
    OP_TYPE_MASK = 0xFF
    ACCUMULATOR_16F = 0x100
    ACCUMULATOR_32F = 0x200
    ACCUMULATOR_64F = 0x400
    ACCUMULATOR_32I = 0x800
    ACCUMULATOR_TYPE_MASK = 0xFF00
    INPUT_TYPE_16F = 0x1_0000
    INPUT_TYPE_16BF = 0x2_0000
    INPUT_TYPE_TF32 = 0x4_0000
    INPUT_TYPE_32F = 0x8_0000
    INPUT_TYPE_64F = 0x10_0000
    INPUT_TYPE_8I = 0x20_0000
    INPUT_TYPE_8F_E4M3 = 0x40_0000
    INPUT_TYPE_8F_E5M2 = 0x80_0000
    INPUT_TYPE_MASK = 0xFF_0000
    GAUSSIAN = 1 << 32
    ALL = 2**64 - 1


@explained_fields
@dataclass(repr=False)
class MatmulEpilogPreferences:
    """Preferences for the auxiliary output of an epilog.

    Parameters
    ----------
    aux_type : CudaDataType or str, optional
        Type of the values before GELU that ``GELU_AUX`` and ``GELU_AUX_BIAS`` give, or its name; by default that of the result.
    aux_amax : bool, default False
        Return the largest absolute value of the auxiliary output too: for one in FP8 only.

    Raises
    ------
    ValueError
        A field has a value that it may not have.

    Examples
    --------
    >>> from nvmath.linalg.advanced import MatmulEpilogPreferences
    >>> MatmulEpilogPreferences().aux_amax
    False
    """

    aux_type: int | str | None = None
    aux_amax: bool = False

    def __post_init__(self) -> None:
        self.aux_type = member(CudaDataType, self.aux_type, "MatmulEpilogPreferences.aux_type")
        if not isinstance(self.aux_amax, bool):
            raise ValueError(f"MatmulEpilogPreferences.aux_amax must be True or False, not {self.aux_amax!r}.")

    def __repr__(self) -> str:
        return shown(self)

    def key(self) -> tuple[Any, ...]:
        """Everything that a plan depends on."""
        return self.aux_type, self.aux_amax


@explained_fields
@dataclass(repr=False)
class MatmulPlanPreferences:
    """Preferences for the choice of an algorithm on a GPU.

    Parameters
    ----------
    reduction_scheme_mask : MatmulReductionScheme, int or str, default MASK
        The reduction schemes that split-K may use; combine them, or their names in one text, with ``|``.
    max_waves_count : float, default 0.0
        Leave algorithms with more waves out; 0 for no limit.
    numerical_impl_mask : MatmulNumericalImplFlags, int or str, default ALL
        The kinds of instructions that may be used; combine them, or their names in one text, with ``|``.
    limit : int, default 8
        Number of candidates that the library is asked for.
    epilog : MatmulEpilogPreferences or dict, optional
        Preferences for the epilog.

    Raises
    ------
    ValueError
        A field has a value that it may not have.
    TypeError
        `epilog` is of another kind.

    Examples
    --------
    >>> from nvmath.linalg.advanced import MatmulPlanPreferences
    >>> MatmulPlanPreferences(limit=2).limit
    2
    """

    reduction_scheme_mask: int | str | None = MatmulReductionScheme.MASK
    max_waves_count: float | None = 0.0
    numerical_impl_mask: int | str | None = MatmulNumericalImplFlags.ALL
    limit: int | None = 8
    epilog: MatmulEpilogPreferences | None = None

    def __post_init__(self) -> None:
        mask = int(MatmulReductionScheme.MASK)
        self.reduction_scheme_mask = natural(
            mask
            if self.reduction_scheme_mask is None
            else flags(
                MatmulReductionScheme, self.reduction_scheme_mask, "MatmulPlanPreferences.reduction_scheme_mask"
            ),
            "MatmulPlanPreferences.reduction_scheme_mask",
        )
        if self.reduction_scheme_mask & ~mask:
            raise ValueError(
                "MatmulPlanPreferences.reduction_scheme_mask must combine members of MatmulReductionScheme, "
                f"not {self.reduction_scheme_mask}."
            )
        self.max_waves_count = _waves(self.max_waves_count)
        self.numerical_impl_mask = natural(
            _EVERYTHING
            if self.numerical_impl_mask is None
            else flags(MatmulNumericalImplFlags, self.numerical_impl_mask, "MatmulPlanPreferences.numerical_impl_mask"),
            "MatmulPlanPreferences.numerical_impl_mask",
        )
        if self.numerical_impl_mask > _EVERYTHING:
            raise ValueError(
                f"MatmulPlanPreferences.numerical_impl_mask has 64 bits, but it is {self.numerical_impl_mask:#x}."
            )
        self.limit = 8 if self.limit is None else natural(self.limit, "MatmulPlanPreferences.limit")
        if self.limit == 0:
            raise ValueError("MatmulPlanPreferences.limit must be at least 1, not 0.")
        self.epilog = coerce(MatmulEpilogPreferences, self.epilog, "MatmulPlanPreferences.epilog")

    def key(self) -> tuple[Any, ...]:
        """Everything that the choice of an algorithm depends on."""
        assert self.epilog is not None
        return self.reduction_scheme_mask, self.max_waves_count, self.numerical_impl_mask, *self.epilog.key()

    def __repr__(self) -> str:
        return shown(self)


@explained_fields
@dataclass(repr=False)
class MatmulQuantizationScales:
    """Scales of narrow-precision operands; ignored for all others.

    Parameters
    ----------
    a, b : float or array, optional
        Required for narrow operands. Without ``block_scaling``: a number, or float32 values of shape ``()`` or ``(1,)`` for the whole
        matrix; ``(M, 1)`` and ``(1, N)`` for each row of A and column of B; ``(M, K/128)`` and ``(K/128, N)`` for each 128 elements
        along K, or, for one of the two, blocks of 128 x 128, ``(M/128, K/128)`` or ``(K/128, N/128)``; quotients are rounded up. With
        it: a flat array with a value for each block, as ``to_block_scale`` gives it, uint8 for MXFP8 and float8_e4m3fn for NVFP4.
    c : optional
        Refused: there is no narrow C.
    d : float or array, optional
        Required if the result is FP8 and without ``block_scaling``, refused otherwise: a number, or one float32 value.

    Notes
    -----
    What the scales mean: ``D = sD * F(alpha * (sA * A) @ (sB * B) + beta * C)``. Arrays are of the operands' package and place; they are
    read at every execution, so that editing one in place suffices.

    Examples
    --------
    >>> from nvmath.linalg.advanced import MatmulQuantizationScales
    >>> MatmulQuantizationScales(a=2.0).a
    2.0
    """

    a: Any = None
    b: Any = None
    c: Any = None
    d: Any = None

    def __repr__(self) -> str:
        return shown(self)


def _waves(value: Any) -> float:
    try:
        number = float(value or 0.0)
    except (TypeError, ValueError):
        raise ValueError(f"MatmulPlanPreferences.max_waves_count must be a number, not {value!r}.") from None
    if not number >= 0:
        raise ValueError(f"MatmulPlanPreferences.max_waves_count must be at least 0, not {number}.")
    return number
