"""Which peers are installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def peer(name: str) -> Any:
    """Return a package, or None when it is not installed."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def gpu_torch() -> Any:
    """Return PyTorch if it sees a GPU."""
    torch = peer("torch")
    return torch if torch is not None and torch.cuda.is_available() else None


def gpu_cupy() -> Any:
    """Return CuPy if it sees a GPU."""
    cupy = peer("cupy")
    try:
        return cupy if cupy is not None and cupy.cuda.runtime.getDeviceCount() else None
    except cupy.cuda.runtime.CUDARuntimeError:
        return None
