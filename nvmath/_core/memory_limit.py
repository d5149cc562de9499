"""Limits on memory: a number of bytes, a fraction, or a text such as ``"80%"`` or ``"2 GiB"``."""

from __future__ import annotations

import re
from numbers import Integral, Real
from typing import Any, Final

_NUMBER: Final = r"(\+?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)"
_PERCENT: Final = re.compile(_NUMBER + r" *% *")
_BYTES: Final = re.compile(_NUMBER + r" *(?:([kKmMgG])([iI]?))?[bB] *")
_MOST: Final = 1 << 63
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3}
_FORMS: Final = (
    "Pass a number of bytes (int), a fraction of the memory (float in [0, 1]), a percentage such as '80%', or a size such as "
    "'500 MB' or '2 GiB'."
)


def bytes_of(value: Any, total: int, name: str = "memory_limit") -> int:
    """Return the number of bytes that a limit means on a device with `total` bytes.

    Raises
    ------
    ValueError
        The value has none of the forms, or is out of range; the text names the forms.
    """
    if isinstance(value, str):
        return _of_text(value, total, name)
    if isinstance(value, bool) or not isinstance(value, Integral | Real):
        raise ValueError(f"{name} = {value!r} is no memory limit. {_FORMS}")
    number = int(value) if isinstance(value, Integral) else float(value)
    if not 0 <= number < _MOST:
        raise ValueError(f"{name} is out of range: a limit is a number from 0 to 2**63. {_FORMS}")
    return int(number * total) if isinstance(number, float) and number <= 1 else int(number)


def check(value: Any, name: str = "memory_limit") -> None:
    """Raise what is wrong with a limit, before a device is known."""
    bytes_of(value, 1 << 40, name)


def _of_text(value: str, total: int, name: str) -> int:
    if match := _PERCENT.fullmatch(value):
        percent = float(match[1])
        if not 0 < percent <= 100:
            raise ValueError(f"{name} = {value!r} is out of range: percentages go from above 0 to 100.")
        return int(percent / 100 * total)
    if match := _BYTES.fullmatch(value):
        base = 1024 if match[3] else 1000
        nbytes = float(match[1]) * base ** _POWERS[(match[2] or "").lower()]
        if nbytes >= _MOST:
            raise ValueError(f"{name} = {value!r} is out of range: more than 2**63 bytes.")
        return int(nbytes)
    raise ValueError(f"{name} = {value!r} is no memory limit. {_FORMS}")
