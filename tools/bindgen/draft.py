"""Writes draft rows and enum tables from headers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from nvmath.bindings._rows import python_name
from tools.bindgen.headers import CType, Function, Headers

_WIDTH = 118
#: Out-parameters are not marked in C: these names of non-const pointers are a good first guess.
_OUT = re.compile(r"(handle|plan|prog|size\w*|version|value|ret|count|major|minor|result|status|num\w*|info)$", re.I)


def rows(headers: Headers, prefix: str) -> Iterator[str]:
    """One draft row per function, in the order of the headers."""
    for function in headers.functions.values():
        listed = ", ".join(_parameter(name, type_) for name, type_ in function.parameters)
        text = f"{function.name}({listed}){_result(function)}"
        yield from textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)


def enums(headers: Headers, prefix: str) -> Iterator[str]:
    """One draft table per enum whose name starts like the library's."""
    for name, members in headers.enums.items():
        if name.lower().startswith(prefix.lower()) and not name.startswith("_") and not name.endswith("_t"):
            shared = _shared_prefix(list(members))
            items = " ".join(f"{member.removeprefix(shared)}={value}" for member, value in members.items())
            title = name[len(prefix) :] or name
            yield from textwrap.wrap(f"IntEnum {title}: {items}", _WIDTH, subsequent_indent="    ")


def _shared_prefix(names: list[str]) -> str:
    words = [name.split("_") for name in names]
    shared: list[str] = []
    for parts in zip(*words, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    depth = min(len(shared), *(len(word) - 1 for word in words)) if words else 0
    return "".join(f"{part}_" for part in shared[:depth])


def _parameter(name: str, type_: CType) -> str:
    ours = python_name(name, "") or "unnamed"
    if type_.levels == 0:
        return f"{ours}: {type_.scalar}"
    if type_.scalar == "char" and type_.levels == 1:
        return f"{ours}: {'str' if type_.constant else 'char[]'}"
    if type_.levels > 1 or not type_.constant:
        pointee = "ptr" if type_.levels > 1 else type_.scalar
        if pointee not in ("void", "struct") and _OUT.search(name):
            return f"&{ours}: {pointee}"
    return f"{ours}: ptr" if type_.scalar in ("void", "struct") or type_.levels > 1 else f"{ours}: {type_.scalar}[]"


def _result(function: Function) -> str:
    result = function.result
    if result.levels:
        return " -> str" if result.scalar == "char" else " -> ptr"
    return "" if result.scalar == "i32" else f" -> {result.scalar}"
