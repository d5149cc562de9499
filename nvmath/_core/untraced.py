"""Functions that ``torch.compile`` calls instead of looking into them.

Its tracer follows Python code and replaces NumPy by imitations that cannot do what is done here. It leaves a function alone whose code is
marked; the marks lie in PyTorch, which may be imported later than this package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_pending: list[CodeType] = []


def untraced(function: F) -> F:
    """Mark a function; usable as a decorator, and the function stays what it is."""
    function._torchdynamo_disable = True  # type: ignore[attr-defined]  # not inlined into what is traced
    _pending.append(function.__code__)
    tell_torch()
    return function


def tell_torch() -> None:
    """Hand the marks over to PyTorch, if it has been imported: neither such a function nor what it calls is traced."""
    frames = getattr(getattr(getattr(sys.modules.get("torch"), "_C", None), "_dynamo", None), "eval_frame", None)
    action, strategy = getattr(frames, "_FrameAction", None), getattr(frames, "_FrameExecStrategy", None)
    if frames is None or action is None or strategy is None:
        return
    while _pending:
        frames.set_code_exec_strategy(_pending.pop(), strategy(action.SKIP, action.SKIP))
