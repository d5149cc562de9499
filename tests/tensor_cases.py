"""Contractions drawn by hypothesis: expressions, extents, strides, dtypes and factors together; and what must hold for each.

A check is a function of a case, a framework and an execution. On the CPU the tests call it; on a GPU a process of its own does, see
``tensor_apart``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from fft_cases import examples, strides
from frameworks import EPS, Framework, real_of
from hypothesis import strategies as st

import nvmath
from nvmath._core.dtypes import dtype as row_of
from nvmath.tensor import (
    BinaryContraction,
    ContractionOptions,
    TernaryContraction,
    binary_contraction,
    ternary_contraction,
)
from nvmath.tensor._expression import parse
from nvmath.tensor._problem import ContractionProblem, Metadata, specify

__all__ = ["CHECKS", "Case", "cases", "examples", "metadata", "networks", "problem"]

CLASSES = {2: BinaryContraction, 3: TernaryContraction}
FUNCTIONS = {2: binary_contraction, 3: ternary_contraction}
ADDENDS = {2: "c", 3: "d"}

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
    again: int = 0  # the operand that is reset alone
    result_layout: str = "auto"

    def __str__(self) -> str:
        """Everything that a fault may depend on."""
        operands = ", ".join(
            f"{self.shape(term)} strides {layout} offset {offset}{' conj' if conj else ''}"
            for term, layout, offset, conj in zip(self.terms, self.layouts, self.offsets, self.conj, strict=True)
        )
        return (
            f"{self.expression} of {self.dtype}: {operands} -> {self.shape(self.output)} (in the layout {self.out_layout} where one is "
            f"given); alpha {self.alpha}, beta {self.beta}; {self!r}"
        )

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

    def check(self, got: np.ndarray, values: list[np.ndarray], addend: np.ndarray | None, stores: int = 1) -> None:
        """Compare with einsum in extended precision; the bound is that of any order of summation, and of results stored so often."""
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
        if stores > 1:
            terms += sum(self.extents.values())  # sums of intermediate results
        allowed = (4 * (terms + 8) * inner + (2 * stores * EPS[real] if real == "float16" else 0)) * sizes
        allowed = allowed + (stores * 2.0**-24 if real == "float16" else 0)
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
    layout = "auto" if adds or count == 3 else draw(st.sampled_from(["auto", "C", "F"]))
    return Case(
        dtype, terms, output, used, layouts, tuple(draw(st.integers(0, 3)) for _ in range(count)), conj,
        draw(_factor(dtype)), draw(_factor(dtype)) if adds else None,
        draw(strides(tuple(extents[label] for label in output), negative=framework.negative, zero=False)),
        draw(st.integers(0, 2**31)), draw(st.integers(0, count - 1)), layout,
    )  # fmt: skip


# --- what must hold -------------------------------------------------------------------------------------------------------------


def _addend(case: Case, framework: Framework) -> tuple[np.ndarray | None, dict[str, Any]]:
    if case.beta is None:
        return None, {}
    values = case.addend()
    return values, {ADDENDS[len(case.terms)]: framework.array(values, case.dtype, case.out_layout)}


def one_call(case: Case, framework: Framework, execution: Any) -> None:
    """The result is right, also with a kept plan; the operands are as before."""
    count = len(case.terms)
    values = case.operands()
    arrays = case.arrays(framework, values)
    addend, more = _addend(case, framework)
    for _ in range(2):  # the second call has a kept plan
        got = FUNCTIONS[count](
            case.expression, *arrays, **more, **case.scalars(), qualifiers=case.qualifiers(), execution=execution
        )  # fmt: skip
        case.check(framework.numpy(got), values, addend)
        assert framework.dtype(got) == case.dtype
    for array, value in zip(arrays, values, strict=True):
        np.testing.assert_array_equal(framework.numpy(array), value)  # the caller's operands are never changed
    if addend is not None:
        np.testing.assert_array_equal(framework.numpy(more[ADDENDS[count]]), addend)


def into_an_array(case: Case, framework: Framework, execution: Any) -> None:
    """`out` may have any layout."""
    values = case.operands()
    arrays = case.arrays(framework, values)
    addend, more = _addend(case, framework)
    out = framework.empty(case.shape(case.output), case.dtype, case.out_layout)
    got = FUNCTIONS[len(case.terms)](
        case.expression, *arrays, **more, **case.scalars(), qualifiers=case.qualifiers(), out=out, execution=execution
    )  # fmt: skip
    assert got is out
    case.check(framework.numpy(out), values, addend)


def into_the_addend(case: Case, framework: Framework, execution: Any) -> None:
    """`out` may be the addend."""
    values, addend = case.operands(), case.addend()
    out = framework.array(addend, case.dtype, case.out_layout)
    got = FUNCTIONS[len(case.terms)](
        case.expression, *case.arrays(framework, values), **{ADDENDS[len(case.terms)]: out}, **case.scalars(),
        qualifiers=case.qualifiers(), out=out, execution=execution,
    )  # fmt: skip
    assert got is out
    case.check(framework.numpy(out), values, addend)


def stateful(case: Case, framework: Framework, execution: Any) -> None:
    """A plan serves other values, all of them or one alone."""
    count = len(case.terms)
    values = case.operands()
    addend, more = _addend(case, framework)
    arrays = case.arrays(framework, values)
    with CLASSES[count](
        case.expression, *arrays, **more, qualifiers=case.qualifiers(), options={"result_layout": case.result_layout},
        execution=execution,
    ) as contraction:  # fmt: skip
        contraction.plan()
        case.check(framework.numpy(contraction.execute(**case.scalars())), values, addend)
        other = replace(case, seed=case.seed + 1)
        fresh = other.operands()
        contraction.reset_operands(**dict(zip("abc", other.arrays(framework, fresh), strict=False)))
        other.check(framework.numpy(contraction.execute(**case.scalars())), fresh, addend)
        contraction.reset_operands(**{"abc"[case.again]: arrays[case.again]})
        mixed = [values[i] if i == case.again else fresh[i] for i in range(count)]
        case.check(framework.numpy(contraction.execute(**case.scalars(), release_workspace=True)), mixed, addend)


def einsum(case: Case, framework: Framework, execution: Any) -> None:
    """Any number of operands, in one call and with a plan that serves other values."""
    count = len(case.terms)
    values = case.operands()
    arrays = case.arrays(framework, values)
    for _ in range(2):
        got = nvmath.tensor.einsum(case.expression, *arrays, execution=execution)
        case.check(framework.numpy(got), values, None, stores=count)
        assert framework.dtype(got) == case.dtype
    out = framework.empty(case.shape(case.output), case.dtype, case.out_layout)
    with nvmath.tensor.Einsum(case.expression, *arrays, out=out, optimize="greedy", execution=execution) as network:
        network.plan()
        assert network.execute() is out
        case.check(framework.numpy(out), values, None, stores=count)
        other = replace(case, seed=case.seed + 1)
        fresh = other.operands()
        network.reset_operands(*other.arrays(framework, fresh))
        network.execute(release_workspace=True)
        other.check(framework.numpy(out), fresh, None, stores=count)
    for array, value in zip(arrays, values, strict=True):
        np.testing.assert_array_equal(framework.numpy(array), value)


def half_aligned(case: None, framework: Framework, execution: Any) -> None:
    """A complex array may begin between two complex numbers, as a field of a record does."""
    rng = np.random.default_rng(0)
    a, b = rng.random((8, 8)) + 1j * rng.random((8, 8)), rng.random((8, 8)) - 2j

    def odd(values: np.ndarray) -> Any:
        """The values, laid out as real numbers behind a first one."""
        flat = framework.array(np.concatenate([[0.0], np.ascontiguousarray(values).view(np.float64).ravel()]))
        return type(flat)((8, 8), np.complex128, flat.data + 8)

    for left, right in ((odd(a), odd(b)), (framework.array(a), odd(b)), (odd(a), framework.array(b))):
        np.testing.assert_allclose(framework.numpy(binary_contraction("ij,jk->ik", left, right, execution=execution)), a @ b)
    out = odd(np.zeros((8, 8), complex))
    assert binary_contraction("ij,jk->ik", odd(a), odd(b), out=out, execution=execution) is out
    np.testing.assert_allclose(framework.numpy(out), a @ b)


@st.composite
def networks(draw: st.DrawFn, framework: Framework, **more: Any) -> Case:
    """Draw an einsum of 1 to 6 operands."""
    case = draw(cases(framework, draw(st.integers(1, 6)), addend=False, **more))
    return replace(case, alpha=1.0, conj=(False,) * len(case.terms))


CHECKS = {check.__name__: check for check in (one_call, into_an_array, into_the_addend, stateful, einsum, half_aligned)}
