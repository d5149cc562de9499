"""The recorded surface of the original's bindings (``tests/api/bindings.txt``): facts that names are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from nvmath.bindings import _rows

_FILE = Path(__file__).parents[2] / "tests" / "api" / "bindings.txt"


@dataclass(slots=True)
class Recorded:
    """The functions (name -> parameters), enumerations (name -> base, members) and classes of a module."""

    functions: dict[str, list[str]] = field(default_factory=dict)
    enums: dict[str, tuple[str, dict[str, int]]] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)


@cache
def recorded() -> dict[str, Recorded]:
    """Module -> what is recorded of it."""
    modules: dict[str, Recorded] = {}
    current = Recorded()
    for line in _rows.lines(_FILE.read_text(encoding="utf-8")):
        if line.startswith("module "):
            current = modules[line.removeprefix("module ").strip()] = Recorded()
        elif line.startswith("class "):
            name, _, facts = line.removeprefix("class ").partition(":")
            current.classes[name] = facts.strip()
        elif line.startswith("Int"):
            current.enums.update(_rows.enums(line))
        else:
            name, _, parameters = line.partition("(")
            current.functions[name] = [item.strip() for item in parameters.rstrip(")").split(",") if item.strip()]
    return modules
