"""Asking cuBLASLt for algorithms: by its heuristics, or whether it can use a given one."""

from __future__ import annotations

from array import array
from math import prod
from typing import Final

import numpy as np

from ..._core.attributes import put
from ..._core.place import Cuda
from ...bindings import cublasLt
from ...bindings._seam import pointer
from ._algorithm import Algorithm, matmul_heuristic_result_dtype
from ._descriptors import Descriptors
from ._gemm import Gemm, Side
from ._handles import handle_of
from ._options import MatmulOptions
from ._preferences import MatmulPlanPreferences
from ._problem import MatmulProblem

_PREFERENCE: Final = cublasLt.MatmulPreferenceAttribute
_ALIGNMENTS: Final = (
    _PREFERENCE.MIN_ALIGNMENT_A_BYTES, _PREFERENCE.MIN_ALIGNMENT_B_BYTES, _PREFERENCE.MIN_ALIGNMENT_C_BYTES,
    _PREFERENCE.MIN_ALIGNMENT_D_BYTES,
)  # fmt: skip


def ask(
    handle: int,
    descriptors: Descriptors,
    factors: tuple[int, int],
    preferences: MatmulPlanPreferences,
    workspace_nbytes: int,
) -> tuple[Algorithm, ...]:
    """Return what the heuristics propose for workspaces of up to so many bytes, best first.

    Raises
    ------
    cuBLASLtError
        The library does not support the product.
    """
    limit = preferences.limit or 1
    found, count = np.zeros(limit, matmul_heuristic_result_dtype), array("i", [0])
    preference = cublasLt.matmul_preference_create()
    try:
        _prefer(preference, descriptors.gemm, preferences, workspace_nbytes)
        cublasLt.matmul_algo_get_heuristic(
            handle, descriptors.desc, *factors, *descriptors.results, preference, limit, pointer(found), count.buffer_info()[0]
        )  # fmt: skip
    finally:
        cublasLt.matmul_preference_destroy(preference)
    return tuple(Algorithm(found[index : index + 1]) for index in range(count[0]) if found["state"][index] == 0)


def check(handle: int, descriptors: Descriptors, algorithm: Algorithm) -> int:
    """Return how many bytes of workspace an algorithm needs for a product.

    Raises
    ------
    cuBLASLtError
        The library cannot use it so.
    """
    result = np.zeros(1, matmul_heuristic_result_dtype)
    cublasLt.matmul_algo_check(
        handle, descriptors.desc, *descriptors.factors, *descriptors.results, algorithm.address, pointer(result)
    )  # fmt: skip
    cublasLt.check_status(int(result["state"][0]))
    return int(result["workspace_size"][0])


def _prefer(preference: int, gemm: Gemm, preferences: MatmulPlanPreferences, workspace_nbytes: int) -> None:
    setter = cublasLt.matmul_preference_set_attribute
    put(setter, preference, _PREFERENCE.MAX_WORKSPACE_BYTES, "Q", workspace_nbytes)
    put(setter, preference, _PREFERENCE.REDUCTION_SCHEME_MASK, "I", preferences.reduction_scheme_mask)
    put(setter, preference, _PREFERENCE.MAX_WAVES_COUNT, "f", preferences.max_waves_count)
    put(setter, preference, _PREFERENCE.IMPL_MASK, "Q", preferences.numerical_impl_mask)
    sides = gemm.first, gemm.second, gemm.addend or gemm.target, gemm.target
    for attribute, side in zip(_ALIGNMENTS, sides, strict=True):
        put(setter, preference, attribute, "I", _alignment(side, prod(gemm.extents)))


def _alignment(side: Side, count: int) -> int:
    """The multiple of bytes at which every matrix of a batch begins."""
    step = abs(side.steps[0]) * side.matrix.dtype.itemsize if side.steps and count > 1 else 0
    return min(side.matrix.alignment, step & -step or 16)


def identifiers(problem: MatmulProblem, options: MatmulOptions, place: Cuda, limit: int) -> tuple[int, ...]:
    """Return the identifiers of algorithms that exist for the types of a problem."""
    c = (problem.d if problem.c is None else problem.c).dtype
    if problem.c is None and problem.narrow is not None:
        c = problem.narrow.addend
    types = (problem.a.dtype.code, problem.b.dtype.code, c.code, problem.d.dtype.code)
    with place.current():
        handle = options.handle or handle_of(place)
        return cublasLt.matmul_algo_get_ids(handle, problem.compute_type, problem.scale_type, *types, limit)
