"""Checks the committed rows against headers and against what the installed libraries export."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from nvmath.bindings import _load
from nvmath.bindings._rows import Parameter, Row
from tools.bindgen.headers import CType, Function, Headers, find_header, read
from tools.bindgen.targets import TARGETS, Target

_SAME_WIDTH = {"usize": "u64", "ptr": "u64"}


def problems(name: str) -> Iterator[str]:
    """What is wrong with the rows of one library; nothing if neither its headers nor its file are installed."""
    target = TARGETS[name]
    library = importlib.import_module(target.module)._library
    missing = [header for header in target.headers if find_header(header) is None]
    if missing:
        yield f"note: no {', '.join(missing)}: the rows are not checked against headers"
    else:
        headers = read(target.headers, target.prefix, target.defines)
        yield from _against_headers(library, target, headers)
    if _load.find_library(name) is None:
        yield f"note: {name} is not installed: its symbols are not checked"
    else:
        yield from _against_symbols(library, target)


def _against_headers(library: Any, target: Target, headers: Headers) -> Iterator[str]:
    for row in library.rows():
        function = headers.functions.get(row.c_name)
        if function is None:
            if row.c_name not in target.not_in_headers:
                yield f"{row.c_name}: not declared"
        elif not row.name.endswith("_unnamed"):
            yield from _compare(row, function)
    for ours, theirs in target.enums.items():
        yield from _compare_enum(ours, getattr(library, ours), headers.enums.get(theirs), target)


def _compare(row: Row, function: Function) -> Iterator[str]:
    if len(row.parameters) != len(function.parameters):
        yield f"{row.c_name}: {len(row.parameters)} parameters in the row, {len(function.parameters)} in C"
        return
    names = [_loose(name) for name, _ in function.parameters]
    for at, (ours, (name, type_)) in enumerate(zip(row.parameters, function.parameters, strict=True)):
        if not fits(ours, type_):
            yield f"{row.c_name}: parameter {ours.name} is {ours.letter} in the row, '{type_.spelling}' in C"
        if _loose(ours.name) in names[:at] + names[at + 1 :] and _loose(ours.name) != names[at]:
            yield f"{row.c_name}: parameter {at} is {ours.name} in the row, {name} in C: swapped?"
    if not _result_fits(row.result, function.result):
        yield f"{row.c_name}: the result is {row.result} in the row, '{function.result.spelling}' in C"


def _loose(name: str) -> str:
    return name.replace("_", "").lower()


def fits(ours: Parameter, theirs: CType) -> bool:
    """Whether a row's parameter can stand for a C parameter."""
    if ours.out or ours.array:
        if theirs.levels == 0 or (ours.out and theirs.constant and theirs.levels == 1):
            return False
        if theirs.scalar == "void" and theirs.levels == 1:
            return True
        if ours.type in ("ptr", "str"):
            return theirs.levels > 1 or theirs.scalar == "u64"  # CUdeviceptr is an integer
        return theirs.levels == 1 and (theirs.scalar == "struct" or _width(ours.type) == _width(theirs.scalar))
    if ours.type == "str":
        return theirs.levels == 1 and theirs.scalar == "char"
    if ours.type == "ptr" and theirs.levels:
        return True
    return theirs.levels == 0 and _width(ours.type) == _width(theirs.scalar)


def _width(scalar: str) -> str:
    return _SAME_WIDTH.get(scalar, scalar)


def _result_fits(ours: str, theirs: CType) -> bool:
    if ours in ("str", "ptr"):
        return theirs.levels > 0
    return theirs.levels == 0 and ("i32" if ours == "status" else _width(ours)) == _width(theirs.scalar)


def _compare_enum(name: str, ours: Any, theirs: dict[str, int] | None, target: Target) -> Iterator[str]:
    if theirs is None:
        yield f"{name}: no such enum in the headers"
        return
    for member, value in ours.__members__.items():
        found = {number for full, number in theirs.items() if full.endswith(f"_{member}")}
        if value in found or f"{name}.{member}" in target.varying:
            continue
        yield f"{name}.{member} is {int(value)} in the table, {sorted(found) or 'absent'} in C"


def _against_symbols(library: Any, target: Target) -> Iterator[str]:
    opened = library.opened()
    for c_name in dict.fromkeys(row.c_name for row in library.rows()):
        exported = opened.address(c_name) is not None
        if not exported and c_name not in target.not_exported:
            yield f"{c_name}: not exported by {opened.title} {opened.version}"
