"""One-call solutions: a planned solver is leased from the plan cache, or made and then kept there."""

from __future__ import annotations

import zlib
from dataclasses import fields
from typing import Any, Final

from ..._core.arrays import adapter_of
from ..._core.cache import plan_cache
from ..._core.options import coerce_options
from ..._core.place import Cuda
from ...bindings import _cuda as driver
from ...bindings import mkl_pardiso
from ._operands import Stored, take_all
from ._options import (
    DirectSolverFactorizationPreferences,
    DirectSolverOptions,
    DirectSolverPlanPreferences,
    DirectSolverSolutionPreferences,
    coerce_execution,
)
from ._solver import DirectSolver
from ._systems import PatternChangedError

_PREFERENCES: Final = (
    ("plan_preferences", DirectSolverPlanPreferences), ("factorization_preferences", DirectSolverFactorizationPreferences),
    ("solution_preferences", DirectSolverSolutionPreferences),
)  # fmt: skip
_SHARE: Final = 16
"""What part of the memory of a GPU kept factors may take by default: one in so many."""
Settings = tuple[tuple[str, Any], ...]


def call(a: Any, b: Any, options: Any, preferences: tuple[Any, Any, Any], execution: Any, stream: Any) -> Any:
    """Solve once, with the plan of an earlier call of the same metadata and pattern when there is one."""
    settings = () if preferences == (None, None, None) else _settings(preferences)
    options = None if options is None else coerce_options(DirectSolverOptions, options)
    key, operands = _key(a, b, options, settings, execution)
    solver = None if key is None else plan_cache.take(key)
    if solver is not None:
        try:
            return _solve(key, solver, operands, stream)
        except PatternChangedError:  # of a matrix in GPU memory, whose pattern is not part of the key
            solver = None
    solver = _open(a, b, options, settings, execution, stream)
    return _solve(key, solver, None, stream)


def _open(a: Any, b: Any, options: Any, settings: Settings, execution: Any, stream: Any) -> DirectSolver:
    """Make and plan a solver."""
    solver = DirectSolver(a, b, options=options, execution=execution, stream=stream)
    try:
        for name, value in settings:
            solver._config.set(name, value)
        solver.plan(stream=stream)
    except BaseException:
        solver.free()
        raise
    return solver


def _solve(key: Any, solver: DirectSolver, operands: tuple[Any, ...] | None, stream: Any) -> Any:
    """Factorize and solve, and keep the solver; one that fails is given up."""
    try:
        solver._refuse_capture(stream)
    except BaseException:
        plan_cache.give(key, solver)  # nothing has been done with it
        raise
    try:
        if operands is not None:
            solver._reset_unchecked(operands, stream)
        solver.factorize(stream=stream)
        result = solver.solve(stream=stream)
    except BaseException:
        plan_cache.discard(solver)
        raise
    if solver._stack is None:  # the cache has not counted it yet
        solver._nbytes = solver._plan_object.nbytes
        if key is not None and isinstance(solver._place, Cuda):
            plan_cache.make_room(driver.device_total_mem(driver.device_get(solver._place.device_id)) // _SHARE)
    solver._forget()
    plan_cache.give(key, solver)
    return result


def _key(
    a: Any, b: Any, options: DirectSolverOptions | None, settings: Settings, execution: Any
) -> tuple[Any, tuple[Any, ...] | None]:
    """Everything that a plan depends on, or None if the call must not be cached, and the arrays of the operands."""
    if options is not None and (options.logger is not None or options.handle is not None):
        return None, None
    try:
        stored, many = take_all(a)
        several = isinstance(b, list | tuple)
        sides = tuple(b) if several else (b,)
        looks = tuple(map(_look, stored)), tuple([(type(side), adapter_of(side).look(side)[1]) for side in sides])
        where = execution if execution is None or isinstance(execution, str) else repr(coerce_execution(execution))
        asked = None if options is None else (
            options.sparse_system_type, options.sparse_system_view, options.multithreading_lib, options.blocking, options.on_failure
        )  # fmt: skip
        key = ("sparse", many, several, looks, asked, settings, where, mkl_pardiso.present())
        hash(key)
    except (TypeError, ValueError, AttributeError):  # construction will say what is wrong
        return None, None
    arrays = stored[0].arrays if not many else tuple(array for one in stored for array in one.arrays)
    return key, (*arrays, *sides)


def _look(stored: Stored) -> tuple[Any, ...]:
    """The metadata of a matrix, and a digest of its pattern where that is in host memory."""
    look = adapter_of(stored.arrays[2]).look
    seen = tuple(look(array)[1] for array in stored.arrays)
    first, second, _ = stored.arrays
    digest = 0
    if stored.package == "scipy":
        digest = zlib.crc32(second, zlib.crc32(first))
    elif stored.package == "torch" and first.device.type == "cpu":
        digest = zlib.crc32(second.numpy(), zlib.crc32(first.numpy()))
    return stored.package, stored.format, stored.shape, seen, digest


def _settings(preferences: tuple[Any, Any, Any]) -> Settings:
    """The settings that are given."""
    made: list[tuple[str, Any]] = []
    for (name, cls), value in zip(_PREFERENCES, preferences, strict=True):
        if value is not None and not isinstance(value, cls | dict):
            raise TypeError(
                f"{name} must be None, a {cls.__name__} object or a dict of its fields, not {type(value).__name__}."
            )
        group: Any = coerce_options(cls, value)
        made += [(field.name, given) for field in fields(cls) if (given := getattr(group, field.name)) is not None]
    return tuple(made)
