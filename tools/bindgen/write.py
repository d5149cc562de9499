"""Makes the rows and enum tables of a library from headers, from what is recorded, and from the rows that are there."""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nvmath.bindings._rows import ITEMS, MEMORY, Parameter, Row, python_name
from tools.bindgen.families import fold
from tools.bindgen.headers import CType, Function
from tools.bindgen.packages import Edition, joined
from tools.bindgen.recorded import Recorded, recorded
from tools.bindgen.targets import TARGETS, Target

_WIDTH = 118
_KEYWORDS = {"in": "in_", "lambda": "lambda_", "set": "set_", "from": "from_", "global": "global_", "is": "is_"}
#: Out-parameters are not marked in C: for functions that nothing is recorded of, these names of pointers to non-const.
_OUT = r"(?i)(handle|plan|desc|descr|prog|code|size\w*|version|commit|value|ret|count|major|minor|status|strategy|mode|stream)$"


@dataclass(frozen=True, slots=True)
class Written:
    """The text of both tables, and what a reader should know."""

    rows: str
    enums: str
    notes: tuple[str, ...]


def write(target: Target, editions: list[Edition], current: Any) -> Written:
    """The tables of one library; `current` is its `Bindings`, whose rows are kept where they fit."""
    known = recorded().get(target.module, Recorded())
    kept = {row.c_name: row for row in current.rows()}
    if target.like:
        model = importlib.import_module(TARGETS[target.like].module)._library
        kept |= {row.c_name: row._replace(section="") for row in model.rows()}
    special = current.tables.special()
    notes: list[str] = []
    sections: dict[str, list[Row]] = {}
    for name, (function, versions) in joined(editions).items():
        if target.skip and re.search(target.skip, name):
            continue
        row = None if name in special else _row(function, target, known, kept, notes)
        if row is not None:
            row = _on_host(row, function, target)
            sections.setdefault(f"@ {target.header or function.header}{versions}", []).append(row)
    made = {row.name for rows in sections.values() for row in rows}
    notes += [f"recorded, but not declared: {name}" for name in known.functions if name not in made]
    lines = [line for head, rows in sections.items() for line in (head, *_wrapped(fold(rows, target.prefix)))]
    return Written("\n".join(lines), "\n".join(_wrapped(_enums(target, editions, known, notes))), tuple(notes))


def _wrapped(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        wrapped = textwrap.wrap(
            line.replace(": ", ":\0").replace(" -> ", "\0->\0") if "(" in line else line,
            _WIDTH,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (part.replace("\0", " ") for part in wrapped)


# ------------------------------------------------------------------------------------------------------------- rows


def _row(function: Function, target: Target, known: Recorded, kept: dict[str, Row], notes: list[str]) -> Row | None:
    from tools.bindgen.check import differences

    before = kept.get(function.name)
    if before is not None and not list(differences(before, function)):
        return before
    name = _python_name(function.name, target, known)
    c_names = [_name(c_name, at) for at, (c_name, _) in enumerate(function.parameters)]
    wanted = known.functions.get(name)
    outs = _outs(function, c_names, wanted, target)
    if wanted is not None and len(wanted) != len(c_names) - len(outs):
        notes.append(f"{function.name}{tuple(c_names)} is recorded as {name}{tuple(wanted)}: write it by hand")
        return None
    if any(type_.levels == 0 and type_.scalar == "struct" for _, type_ in function.parameters):
        notes.append(f"{function.name} takes a structure by value: write it by hand")
        return None
    given = iter(wanted or ())
    parameters = [
        _parameter(c_names[at] if at in outs or wanted is None else next(given), type_, at in outs, function, target)
        for at, (_, type_) in enumerate(function.parameters)
    ]
    row = Row(function.name, name, tuple(parameters), _result(function, target))
    wrong = list(differences(row, function))
    notes += [f"{line}: write it by hand" for line in wrong]
    return None if wrong else row


def _on_host(row: Row, function: Function, target: Target) -> Row:
    """The row with better types for memory on the host."""
    parameters = []
    for p, (_, type_) in zip(row.parameters, function.parameters, strict=True):
        better = "" if p.out else _host_type(f"{function.name}.{p.name}", p, type_, target)
        array, better = better.endswith("[]"), better.removesuffix("[]")
        p = p._replace(type=better, array=array) if better else p
        parameters.append(p._replace(item=_item(p, type_)) if p.type in MEMORY else p)
    return row._replace(parameters=tuple(parameters))


def _item(p: Parameter, type_: CType) -> str:
    """What memory holds; where C says ``void *`` the row may know better."""
    return (
        "" if type_.levels > 1 else p.item if type_.scalar == "void" else type_.scalar if type_.scalar in ITEMS else ""
    )


def _host_type(where: str, p: Parameter, type_: CType, target: Target) -> str:
    """``cbuf``, ``buf``, ``T[]`` or, for an address that may lie anywhere and for what is good already, ''."""
    memory = "cbuf" if type_.constant else "buf"
    if type_.levels == 0 or not (p.type == "ptr" or p.array):
        return ""
    if target.records and re.search(target.records, where):
        return memory
    if (
        p.array
        or not target.host
        or not re.search(target.host, where)
        or (type_.scalar == "struct" and type_.levels == 1)
    ):
        return ""
    if type_.levels > 1:
        return "str[]" if type_.scalar == "char" else "ptr[]"
    if type_.constant and type_.scalar in ITEMS and target.sequences and re.search(target.sequences, where):
        return f"{type_.scalar}[]"
    return memory


def _python_name(c_name: str, target: Target, known: Recorded) -> str:
    """The recorded name that has the same letters, or the mechanical one."""
    if c_name.endswith("_64") and not target.wide and python_name(c_name, target.prefix) not in known.functions:
        return _python_name(c_name.removesuffix("_64"), target, known) + "_64"
    bare = c_name.removesuffix("_64") if target.wide else c_name
    mechanical = python_name(re.sub(f"^({target.also})", "", bare) if target.also else bare, target.prefix)
    alike = [name for name in known.functions if _loose(name) == _loose(mechanical)]
    return mechanical if mechanical in alike or not alike else alike[0]


def _name(c_name: str, at: int) -> str:
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", c_name)).lower().strip("_")
    return _KEYWORDS.get(name, name) or f"argument{at}"


def _loose(name: str) -> str:
    return name.replace("_", "").lower()


def _outs(function: Function, c_names: list[str], wanted: list[str] | None, target: Target) -> set[int]:
    """Indices of the out-parameters: what is recorded without them, or a guess."""
    able = [at for at, (_, type_) in enumerate(function.parameters) if _returnable(type_) or _own(type_, target)]
    if wanted is None:
        return {at for at in able if re.search(target.outs or _OUT, function.parameters[at][0])}
    missing = len(c_names) - len(wanted)
    recorded_ = [_loose(item) for item in wanted]
    left = [at for at in able if _loose(c_names[at]) not in recorded_]
    return set(left[-missing:]) if missing > 0 else set()


def _own(type_: CType, target: Target) -> bool:
    """Whether C fills a structure that the caller has allocated."""
    return target.owned and type_.levels == 1 and type_.scalar == "struct" and not type_.constant


def _returnable(type_: CType) -> bool:
    if type_.levels == 0 or (type_.constant and type_.levels == 1):
        return False
    return type_.levels > 1 or type_.scalar not in ("void", "struct", "c64", "c128")


def _parameter(name: str, type_: CType, out: bool, function: Function, target: Target) -> Parameter:
    if out and _own(type_, target):
        return Parameter(name, "new")
    if target.owned and function.name.endswith("Destroy"):
        return Parameter(name, "end")
    if out:
        return Parameter(
            name,
            "str" if type_.levels > 1 and type_.scalar == "char" else "ptr" if type_.levels > 1 else type_.scalar,
            out=True,
        )
    if type_.levels == 0:
        return Parameter(name, type_.scalar)
    if type_.scalar == "char" and type_.constant and type_.levels == 1:
        return Parameter(name, "str")
    return Parameter(name, "ptr")


def _result(function: Function, target: Target) -> str:
    result = function.result
    if result.levels:
        return "str" if result.scalar == "char" and result.levels == 1 else "ptr"
    if target.values and re.search(target.values, function.name):
        return result.scalar
    return "status" if result.scalar == "i32" and re.search(target.statuses, result.spelling, re.I) else result.scalar


# ------------------------------------------------------------------------------------------------------------ enums


def _enums(target: Target, editions: list[Edition], known: Recorded, notes: list[str]) -> Iterator[str]:
    """A table per recorded enumeration and per new one of the headers."""
    used: set[str] = set()
    declared: dict[str, dict[str, int]] = {}
    for edition in editions:
        for name, members in edition.headers.enums.items():
            declared[name] = {**declared.get(name, {}), **members}
    for name, (base, members) in known.enums.items():
        c_name = target.enums.get(name) or _counterpart(name, members, declared, target)
        if c_name is None:
            notes.append(f"enum {name}: no counterpart in the headers")
        else:
            used.add(c_name)
        newest = declared.get(c_name or "", {})
        yield _table(base, name, _members(name, members, newest, notes), list(newest))
    for c_name, members in declared.items() if not target.only_recorded_enums else ():
        name = _enum_name(c_name, target)
        if name and c_name not in used and name not in known.enums and not re.search(target.skip_enums, c_name):
            shared = _shared_prefix(list(members)) or _library_prefix(list(members), target.prefix)
            yield _table("IntEnum", name, {member.removeprefix(shared): value for member, value in members.items()}, [])


def _table(base: str, name: str, members: dict[str, int], order: list[str]) -> str:
    """Of members of one value the first declared is the name, the others are aliases."""

    def key(item: tuple[str, int]) -> tuple[int, int]:
        return item[1], next((at for at, full in enumerate(order) if _ends(full, item[0])), len(order))

    return f"{base} {name}: " + " ".join(f"{member}={value}" for member, value in sorted(members.items(), key=key))


def _enum_name(c_name: str, target: Target) -> str:
    """The name of an enumeration that is not recorded, or '' for one that is not the library's."""
    bare = c_name.removesuffix("_t")
    if not bare.lower().startswith(target.prefix.lower()) or c_name.startswith("_"):
        return ""
    rest = bare if target.whole_enum_names else bare[len(target.prefix) :]
    return rest[:1].upper() + rest[1:] if rest[:1].isalpha() else ""


def _counterpart(name: str, members: dict[str, int], declared: dict[str, dict[str, int]], target: Target) -> str | None:
    """The C enumeration that a recorded one is: most members, then the likest name."""

    def score(c_name: str) -> tuple[int, int]:
        theirs = declared[c_name]
        agreed = sum(any(_ends(full, m) and value == v for full, value in theirs.items()) for m, v in members.items())
        return agreed, _loose(c_name).removesuffix("t").endswith(_loose(name))

    named = [c for c in declared if _loose(c.removesuffix("_t")).endswith(_loose(name))]
    best = max(named or declared, key=score, default=None)
    if best is None or score(best)[0] * 2 < len(members):
        best = max(declared, key=score, default=None)
    return best if best is not None and score(best)[0] * 2 >= len(members) else None


def _ends(full: str, member: str) -> bool:
    return full == member or full.endswith("_" + member) or full.upper().endswith(member.upper())


def _members(name: str, ours: dict[str, int], theirs: dict[str, int], notes: list[str]) -> dict[str, int]:
    """The recorded members, and those that the headers have more."""
    prefix = _prefix_of(ours, theirs)
    added = {}
    for full, value in theirs.items():
        short = full.removeprefix(prefix)
        if short in ours and ours[short] != value:
            notes.append(f"enum {name}.{short}: {ours[short]} is recorded, {value} declared")
        if (
            short not in ours
            and not re.search(r"(^|_)(END|RESERVED)$", short)
            and prefix
            and full.startswith(prefix)
            and short.isidentifier()
            and not any(_ends(full, m) for m in ours)
        ):
            added[short] = value
    return {**ours, **added}


def _prefix_of(ours: dict[str, int], theirs: dict[str, int]) -> str:
    """What the recorded members were shortened by: the commonest one."""
    counts: dict[str, int] = {}
    for member, value in ours.items():
        for full, other in theirs.items():
            if other == value and full.endswith(member):
                counts[full.removesuffix(member)] = counts.get(full.removesuffix(member), 0) + 1
    return max(counts, key=lambda prefix: counts[prefix], default="")


def _library_prefix(names: list[str], prefix: str) -> str:
    """The library's name, where every member starts with it (``ncclSum``)."""
    return prefix if all(re.match(f"{prefix}[A-Z]", name) for name in names) else ""


def _shared_prefix(names: list[str]) -> str:
    words = [name.split("_") for name in names]
    shared: list[str] = []
    for parts in zip(*words, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    depth = min(len(shared), *(len(word) - 1 for word in words)) if words else 0
    prefix = "".join(f"{part}_" for part in shared[:depth])
    return prefix if all(name.removeprefix(prefix).isidentifier() for name in names) else ""
