"""Which arrays of a sequence of products share memory, where one product writes what another reads or writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.arrays import View, adapter_of
from ..._core.operation import ends

_EFFORT = 100_000


@dataclass(frozen=True, slots=True)
class Block:
    """An array: the addresses between which it lies, of which product it is, and whether that writes it."""

    begin: int
    end: int
    index: int
    name: str
    written: bool
    view: View

    @staticmethod
    def of(array: Any, name: str, index: int, written: bool) -> Block:
        """Look at an array."""
        view = adapter_of(array).view(array)
        return Block(*ends(view, view.ptr), index, name, written, view)

    @property
    def text(self) -> str:
        """What the caller calls it."""
        return f"{self.name}[{self.index}]"


def check_order(blocks: list[Block]) -> None:
    """Check that nothing is overwritten before it is read, nor twice.

    Raises
    ------
    ValueError
        Two of the arrays share memory in such a way; the text names them.
    """
    active: list[Block] = []
    for block in sorted(blocks, key=lambda each: each.begin):
        active = [each for each in active if each.end > block.begin]
        for other in active:
            _check_pair(block, other)
        active.append(block)


def _check_pair(one: Block, other: Block) -> None:
    first, second = sorted((one, other), key=lambda each: each.index)
    if first.index == second.index or not first.written or not _share(first.view, second.view):
        return
    if second.written:
        raise ValueError(
            f"{first.text} and {second.text} share memory, so one result would overwrite the other. Pass arrays that are apart."
        )
    raise ValueError(
        f"{first.text} shares memory with {second.text}, which is read after it has been overwritten. Pass a copy of one of them."
    )


def _share(one: View, other: View) -> bool:
    """Whether two arrays have an element in common; also when that is too hard to tell."""
    try:
        return np.shares_memory(_outline(one), _outline(other), max_work=_EFFORT)  # type: ignore[arg-type]  # it takes any effort
    except np.exceptions.TooHardError:
        return True


def _outline(view: View) -> Any:
    """An array of the same layout at the same address, in host or device memory, that nobody may look into."""
    item = view.dtype.itemsize
    interface = {
        "version": 3, "typestr": f"|V{item}", "shape": tuple(view.shape), "strides": tuple(item * stride for stride in view.strides),
        "data": (view.ptr, True),
    }  # fmt: skip
    return np.asarray(type("Outline", (), {"__array_interface__": interface})())
