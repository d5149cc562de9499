"""Device memory for the steps of a product: copies of what a library cannot read or write as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from .._core import log
from .._core.arrays import Adapter
from .._core.memory import Workspace
from .._core.place import Cuda

_ALIGNMENT: Final = 256


class Buffers:
    """Buffers of one launch, lent to one call at a time.

    They are one block, taken in the order of the stream of the call and given back when its work is queued. What a graph that is being
    captured uses stays as long as this object: every replay writes there again.

    Parameters
    ----------
    sizes : sequence of int
        Bytes of each.
    place : Cuda
        The GPU.
    adapter : Adapter
        Of the package whose memory pool is used.
    """

    def __init__(self, sizes: Sequence[int], place: Cuda, adapter: Adapter) -> None:
        self.offsets: list[int] = []
        nbytes, device = 0, place.device_id
        for size in sizes:
            self.offsets.append(nbytes)
            nbytes += -(-max(1, size) // _ALIGNMENT) * _ALIGNMENT
        self.memory = Workspace(
            nbytes, place, lambda nbytes, stream: adapter.allocate(nbytes, device, stream), lambda address: None, log.ROOT
        )  # fmt: skip
        self.memory.transient = True

    @contextmanager
    def lent(self, stream: int) -> Iterator[list[int]]:
        """Return the addresses, for work queued on a stream inside of the ``with`` statement."""
        memory = self.memory
        base = memory.acquire(stream)
        try:
            yield [base + offset for offset in self.offsets]
        except BaseException:
            memory.undo(stream)
            raise
        memory.used(stream)
