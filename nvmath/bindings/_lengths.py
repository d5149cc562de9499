"""How long an array must be: one line of text for functions that are alike, checked for arrays whose size is known.

The grammar, by example::

    * x=vector(n,inc_x) y=vector(n,inc_y)           # parameters of these names in the functions that follow
    {s,d,c,z}swap {s,d,c,z}copy:                    # names (as in Python, without ``_64``)
    {s,d}rotm: p=5                                  # a parameter of its own, or another length
    {s,d,c,z}gemv: a=matrix(layout,m,n,lda)

A length is an expression of the other arguments, in elements: items of the row's ``buf<T>``, or of ``T[]``.
Addresses are not checked: nothing is known of what lies there.

Where ``alpha`` or an extent of the result is 0, what C only reads may be shorter: it does not count. Zeros of the right length
take its place then, because not every library leaves it alone.

Where an array is checked, so are the arguments of CBLAS that say how it is read: what they may not be, MKL prints on the
standard error, and returns as if it had worked.
"""

from __future__ import annotations

import ctypes
import math
import operator
import re
import struct
import sys
from collections.abc import Callable
from itertools import repeat
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

from nvmath.bindings._addresses import address_of
from nvmath.bindings._rows import Parameter, Row, expand, lines

#: Name -> parameter -> expression.
Lengths = dict[str, dict[str, str]]

#: CBLAS: matrices in rows; operations that do not transpose, and the left side.
_ROWS, _PLAIN = 101, frozenset({111, 141})
#: What its arguments may be.
_VALUES: dict[str, tuple[int, ...]] = dict.fromkeys(("layout", "order"), (101, 102))
_VALUES |= {"uplo": (121, 122), "diag": (131, 132), "side": (141, 142)}
_VALUES |= dict.fromkeys(("trans", "trans_a", "trans_b"), (111, 112, 113))
#: What the transposition of complex products of a matrix with itself may be: no conjugate where the result is symmetric, none without.
_OF_COMPLEX: dict[str, tuple[int, ...]] = {"syr": (111, 112), "her": (111, 113)}
_RANK_K = re.compile(r"[cz](syr|her)2?k(_64)?")
_EXTENTS = frozenset({"m", "n", "k", "kl", "ku", "batch_size", "group_count", "group_size"})
_NO_TRANSPOSE = 111
#: Formats of integers in memory.
_INTEGERS = frozenset("iIlLqQ")
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
        found.update((name, common | _pairs(own)) for family in head.split() for name in expand(family))
    return found


def _pairs(text: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in text.split())


class _Rule(NamedTuple):
    """How long one array must be."""

    at: int
    parameter: Parameter
    expression: str
    needed: Callable[..., float]

    @property
    def replaceable(self) -> bool:
        """Whether zeros may take its place."""
        return self.parameter.type == "cbuf" and self.parameter.name not in ("alpha", "beta")

    def refuse(self, function: str, why: str) -> ValueError:
        """The error for an array that does not fit."""
        return ValueError(f"{function}(): {self.parameter.name} {why}")


def _rules(row: Row, expressions: dict[str, str]) -> list[_Rule]:
    listed = ", ".join(p.name for p in row.arguments)
    return [
        _Rule(at, p, expressions[p.name], eval(f"lambda {listed}: {expressions[p.name]}", _WORDS))
        for at, p in enumerate(row.arguments)
        if p.is_array and p.name in expressions
    ]


def check_of(row: Row, expressions: dict[str, str]) -> tuple[list[str], Callable[..., list[Any] | None]]:
    """The parameters of a row whose lengths are known, and what is called with all its arguments.

    That raises ValueError, and returns other arguments where others must take their place.
    """
    rules = _rules(row, expressions)
    factors = [(at, p) for at, p in enumerate(row.arguments) if p.name in _FACTORS]
    names = {p.name for p in row.arguments}
    matrices, groups = bool(names & {"layout", "order"}), "group_count" in names
    values = _values_of(row)

    def check(*arguments: Any) -> list[Any] | None:
        if matrices:
            _check_numbers(row, values, arguments)
        others = None
        for rule in rules:
            size = rule.parameter.item_size
            given = _elements(arguments[rule.at], size)
            try:
                wanted = rule.needed(*arguments)
                enough = given is None or given >= wanted
            except TypeError:  # an argument of a wrong type, which the call itself refuses, or an address
                continue
            except ValueError as unfit:
                raise rule.refuse(row.name, f"{unfit} ({rule.expression})") from None
            if enough:
                continue
            if rule.replaceable and any(_is_zero(arguments[at], p) for at, p in factors):
                others = others or list(arguments)
                others[rule.at] = bytes(math.ceil(wanted * size))
                continue
            unit = f"elements of {size} bytes" if size else "elements"
            raise rule.refuse(row.name, f"needs {wanted:g} {unit} ({rule.expression}), got room for {given:g}")
        if groups:
            _check_groups(row, values, arguments)
        return others

    return [rule.parameter.name for rule in rules], check


def _values_of(row: Row) -> dict[str, tuple[int, ...]]:
    """What some arguments of a function of CBLAS may be."""
    complex_result = _RANK_K.fullmatch(row.name)
    return _VALUES if complex_result is None else _VALUES | {"trans": _OF_COMPLEX[complex_result[1]]}


def _check_numbers(row: Row, values: dict[str, tuple[int, ...]], arguments: tuple[Any, ...]) -> None:
    """Refuses what the functions of CBLAS for matrices do not take."""
    for p, value in zip(row.arguments, arguments, strict=True):
        _check_number(row, values, p.name, p.name, value)


def _check_number(row: Row, values: dict[str, tuple[int, ...]], called: str, name: str, value: Any) -> None:
    known = values.get(name, ())
    try:
        number = operator.index(value)
    except TypeError:  # which the call itself refuses, if it is none of the others
        return
    if known and number not in known:
        wanted = f"{', '.join(map(str, known[:-1]))} or {known[-1]}"
    elif name in _EXTENTS and number < 0:
        wanted = "0 or more"
    elif name.startswith("inc_") and number == 0:
        wanted = "other than 0"
    else:
        return
    raise ValueError(f"{row.name}(): {called} must be {wanted}, got {number}")


#: Of a product in groups: its matrices, how they may be transposed, and their rows and columns.
_OF_GROUPS = (("a", "trans_a", "m", "k"), ("b", "trans_b", "k", "n"), ("c", "", "m", "n"))


def _check_groups(row: Row, values: dict[str, tuple[int, ...]], arguments: tuple[Any, ...]) -> None:
    """Refuses groups of a batch that the functions of CBLAS do not take, as far as their numbers are known; all are there by now."""
    given = {p.name: value for p, value in zip(row.arguments, arguments, strict=True)}
    count = given["group_count"]
    if not isinstance(count, SupportsIndex):  # which the call itself refuses
        return
    count = operator.index(count)
    known = {name.removesuffix("_array"): _members(value, count) for name, value in given.items()}
    for name in given:
        for member in known[name.removesuffix("_array")] or ():
            _check_number(row, values, name, name.removesuffix("_array"), member)
    for matrix, *shape in _OF_GROUPS:
        columns = [known[name] if name else repeat(_NO_TRANSPOSE) for name in (*shape, f"ld{matrix}")]
        for group, (flag, m, n, ld) in enumerate(zip(*(each or () for each in columns), strict=False)):
            least = max(1, (m, n)[(given["order"] == _ROWS) == (flag in _PLAIN)])
            if ld < least:
                raise ValueError(f"{row.name}(): ld{matrix}_array must be {least} or more in group {group}, got {ld}")


def _members(value: Any, count: int) -> list[int] | None:
    """The first integers of a list, a tuple or an array of integers; None of anything else: it is an address, or the call refuses it."""
    if not isinstance(value, list | tuple):
        try:
            view = memoryview(value)
        except TypeError:
            return None
        value = _integers(view, count)
        if value is None:
            return None
    members = value[:count]
    return list(members) if len(members) == count and all(isinstance(one, SupportsIndex) for one in members) else None


def _integers(view: memoryview, count: int) -> list[int] | None:
    """The first integers in memory, if that is what is there and it has no gaps."""
    kind = view.format.lstrip("@=<" if sys.byteorder == "little" else "@=>")  # ctypes says which byte comes first
    if view.ndim != 1 or not view.contiguous or kind not in _INTEGERS or struct.calcsize(kind) != view.itemsize:
        return None
    return view.cast("B").cast(kind)[:count].tolist()  # type: ignore[call-overload,no-any-return]


def _is_zero(value: Any, p: Parameter) -> bool:
    """Whether a factor is 0: a number, or a complex number in memory."""
    if not p.is_array:
        return isinstance(value, SupportsFloat) and float(value) == 0
    address = address_of(value)
    if address == 0:
        return False
    size = p.item_size
    found = memoryview(value).tobytes()[:size] if address is None else ctypes.string_at(address, size)
    return not any(struct.unpack("2f" if size == _C64 else "2d", found))


def _elements(value: Any, size: int) -> float | None:
    """How many elements an argument has, or None where that is not known; of `size` bytes, or of any."""
    if address_of(value) is not None:
        return None
    try:
        view = memoryview(value)
    except (TypeError, BufferError, ValueError):  # a sequence, or what the call itself refuses
        return len(value) if not size and hasattr(value, "__len__") else None
    of_another_type = view.itemsize not in (1, size) and not view.format.startswith("T")
    if size and (of_another_type or not view.contiguous):  # which the call refuses, however long it is
        return None
    return view.nbytes / (size or view.itemsize)


def _vector(n: int, inc: int) -> int:
    return 1 + (n - 1) * abs(inc) if n > 0 else 0


def _strided(n: int, stride: int, each: int) -> int:
    if stride < 0:
        raise ValueError(f"must have its matrices 0 elements apart or more, got {stride}")
    return (n - 1) * stride + each if n > 0 and each > 0 else 0


def _lines(n: int, each: int, ld: int) -> int:
    """`n` lines of `each` elements, `ld` apart."""
    if ld < max(each, 1):
        raise ValueError(
            f"has lines of {each} elements, so its leading dimension must be {max(each, 1)} or more, got {ld}"
        )
    return _strided(n, ld, each)


def _matrix(layout: int, m: int, n: int, ld: int) -> int:
    return _lines(m, n, ld) if layout == _ROWS else _lines(n, m, ld)


def _apart(count: int, stride: int, layout: int, m: int, n: int, ld: int) -> int:
    """Results that must not overlap: MKL wants whole leading dimensions between them."""
    least = max(1, ld * (m if layout == _ROWS else n))
    if stride < least:
        raise ValueError(f"must have its matrices {least} elements apart or more, got {stride}")
    return _strided(count, stride, _matrix(layout, m, n, ld))


#: What expressions may use.
_WORDS: dict[str, Any] = {
    "__builtins__": {"sum": sum},
    "vector": _vector,
    "apart": _apart,
    "lines": _lines,
    "matrix": _matrix,
    "packed": lambda n: n * (n + 1) // 2 if n > 0 else 0,
    "pick": lambda flag, plain, other: plain if flag in _PLAIN else other,
    "band": lambda layout, m, n, width, ld: _lines(m if layout == _ROWS else n, width, ld),
    "strided": _strided,
}
