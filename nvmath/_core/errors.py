"""The exceptions that operations share.

Exception *types* follow the library whose interface this package implements, so that ``except`` clauses written for it keep
working; what is added here are common bases and texts that say what was expected, what was given and what to do.
"""

from __future__ import annotations


class InvalidStateError(Exception):
    """An object was used after it had been freed."""


class UngradedWarning(UserWarning):
    """A tensor that requires a gradient was used; the result is cut from the autograd graph."""


def join(values: object) -> str:
    """Write the legal choices of an option for an error text."""
    return ", ".join(repr(value) for value in values)  # type: ignore[attr-defined]
