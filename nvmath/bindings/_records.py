"""Structures of C libraries as NumPy arrays: one line of text per structure, a class at its first use.

The grammar::

    Record MatmulAlgo: data_=u64[8]
    Record MatmulHeuristicResult: algo=MatmulAlgo workspace_size=usize state=i32 waves_count=f32 reserved=i32[4]

Types are those of rows, ``byte``, and structures of the same table; ``version=i32:7`` is 7 at first, everything else 0.
Fields lie as in C.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nvmath.bindings._rows import TYPES, lines

_TYPES = {name: type_.item for name, type_ in TYPES.items() if type_.item} | {"byte": "u1"}


def records(text: str) -> dict[str, list[tuple[str, str]]]:
    """Name -> fields (name, type) of the structures in a text."""
    tables = {}
    for line in lines(text):
        head, _, body = line.partition(":")
        fields = (item.partition("=") for item in body.split())
        tables[head.split()[1]] = [(name, type_) for name, _, type_ in fields]
    return tables


def record_class(name: str, table: list[tuple[str, str]], module: str, resolve: Callable[[str], Any]) -> type[Any]:
    """The class of a structure: an array of it, with its fields as attributes."""
    import numpy as np

    presets = {field: int(type_.partition(":")[2]) for field, type_ in table if ":" in type_}
    fields = [(field, type_.partition(":")[0]) for field, type_ in table]
    dtype = np.dtype([_field(field, type_, resolve) for field, type_ in fields], align=True)
    doc = f"""An array of a structure of the library, on the host; a function takes it, or its address ``ptr``.

    Fields are attributes: ``{"``, ``".join(field for field, _ in fields)}`` (a number where there is one structure, else
    an array). It is a `numpy.ndarray`; versions are set, everything else is zero at first.

    Parameters
    ----------
    size : int
        How many structures.
    """
    body: dict[str, Any] = {
        "dtype_of": dtype,
        "__module__": module,
        "__doc__": doc,
        "__new__": _new(dtype, presets, fields, resolve),
    }
    body |= {"ptr": property(lambda self: int(self.ctypes.data), doc="The address of the first structure.")}
    body |= {field: _attribute(field, type_, resolve) for field, type_ in fields}
    body |= {way.__name__: classmethod(way) for way in (from_data, from_buffer, from_ptr)}
    return type(name, (np.ndarray,), body)


def _field(name: str, type_: str, resolve: Callable[[str], Any]) -> tuple[Any, ...]:
    match = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", type_)
    if match is None:
        raise ValueError(f"not a field: {name}={type_}")
    kind = _TYPES.get(match[1]) or resolve(match[1]).dtype_of
    return (name, kind, (int(match[2]),)) if match[2] else (name, kind)


def _new(
    dtype: Any, presets: dict[str, int], fields: list[tuple[str, str]], resolve: Callable[[str], Any]
) -> Callable[..., Any]:
    def __new__(cls: type[Any], size: int = 1) -> Any:  # noqa: N807, a method
        import numpy as np

        made = np.zeros(size, dtype)
        for field, type_ in fields:
            if type_ not in _TYPES and "[" not in type_:
                made[field] = resolve(type_)(1)[0]
        for field, value in presets.items():
            made[field] = value
        return made.view(cls)

    return __new__


def _attribute(field: str, type_: str, resolve: Callable[[str], Any]) -> property:
    nested = type_ not in _TYPES and "[" not in type_

    def read(self: Any) -> Any:
        import numpy as np

        value = self.view(np.ndarray)[field]
        if nested:
            return value.view(resolve(type_))
        return value.item() if value.size == 1 and "[" not in type_ else value

    def write(self: Any, value: Any) -> None:
        self[field] = value

    return property(read, write, doc=f"The field of type {type_}.")


def from_data(cls: Any, data: Any) -> Any:
    """The structures in an array of the same `dtype`; they share its memory.

    Parameters
    ----------
    data : numpy.ndarray
        Of any shape with that dtype.
    """
    import numpy as np

    array = np.atleast_1d(np.asanyarray(data))
    if array.dtype != cls.dtype_of:
        raise ValueError(f"{cls.__name__}.from_data(): needs an array of dtype {cls.dtype_of}, got {array.dtype}")
    return array.view(cls)


def from_buffer(cls: Any, buffer: Any) -> Any:
    """The structures that lie in a buffer; they share its memory.

    Parameters
    ----------
    buffer : object
        With the buffer protocol; its size is a multiple of that of the structure.
    """
    import numpy as np

    return np.frombuffer(buffer, cls.dtype_of).view(cls)


def from_ptr(cls: Any, ptr: int, size: int = 1, readonly: bool = False) -> Any:
    """The structures at an address, which must stay valid.

    Parameters
    ----------
    ptr : int
        The address, on the host.
    size : int
        How many structures.
    readonly : bool
        Whether the array refuses to be written.
    """
    import ctypes

    import numpy as np

    if not ptr:
        raise ValueError(f"{cls.__name__}.from_ptr(): the address is 0")
    memory = (ctypes.c_char * (size * cls.dtype_of.itemsize)).from_address(ptr)
    array = np.frombuffer(memory, cls.dtype_of)
    array.flags.writeable = not readonly
    return array.view(cls)
