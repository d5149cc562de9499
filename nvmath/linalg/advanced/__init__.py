"""Products of matrices with epilogs: ``F(alpha * A @ B + beta * C)``.

:func:`matmul` computes one product; :class:`Matmul` keeps a plan for repeated use.
"""

import sys
from typing import TYPE_CHECKING, Any

from . import _api, helpers
from ._algorithm import Algorithm, matmul_heuristic_result_dtype
from ._api import InvalidMatmulState, Matmul
from ._capabilities import AlgorithmCapabilities
from ._coerce import matrix_qualifiers_dtype
from ._epilogs import MatmulEpilog, MatmulExtraEpilog
from ._once import matmul
from ._options import MatmulComputeType, MatmulOptions
from ._preferences import (
    MatmulEpilogPreferences,
    MatmulInnerShape,
    MatmulNumericalImplFlags,
    MatmulPlanPreferences,
    MatmulQuantizationScales,
    MatmulReductionScheme,
)

if TYPE_CHECKING:
    from ._autotune import AutotuneReport

# Code written for the original finds InvalidMatmulState in a module of this name.
sys.modules.setdefault(__name__ + ".matmulmod", _api)

__all__ = [
    "Algorithm",
    "AlgorithmCapabilities",
    "AutotuneReport",
    "InvalidMatmulState",
    "Matmul",
    "MatmulComputeType",
    "MatmulEpilog",
    "MatmulEpilogPreferences",
    "MatmulExtraEpilog",
    "MatmulInnerShape",
    "MatmulNumericalImplFlags",
    "MatmulOptions",
    "MatmulPlanPreferences",
    "MatmulQuantizationScales",
    "MatmulReductionScheme",
    "helpers",
    "matmul",
    "matmul_heuristic_result_dtype",
    "matrix_qualifiers_dtype",
]


def __getattr__(name: str) -> Any:
    if name == "AutotuneReport":  # what measuring needs is imported with it
        from ._autotune import AutotuneReport

        return AutotuneReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
