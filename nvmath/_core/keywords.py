"""Keywords that a constructor or a method does not have: where they belong, or which one was probably meant.

Only a call that fails pays for more than one call of Python. The one-call functions leave their keywords to Python, since whatever looks
at them costs every call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from difflib import get_close_matches
from functools import wraps
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_CONSTRUCTORS: Final = ("__new__", "__init__")
_METHODS: Final = ("__init__", "plan", "autotune", "factorize", "execute", "solve", "reset_operand", "reset_operands")
"""Where a keyword is looked for that a method does not have, in this order."""
_SHORT: Final = 40
"""Longer values are not repeated in a text."""


def explained(*, executions: tuple[type, ...] = (), **groups: type) -> Callable[[F], F]:
    """Decorate a method: a keyword that it does not have is refused with a text that says where it belongs.

    Parameters
    ----------
    executions : tuple of type
        The classes whose fields belong into ``execution``, where they are not those of `_core`.
    **groups : type
        For each parameter that takes an options object or a dict of its fields: its class.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def wrapper(self: Any, *args: Any, **given: Any) -> Any:
            try:
                return function(self, *args, **given)
            except TypeError as error:
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise  # the call began: it is about something else
                unexpected = [name for name in given if name not in _named(function)]
                if not unexpected:
                    raise
                text = _text(_owner(self, wrapper), function, unexpected[0], given[unexpected[0]])
            raise TypeError(text)

        wrapper._groups, wrapper._executions = groups, executions  # type: ignore[attr-defined]
        return wrapper  # type: ignore[return-value]

    return decorate


def explained_fields(cls: type[T]) -> type[T]:
    """Decorate a dataclass: a field that it does not have is refused with a text that says which was probably meant."""
    cls.__init__ = explained()(cls.__init__)  # type: ignore[method-assign]
    return cls


def constructed(cls: type[T], given: Any) -> T:
    """Make an object of fields whose names have been checked, at no more than that costs."""
    made = object.__new__(cls)
    getattr(cls.__init__, "__wrapped__", cls.__init__)(made, **given)
    return made


def _owner(self: Any, method: Callable[..., Any]) -> type:
    """The class that has the method: a class of the user may have another one, which passes on what it was given."""
    cls = self if isinstance(self, type) else type(self)
    entries = ((base, base.__dict__.get(method.__name__)) for base in cls.__mro__)
    return next((base for base, entry in entries if getattr(entry, "__func__", entry) is method), cls)


def _named(function: Callable[..., Any], kinds: tuple[Any, ...] = _BY_NAME) -> list[str]:
    """The parameters that can be given by name, or those of other kinds."""
    parameters = list(inspect.signature(function).parameters.values())[1:]  # without self
    return [each.name for each in parameters if each.kind in kinds]


def _text(cls: type, function: Callable[..., Any], name: str, value: Any) -> str:
    """Say what was given, and what to do."""
    shown = repr(value)
    shown = shown if len(shown) <= _SHORT and "\n" not in shown else "..."
    constructs = function.__name__ in _CONSTRUCTORS
    called = cls.__name__ if constructs else f"{cls.__name__}.{function.__name__}"
    remedy = _remedy(cls, "__init__" if constructs else function.__name__, name, shown)
    return f"{called}() got an unexpected keyword argument {name!r}. {remedy}"


def _remedy(cls: type, called: str, name: str, shown: str) -> str:
    own = getattr(cls, called)
    if name in _named(own, (inspect.Parameter.POSITIONAL_ONLY,)):
        return f"{name!r} is given by position, without its name."
    places: dict[str, str] = {}
    for known, place in _everywhere(cls, called, shown):
        places.setdefault(known, place)
    if name in places:
        return f"It {places[name]}"
    near = get_close_matches(name, [*_named(own), *places], 1)
    if near:
        return f"Did you mean {near[0]!r}?" + (f" It {places[near[0]]}" if near[0] in places else "")
    return f"There are {', '.join(map(repr, _named(own))) or 'none'}."


def _everywhere(cls: type, called: str, shown: str) -> Iterator[tuple[str, str]]:
    """What is no argument of a method but belongs into one of its groups, or to another method; each with a sentence of where."""
    own = getattr(cls, called)
    yield from _grouped(own, shown, "")
    taken = _named(own)
    for each in _METHODS:
        method = getattr(cls, each, None)
        if method is not None and method is not own:
            there = f" of {cls.__name__}{'' if each == '__init__' else '.' + each}()"
            yield from ((known, f"is an argument{there}.") for known in _named(method) if known not in taken)
            yield from _grouped(method, shown, there)


def _grouped(method: Any, shown: str, there: str) -> Iterator[tuple[str, str]]:
    for group, cls in getattr(method, "_groups", {}).items():
        for field in fields(cls):
            yield field.name, f"belongs into {group}=...{there}, e.g. {group}={{{field.name!r}: {shown}}}."
    if "execution" in _named(method):
        from .options import EXECUTIONS

        classes: Any = getattr(method, "_executions", ()) or EXECUTIONS.values()
        for cls in classes:
            for field in fields(cls):
                example = f"{{'name': {cls.name!r}, {field.name!r}: {shown}}}"
                yield field.name, f"belongs into execution=...{there}, e.g. execution={example}."
