"""The engine behind every binding module: rows -> functions, tables -> enums, each at its first use (PEP 562).

A binding module is a docstring, its rows, its enum table, and::

    _library = Bindings(
        "cufft", globals(), prefix="cufft", rows=_ROWS, enums=_ENUMS, errors=Errors("cuFFTError", "CUFFT_", "Result")
    )
    __getattr__, __dir__ = _library.resolve, _library.names

which also puts the class of errors and ``check_status`` there. What `resolve` makes is stored in the module's globals,
so a later access is a plain attribute. A function asked for before the library is open is a Python function of the right
signature that opens the library at its first call and puts the bound function in its place. Code in the module itself
writes ``_library.name(...)``. Names that start with an underscore are private rows.

Tests replace a library by a Python object with `substitute`.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from nvmath.bindings import _load, _rows, _seam
from nvmath.bindings._callbacks import logger_setter
from nvmath.bindings._errors import FunctionNotFoundError, LibraryNotFoundError
from nvmath.bindings._fork import held_at_fork
from nvmath.bindings._functions import forwarding_function
from nvmath.bindings._owned import owning_function
from nvmath.bindings._records import record_class, records
from nvmath.bindings._status import Errors

__all__ = ["Bindings", "Errors", "FunctionNotFoundError", "LibraryNotFoundError", "status_name", "substitute"]

_lock = held_at_fork(threading.RLock())
_everyone: list[Bindings] = []
_substitutes: dict[str, object] = {}


_Index = dict[str, tuple[str, str]]
_Enums = dict[str, tuple[str, dict[str, int]]]
_Records = dict[str, list[tuple[str, str]]]


class Bindings:
    """The rows and enums of one library, in one module.

    Parameters
    ----------
    library : str
        Its name in `nvmath.bindings._load`.
    namespace : dict
        The module's globals: what is built goes there.
    rows, enums : str
        Tables in the grammar of `nvmath.bindings._rows`.
    records : str
        Structures, in that of `nvmath.bindings._records`.
    prefix : str
        What the C names start with.
    wide : bool
        A bracket ``[_64]`` stands for the function with 64-bit integers alone.
    errors : Errors, optional
        What a nonzero status raises. The first module that uses it is its home.
    on_error : callable, optional
        Instead of it: called with a nonzero status; raises.
    error : str
        What that raises, for docstrings.

    Attributes
    ----------
    state : dict
        For the module's own use; emptied when a test substitutes the library.
    """

    def __init__(
        self,
        library: str,
        namespace: dict[str, Any],
        *,
        rows: str,
        prefix: str,
        enums: str = "",
        records: str = "",
        wide: bool = False,
        errors: Errors | None = None,
        on_error: Callable[[int], object] | None = None,
        error: str = "RuntimeError",
    ) -> None:
        self.library = library
        self.module: str = namespace["__name__"]
        self.state: dict[str, Any] = {}
        self._namespace = namespace
        self._texts = (rows, enums, records)
        self._prefix = prefix
        self._wide = wide
        self.errors = errors
        self._on_error = on_error
        self._error = errors.name if errors is not None else error
        self._built: dict[str, Any] = {}
        self._tables: tuple[_Index, _Enums, _Records] | None = None
        _everyone.append(self)
        if errors is not None:
            errors.install(self, namespace)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.resolve(name)

    def resolve(self, name: str) -> Any:
        """The function or enum called `name`, built now if this is its first use."""
        built = self._built.get(name)
        if built is not None:
            return built
        with _lock:
            rows, enums, records = self._read()
            if name in records:
                return self._keep(name, record_class(name, records[name], self.module, self.resolve))
            if name in enums:
                return self._keep(name, self._enum(name, *enums[name]))
            if name in rows:
                row = _rows.parse(rows[name][0], self._prefix, rows[name][1])
                if row.c_name.endswith("LoggerSetCallback"):
                    return self._keep(name, self._logger_setter(row))
                if any(p.type in ("new", "end") for p in row.parameters):
                    return self._keep(name, self._owning(row))
                bound = self._bind_if_open(row)
                return self._unbound(row) if bound is None else self._keep(name, bound)
        raise AttributeError(f"module '{self.module}' has no attribute '{name}'")

    def _keep(self, name: str, made: Any) -> Any:
        made = self._built.setdefault(name, made)
        if not name.startswith("_"):
            self._namespace.setdefault(name, made)
        return made

    def names(self) -> list[str]:
        """What ``dir(module)`` lists."""
        tables = {name for table in self._read() for name in table if not name.startswith("_")}
        return sorted(tables | set(self._namespace))

    def rows(self) -> list[_rows.Row]:
        """Every row, parsed (for checks and documentation)."""
        return [_rows.parse(row, self._prefix, section) for row, section in self._read()[0].values()]

    def enums(self) -> list[str]:
        """The names of every enum."""
        return list(self._read()[1])

    def structures(self) -> _Records:
        """Every structure: name -> fields."""
        return self._read()[2]

    def has(self, c_name: str) -> bool:
        """Whether the library (opened now if need be) has a C function."""
        substitute_ = _substitutes.get(self.library)
        if substitute_ is not None:
            return hasattr(substitute_, c_name)
        return self.opened().address(c_name) is not None

    def opened(self) -> _load.Library:
        """The library itself, opened at the first call."""
        return _load.open_library(self.library, needed_by=self.module)

    @property
    def substituted(self) -> object | None:
        """The object that a test put in the library's place, or None."""
        return _substitutes.get(self.library)

    def _read(self) -> tuple[_Index, _Enums, _Records]:
        if self._tables is None:
            rows, enums, structures = self._texts
            self._tables = _rows.index(rows, self._prefix, wide=self._wide), _rows.enums(enums), records(structures)
        return self._tables

    def _enum(self, name: str, base: str, members: dict[str, int]) -> type[enum.Enum]:
        kind: Any = enum.IntFlag if base == "IntFlag" else enum.IntEnum
        made = kind(name, members, module=self.module, qualname=name)
        made.__doc__ = f"Values of the C type behind ``{name}``."
        return made  # type: ignore[no-any-return]

    def _bind_if_open(self, row: _rows.Row) -> Callable[..., Any] | None:
        """The bound function if that takes no opening and the function is there."""
        stand_in = _substitutes.get(self.library)
        if stand_in is not None:
            return getattr(stand_in, row.c_name, None)
        library = _load.peek(self.library)
        return None if library is None else self._bind(library, row)

    def _bind(self, library: _load.Library, row: _rows.Row) -> Callable[..., Any] | None:
        address = library.address(row.c_name)
        if address is None:
            return None
        return _seam.bind(
            address,
            row.name,
            tuple(p.name for p in row.arguments),
            row.signature,
            self._failed(row) if row.result == "status" else None,
            row.documentation(self._error),
            self.module,
        )

    def _logger_setter(self, row: _rows.Row) -> Callable[..., None]:
        private = replace(row, name="_" + row.name)
        return logger_setter(row.name, row.c_name, self.module, lambda callback: self._bound(private)(callback))

    def _owning(self, row: _rows.Row) -> Callable[..., Any]:
        parameters = tuple(replace(p, type="ptr") if p.type in ("new", "end") else p for p in row.parameters)
        private = replace(row, name="_" + row.name, parameters=parameters)
        documentation = row.documentation(self._error)
        return owning_function(row, lambda *args: self._bound(private)(*args), documentation, self.module)  # type: ignore[no-any-return]

    def _failed(self, row: _rows.Row) -> Callable[[int], object] | None:
        return self._on_error if self.errors is None else self.errors.failed(row.c_name)

    def _unbound(self, row: _rows.Row) -> Callable[..., Any]:
        """A Python function of the same signature that opens the library and binds at its first call."""
        names = [p.name for p in row.arguments]
        documentation = row.documentation(self._error)
        function = forwarding_function(
            row.name, names, lambda *args: self._bound(row)(*args), documentation, self.module
        )
        function.__bound__ = lambda: self._bound(row)
        return function  # type: ignore[no-any-return]

    def _bound(self, row: _rows.Row) -> Callable[..., Any]:
        built = self._built.get(row.name)
        if built is not None:
            return built  # type: ignore[no-any-return]
        with _lock:
            if self.library not in _substitutes:
                _load.open_library(self.library, needed_by=f"{self.module}.{row.name}")
            bound = self._bind_if_open(row)
            if bound is None:
                raise self._missing(row)
            return self._keep(row.name, bound)  # type: ignore[no-any-return]

    def _missing(self, row: _rows.Row) -> FunctionNotFoundError:
        stand_in = _substitutes.get(self.library)
        if stand_in is None:
            return self.opened().missing(row.c_name, _rows.versions_in_words(row.versions))
        message = f"{row.c_name} is not in the substitute for {self.library} ({type(stand_in).__name__})"
        return FunctionNotFoundError(message, self.library, row.c_name)

    def _forget_functions(self) -> None:
        rows = self._read()[0]
        for name in [name for name in self._built if name in rows or name.removeprefix("_") in rows]:
            made = self._built.pop(name)
            if self._namespace.get(name) is made:
                del self._namespace[name]
        self.state.clear()


@contextmanager
def substitute(library: str, replacement: object) -> Iterator[None]:
    """Puts a Python object in a library's place while a test runs: the one place where the seam can be replaced.

    Every binding module of the library then calls the attributes of `replacement` that are named like the C functions,
    with the arguments that the bound function would take (the C arguments without the out-parameters), and returns what
    they return (out-parameters as a value or a tuple, None for a bare status; an error is raised, not returned). The
    library itself is not opened. Functions bound earlier are put aside and built again afterwards.

    Parameters
    ----------
    library : str
        A name of `nvmath.bindings._load.libraries`, such as ``"cuda"``, ``"cufft"`` or ``"fftw"``.
    replacement : object
        Anything with those attributes.
    """
    if library not in {row.name for row in _load.libraries()}:
        raise KeyError(f"no library is called '{library}'")
    with _lock:
        before = _substitutes.get(library)
        _set_substitute(library, replacement)
    try:
        yield
    finally:
        with _lock:
            _set_substitute(library, before)


def _set_substitute(library: str, replacement: object | None) -> None:
    if replacement is None:
        _substitutes.pop(library, None)
    else:
        _substitutes[library] = replacement
    for bindings in _everyone:
        if bindings.library == library:
            bindings._forget_functions()


def status_name(result: type[enum.IntEnum], prefix: str, status: int) -> str:
    """The C name of a status: ``CUFFT_INVALID_TYPE``, or the number if no name is known."""
    try:
        return prefix + result(status).name
    except ValueError:
        return f"unknown {prefix.rstrip(chr(95))} status {status}"
