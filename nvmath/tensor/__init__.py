"""Tensor contractions on the CPU and on GPUs.

:func:`binary_contraction` and :func:`ternary_contraction` contract once; :class:`BinaryContraction` and
:class:`TernaryContraction` keep a plan for repeated use. :func:`einsum` and :class:`Einsum` take any number of tensors.
"""

import sys

from .._core.options import ExecutionCPU, ExecutionCUDA
from . import _api
from ._api import (
    BinaryContraction,
    Einsum,
    EinsumInfo,
    InvalidContractionState,
    TernaryContraction,
    binary_contraction,
    einsum,
    einsum_path,
    ternary_contraction,
)
from ._options import (
    ComputeDesc,
    ContractionAlgo,
    ContractionAutotuneMode,
    ContractionCacheMode,
    ContractionJitMode,
    ContractionOptions,
    Operator,
    tensor_qualifiers_dtype,
)
from ._preference import ContractionPlanPreference

# Code written for the original finds InvalidContractionState in a module of this name.
sys.modules.setdefault(__name__ + ".contract", _api)

__all__ = [
    "BinaryContraction",
    "ComputeDesc",
    "ContractionAlgo",
    "ContractionAutotuneMode",
    "ContractionCacheMode",
    "ContractionJitMode",
    "ContractionOptions",
    "ContractionPlanPreference",
    "Einsum",
    "EinsumInfo",
    "ExecutionCPU",
    "ExecutionCUDA",
    "InvalidContractionState",
    "Operator",
    "TernaryContraction",
    "binary_contraction",
    "einsum",
    "einsum_path",
    "tensor_qualifiers_dtype",
    "ternary_contraction",
]


def __dir__() -> list[str]:
    return sorted(__all__)
