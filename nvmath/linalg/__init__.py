"""Dense linear algebra on the CPU and on GPUs.

:func:`matmul` and :class:`Matmul` multiply matrices, also symmetric, Hermitian, triangular and diagonal ones;
:mod:`nvmath.linalg.advanced` multiplies them with epilogs (bias, activation).
:func:`direct_solver` and :class:`DirectSolver` solve systems of linear equations. Submodules and enumerations are loaded when they are
first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .._core.options import ExecutionCPU, ExecutionCUDA

if TYPE_CHECKING:
    from . import advanced, generic
    from ._solver._api import DirectSolver
    from ._solver._errors import IllConditionedWarning, InvalidDirectSolverState, SingularMatrixError
    from ._solver._once import direct_solver
    from ._solver._options import DirectSolverOptions
    from .generic import (
        DiagonalMatrixQualifier,
        GeneralMatrixQualifier,
        HermitianMatrixQualifier,
        InvalidMatmulState,
        Matmul,
        MatmulOptions,
        MatrixQualifier,
        SymmetricMatrixQualifier,
        TriangularMatrixQualifier,
        matmul,
        matrix_qualifiers_dtype,
    )

__all__ = [
    "ComputeType",
    "DiagType",
    "DiagonalMatrixQualifier",
    "DirectSolver",
    "DirectSolverOptions",
    "ExecutionCPU",
    "ExecutionCUDA",
    "FillMode",
    "GeneralMatrixQualifier",
    "HermitianMatrixQualifier",
    "IllConditionedWarning",
    "InvalidDirectSolverState",
    "InvalidMatmulState",
    "Matmul",
    "MatmulOptions",
    "MatrixQualifier",
    "SideMode",
    "SingularMatrixError",
    "SymmetricMatrixQualifier",
    "TriangularMatrixQualifier",
    "advanced",
    "direct_solver",
    "generic",
    "matmul",
    "matrix_qualifiers_dtype",
]

_MODULES = ("advanced", "generic")
_GENERIC = (
    "DiagonalMatrixQualifier", "GeneralMatrixQualifier", "HermitianMatrixQualifier", "InvalidMatmulState", "Matmul", "MatmulOptions",
    "MatrixQualifier", "SymmetricMatrixQualifier", "TriangularMatrixQualifier", "matmul", "matrix_qualifiers_dtype",
)  # fmt: skip
_ENUMS = ("ComputeType", "DiagType", "FillMode", "SideMode")
_SOLVER = {
    "DirectSolver": "_api", "direct_solver": "_once", "DirectSolverOptions": "_options", "IllConditionedWarning": "_errors",
    "InvalidDirectSolverState": "_errors", "SingularMatrixError": "_errors",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _GENERIC:
        value = globals()[name] = getattr(importlib.import_module(".generic", __name__), name)
        return value
    if name in _ENUMS:
        from ..bindings import cublas

        value = globals()[name] = getattr(cublas, name)
        return value
    if name in _SOLVER:
        value = globals()[name] = getattr(importlib.import_module(f"._solver.{_SOLVER[name]}", __name__), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
