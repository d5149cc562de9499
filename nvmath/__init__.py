"""Core math for Python arrays, at the speed of the vendor libraries, on whatever machine you have.

Submodules are imported when they are first used; importing this package opens no library and imports no array framework.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from ._unwritten import Unwritten, says
from ._version import __version__

if TYPE_CHECKING:
    from . import bindings, fft, linalg, memory, sparse, tensor
    from ._core.cache import plan_cache
    from ._enums import ComputeType, CudaDataType, LibraryPropertyType
    from .memory import BaseCUDAMemoryManager, BaseCUDAMemoryManagerAsync, MemoryPointer

__all__ = [
    "BaseCUDAMemoryManager",
    "BaseCUDAMemoryManagerAsync",
    "ComputeType",
    "CudaDataType",
    "LibraryPropertyType",
    "MemoryPointer",
    "__version__",
    "bindings",
    "fft",
    "linalg",
    "memory",
    "plan_cache",
    "sparse",
    "tensor",
]

_MODULES = ("bindings", "fft", "linalg", "memory", "sparse", "tensor")
_NAMES = {
    "BaseCUDAMemoryManager": ".memory",
    "BaseCUDAMemoryManagerAsync": ".memory",
    "MemoryPointer": ".memory",
    "ComputeType": "._enums",
    "CudaDataType": "._enums",
    "LibraryPropertyType": "._enums",
    "plan_cache": "._core.cache",
}


def _refuse_original() -> None:
    """Two distributions with one import name would mix their files."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("nvmath_python-") and name.endswith(".dist-info"):
                raise ImportError(
                    f"nvmath-python is installed in {folder}, and nvmath-anywhere has the same import name, nvmath. "
                    "Keep one of them: pip uninstall nvmath-python, or pip uninstall nvmath-anywhere."
                )


_refuse_original()
if Unwritten not in sys.meta_path:
    sys.meta_path.append(Unwritten)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name in _NAMES:
        value = globals()[name] = getattr(importlib.import_module(_NAMES[name], __name__), name)
        return value
    raise AttributeError(says(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
