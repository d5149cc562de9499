"""The pattern of a matrix in host memory, and how its values become those that a library reads."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy import sparse

from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part

Array = np.ndarray[Any, Any]
_WHAT: Final = {
    "csr": ("row offsets", "column"),
    "csc": ("column offsets", "row"),
    "bsr": ("row offsets", "block column"),
}


def check(first: Array, second: Array, n: int, kind: str = "csr", block: tuple[int, ...] = ()) -> None:
    """Raise what is wrong with the pattern of a matrix; a library would crash on it.

    Raises
    ------
    ValueError
        The offsets do not start at 0, decrease, or do not end at the number of entries; an index is out of range.
    """
    title = kind.upper()
    if kind == "coo":
        for indices, name in ((first, "row"), (second, "column")):
            _check_range(indices, n, f"a is no valid {title} matrix: a {name} index")
        return
    offsets, name = _WHAT[kind]
    falls = bool((first[1:] < first[:-1]).any())
    if first[0] != 0 or first[-1] != second.size or falls:
        raise ValueError(
            f"a is no valid {title} matrix: its {offsets} must rise from 0 to the number of entries, {second.size}; they go from "
            f"{first[0]} to {first[-1]}{' and decrease in between' if falls else ''}."
        )
    _check_range(second, n // block[1] if block else n, f"a is no valid {title} matrix: a {name} index")


def _check_range(indices: Array, n: int, what: str) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise ValueError(f"{what} is outside of 0 to {n - 1}: the indices go from {indices.min()} to {indices.max()}.")


def is_canonical(indptr: Array, indices: Array) -> bool:
    """Whether the column indices of every row rise, which leaves no duplicates."""
    if indices.size < 2:
        return True
    rises = indices[1:] > indices[:-1]
    borders = indptr[1:-1] - 1
    rises[borders[(borders >= 0) & (borders < rises.size)]] = True
    return bool(rises.all())


def _order(keys: Array, n: int) -> Array:
    """The positions of keys below `n` in rising order, equal ones as they come: a counting sort, in SciPy's C code."""
    count = keys.size
    places = sparse.csr_array((np.arange(count), keys, np.arange(count + 1)), shape=(count, n)).tocsc()
    return places.data  # type: ignore[no-any-return]


def coordinates(first: Array, second: Array, n: int, kind: str, block: tuple[int, ...]) -> tuple[Array, Array]:
    """Row and column of every value, in the order in which the values are stored."""
    if kind == "coo":
        return first.astype(np.int64), second.astype(np.int64)
    major = np.repeat(np.arange(first.size - 1, dtype=np.int64), np.diff(first))
    minor = second.astype(np.int64)
    if kind == "csc":
        return minor, major
    if kind == "csr":
        return major, minor
    height, width = block
    rows = major[:, None, None] * height + np.arange(height)[:, None]
    columns = minor[:, None, None] * width + np.arange(width)
    shape = (minor.size, height, width)
    return np.broadcast_to(rows, shape).ravel(), np.broadcast_to(columns, shape).ravel()


class Assembly:
    """A canonical CSR pattern made from that of the caller, and the way from the caller's values to its values.

    Entries are sorted and duplicates summed. Of a symmetric or Hermitian matrix the upper triangle is kept (taken from the lower
    one where that is the part to read), with every diagonal element; with `full` the other triangle is added.

    Parameters
    ----------
    first, second : ndarray
        The index arrays of the matrix.
    n : int
        Number of equations.
    kind : DirectSolverMatrixType
        GENERAL keeps all entries.
    part : DirectSolverMatrixViewType
        Which part of another kind is read.
    full : bool
        Whether both triangles of another kind are wanted.
    form : str
        Format of the matrix.
    block : tuple of int
        Shape of the blocks of a BSR matrix.
    """

    __slots__ = ("conj", "gather", "indices", "indptr", "n", "pads", "source", "starts")

    def __init__(
        self, first: Array, second: Array, n: int, kind: Kind, part: Part, *, full: bool = False, form: str = "csr",
        block: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        check(first, second, n, form, block)
        self.n = n
        self.source = first.copy(), second.copy()
        self.gather: Array | None = None
        self.starts: Array | None = None
        self.conj: Array | None = None
        self.pads = False
        ordered = form == "csr" and is_canonical(first, second)
        if kind is Kind.GENERAL and ordered:
            self.indptr, self.indices = (array.astype(np.int64) for array in self.source)
            return
        rows, columns = coordinates(first, second, n, form, block)
        if kind is Kind.GENERAL:
            gather, conj = np.arange(rows.size), None
        else:
            rows, columns, gather, conj, ordered = _triangle(rows, columns, n, kind, part, full, ordered)
        self._put_in_order(rows, columns, gather, conj, ordered)

    def _put_in_order(self, rows: Array, columns: Array, gather: Array, conj: Array | None, ordered: bool) -> None:
        if not ordered:
            order = _order(columns, self.n)
            order = order[_order(rows[order], self.n)]
            rows, columns, gather = rows[order], columns[order], gather[order]
            conj = None if conj is None else conj[order]
            fresh = np.ones(rows.size, bool)
            fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
            if not fresh.all():
                self.starts = np.flatnonzero(fresh)
                rows, columns = rows[fresh], columns[fresh]
        self.gather = gather
        self.conj = np.flatnonzero(conj) if conj is not None and conj.any() else None
        self.pads = bool((gather < 0).any())  # a diagonal element that is not stored is the 0 put at the end
        self.indices = columns
        self.indptr = np.zeros(self.n + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=self.n), out=self.indptr[1:])

    @property
    def trivial(self) -> bool:
        """Whether the caller's values are used as they are."""
        return self.gather is None

    def accepts(self, first: Array, second: Array) -> bool:
        """Whether a matrix has the pattern that this one was made from."""
        one, other = self.source
        return (
            one.shape == first.shape
            and other.shape == second.shape
            and bool((one == first).all() and (other == second).all())
        )

    def values(self, data: Array) -> Array:
        """Return the values in the order of this pattern; the caller's array itself where it is that already."""
        if self.gather is None:
            return data
        made: Array = (np.append(data, data.dtype.type(0)) if self.pads else data)[self.gather]
        if self.conj is not None:
            made[self.conj] = made[self.conj].conj()
        return made if self.starts is None else np.add.reduceat(made, self.starts)


def _triangle(
    rows: Array, columns: Array, n: int, kind: Kind, part: Part, full: bool, ordered: bool
) -> tuple[Array, Array, Array, Array | None, bool]:
    """Keep the part to read, as the upper triangle with every diagonal element; with `full` mirror it."""
    kept = columns <= rows if part is Part.LOWER else columns >= rows
    gather = np.flatnonzero(kept)
    rows, columns = rows[gather], columns[gather]
    hermitian = kind in (Kind.HERMITIAN, Kind.HPD)
    conj = np.full(rows.size, part is Part.LOWER) if hermitian else None
    if part is Part.LOWER:
        rows, columns, ordered = columns, rows, False
    present = np.zeros(n, bool)
    present[rows[rows == columns]] = True
    missing = np.flatnonzero(~present)
    if missing.size:
        rows, columns, ordered = np.concatenate([rows, missing]), np.concatenate([columns, missing]), False
        gather = np.concatenate([gather, np.full(missing.size, -1)])
        conj = None if conj is None else np.concatenate([conj, np.zeros(missing.size, bool)])
    if not full:
        return rows, columns, gather, conj, ordered
    off = np.flatnonzero(rows != columns)
    conj = None if conj is None else np.concatenate([conj, ~conj[off]])
    return (
        np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]]), np.concatenate([gather, gather[off]]), conj,
        False,
    )  # fmt: skip
