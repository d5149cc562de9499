"""Parameters that C takes and Python does not: structures in memory that is allocated here, values by address, NULL."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from nvmath.bindings._rows import Row

#: More than any library wants: cuSPARSELt has structures of 512 bytes, older versions had up to 11 KiB.
_NBYTES, _ALIGNMENT = 16384, 16

#: Address -> memory of what is in use.
_memory: dict[int, Any] = {}


def adapted(row: Row, call: Callable[..., Any]) -> Callable[..., Any]:
    """What is called for a row with parameters that the seam does not know; `call` takes something else for them."""
    passed = [p for p in row.parameters if not p.out]
    ends = [at for at, p in enumerate(row.arguments) if p.type == "end"]

    def body(*given: Any) -> Any:
        left = iter(given)
        arguments: list[Any] = []
        made: dict[int, Any] = {}
        for p in passed:
            if p.type == "new":
                memory = (ctypes.c_char * (_NBYTES + _ALIGNMENT))()
                address = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
                made[address] = memory
                arguments.append(address)
            else:
                value = None if p.type == "null" else next(left)
                arguments.append((value,) if p.by_address else value)
        result = call(*arguments)
        _memory.update(made)
        for at in ends:
            free(given[at])
        return next(iter(made)) if made else result

    return body


def for_the_seam(row: Row) -> Row:
    """The row of what `adapted` calls."""
    parameters = tuple(
        p._replace(array=True, by_address=False) if p.by_address else p._replace(type="ptr") if p.adapted else p
        for p in row.parameters
    )
    return row._replace(name="_" + row.name, parameters=parameters)


def free(address: int) -> None:
    """Free a structure for which C has no function."""
    _memory.pop(address, None)
