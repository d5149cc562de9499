"""Products of int8: exact sums in int32, which wrap around as those of the hardware do."""

from __future__ import annotations

from typing import Final

from ..._core.dtypes import DTYPES, DType
from ..._enums import CudaDataType
from ._options import BY_CODE, MatmulComputeType, MatmulOptions

INT8, INT32 = DTYPES["int8"], DTYPES["int32"]
_COMPUTE: Final = (MatmulComputeType.COMPUTE_32I, MatmulComputeType.COMPUTE_32I_PEDANTIC)


def check_pair(a: DType, b: DType) -> None:
    """Refuse operands one of which only is int8.

    Raises
    ------
    ValueError
        That is so.
    """
    if a is not b:
        raise ValueError(
            f"Unsupported combination of dtypes: a is {a} and b is {b}. Convert one of them to the dtype of the other."
        )


def check_addend(name: str, dtype: DType) -> None:
    """Refuse what is added to a product of int8, if it is not int32.

    Raises
    ------
    ValueError
        That is so.
    """
    if dtype is not INT32:
        raise ValueError(
            f"Unsupported combination of dtypes: {name} is {dtype}, but a and b are int8. Convert {name} to int32."
        )


def check_result(options: MatmulOptions) -> None:
    """Refuse a result that is not int32.

    Raises
    ------
    ValueError
        That is so.
    """
    asked = None if options.result_type is None else BY_CODE[int(options.result_type)]
    if asked not in (None, INT32):
        raise ValueError(f"A result of {asked} is not supported for operands of int8. Ask for int32, and convert that.")


def compute_and_scale(options: MatmulOptions) -> tuple[int, int]:
    """Return the compute type and the scale type.

    Raises
    ------
    ValueError
        Others are asked for.
    """
    compute = _COMPUTE[0] if options.compute_type is None else options.compute_type
    scale = CudaDataType.CUDA_R_32I if options.scale_type is None else options.scale_type
    if compute not in _COMPUTE or scale != CudaDataType.CUDA_R_32I:
        raise ValueError(
            f"The compute type {MatmulComputeType(compute).name} with the scale type {CudaDataType(int(scale)).name} is not supported for "
            "operands of int8. Use COMPUTE_32I, COMPUTE_32I_PEDANTIC with CUDA_R_32I."
        )
    return int(compute), int(scale)


def check_extents(m: int, n: int, k: int) -> None:
    """Refuse extents that the kernels of a GPU do not have.

    Raises
    ------
    ValueError
        One is not divisible by 4.
    """
    for name, extent in (("M", m), ("N", n), ("K", k)):
        if extent % 4 or not extent:
            raise ValueError(
                f"M, N and K must be divisible by 4 for int8 operands on a GPU, but {name} is {extent} in ({m}, {k}) x ({k}, {n}). Pad the "
                "operands with zeros, or pass execution='cpu'."
            )
