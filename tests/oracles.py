"""References in higher precision, and bounds on the error that a right result can have.

A floating-point FFT of N points is backward stable: its error, in the 2-norm, is a small multiple of ``eps * log2(N)`` times
the norm of the exact result. The multiple is the same for every library, dtype and size.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod
from typing import Any

import numpy as np
import scipy.fft
from frameworks import EPS, real_of

MULTIPLE = 4.0


def fft_lengths(
    shape: Sequence[int], axes: Sequence[int], kind: str, parity: str = "even", extents: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Logical lengths of a transform along `axes`."""
    lengths = [shape[axis] for axis in axes] if extents is None else [
        shape[axis] if extent == -1 else extent for axis, extent in zip(axes, extents, strict=True)
    ]  # fmt: skip
    if kind == "C2R" and (extents is None or extents[-1] == -1):
        lengths[-1] = 2 * shape[axes[-1]] - (1 if parity == "odd" else 2)
    return tuple(lengths)


def fft(
    values: np.ndarray,
    axes: Sequence[int],
    kind: str,
    lengths: Sequence[int],
    *,
    direction: int = -1,
    norm: str | None = None,
) -> np.ndarray:
    """The transform in extended precision (x87 or quadruple; double where the platform has no more)."""
    wide = np.asarray(values, np.clongdouble if np.iscomplexobj(values) else np.longdouble)
    if wide.size == 0:
        shape = list(wide.shape)
        for axis, length in zip(axes, lengths, strict=True):
            shape[axis] = length
        if kind == "R2C":
            shape[axes[-1]] = lengths[-1] // 2 + 1
        return np.empty(shape, np.float64 if kind == "C2R" else np.complex128)
    name = {"C2C": "fftn" if direction == -1 else "ifftn", "R2C": "rfftn", "C2R": "irfftn"}[kind]
    forward = name in ("fftn", "rfftn")
    scaling = norm or ("backward" if forward else "forward")
    return getattr(scipy.fft, name)(wide, s=tuple(lengths), axes=tuple(axes), norm=scaling)


def hermitian(values: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """The half spectrum of real values, in extended precision."""
    return scipy.fft.rfftn(np.asarray(values, np.longdouble), axes=tuple(axes))


def bound(dtype: str, points: int, *, arithmetic: str | None = None) -> float:
    """Largest relative error of a right result, in the 2-norm."""
    real = real_of(dtype)
    inner = EPS[arithmetic or ("float32" if real == "float16" else real)]
    rounding = EPS[real] if real == "float16" else 0.0
    return MULTIPLE * inner * (1.0 + log2(max(2, points))) + rounding


def assert_close(
    got: Any, want: np.ndarray, dtype: str, axes: Sequence[int], points: int, *, slack: float = 1.0
) -> None:
    """Compare sample by sample: each transform of a batch must be right on its own."""
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    if want.size == 0:
        return
    assert np.all(np.isfinite(got)), "the result has infinities or NaN"
    axes = tuple(axes)
    wide = np.asarray(got, want.dtype)
    error = np.sqrt(np.sum(np.abs(wide - want) ** 2, axis=axes))
    size = np.sqrt(np.sum(np.abs(want) ** 2, axis=axes))
    allowed = slack * bound(dtype, points)
    tiny = 2.0**-24 * points**0.5 if real_of(dtype) == "float16" else 0.0  # half precision has few subnormal numbers
    worst = np.max(error - allowed * size - tiny)
    if worst > 0:
        relative = np.max(error[size > 0] / size[size > 0], initial=0.0)
        raise AssertionError(
            f"relative error {float(relative):.3g} of a sample exceeds {allowed:.3g} ({points} points, {dtype})"
        )


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """The values as `dtype` holds them, in double precision."""
    real = np.dtype(real_of(dtype))
    if np.iscomplexobj(values):
        return values.real.astype(real).astype(np.float64) + 1j * values.imag.astype(real).astype(np.float64)
    return values.astype(real).astype(np.float64)


def points_of(lengths: Sequence[int]) -> int:
    """Number of points of one transform."""
    return prod(lengths)
