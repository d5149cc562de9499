"""Python functions whose parameters are known only at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def forwarding_function(
    name: str,
    parameters: Iterable[str],
    body: Callable[..., Any],
    doc: str | None,
    module: str | None,
    checked: Iterable[str] = (),
    check: Callable[..., list[Any] | None] | None = None,
) -> Any:
    """A function of that name and those parameters which calls ``body`` with their values, in order.

    It is a plain function, so keywords work, a wrong number of arguments is Python's own TypeError, and
    `inspect.signature` tells the truth. Where one of the `checked` parameters is no plain int, ``check`` gets all values first,
    and may return others that take their place.
    """
    listed = ", ".join(parameters)
    namespace: dict[str, Any] = {"__body__": body, "__check__": check, "__name__": module}
    unknown = " or ".join(f"{parameter}.__class__ is not int" for parameter in checked)
    other = (
        f"        others = __check__({listed})\n        if others is not None:\n            return __body__(*others)\n"
    )
    guard = f"    if {unknown}:\n{other}" if unknown else ""
    exec(f"def {name}({listed}):\n{guard}    return __body__({listed})\n", namespace)
    function = namespace[name]
    function.__doc__ = doc
    return function
