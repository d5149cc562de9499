"""The engine behind every binding module: rows -> functions, tables -> enums, each at its first use (PEP 562).

A binding module is a docstring, its tables, and::

    _library = Bindings("cufft", globals(), prefix="cufft", errors=Errors("cuFFTError", "CUFFT_", "Result"))
    __getattr__, __dir__ = _library.resolve, _library.names

The tables are texts called ``_ROWS`` and ``_ENUMS`` (their grammar: `_rows`), ``_RECORDS`` (`_records`), ``_DTYPES``
(`_dtypes`) and ``_LENGTHS`` (`_lengths`); ``_SPECIAL`` has more rows and ``_STATUSES`` more enumerations, which
`tools/bindgen` leaves alone. Each is optional. What reads the last three is imported when it is needed: a first use should
not wait for more than it uses.

`Bindings` also puts the class of errors and ``check_status`` into the module. What `resolve` makes is stored in its
globals, so a later access is a plain attribute. A function is one object for ever, which opens the library at its first
call. Code in the module itself writes ``_library.name(...)``. Names that start with an underscore are private rows.

Tests replace a library by a Python object with `substitute`.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from nvmath.bindings import _load, _rows, _seam
from nvmath.bindings._adapted import adapted, for_the_seam
from nvmath.bindings._callbacks import logger_setter
from nvmath.bindings._errors import FunctionNotFoundError, LibraryNotFoundError
from nvmath.bindings._fork import held_at_fork
from nvmath.bindings._functions import forwarding_function
from nvmath.bindings._status import Errors

if TYPE_CHECKING:
    from nvmath.bindings._dtypes import Dtypes
    from nvmath.bindings._lengths import Lengths

__all__ = ["Bindings", "Errors", "FunctionNotFoundError", "LibraryNotFoundError", "substitute"]

_lock = held_at_fork(threading.RLock())
_everyone: list[Bindings] = []
_substitutes: dict[str, object] = {}


class _Tables:
    """The texts of one module, each read when it is first needed: name -> what its line says."""

    def __init__(self, namespace: dict[str, Any], prefix: str, wide: bool) -> None:
        self.namespace, self.prefix, self.wide = namespace, prefix, wide

    def _text(self, name: str) -> str:
        return self.namespace.get(name, "")  # type: ignore[no-any-return]

    def _index(self, text: str) -> _rows.Index:
        return _rows.Index(text, self.prefix, wide=self.wide)

    @cached_property
    def rows(self) -> _rows.Index:
        return self._index(self._text("_ROWS") + self._text("_SPECIAL"))

    @cached_property
    def enums(self) -> dict[str, tuple[str, dict[str, int]]]:
        return _rows.enums(self._text("_ENUMS") + self._text("_STATUSES"))

    @cached_property
    def records(self) -> dict[str, list[tuple[str, str]]]:
        from nvmath.bindings._records import records

        return records(self._text("_RECORDS"))

    @cached_property
    def dtypes(self) -> Dtypes:
        from nvmath.bindings._dtypes import dtypes

        return dtypes(self._text("_DTYPES"))

    @cached_property
    def lengths(self) -> Lengths:
        text = self._text("_LENGTHS")
        if not text:
            return {}
        from nvmath.bindings._lengths import lengths

        return lengths(text)

    def special(self) -> set[str]:
        """The C functions whose rows are written by hand."""
        return {row.c_name for row in self._index(self._text("_SPECIAL"))}


def _is_public(value: object) -> bool:
    """Whether a function or a class belongs to a public module of ours: what else a module imports is no name of it."""
    first, *rest = (getattr(value, "__module__", None) or "").split(".")
    return first == "nvmath" and not any(part.startswith("_") for part in rest)


class Bindings:
    """One library, or a part of it, in one module.

    Parameters
    ----------
    library : str
        Its name in `nvmath.bindings._load`.
    namespace : dict
        The module's globals: the tables are there, and what is built goes there.
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
        prefix: str,
        wide: bool = False,
        errors: Errors | None = None,
        on_error: Callable[[int], object] | None = None,
        error: str = "RuntimeError",
    ) -> None:
        self.library = library
        self.module: str = namespace["__name__"]
        self.state: dict[str, Any] = {}
        self._namespace = namespace
        self.tables = _Tables(namespace, prefix, wide)
        self.errors = errors
        self._on_error = on_error
        self._error = errors.name if errors is not None else error
        self._built: dict[str, Any] = {}
        self._functions: dict[str, Callable[..., Any]] = {}  # of the library itself: they outlive its substitutes
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
            tables = self.tables
            row = tables.rows.get(name)
            if row is not None:
                return self._keep(name, self._function_now(row))
            if name in tables.enums:
                return self._keep(name, self._enum(name, *tables.enums[name]))
            if name in tables.records:
                from nvmath.bindings._records import record_class

                return self._keep(name, record_class(name, tables.records[name], self.module, self.resolve))
            if name in tables.dtypes:
                from nvmath.bindings._dtypes import dtype_function

                enum_, kinds = tables.dtypes[name]
                return self._keep(name, dtype_function(name, self.resolve(enum_), kinds, self.module))
        raise AttributeError(f"module '{self.module}' has no attribute '{name}'")

    def _function_now(self, row: _rows.Row) -> Callable[..., Any]:
        """The function for ever, or what a substitute has in its place meanwhile."""
        stand_in = getattr(self.substituted, row.c_name, None)
        if stand_in is None or _sets_logger(row) or _is_adapted(row):
            return self._lasting(row, self._function)
        return self._checking(row, stand_in)

    def _lasting(self, row: _rows.Row, make: Callable[[_rows.Row], Callable[..., Any]]) -> Callable[..., Any]:
        made = self._functions.get(row.name)
        if made is None:
            with _lock:
                made = self._functions.setdefault(row.name, make(row))
        return made

    def _function(self, row: _rows.Row) -> Callable[..., Any]:
        if _sets_logger(row):
            return self._logger_setter(row)
        if _is_adapted(row):
            body = adapted(row, partial(self._call, for_the_seam(row)))
            return self._python_function(row, body)  # type: ignore[no-any-return]
        return self._checking(row, self._bind(row))

    def _keep(self, name: str, made: Any) -> Any:
        made = self._built.setdefault(name, made)
        if not name.startswith("_"):
            self._namespace.setdefault(name, made)
        return made

    def names(self) -> list[str]:
        """What ``dir(module)`` lists."""
        tables = (self.tables.rows.names(), self.tables.enums, self.tables.records, self.tables.dtypes)
        found = {name for table in tables for name in table if not name.startswith("_")}
        found |= {name for name, value in self._namespace.items() if name.startswith("__") or _is_public(value)}
        return sorted(found)

    def rows(self) -> list[_rows.Row]:
        """Every row, parsed (for checks and documentation)."""
        return list(self.tables.rows)

    def has(self, c_name: str) -> bool:
        """Whether the library (opened now if need be) has a C function."""
        if self.substituted is not None:
            return hasattr(self.substituted, c_name)
        return self.opened().address(c_name) is not None

    def symbol(self, c_name: str, needed_by: str = "", versions: str = "") -> Any:
        """The address of a symbol, its library opened if need be; or what a substitute has in its place."""
        with _lock:
            stand_in = self.substituted
            if stand_in is not None:
                found = getattr(stand_in, c_name, None)
                if found is not None:
                    return found
                message = f"{c_name} is not in the substitute for {self.library} ({type(stand_in).__name__})"
                raise FunctionNotFoundError(message, self.library, c_name)
            library = _load.open_library(self.library, needed_by or self.module)
            address = library.address(c_name)
            if address is None:
                raise library.missing(c_name, _rows.versions_in_words(versions))
            return address

    def opened(self) -> _load.Library:
        """The library itself, opened at the first call."""
        return _load.open_library(self.library, needed_by=self.module)

    def sized(self, function: str, handle: int) -> bytes:
        """What a function writes into memory of the size that the function of the same name with ``_size`` returns."""
        memory = bytearray(self.resolve(f"{function}_size")(handle))
        if memory:
            self.resolve(function)(handle, memory)
        return bytes(memory)

    @property
    def substituted(self) -> object | None:
        """The object that a test put in the library's place, or None."""
        return _substitutes.get(self.library)

    def _enum(self, name: str, base: str, members: dict[str, int]) -> type[enum.Enum]:
        kind: Any = enum.IntFlag if base == "IntFlag" else enum.IntEnum
        made = kind(name, members, module=self.module, qualname=name)
        made.__doc__ = f"Values of the C type behind ``{name}``."
        return made  # type: ignore[no-any-return]

    def _checking(self, row: _rows.Row, bound: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which looks first whether its arrays are long enough where that is known."""
        known = self.tables.lengths.get(row.name.removesuffix("_64"))
        if known is None:
            return bound
        from nvmath.bindings._lengths import check_of

        function = self._python_function(row, bound, *check_of(row, known))
        function.__bound__ = lambda: bound
        return function  # type: ignore[no-any-return]

    def _python_function(self, row: _rows.Row, body: Callable[..., Any], *check: Any) -> Any:
        names = [p.name for p in row.arguments]
        return forwarding_function(row.name, names, body, self._documentation(row), self.module, *check)

    def _documentation(self, row: _rows.Row) -> str:
        expressions = self.tables.lengths.get(row.name.removesuffix("_64"), {})
        needed = {
            p.name: f"at least {expressions[p.name]} elements"
            for p in row.arguments
            if p.is_array and p.name in expressions
        }
        return row.documentation(self._error, needed)

    def _bind(self, row: _rows.Row) -> Callable[..., Any]:
        return _seam.bind(
            partial(self.symbol, row.c_name, f"{self.module}.{row.name}", row.versions),
            row.name,
            tuple(p.name for p in row.arguments),
            row.signature,
            self._failed(row) if row.result == "status" else None,
            self._documentation(row),
            self.module,
        )

    def _logger_setter(self, row: _rows.Row) -> Callable[..., None]:
        private = row._replace(name="_" + row.name)
        return logger_setter(row.name, row.c_name, self.module, partial(self._call, private))

    def _failed(self, row: _rows.Row) -> Callable[[int], object] | None:
        return self._on_error if self.errors is None else self.errors.failed(row.c_name)

    def _call(self, row: _rows.Row, *arguments: Any) -> Any:
        return self._lasting(row, self._bind)(*arguments)

    def _forget_functions(self) -> None:
        for name in [name for name in self._built if self.tables.rows.get(name) is not None]:
            made = self._built.pop(name)
            if self._namespace.get(name) is made:
                del self._namespace[name]
        for function in self._functions.values():
            _seam.forget(function)
        self.state.clear()


def _sets_logger(row: _rows.Row) -> bool:
    return row.c_name.endswith("LoggerSetCallback")


def _is_adapted(row: _rows.Row) -> bool:
    return any(p.adapted for p in row.parameters)


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
