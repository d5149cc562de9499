"""What a user may ask: the execution classes and the coercion of every accepted spelling.

``NVMATH_EXECUTION`` (``cpu`` or ``cuda``) is read once, when this module is imported; it replaces only ``execution=None``.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, ClassVar, Final, TypeVar

from .keywords import constructed, explained_fields

T = TypeVar("T")


@explained_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionCUDA:
    """Run on a GPU.

    Parameters
    ----------
    device_id : int, default 0
        The GPU for operands in host memory. Operands in GPU memory are always processed where they are.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.fft.ExecutionCUDA().name
    'cuda'
    """

    name: ClassVar[str] = "cuda"
    device_id: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "device_id", _count(self.device_id, "device_id", 0))


@explained_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionCPU:
    """Run on the host.

    Parameters
    ----------
    num_threads : int, optional
        Number of threads; ``None`` uses every core that the process may run on, fewer for small problems.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.fft.ExecutionCPU(num_threads=2)
    ExecutionCPU(num_threads=2)
    """

    name: ClassVar[str] = "cpu"
    num_threads: int | None = None

    def __post_init__(self) -> None:
        if self.num_threads is not None:
            object.__setattr__(self, "num_threads", _count(self.num_threads, "num_threads", 1))


Execution = ExecutionCUDA | ExecutionCPU
EXECUTIONS: Final[dict[str, type[Execution]]] = {"cuda": ExecutionCUDA, "cpu": ExecutionCPU}


def _count(value: Any, name: str, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, not {value!r}.") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}.")
    return number


def available_threads() -> int:
    """Number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _from_environment() -> str | None:
    name = os.environ.get("NVMATH_EXECUTION", "").strip().lower() or None
    if name is not None and name not in EXECUTIONS:
        raise ValueError(f"NVMATH_EXECUTION={name!r} is not one of {', '.join(EXECUTIONS)}.")
    return name


ENVIRONMENT_EXECUTION: Final = _from_environment()


def execution_named(name: Any, arguments: Mapping[str, Any] | None = None) -> Execution:
    """Build an execution object from a name in any letter case and its arguments."""
    key = name.lower() if isinstance(name, str) else None
    if key not in EXECUTIONS:
        raise ValueError(
            f"The execution {name!r} is not one of {', '.join(map(repr, EXECUTIONS))}. Pass one of these names, a dict like "
            '{"name": "cpu", "num_threads": 2}, or an ExecutionCPU or ExecutionCUDA object.'
        )
    made = EXECUTIONS[key]
    return made(**named(arguments or {}, (field.name for field in fields(made)), f"An execution on {key!r}"))


def coerce_execution(value: Any, default: str) -> Execution:
    """Accept an execution object, a name, a dict, or None for the default of the operation.

    Raises
    ------
    ValueError
        The name or the kind of the object is unknown.
    TypeError
        A dict holds an entry that the execution class does not have.
    """
    if value is None:
        return execution_named(ENVIRONMENT_EXECUTION or default)
    if isinstance(value, ExecutionCUDA | ExecutionCPU):
        return value
    if isinstance(value, Mapping):
        arguments = dict(value)
        name = arguments.pop("name", None)
        return execution_named(default if name is None else name, arguments)
    return execution_named(value)


def named(given: Mapping[Any, Any], known: Iterable[str], owner: str) -> Mapping[str, Any]:
    """Return a dict of the user's if it holds known names only.

    Raises
    ------
    TypeError
        It holds others; the text names the nearest one that there is.
    """
    known = tuple(known)
    for name in given:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{owner} has no {name!r}.{meant} There are {', '.join(map(repr, known)) or 'no options'}.")
    return given


def coerce_options(cls: type[T], value: Any) -> T:
    """Accept an options object, a dict of its fields, or None for the defaults.

    The caller's object is returned as it is and must not be modified.

    Raises
    ------
    TypeError
        The value is of another kind, or a dict holds a field that the options class does not have.
    """
    if value is None:
        return cls()
    if isinstance(value, cls):
        return value
    if isinstance(value, Mapping):
        return constructed(cls, named(value, (field.name for field in fields(cls) if field.init), cls.__name__))  # type: ignore[arg-type]
    raise TypeError(f"options must be None, a {cls.__name__} object or a dict of its fields, not {type(value).__name__}.")
