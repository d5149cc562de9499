"""Copies between arrays of the caller and packed memory, on the host."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from ..._core import kernels_host
from ..._core.dtypes import DType
from ..._core.layout import Ints, is_dense, normalise, size
from ._forms import Copy


class Move:
    """A copy of elements from one address to another, of one of several arrays."""

    __slots__ = ("array", "nbytes", "run", "source_offset", "target_offset")

    def __init__(self, copy: Copy, dtype: DType, back: bool) -> None:
        self.array = copy.array
        one, other = (copy.inside, copy.outside) if back else (copy.outside, copy.inside)
        self.nbytes = size(copy.shape) * dtype.itemsize if _is_block(copy.shape, one, other) else 0
        offset = copy.offset * dtype.itemsize
        self.source_offset, self.target_offset = (offset, 0) if back else (0, offset)
        self.run = kernels_host.move(copy.shape, one, other, dtype, dtype)

    def __call__(self, source: int, target: int) -> None:
        source, target = source + self.source_offset, target + self.target_offset
        if self.nbytes:
            ctypes.memmove(target, source, self.nbytes)
        else:
            self.run(source, target)

    def plain(self) -> Callable[[int, int], object]:
        """Return the shortest function for a copy without offsets."""
        assert (self.source_offset, self.target_offset) == (0, 0)
        nbytes, copy = self.nbytes, ctypes.memmove
        return (lambda source, target: copy(target, source, nbytes)) if nbytes else self.run


def _is_block(shape: Ints, one: Ints, other: Ints) -> bool:
    """Whether both sides are one block of memory in the same order."""
    one, other = normalise(shape, one), normalise(shape, other)
    return one == other and is_dense(shape, one)
