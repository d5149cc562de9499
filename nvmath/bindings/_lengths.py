"""How long an array must be: one line of text for functions that are alike, checked for arrays whose size is known.

The grammar, by example::

    * x=vector(n,inc_x) y=vector(n,inc_y)           # parameters of these names in the functions that follow
    {s,d,c,z}swap {s,d,c,z}copy {4,8,8,16}:         # names (as in Python, without ``_64``) and bytes of an element
    {s,d}rotm {4,8}: p=5                            # a parameter of its own, or another length
    {s,d,c,z}gemv {4,8,8,16}: a=matrix(layout,m,n,lda)

A length is an expression of the other arguments, in elements. What C reads by type (``i32[]``) has the size of that type.
Addresses are not checked: nothing is known of what lies there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nvmath.bindings._rows import Row, expand, lines

#: Name -> bytes of an element, parameter -> expression.
Lengths = dict[str, tuple[int, dict[str, str]]]

#: CBLAS: matrices in rows; operations that do not transpose, and the left side.
_ROWS, _PLAIN = 101, frozenset({111, 114, 141})


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


def check_of(row: Row, size: int, expressions: dict[str, str]) -> tuple[list[str], Callable[..., None]]:
    """The parameters of a row whose lengths are known, and what is called with all its arguments; raises ValueError."""
    names = [p.name for p in row.arguments]
    arrays = [p for p in row.arguments if p.is_array and p.name in expressions]
    listed = ", ".join(names)
    rules = [
        (
            names.index(p.name),
            p.name,
            p.array,
            expressions[p.name],
            eval(f"lambda {listed}: {expressions[p.name]}", _WORDS),
        )
        for p in arrays
    ]

    def check(*arguments: Any) -> None:
        for at, name, typed, expression, needed in rules:
            given = _elements(arguments[at], size, typed)
            if given is None:
                continue
            try:
                short = given < (wanted := needed(*arguments))
            except TypeError:  # an argument of a wrong type, which the call itself refuses, or an address
                continue
            if short:
                unit = "elements" if typed else f"elements of {size} bytes"
                raise ValueError(f"{row.name}(): {name} needs {wanted:g} {unit} ({expression}), got room for {given:g}")

    return [p.name for p in arrays], check


def _elements(value: Any, size: int, typed: bool) -> float | None:
    """How many elements an argument has, or None where that is not known."""
    if value is None or isinstance(value, int):
        return None
    try:
        view = memoryview(value)
    except TypeError:  # a sequence, or what the call itself refuses
        return len(value) if typed and hasattr(value, "__len__") else None
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
