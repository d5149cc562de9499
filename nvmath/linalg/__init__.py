"""Dense linear algebra on the CPU and on GPUs.

:mod:`nvmath.linalg.advanced` multiplies matrices with epilogs (bias, activation). Submodules and enumerations are loaded when they
are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .._core.options import ExecutionCPU, ExecutionCUDA

if TYPE_CHECKING:
    from . import advanced

__all__ = ["ComputeType", "DiagType", "ExecutionCPU", "ExecutionCUDA", "FillMode", "SideMode", "advanced"]

_ENUMS = ("ComputeType", "DiagType", "FillMode", "SideMode")
_NOT_YET = ("DirectSolver", "DirectSolverOptions", "Matmul", "MatmulOptions", "direct_solver", "matmul")


def __getattr__(name: str) -> Any:
    if name == "advanced":
        return importlib.import_module(".advanced", __name__)
    if name in _ENUMS:
        from ..bindings import cublas

        value = globals()[name] = getattr(cublas, name)
        return value
    if name in _NOT_YET:
        raise AttributeError(
            f"nvmath.linalg.{name} is not implemented yet. For products use nvmath.linalg.advanced.matmul."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
