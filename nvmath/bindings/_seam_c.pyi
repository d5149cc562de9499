from collections.abc import Callable
from typing import Any

def bind(
    address: int | Callable[[], Any],
    name: str,
    parameters: tuple[str, ...],
    signature: str,
    on_error: Callable[[int], object] | None,
    doc: str,
    module: str | None = None,
) -> Callable[..., Any]: ...
def opened(function: Callable[..., Any], /) -> Callable[..., Any]: ...
def forget(function: Callable[..., Any], /) -> None: ...
def pointer(obj: object, /) -> int: ...
def unmoved(arrays: tuple[Any, ...], addresses: tuple[int, ...], shapes: tuple[tuple[int, ...], ...], /) -> bool: ...
def repeat(
    function: Callable[..., Any],
    shape: tuple[int, ...],
    steps: tuple[tuple[int, ...], ...],
    args: tuple[Any, ...],
    /,
) -> None: ...
def prepare(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    places: tuple[int, ...],
    like: tuple[Any, ...],
    make: Callable[[], Any],
    guard: Any,
    kept: Any = None,
    /,
) -> Callable[..., Any]: ...
def table(kind: type, /) -> Callable[..., Any]: ...
def enter(table: Callable[..., Any], prepared: Callable[..., Any], /) -> None: ...
def answered(prepared: Callable[..., Any], /) -> int: ...
