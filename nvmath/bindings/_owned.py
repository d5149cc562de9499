"""Structures that C leaves to the caller's memory: allocated here, returned by address, freed when they end."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from nvmath.bindings._functions import forwarding_function
from nvmath.bindings._rows import Row

#: More than any library wants: cuSPARSELt has structures of 512 bytes, older versions had up to 11 KiB.
_NBYTES, _ALIGNMENT = 16384, 16

#: Address -> memory of what is in use.
_memory: dict[int, Any] = {}


def owning_function(row: Row, call: Callable[..., object], doc: str, module: str) -> Any:
    """The Python function for a row with parameters of type ``new`` and ``end``; `call` takes addresses for all of them."""
    new = [at for at, p in enumerate(row.parameters) if p.type == "new"]
    ends = [at for at, p in enumerate(row.arguments) if p.type == "end"]

    def body(*given: Any) -> Any:
        arguments, made = list(given), []
        for at in new:
            memory = (ctypes.c_char * (_NBYTES + _ALIGNMENT))()
            address = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
            made.append((address, memory))
            arguments.insert(at, address)
        call(*arguments)
        _memory.update(made)
        for at in ends:
            free(given[at])
        return made[0][0] if made else None

    return forwarding_function(row.name, [p.name for p in row.arguments], body, doc, module)


def free(address: int) -> None:
    """Free a structure for which C has no function."""
    _memory.pop(address, None)
