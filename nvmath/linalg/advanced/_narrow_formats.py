"""Number formats of 8 and 4 bits: what their codes mean, and how real numbers are rounded to them.

A format is a table. Decoding looks a code up; encoding looks up the upper half of a float32 number whose last bit says whether
anything was cut off, which decides every rounding to so few bits exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]

_PANEL: Final = 1 << 16
"""Elements that are converted at a time, so that what is between the steps stays in the cache."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: a sign bit (or none), exponent bits, mantissa bits.

    Attributes
    ----------
    name : str
        The dtype, or the name of a format of scales.
    exponent, mantissa, bias : int
        The layout of a code.
    signed : bool
        Whether the highest bit is a sign.
    specials : str
        ``"ieee"`` has infinities and NaN, ``"nan"`` gives only the last code of each sign to NaN, ``""`` has neither.
    """

    name: str
    exponent: int
    mantissa: int
    bias: int
    signed: bool = True
    specials: str = "nan"

    @property
    def bits(self) -> int:
        """Width of a code."""
        return self.signed + self.exponent + self.mantissa

    @property
    def largest(self) -> float:
        """The largest finite value."""
        values = self.magnitudes()
        return float(np.max(values[np.isfinite(values)]))

    def magnitudes(self) -> Array:
        """The values of all codes without a sign, in double precision."""
        codes = np.arange(1 << (self.exponent + self.mantissa))
        power, fraction = codes >> self.mantissa, codes & ((1 << self.mantissa) - 1)
        one = 1 << self.mantissa
        lowest = 1 if self.mantissa else 0  # a format without a mantissa has neither zero nor subnormal numbers
        significand = np.where(power >= lowest, one + fraction, fraction)
        values: Array = np.ldexp(significand.astype(np.float64), np.maximum(power, lowest) - self.bias - self.mantissa)
        if self.specials == "ieee":
            top = power == (1 << self.exponent) - 1
            values[top] = np.where(fraction[top] == 0, np.inf, np.nan)
        elif self.specials == "nan":
            values[-1] = np.nan
        return values


FORMATS: Final = {
    row.name: row
    for row in (
        Format("float8_e4m3fn", 4, 3, 7),
        Format("float8_e5m2", 5, 2, 15, specials="ieee"),
        Format("float4_e2m1fn_x2", 2, 1, 1, specials=""),
        Format("ue8m0", 8, 0, 127, signed=False),
        Format("ue4m3", 4, 3, 7),  # scales of NVFP4: the sign bit is there, and ignored
    )
}


@cache
def decoded(name: str) -> Array:
    """Return the value of every byte in double precision; of FP4, which has two values in a byte, a pair for each."""
    kind = FORMATS[name]
    values = kind.magnitudes()
    if kind.signed:
        values = np.concatenate([values, values if name == "ue4m3" else -values])
    if kind.bits == 4:
        byte = np.arange(256)
        values = np.stack([values[byte & 15], values[byte >> 4]], axis=-1)
    values.flags.writeable = False
    return values


@cache
def _encoded(name: str, ties_to_zero: bool) -> Array:
    """Return the code of every upper half of a float32 number, whose last bit stands for everything below it."""
    kind = FORMATS[name]
    grid = kind.magnitudes()
    finite = grid[np.isfinite(grid)]
    middles = (finite[:-1] + finite[1:]) / 2
    halves = np.arange(1 << 15, dtype=np.uint32) << 16
    with np.errstate(invalid="ignore"):  # some are signalling NaN
        values = halves.view(np.float32).astype(np.float64)
    below = np.searchsorted(middles, values, "left")
    above = np.searchsorted(middles, values, "right")
    codes = below if ties_to_zero else np.where((below != above) & (below & 1 == 1), above, below)
    nan = np.flatnonzero(np.isnan(grid))
    codes[np.isnan(values)] = nan[-1] if len(nan) else len(finite) - 1
    sign = 1 << (kind.exponent + kind.mantissa) if kind.signed else 0
    table = np.concatenate([codes, codes | sign]).astype(np.uint8)
    table.flags.writeable = False
    return table


def _panels(array: Array) -> Iterator[tuple[slice, ...]]:
    """Walk an array in pieces of about one panel, along its first axes."""
    if array.ndim == 0 or array.size <= _PANEL:
        yield ()
        return
    inner = array.size // len(array)
    if inner >= 2 * _PANEL and array.ndim > 1:
        for index in range(len(array)):
            for rest in _panels(array[index]):
                yield (slice(index, index + 1), *rest)
        return
    step = max(1, _PANEL // max(1, inner))
    for start in range(0, len(array), step):
        yield (slice(start, start + step),)


def decode(codes: Array, name: str, out: Array, factor: float = 1.0) -> None:
    """Write the values of codes, times one factor, into an array of float32 or float64.

    Parameters
    ----------
    codes : ndarray of uint8
        The codes.
    name : str
        Their format.
    out : ndarray
        Of the same shape; for FP4 with one more axis, of length 2, at the end.
    factor : float
        It is multiplied into the table, so it costs nothing.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        table = (decoded(name) * factor).astype(out.dtype)
    for part in _panels(codes):
        out[part] = table[codes[part]]


def encode(values: Array, name: str, out: Array, factor: float = 1.0, *, ties_to_zero: bool = False) -> None:
    """Write float32 values, times one factor, as codes: to the nearest, ties to even; what is too large becomes the largest.

    NaN stays NaN where the format has it and becomes the largest value where it has not. The product with the factor is rounded to
    float32 first, as a GPU does it.

    Parameters
    ----------
    values : ndarray of float32
        The values; infinities are too large.
    name : str
        The format; of FP4 one code is written for each value, not yet packed.
    out : ndarray of uint8
        Of the same shape.
    factor : float
        A float32 number.
    ties_to_zero : bool
        Round what lies exactly between two values to the smaller magnitude instead.
    """
    table, scale = _encoded(name, ties_to_zero), np.float32(factor)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for part in _panels(values):
            bits = np.multiply(values[part], scale).view(np.uint32)
            halves = (bits >> 16).astype(np.uint16)
            halves |= (bits & 0xFFFF) != 0
            out[part] = table[halves]


def pack(codes: Array) -> Array:
    """Pack pairs of 4-bit codes along the last axis: the even one is the low half of a byte."""
    packed = codes[..., 1::2] << 4
    packed |= codes[..., ::2]
    return packed
