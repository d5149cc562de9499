"""What Python passes as an address: the one place that decides between an address and memory, for both kinds of the seam."""

from __future__ import annotations

import ctypes
import operator
from typing import Any

_SIMPLE: Any = ctypes._SimpleCData
_DATA = _SIMPLE.__mro__[1]
_REFERENCE: Any = type(ctypes.byref(ctypes.c_int()))
_LEADING: Any = (ctypes._Pointer, ctypes.CFUNCTYPE(None).__mro__[1])
#: ``void *``, ``char *``, ``wchar_t *`` of ctypes.
_POINTERS = frozenset("PzZ")


def foreign_address(value: Any, /) -> int | None:
    """The address that a pointer, a reference or a function of ctypes holds (0 for NULL), or None for anything else.

    They have the buffer protocol as well, which shows the 8 bytes of the pointer itself. Arrays and structures are memory.
    """
    if isinstance(value, _REFERENCE):
        holds = isinstance(value._obj, _DATA)  # numbers made by from_param are of this type too
    elif isinstance(value, _SIMPLE):
        holds = value._type_ in _POINTERS
    else:
        holds = isinstance(value, _LEADING)
    return ctypes.cast(value, ctypes.c_void_p).value or 0 if holds else None


def address_of(value: Any, /) -> int | None:
    """The address that a value is: an integer (of NumPy too), None (0) or a pointer of ctypes; None for memory.

    What has a length is memory, or a sequence, though it may have ``__index__`` as arrays do.
    """
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    kind = type(value)
    if hasattr(kind, "__index__") and not hasattr(kind, "__len__"):
        return operator.index(value)
    return foreign_address(value)
