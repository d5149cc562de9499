"""How long an array must be: one line of text for functions that are alike, checked for arrays whose size is known.

The grammar, by example::

    * x=vector(n,inc_x) y=vector(n,inc_y)           # parameters of these names in the functions that follow
    {s,d,c,z}swap {s,d,c,z}copy {4,8,8,16}:         # names (as in Python, without ``_64``) and bytes of an element
    {s,d}rotm {4,8}: p=5                            # a parameter of its own, or another length
    {s,d,c,z}gemv {4,8,8,16}: a=matrix(layout,m,n,lda)

A length is an expression of the other arguments, in elements. What C reads by type (``i32[]``) has the size of that type.
Addresses are not checked: nothing is known of what lies there.

Where ``alpha`` or an extent of the result is 0, what C only reads may be shorter: it does not count. Zeros of the right length
take its place then, because not every library leaves it alone.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsFloat

from nvmath.bindings._addresses import address_of
from nvmath.bindings._rows import Row, expand, lines

#: Name -> bytes of an element, parameter -> expression.
Lengths = dict[str, tuple[int, dict[str, str]]]

#: CBLAS: matrices in rows; operations that do not transpose, and the left side.
_ROWS, _PLAIN = 101, frozenset({111, 114, 141})
#: Arguments that leave nothing to read where they are 0.
_FACTORS = frozenset({"alpha", "m", "n"})
_C64 = 8


def lengths(text: str) -> Lengths:
    """The lengths in a text."""
    found: Lengths = {}
    common: dict[str, str] = {}
    for line in lines(text):
        if line.startswith("*"):
            common = _pairs(line[1:])
            continue
        head, _, own = line.partition(":")
        *names, size = head.split()
        for family in names:
            found.update(
                (name, (int(bytes_), common | _pairs(own)))
                for name, _, bytes_ in (one.partition(" ") for one in expand(f"{family} {size}"))
            )
    return found


def _pairs(text: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in text.split())


class _Rule(NamedTuple):
    """How long one array must be."""

    at: int
    name: str
    typed: bool
    replaceable: bool
    expression: str
    needed: Callable[..., float]


def _rules(row: Row, expressions: dict[str, str]) -> list[_Rule]:
    listed = ", ".join(p.name for p in row.arguments)
    return [
        _Rule(
            at,
            p.name,
            p.array,
            p.type == "cbuf" and p.name not in ("alpha", "beta"),
            expressions[p.name],
            eval(f"lambda {listed}: {expressions[p.name]}", _WORDS),
        )
        for at, p in enumerate(row.arguments)
        if p.is_array and p.name in expressions
    ]


def check_of(row: Row, size: int, expressions: dict[str, str]) -> tuple[list[str], Callable[..., list[Any] | None]]:
    """The parameters of a row whose lengths are known, and what is called with all its arguments.

    That raises ValueError, and returns other arguments where others must take their place.
    """
    rules = _rules(row, expressions)
    factors = [(at, p.is_array) for at, p in enumerate(row.arguments) if p.name in _FACTORS]

    def check(*arguments: Any) -> list[Any] | None:
        others = None
        for rule in rules:
            given = _elements(arguments[rule.at], size, rule.typed)
            if given is None:
                continue
            try:
                enough = given >= (wanted := rule.needed(*arguments))
            except TypeError:  # an argument of a wrong type, which the call itself refuses, or an address
                continue
            if enough:
                continue
            if rule.replaceable and any(_is_zero(arguments[at], size, there) for at, there in factors):
                others = others or list(arguments)
                others[rule.at] = bytes(math.ceil(wanted * size))
                continue
            unit = "elements" if rule.typed else f"elements of {size} bytes"
            needs = f"{rule.name} needs {wanted:g} {unit} ({rule.expression})"
            raise ValueError(f"{row.name}(): {needs}, got room for {given:g}")
        return others

    return [rule.name for rule in rules], check


def _is_zero(value: Any, size: int, in_memory: bool) -> bool:
    """Whether a factor is 0: a number, or a complex number in memory."""
    if not in_memory:
        return isinstance(value, SupportsFloat) and float(value) == 0
    address = address_of(value)
    if address == 0:
        return False
    found = memoryview(value).tobytes()[:size] if address is None else ctypes.string_at(address, size)
    return not any(struct.unpack("2f" if size == _C64 else "2d", found))


def _elements(value: Any, size: int, typed: bool) -> float | None:
    """How many elements an argument has, or None where that is not known."""
    if address_of(value) is not None:
        return None
    try:
        view = memoryview(value)
    except (TypeError, BufferError, ValueError):  # a sequence, or what the call itself refuses
        return len(value) if typed and hasattr(value, "__len__") else None
    if not typed and not view.contiguous:  # which the call refuses, however long it is
        return None
    return view.nbytes / (view.itemsize if typed else size)


def _vector(n: int, inc: int) -> int:
    return 1 + (n - 1) * abs(inc) if n > 0 else 0


def _lines(n: int, each: int, ld: int) -> int:
    """`n` lines of `each` elements, `ld` apart."""
    return (n - 1) * ld + each if n > 0 and each > 0 else 0


def _matrix(layout: int, m: int, n: int, ld: int) -> int:
    return _lines(m, n, ld) if layout == _ROWS else _lines(n, m, ld)


#: What expressions may use.
_WORDS: dict[str, Any] = {
    "__builtins__": {"sum": sum},
    "vector": _vector,
    "lines": _lines,
    "matrix": _matrix,
    "packed": lambda n: n * (n + 1) // 2 if n > 0 else 0,
    "pick": lambda flag, plain, other: plain if flag in _PLAIN else other,
    "band": lambda layout, m, n, width, ld: _lines(m if layout == _ROWS else n, width, ld),
    "strided": lambda count, stride, each: _lines(count, each, stride),
}
