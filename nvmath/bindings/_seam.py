"""The foreign-call seam: the one way in which this library calls C.

`bind` turns an address and a signature into a Python function, `pointer` reads the address of an array's data,
`repeat` calls a bound function over a loop, and `prepare` makes a call that needs nothing more than the arrays. The C
extension does it when it is there, ctypes otherwise (and where a platform passes arguments in a way that the
extension does not know). ``NVMATH_SEAM=ctypes`` forces the fallback, ``NVMATH_SEAM=c`` refuses it; `KIND` says which
one is in use.

Signatures are generated from rows (`nvmath.bindings._rows`), never typed: a wrong one crashes the process. One letter
per C argument: ``i`` i32, ``I`` u32, ``q`` i64, ``Q`` u64, ``N`` usize, ``P`` ptr, ``f`` f32, ``d`` f64, ``b`` char,
``s`` str, ``F`` c64, ``D`` c128; ``*`` before a letter is an array (``*v`` and ``*w``: memory of any item type, read or
written by C; ``-`` and ``+`` before a letter: of items of that type), ``&`` an out-parameter; ``>`` and the result: a letter, ``v`` void or
``!`` status.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

_WANTED = os.environ.get("NVMATH_SEAM", "")
if _WANTED not in ("", "c", "ctypes"):
    raise ValueError(f"NVMATH_SEAM must be 'c' or 'ctypes', got {_WANTED!r}")

_c: Any = None
if _WANTED != "ctypes":
    try:
        from nvmath.bindings import _seam_c as _c
    except ImportError:
        if _WANTED == "c":
            raise

KIND = "ctypes" if _c is None else "c"

#: Conventions that the extension knows whole: integers and floats in two sequences, 8 bytes a stack word.
_WHOLE = (sys.platform, platform.machine()) in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "x86_64"))


#: Whether `prepare` works here; where it does not, every call is made the ordinary way.
_PREPARES = _c is not None and _WHOLE


def _c_can_call(signature: str) -> bool:
    if _c is None:
        return False
    if _WHOLE:
        return True
    words = re.sub("[*&+-].", "P", signature.partition(">")[0])
    floats = any(letter in words for letter in "fdFD") or signature[-1] in "fd"
    return not floats and (sys.platform == "win32" or len(words) <= 8)


def bind(
    address: int | Callable[[], Any],
    name: str,
    parameters: tuple[str, ...],
    signature: str,
    on_error: Callable[[int], object] | None,
    doc: str,
    module: str | None = None,
) -> Callable[..., Any]:
    """Makes a function that calls the C function at an address.

    Parameters
    ----------
    address : int or callable
        Where the function is; or what is called without arguments at the first call and returns that. If it returns
        a callable instead, that gets the arguments, by position, and the next call asks again.
    name : str
        Its Python name.
    parameters : tuple of str
        Names of its Python arguments (the C arguments without the out-parameters).
    signature : str
        Letters as above.
    on_error : callable or None
        Called with a status other than 0; must raise.
    doc : str
        Its docstring.
    module : str, optional
        Its ``__module__``, also the first part of its name in errors.

    Returns
    -------
    callable
        Takes the arguments by position or keyword, checks each of them, releases the GIL and calls. It returns the
        result (unless void or status) and the out-parameters: None, one value or a tuple.

    Notes
    -----
    Raised by the function: OverflowError for a number that does not fit, ValueError for text that does not fit,
    TypeError for another type or number of arguments, and what `on_error` raises. An array argument takes an address,
    None (NULL), a buffer or a sequence of numbers (or of text); a writable contiguous buffer of the C type is passed as
    it is, everything else is copied for the call, so what C writes there is lost. A pointer of ctypes is the address
    that it holds, wherever C wants one.
    """
    seam = _c if _c_can_call(signature) else _fallback()
    return seam.bind(address, name, parameters, signature, on_error, doc, module)  # type: ignore[no-any-return]


def _fallback() -> Any:
    """What takes the functions that the extension did not make."""
    from nvmath.bindings import _seam_ctypes

    return _seam_ctypes


def opened(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a function that `nvmath.bindings` hands out calls: a bound function whose address is found, or a stand-in for it."""
    function = getattr(function, "__bound__", lambda: function)()
    by_extension = _c is not None and type(function) is BuiltinFunctionType
    return (_c if by_extension else _fallback()).opened(function)  # type: ignore[no-any-return]


def forget(function: Callable[..., Any]) -> None:
    """Makes a function that was bound without an address ask for it again."""
    function = getattr(function, "__bound__", lambda: function)()
    by_extension = _c is not None and type(function) is BuiltinFunctionType
    (_c if by_extension else _fallback()).forget(function)


def repeat(
    function: Callable[..., Any],
    shape: tuple[int, ...],
    steps: tuple[tuple[int, ...], ...],
    args: tuple[Any, ...],
) -> None:
    """Calls a bound function over a loop, releasing the GIL once.

    Parameters
    ----------
    function : callable
        A function made by `bind` that takes numbers and addresses and returns a status or nothing. Any other callable
        is called from Python, once a turn.
    shape : tuple of int
        Extents of the loop, the last varying fastest. Empty: one call. An extent of 0: no call.
    steps : tuple of tuple of int
        For each argument, what one step along each dimension adds to it (bytes for addresses; may be negative). Only
        64-bit integers and addresses advance; the steps of the others are 0.
    args : tuple
        The arguments of the first call.

    Raises
    ------
    Exception
        What the function raises: the first nonzero status ends the loop.
    """
    function = opened(function)
    by_extension = _c is not None and type(function) is BuiltinFunctionType
    (_c if by_extension else _fallback()).repeat(function, shape, steps, args)


def can_prepare(function: Callable[..., Any]) -> bool:
    """Whether `prepare` takes a function: the extension made it, which knows this platform whole, and it is no stand-in."""
    return _PREPARES and type(opened(function)) is BuiltinFunctionType


def prepare(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    places: tuple[int, ...],
    like: tuple[Any, ...],
    make: Callable[[], Any],
    guard: Any,
    kept: Any = None,
) -> Callable[..., Any]:
    """Makes a call of a bound function that needs nothing more than the arrays.

    Parameters
    ----------
    function : callable
        One that `can_prepare` accepts, that takes numbers and addresses and returns a status or nothing.
    args : tuple
        All of its arguments, checked once; addresses are integers.
    places : tuple of int
        Which of them are the addresses of the arrays, in their order, and last which is that of the result.
    like : tuple of array
        One to four arrays of one type with the buffer protocol and a ``dtype``.
    make : callable
        Returns the array for the result of one call.
    guard : buffer
        At most 64 bytes that must stay as they are now: the call is not made with other ones.
    kept : object, optional
        Stays alive as long as the call, since an address in `args` leads into it.

    Returns
    -------
    callable
        Takes arrays, and returns a new result; or NotImplemented, nothing having happened, for arrays that are not exactly of the type,
        dtype (the same object), shape and strides of `like`, or not aligned, or when the guarded memory has changed. The strides are
        those that the buffer protocol tells, and NumPy tells made-up ones where an axis has one element, or an array none: where the
        strides of such axes matter, do not prepare.
    """
    return _c.prepare(opened(function), args, places, like, make, guard, kept)  # type: ignore[no-any-return]


def table(kind: type) -> Callable[..., Any]:
    """Makes a table of prepared calls, which it does not keep alive.

    Parameters
    ----------
    kind : type
        Of the arrays.

    Returns
    -------
    callable
        Takes arrays and makes the call that was prepared for such; or returns NotImplemented, nothing having happened.
    """
    return _c.table(kind) if _PREPARES else lambda *arrays: NotImplemented


def enter(table: Callable[..., Any], prepared: Callable[..., Any]) -> None:
    """Puts a prepared call into a table, and out of the one where it was; of 256 that live, the oldest leaves."""
    _c.enter(table, prepared)


def answered(prepared: Callable[..., Any]) -> int:
    """How many calls a prepared one made, by itself or for a table, since this was asked last."""
    return _c.answered(prepared)  # type: ignore[no-any-return]


_looking: Any = _fallback() if _c is None else _c

#: ``pointer(obj) -> int``: address of the data of anything with the buffer protocol (read-only, strided, 0-d and empty
#: arrays included) or else ``__array_interface__``; TypeError for other objects.
pointer: Callable[[object], int] = _looking.pointer

#: ``unmoved(arrays, addresses, shapes) -> bool``: whether arrays lie where they did, with the shapes that they had.
#: Where an array has no buffer protocol, its address alone is compared. No arrays at all are where they were.
unmoved: Callable[[tuple[Any, ...], tuple[int, ...], tuple[tuple[int, ...], ...]], bool] = _looking.unmoved
