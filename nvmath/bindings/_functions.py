"""Python functions whose parameters are known only at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def forwarding_function(
    name: str, parameters: Iterable[str], body: Callable[..., Any], doc: str, module: str | None
) -> Any:
    """A function of that name and those parameters which calls ``body`` with their values, in order.

    It is a plain function, so keywords work, a wrong number of arguments is Python's own TypeError, and
    `inspect.signature` tells the truth.
    """
    listed = ", ".join(parameters)
    namespace: dict[str, Any] = {"__body__": body, "__name__": module}
    exec(f"def {name}({listed}):\n    return __body__({listed})\n", namespace)
    function = namespace[name]
    function.__doc__ = doc
    return function
