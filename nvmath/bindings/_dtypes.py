"""What the attributes of descriptors hold: one line of text per function that says so.

The grammar::

    get_plan_attribute_dtype PlanAttribute uint64 REQUIRED_WORKSPACE
    get_mat_desc_attribute_dtype MatDescAttribute int64 BATCH_STRIDE int32 *

After the name of the function and of the enumeration: NumPy types, each before the members that have it; ``*`` is the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nvmath.bindings._errors import UnknownAttributeError
from nvmath.bindings._rows import lines

#: Function -> enumeration, member -> NumPy type.
Dtypes = dict[str, tuple[str, dict[str, str]]]


def dtypes(text: str) -> Dtypes:
    """The functions in a text."""
    found: Dtypes = {}
    for line in lines(text):
        function, enum, *words = line.split()
        kinds, kind = {}, ""
        for word in words:
            if word[0].islower():
                kind = word
            else:
                kinds[word] = kind
        found[function] = enum, kinds
    return found


def dtype_function(name: str, enum: Callable[[int], Any], kinds: dict[str, str], module: str) -> Callable[[int], Any]:
    """The function that returns the NumPy type of the value of an attribute."""

    def dtype_of(attr: int) -> Any:
        import numpy as np

        try:
            member = enum(attr).name
        except ValueError:
            raise UnknownAttributeError(f"{name}(): {attr!r} is no value of {enum.__name__}") from None
        kind = kinds.get(member, kinds.get("*"))
        if kind is None:
            raise UnknownAttributeError(f"{name}(): {enum.__name__}.{member} has no value of a known type")
        return getattr(np, kind)

    dtype_of.__name__ = dtype_of.__qualname__ = name
    dtype_of.__module__ = module
    dtype_of.__doc__ = f"""Return the NumPy type of the value of an attribute.

    Parameters
    ----------
    attr : int
        A value of ``{enum.__name__}``.

    Returns
    -------
    type
        A scalar type of NumPy.

    Raises
    ------
    KeyError
        There is no such attribute, or its type is not fixed (also a `ValueError`).
    """
    return dtype_of
