"""Transforms drawn by hypothesis: shapes, strides, axes, dtypes and options together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import oracles
from frameworks import COMPLEX_OF, Framework, real_of
from hypothesis import settings
from hypothesis import strategies as st

import nvmath

EXTENTS = (1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17)
LONG = (1, 2, 3, 31, 32, 37, 64, 97, 100, 127, 128, 211, 243, 256, 509, 512, 1009)
EFFORT = float(os.environ.get("NVMATH_TEST_EFFORT", "1"))


def examples(count: int) -> settings:
    """Draw that many examples, times NVMATH_TEST_EFFORT."""
    return settings(max_examples=max(1, int(count * EFFORT)))


@dataclass(frozen=True)
class Case:
    """One transform: metadata only; the values follow from the seed."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    axes: tuple[int, ...]
    direction: int
    parity: str
    extents: tuple[int, ...] | None
    norm: str | None
    layout: str
    seed: int
    options: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Logical lengths along the axes."""
        return oracles.fft_lengths(self.shape, self.axes, self.kind, self.parity, self.extents)

    @property
    def points(self) -> int:
        """Number of points of one transform."""
        return prod(self.lengths)

    @property
    def result_dtype(self) -> str:
        """Name of the dtype of the result."""
        return {"C2C": self.dtype, "R2C": COMPLEX_OF.get(self.dtype, ""), "C2R": real_of(self.dtype)}[self.kind]

    @property
    def result_shape(self) -> tuple[int, ...]:
        """Shape of the result."""
        shape = list(self.shape)
        for axis, length in zip(self.axes, self.lengths, strict=True):
            shape[axis] = length
        if self.kind == "R2C":
            shape[self.axes[-1]] = self.lengths[-1] // 2 + 1
        return tuple(shape)

    def values(self) -> np.ndarray:
        """The operand's values, as its dtype holds them, in double precision."""
        rng = np.random.default_rng(self.seed)
        if self.kind == "R2C":
            values = rng.standard_normal(self.shape)
        elif self.kind == "C2C":
            values = rng.standard_normal(self.shape) + 1j * rng.standard_normal(self.shape)
        else:
            values = self._half_spectrum(rng)
        for axis, stride in enumerate(self.strides):
            if stride == 0 and self.shape[axis] > 1:  # every element along this axis is the first one
                values = np.broadcast_to(np.take(values, [0], axis), self.shape)
        return oracles.rounded(values, self.dtype)

    def _half_spectrum(self, rng: np.random.Generator) -> np.ndarray:
        """What the transform reads is Hermitian; what it must crop is rubbish."""
        signal = list(self.shape)
        for axis, length in zip(self.axes, self.lengths, strict=True):
            signal[axis] = length
        spectrum = oracles.hermitian(rng.standard_normal(signal), self.axes).astype(complex)
        spectrum /= np.sqrt(self.points)
        values = rng.standard_normal(self.shape) + 1j * rng.standard_normal(self.shape)
        common = tuple(slice(min(n, m)) for n, m in zip(self.shape, spectrum.shape, strict=True))
        values[common] = spectrum[common]
        return values

    def want(self, values: np.ndarray) -> np.ndarray:
        """The right result, in extended precision."""
        return oracles.fft(values, self.axes, self.kind, self.lengths, direction=self.direction, norm=self.norm)

    def keywords(self) -> dict[str, Any]:
        """Arguments of the FFT class, apart from the operand."""
        given = {"result_layout": self.layout, **self.options}
        if self.kind == "C2R":
            given |= {"fft_type": "C2R", "last_axis_parity": self.parity}
        return {"axes": self.axes, "options": given, "s": self.extents, "norm": self.norm}

    def operand(self, framework: Framework, values: np.ndarray) -> Any:
        """An array of the framework that holds the values in the drawn layout."""
        return framework.array(values, self.dtype, self.strides, self.offset)

    def check(self, framework: Framework, got: Any, want: np.ndarray) -> None:
        """The result is right, of the right package, dtype and shape."""
        assert framework.dtype(got) == self.result_dtype
        oracles.assert_close(framework.numpy(got), want, self.result_dtype, self.axes, self.points)


def one_call(case: Case, operand: Any, **keywords: Any) -> Any:
    """Run a case through the one-call function that its kind asks for."""
    if case.kind == "R2C":
        return nvmath.fft.rfft(operand, **case.keywords(), **keywords)
    if case.kind == "C2R":
        return nvmath.fft.irfft(operand, **case.keywords(), **keywords)
    function = nvmath.fft.fft if case.direction == -1 else nvmath.fft.ifft
    return function(operand, **case.keywords(), **keywords)


@st.composite
def shapes(draw: Any, max_elements: int = 20000, long: bool = False) -> tuple[int, ...]:
    """Shapes of one to five axes, extents of 1 included."""
    ndim = draw(st.integers(1, 5))
    shape: list[int] = []
    for _ in range(ndim):
        room = max(1, max_elements // prod(shape))
        pool = [extent for extent in (LONG if long and len(shape) < 2 else EXTENTS) if extent <= room]
        shape.append(draw(st.sampled_from(pool)))
    return tuple(draw(st.permutations(shape)))


@st.composite
def strides(
    draw: Any, shape: Sequence[int], *, negative: bool, zero: bool, overlapping: bool = False
) -> tuple[int, ...]:
    """Strides of an array: any order of the axes, with gaps, reversed, repeated, and meaningless where the extent is 1."""
    axes = range(len(shape))
    order = axes[::-1] if draw(st.booleans()) else draw(st.permutations(axes))
    gaps = draw(st.sampled_from([(0,), (0,), (0, 0, 0, 1, 2, 5)]))
    result, step = [0] * len(shape), draw(st.sampled_from([1, 1, 1, 2, 3]))
    for axis in order:
        result[axis] = step
        step = step * max(1, shape[axis]) + draw(st.sampled_from(gaps))
        if shape[axis] == 1:
            result[axis] = draw(st.sampled_from([result[axis], 0, 1, 12345, *([-7] if negative else [])]))
        elif zero and draw(st.integers(0, 9)) == 0:
            result[axis] = 0
        if negative and shape[axis] > 1 and draw(st.integers(0, 3)) == 0:
            result[axis] = -result[axis]
    return tuple(result)


@st.composite
def cases(
    draw: Any,
    framework: Framework,
    *,
    kinds: Sequence[str] = ("C2C", "R2C", "C2R"),
    precisions: Sequence[str] | None = None,
    max_elements: int = 20000,
    resized: bool = True,
    zero_strides: bool = True,
    empty: bool = False,
    norms: bool = True,
    long: bool = False,
) -> Case:
    """Any transform that the framework can express."""
    kind = draw(st.sampled_from(kinds))
    precision = draw(st.sampled_from(precisions or framework.dtypes))
    dtype = real_of(precision) if kind == "R2C" else precision
    shape = draw(shapes(max_elements, long or draw(st.integers(0, 4)) == 0))
    ndim = len(shape)
    axes = draw(st.permutations(range(ndim)))[: draw(st.integers(1, ndim))]
    if empty and len(axes) < ndim:
        holes = draw(st.lists(st.sampled_from([axis for axis in range(ndim) if axis not in axes]), min_size=1))
        shape = tuple(0 if axis in holes else extent for axis, extent in enumerate(shape))
    parity = draw(st.sampled_from(["even", "odd"])) if kind == "C2R" else "even"
    extents = None
    if resized and draw(st.integers(0, 4)) == 0:
        extents = tuple(_extent(draw, shape[axis], kind, axis == axes[-1], len(axes) == 1) for axis in axes)
    if kind == "C2R" and shape[axes[-1]] == 1 and (extents is None or extents[-1] == -1):
        parity = "odd"
    layout = draw(strides(shape, negative=framework.negative, zero=zero_strides and kind != "C2R"))
    return Case(
        kind, dtype, shape, layout, draw(st.integers(0, 3)), tuple(axes),
        draw(st.sampled_from([-1, 1])) if kind == "C2C" else -1 if kind == "R2C" else 1,
        parity, extents, draw(st.sampled_from([None, "backward", "ortho", "forward"])) if norms else None,
        draw(st.sampled_from(["optimized", "natural"])), draw(st.integers(0, 2**16)),
    )  # fmt: skip


def _extent(draw: Any, extent: int, kind: str, last: bool, alone: bool) -> int:
    """A new length; half spectra are not padded along other axes, since that would not leave them Hermitian."""
    if kind == "C2R":
        if last:
            return draw(st.integers(1, 2 * extent + 3)) if alone else draw(st.integers(1, max(1, 2 * extent - 1)))
        return draw(st.integers(1, max(1, extent)))
    return draw(st.one_of(st.just(-1), st.integers(1, extent + 5)))
