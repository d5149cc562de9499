"""Generic products to test: qualifiers, sides, shapes, layouts, batches and scalars drawn together, and what they must give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from frameworks import Framework, leave_dirt, real_of
from hypothesis import assume
from hypothesis import strategies as st
from matmul_cases import EPS, SMALLEST, Array, arrays

import nvmath.linalg as linalg

EXTENTS = (0, 1, 1, 2, 3, 5, 8, 17)
BATCHES = ((), (), (), (1,), (3,), (2, 3), (1, 2), (2, 1, 2), (0,))
CREATE = {
    "ge": linalg.GeneralMatrixQualifier, "sy": linalg.SymmetricMatrixQualifier, "he": linalg.HermitianMatrixQualifier,
    "tr": linalg.TriangularMatrixQualifier, "dg": linalg.DiagonalMatrixQualifier,
}  # fmt: skip
KINDS = (("ge", "ge"), ("ge", "ge"), *((kind, "ge") for kind in CREATE), *(("ge", kind) for kind in CREATE), ("sy", "tr"), ("dg", "he"),
         ("tr", "dg"), ("dg", "dg"))  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """What a qualifier says."""

    kind: str = "ge"
    conj: bool = False
    upper: bool = False
    unit: bool = False
    reverse: bool = False

    @property
    def qualifier(self) -> np.ndarray:
        """The qualifier itself."""
        fields: dict[str, Any] = {"conjugate": self.conj}
        if self.kind in ("sy", "he", "tr"):
            fields["uplo"] = linalg.FillMode.UPPER if self.upper else linalg.FillMode.LOWER
        if self.kind == "tr":
            fields["diag"] = linalg.DiagType.UNIT if self.unit else linalg.DiagType.NON_UNIT
        if self.kind == "dg":
            fields["incx"] = -1 if self.reverse else 1
        return CREATE[self.kind].create(**fields)

    def stored(self, extent: int) -> np.ndarray:
        """Which elements are read."""
        rows, cols = np.indices((extent, extent))
        inside = rows <= cols if self.upper else rows >= cols
        return inside & (rows != cols) if self.unit else inside

    def poisoned(self, values: np.ndarray) -> np.ndarray:
        """The operand with NaN wherever nothing may be read, and a diagonal that is not real where it is taken for real."""
        if self.kind in ("ge", "dg"):
            return values
        extent = values.shape[-1]
        values = np.where(self.stored(extent), values, np.nan)
        if self.kind == "he" and np.iscomplexobj(values):
            values = values + np.where(np.eye(extent, dtype=bool), 9j, 0)
        return values

    def dense(self, values: np.ndarray) -> np.ndarray:
        """The matrix that is meant."""
        if self.kind == "dg":
            values = values[..., ::-1] if self.reverse else values
            full = values[..., None] * np.eye(values.shape[-1], dtype=values.dtype)
        elif self.kind == "ge":
            full = values
        else:
            extent = values.shape[-1]
            full = np.where(self.stored(extent), values, 0)
            diagonal = np.eye(extent, dtype=bool)
            if self.unit:
                full = np.where(diagonal, 1, full)
            if self.kind in ("sy", "he"):
                other = full.swapaxes(-1, -2)
                full = full + np.where(diagonal, 0, other.conj() if self.kind == "he" else other)
            if self.kind == "he":
                full = np.where(diagonal, full.real, full)
        return full.conj() if self.conj else full


@dataclass(frozen=True)
class Case:
    """One product."""

    dtype: str
    a: Array
    b: Array
    c: Array | None
    kinds: tuple[Kind, Kind]
    alpha: Any
    beta: Any
    inplace: bool

    @property
    def operands(self) -> dict[str, Array]:
        """The operands that there are, by name."""
        named = {"a": self.a, "b": self.b, "c": self.c}
        return {name: array for name, array in named.items() if array is not None}

    @property
    def qualifiers(self) -> np.ndarray:
        """One qualifier for each operand."""
        return np.array(
            [*(kind.qualifier for kind in self.kinds), CREATE["ge"].create()], linalg.matrix_qualifiers_dtype
        )

    def keywords(self) -> dict[str, Any]:
        """Arguments besides the operands."""
        made: dict[str, Any] = {}
        if self.kinds != (Kind(), Kind()):
            made["qualifiers"] = self.qualifiers if self.c is not None else self.qualifiers[:2]
        if self.alpha is not None:
            made["alpha"] = self.alpha
        if self.beta is not None:
            made["beta"] = self.beta
        if self.inplace:
            made["options"] = {"inplace": True}
        return made


def _thinned(draw: Any, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Batch extents that stretch to `batch`: all, none, or some of them 1."""
    kind = draw(st.sampled_from(("all", "all", "none", "some")))
    if kind == "none":
        return ()
    return batch if kind == "all" else tuple(extent if draw(st.booleans()) else 1 for extent in batch)


@st.composite
def kinds(draw: Any) -> tuple[Kind, Kind]:
    """Qualifiers of A and B."""
    flags = st.booleans()

    def one(kind: str) -> Kind:
        made = Kind(kind, conj=draw(flags))
        if kind in ("sy", "he", "tr"):
            made = replace(made, upper=draw(flags))
        return replace(made, unit=kind == "tr" and draw(flags), reverse=kind == "dg" and draw(flags))

    first, second = draw(st.sampled_from(KINDS))
    return one(first), one(second)


def result_shape(
    a: tuple[int, ...], b: tuple[int, ...], both: tuple[Kind, Kind]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The batch and the other axes of the result without C."""
    of_a, of_b = (kind.kind == "dg" for kind in both)
    batch = np.broadcast_shapes(a[: -1 if of_a else -2], b[: -1 if of_b else -2])
    rows = a[-1:] if of_a else a[-2:-1]
    cols = b[-1:] if of_b or len(b) > 1 else ()
    return batch, (*rows, *cols)


@st.composite
def cases(draw: Any, dtypes: Sequence[str], *, negative: bool = True) -> Case:
    """A product that must work."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype, both = draw(st.sampled_from(dtypes)), draw(kinds())
    m, n, k = (draw(st.sampled_from(EXTENTS)) for _ in range(3))
    m, n = (k if both[0].kind != "ge" else m), (k if both[1].kind != "ge" else n)
    batch = draw(st.sampled_from(BATCHES))
    a_core, b_core = (k,) if both[0].kind == "dg" else (m, k), (k,) if both[1].kind == "dg" else (k, n)
    a_shape, b_shape = (*_thinned(draw, batch), *a_core), (*_thinned(draw, batch), *b_core)
    if both[0].kind == "ge" and len(a_shape) == 2 and m == 1 and draw(st.booleans()):
        a_shape = (k,)
    if both[1].kind == "ge" and len(b_shape) == 2 and n == 1 and draw(st.booleans()):
        b_shape = (k,)
    if a_shape == b_shape == (1,) and both == (Kind(), Kind()) and draw(st.booleans()):
        a_shape = b_shape = ()
    shapes = (a_shape, b_shape)
    for shape, kind, other in ((a_shape, both[0], b_shape[:-1]), (b_shape, both[1], a_shape[:-1])):
        assume(
            not (kind.kind == "dg" and len(shape) == 2 and shape[0] == shape[1] > 1 and len(other) < 2)
        )  # refused: see there
    whole, outer = ((), ()) if a_shape == () else result_shape(*shapes, both)
    own = whole or draw(st.sampled_from(((), (), (2,))))
    broadcast = tuple(extent if draw(st.booleans()) else 1 for extent in outer)
    c_shape = draw(
        st.sampled_from((None, None, (*own, *outer), (*own, *outer), outer, broadcast, (*own, *broadcast), outer[1:]))
    )
    final = None if c_shape is None else np.broadcast_shapes(c_shape, (*whole, *outer))
    inplace = c_shape is not None and c_shape == final and draw(st.booleans())
    numbers = (1.0, 2.0, -0.5, 0.0, *((1.5 - 0.5j,) if dtype.startswith("complex") else ()))
    alpha, beta = draw(st.sampled_from((None, *numbers))), draw(st.sampled_from(numbers))
    a, b, c = (None if shape is None else draw(arrays(shape, dtype, rng, negative)) for shape in (*shapes, c_shape))
    a, b = (replace(each, values=kind.poisoned(each.values)) for each, kind in zip((a, b), both, strict=True))
    return Case(dtype, a, b, c, both, alpha, None if c is None else beta, inplace)


def expected(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The result in extended precision, and the magnitude that its error is measured by."""
    wide = np.clongdouble if case.dtype.startswith("complex") else np.longdouble
    with np.errstate(invalid="ignore"):
        a, b = (kind.dense(each.values.astype(wide)) for kind, each in zip(case.kinds, (case.a, case.b), strict=True))
    scalar, row, column = a.ndim == 0, a.ndim == 1, b.ndim == 1
    a, b = (a.reshape(1, 1), b.reshape(1, 1)) if scalar else (a[None, :] if row else a, b[:, None] if column else b)
    alpha = 1.0 if case.alpha is None else case.alpha
    value, size = alpha * (a @ b), np.abs(alpha) * (np.abs(a) @ np.abs(b))
    gone = ((-2,) if row or scalar else ()) + ((-1,) if column or scalar else ())
    value, size = value.squeeze(axis=gone), size.squeeze(axis=gone)
    if case.c is not None:
        value, size = value + case.beta * case.c.values.astype(wide), size + np.abs(case.beta * case.c.values)
    return value, np.asarray(size, np.float64)


def assert_right(got: np.ndarray, case: Case) -> None:
    """Compare every element with its own bound."""
    want, size = expected(case)
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    if want.size == 0:
        return
    assert np.all(np.isfinite(got)), "the result has infinities or NaN"
    real = "bfloat16" if case.dtype == "bfloat16" else real_of(case.dtype)
    inner = EPS["float32"] if real in ("float16", "bfloat16") else EPS[real]
    k = case.b.values.shape[-2] if case.b.values.ndim > 1 else max(case.b.values.shape, default=1)
    allowed = 2 * inner * (k + 8) * size + SMALLEST[real] + (EPS[real] * np.abs(want) if inner != EPS[real] else 0)
    worst = np.max(np.abs(np.asarray(got, want.dtype) - want) - allowed)
    assert worst <= 0, f"an element is off by {float(worst):.3g} more than its bound"


def made(case: Case, framework: Framework) -> dict[str, Any]:
    """The operands as arrays of a package."""
    return {
        name: framework.array(each.values, case.dtype, each.strides, each.offset)
        for name, each in case.operands.items()
    }


def check(case: Case, framework: Framework, **more: Any) -> None:
    """Compute a case by the one-call function; the operands must not change, and C only in place."""
    given = made(case, framework)
    leave_dirt(framework)
    result = linalg.matmul(*given.values(), **case.keywords(), **more)
    assert framework.dtype(result) == case.dtype
    assert_right(framework.numpy(result), case)
    for name, each in case.operands.items():
        if case.inplace and name == "c":
            assert result is given["c"]
        else:
            np.testing.assert_array_equal(framework.numpy(given[name]), each.values.astype(case.dtype))
