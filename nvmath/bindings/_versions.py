"""How each library states its version: one small reader per convention."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Protocol


class _Symbols(Protocol):
    def address(self, c_name: str) -> int | None: ...


def read_version(library: _Symbols, convention: str, symbol: str) -> str:
    """The version of a library as text, or '' when it does not say."""
    address = library.address(symbol) if symbol else None
    return _READERS[convention](address) if address is not None else ""


def _call(address: int, restype: Any, *args: Any) -> Any:
    return ctypes.CFUNCTYPE(restype, *(type(arg) for arg in args))(address)(*args)


def _integers(address: int, count: int) -> list[int]:
    """A function that fills `count` ints."""
    values = [ctypes.c_int() for _ in range(count)]
    _call(address, ctypes.c_int, *(ctypes.pointer(value) for value in values))
    return [value.value for value in values]


def _property(address: int) -> str:
    """Library properties: ``int f(libraryPropertyType, int *value)``, asked for the major, the minor and the patch."""
    numbers = []
    for kind in range(3):
        value = ctypes.c_int()
        _call(address, ctypes.c_int, ctypes.c_int(kind), ctypes.pointer(value))
        numbers.append(str(value.value))
    return ".".join(numbers)


def _packed(number: int, *units: int) -> str:
    parts = []
    for unit in units:
        parts.append(str(number // unit))
        number %= unit
    return ".".join(parts)


def _buffer_text(address: int) -> str:
    """MKL's sentence (``void f(char *buffer, int length)``): the first word that starts with a digit is the version."""
    buffer = ctypes.create_string_buffer(256)
    _call(address, None, ctypes.cast(buffer, ctypes.c_char_p), ctypes.c_int(len(buffer) - 1))
    words = buffer.value.decode("ascii", "replace").split()
    return next((word.partition("-")[0] for word in words if word[:1].isdigit()), " ".join(words))


def _words(text: bytes | None, position: int) -> str:
    words = (text or b"").decode("ascii", "replace").replace("-", " ").split()
    return words[position] if position < len(words) else " ".join(words)


_READERS: dict[str, Callable[[int], str]] = {
    "none": lambda address: "",
    "property": _property,
    "pair": lambda address: ".".join(map(str, _integers(address, 2))),
    "cuda": lambda address: _packed(_integers(address, 1)[0], 1000, 10),
    "hundreds": lambda address: _packed(_integers(address, 1)[0], 10000, 100, 1),
    "thousands": lambda address: _packed(_call(address, ctypes.c_size_t), 10000, 100, 1),
    "nvpl": lambda address: _packed(_call(address, ctypes.c_int), 10000, 100, 1),
    "mkl": _buffer_text,
    "fftw": lambda address: _words(ctypes.string_at(address), 1),
    "openblas": lambda address: _words(_call(address, ctypes.c_char_p), 1),
}
