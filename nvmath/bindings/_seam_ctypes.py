"""The foreign-call seam over ctypes: for places without the C extension or with another way of passing floats.

Same functions, same checks, same errors as `_seam.c`, at ten to twenty times the cost of a call.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from nvmath.bindings._addresses import address_of, foreign_address
from nvmath.bindings._functions import forwarding_function


class _C64(ctypes.Structure):
    _fields_ = (("real", ctypes.c_float), ("imag", ctypes.c_float))


class _C128(ctypes.Structure):
    _fields_ = (("real", ctypes.c_double), ("imag", ctypes.c_double))


_TYPES: dict[str, Any] = {
    "i": ctypes.c_int32,
    "I": ctypes.c_uint32,
    "q": ctypes.c_int64,
    "Q": ctypes.c_uint64,
    "N": ctypes.c_size_t,
    "P": ctypes.c_void_p,
    "b": ctypes.c_byte,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
    "s": ctypes.c_char_p,
    "F": _C64,
    "D": _C128,
}
_RANGES = {
    "i": (-(2**31), 2**31 - 1),
    "I": (0, 2**32 - 1),
    "q": (-(2**63), 2**63 - 1),
    "Q": (0, 2**64 - 1),
    "N": (0, 2**64 - 1),
    "P": (0, 2**64 - 1),
    "b": (-128, 255),
}
_DESCRIPTIONS = {
    "i": "an int in -2**31..2**31-1 (i32)",
    "I": "an int in 0..2**32-1 (u32)",
    "q": "an int in -2**63..2**63-1 (i64)",
    "Q": "an int in 0..2**64-1 (u64)",
    "N": "an int in 0..2**64-1 (usize)",
    "P": "an address, an int in 0..2**64-1, or None",
    "b": "an int in -128..255 or one character (char)",
    "f": "a real number (f32)",
    "d": "a real number (f64)",
    "s": "a str or bytes without NUL, or None",
    "F": "a complex number (c64)",
    "D": "a complex number (c128)",
    "v": "an address (int), None or a contiguous buffer",
    "w": "an address (int), None or a contiguous buffer that can be written",
}
_SAME_ITEMS = {"i": "ilqn", "q": "ilqn", "I": "ILQN", "Q": "ILQN", "N": "ILQN", "P": "ILQNPlqn", "b": "bBc"}
_SAME_ITEMS |= {"f": "f", "d": "d", "s": ""}
#: How many of the registers for floating-point numbers each takes at most.
_FLOATS = {"f": 1, "d": 1, "F": 2, "D": 2}
_CODES = {"": "iIqQNPbfdsFD", "*": "iIqQNPbfdsvw", "&": "iIqQNPbfds"}
_MAX_WORDS, _MAX_FLOATS, _MAX_DIMENSIONS = 32, 8, 64


class _Slot(NamedTuple):
    kind: str  # "", "*" (array) or "&" (out)
    code: str


class _Argument(NamedTuple):
    """What an error says about an argument."""

    title: str
    name: str
    element: int | None = None

    def refuse(self, kind: type[Exception], code: str, got: object) -> Exception:
        where = f"'{self.name}'" if self.element is None else f"element {self.element} of '{self.name}'"
        return kind(f"{self.title}(): {where} must be {_DESCRIPTIONS[code]}, got {got!r}")


def _integer(value: object, code: str, argument: _Argument, called: str = "") -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise argument.refuse(TypeError, called or code, value) from None
    low, high = _RANGES[code]
    if not low <= number <= high:
        raise argument.refuse(OverflowError, called or code, value)
    return number


def _char(value: object, argument: _Argument) -> int:
    if isinstance(value, str | bytes):
        text = value.encode() if isinstance(value, str) else value
        if len(text) != 1:
            raise argument.refuse(ValueError, "b", value)
        return text[0]
    return _integer(value, "b", argument)


def _floating(value: object, code: str, argument: _Argument) -> float:
    if isinstance(value, str | bytes):
        raise argument.refuse(TypeError, code, value)
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError) as error:
        raise argument.refuse(type(error), code, value) from None


def _complex(value: object, code: str, argument: _Argument) -> Any:
    if isinstance(value, str | bytes):
        raise argument.refuse(TypeError, code, value)
    try:
        number = complex(value)  # type: ignore[call-overload]
    except (TypeError, OverflowError) as error:
        raise argument.refuse(type(error), code, value) from None
    return _TYPES[code](number.real, number.imag)


def _address(value: object, called: str, argument: _Argument) -> int | None:
    """The address that a value is, or None for memory and sequences."""
    address = address_of(value)
    return address if address is None else _integer(address, "P", argument, called)


def _memory(value: object, kept: list[object], code: str, argument: _Argument) -> Any:
    """Memory of any item type: passed as it is, or refused (a copy would lose what C writes)."""
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        raise argument.refuse(TypeError, code, value) from None
    except (BufferError, ValueError):
        raise argument.refuse(ValueError, code, value) from None
    if not view.contiguous:
        wanted = "must be C-contiguous or F-contiguous (or pass the address of its memory)"
        raise ValueError(f"{argument.title}(): '{argument.name}' {wanted}, got {value!r}")
    if code == "w" and view.readonly:
        raise argument.refuse(ValueError, code, value)
    if view.ndim == 0 and _is_integer(value):
        raise argument.refuse(TypeError, code, value)
    kept.append(view)
    return pointer(value)


def _is_integer(value: Any) -> bool:
    """Of an object without dimensions: whether it might be meant as an address."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _text(value: object, argument: _Argument) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, str | bytes):
        raise argument.refuse(TypeError, "s", value)
    text = value.encode() if isinstance(value, str) else value
    if b"\0" in text:
        raise argument.refuse(ValueError, "s", value)
    return text


def _scalar(value: object, kept: list[object], code: str, argument: _Argument) -> Any:
    if code == "s":
        return _text(value, argument)
    if code in "fd":
        return _floating(value, code, argument)
    if code in "FD":
        return _complex(value, code, argument)
    if code == "b":
        return _char(value, argument)
    if code == "P":
        address = 0 if value is None else foreign_address(value)
        value = value if address is None else address
    return _integer(value, code, argument)


def _matching_view(value: object, code: str) -> memoryview | None:
    """A view of `value` if it is a contiguous buffer whose items are the C type already."""
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except (TypeError, BufferError, ValueError):
        return None
    letter = view.format.lstrip("@=<")
    same = len(letter) == 1 and letter in _SAME_ITEMS[code] and view.itemsize == ctypes.sizeof(_TYPES[code])
    if not same or not view.c_contiguous or (view.ndim == 0 and _is_integer(value)):
        return None
    return view


def _array(value: object, kept: list[object], code: str, argument: _Argument) -> Any:
    address = _address(value, code if code in "vw" else "P", argument)
    if address is not None:
        return address or None
    if code in "vw":
        return _memory(value, kept, code, argument)
    view = _matching_view(value, code)
    if view is not None:
        kept.append(view)
        return ctypes.create_string_buffer(view.tobytes(), max(view.nbytes, 1)) if view.readonly else pointer(value)
    items: tuple[object, ...] | None
    try:
        items = None if isinstance(value, str) else tuple(value)  # type: ignore[arg-type]
    except TypeError:
        items = None
    if items is None:
        wanted = "must be an address (int), None, a sequence or a buffer"
        raise TypeError(f"{argument.title}(): '{argument.name}' {wanted}, got {value!r}")
    values = [_scalar(item, kept, code, argument._replace(element=k)) for k, item in enumerate(items)]
    kept.append(values)
    return (_TYPES[code] * max(len(values), 1))(*values)


def _from_c(value: Any, code: str) -> Any:
    if code == "P":
        return value or 0
    if code == "s":
        return None if value is None else value.decode("utf-8", "replace")
    return value


def _read_signature(signature: str, name: str, parameters: tuple[str, ...]) -> tuple[list[_Slot], str]:
    body, arrow, result = signature.partition(">")
    slots: list[_Slot] = []
    letters = iter(body)
    for letter in letters:
        kind = letter if letter in "*&" else ""
        slots.append(_Slot(kind, next(letters, "?") if kind else letter))
    floats = sum(_FLOATS.get(slot.code, 0) for slot in slots if not slot.kind)
    if floats > _MAX_FLOATS or sum(bool(slot.kind) or slot.code not in _FLOATS for slot in slots) > _MAX_WORDS:
        raise ValueError(f"bind(): {name} has more than {_MAX_WORDS} words or {_MAX_FLOATS} floats")
    given = sum(slot.kind != "&" for slot in slots)
    sound = arrow and result in set("iIqQNPfdsv!") and all(slot.code in _CODES[slot.kind] for slot in slots)
    if not sound or given != len(parameters):
        raise ValueError(f"bind(): signature '{signature}' of {name} is malformed or does not fit {parameters!r}")
    return slots, result


def _checks(
    slots: list[_Slot], title: str, parameters: tuple[str, ...]
) -> list[tuple[int, int, Callable[[Any, list[object]], Any]]]:
    """For each argument: the range in which an int passes as it is, and what converts everything else."""
    checks: list[tuple[int, int, Callable[[Any, list[object]], Any]]] = []
    for (kind, code), name in zip((slot for slot in slots if slot.kind != "&"), parameters, strict=True):
        argument = _Argument(title, name)
        low, high = _RANGES["P" if kind else code] if kind or code in _RANGES else (1, 0)  # nothing: always convert
        checks.append((low, high, partial(_array if kind else _scalar, code=code, argument=argument)))
    return checks


def _prototype(slots: list[_Slot], result: str) -> Any:
    # A char travels as an int, extended as given: right for signed and for unsigned char.
    scalars = {**_TYPES, "b": ctypes.c_int}
    arguments = [ctypes.c_void_p if slot.kind else scalars[slot.code] for slot in slots]
    answer = None if result == "v" else ctypes.c_int32 if result == "!" else _TYPES[result]
    return ctypes.CFUNCTYPE(answer, *arguments)


def _raise_status(title: str, status: int, on_error: Callable[[int], object] | None) -> None:
    if on_error is None:
        raise RuntimeError(f"{title}(): status {status}")
    on_error(status)
    raise RuntimeError(f"{title}(): status {status}, and its error handler raised nothing")


class _Target:
    """The C function behind a bound one: known, or asked for at the first call."""

    def __init__(self, address: int | Callable[[], Any], name: str, prototype: Any) -> None:
        self.name, self.prototype = name, prototype
        self.opener = address if callable(address) else None
        self.foreign: Any = None if callable(address) else self.at(address)

    def at(self, address: int) -> Any:
        if not address:
            raise ValueError(f"bind(): the address of {self.name} is 0")
        return self.prototype(address)

    def other(self) -> Callable[..., Any] | None:
        """None if the address is known, now at least; or what takes the arguments this time."""
        if self.foreign is None and self.opener is not None:
            found = self.opener()
            if not isinstance(found, int):
                return found  # type: ignore[no-any-return]
            self.foreign = self.at(found)
        return None

    def forget(self) -> None:
        if self.opener is not None:
            self.foreign = None


def opened(function: Any) -> Any:
    """The function, its address found; or what takes its place now."""
    target = getattr(function, "__target__", None)
    return function if target is None else target.other() or function


def forget(function: Any) -> None:
    """Makes a function ask for its address again."""
    target = getattr(function, "__target__", None)
    if target is not None:
        target.forget()


def bind(
    address: int | Callable[[], Any],
    name: str,
    parameters: tuple[str, ...],
    signature: str,
    on_error: Callable[[int], object] | None,
    doc: str,
    module: str | None = None,
) -> Callable[..., Any]:
    """Makes a function that calls the C function at an address; see `nvmath.bindings._seam.bind`."""
    slots, result = _read_signature(signature, name, parameters)
    target = _Target(address, name, _prototype(slots, result))
    title = name if module is None else f"{module}.{name}"

    checks = _checks(slots, title, parameters)
    plain = not any(slot.kind for slot in slots)

    def answer(returned: Any, outs: list[tuple[Any, str]]) -> Any:
        if result == "!" and returned:
            _raise_status(title, returned, on_error)
        answers = [] if result in "v!" else [_from_c(returned, result)]
        answers += [_from_c(out.value, code) for out, code in outs]
        return None if not answers else answers[0] if len(answers) == 1 else tuple(answers)

    def call(*args: Any) -> Any:
        foreign = target.foreign
        if foreign is None:
            other = target.other()
            if other is not None:
                return other(*args)
            foreign = target.foreign
        return call_at(foreign, args)

    def call_at(foreign: Any, args: tuple[Any, ...]) -> Any:
        kept: list[object] = []
        values = [
            value if type(value) is int and low <= value <= high else convert(value, kept)
            for value, (low, high, convert) in zip(args, checks, strict=True)
        ]
        if plain:
            return answer(foreign(*values), [])
        outs = [(_TYPES[code](), code) for kind, code in slots if kind == "&"]
        given, returned = iter(values), iter(outs)
        passed = [ctypes.byref(next(returned)[0]) if kind == "&" else next(given) for kind, _ in slots]
        return answer(foreign(*passed), outs)

    function = forwarding_function(name, parameters, call, doc, module)
    function.__text_signature__ = f"({', '.join(parameters)})"
    function.__seam__ = (slots, result)
    function.__target__ = target
    function.__call_at__ = call_at
    function.__checks__ = checks
    return function  # type: ignore[no-any-return]


class _PyBuffer(ctypes.Structure):
    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


_STRIDES = 0x10 | 0x8  # PyBUF_STRIDES; PyBUF_WRITABLE is 1


@contextmanager
def buffer_of(obj: object, *, writable: bool = False) -> Iterator[_PyBuffer]:
    """The strided buffer of an object, held meanwhile."""
    view = _PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(obj), ctypes.byref(view), _STRIDES | writable)
    try:
        yield view
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


def pointer(obj: object, /) -> int:
    """The address of an object's data; see `nvmath.bindings._seam.pointer`."""
    try:
        with buffer_of(obj) as view:
            return int(view.buf or 0)
    except Exception:
        return _pointer_from_interface(obj)


def unmoved(arrays: tuple[Any, ...], addresses: tuple[int, ...], shapes: tuple[tuple[int, ...], ...], /) -> bool:
    """Whether arrays lie where they did, with the shapes that they had; see `nvmath.bindings._seam.unmoved`."""
    if not all(isinstance(each, tuple) for each in (arrays, addresses, shapes)):
        raise TypeError("unmoved() takes three tuples: arrays, addresses, shapes")
    return not arrays or (len(arrays) == len(addresses) == len(shapes) and all(map(_is_unmoved, arrays, addresses, shapes)))


def _is_unmoved(array: Any, address: int, shape: tuple[int, ...]) -> bool:
    if not isinstance(shape, tuple):
        raise TypeError(f"unmoved(): a shape must be a tuple, got {shape!r}")
    return pointer(array) == address and getattr(array, "shape", shape) == shape


def _pointer_from_interface(obj: object) -> int:
    interface = getattr(obj, "__array_interface__", None)
    if interface is None:
        raise TypeError(f"pointer(): needs the buffer protocol or __array_interface__, got {obj!r}")
    return operator.index(interface["data"][0])


def check_arguments(function: Any, args: tuple[Any, ...]) -> None:
    """Refuses arguments that do not fit the parameters of a bound function."""
    kept: list[object] = []
    for value, (_, _, convert) in zip(args, function.__checks__, strict=True):
        convert(value, kept)
    if kept:
        raise TypeError(f"prepare(): {function.__name__}() must be given addresses as integers")


def check_repeatable(function: Any, args: tuple[Any, ...], asked_by: str = "repeat") -> None:
    """Refuses a bound function that takes or returns more than numbers and addresses, or another number of arguments."""
    slots, result = function.__seam__
    if result not in "!v" or any((slot.kind and slot.code not in "vw") or slot.code == "s" for slot in slots):
        title = f"{function.__module__}.{function.__name__}"
        wanted = "must take numbers and addresses only and return a status or nothing"
        raise TypeError(f"{asked_by}(): {title}() {wanted}")
    if len(args) != len(slots):
        raise TypeError(f"{function.__name__}() takes {len(slots)} arguments, got {len(args)}")


def _check_advance(function: Any, steps: tuple[tuple[int, ...], ...]) -> None:
    for slot, row in zip(function.__seam__[0], steps, strict=True):
        if slot.code not in "PNqQvw" and any(row):
            raise TypeError(f"repeat(): only 64-bit arguments advance, {function.__name__}() has others with a step")


def _offsets(shape: tuple[int, ...], steps: tuple[tuple[int, ...], ...]) -> Iterator[list[int]]:
    for index in product(*map(range, shape)):
        yield [sum(i * s for i, s in zip(index, row, strict=True)) for row in steps]


def repeat(
    function: Callable[..., Any],
    shape: tuple[int, ...],
    steps: tuple[tuple[int, ...], ...],
    args: tuple[Any, ...],
    /,
) -> None:
    """Calls any function over a loop, one Python call a turn; see `nvmath.bindings._seam.repeat`."""
    for given in (shape, steps, args, *steps):
        if not isinstance(given, tuple):
            raise TypeError(f"repeat(): shape, steps and args must be tuples, got {given!r}")
    if hasattr(function, "__seam__"):
        check_repeatable(function, args)
    if len(steps) != len(args) or any(len(row) != len(shape) for row in steps):
        raise ValueError("repeat(): steps must have one row per argument and one entry per dimension")
    if len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"repeat(): at most {_MAX_DIMENSIONS} dimensions, got {len(shape)}")
    if any(extent < 0 for extent in shape):
        raise ValueError("repeat(): extents must not be negative")
    if hasattr(function, "__seam__"):
        _check_advance(function, steps)
    for offsets in _offsets(shape, steps):
        function(*(value + offset if offset else value for value, offset in zip(args, offsets, strict=True)))
