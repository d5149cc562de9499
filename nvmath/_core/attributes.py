"""Attributes of library descriptors: values of a fixed width behind an address."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

Setter = Callable[[int, int, int, int], Any]
"""(descriptor, attribute, address, bytes)."""
Getter = Callable[[int, int, int, int, int], Any]
"""(descriptor, attribute, address, bytes, address of the bytes written)."""


def put(setter: Setter, descriptor: int, attribute: int, letter: str, value: Any) -> None:
    """Set an attribute; `letter` is the type code of :mod:`array`: i, I, q, Q, b, H, f."""
    cell = array(letter, [value])
    setter(descriptor, attribute, cell.buffer_info()[0], cell.itemsize)


def get(getter: Getter, descriptor: int, attribute: int, letter: str) -> Any:
    """Return the value of an attribute."""
    cell, written = array(letter, [0]), array("Q", [0])
    getter(descriptor, attribute, cell.buffer_info()[0], cell.itemsize, written.buffer_info()[0])
    return cell[0]


class Cell:
    """A pointer attribute that changes from call to call, set only when it differs."""

    __slots__ = ("address", "array", "attribute", "descriptor", "setter", "value")

    def __init__(self, setter: Setter, descriptor: int, attribute: int, value: int) -> None:
        self.setter, self.descriptor, self.attribute = setter, descriptor, attribute
        self.array = array("Q", [0])
        self.address = self.array.buffer_info()[0]
        self.value = -1
        self.set(value)

    def set(self, value: int) -> None:
        """Point the attribute to an address."""
        if value != self.value:
            self.array[0] = value
            self.setter(self.descriptor, self.attribute, self.address, 8)
            self.value = value
