"""Pieces of memory that lie one behind the other, or are brought there: what cuDSS wants of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._core import kernels
from ..._core.dtypes import DType
from ...bindings import _cuda as driver
from ._sides import Columns, Side

Allocated = tuple[int, Any]


def runs(addresses: Sequence[int], nbytes: int) -> list[tuple[int, int]]:
    """Merge pieces of equal size that lie one behind the other: the first address, and how many there are."""
    made: list[tuple[int, int]] = []
    for address in addresses:
        if made and made[-1][0] + made[-1][1] * nbytes == address:
            made[-1] = made[-1][0], made[-1][1] + 1
        else:
            made.append((address, 1))
    return made


def gather(pieces: list[tuple[int, int]], nbytes: int, target: int, stream: int) -> None:
    """Copy runs of pieces one behind the other."""
    for address, count in pieces:
        driver.memcpy_device_to_device_async(target, address, count * nbytes, stream)
        target += count * nbytes


class Packed:
    """The columns of all systems as cuDSS wants them: the first of each system one behind the other, then the second ones, and so on.

    Parameters
    ----------
    device : int
        The GPU.
    sides : sequence of Side
        Right-hand sides of one shape, in the order of the systems.
    solution : bool
        Whether their solutions are meant, which lie in one array.
    dtype : DType
        Of the elements.

    Attributes
    ----------
    direct : bool
        Whether they are there already.
    """

    def __init__(self, device: int, sides: Sequence[Side], solution: bool, dtype: DType) -> None:
        columns: list[Columns] = [side.x if solution else side.b for side in sides]
        n, count = columns[0].shape[0], columns[0].count
        self._places = [
            (0 if solution else side.slot, each.start * dtype.itemsize)
            for side, each in zip(sides, columns, strict=True)
        ]
        self._nbytes = n * dtype.itemsize
        self.total = len(sides) * count * self._nbytes
        self._single = count == 1 and all(each.leading for each in columns)
        packed = _strides(columns[0].shape, len(sides) * n)
        self._moves: dict[Any, Any] = {}
        for each in columns if not self._single else ():
            for arguments in (
                ((each.strides, packed), (packed, each.strides)) if solution else ((each.strides, packed),)
            ):
                if arguments not in self._moves:
                    self._moves[arguments] = kernels.move(device, each.shape, *arguments, dtype, dtype)
        self._columns, self._packed = columns, packed

    def addresses(self, ptrs: Sequence[int]) -> list[int]:
        """Where the columns of each system begin."""
        return [ptrs[slot] + begin for slot, begin in self._places]

    def where(self, ptrs: Sequence[int]) -> int:
        """The address if they are as they should be, else 0."""
        if not self._single:
            return 0
        found = runs(self.addresses(ptrs), self._nbytes)
        return found[0][0] if len(found) == 1 else 0

    def pack(self, ptrs: Sequence[int], target: int, stream: int) -> None:
        """Bring them together."""
        if self._single:
            gather(runs(self.addresses(ptrs), self._nbytes), self._nbytes, target, stream)
            return
        for i, (address, each) in enumerate(zip(self.addresses(ptrs), self._columns, strict=True)):
            self._moves[each.strides, self._packed](address, target + i * self._nbytes, stream)

    def unpack(self, source: int, ptrs: Sequence[int], stream: int) -> None:
        """Bring them back."""
        for i, (address, each) in enumerate(zip(self.addresses(ptrs), self._columns, strict=True)):
            if self._single:
                driver.memcpy_device_to_device_async(address, source + i * self._nbytes, self._nbytes, stream)
            else:
                self._moves[self._packed, each.strides](source + i * self._nbytes, address, stream)


def _strides(shape: Sequence[int], step: int) -> tuple[int, ...]:
    """Strides of columns that are packed, `step` elements from one to the next, the first axis along a column."""
    made = [1]
    for extent in shape[1:]:
        made.append(step)
        step *= extent
    return tuple(made)
