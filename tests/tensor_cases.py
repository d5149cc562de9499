"""Contractions drawn by hypothesis: expressions, extents, strides, dtypes and factors together."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from fft_cases import examples, strides
from frameworks import EPS, Framework, real_of
from hypothesis import strategies as st

from nvmath._core.dtypes import dtype as row_of
from nvmath.tensor import ContractionOptions
from nvmath.tensor._expression import parse
from nvmath.tensor._problem import ContractionProblem, Metadata, specify

__all__ = ["Case", "cases", "examples", "metadata", "problem"]

LABELS = "ijkXβ9"
_ASCII = str.maketrans(LABELS, "ijkxyz")
EXTENTS = (1, 2, 2, 3, 3, 4, 5, 7, 8, 16, 300)
HALVES = ("float16",)


def metadata(shape: tuple[int, ...], strides: tuple[int, ...] | None = None, name: str = "float64") -> Metadata:
    """Metadata of an array, row-major by default."""
    if strides is None:
        steps, step = [], 1
        for extent in reversed(shape):
            steps.append(step)
            step *= extent
        strides = tuple(reversed(steps))
    return Metadata(shape, strides, row_of(name))


def problem(
    text: str, *arrays: Metadata, addend: Metadata | None = None, out: Metadata | None = None, **options: Any
) -> ContractionProblem:
    """A problem without conjugation."""
    count = len(arrays)
    return specify(parse(text, count), arrays, addend, out, (False,) * count, ContractionOptions(**options))


@dataclass(frozen=True)
class Case:
    """One contraction: metadata only; the values follow from the seed."""

    dtype: str
    terms: tuple[str, ...]
    output: str
    extents: dict[str, int]
    layouts: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]
    conj: tuple[bool, ...]
    alpha: complex
    beta: complex | None
    out_layout: tuple[int, ...]
    seed: int

    @property
    def expression(self) -> str:
        """The expression."""
        return f"{','.join(self.terms)}->{self.output}"

    def shape(self, term: str) -> tuple[int, ...]:
        """The shape of a term."""
        return tuple(self.extents[label] for label in term)

    def values(self, shape: tuple[int, ...], layout: tuple[int, ...] | None, seed: int) -> np.ndarray:
        """Values as the dtype holds them, in extended precision; the same along axes of stride 0."""
        rng = np.random.default_rng([self.seed, seed])
        made = np.asarray(rng.uniform(-1, 1, shape))
        if self.dtype.startswith("complex"):
            made = made + 1j * rng.uniform(-1, 1, shape)
        made = np.asarray(made).astype(self.dtype).astype(np.clongdouble if np.iscomplexobj(made) else np.longdouble)
        for axis, stride in enumerate(layout or ()):
            if stride == 0 and shape[axis] > 1:
                made = np.broadcast_to(np.take(made, [0], axis), shape)
        return made

    def operands(self) -> list[np.ndarray]:
        """Values of all operands."""
        shapes = [self.shape(term) for term in self.terms]
        return [
            self.values(shape, layout, seed) for seed, (shape, layout) in enumerate(zip(shapes, self.layouts, strict=True))
        ]

    def addend(self) -> np.ndarray:
        """Values of the addend."""
        return self.values(self.shape(self.output), None, 99)

    def arrays(self, framework: Framework, values: list[np.ndarray]) -> list[Any]:
        """The operands as arrays of a package, in the drawn layouts."""
        return [
            framework.array(value, self.dtype, layout, offset)
            for value, layout, offset in zip(values, self.layouts, self.offsets, strict=True)
        ]

    def qualifiers(self) -> list[int] | None:
        """For each operand whether it is conjugated."""
        return [9 if conj else 1 for conj in self.conj] + [1] if any(self.conj) else None

    def scalars(self) -> dict[str, Any]:
        """Both factors as they are passed."""
        return {"alpha": self.alpha} | ({} if self.beta is None else {"beta": self.beta})

    def check(self, got: np.ndarray, values: list[np.ndarray], addend: np.ndarray | None) -> None:
        """Compare with einsum in extended precision; the bound is that of any order of summation."""
        operands = [value.conj() if conj else value for value, conj in zip(values, self.conj, strict=True)]
        expression = self.expression.translate(_ASCII)  # NumPy has fewer labels
        if 0 in self.extents.values():  # here NumPy's einsum can write out of bounds (2.4, long double)
            want = sizes = np.zeros(self.shape(self.output))
        else:
            want = np.asarray(self.alpha * np.einsum(expression, *operands))
            sizes = np.asarray(abs(self.alpha) * np.einsum(expression, *(abs(value) for value in operands)))
        if addend is not None:
            want = want + self.beta * addend
            sizes = sizes + abs(self.beta) * abs(addend)
        assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
        if want.size == 0:
            return
        assert np.all(np.isfinite(got)), "the result has infinities or NaN"
        real = real_of(self.dtype)
        terms = prod(extent for label, extent in self.extents.items() if label not in self.output)
        inner = EPS["float32" if real == "float16" else real]
        allowed = (4 * (terms + 8) * inner + (2 * EPS[real] if real == "float16" else 0)) * sizes
        allowed = allowed + (2.0**-24 if real == "float16" else 0)
        worst = np.max(abs(got - want) - allowed)
        assert worst <= 0, f"an element is off by {float(np.max(abs(got - want))):.3g}, allowed {float(np.max(allowed)):.3g}"


@st.composite
def _factor(draw: st.DrawFn, dtype: str) -> complex:
    values = st.sampled_from([1.0, 0.0, -1.0, 0.5, 2, -1.25])
    real = draw(values)
    return complex(real, draw(values)) if dtype.startswith("complex") and draw(st.booleans()) else real


@st.composite
def cases(
    draw: st.DrawFn,
    framework: Framework,
    count: int = 2,
    *,
    dtypes: tuple[str, ...] = ("float32", "float64", "complex64", "complex128", "float16"),
    empty: bool = False,
    zero_strides: bool = True,
    addend: bool | None = None,
) -> Case:
    """Draw a contraction of `count` operands."""
    if framework.name == "dlpack":  # its adapter refuses half precision
        dtypes = tuple(dtype for dtype in dtypes if dtype not in HALVES)
    dtype = draw(st.sampled_from(dtypes))
    extents = {label: draw(st.sampled_from((0, 0, *EXTENTS) if empty else EXTENTS)) for label in LABELS}
    label = st.sampled_from(LABELS)
    terms = tuple("".join(draw(st.lists(label, max_size=4))) for _ in range(count))
    while max(prod(extents[label] for label in labels) for labels in (set("".join(terms)), *terms)) > 5000:
        largest = max(set("".join(terms)), key=lambda label: extents[label])
        extents[largest] = max(1, extents[largest] // 2)
    output = "".join(draw(st.lists(st.sampled_from(sorted(set("".join(terms))) or [""]), unique=True)))
    used = {label: extents[label] for label in sorted(set("".join(terms)))}
    shapes = [tuple(extents[label] for label in term) for term in terms]
    layouts = tuple(draw(strides(shape, negative=framework.negative, zero=zero_strides)) for shape in shapes)
    conj = tuple(dtype.startswith("complex") and draw(st.booleans()) for _ in range(count))
    adds = draw(st.booleans()) if addend is None else addend
    return Case(
        dtype, terms, output, used, layouts, tuple(draw(st.integers(0, 3)) for _ in range(count)), conj,
        draw(_factor(dtype)), draw(_factor(dtype)) if adds else None,
        draw(strides(tuple(extents[label] for label in output), negative=framework.negative, zero=False)),
        draw(st.integers(0, 2**31)),
    )  # fmt: skip
