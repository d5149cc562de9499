"""Sparse direct solvers on the CPU and on GPUs.

:func:`direct_solver` solves once; :class:`DirectSolver` keeps plan and factorization for several right-hand sides or sets of values.
"""

import sys

from ..._core.errors import IllConditionedWarning
from ..._core.options import ExecutionCPU
from . import _api
from ._api import DirectSolver, InvalidDirectSolverState, direct_solver
from ._config import DirectSolverFactorizationConfig, DirectSolverPlanConfig, DirectSolverSolutionConfig
from ._info import DirectSolverFactorizationInfo, DirectSolverPlanInfo
from ._options import (
    DirectSolverFactorizationAlg,
    DirectSolverFactorizationPreferences,
    DirectSolverMatchingAlg,
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverOptions,
    DirectSolverPivotEpsilonAlg,
    DirectSolverPlanPreferences,
    DirectSolverReorderingAlg,
    DirectSolverSolutionPreferences,
    DirectSolverSolveAlg,
    ExecutionCUDA,
    ExecutionHybrid,
    HybridMemoryModeOptions,
    memory_estimates_dtype,
)
from ._residual import SingularSystemError

# Code written for the original finds InvalidDirectSolverState in a module of this name.
sys.modules.setdefault(__name__ + ".direct_solver", _api)

__all__ = [
    "DirectSolver",
    "DirectSolverFactorizationAlg",
    "DirectSolverFactorizationConfig",
    "DirectSolverFactorizationInfo",
    "DirectSolverFactorizationPreferences",
    "DirectSolverMatchingAlg",
    "DirectSolverMatrixType",
    "DirectSolverMatrixViewType",
    "DirectSolverOptions",
    "DirectSolverPivotEpsilonAlg",
    "DirectSolverPlanConfig",
    "DirectSolverPlanInfo",
    "DirectSolverPlanPreferences",
    "DirectSolverReorderingAlg",
    "DirectSolverSolutionConfig",
    "DirectSolverSolutionPreferences",
    "DirectSolverSolveAlg",
    "ExecutionCPU",
    "ExecutionCUDA",
    "ExecutionHybrid",
    "HybridMemoryModeOptions",
    "IllConditionedWarning",
    "InvalidDirectSolverState",
    "SingularSystemError",
    "direct_solver",
    "memory_estimates_dtype",
]


def __dir__() -> list[str]:
    return sorted(__all__)
