"""CPU libraries behind their common interfaces: ``fft`` is FFTW3's, ``blas`` CBLAS, ``lapack`` LAPACKE."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["blas", "fft", "lapack"]

_SUBMODULES = frozenset(__all__)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
