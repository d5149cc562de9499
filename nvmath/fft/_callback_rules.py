"""What cuFFT expects of callbacks, and where they do not work: facts by element type and library version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from ._primes import LARGEST_DIRECT_PRIME, largest_prime_factor, lengths_with_large_primes

__all__ = [
    "ELEMENT_DTYPES",
    "Phase",
    "cufft_callback_type",
    "refuse_wrong_results",
    "require_callback_support",
    "require_element",
    "symbol_name",
]

Phase = Literal["prolog", "epilog"]

# element dtype: (part of the symbol, mangled argument of a store, offset in each half of cufftXtCallbackType)
_ELEMENTS: Final = {
    "complex64": ("Complex", "6float2", 0),
    "complex128": ("DoubleComplex", "7double2", 1),
    "float32": ("Real", "f", 2),
    "float64": ("DoubleReal", "d", 3),
}
ELEMENT_DTYPES: Final = tuple(_ELEMENTS)

FIRST_WITH_LTO_CALLBACKS: Final = 11300  # cuFFT 11.3.0, CUDA 12.6 Update 2
_WRONG_RESULTS: Final = range(12300, 12400)  # cuFFT 12.3.x, CUDA 13.3
_WRONG_FROM_LENGTH: Final = {"float32": 8192, "complex64": 8192, "float64": 4096, "complex128": 4096}


def symbol_name(phase: Phase, element_dtype: str, cufft_version: int = FIRST_WITH_LTO_CALLBACKS) -> str:
    """The mangled C++ name that cuFFT looks up.

    The offset is an ``unsigned long long`` (``y``); the previews before 11.3.0 declared ``size_t`` (``m``).

    Examples
    --------
    >>> from nvmath.fft._callback_rules import symbol_name
    >>> symbol_name("prolog", "complex64")
    '_Z27cufftJITCallbackLoadComplexPvyS_S_'
    """
    kind, stored, _ = _ELEMENTS[element_dtype]
    name = f"cufftJITCallback{'Load' if phase == 'prolog' else 'Store'}{kind}"
    offset = "y" if cufft_version >= FIRST_WITH_LTO_CALLBACKS else "m"
    return f"_Z{len(name)}{name}Pv{offset}{stored if phase == 'epilog' else ''}S_S_"


def cufft_callback_type(phase: Phase, element_dtype: str) -> int:
    """The ``cufftXtCallbackType`` value: loads are 0 to 3, stores 4 to 7."""
    return _ELEMENTS[element_dtype][2] + (0 if phase == "prolog" else len(_ELEMENTS))


def require_element(element_dtype: Any, phase: Phase) -> str:
    """Refuse a dtype that callbacks cannot have.

    Raises
    ------
    ValueError
        If `element_dtype` is no name of one of the four dtypes.
    """
    if not isinstance(element_dtype, str) or element_dtype not in ELEMENT_DTYPES:
        raise ValueError(
            f"The elements of a {phase} must have one of the dtypes {', '.join(map(repr, ELEMENT_DTYPES))}, given as a string, "
            f"but element_dtype is {element_dtype!r}."
        )
    return element_dtype


def require_callback_support(cufft_version: int, library: str = "cuFFT") -> None:
    """Refuse a cuFFT that has no LTO callbacks; `library` may name the file.

    Raises
    ------
    RuntimeError
        If the version is older than 11.3.0.
    """
    if cufft_version < FIRST_WITH_LTO_CALLBACKS:
        raise RuntimeError(
            f"FFT callbacks need cuFFT 11.3.0 or newer (CUDA 12.6 Update 2), but {library} has version "
            f"{_readable(cufft_version)}. Another package, torch for example, may have loaded an older copy first."
        )


def refuse_wrong_results(
    cufft_version: int, fft_type: str, lengths: Sequence[int], dtype: str, real_side: bool
) -> None:
    """Refuse the transforms for which cuFFT 12.3 with a callback on the real side gives wrong results without a word.

    Parameters
    ----------
    cufft_version
        As ``cufftGetVersion`` gives it.
    fft_type
        ``"C2C"``, ``"R2C"`` or ``"C2R"``.
    lengths
        Logical lengths of the transformed axes in the order in which the axes were listed.
    dtype
        Name of the real or complex dtype of the transform.
    real_side
        Whether there is a callback where the data are real: a prolog of R2C, an epilog of C2R.

    Raises
    ------
    ValueError
        If the last length is even, has a prime factor above 127, and is at least 8192 (single precision) or 4096
        (double).
    """
    length = lengths[-1]
    if cufft_version not in _WRONG_RESULTS or fft_type == "C2C" or not real_side:
        return
    if length % 2 == 0 and length >= _WRONG_FROM_LENGTH[dtype] and lengths_with_large_primes((length,)):
        raise ValueError(
            f"cuFFT {_readable(cufft_version)} computes wrong results for a {fft_type} transform of length {length} "
            f"with a callback on its real side: the length is even and has the prime factor "
            f"{largest_prime_factor(length)}, which is above {LARGEST_DIRECT_PRIME}. Use another length, move the "
            "work to the complex side, or use cuFFT before 12.3 or from 12.4."
        )


def _readable(version: int) -> str:
    return f"{version // 1000}.{version // 100 % 10}.{version % 100}"
