"""The factors of cuDSS, and what they tell."""

from __future__ import annotations

from array import array
from typing import Any, Final

import numpy as np

from ..._core.dtypes import DType
from ...bindings import cudss
from ._cudss_handle import Lease
from ._options import memory_estimates_dtype

#: name -> (cudssDataParam_t, bytes); 0 stands for the size of an index
SCALARS: Final = {"info": (0, 4), "lu_nnz": (1, 8), "npivots": (2, 0), "num_superpanels": (17, 4)}
_INERTIA, _MEMORY = 3, 13
#: name -> (cudssDataParam_t, what its elements are: values, their real type, or indices)
ARRAYS: Final = {
    "row_permutation": (4, "index"), "col_permutation": (5, "index"), "final_row_permutation": (6, "index"),
    "final_col_permutation": (7, "index"), "diag": (8, "value"), "matching_col_permutation": (14, "index"),
    "row_scale_factors": (15, "real"), "col_scale_factors": (16, "real"),
}  # fmt: skip


class CudssData:
    """A data object of cuDSS.

    Parameters
    ----------
    lease : Lease
        The handle of cuDSS that it belongs to.

    Attributes
    ----------
    indices : DType
        Of the index arrays that cuDSS reads: it answers in the same.
    """

    indices: DType

    def __init__(self, lease: Lease) -> None:
        self.handle, self._order = lease.handle, lease.order
        self.data = cudss.data_create(lease.handle)

    def scalar(self, name: str) -> int:
        """Return a number."""
        number, size = SCALARS[name]
        size = size or self.indices.itemsize
        buffer, written = array("q", [0]), array("Q", [0])
        cudss.data_get(self.handle, self.data, number, buffer.buffer_info()[0], size, written)
        value = buffer[0]
        return value - 2**32 if size == 4 and value >= 2**31 else value

    def _array(self, number: int, count: int, name: str) -> Any:
        made, written = np.empty(count, name), array("Q", [0])
        cudss.data_get(self.handle, self.data, number, made.ctypes.data, made.nbytes, written)
        return made

    def memory(self) -> dict[str, int]:
        """Estimates of memory, in bytes."""
        made = self._array(_MEMORY, 1, memory_estimates_dtype)  # type: ignore[arg-type]
        return {field: int(made[field][0]) for field in memory_estimates_dtype.names or () if field != "reserved"}

    def info(self, name: str, n: int, dtype: DType) -> Any:
        """Return a piece of information."""
        if name == "memory":
            return self.memory()
        if name in SCALARS:
            return self.scalar(name)
        if name == "inertia":
            return self._array(_INERTIA, 2, self.indices.name)
        number, kind = ARRAYS[name]
        return self._array(number, n, {"index": self.indices.name, "value": dtype.name, "real": dtype.real.name}[kind])

    def close(self) -> None:
        """Queue it for destruction."""
        handle, data, self.data = self.handle, self.data, 0
        if data:
            self._order.discard(lambda data: cudss.data_destroy(handle, data), data)
