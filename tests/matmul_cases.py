"""Products to test: shapes, layouts, batches, scalars and epilogs drawn together, and what they must give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from frameworks import Framework, real_of, row_major
from hypothesis import strategies as st

from nvmath.linalg.advanced import matrix_qualifiers_dtype

EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 0.0}
EXTENTS = (0, 1, 1, 2, 3, 5, 8, 17)
BATCHES = ((), (), (1,), (3,), (2, 3), (1, 2), (2, 1, 2), (0,))
EPILOGS = ("", "", "RELU", "GELU", "BIAS", "RELU_BIAS", "GELU_BIAS")
AUXILIARY = (
    "RELU_AUX", "RELU_AUX_BIAS", "GELU_AUX", "GELU_AUX_BIAS", "DRELU", "DRELU_BGRAD", "DGELU", "DGELU_BGRAD", "BGRADA", "BGRADB",
)  # fmt: skip
EXTRA = ("TANH", "TANH_BIAS", "SIGMOID", "SIGMOID_BIAS", "SILU", "SILU_BIAS")


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
    aux: Array | None = None

    @property
    def aux_name(self) -> str:
        """What the input from another product is called."""
        return "relu_aux" if "RELU" in self.epilog else "gelu_aux"

    @property
    def operands(self) -> dict[str, Array]:
        """The operands that there are, by name."""
        named = {"a": self.a, "b": self.b, "c": self.c, "bias": self.bias, self.aux_name: self.aux}
        return {name: array for name, array in named.items() if array is not None}

    def dtype_of(self, name: str) -> str:
        """The dtype of an operand."""
        return "uint8" if name == "relu_aux" else self.dtype

    def make(self, framework: Framework) -> dict[str, Any]:
        """The operands as arrays of a package."""
        return {
            name: framework.array(each.values, self.dtype_of(name), each.strides, each.offset)
            for name, each in self.operands.items()
        }

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the one-call function."""
        q = None
        if any(self.conj):
            q = np.zeros(3, matrix_qualifiers_dtype)
            q["is_conjugate"] = (*self.conj, 0)
        inputs = {name: given[name] for name in ("bias", "relu_aux", "gelu_aux") if name in given}
        return {
            "alpha": self.alpha, "beta": self.beta, "qualifiers": q, "epilog": self.epilog or None, "epilog_inputs": inputs or None,
            "options": {"inplace": self.inplace},
        }  # fmt: skip

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
    if ("AUX" in epilog or "BGRAD" in epilog) and 0 in (*whole, m, n):
        epilog = ""  # refused: there is nothing to give
    bias_shape = draw(st.sampled_from(((m,), (m, 1), (*whole, m, 1)))) if "BIAS" in epilog else None
    numbers = (1.0, 2.0, -0.5, 0.0, *((1.5 - 0.5j,) if complex_ else ()))
    alpha, beta = draw(st.sampled_from((None, *numbers))), draw(st.sampled_from(numbers))
    make = [
        None if shape is None else draw(arrays(shape, dtype, rng, negative))
        for shape in (a_shape, b_shape, c_shape, bias_shape)
    ]
    conj = (draw(st.booleans()), draw(st.booleans()))
    aux = None
    if epilog.startswith("D"):
        aux = draw(_auxiliaries(epilog, dtype, (m, n), draw(st.sampled_from(((), whole))), rng))
    return Case(dtype, make[0], make[1], make[2], make[3], alpha, beta if c_shape else None, epilog, conj, inplace, aux)


@st.composite
def _auxiliaries(
    draw: Any, epilog: str, dtype: str, extents: tuple[int, int], batch: tuple[int, ...], rng: np.random.Generator
) -> Array:
    """What another product may have given: column-major, perhaps with gaps; a mask of bytes, or values."""
    m, n = extents
    if "RELU" in epilog:
        shape = (*batch, 16 * -(-m // 128), n)
        values = rng.integers(0, 256, shape).astype(np.float64)
    else:
        shape = (*batch, 8 * -(-m // 8), n)
        values = rounded(rng.standard_normal(shape), dtype)
    if draw(st.booleans()):
        return Array(values, draw(layouts(shape, False)))
    strides, step = [1, max(1, shape[-2] + draw(st.sampled_from((0, 0, 16, 3))))], 1
    step = strides[1] * max(1, n)
    for extent in reversed(batch):
        strides.insert(0, step)
        step *= max(1, extent)
    return Array(values, tuple(strides))


@st.composite
def shared(draw: Any) -> tuple[np.ndarray, dict[str, np.ndarray], bool]:
    """Matrices that may share memory: A, B, and C or a place for the result; whether it is C, to be overwritten."""
    memory = np.random.default_rng(draw(st.integers(0, 1000))).integers(-4, 5, 160).astype(np.float64)
    m, n, k = (draw(st.integers(1, 5)) for _ in range(3))

    def view(rows: int, cols: int) -> np.ndarray:
        gap = draw(st.integers(0, 2))
        strides = (cols + gap, 1) if draw(st.booleans()) else (1, rows + gap)
        span = (rows - 1) * strides[0] + (cols - 1) * strides[1] + 1
        start = draw(st.integers(0, 60 - span + 40))
        part = memory[start : start + span]
        return np.lib.stride_tricks.as_strided(part, (rows, cols), tuple(8 * step for step in strides))

    return memory, {"a": view(m, k), "b": view(k, n), "target": view(m, n)}, draw(st.booleans())


def check_shared(memory: np.ndarray, views: dict[str, np.ndarray], inplace: bool, multiply: Callable[..., Any]) -> None:
    """Multiply matrices that share memory as if they did not; nothing but the target is written."""
    a, b, target = views["a"], views["b"], views["target"]
    want = a.copy() @ b.copy() + (2 * target.copy() if inplace else 0)
    after = memory.copy()
    np.lib.stride_tricks.as_strided(
        after[(target.ctypes.data - memory.ctypes.data) // 8 :], target.shape, target.strides
    )[...] = want
    if inplace:
        assert multiply(a, b, target, beta=2.0, options={"inplace": True}) is target
    else:
        assert multiply(a, b, out=target) is target
    np.testing.assert_array_equal(memory, after)


def bent(x: np.ndarray) -> np.ndarray:
    """The hyperbolic tangent in the approximation of GELU."""
    return np.tanh(np.sqrt(np.longdouble(2) / np.longdouble(np.pi)) * (x + np.longdouble(0.044715) * x**3))


def gelu_slope(x: np.ndarray) -> np.ndarray:
    """The derivative of that approximation."""
    x = np.asarray(x, np.longdouble)
    t, k, c = bent(x), np.sqrt(np.longdouble(2) / np.longdouble(np.pi)), np.longdouble(0.044715)
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * c * x * x)


ACTIVATIONS = {
    "RELU": lambda z: np.maximum(z, 0),
    "GELU": lambda z: 0.5 * z * (1 + bent(z)),
    "TANH": np.tanh,
    "SIGMOID": lambda z: 1 / (1 + np.exp(-z)),
    "SILU": lambda z: z / (1 + np.exp(-z)),
}


def bits_of(mask: np.ndarray, m: int) -> np.ndarray:
    """The bits of a mask as 0 and 1, for each row."""
    return np.unpackbits(np.asarray(mask, np.uint8), axis=-2, bitorder="little")[..., :m, :]


def before(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """alpha A B + beta C + bias as matrices in extended precision, and the magnitude that its error is measured by."""
    complex_ = case.dtype.startswith("complex")
    wide = np.clongdouble if complex_ else np.longdouble
    a, b = case.a.values.astype(wide), case.b.values.astype(wide)
    a, b = (a.conj() if case.conj[0] else a), (b.conj() if case.conj[1] else b)
    a, b = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    alpha, beta = 1.0 if case.alpha is None else case.alpha, case.beta or 0.0
    value, size = alpha * (a @ b), np.abs(alpha) * (np.abs(a) @ np.abs(b))
    if case.c is not None:
        value, size = value + beta * case.c.values.astype(wide), size + np.abs(beta * case.c.values)
    if case.bias is not None:
        bias = case.bias.values.astype(wide)
        bias = bias[:, None] if bias.ndim == 1 else bias
        value, size = value + bias, size + np.abs(bias)
    value, size = np.broadcast_arrays(value, size)
    return value, size


def after(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The result as matrices, and the magnitude of its error."""
    value, size = before(case)
    m = value.shape[-2]
    kind = case.epilog.split("_")[0]
    if kind in ACTIVATIONS:
        value = ACTIVATIONS[kind](value)
        size = 8 * size if kind in ("GELU", "SILU") else size
    elif kind == "DRELU":
        assert case.aux is not None
        value = value * bits_of(case.aux.values, m)
    elif kind == "DGELU":
        assert case.aux is not None
        slope = gelu_slope(case.aux.values[..., :m, :])
        value, size = value * slope, 8 * size * np.maximum(np.abs(slope), 1)
    value, size = np.broadcast_arrays(value, size)
    return value, size


def expected(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The result in extended precision, and the magnitude that its error is measured by."""
    value, size = after(case)
    return value.reshape(case.shape), np.asarray(size, np.float64).reshape(case.shape)


def bounds(case: Case, want: np.ndarray, size: np.ndarray, k: int) -> np.ndarray:
    """How far each element may be off."""
    real = "bfloat16" if case.dtype == "bfloat16" else real_of(case.dtype)
    inner = EPS["float32"] if real in ("float16", "bfloat16") else EPS[real]
    allowed = 2 * inner * (k + 8) * size + SMALLEST[real] + (EPS[real] * np.abs(want) if inner != EPS[real] else 0)
    if (
        "GELU" in case.epilog
    ):  # cuBLASLt's is an approximation: 6e-12 (float64) and 2.2e-5 (float16) beyond the bound were seen
        allowed = allowed + {"float64": 1e-11, "float16": 1e-4}.get(real, 0.0) * np.maximum(size, 1)
    elif case.epilog.split("_")[0] in ("TANH", "SIGMOID", "SILU"):  # may be taken of what is rounded already
        allowed = allowed + 2 * EPS[real] * np.maximum(size, 1)
    return np.asarray(allowed, np.float64)


def assert_right(got: np.ndarray, case: Case) -> None:
    """Compare every element with its own bound."""
    want, size = expected(case)
    compare(got, want, bounds(case, want, size, case.a.values.shape[-1]))


def compare(got: np.ndarray, want: np.ndarray, allowed: np.ndarray) -> None:
    """Compare an array with what is expected, element by element."""
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    if want.size == 0:
        return
    assert np.all(np.isfinite(got)), "the result has infinities or NaN"
    worst = np.max(np.abs(np.asarray(got, want.dtype) - want) - allowed)
    assert worst <= 0, f"an element is off by {float(worst):.3g} more than its bound"


def assert_outputs(got: dict[str, np.ndarray], case: Case) -> None:
    """Compare the auxiliary outputs: a mask where the sign is certain, values and sums within their bounds."""
    value, size = before(case)
    *batch, m, n = value.shape
    k = case.a.values.shape[-1]

    def vector(rows: int) -> tuple[int, ...]:
        return (*batch, rows, 1) if batch else (rows,)

    for name, array in got.items():
        if name == "relu_aux":
            assert array.shape == (*batch, 16 * -(-m // 128), n)
            assert array.dtype == np.uint8
            certain = np.abs(value) > bounds(case, value, size, k)
            wrong = (bits_of(array, m) != (value > 0)) & certain
            assert not wrong.any(), "the mask has the wrong sign of some elements"
        elif name == "gelu_aux":
            assert array.shape == (*batch, 8 * -(-m // 8), n)
            compare(array[..., :m, :], value, bounds(case, value, size, k))
        elif name in ("bgrada", "bgradb"):
            operand = case.a.values if name == "bgrada" else case.b.values
            operand = (operand[None, :] if name == "bgrada" else operand[:, None]) if operand.ndim == 1 else operand
            axis = -1 if name == "bgrada" else -2
            want, terms = operand.sum(axis).astype(np.longdouble), np.abs(operand).sum(axis)
            full = (*batch, want.shape[-1])
            want, terms = (np.broadcast_to(each, full).reshape(vector(full[-1])) for each in (want, terms))
            compare(array, want, bounds(case, want, terms, k))
        else:
            want, of = after(case)
            eps = EPS["bfloat16" if case.dtype == "bfloat16" else real_of(case.dtype)]
            allowed = (bounds(case, want, of, k) * 2).sum(-1) + 4 * eps * np.abs(want).sum(-1)
            compare(array, want.sum(-1).reshape(vector(m)), allowed.reshape(vector(m)))
