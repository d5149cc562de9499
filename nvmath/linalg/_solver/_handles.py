"""Handles of cuSOLVER and cuBLAS: they hold a stream and scratch memory, so a call has one to itself, and then another call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..._core.fork import children
from ...bindings import cublas, cusolverDn


class Solver(NamedTuple):
    """A cuSOLVER handle and the parameters that its 64-bit functions take."""

    handle: int
    params: int


class Pool:
    """Handles that nobody uses at the moment, by device: making one takes longer than solving a small system."""

    def __init__(self, make: Callable[[], Any], set_stream: Callable[[Any, int], object]) -> None:
        self.make, self.set_stream = make, set_stream
        self.idle: dict[int, list[Any]] = {}
        children.inherited.add(self)

    def take(self, device: int, stream: int) -> Any:
        """Take a handle that works on a stream of the current device; the work must be done when it is given back."""
        idle = self.idle.get(device)
        try:
            taken = idle.pop() if idle else self.make()
        except IndexError:  # another thread was faster
            taken = self.make()
        try:
            self.set_stream(taken, stream)
        except BaseException:
            self.give(device, taken)
            raise
        return taken

    def give(self, device: int, handle: Any) -> None:
        """Give a handle back."""
        self.idle.setdefault(device, []).append(handle)

    def _after_fork(self) -> None:
        """The parent's handles do not exist in a child."""
        self.idle.clear()


def _solver() -> Solver:
    handle = cusolverDn.create()
    try:
        return Solver(handle, cusolverDn.create_params())
    except BaseException:
        cusolverDn.destroy(handle)
        raise


SOLVERS: Final = Pool(_solver, lambda solver, stream: cusolverDn.set_stream(solver.handle, stream))
BLAS: Final = Pool(lambda: cublas.create(), lambda handle, stream: cublas.set_stream(handle, stream))
