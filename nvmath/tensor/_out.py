"""The array of the caller that results are written into."""

from __future__ import annotations

from typing import Any

from .._core.arrays import READONLY, TRACKED, Adapter, View, adapter_of
from .._core.dtypes import DType
from .._core.layout import is_dense, may_overlap
from .._core.operation import overlap, viewed
from .._core.place import Cuda, Place
from .._core.route import Runner
from ._problem import nested


class Out:
    """An array for results; `direct` says that the library writes into it, else the result is made beside it and copied."""

    __slots__ = ("adapter", "direct", "obj", "view")

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self.adapter = adapter_of(obj)
        self.view = viewed(self.adapter, "out", obj)
        self.view.obj = None
        self.direct = False

    def changed(self) -> bool:
        """Whether the array is no longer what it was: its package can give it other memory, another shape or other flags."""
        old, new = self.view, viewed(self.adapter, "out", self.obj)
        return (new.ptr, new.shape, new.strides, new.dtype, new.device, new.flags) != (
            old.ptr, old.shape, old.strides, old.dtype, old.device, old.flags,
        )  # fmt: skip

    def check(self, adapter: Adapter, device: int | str, dtype: DType) -> None:
        """Raise why results cannot be written into it."""
        view = self.view
        if self.adapter is not adapter:
            raise ValueError(
                f"out must be a {adapter.name} array as the operands are, but it is one of {self.adapter.name}. Allocate it there."
            )
        if view.device != device:
            raise ValueError(f"out must be on device {device} as the operands are, but it is on {view.device}.")
        if view.dtype is not dtype:
            raise ValueError(f"out must have dtype {dtype} as the operands have, but it has {view.dtype}.")
        if view.flags & READONLY:
            raise ValueError("out is read-only. Pass a writable array.")
        if view.flags & TRACKED:
            raise ValueError("out requires a gradient, so it cannot be overwritten. Pass out.detach().")
        if may_overlap(view.shape, view.strides):
            raise ValueError(
                f"out must not have elements that share memory; its strides {view.strides} of shape {view.shape} may make them overlap."
            )

    def can_be_written(self, place: Place, across: bool) -> bool:
        """Whether the library at a place can write this layout."""
        view = self.view
        if view.flags & ~READONLY or (across and not is_dense(view.shape, view.strides)):
            return False
        on_gpu = isinstance(place, Cuda) and not across
        return not on_gpu or (nested(view.shape, view.strides) and view.ptr % view.dtype.itemsize == 0)

    def meets(self, views: tuple[View, ...], addend: int | None) -> bool:
        """Whether it shares memory with an operand; the addend, at the given position, may be exactly the same array."""
        view = self.view
        if addend is not None:
            other = views[addend]
            if (other.ptr, other.shape, other.strides) == (view.ptr, view.shape, view.strides):
                views = views[:addend]
        return any(overlap(view, other, other.ptr) for other in views)


class Into:
    """A runner whose results go into one array."""

    __slots__ = ("inner", "out")

    def __init__(self, inner: Runner, out: Any) -> None:
        self.inner, self.out = inner, out

    def __call__(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        return self.inner(objs, ptrs, stream, self.out)
