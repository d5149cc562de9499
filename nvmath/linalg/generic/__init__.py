"""Products of matrices with qualifiers: general, symmetric, Hermitian, triangular and diagonal ones.

:func:`matmul` computes one product; :class:`Matmul` keeps a plan for repeated use.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..._core.options import ExecutionCPU, ExecutionCUDA
from ...bindings.cublas import DiagType, FillMode, SideMode
from ._api import InvalidMatmulState, Matmul
from ._once import matmul
from ._options import MatmulOptions
from ._qualifiers import (
    DiagonalMatrixQualifier,
    GeneralMatrixQualifier,
    HermitianMatrixQualifier,
    MatrixQualifier,
    SymmetricMatrixQualifier,
    TriangularMatrixQualifier,
    matrix_qualifiers_dtype,
)

__all__ = [
    "DiagType",
    "DiagonalMatrixQualifier",
    "ExecutionCPU",
    "ExecutionCUDA",
    "FillMode",
    "GeneralMatrixQualifier",
    "HermitianMatrixQualifier",
    "InvalidMatmulState",
    "Matmul",
    "MatmulOptions",
    "MatrixQualifier",
    "SideMode",
    "SymmetricMatrixQualifier",
    "TriangularMatrixQualifier",
    "matmul",
    "matrix_qualifiers_dtype",
]

_SOLVER = ("DirectSolver", "DirectSolverOptions", "InvalidDirectSolverState", "direct_solver")


def __getattr__(name: str) -> Any:
    """Code written for the original finds the direct solver here too."""
    if name in _SOLVER:
        return getattr(importlib.import_module("nvmath.linalg"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
