"""A matrix as cuDSS reads it: the caller's own arrays where they are in order, else arrays that are put in order on the host."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..._core.arrays import Adapter
from ..._core.dtypes import DType, dtype
from ..._core.kernels_host import array_at
from ..._core.place import Cuda
from ..._core.staging import download, upload
from ...bindings import _cuda as driver
from ._cuda_kernel import Kernel
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._order import Order
from ._pattern import Array, Assembly, check, coordinates, is_canonical
from ._problem import SystemProblem
from ._sides import Matrix

Pointers = tuple[int, ...]
_SMALL = 2**31


class DeviceMatrix:
    """One matrix on a GPU.

    Parameters
    ----------
    problem : SystemProblem
        All systems.
    matrix : Matrix
        The one.
    place, adapter
        The GPU, and the package that gives memory.
    order : Order
        The order of the calls of the solver.
    transposed : bool
        Whether the transpose is to be read.

    Attributes
    ----------
    kind, part
        What cuDSS is told of it.
    offsets, indices : DType
        Of what cuDSS reads.
    nnz : int
        Number of entries that cuDSS reads.
    """

    def __init__(
        self, problem: SystemProblem, matrix: Matrix, place: Cuda, adapter: Adapter, order: Order, transposed: bool
    ) -> None:
        self.problem, self.matrix, self.place, self.adapter = problem, matrix, place, adapter
        self.order, self.transposed = order, transposed
        self.kind, self.part = problem.kind, problem.part
        self.offsets, self.indices, self.nnz = problem.offsets, problem.indices, matrix.counts[2]
        types = problem.offsets, problem.indices, problem.dtype
        self._begins = tuple(start * kind.itemsize for start, kind in zip(matrix.starts, types, strict=True))
        self._plain = None if any(self._begins) else slice(matrix.slot, matrix.slot + 3)
        """Which addresses are those of its arrays, where it is not a part of them."""
        self._generalized = False
        """Whether cuDSS gets a general matrix though it is said to be another."""
        self._assembled: tuple[int, int, int] | None = None
        self._owners: list[Any] = []
        self._source: Any = None

    # --- the pattern ------------------------------------------------------------------------------------------------------------------

    def raw(self, ptrs: Pointers) -> tuple[int, int, int]:
        """Addresses of the caller's three arrays."""
        slot, (one, two, three) = self.matrix.slot, self._begins
        return ptrs[slot] + one, ptrs[slot + 1] + two, ptrs[slot + 2] + three

    def raw_of(self, matrix: Matrix, ptrs: Pointers) -> tuple[int, ...]:
        """Those of another matrix of the batch."""
        types = self.problem.offsets, self.problem.indices, self.problem.dtype
        return tuple(ptrs[matrix.slot + i] + matrix.starts[i] * kind.itemsize for i, kind in enumerate(types))

    def analyse(self, ptrs: Pointers, stream: int, host: Pointers | None) -> None:
        """Read the pattern, check it, and put it in order if need be; `host` are addresses of the operands in host memory."""
        first, second = self.pattern(ptrs, stream, host)
        check(first, second, self.matrix.n, self.matrix.format, self.matrix.block)
        self.close()
        self._keep(ptrs, first, second, stream, host)
        # cuDSS does not know what is complex and symmetric
        self._generalized = self.problem.kind is Kind.SYMMETRIC and self.problem.dtype.kind == "c"
        self._arrange(first, second, stream)

    def generalize(self, ptrs: Pointers, stream: int) -> bool:
        """From now on let cuDSS read a general matrix with all entries; tell whether it had not done so yet."""
        if self.kind is Kind.GENERAL:
            return False
        self._generalized = True
        self._arrange(*self.pattern(ptrs, stream, None), stream)
        return True

    def _arrange(self, first: Array, second: Array, stream: int) -> None:
        matrix, kind = self.matrix, self.problem.kind
        self._assembled = None
        self.kind = Kind.GENERAL if self._generalized else kind
        self.part = Part.FULL if self.kind is Kind.GENERAL else self.problem.part
        self.offsets, self.indices, self.nnz = self.problem.offsets, self.problem.indices, matrix.counts[2]
        ordered = matrix.format == "csr" and not self.transposed and is_canonical(first, second)
        whole = kind is Kind.GENERAL or self._has_diagonal(first, second)
        if not (ordered and whole) or (self._generalized and self.problem.part is not Part.FULL):
            self._assemble(first, second, whole, stream)

    def _has_diagonal(self, first: Array, second: Array) -> bool:
        rows, columns = coordinates(first, second, self.matrix.n, self.matrix.format, self.matrix.block)
        present = np.zeros(self.matrix.n, bool)
        present[rows[rows == columns]] = True
        return bool(present.all())

    def pattern(self, ptrs: Pointers, stream: int, host: Pointers | None) -> tuple[Array, Array]:
        """The index arrays in host memory."""
        counts, types = self.matrix.counts, (self.problem.offsets, self.problem.indices)
        if host is not None:
            return tuple(
                array_at(ptr, (n,), (1,), kind) for ptr, n, kind in zip(self.raw(host), counts, types, strict=False)
            )  # type: ignore[return-value]
        return tuple(fetch(ptr, n, kind, stream) for ptr, n, kind in zip(self.raw(ptrs), counts, types, strict=False))  # type: ignore[return-value]

    def pattern_of(self, matrix: Matrix, host: Pointers) -> tuple[Array, Array]:
        """Those of another matrix of the batch, which are in host memory."""
        types = self.problem.offsets, self.problem.indices
        addresses = self.raw_of(matrix, host)
        first, second = (
            array_at(ptr, (n,), (1,), kind) for ptr, n, kind in zip(addresses, matrix.counts, types, strict=False)
        )
        return first, second

    def _keep(self, ptrs: Pointers, first: Array, second: Array, stream: int, host: Pointers | None) -> None:
        """Keep a copy of the pattern, to compare with later: where the caller's is."""
        if host is not None:
            self._source = first.copy(), second.copy()
            return
        made = []
        for ptr, nbytes in zip(self.raw(ptrs), (first.nbytes, second.nbytes), strict=False):
            copy = self._take(nbytes, stream)
            driver.memcpy_device_to_device_async(copy, ptr, nbytes, stream)
            made.append((copy, nbytes))
        self._source = made
        self._differ = Kernel(self.place.device_id, "differ", 5, dtype("float32"))

    def accepts(self, ptrs: Pointers, stream: int, host: Pointers | None) -> bool:
        """Whether the matrix still has the pattern that was planned."""
        if host is not None:
            return self.equals(*self.pattern(ptrs, stream, host))
        return self.repeats([[(ptr, 1)] for ptr in self.raw(ptrs)[:2]], stream)

    def equals(self, first: Array, second: Array) -> bool:
        """Whether a pattern in host memory is the one that was planned, which was there too."""
        return np.array_equal(self._source[0], first) and np.array_equal(self._source[1], second)

    def repeats(self, runs: list[list[tuple[int, int]]], stream: int) -> bool:
        """Whether each of the two index arrays is the one that was planned: at addresses, so many times one behind the other."""
        answer, owner = self.adapter.allocate(4, self.place.device_id, stream)
        driver.memset_d8_async(answer, 0, 4, stream)
        for (copy, nbytes), pieces in zip(self._source, runs, strict=True):
            for ptr, count in pieces if nbytes else ():
                words = nbytes // 4
                self._differ(stream, count * words, 1, count * words, words, copy, ptr, answer)
        found = ctypes.c_uint(0)
        download(answer, ctypes.addressof(found), 4, stream)
        del owner
        return found.value == 0

    # --- what cuDSS reads -------------------------------------------------------------------------------------------------------------

    def _assemble(self, first: Array, second: Array, whole: bool, stream: int) -> None:
        """Put the entries in order: all of them, or the upper triangle of a symmetric matrix."""
        matrix, kind = self.matrix, self.problem.kind
        everything = kind is Kind.GENERAL or (self.problem.part is Part.FULL and whole)
        form = {"csr": "csc", "csc": "csr"}.get(matrix.format, matrix.format) if self.transposed else matrix.format
        if self.transposed and form in ("coo", "bsr"):
            first, second = coordinates(first, second, matrix.n, form, matrix.block)[::-1]
            form = "coo"
        made = Assembly(
            first, second, matrix.n, Kind.GENERAL if everything else kind, self.problem.part, full=self._generalized,
            form=form, block=() if form == "coo" else matrix.block,
        )  # fmt: skip
        if not everything and not self._generalized:
            self.part = Part.UPPER
        self.nnz = made.indices.size
        self.offsets = self.indices = dtype("int32" if max(self.nnz, matrix.n) < _SMALL else "int64")
        gather = np.arange(self.nnz) if made.gather is None else made.gather
        starts = np.arange(self.nnz) if made.starts is None else made.starts
        marks = np.zeros(gather.size, np.uint8)
        if made.conj is not None:
            marks[made.conj] = 1
        self._tables = tuple(
            self._send(np.ascontiguousarray(table, kind), stream)
            for table, kind in ((np.append(starts, gather.size), np.int64), (gather, np.int64), (marks, np.uint8))
        )
        arrays = (
            self._send(np.ascontiguousarray(array, self.offsets.name), stream) for array in (made.indptr, made.indices)
        )
        self._fill = Kernel(self.place.device_id, "assemble", 6, self.problem.dtype)
        indptr, indices = arrays
        self._assembled = indptr, indices, self._take(self.nnz * self.problem.dtype.itemsize, stream)

    def pointers(self, ptrs: Pointers, stream: int) -> tuple[int, int, int]:
        """Addresses of row offsets, column indices and present values, as cuDSS reads them."""
        raw = ptrs[self._plain] if self._plain is not None else self.raw(ptrs)
        if self._assembled is None:
            return raw  # type: ignore[return-value]
        self._fill(stream, self.nnz, 1, self.nnz, *self._tables, raw[2], self._assembled[2])
        return self._assembled

    def judged(self, ptrs: Pointers, read: tuple[int, int, int]) -> tuple[int, int, int]:
        """Addresses of what residuals are computed with: the caller's arrays where they are by rows."""
        return read if self._assembled is None or not self.by_rows else self.raw(ptrs)

    @property
    def as_given(self) -> bool:
        """Whether cuDSS reads the caller's arrays."""
        return self._assembled is None

    @property
    def by_rows(self) -> bool:
        """Whether the caller's arrays are by rows; their order does not matter then."""
        return self.matrix.format == "csr" and not self.transposed

    @property
    def judged_as(self) -> tuple[tuple[str, str], int]:
        """Dtypes of the index arrays, and the part, of what residuals are computed with."""
        if self.by_rows:
            part = Part.FULL if self.problem.kind is Kind.GENERAL else self.problem.part
            return (self.problem.offsets.name, self.problem.indices.name), int(part)
        return (self.offsets.name, self.indices.name), int(self.part)

    # --- memory -----------------------------------------------------------------------------------------------------------------------

    def _take(self, nbytes: int, stream: int) -> int:
        ptr, owner = self.adapter.allocate(max(16, nbytes), self.place.device_id, stream)
        self._owners.append(owner)
        return ptr

    def _send(self, array: Array, stream: int) -> int:
        ptr = self._take(array.nbytes, stream)
        upload(array.ctypes.data, ptr, array.nbytes, stream)
        return ptr

    def on_host(self, ptrs: Pointers, stream: int) -> tuple[Assembly, Array]:
        """The pattern and the present values in host memory: of all entries, or the upper triangle of a symmetric matrix."""
        matrix, problem = self.matrix, self.problem
        first, second = self.pattern(ptrs, stream, None)
        everything = problem.kind is Kind.GENERAL or problem.part is Part.FULL
        made = Assembly(
            first, second, matrix.n, Kind.GENERAL if everything else problem.kind, problem.part, form=matrix.format, block=matrix.block
        )  # fmt: skip
        return made, fetch(self.raw(ptrs)[2], matrix.counts[2], problem.dtype, stream)

    def close(self) -> None:
        """Give the memory up, behind the last call."""
        owners, self._owners = self._owners, []
        if owners:
            self.order.discard(list.clear, owners)


def fetch(ptr: int, count: int, kind: DType, stream: int) -> Array:
    """Copy an array to the host."""
    made = np.empty(count, kind.name)
    download(ptr, made.ctypes.data, made.nbytes, stream)
    return made
