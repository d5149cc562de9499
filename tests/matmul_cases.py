"""Products to test: shapes, layouts, batches, scalars and epilogs drawn together, and what they must give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from frameworks import real_of, row_major
from hypothesis import strategies as st

EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 0.0}
EXTENTS = (0, 1, 1, 2, 3, 5, 8, 17)
BATCHES = ((), (), (1,), (3,), (2, 3), (1, 2), (2, 1, 2), (0,))
EPILOGS = ("", "", "RELU", "GELU", "BIAS", "RELU_BIAS", "GELU_BIAS")


@dataclass(frozen=True)
class Array:
    """The values of an operand, in double precision, and how they lie in memory."""

    values: np.ndarray
    strides: tuple[int, ...]
    offset: int = 0


@dataclass(frozen=True)
class Case:
    """One product."""

    dtype: str
    a: Array
    b: Array
    c: Array | None
    bias: Array | None
    alpha: Any
    beta: Any
    epilog: str
    conj: tuple[bool, bool]
    inplace: bool

    @property
    def operands(self) -> dict[str, Array]:
        """The operands that there are, by name."""
        named = {"a": self.a, "b": self.b, "c": self.c, "bias": self.bias}
        return {name: array for name, array in named.items() if array is not None}

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        if self.inplace:
            assert self.c is not None
            return self.c.values.shape
        a, b = self.a.values, self.b.values
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return (*batch, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))


@st.composite
def layouts(draw: Any, shape: Sequence[int], negative: bool) -> tuple[int, ...]:
    """Strides of an array that does not overlap itself: any order of axes, steps, gaps and signs."""
    if draw(st.integers(0, 2)) == 0:
        return row_major(shape)
    strides = [0] * len(shape)
    step = draw(st.sampled_from((1, 1, 1, 2, 3)))
    for axis in draw(st.permutations(range(len(shape)))):
        sign = -1 if negative and draw(st.integers(0, 5)) == 0 else 1
        strides[axis] = sign * step
        step = step * max(1, shape[axis]) + draw(st.sampled_from((0, 0, 0, 1, 4)))
    return tuple(strides)


@st.composite
def arrays(draw: Any, shape: Sequence[int], dtype: str, rng: np.random.Generator, negative: bool) -> Array:
    """An operand."""
    values = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    strides = draw(layouts(shape, negative))
    return Array(rounded(values, dtype), strides, draw(st.sampled_from((0, 0, 1, 3))))


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """The values as `dtype` holds them, in double precision."""
    if dtype == "bfloat16":
        bits = np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
        return bits.view(np.float32).astype(np.float64)
    real = np.dtype(real_of(dtype))
    if np.iscomplexobj(values):
        return values.real.astype(real).astype(np.float64) + 1j * values.imag.astype(real).astype(np.float64)
    return np.asarray(values).astype(real).astype(np.float64)


def _thinned(draw: Any, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Batch extents that stretch to `batch`: all, none, or some of them 1."""
    kind = draw(st.sampled_from(("all", "all", "none", "some")))
    if kind == "none":
        return ()
    return batch if kind == "all" else tuple(extent if draw(st.booleans()) else 1 for extent in batch)


@st.composite
def cases(draw: Any, dtypes: Sequence[str], *, negative: bool = True, epilogs: Sequence[str] = EPILOGS) -> Case:
    """A product that must work."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(dtypes))
    complex_ = dtype.startswith("complex")
    m, n, k = (draw(st.sampled_from(EXTENTS)) for _ in range(3))
    batch = draw(st.sampled_from(BATCHES))
    a_shape, b_shape = (*_thinned(draw, batch), m, k), (*_thinned(draw, batch), k, n)
    if len(a_shape) == 2 and m == 1 and draw(st.booleans()):
        a_shape = (k,)
    if len(b_shape) == 2 and n == 1 and draw(st.booleans()):
        b_shape = (k,)
    whole = np.broadcast_shapes(a_shape[:-2], b_shape[:-2])
    c_shape = draw(st.sampled_from((None, None, (*whole, m, n), (m, n), (*whole, m, 1), (m, 1))))
    inplace = c_shape == (*whole, m, n) and draw(st.booleans())
    epilog = draw(st.sampled_from(("", "BIAS") if complex_ else tuple(epilogs)))
    bias_shape = draw(st.sampled_from(((m,), (m, 1), (*whole, m, 1)))) if "BIAS" in epilog else None
    numbers = (1.0, 2.0, -0.5, 0.0, *((1.5 - 0.5j,) if complex_ else ()))
    alpha, beta = draw(st.sampled_from((None, *numbers))), draw(st.sampled_from(numbers))
    make = [
        None if shape is None else draw(arrays(shape, dtype, rng, negative))
        for shape in (a_shape, b_shape, c_shape, bias_shape)
    ]
    conj = (draw(st.booleans()), draw(st.booleans()))
    return Case(dtype, make[0], make[1], make[2], make[3], alpha, beta if c_shape else None, epilog, conj, inplace)


def expected(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The result in extended precision, and the magnitude that its error is measured by."""
    complex_ = case.dtype.startswith("complex")
    wide = np.clongdouble if complex_ else np.longdouble
    a, b = case.a.values.astype(wide), case.b.values.astype(wide)
    a, b = (a.conj() if case.conj[0] else a), (b.conj() if case.conj[1] else b)
    row, column = a.ndim == 1, b.ndim == 1
    a, b = (a[None, :] if row else a), (b[:, None] if column else b)
    alpha, beta = 1.0 if case.alpha is None else case.alpha, case.beta or 0.0
    value, size = alpha * (a @ b), np.abs(alpha) * (np.abs(a) @ np.abs(b))
    if case.c is not None:
        value, size = value + beta * case.c.values.astype(wide), size + np.abs(beta * case.c.values)
    if case.bias is not None:
        bias = case.bias.values.astype(wide)
        bias = bias[:, None] if bias.ndim == 1 else bias
        value, size = value + bias, size + np.abs(bias)
    if "RELU" in case.epilog:
        value = np.maximum(value, 0)
    if "GELU" in case.epilog:
        value = 0.5 * value * (1 + np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3)))
        size = 8 * size
    value, size = np.broadcast_arrays(value, size)
    return value.reshape(case.shape), np.asarray(size, np.float64).reshape(case.shape)


def assert_right(got: np.ndarray, case: Case) -> None:
    """Compare every element with its own bound."""
    want, size = expected(case)
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    if want.size == 0:
        return
    assert np.all(np.isfinite(got)), "the result has infinities or NaN"
    real = {"bfloat16": "bfloat16"}.get(case.dtype, real_of(case.dtype))
    inner = EPS["float32"] if real in ("float16", "bfloat16") else EPS[real]
    k = case.a.values.shape[-1]
    allowed = 2 * inner * (k + 8) * size + SMALLEST[real] + (EPS[real] * np.abs(want) if inner != EPS[real] else 0)
    if "GELU" in case.epilog:  # cuBLASLt's is an approximation: 6e-12 (float64) and 2.2e-5 (float16) beyond the bound were seen
        allowed = allowed + {"float64": 1e-11, "float16": 1e-4}.get(real, 0.0) * np.maximum(size, 1)
    worst = np.max(np.abs(np.asarray(got, want.dtype) - want) - allowed)
    assert worst <= 0, f"an element is off by {float(worst):.3g} more than its bound"
