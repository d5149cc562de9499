"""Folds rows that differ in a type letter or in the width of their integers into one line each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from nvmath.bindings._rows import Parameter, Row, python_name


@dataclass(frozen=True, slots=True)
class Folded:
    """The text of a line before it is wrapped, piece by piece."""

    python: str
    c_name: str
    parameters: tuple[tuple[str, str], ...]
    result: str

    def __str__(self) -> str:
        name = f"{self.python} = " if self.python else ""
        listed = ", ".join(f"{name}: {type_}" for name, type_ in self.parameters)
        result = "" if self.result == "status" else f" -> {self.result}"
        return f"{name}{self.c_name}({listed}){result}"


def fold(rows: list[Row], prefix: str) -> Iterator[str]:
    """The lines for some rows, in their order."""
    yield from (str(line) for line in _letters(_widths([_single(row, prefix) for row in rows])))


def _single(row: Row, prefix: str) -> Folded:
    python = "" if python_name(row.c_name, prefix) == row.name else row.name
    return Folded(python, row.c_name, tuple(map(_written, row.parameters)), row.result)


def _written(p: Parameter) -> tuple[str, str]:
    return ("&" if p.out else "") + p.name, p.written


def _widths(lines: list[Folded]) -> list[Folded]:
    """``f`` and ``f_64`` become ``f[_64]``."""
    known = {line.c_name: line for line in lines}
    folded: list[Folded] = []
    for line in lines:
        wide = known.get(line.c_name + "_64")
        narrow = known.get(line.c_name.removesuffix("_64")) if line.c_name.endswith("_64") else None
        if narrow is not None and _two_widths(narrow, line) is not None:
            continue
        folded.append(line if wide is None else _two_widths(line, wide) or line)
    return folded


def _two_widths(narrow: Folded, wide: Folded) -> Folded | None:
    if narrow.result != wide.result or len(narrow.parameters) != len(wide.parameters):
        return None
    if (narrow.python and narrow.python + "_64") != wide.python:
        return None
    parameters = []
    for (name, type_), (other, wider) in zip(narrow.parameters, wide.parameters, strict=True):
        if name != other or wider not in (type_, type_.replace("i32", "i64")):
            return None
        parameters.append((name, type_ if type_ == wider else type_.replace("i32", "int")))
    return replace(narrow, c_name=narrow.c_name + "[_64]", parameters=tuple(parameters))


def _letters(lines: list[Folded]) -> list[Folded]:
    """Lines that differ by one letter of S, D, C, Z become one line with braces."""
    groups: dict[tuple[object, ...], list[tuple[str, Folded]]] = {}
    for line in lines:
        groups.setdefault(_stem(line), []).append((_letter(line), line))
    return [_braced(group) for group in groups.values()]


_HEAD = re.compile(r"(cusolver(?:Dn|Sp)|cblas_|LAPACKE_|[a-z]+)([SDCZ]|(?<=_)[sdcz])(.*)")
#: Two letters: the precisions of the system and of the factorization.
_PAIR = re.compile(r"(cusolverDn)([SDCZ][A-Z])(ge\w+)")


def _split(line: Folded) -> tuple[str, str, str, str]:
    """What is before the type letters of a C name, the letters, what comes after them, the Python name after them."""
    for pattern in (_PAIR, _HEAD):
        match = pattern.fullmatch(line.c_name)
        if match and line.python.startswith(match[2].lower() if line.python else ""):
            return match[1], match[2], match[3], line.python[len(match[2]) :]
    return line.c_name, "", "", line.python


def _stem(line: Folded) -> tuple[object, ...]:
    head, letter, tail, python = _split(line)
    return (head, tail, python, len(letter), tuple(name for name, _ in line.parameters)) if letter else (line.c_name,)


def _letter(line: Folded) -> str:
    return _split(line)[1]


def _braced(group: list[tuple[str, Folded]]) -> Folded:
    first = group[0][1]
    if len(group) == 1:
        return first
    head, _, tail, python = _split(first)
    columns = zip(*(line.parameters for _, line in group), strict=True)
    parameters = tuple((column[0][0], _one_or_braces([type_ for _, type_ in column])) for column in columns)
    letters = ",".join(letter for letter, _ in group)
    python = f"{{{letters.lower()}}}{python}" if python else ""
    return Folded(python, f"{head}{{{letters}}}{tail}", parameters, _one_or_braces([line.result for _, line in group]))


def _one_or_braces(items: list[str]) -> str:
    if len(set(items)) == 1:
        return items[0]
    heads = {item.partition("<")[0] for item in items}
    if len(heads) == 1 and all(item.endswith(">") for item in items):
        head = heads.pop()
        return f"{head}<{_one_or_braces([item[len(head) + 1 : -1] for item in items])}>"
    return "{" + ",".join(items) + "}"
