"""Digests of Python functions: what the compiled code depends on, and nothing else.

A digest covers the byte code, the constants (those of nested functions too), the default arguments, and the values of
the closure cells and globals that the byte code reads. It does not cover the name of the function, its file or its
lines, and never ``id()``: addresses are reused, so a digest that holds one can match another function.
"""

from __future__ import annotations

import builtins
import enum
import hashlib
import itertools
import struct
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .references import is_known, references
from .snapshot import plain_function

__all__ = ["CodeDigest", "code_digest"]


class CodeDigest(NamedTuple):
    """Digest of a function, and whether another process would compute the same one."""

    hex: str
    portable: bool


class _OpaqueError(Exception):
    """A value has no digest and cannot be watched by a weak reference."""


def code_digest(function: types.FunctionType) -> CodeDigest:
    """Digest of `function` and of every value that its compiled form would freeze.

    Parameters
    ----------
    function
        A plain Python function.

    Returns
    -------
    CodeDigest
        ``hex`` is the digest. ``portable`` is False when a captured value has no content digest (an object of an
        unknown class, say); the digest then holds a token that is unique in this process, so it must not be used as a
        key on disk.

    Examples
    --------
    >>> from nvmath._core.jit import code_digest
    >>> def scale(x, factor=2):
    ...     return x * factor
    >>> def other(x, factor=2):
    ...     return x * factor
    >>> code_digest(scale) == code_digest(other)
    True
    """
    encoder = _Encoder()
    try:
        content = encoder.encode(function)
    except (_OpaqueError, RecursionError):
        content = _token(function)
        encoder.portable = False
    return CodeDigest(hashlib.sha256(content).hexdigest(), encoder.portable)


@lru_cache(maxsize=1024)
def _encode_code(code: types.CodeType) -> bytes:
    constants = [
        _encode_code(constant) if isinstance(constant, types.CodeType) else _Encoder().encode(constant)
        for constant in code.co_consts
    ]
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, len(code.co_freevars))
    return _pack(
        b"code",
        repr((sys.version_info[:2], shape, code.co_names)).encode(),
        code.co_code,
        getattr(code, "co_exceptiontable", b""),
        *constants,
    )


def _pack(tag: bytes, *parts: bytes) -> bytes:
    """Join with lengths, so that no two different lists of parts give the same bytes."""
    return b"".join((struct.pack("<QQ", len(tag), len(parts)), tag, *(struct.pack("<Q", len(p)) + p for p in parts)))


class _Encoder:
    """Turns values into canonical bytes; remembers the functions under way, so recursion ends."""

    def __init__(self) -> None:
        self.portable = True
        self._under_way: list[types.FunctionType] = []

    def encode(self, value: Any) -> bytes:
        exact = _EXACT.get(type(value))
        if exact is not None:
            return exact(self, value)
        for accepts, encode in _RULES:
            if accepts(value):
                return encode(self, value)
        return self._by_token(value)

    def _by_token(self, value: Any) -> bytes:
        self.portable = False
        return _token(value)

    def sequence(self, value: Iterable[Any]) -> bytes:
        return _pack(type(value).__qualname__.encode(), *map(self.encode, value))

    def unordered(self, value: Iterable[Any]) -> bytes:
        return _pack(b"set", *sorted(map(self.encode, value)))

    def mapping(self, value: dict[Any, Any]) -> bytes:
        return _pack(b"dict", *sorted(_pack(b"item", self.encode(k), self.encode(v)) for k, v in value.items()))

    def array(self, value: np.ndarray[Any, Any]) -> bytes:
        if value.dtype.hasobject:
            return self._by_token(value)
        layout = (value.dtype, value.shape, value.flags.f_contiguous, value.flags.c_contiguous)
        return _pack(b"array", repr(layout).encode(), value.tobytes())

    def function(self, function: types.FunctionType) -> bytes:
        if function in self._under_way:
            return _pack(b"recursion", str(self._under_way.index(function)).encode())
        self._under_way.append(function)
        try:
            found = references(function.__code__)
            cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
            captured = [_pack(".".join(path[1:]).encode(), self._cell(cells[path[0]], path)) for path in found.cells]
            read = [_pack(".".join(path).encode(), self._global(function, path)) for path in found.globals]
            defaults = self.encode((function.__defaults__, function.__kwdefaults__))
            return _pack(b"function", _encode_code(function.__code__), defaults, *captured, *read)
        finally:
            self._under_way.pop()

    def _cell(self, cell: types.CellType, path: tuple[str, ...]) -> bytes:
        try:
            start = cell.cell_contents
        except ValueError:  # not assigned yet
            return b"unbound"
        return self._follow(start, path[1:])

    def _global(self, function: types.FunctionType, path: tuple[str, ...]) -> bytes:
        name = path[0]
        if name in function.__globals__:
            return self._follow(function.__globals__[name], path[1:])
        return b"builtin" if hasattr(builtins, name) else b"unbound"

    def _follow(self, value: Any, attributes: tuple[str, ...]) -> bytes:
        """The value at the end of a path; only modules are walked, other attributes belong to the value."""
        for name in attributes:
            if not isinstance(value, types.ModuleType):
                break
            if not hasattr(value, name):
                return b"unbound"
            value = getattr(value, name)
        return self.encode(value)

    def module(self, value: types.ModuleType) -> bytes:
        """A module that is read through another name, so that any of it could be used: all of its data and own functions count."""
        version = getattr(value, "__version__", None)
        parts = [value.__name__.encode(), str(version).encode()]
        if not is_known(value.__name__):
            parts += [_pack(name.encode(), self.encode(item)) for name, item in sorted(vars(value).items()) if _counts(item, value)]
            self.portable &= isinstance(version, str)
        return _pack(b"module", *parts)

    def named(self, value: Any) -> bytes:
        package = value.__module__.partition(".")[0]
        version = getattr(sys.modules.get(package), "__version__", "")
        return _pack(b"named", f"{value.__module__}:{value.__qualname__}:{version}".encode())

    def ufunc(self, value: np.ufunc) -> bytes:
        if getattr(np, value.__name__, None) is not value:
            return self._by_token(value)
        return _pack(b"ufunc", value.__name__.encode(), np.__version__.encode())

    def dispatcher(self, value: Any) -> bytes:
        return _pack(b"jit", self.encode(value.py_func), self.encode(getattr(value, "targetoptions", None)))

    def enumeration(self, value: type[enum.Enum]) -> bytes:
        return _pack(
            b"enum", value.__qualname__.encode(), *(_pack(m.name.encode(), self.encode(m.value)) for m in value)
        )


def _is_named(value: Any) -> bool:
    """A function or class that its package, identified by its version, has under this name.

    The look-up matters: code run by ``exec`` in a bare namespace claims to come from the module ``builtins``.
    """
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not is_known(module):
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def _counts(item: Any, owner: types.ModuleType) -> bool:
    """Whether compiled code that reads an item of a module depends on its value."""
    plain = isinstance(item, bool | int | float | complex | np.generic | np.ndarray | tuple)
    return plain or (plain_function(item) is not None and item.__module__ == owner.__name__)


def _is_dispatcher(value: Any) -> bool:
    return type(value).__module__.startswith("numba") and isinstance(
        getattr(value, "py_func", None), types.FunctionType
    )


def _is_numba_type(value: Any) -> bool:
    numba_types = sys.modules.get("numba.core.types")
    return numba_types is not None and isinstance(value, numba_types.Type)


def _plain_number(value: Any) -> Any:
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else complex(value)


_TypeEncoder = Callable[[_Encoder, Any], bytes]

_EXACT: dict[type, _TypeEncoder] = {
    type(None): lambda _, value: b"none",
    type(Ellipsis): lambda _, value: b"ellipsis",
    bool: lambda _, value: _pack(b"bool", repr(value).encode()),
    int: lambda _, value: _pack(b"int", repr(value).encode()),
    float: lambda _, value: _pack(b"float", struct.pack("<d", value)),
    complex: lambda _, value: _pack(b"complex", struct.pack("<dd", value.real, value.imag)),
    str: lambda _, value: _pack(b"str", value.encode(errors="surrogatepass")),
    bytes: lambda _, value: _pack(b"bytes", value),
    tuple: _Encoder.sequence,
    list: _Encoder.sequence,
    set: _Encoder.unordered,
    frozenset: _Encoder.unordered,
    dict: _Encoder.mapping,
    slice: lambda encoder, value: encoder.sequence((value.start, value.stop, value.step)),
    types.CodeType: lambda _, value: _encode_code(value),
    types.ModuleType: _Encoder.module,
    np.ndarray: _Encoder.array,
    np.ufunc: _Encoder.ufunc,
}

_RULES: tuple[tuple[Callable[[Any], bool], _TypeEncoder], ...] = (
    (  # of subclasses a compiler sees the number
        lambda v: isinstance(v, int | float | complex) and not isinstance(v, enum.Enum | np.generic),
        lambda encoder, v: _pack(b"subclass", type(v).__qualname__.encode(), encoder.encode(_plain_number(v))),
    ),
    (lambda v: isinstance(v, np.dtype), lambda _, v: _pack(b"dtype", repr(v).encode())),
    (lambda v: isinstance(v, np.generic) and not v.dtype.hasobject, lambda encoder, v: encoder.array(np.asarray(v))),
    (_is_dispatcher, _Encoder.dispatcher),
    (_is_numba_type, lambda _, v: _pack(b"type", repr(v).encode())),
    (_is_named, _Encoder.named),
    (lambda v: isinstance(v, types.FunctionType), _Encoder.function),
    (lambda v: isinstance(v, type) and issubclass(v, enum.Enum), _Encoder.enumeration),
    (
        lambda v: isinstance(v, enum.Enum),
        lambda encoder, v: _pack(b"member", v.name.encode(), encoder.enumeration(type(v))),
    ),
    (lambda v: isinstance(v, tuple) and hasattr(v, "_fields"), lambda encoder, v: encoder.mapping(v._asdict())),
)


_tokens: dict[int, tuple[weakref.ref[Any], bytes]] = {}
_token_numbers = itertools.count()
_token_lock = threading.Lock()


def _token(value: Any) -> bytes:
    """Name `value` for as long as it lives, by a number that is never given again."""
    with _token_lock:
        known = _tokens.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        try:
            reference = weakref.ref(value)
        except TypeError:
            raise _OpaqueError from None
        token = _pack(b"object", str(next(_token_numbers)).encode())
        _tokens[id(value)] = (reference, token)
        _drop_dead_tokens()
        return token


def _drop_dead_tokens() -> None:
    if len(_tokens) % 256 == 0:
        for key in [key for key, (reference, _) in _tokens.items() if reference() is None]:
            del _tokens[key]
