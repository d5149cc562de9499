from collections.abc import Callable
from typing import Any

def looker(
    kind: type,
    capsule: Any,
    otherwise: Callable[[Any], tuple[int, Any]],
    is_neg: Callable[[Any], bool],
    is_conj: Callable[[Any], bool],
    attribute: str,
    follows: Callable[[], bool],
    levels: dict[str, Any],
    level: str,
    /,
) -> Callable[[Any], tuple[int, Any]]: ...
