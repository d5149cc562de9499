"""Systems of equations in every form, and what a solution has to satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

WORDS = ("general", "symmetric", "hermitian", "positive definite", "upper triangular", "lower triangular")
DTYPES = ("float32", "float64", "complex64", "complex128")


@dataclass(frozen=True)
class System:
    """Well-conditioned systems: the whole matrices, what is handed over, and the right-hand sides."""

    whole: np.ndarray
    a: Any
    b: Any
    options: dict[str, Any]
    dtype: str

    def sides(self) -> np.ndarray:
        """The right-hand sides as matrices."""
        stack = np.stack(self.b) if isinstance(self.b, list) else self.b
        return stack[..., None] if self.vectors else stack

    @property
    def vectors(self) -> bool:
        """Whether each right-hand side is a vector."""
        return self.options.get("vectors", False)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Normal numbers."""
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def structured(rng: np.random.Generator, batch: tuple[int, ...], n: int, dtype: str, word: str, lower: bool) -> tuple[Any, Any]:
    """Well-conditioned matrices, and the same with NaN where nobody may look."""
    base = numbers(rng, (*batch, n, n), dtype) / max(1, n) ** 0.5 + 3 * np.eye(n, dtype=dtype)
    adjoint = base.conj().swapaxes(-1, -2)
    below, above = np.tril(np.ones((n, n), bool)), np.triu(np.ones((n, n), bool))
    match word:
        case "general":
            return base, base.copy()
        case "upper triangular" | "lower triangular":
            part = above if word.startswith("upper") else below
            return np.where(part, base, 0).astype(dtype), np.where(part, base, np.nan).astype(dtype)
        case "symmetric":
            whole = base + base.swapaxes(-1, -2)
        case "hermitian":
            whole = base + adjoint
        case _:
            whole = base @ adjoint + np.eye(n, dtype=dtype)
    return whole, np.where(below if lower else above, whole, np.nan).astype(dtype)


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    """The same values with other strides."""
    match layout:
        case "row":
            return np.ascontiguousarray(values)
        case "column":
            return np.ascontiguousarray(values.swapaxes(-1, -2)).swapaxes(-1, -2) if values.ndim > 1 else values
        case "padded":
            wide = np.full((*values.shape[:-1], values.shape[-1] + 3), 7, values.dtype)
            wide[..., : values.shape[-1]] = values
            return wide[..., : values.shape[-1]]
        case "stepped":
            wide = np.full(tuple(2 * extent for extent in values.shape), 7, values.dtype)
            view = wide[tuple(slice(None, None, 2) for _ in values.shape)]
            view[...] = values
            return view
        case "reversed":
            return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
        case "batch last":
            return np.ascontiguousarray(np.moveaxis(values, 0, -1)).copy().transpose(-1, *range(values.ndim - 1))
    raise ValueError(layout)


LAYOUTS = ("row", "column", "padded", "stepped", "reversed", "batch last")


@st.composite
def systems(draw: st.DrawFn, most: int = 9) -> System:
    """Draw shapes, layouts, types, kinds of batches, and what is known of the matrix."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype, word = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(WORDS))
    n = draw(st.integers(1, most))
    columns = draw(st.none() | st.integers(1, 4))
    kind = draw(st.sampled_from(["one", "implicit", "explicit", "explicit a", "explicit b"]))
    batch = () if kind == "one" else draw(st.lists(st.integers(1, 3), min_size=1, max_size=2).map(tuple))
    lower = draw(st.booleans())
    whole, given = structured(rng, batch, n, dtype, word, lower)
    vectors = columns is None and kind in ("one", "explicit", "explicit b")
    b = numbers(rng, (*batch, n) if vectors else (*batch, n, columns or 1), dtype)
    given, b = (laid_out(each, draw(st.sampled_from(LAYOUTS))) for each in (given, b))
    inplace_a, inplace_b = draw(st.booleans()), draw(st.booleans())
    if kind in ("explicit", "explicit a"):
        given = [laid_out(each, draw(st.sampled_from(LAYOUTS[:5]))) for each in given.reshape(-1, n, n)]
    if kind in ("explicit", "explicit b"):
        b = [laid_out(each, draw(st.sampled_from(LAYOUTS[:5]))) for each in b.reshape(-1, *b.shape[len(batch) :])]
    options = {
        "assume_a": word, "uplo": "lower" if lower else "upper", "trans": draw(st.sampled_from("NTC")), "inplace_a": inplace_a,
        "inplace_b": inplace_b, "vectors": vectors,
    }  # fmt: skip
    return System(whole, given, b, options, dtype)


def effective(whole: np.ndarray, trans: str) -> np.ndarray:
    """The matrix that is solved with."""
    turned = whole if trans == "N" else whole.swapaxes(-1, -2)
    return turned.conj() if trans == "C" else turned


def assert_solves(whole: np.ndarray, x: Any, sides: np.ndarray, trans: str = "N") -> None:
    """Assert a small normwise backward error of every column, computed with more digits than the solution has."""
    dtype = np.dtype(sides.dtype)
    n = whole.shape[-1]
    many = np.clongdouble if dtype.kind == "c" else np.longdouble
    a = effective(whole, trans).astype(many).reshape(-1, n, n)
    b = sides.astype(many).reshape(len(a), n, -1)
    x = np.asarray(x).astype(many).reshape(b.shape)
    residual = np.abs(a @ x - b).max(axis=1)
    scale = np.abs(a).sum(axis=2).max(axis=1)[:, None] * np.abs(x).max(axis=1) + np.abs(b).max(axis=1)
    bound = 20 * n * float(np.finfo(dtype).eps)
    assert np.all(residual <= bound * scale), (float((residual / scale).max()), bound)
