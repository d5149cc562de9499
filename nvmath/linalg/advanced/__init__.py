"""Products of matrices with epilogs: ``F(alpha * A @ B + beta * C)``.

:func:`matmul` computes one product; :class:`Matmul` keeps a plan for repeated use.
"""

import sys

from . import _api
from ._api import InvalidMatmulState, Matmul, matmul
from ._options import (
    MatmulComputeType,
    MatmulEpilog,
    MatmulEpilogPreferences,
    MatmulInnerShape,
    MatmulNumericalImplFlags,
    MatmulOptions,
    MatmulPlanPreferences,
    MatmulQuantizationScales,
    MatmulReductionScheme,
    matrix_qualifiers_dtype,
)

# Code written for the original finds InvalidMatmulState in a module of this name.
sys.modules.setdefault(__name__ + ".matmulmod", _api)

__all__ = [
    "InvalidMatmulState",
    "Matmul",
    "MatmulComputeType",
    "MatmulEpilog",
    "MatmulEpilogPreferences",
    "MatmulInnerShape",
    "MatmulNumericalImplFlags",
    "MatmulOptions",
    "MatmulPlanPreferences",
    "MatmulQuantizationScales",
    "MatmulReductionScheme",
    "matmul",
    "matrix_qualifiers_dtype",
]
