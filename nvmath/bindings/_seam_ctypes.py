"""The foreign-call seam over ctypes: for places without the C extension or with another way of passing floats.

Same functions, same checks, same errors as `_seam.c`, at ten to twenty times the cost of a call.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from nvmath.bindings._addresses import address_of, foreign_address
from nvmath.bindings._functions import forwarding_function


class _C64(ctypes.Structure):
    _fields_ = (("real", ctypes.c_float), ("imag", ctypes.c_float))


class _C128(ctypes.Structure):
    _fields_ = (("real", ctypes.c_double), ("imag", ctypes.c_double))


class _Letter(NamedTuple):
    """What a letter of a signature stands for."""

    says: str  # what errors say that it must be
    type: Any = None
    range: tuple[int, int] = (1, 0)  # of ints that pass as they are: none
    items: str = ""  # formats of the items of a buffer that are the C type already
    numpy: str = ""  # what NumPy calls such items
    floats: int = 0  # how many of the registers for floating-point numbers it takes at most


_U64 = (0, 2**64 - 1)
_LETTERS = {
    "i": _Letter("an int in -2**31..2**31-1 (i32)", ctypes.c_int32, (-(2**31), 2**31 - 1), "ilqn", "int32"),
    "I": _Letter("an int in 0..2**32-1 (u32)", ctypes.c_uint32, (0, 2**32 - 1), "ILQN", "uint32"),
    "q": _Letter("an int in -2**63..2**63-1 (i64)", ctypes.c_int64, (-(2**63), 2**63 - 1), "ilqn", "int64"),
    "Q": _Letter("an int in 0..2**64-1 (u64)", ctypes.c_uint64, _U64, "ILQN", "uint64"),
    "N": _Letter("an int in 0..2**64-1 (usize)", ctypes.c_size_t, _U64, "ILQN", "uint64"),
    "P": _Letter("an address, an int in 0..2**64-1, or None", ctypes.c_void_p, _U64, "ILQNPlqn"),
    "b": _Letter("an int in -128..255 or one character (char)", ctypes.c_byte, (-128, 255), "bBc"),
    "f": _Letter("a real number (f32)", ctypes.c_float, items="f", numpy="float32", floats=1),
    "d": _Letter("a real number (f64)", ctypes.c_double, items="d", numpy="float64", floats=1),
    "F": _Letter("a complex number (c64)", _C64, numpy="complex64", floats=2),
    "D": _Letter("a complex number (c128)", _C128, numpy="complex128", floats=2),
    "s": _Letter("a str or bytes without NUL, or None", ctypes.c_char_p),
    "v": _Letter("an address (int), None or a contiguous buffer"),
    "w": _Letter("an address (int), None or a contiguous buffer that can be written"),
}
_CODES = {"": "iIqQNPbfdsFD", "*": "iIqQNPbfdsvw", "&": "iIqQNPbfds"}
#: Memory of items of a type, read and written.
_MEMORY = {"-": "v", "+": "w"}
_TYPED = frozenset(letter for letter, kind in _LETTERS.items() if kind.numpy)
_MAX_WORDS, _MAX_FLOATS, _MAX_DIMENSIONS = 32, 8, 64


class _Slot(NamedTuple):
    kind: str  # "", "*" (array) or "&" (out)
    code: str
    item: str = ""  # of memory, where it is known


class _Argument(NamedTuple):
    """What an error says about an argument."""

    title: str
    name: str
    element: int | None = None
    item: str = ""

    def refuse(self, kind: type[Exception], code: str, got: object) -> Exception:
        where = f"'{self.name}'" if self.element is None else f"element {self.element} of '{self.name}'"
        return kind(f"{self.title}(): {where} must be {_LETTERS[code].says}, got {got!r}")


def _integer(value: object, code: str, argument: _Argument, called: str = "") -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise argument.refuse(TypeError, called or code, value) from None
    low, high = _LETTERS[code].range
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


def _number(value: Any, code: str, argument: _Argument) -> Any:
    """A floating-point number, or the structure of a complex one."""
    if isinstance(value, str | bytes):
        raise argument.refuse(TypeError, code, value)
    try:
        if code in "fd":
            return float(value)
        number = complex(value)
    except (TypeError, OverflowError) as error:
        raise argument.refuse(type(error), code, value) from None
    return _LETTERS[code].type(number.real, number.imag)


def _address(value: object, called: str, argument: _Argument) -> int | None:
    """The address that a value is, or None for memory and sequences."""
    address = address_of(value)
    return address if address is None else _integer(address, "P", argument, called)


def _memory(value: object, kept: list[object], code: str, argument: _Argument) -> Any:
    """Memory: passed as it is, or refused (a copy would lose what C writes)."""
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
    if argument.item and not _can_hold(view, argument.item):
        wanted = f"must have items of type {_LETTERS[argument.item].numpy} (or be an address)"
        found = getattr(value, "dtype", f"the format '{view.format}'")
        raise TypeError(f"{argument.title}(): '{argument.name}' {wanted}, got {found}")
    if view.ndim == 0 and _is_integer(value):
        raise argument.refuse(TypeError, code, value)
    kept.append(view)
    return pointer(value)


def _can_hold(view: memoryview, item: str) -> bool:
    """Whether memory may hold items of a type: bytes and structures may hold anything, sizes have any sign."""
    return _format(view)[:1] in ("B", "c", "T") or _same_items(view, "P" if item == "N" else item)


def _format(view: memoryview) -> str:
    """How the items are laid out, without the mark of this machine's own byte order."""
    return view.format[1:] if view.format[:1] in ("@", "=", "<") else view.format


def _same_items(view: memoryview, code: str) -> bool:
    """Whether items are the C type already."""
    letter = _format(view)
    if code in "FD":
        return letter == "Z" + "fd"["FD".index(code)]
    return len(letter) == 1 and letter in _LETTERS[code].items and view.itemsize == ctypes.sizeof(_LETTERS[code].type)


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
    if code in "fdFD":
        return _number(value, code, argument)
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
    if not _same_items(view, code) or not view.c_contiguous or (view.ndim == 0 and _is_integer(value)):
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
    return (_LETTERS[code].type * max(len(values), 1))(*values)


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
        if letter in _MEMORY:
            slots.append(_Slot("*", _MEMORY[letter], next(letters, "?")))
        else:
            slots.append(_Slot(kind, next(letters, "?") if kind else letter))
    given = sum(slot.kind != "&" for slot in slots)
    known = all(slot.code in _CODES[slot.kind] and (not slot.item or slot.item in _TYPED) for slot in slots)
    if not (known and arrow and result in set("iIqQNPfdsv!") and given == len(parameters)):
        raise ValueError(f"bind(): signature '{signature}' of {name} is malformed or does not fit {parameters!r}")
    floats = [0 if slot.kind else _LETTERS[slot.code].floats for slot in slots]
    if sum(floats) > _MAX_FLOATS or floats.count(0) > _MAX_WORDS:
        raise ValueError(f"bind(): {name} has more than {_MAX_WORDS} words or {_MAX_FLOATS} floats")
    return slots, result


def _checks(
    slots: list[_Slot], title: str, parameters: tuple[str, ...]
) -> list[tuple[int, int, Callable[[Any, list[object]], Any]]]:
    """For each argument: the range in which an int passes as it is, and what converts everything else."""
    checks: list[tuple[int, int, Callable[[Any, list[object]], Any]]] = []
    for (kind, code, item), name in zip((slot for slot in slots if slot.kind != "&"), parameters, strict=True):
        argument = _Argument(title, name, item=item)
        low, high = _LETTERS["P" if kind else code].range
        checks.append((low, high, partial(_array if kind else _scalar, code=code, argument=argument)))
    return checks


def _prototype(slots: list[_Slot], result: str) -> Any:
    # A char travels as an int, extended as given: right for signed and for unsigned char.
    scalars = (ctypes.c_int if slot.code == "b" else _LETTERS[slot.code].type for slot in slots)
    arguments = [ctypes.c_void_p if slot.kind else scalar for slot, scalar in zip(slots, scalars, strict=True)]
    answer = None if result == "v" else ctypes.c_int32 if result == "!" else _LETTERS[result].type
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
        kept: list[object] = []
        values = [
            value if type(value) is int and low <= value <= high else convert(value, kept)
            for value, (low, high, convert) in zip(args, checks, strict=True)
        ]
        if plain:
            return answer(foreign(*values), [])
        outs = [(_LETTERS[slot.code].type(), slot.code) for slot in slots if slot.kind == "&"]
        given, returned = iter(values), iter(outs)
        passed = [ctypes.byref(next(returned)[0]) if slot.kind == "&" else next(given) for slot in slots]
        return answer(foreign(*passed), outs)

    function = forwarding_function(name, parameters, call, doc, module)
    function.__text_signature__ = f"({', '.join(parameters)})"
    function.__seam__ = (slots, result)
    function.__target__ = target
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


def pointer(obj: object, /) -> int:
    """The address of an object's data; see `nvmath.bindings._seam.pointer`."""
    view = _PyBuffer()
    try:
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(obj), ctypes.byref(view), _STRIDES)
    except Exception:
        return _pointer_from_interface(obj)
    address = int(view.buf or 0)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    return address


def unmoved(arrays: tuple[Any, ...], addresses: tuple[int, ...], shapes: tuple[tuple[int, ...], ...], /) -> bool:
    """Whether arrays lie where they did, with the shapes that they had; see `nvmath.bindings._seam.unmoved`."""
    if not all(isinstance(each, tuple) for each in (arrays, addresses, shapes)):
        raise TypeError("unmoved() takes three tuples: arrays, addresses, shapes")
    alike = len(arrays) == len(addresses) == len(shapes)
    return not arrays or (alike and all(map(_is_unmoved, arrays, addresses, shapes)))


def _is_unmoved(array: Any, address: int, shape: tuple[int, ...]) -> bool:
    if not isinstance(shape, tuple):
        raise TypeError(f"unmoved(): a shape must be a tuple, got {shape!r}")
    return pointer(array) == address and getattr(array, "shape", shape) == shape


def _pointer_from_interface(obj: object) -> int:
    interface = getattr(obj, "__array_interface__", None)
    if interface is None:
        raise TypeError(f"pointer(): needs the buffer protocol or __array_interface__, got {obj!r}")
    return operator.index(interface["data"][0])


def _check_repeatable(function: Any, args: tuple[Any, ...]) -> None:
    """Refuses a bound function that takes or returns more than numbers and addresses, or another number of arguments."""
    slots, result = function.__seam__
    if result not in "!v" or any((slot.kind and slot.code not in "vw") or slot.code == "s" for slot in slots):
        title = f"{function.__module__}.{function.__name__}"
        wanted = "must take numbers and addresses only and return a status or nothing"
        raise TypeError(f"repeat(): {title}() {wanted}")
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
        _check_repeatable(function, args)
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
