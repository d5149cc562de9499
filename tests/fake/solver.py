"""A cuSOLVER and a cuBLAS over the fake driver: they compute nothing, but say which memory a call uses, and where it is queued."""
# ruff: noqa: N802, the names of the C functions

from __future__ import annotations

from typing import Any

from fake.driver import FakeCuda, Trace, recorded


class Handles:
    """Handles, each with the stream that it was set to."""

    def __init__(self, trace: Trace, cuda: FakeCuda) -> None:
        self.trace, self.cuda = trace, cuda
        self.streams: dict[int, int] = {}

    def current_device(self) -> int:
        return self.cuda.current_device() or 0

    def make(self) -> int:
        handle = 0x500 + 16 * len(self.streams)
        self.streams[handle] = 0
        return handle

    def use(self, handle: int, *addresses: int) -> None:
        """Queue work on the stream of a handle."""
        stream = self.streams[handle]
        self.cuda.queued(stream)
        self.cuda.touch(stream, *addresses)


class FakeCusolver(Handles):
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    workspace_nbytes = 4096

    @recorded
    def cusolverDnCreate(self) -> int:
        return self.make()

    @recorded
    def cusolverDnSetStream(self, handle: int, stream: int) -> None:
        self.streams[handle] = stream

    @recorded
    def cusolverDnCreateParams(self) -> int:
        return 0x77

    @recorded
    def cusolverDnXgetrf_bufferSize(self, *arguments: Any) -> tuple[int, int]:
        return self.workspace_nbytes, 0

    @recorded
    def cusolverDnXgetrf(self, handle: int, *rest: Any) -> None:
        _, _, _, _, a, _, pivots, _, workspace, nbytes, _, _, info = rest
        assert (workspace != 0) is (nbytes != 0)
        self.use(handle, *({a, pivots, workspace, info} - {0}))

    @recorded
    def cusolverDnXgetrs(self, handle: int, *rest: Any) -> None:
        _, _, _, _, _, a, _, pivots, _, b, _, info = rest
        self.use(handle, a, pivots, b, info)


class FakeCublas(Handles):
    """Attributes are named like the C functions."""

    @recorded
    def cublasCreate_v2(self) -> int:
        return self.make()

    @recorded
    def cublasSetStream_v2(self, handle: int, stream: int) -> None:
        self.streams[handle] = stream

    @recorded
    def cublasSgetrfBatched(self, handle: int, n: int, table: int, ld: int, pivots: int, info: int, count: int) -> None:
        self.use(handle, table, pivots, info)

    @recorded
    def cublasSgetrsBatched(self, handle: int, *rest: Any) -> None:
        _, _, _, table, _, pivots, sides, _, _, _ = rest
        self.use(handle, table, pivots, sides)
