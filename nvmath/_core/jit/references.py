"""What byte code reads from outside of its function."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

__all__ = ["References", "is_known", "references"]

_LOAD_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_LOAD_CELL = frozenset({"LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF"})
_LOAD_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


#: Packages whose content is identified by its name and the version of the package.
_KNOWN_PACKAGES = frozenset({"numpy", "scipy", "numba", "numba_cuda", "llvmlite", *sys.stdlib_module_names})


def is_known(module: str | None) -> bool:
    """Whether the module of this name belongs to a package that its version identifies."""
    return module is not None and module != "__main__" and module.partition(".")[0] in _KNOWN_PACKAGES


class References(NamedTuple):
    """What byte code reads from outside: attribute paths that start at a global or at a closure cell."""

    globals: tuple[tuple[str, ...], ...]
    cells: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=1024)
def references(code: types.CodeType) -> References:
    """The paths that `code` and the functions nested in it read from globals and from closure cells."""
    globals_: dict[tuple[str, ...], None] = {}
    cells: dict[tuple[str, ...], None] = {}
    nested = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    for path, is_global in _paths(code):
        (globals_ if is_global else cells)[path] = None
    for inner in map(references, nested):
        globals_.update(dict.fromkeys(inner.globals))
        cells.update(dict.fromkeys(path for path in inner.cells if path[0] in code.co_freevars))
    return References(tuple(globals_), tuple(p for p in cells if p[0] in code.co_freevars))


def _paths(code: types.CodeType) -> Iterable[tuple[tuple[str, ...], bool]]:
    """Every ``name.attribute...`` chain that starts at a global (True) or at a cell (False)."""
    path: list[str] = []
    is_global = False
    for instruction in dis.get_instructions(code):
        if instruction.opname == "EXTENDED_ARG":
            continue
        if path and instruction.opname in _LOAD_ATTRIBUTE:
            path.append(instruction.argval)
            continue
        if path:
            yield tuple(path), is_global
            path = []
        if instruction.opname in _LOAD_GLOBAL or instruction.opname in _LOAD_CELL:
            path = [instruction.argval]
            is_global = instruction.opname in _LOAD_GLOBAL
    if path:
        yield tuple(path), is_global
