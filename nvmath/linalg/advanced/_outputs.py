"""Auxiliary outputs of a call: made where the operands are, filled where the work runs.

A table of outputs goes in, a dict of arrays comes out; what the table says is the business of `_auxiliary` (and of others that add to it).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from ..._core.arrays import Adapter
from ..._core.dtypes import DType
from ..._core.layout import Ints, size
from ..._core.place import Cuda
from ..._core.route import Runner, allocate, context
from ..._core.staging import download, upload
from ..._core.stream import resolve


@dataclass(frozen=True, slots=True)
class Output:
    """One auxiliary output: its key in the dict, and its layout."""

    name: str
    shape: Ints
    strides: Ints
    dtype: DType

    @property
    def nbytes(self) -> int:
        """Size of the dense array."""
        return size(self.shape) * self.dtype.itemsize


class Outputs:
    """The auxiliary outputs of one operation; `addresses` is where its plan looks for them."""

    def __init__(
        self,
        table: tuple[Output, ...],
        addresses: list[int],
        adapter: Adapter,
        device: int | str,
        gpu: Cuda | None,
        across: bool,
    ) -> None:
        self.table, self.addresses, self.adapter, self.device, self.gpu, self.across = (
            table,
            addresses,
            adapter,
            device,
            gpu,
            across,
        )
        self.make: list[Callable[[], Any]] = [
            adapter.maker(each.shape, each.strides, each.dtype, device) for each in table
        ]  # fmt: skip

    def run(self, runner: Callable[[], Any], stream: Any) -> tuple[Any, dict[str, Any]]:
        """Make the outputs, run, and return the result and the outputs by name."""
        if self.across:
            return self._across(runner, stream)
        here = self.gpu is None or (stream is None and not self.gpu.several)
        with nullcontext() if here else context(self.adapter, self.device, stream):
            made = [make() for make in self.make]
        self.addresses[:] = [self.adapter.pointer(each) for each in made]
        result = runner()
        return result, self._named(made)

    def _named(self, made: list[Any]) -> dict[str, Any]:
        return {each.name: array for each, array in zip(self.table, made, strict=True)}

    def _across(self, runner: Callable[[], Any], stream: Any) -> tuple[Any, dict[str, Any]]:
        """Let the work fill buffers where it runs, and copy them to where the operands are."""
        gpu = self.gpu
        assert gpu is not None
        where, copy = (gpu.device_id, download) if self.device == "cpu" else ("cpu", upload)
        with gpu.current():
            handle = resolve(stream, self.adapter, gpu.device_id)
            with self.adapter.on_stream(gpu.device_id, handle):
                buffers = [allocate(self.adapter, where, each.nbytes, handle) for each in self.table]
                self.addresses[:] = [ptr for ptr, _ in buffers]
                result = runner()
                made = [make() for make in self.make]
                for each, (ptr, _), array in zip(self.table, buffers, made, strict=True):
                    copy(ptr, self.adapter.pointer(array), each.nbytes, handle)
        return result, self._named(made)


class OutputsRunner:
    """A runner that returns the result and the auxiliary outputs by name."""

    __slots__ = ("inner", "outputs")

    def __init__(self, inner: Runner, outputs: Outputs) -> None:
        self.inner, self.outputs = inner, outputs

    def __call__(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        return self.outputs.run(lambda: self.inner(objs, ptrs, stream, out), stream)

    def alone(self, held: dict[str, Any]) -> Runner:
        """Return a runner that returns the result only, and puts the outputs into a dict."""

        def run(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
            result, made = self(objs, ptrs, stream, out)
            held.update(made)
            return result

        return run


__all__ = ["Output", "Outputs", "OutputsRunner"]
