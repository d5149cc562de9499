"""What an algorithm of cuBLASLt can do, and the names of its tiles, stages and cluster shapes."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final

import numpy as np

from ...bindings import cublasLt

UNDEFINED: Final = "UNDEFINED"
AUTO: Final = "AUTO"


@dataclass(slots=True)
class AlgorithmCapabilities:
    """What an algorithm can do; a field is None when the library that runs does not tell it.

    Attributes
    ----------
    tile_ids, stages_ids : tuple of tuple
        The tiles ``(rows, columns)`` and stages ``(depth, count)`` that can be chosen.
    splitk_support, cta_swizzling_support, strided_batch_support, out_of_place_result_support, uplo_support, ld_negative : int
        1 or 0.
    reduction_scheme_mask, pointer_mode_mask, epilogue_mask, numerical_impl_flags : int
        Bits of the choices that there are.
    custom_option_max : int
        The largest ``custom_option``.
    min_alignment_a_bytes, min_alignment_b_bytes, min_alignment_c_bytes, min_alignment_d_bytes : int
        What addresses must be multiples of.

    Examples
    --------
    >>> from nvmath.linalg.advanced import AlgorithmCapabilities
    >>> AlgorithmCapabilities(splitk_support=1).splitk_support
    1
    """

    splitk_support: int | None = None
    reduction_scheme_mask: int | None = None
    cta_swizzling_support: int | None = None
    strided_batch_support: int | None = None
    out_of_place_result_support: int | None = None
    uplo_support: int | None = None
    tile_ids: tuple[Any, ...] | None = None
    custom_option_max: int | None = None
    custom_memory_order: int | None = None
    pointer_mode_mask: int | None = None
    epilogue_mask: int | None = None
    stages_ids: tuple[Any, ...] | None = None
    ld_negative: int | None = None
    numerical_impl_flags: int | None = None
    min_alignment_a_bytes: int | None = None
    min_alignment_b_bytes: int | None = None
    min_alignment_c_bytes: int | None = None
    min_alignment_d_bytes: int | None = None
    pointer_array_batch_support: int | None = None
    floating_point_emulation_support: int | None = None
    pointer_array_grouped_support: int | None = None
    atomic_sync: int | None = None
    mathmode_impl: int | None = None
    gaussian_impl: int | None = None

    def __str__(self) -> str:
        width = max(len(field.name) for field in fields(self))
        return "\n".join(f"{field.name:<{width}} = {getattr(self, field.name)}" for field in fields(self))


OWN_CAPABILITIES: Final = AlgorithmCapabilities(
    splitk_support=0, reduction_scheme_mask=0, cta_swizzling_support=0, out_of_place_result_support=1, uplo_support=0, custom_option_max=0,
    ld_negative=1,
)  # fmt: skip
"""Those of our own kernels: nothing can be set."""


def capabilities_of(address: int) -> AlgorithmCapabilities:
    """Ask the library about the algorithm at an address."""
    made = AlgorithmCapabilities()
    for field in fields(made):
        try:
            named = _LISTS.get(field.name)
            name = field.name.upper()
            value = (
                _number(address, name)
                if named is None
                else _identifiers(address, cublasLt.MatmulAlgoCapAttribute[name], named())
            )
        except (cublasLt.cuBLASLtError, ValueError, AttributeError):
            continue
        setattr(made, field.name, value)
    return made


def _number(address: int, name: str) -> int:
    attribute = cublasLt.MatmulAlgoCapAttribute[name]
    cell, written = np.zeros(1, cublasLt.get_matmul_algo_cap_attribute_dtype(attribute)), array("Q", [0])
    cublasLt.matmul_algo_cap_get_attribute(address, attribute, cell.ctypes.data, cell.nbytes, written.buffer_info()[0])
    return int(cell[0])


def _identifiers(address: int, attribute: int, names: dict[int, Any]) -> tuple[Any, ...]:
    """Ask how many bytes there are, then for them; return them by their names."""
    size = array("Q", [0])
    cublasLt.matmul_algo_cap_get_attribute(address, attribute, 0, 0, size.buffer_info()[0])
    found = array("I", bytes(size[0]))
    if size[0]:
        cublasLt.matmul_algo_cap_get_attribute(
            address, attribute, found.buffer_info()[0], size[0], size.buffer_info()[0]
        )
    return tuple(names.get(each, each) for each in found)


def _sizes(members: Any) -> dict[int, Any]:
    """Extents by identifier, read from the names of an enumeration: TILE_64x32, STAGES_16xAUTO, SHAPE_2x1x1."""
    found: dict[int, Any] = {}
    for each in members:
        text = each.name.partition("_")[2]
        parts = text.split("x")
        found[each.value] = text if len(parts) == 1 else tuple(int(part) if part.isdigit() else part for part in parts)
    return found


@cache
def tiles() -> dict[int, Any]:
    """``(rows, columns)`` of every tile, by identifier."""
    return _sizes(cublasLt.MatmulTile)


@cache
def stages() -> dict[int, Any]:
    """``(depth, count)`` of every number of stages, by identifier."""
    return _sizes(cublasLt.MatmulStages)


@cache
def cluster_shapes() -> dict[int, Any]:
    """``(x, y, z)`` of every shape of a cluster, by identifier."""
    return _sizes(cublasLt.ClusterShape)


_LISTS: Final = {"tile_ids": tiles, "stages_ids": stages}
