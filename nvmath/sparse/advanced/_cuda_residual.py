"""The residual of a solution on a GPU: two kernels, since cuDSS does not say how good its solution is."""

from __future__ import annotations

import ctypes
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
        device = place.device_id
        self.multiply = Kernel(device, "multiply", 9, dtype, *types, hermitian=hermitian, part=part)
        self.compare = Kernel(device, "compare", 8, dtype)
        self.count = self.nbytes = 0
        self.scratch: tuple[int, Any] = (0, None)

    def launch(
        self, matrix: tuple[int, int, int], x: int, x_ld: int, b: int, b_ld: int, count: int, stream: int
    ) -> None:
        """Judge columns at addresses, with their leading dimensions; the numbers stay on the GPU."""
        n, numbers = self.n, 32 * count
        nbytes = numbers + n * count * self.dtype.itemsize
        if nbytes > self.nbytes:
            self.close()
            reap()  # waits for the calls that used it
            self.scratch, self.nbytes = self.adapter.allocate(nbytes, self.place.device_id, stream), nbytes
        self.count, found = count, self.scratch[0]
        y = found + numbers
        driver.memset_d8_async(found, 0, nbytes, stream)
        self.multiply(stream, n, count, n, count, *matrix, x, x_ld, y, found)
        self.compare(stream, n, count, n, count, x, x_ld, y, b, b_ld, found)

    def read(self, stream: int) -> Judgement:
        """Wait for the numbers and judge the worst column."""
        numbers = (ctypes.c_double * (4 * self.count))()
        download(self.scratch[0], ctypes.addressof(numbers), 32 * self.count, stream)
        name = self.dtype.real.name
        return worst([verdict_of(*columns, self.n, name) for columns in zip(*(iter(numbers),) * 4, strict=True)])

    def close(self) -> None:
        """Give the memory up, behind the last call."""
        owners = [self.scratch[1]]
        self.scratch, self.nbytes = (0, None), 0
        if owners != [None]:
            self.order.discard(list.clear, owners)
