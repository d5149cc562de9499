"""Sparse linear algebra. The direct solver lives in :mod:`nvmath.sparse.advanced`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .._core.options import ExecutionCPU, ExecutionCUDA

if TYPE_CHECKING:
    from . import advanced

__all__ = ["ExecutionCPU", "ExecutionCUDA", "advanced"]

# Names of the original that are not there yet.
_MISSING = frozenset(
    {
        "ComputeType", "Matmul", "MatmulOptions", "compile_matmul_add", "compile_matmul_atomic_add", "compile_matmul_epilog",
        "compile_matmul_mul", "compile_matmul_prolog", "matmul", "matmul_matrix_qualifiers_dtype", "ust",
    }
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "advanced":
        return importlib.import_module(".advanced", __name__)
    more = (
        f": the sparse product is not implemented yet, so nvmath.sparse.{name} is missing" if name in _MISSING else ""
    )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{more}")
