"""Sparse linear algebra. The direct solver lives in :mod:`nvmath.sparse.advanced`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .._core.options import ExecutionCPU, ExecutionCUDA
from .._unwritten import says

if TYPE_CHECKING:
    from . import advanced

__all__ = ["ExecutionCPU", "ExecutionCUDA", "advanced"]


def __getattr__(name: str) -> Any:
    if name == "advanced":
        return importlib.import_module(".advanced", __name__)
    raise AttributeError(says(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
