"""The pattern of a matrix in host memory, and how its values become those that a library reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part

Array = np.ndarray[Any, Any]


def check(indptr: Array, indices: Array, n: int) -> None:
    """Raise what is wrong with the pattern of a CSR matrix; a library would crash on it.

    Raises
    ------
    ValueError
        The offsets do not start at 0, decrease, or do not end at the number of entries; an index is out of range.
    """
    if indptr[0] != 0 or indptr[-1] != indices.size or np.any(np.diff(indptr) < 0):
        raise ValueError(
            f"a is no valid CSR matrix: its row offsets must rise from 0 to the number of entries, {indices.size}; they go from "
            f"{indptr[0]} to {indptr[-1]}{' and decrease in between' if np.any(np.diff(indptr) < 0) else ''}."
        )
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise ValueError(f"a is no valid CSR matrix: a column index is outside of 0 to {n - 1}.")


def is_canonical(indptr: Array, indices: Array) -> bool:
    """Whether the column indices of every row rise, which leaves no duplicates."""
    if indices.size < 2:
        return True
    rises = np.diff(indices) > 0
    borders = indptr[1:-1] - 1
    rises[borders[(borders >= 0) & (borders < rises.size)]] = True
    return bool(rises.all())


class Assembly:
    """A canonical pattern made from that of the caller, and the way from the caller's values to its values.

    Entries are sorted and duplicates summed. Of a symmetric or Hermitian matrix the upper triangle is kept (taken from the lower
    one where that is the part to read), with every diagonal element; with `full` the other triangle is added.
    """

    __slots__ = ("_conj", "_gather", "_pads", "_source", "_starts", "indices", "indptr", "n")

    def __init__(self, indptr: Array, indices: Array, n: int, kind: Kind, part: Part, *, full: bool = False) -> None:
        check(indptr, indices, n)
        self.n = n
        self._source = indptr.copy(), indices.copy()
        self._gather: Array | None = None
        self._starts: Array | None = None
        self._conj: Array | None = None
        self._pads = False
        if kind is Kind.GENERAL and is_canonical(indptr, indices):
            self.indptr, self.indices = (array.astype(np.int64) for array in self._source)
            return
        rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(indptr))
        columns = indices.astype(np.int64)
        gather = np.arange(indices.size, dtype=np.int64)
        conj = np.zeros(indices.size, bool)
        if kind is not Kind.GENERAL:
            rows, columns, gather, conj = _triangle(rows, columns, gather, conj, n, kind, part, full)
        order = np.lexsort((columns, rows))
        rows, columns, gather, conj = rows[order], columns[order], gather[order], conj[order]
        fresh = np.ones(rows.size, bool)
        fresh[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
        if not fresh.all():
            self._starts = np.flatnonzero(fresh)
        self._gather = gather
        self._conj = np.flatnonzero(conj) if conj.any() else None
        self._pads = bool((gather < 0).any())  # a diagonal element that is not stored is the 0 put at the end
        self.indices = columns[fresh]
        self.indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[fresh], minlength=n))]).astype(np.int64)

    @property
    def trivial(self) -> bool:
        """Whether the caller's values are used as they are."""
        return self._gather is None

    def accepts(self, indptr: Array, indices: Array) -> bool:
        """Whether a matrix has the pattern that this one was made from."""
        return np.array_equal(self._source[0], indptr) and np.array_equal(self._source[1], indices)

    def values(self, data: Array) -> Array:
        """Return the values in the order of this pattern; the caller's array itself where it is that already."""
        if self._gather is None:
            return np.ascontiguousarray(data)
        made: Array = (np.append(data, data.dtype.type(0)) if self._pads else data)[self._gather]
        if self._conj is not None:
            made[self._conj] = made[self._conj].conj()
        return made if self._starts is None else np.add.reduceat(made, self._starts)


def _triangle(
    rows: Array, columns: Array, gather: Array, conj: Array, n: int, kind: Kind, part: Part, full: bool
) -> tuple[Array, Array, Array, Array]:
    """Keep the part to read, as the upper triangle with every diagonal element; with `full` mirror it."""
    kept = columns <= rows if part is Part.LOWER else columns >= rows
    rows, columns, gather, conj = rows[kept], columns[kept], gather[kept], conj[kept]
    hermitian = kind in (Kind.HERMITIAN, Kind.HPD)
    if part is Part.LOWER:
        rows, columns = columns, rows
        conj = np.full(rows.size, hermitian)
    missing = np.setdiff1d(np.arange(n), rows[rows == columns])
    rows, columns = np.concatenate([rows, missing]), np.concatenate([columns, missing])
    gather, conj = np.concatenate([gather, np.full(missing.size, -1)]), np.concatenate([conj, np.zeros(missing.size, bool)])
    if not full:
        return rows, columns, gather, conj
    off = rows != columns
    mirrored = ~conj[off] if hermitian else conj[off]
    return (
        np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]]), np.concatenate([gather, gather[off]]),
        np.concatenate([conj, mirrored]),
    )  # fmt: skip
