"""What a function reads, told by its bytecode."""

from __future__ import annotations

import dis
import types

__all__ = ["reads_local"]

_LOADS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")


def reads_local(code: types.CodeType, name: str) -> bool:
    """Whether a function, or one that is defined in it, reads a local variable."""
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith(_LOADS):
            names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            if name in names:
                return True
    return False
