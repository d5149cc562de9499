"""Copies of functions: with the values that they read now, or with helpers that one compiler can call."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from .references import is_known, references

__all__ = ["freeze", "plain_function", "retarget"]

#: Turns a helper function or a compiled helper into one that the compiler at hand can call; anything else comes back
#: as it is.
Adapter = Callable[[Any], Any]


def plain_function(value: Any) -> types.FunctionType | None:
    """The Python function behind `value`: itself, or what numba compiled; None for anything else."""
    if isinstance(value, types.FunctionType):
        return value
    inner = getattr(value, "py_func", None)
    if isinstance(inner, types.FunctionType) and type(value).__module__.startswith("numba"):
        return inner
    return None


def freeze(function: types.FunctionType) -> types.FunctionType:
    """Copy `function` with the globals and closure values that it and its helpers read now, so that its digest stays true.

    Arrays are copied, because their content could change before the function is compiled.
    """
    return _freeze(function, ())


def _freeze(function: types.FunctionType, under_way: tuple[types.FunctionType, ...]) -> types.FunctionType:
    def still(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.copy(order="K")
        helper = plain_function(value)
        if helper is None or helper in under_way or helper is function or is_known(helper.__module__):
            return value
        frozen = _freeze(helper, (*under_way, function))
        return frozen if value is helper else _compiled_alike(value, frozen)

    return _copy(function, still)


def _compiled_alike(dispatcher: Any, function: types.FunctionType) -> Any:
    """Give a frozen helper to numba with the options that its original has; it is compiled when it is first called."""
    options = {name: option for name, option in getattr(dispatcher, "targetoptions", {}).items() if name != "nopython"}
    if type(dispatcher).__module__.startswith("numba.cuda"):
        return import_module("numba.cuda").jit(**options)(function)
    return import_module("numba").njit(**options)(function)


def retarget(function: types.FunctionType, adapt: Adapter) -> types.FunctionType:
    """Copy `function` with every value that it reads passed through `adapt`."""
    return _copy(function, adapt)


def _copy(function: types.FunctionType, change: Adapter) -> types.FunctionType:
    code = function.__code__
    found = references(code)
    globals_ = {
        name: _changed(function.__globals__[name], attributes, change)
        for name, attributes in _by_first(found.globals).items()
        if name in function.__globals__
    }
    globals_["__name__"] = function.__module__
    globals_["__builtins__"] = function.__globals__.get("__builtins__", builtins)
    inside = _by_first(found.cells)
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    closure = tuple(_copy_cell(cell, inside.get(name, [()]), change) for name, cell in cells)
    copy = types.FunctionType(code, globals_, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    return copy


Path = tuple[str, ...]


def _by_first(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Group paths by their first name; the values are what follows it."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        groups.setdefault(path[0], []).append(path[1:])
    return groups


def _changed(value: Any, attributes: list[Path], change: Adapter) -> Any:
    """Apply `change` to `value`, or to those attributes of a user's module that are read."""
    if not isinstance(value, types.ModuleType) or is_known(value.__name__) or () in attributes:
        return _whole(value, change)
    module = types.ModuleType(value.__name__)
    for name, inner in _by_first(attributes).items():
        if hasattr(value, name):
            setattr(module, name, _changed(getattr(value, name), inner, change))
    return module


def _whole(value: Any, change: Adapter) -> Any:
    """Apply `change` to a value; of a user's module, of which any part may be read, to all that it holds."""
    if not isinstance(value, types.ModuleType) or is_known(value.__name__):
        return change(value)
    module = types.ModuleType(value.__name__)
    vars(module).update({name: change(item) for name, item in vars(value).items() if not name.startswith("__")})
    return module


def _copy_cell(cell: types.CellType, attributes: list[Path], change: Adapter) -> types.CellType:
    try:
        content = cell.cell_contents
    except ValueError:  # not assigned yet
        return types.CellType()
    return types.CellType(_changed(content, attributes, change))
