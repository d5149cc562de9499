"""How operands come to where systems are solved, and how solutions come back; every call ends when the work is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ..._core.arrays import Adapter
from ..._core.layout import size
from ..._core.place import Cuda, thread
from ..._core.route import allocate, refuse_capture, refuse_travel
from ..._core.staging import download, upload
from ..._core.stream import resolve
from ._problem import Stack, SystemsProblem


class Carrier:
    """Operands of one place, execution in the same or another one.

    Parameters
    ----------
    adapter : Adapter
        Of the operands' package.
    device : int or str
        Where the operands are.
    gpu : Cuda, optional
        The GPU that takes part, if one does.
    """

    def __init__(self, adapter: Adapter, device: int | str, gpu: Cuda | None) -> None:
        self.adapter, self.device, self.gpu = adapter, device, gpu

    @contextmanager
    def call(self, stream: Any, across: bool) -> Iterator[int]:
        """Make device and stream of a call current; after a failure wait, since buffers go back that the GPU may use."""
        gpu = self.gpu
        if gpu is None:
            yield 0
            return
        if stream is None and not (gpu.several or across):  # nothing has to be made current
            if not thread.bound:
                gpu.bind()
            handle = self.adapter.current_stream(gpu.device_id)
            refuse_capture(gpu, handle, "a dense solver")
            yield handle
            return
        with gpu.current():
            handle = resolve(stream, self.adapter, gpu.device_id)
            if across:
                refuse_travel(gpu, handle)
            refuse_capture(gpu, handle, "a dense solver")
            with self.adapter.on_stream(gpu.device_id, handle):
                try:
                    yield handle
                except BaseException:
                    with suppress(RuntimeError):
                        gpu.wait(handle)
                    raise

    def addresses(self, objs: Sequence[Any], ptrs: Sequence[int], untidy: Sequence[bool]) -> tuple[tuple[int, ...], list[Any]]:
        """Return where operands can be read, and the copies that were made for that."""
        copies = [self.adapter.tidy(obj) if bad else None for obj, bad in zip(objs, untidy, strict=True)]
        found = tuple(
            ptr if copy is None else self.adapter.pointer(copy) for ptr, copy in zip(ptrs, copies, strict=True)
        )
        return found, copies

    def new(self, stack: Stack, problem: SystemsProblem) -> list[Any]:
        """Make arrays for the user."""
        return [
            self.adapter.maker(shape, strides, problem.dtype, self.device)()
            for shape, strides in zip(stack.shapes, stack.strides, strict=True)
        ]  # fmt: skip

    def buffers(self, stack: Stack, problem: SystemsProblem, handle: int) -> tuple[tuple[int, ...], list[Any]]:
        """Take memory where the work runs, one dense block for each array."""
        assert self.gpu is not None
        where = self.gpu.device_id if self.device == "cpu" else "cpu"
        made = [
            allocate(self.adapter, where, size(shape) * problem.dtype.itemsize, handle) for shape in stack.shapes
        ]  # fmt: skip
        return tuple(ptr for ptr, _ in made), [owner for _, owner in made]

    def fetch(self, stack: Stack, problem: SystemsProblem, ptrs: Sequence[int], targets: Sequence[Any], handle: int) -> None:
        """Copy dense blocks back into arrays of the user's place."""
        copy = download if self.device == "cpu" else upload
        for shape, ptr, target in zip(stack.shapes, ptrs, targets, strict=True):
            copy(ptr, self.adapter.pointer(target), size(shape) * problem.dtype.itemsize, handle)

    def put(self, stack: Stack, problem: SystemsProblem, ptrs: Sequence[int], objs: Sequence[Any], handle: int) -> None:
        """Copy dense blocks back into the caller's own arrays, whatever their strides."""
        fresh = self.new(stack, problem)
        self.fetch(stack, problem, ptrs, fresh, handle)
        for obj, made in zip(objs, fresh, strict=True):
            self.adapter.assign(obj, made)
        if self.gpu is not None:
            self.gpu.wait(handle)


def makers(adapter: Adapter, device: int | str, problem: SystemsProblem) -> list[Callable[[], Any]]:
    """Return functions that make the arrays of the solution."""
    x = problem.x
    return [adapter.maker(shape, strides, problem.dtype, device) for shape, strides in zip(x.shapes, x.strides, strict=True)]
