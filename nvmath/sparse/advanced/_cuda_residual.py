"""The residual of a solution on a GPU, by kernels of our own: cuDSS does not say how good its solution is."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ..._core.arrays import Adapter
from ..._core.dtypes import DType
from ..._core.place import Cuda, reap
from ..._core.staging import download
from ...bindings import _cuda as driver
from ._cuda_kernel import Kernel
from ._order import Order
from ._residual import Judgement, verdict_of, worst


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
        self.judge = None if part else self._kernel("judge", 12, *types)
        self.count = self.nbytes = 0
        self.scratch: tuple[int, Any] = (0, None)

    def launch(
        self, matrix: tuple[int, int, int], x: int, x_ld: int, b: int, b_ld: int, count: int, stream: int,
        several: tuple[int, int] = (1, 0),
    ) -> None:  # fmt: skip
        """Judge columns at addresses, with their leading dimensions; the numbers stay on the GPU.

        They take turns with several matrices of one pattern: how many, and how far apart their values are.
        """
        n = self.n
        if self.judge is not None:
            _, found = self._room(count, stream, products=False)
            self.judge(stream, n, count, n, count, *matrix, *several, x, x_ld, b, b_ld, found)
            return
        y, found = self._room(count, stream)
        self.multiply(stream, n, count, n, count, *matrix, *several, x, x_ld, y, found)
        self.compare(stream, n, count, n, count, x, x_ld, y, b, b_ld, found)

    @cached_property
    def multiply(self) -> Kernel:
        """The kernel of products with a matrix of which perhaps one triangle is there."""
        return self._kernel("multiply", 11, *self.types, hermitian=self.hermitian, part=self.part)

    @cached_property
    def compare(self) -> Kernel:
        """The kernel that compares products with a right-hand side."""
        return self._kernel("compare", 8)

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
        y, found = self._room(count, stream, 8 * n)
        sums = y + -(-n * count * self.dtype.itemsize // 8) * 8
        multiply, largest = self.transposed
        multiply(stream, n, count, n, count, *matrix, x, x_ld, y, sums)
        largest(stream, n, count, n, count, sums, found)
        self.compare(stream, n, count, n, count, x, x_ld, y, b, b_ld, found)

    def product(self, matrix: tuple[int, int, int], x: int, count: int, stream: int, several: tuple[int, int]) -> int:
        """Multiply several matrices by one vector; return the address of the products, which are there until the next call."""
        y, found = self._room(count, stream)
        self.multiply(stream, self.n, count, self.n, count, *matrix, *several, x, 0, y, found)
        return y

    def distances(self, x: int, known: int, count: int, stream: int) -> list[float]:
        """Wait, and return the largest differences of packed columns from one vector."""
        _, found = self._room(count, stream)
        self.compare(stream, self.n, count, self.n, count, x, self.n, x, known, 0, found)
        return [columns[0] for columns in self._numbers(stream)]

    def _room(self, count: int, stream: int, more: int = 0, *, products: bool = True) -> tuple[int, int]:
        """Take memory for so many columns, and clear it; return where products go, and where numbers do."""
        n, numbers = self.n, 32 * count
        nbytes = numbers + (-(-n * count * self.dtype.itemsize // 8) * 8 if products else 0) + more
        if nbytes > self.nbytes:
            self.close()
            reap()  # waits for the calls that used it
            self.scratch, self.nbytes = self.adapter.allocate(nbytes, self.place.device_id, stream), nbytes
        self.count, found = count, self.scratch[0]
        driver.memset_d8_async(found, 0, nbytes, stream)
        return found + numbers, found

    def _numbers(self, stream: int) -> Iterator[tuple[float, float, float, float]]:
        numbers = (ctypes.c_double * (4 * self.count))()
        download(self.scratch[0], ctypes.addressof(numbers), 32 * self.count, stream)
        return zip(*(iter(numbers),) * 4, strict=True)

    def read_each(self, stream: int) -> list[Judgement]:
        """Wait for the numbers and judge every column."""
        name = self.dtype.real.name
        return [verdict_of(*columns, self.n, name) for columns in self._numbers(stream)]

    def read(self, stream: int) -> Judgement:
        """Wait for the numbers and judge the worst column."""
        return worst(self.read_each(stream))

    def close(self) -> None:
        """Give the memory up, behind the last call."""
        owners = [self.scratch[1]]
        self.scratch, self.nbytes = (0, None), 0
        if owners != [None]:
            self.order.discard(list.clear, owners)
