"""The residual of a solution on a GPU, by kernels of our own: cuDSS does not say how good its solution is.

The numbers that judge a solution go into pinned host memory, where they can be read as soon as the stream has been waited for.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final

from ..._core.arrays import Adapter
from ..._core.dtypes import DType
from ..._core.place import Cuda, reap
from ..._core.staging import pinned_block
from ...bindings import _cuda as driver
from ._cuda_kernel import Kernel
from ._order import Order
from ._residual import Judgement, verdict_of, worst

_CELLS: Final = 5
"""64-bit words of a column in which the blocks of a kernel put its numbers together."""


class Residual:
    """Judges the solutions of one system on a GPU. Launching does not wait; reading does.

    Parameters
    ----------
    n : int
        Number of equations.
    dtype : DType
        Of the values.
    types : tuple of str
        Dtypes of row offsets and column indices.
    hermitian : bool
        Whether the other triangle is the conjugate.
    part : int
        Which triangle is read, 1 the lower and 2 the upper one, or 0 for all entries.
    place, adapter
        The GPU, and the package that gives memory.
    order : Order
        The order of the calls of the solver.
    """

    def __init__(
        self, n: int, dtype: DType, types: tuple[str, str], hermitian: bool, part: int, place: Cuda, adapter: Adapter, order: Order
    ) -> None:  # fmt: skip
        self.n, self.dtype, self.place, self.adapter, self.order = n, dtype, place, adapter, order
        self.types, self.hermitian, self.part = types, hermitian, part
        self.judge = None if part else self._kernel("judge", 13, *types)
        self.count = self.columns = self.nbytes = 0
        self.cells = self.told = self.scratch = 0
        self._of_numbers: list[Any] = []  # who owns the memory
        self._of_scratch: list[Any] = []

    def launch(
        self, matrix: tuple[int, int, int], x: int, x_ld: int, b: int, b_ld: int, count: int, stream: int,
        several: tuple[int, int] = (1, 0),
    ) -> None:  # fmt: skip
        """Judge columns at addresses, with their leading dimensions; the numbers are not waited for.

        They take turns with several matrices of one pattern: how many, and how far apart their values are.
        """
        n = self.n
        if self.judge is not None:
            self.judge(
                stream, n, count, n, count, *matrix, *several, x, x_ld, b, b_ld, *self._numbers_of(count, stream)
            )
            return
        y = self._zeros(count, stream)
        cells, told = self._numbers_of(count, stream)
        with self._all_or_none():
            self.multiply(stream, n, count, n, count, *matrix, *several, x, x_ld, y, cells)
            self.compare(stream, n, count, n, count, x, x_ld, y, b, b_ld, cells, told)

    @contextmanager
    def _all_or_none(self) -> Iterator[None]:
        """Cells that no `compare` has cleared are not used again."""
        try:
            yield
        except BaseException:
            self.columns = 0
            raise

    @cached_property
    def multiply(self) -> Kernel:
        """The kernel of products with a matrix of which perhaps one triangle is there."""
        return self._kernel("multiply", 11, *self.types, hermitian=self.hermitian, part=self.part)

    @cached_property
    def compare(self) -> Kernel:
        """The kernel that compares products with a right-hand side."""
        return self._kernel("compare", 9)

    @cached_property
    def transposed(self) -> tuple[Kernel, Kernel]:
        """The kernels of products with the transpose."""
        return self._kernel("multiply_transposed", 9, *self.types), self._kernel("largest", 4)

    def _kernel(self, name: str, count: int, *types: str, **more: Any) -> Kernel:
        return Kernel(self.place.device_id, name, count, self.dtype, *types, **more)

    def launch_transposed(
        self, matrix: tuple[int, int, int], x: int, x_ld: int, b: int, b_ld: int, count: int, stream: int
    ) -> None:
        """Judge columns that solve with the transpose of a general matrix."""
        n = self.n
        y = self._zeros(count, stream, 8 * n)
        sums = y + self._products(count)
        cells, told = self._numbers_of(count, stream)
        multiply, largest = self.transposed
        with self._all_or_none():
            multiply(stream, n, count, n, count, *matrix, x, x_ld, y, sums)
            largest(stream, n, count, n, count, sums, cells)
            self.compare(stream, n, count, n, count, x, x_ld, y, b, b_ld, cells, told)

    def product(self, matrix: tuple[int, int, int], x: int, count: int, stream: int, several: tuple[int, int]) -> int:
        """Multiply several matrices by one vector; return the address of the products, which are there until the next call."""
        y = self._zeros(count, stream, 8 * _CELLS * count)  # those of a judgement stay 0
        self.multiply(stream, self.n, count, self.n, count, *matrix, *several, x, 0, y, y + self._products(count))
        return y

    def distances(self, x: int, known: int, count: int, stream: int) -> list[float]:
        """Wait, and return the largest differences of packed columns from one vector."""
        numbers = self._numbers_of(count, stream)
        self.compare(stream, self.n, count, self.n, count, x, self.n, x, known, 0, *numbers)
        return [columns[0] for columns in self.numbers(stream)]

    def _numbers_of(self, count: int, stream: int) -> tuple[int, int]:
        """Where the blocks of a kernel put the numbers of so many columns together, which is 0, and where they go in host memory."""
        if count > self.columns:
            self.columns = 0
            self._of_numbers = self._anew(self._of_numbers)
            self.cells = self._take(8 * _CELLS * count, stream, self._of_numbers)
            driver.memset_d8_async(self.cells, 0, 8 * _CELLS * count, stream)
            pinned = pinned_block(32 * count)
            self._of_numbers.append(pinned)
            self.told, self.columns = pinned.ptr, count
        self.count = count
        return self.cells, self.told

    def _products(self, count: int) -> int:
        """Bytes of products for so many columns, and what follows them is aligned."""
        return -(-self.n * count * self.dtype.itemsize // 8) * 8

    def _zeros(self, count: int, stream: int, more: int = 0) -> int:
        """Where products of so many columns are added up, and as many bytes more behind them."""
        nbytes = self._products(count) + more
        if nbytes > self.nbytes:
            self.nbytes = 0
            self._of_scratch = self._anew(self._of_scratch)
            self.scratch, self.nbytes = self._take(nbytes, stream, self._of_scratch), nbytes
        driver.memset_d8_async(self.scratch, 0, nbytes, stream)
        return self.scratch

    def _take(self, nbytes: int, stream: int, owners: list[Any]) -> int:
        ptr, owner = self.adapter.allocate(nbytes, self.place.device_id, stream)
        owners.append(owner)
        return ptr

    def _anew(self, owners: list[Any]) -> list[Any]:
        """Give memory up, and wait for the calls that used it; return a list for the owners of other memory."""
        if owners:
            self.order.discard(list.clear, owners)
            reap()
        return []

    def numbers(self, stream: int) -> list[tuple[float, float, float, float]]:
        """Wait for the numbers of the last launch: of each column the residual, b and x, and the norm of the matrix."""
        self.place.wait(stream)
        numbers = (ctypes.c_double * (4 * self.count)).from_address(self.told)
        return list(zip(*(iter(numbers),) * 4, strict=True))

    def read_each(self, stream: int) -> list[Judgement]:
        """Wait for the numbers and judge every column."""
        name = self.dtype.real.name
        return [verdict_of(*columns, self.n, name) for columns in self.numbers(stream)]

    def read(self, stream: int) -> Judgement:
        """Wait for the numbers and judge the worst column."""
        return worst(self.read_each(stream))

    def close(self) -> None:
        """Give the memory up, behind the last call."""
        self.columns = self.nbytes = 0
        for owners in (self._of_numbers, self._of_scratch):
            if owners:
                self.order.discard(list.clear, owners)
        self._of_numbers, self._of_scratch = [], []
