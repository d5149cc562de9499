"""The optional packages that compile users' functions, and what to say when they are missing."""

from __future__ import annotations

from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec

__all__ = ["package_versions", "require_cuda_compiler", "require_host_compiler"]

_INSTALL = 'pip install "numba>=0.63"'
_INSTALL_CUDA = 'pip install "numba-cuda>=0.30.4"'
_PACKAGES = (
    "numba",
    "numba-cuda",
    "llvmlite",
    "cuda-bindings",
    "nvidia-nvvm",
    "nvidia-cuda-nvcc",
    "nvidia-cuda-nvcc-cu12",
)


def require_host_compiler(purpose: str) -> None:
    """Refuse when numba is not installed.

    Raises
    ------
    RuntimeError
        Names the package, what needs it and the command that installs it.
    """
    if not _installed("numba"):
        raise RuntimeError(f"{purpose} needs numba, which is not installed. Install it with: {_INSTALL}")


def require_cuda_compiler(purpose: str) -> None:
    """Refuse when numba or numba-cuda is not installed.

    Raises
    ------
    RuntimeError
        Names the package, what needs it and the command that installs it.
    """
    require_host_compiler(purpose)
    if not _installed("numba_cuda"):
        raise RuntimeError(f"{purpose} for a GPU needs numba-cuda, which is not installed. Install it with: {_INSTALL_CUDA}")


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # an entry of None in sys.modules
        return False


@lru_cache(maxsize=1)
def package_versions() -> str:
    """Names and versions of what takes part in compiling, found without importing any of it."""
    found = []
    for name in _PACKAGES:
        try:
            found.append(f"{name}={metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return " ".join(found)
