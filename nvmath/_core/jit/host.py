"""Python functions to host code through numba."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

from .function import UserFunction
from .references import is_known
from .requirements import require_host_compiler
from .snapshot import plain_function, retarget
from .source import compile_error, quiet_numba

__all__ = ["compile_loop", "host_function"]

# The error model of a GPU: a division of real numbers by zero gives infinity, no exception. (numba raises for complex ones.)
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

_lock = threading.RLock()


def host_function(user: UserFunction) -> Any:
    """Compile `user` for the host; the result can be called from other compiled functions (`compile_loop`).

    Raises
    ------
    CompileError
        (a ValueError) The function does not compile; the text shows its line.
    RuntimeError
        numba is not installed.
    """
    require_host_compiler(f"Running the {user.what} {user.function.__qualname__!r} on the CPU")
    numba: Any = import_module("numba")
    pointers = import_module("nvmath._core.jit.pointers")
    pointers.register("numba")
    result, arguments = pointers.numba_signature(user.signature, promise_alignment=False)
    with _lock, quiet_numba():
        try:
            return numba.njit(result(*arguments), **_OPTIONS)(retarget(user.function, _host_helper))
        except Exception as error:
            raise compile_error(user.shown, user.what, "the CPU", user.expected, error) from error


def compile_loop(function: Any, signature: str) -> Any:
    """Compile one of our own loops over a `host_function`; the GIL is released while it runs."""
    with _lock, quiet_numba():
        return import_module("numba").njit(signature, **_OPTIONS)(function)


def _host_helper(value: Any) -> Any:
    """Make helper functions callable in host code: plain ones and those compiled for a GPU."""
    function = plain_function(value)
    if function is None or is_known(function.__module__):
        return value
    if value is not function and not type(value).__module__.startswith("numba.cuda"):
        return value
    return import_module("numba").njit(**_OPTIONS)(retarget(function, _host_helper))
