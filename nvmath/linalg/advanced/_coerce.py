"""From what callers pass to what is meant: options objects, dicts of fields, qualifiers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Final, TypeVar

import numpy as np

from ..._core.dtypes import DTYPES
from ..._core.keywords import constructed
from ..._enums import CudaDataType

T = TypeVar("T")

matrix_qualifiers_dtype: Final = np.dtype([("structure", object), ("is_conjugate", np.int32)])
"""The dtype of an array of qualifiers; only ``is_conjugate`` is used."""


def suggestion(name: object, known: Iterable[str]) -> str:
    """Say which of the known names was probably meant, or list them all."""
    names = list(known)
    folded = {each.lower(): each for each in names}
    close = difflib.get_close_matches(str(name).lower(), folded, 1)
    return f"Did you mean {folded[close[0]]!r}?" if close else f"The known names are: {', '.join(names)}."


def member(kind: Any, value: Any, name: str) -> Any:
    """Return a member of an enumeration, or None; also from its name, in any case and with or without the part that all names share.

    Raises
    ------
    ValueError
        The value is no member; the text lists them, or says which name was probably meant.
    """
    if value is None:
        return None
    if type(value) is str:
        return _named(kind, value, name)
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(each.name for each in kind)
        raise ValueError(
            f"{name} must be None or a member of {kind.__name__}, not {value!r}. Members: {known}."
        ) from None


@cache
def _names(kind: Any) -> dict[str, Any]:
    """The members of an enumeration by every name that is accepted: of data types also that of the dtype."""
    full = {each.name.lower(): each for each in kind}
    starts = {name[: name.find("_") + 1] for name in full}
    shared = starts.pop() if len(starts) == 1 else ""
    short = {name.removeprefix(shared): each for name, each in full.items()}
    dtypes = {row.name: kind(row.code) for row in DTYPES.values() if row.code >= 0} if kind is CudaDataType else {}
    return {**short, **dtypes, **full}


def _named(kind: Any, value: str, name: str) -> Any:
    accepted = _names(kind)
    found = accepted.get(value.lower())
    if found is None:
        close = difflib.get_close_matches(value.lower(), accepted, 1)
        hint = f"Did you mean {accepted[close[0]].name}?" if close else f"Members: {', '.join(each.name for each in kind)}."
        raise ValueError(f"{name} must be None or a member of {kind.__name__}, not {value!r}. {hint}")
    return found


def flags(kind: Any, value: Any, name: str) -> Any:
    """Return bits; of a text the members that it names, joined by ``|``."""
    if type(value) is not str:
        return value
    found = 0
    for each in value.split("|"):
        found |= int(_named(kind, each.strip(), name))
    return found


def natural(value: Any, name: str, least: int = 0) -> int:
    """Return an integer that is not less than the least, and not negative.

    Raises
    ------
    ValueError
        The value is something else.
    """
    if not hasattr(value, "__index__"):
        raise ValueError(f"{name} must be an integer, not {value!r}.")
    number = int(value)  # not operator.index: torch.compile recurses without end into that of an enumeration
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}.")
    return number


def coerce(cls: type[T], value: Any, name: str) -> T:
    """Accept an object, a dict of its fields, or None for the defaults.

    Raises
    ------
    TypeError
        The value is of another kind, or a dict holds a field that the class does not have.
    """
    if value is None:
        return cls()
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        raise TypeError(
            f"{name} must be None, a {cls.__name__} object or a dict of its fields, not {type(value).__name__}."
        )
    known = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # a dataclass
    for key in value:
        if key not in known:
            raise TypeError(
                f"{name} has an unexpected keyword {key!r}: {cls.__name__} has no such field. {suggestion(key, known)}"
            )
    return constructed(cls, value)


def shown(value: Any) -> str:
    """Write an options object with those fields only that differ from their defaults."""
    changed = [
        f"{field.name}={_text(getattr(value, field.name))}"
        for field in fields(value)
        if getattr(value, field.name) is not field.default and getattr(value, field.name) != field.default
    ]
    return f"{type(value).__name__}({', '.join(changed)})"


def _text(value: Any) -> str:
    name = getattr(value, "name", None)
    return f"{type(value).__name__}.{name}" if isinstance(value, int) and name else repr(value)


def coerce_qualifiers(value: Any) -> tuple[bool, bool]:
    """Return whether A and B are conjugated.

    Raises
    ------
    ValueError
        The value is no array of ``matrix_qualifiers_dtype`` with an entry for each operand, or C is conjugated.
    """
    if value is None:
        return False, False
    array = np.asarray(value)
    if array.dtype != matrix_qualifiers_dtype:
        raise ValueError(f"The dtype of qualifiers must be matrix_qualifiers_dtype, not {array.dtype}.")
    if array.ndim != 1 or len(array) not in (2, 3):
        raise ValueError(f"qualifiers must hold one entry for each of A, B and C: shape (3,), not {array.shape}.")
    flags = [bool(flag) for flag in array["is_conjugate"]]
    if any(flags[2:]):
        raise ValueError("The qualifier of C cannot be conjugated. Pass the conjugate of C.")
    return flags[0], flags[1]
