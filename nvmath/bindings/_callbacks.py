"""Python functions that C libraries call: what they log goes to a function."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)

#: C code may still be in a callback while another one is set, and it calls the last one at exit: none is ever freed.
_kept: list[object] = []


def logger_setter(name: str, c_name: str, module: str, call: Callable[[int | None], object]) -> Callable[..., None]:
    """The Python function for a C function that sets a logger callback; `call` is the C function itself."""

    def setter(callback: Any) -> None:
        if callback is None or not callable(callback):
            call(callback)
            return

        def log(level: int, function: bytes | None, message: bytes | None) -> None:
            callback(level, (function or b"").decode("utf-8", "replace"), (message or b"").decode("utf-8", "replace"))

        wrapped = _LOGGER(log)
        _kept.append(wrapped)
        call(ctypes.cast(wrapped, ctypes.c_void_p).value)

    setter.__name__ = setter.__qualname__ = name
    setter.__module__ = module
    setter.__doc__ = f"""Calls the C function ``{c_name}``: what the library logs goes to a function.

    Parameters
    ----------
    callback : callable, int or None
        Called with the level (int), the name of the C function and the message (str), from any thread; it must not call
        the library. An exception in it goes to `sys.unraisablehook`, and the library goes on. Or the address of a C
        function ``void (int, const char *, const char *)``; None ends the calls.

    Returns
    -------
    None
    """
    return setter
