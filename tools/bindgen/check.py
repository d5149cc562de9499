"""Checks the committed rows against headers and against what the installed libraries export."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from nvmath.bindings import _load
from nvmath.bindings._rows import ADAPTED, MEMORY, Parameter, Row
from tools.bindgen.headers import CType, Function
from tools.bindgen.packages import Edition, editions, number
from tools.bindgen.targets import TARGETS, Target

_SAME_WIDTH = {"usize": "u64", "ptr": "u64"}


def problems(name: str) -> Iterator[str]:
    """What is wrong with the rows of one library; notes only if neither its headers nor its file are installed."""
    yield from against_headers(name)
    yield from against_symbols(name)


def against_headers(name: str) -> Iterator[str]:
    """How the rows differ from every edition of the headers that is there."""
    target = TARGETS[name]
    library = importlib.import_module(target.module)._library
    found = editions(target)
    if not found:
        yield f"note: {target.headers[0]} is not installed: the rows are not checked against headers"
    for edition in found:
        yield from _against_edition(library, target, edition)


def against_symbols(name: str) -> Iterator[str]:
    """What the installed library lacks."""
    target = TARGETS[name]
    library = importlib.import_module(target.module)._library
    if _load.find_library(library.library) is None:
        yield f"note: {library.library} is not installed: its symbols are not checked"
        return
    opened = library.opened()
    for row in library.rows():
        exported = opened.address(row.c_name) is not None
        if not exported and not re.search(target.not_exported, row.c_name) and not row.versions:
            yield f"{row.c_name}: not exported by {opened.title} {opened.version}"


def _against_edition(library: Any, target: Target, edition: Edition) -> Iterator[str]:
    special = library.tables.special()
    for row in library.rows():
        function = edition.headers.functions.get(row.c_name)
        if row.c_name in special or not covers(row.versions, edition.version):
            continue
        if function is not None:
            yield from (f"{edition.version}: {line}" for line in differences(row, function))
        elif not re.search(target.not_in_headers, row.c_name):
            yield f"{edition.version}: {row.c_name} is not declared"


def covers(span: str, version: str) -> bool:
    """Whether a span of versions (``1.2+``, ``-1.2``, ``1.2-1.4``, '' for all) holds a version."""
    first, dash, last = span.rstrip("+").partition("-")
    return (not first or number(version) >= number(first)) and (not dash or number(version) <= number(last))


def differences(row: Row, function: Function) -> Iterator[str]:
    """In what a row differs from the declaration."""
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
    if ours.type in ADAPTED:
        return theirs.levels == 1 and (ours.type == "null" or theirs.scalar == "struct")
    if ours.type in MEMORY:
        same = not ours.item or theirs.scalar == "void" or _width(ours.item) == _width(theirs.scalar)
        return theirs.levels > 0 and (ours.type == "cbuf" or not theirs.constant) and same
    if ours.out or ours.array or ours.by_address:
        if theirs.levels == 0 or (ours.out and theirs.constant and theirs.levels == 1):
            return False
        if theirs.scalar == "void" and theirs.levels == 1:
            return True
        if ours.type in ("ptr", "str"):
            return theirs.levels > 1 or theirs.scalar == "u64"  # CUdeviceptr is an integer
        return theirs.levels == 1 and (
            theirs.scalar in ("struct", "c64", "c128") or _width(ours.type) == _width(theirs.scalar)
        )
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
