"""C libraries as Python modules: one function per C function, bound at its first use.

Each submodule is named after a library and is imported when it is first asked for. Importing it opens nothing: the
library is found and opened at the first call. Functions take plain integers (addresses included), sequences and
strings, return what C writes through its out-parameters, release the GIL, and raise the library's error class for a
status that is not success.
"""

from __future__ import annotations

import importlib
from typing import Any

from nvmath.bindings._errors import FunctionNotFoundError, LibraryNotFoundError

__all__ = [
    "FunctionNotFoundError",
    "LibraryNotFoundError",
    "cublas",
    "cublasLt",
    "cublasMp",
    "cudss",
    "cufft",
    "cufftMp",
    "curand",
    "cusolver",
    "cusolverDn",
    "cusolverMp",
    "cusolverSp",
    "cusparse",
    "cusparseLt",
    "cutensor",
    "mathdx",
    "nccl",
    "nvpl",
    "nvshmem",
]

_SUBMODULES = frozenset(__all__[2:])


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
