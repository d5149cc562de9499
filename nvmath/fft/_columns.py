"""Transforms along columns on a GPU by a kernel of our own, which the user's callbacks are linked into.

cuFFT's ordinary kernels take no callbacks, and its kernels that do are slow along columns; an epilog in a kernel of its
own reads and writes the whole result once more. This kernel does the last pass of a transform and the epilog together.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Final

from .._core import kernels
from .._core import place as places
from ..bindings import _cuda as driver
from ..bindings import _nvjitlink as nvjitlink
from ..bindings import _nvrtc as nvrtc
from ._callbacks import Callback
from ._columns_source import Recipe, source

_MULTIPROCESSORS: Final = 16  # device attribute
_DYNAMIC_SHARED: Final = 8  # function attribute
_FREE_SHARED: Final = 48 << 10

_RADICES: Final = {
    64: (8, 8), 128: (16, 8), 256: (16, 16), 512: (8, 8, 8), 1024: (16, 8, 8), 2048: (16, 16, 8), 4096: (16, 16, 16),
    8192: (16, 8, 8, 8),
}  # fmt: skip

# Columns of a block by length, in single and in double precision.
_COLUMNS: Final = {
    False: {64: 16, 128: 16, 256: 16, 512: 16, 1024: 8, 2048: 8, 4096: 4, 8192: 2},
    True: {64: 16, 128: 16, 256: 8, 512: 8, 1024: 4, 2048: 4, 4096: 2},
}


def recipe_of(length: int, double: bool) -> Recipe | None:
    """Return how columns of a length are transformed, or nothing when they are not."""
    columns = _COLUMNS[double].get(length)
    return None if columns is None else Recipe(length, columns, _RADICES[length], double)


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns beside each other, `outer` times, in elements; the distance of neighbours is 1."""

    length: int
    width: int
    outer: int
    in_row: int
    in_outer: int
    out_row: int
    out_outer: int


class _Geometry(ctypes.Structure):
    _fields_ = (
        ("in_row", ctypes.c_longlong), ("in_outer", ctypes.c_longlong),
        ("out_row", ctypes.c_longlong), ("out_outer", ctypes.c_longlong),
        ("columns", ctypes.c_uint), ("tiles_of_outer", ctypes.c_uint), ("tiles", ctypes.c_uint),
    )  # fmt: skip


@cache
def _resident(device: int, function: int, threads: int, nbytes: int) -> int:
    """How many blocks the device holds at a time."""
    with places.cuda(device).current():
        if nbytes > _FREE_SHARED:
            driver.func_set_attribute(function, _DYNAMIC_SHARED, nbytes)
        blocks = driver.occupancy_max_active_blocks_per_multiprocessor(function, threads, nbytes)
        return int(blocks * driver.device_get_attribute(_MULTIPROCESSORS, device))


def build(recipe: Recipe, inverse: bool, prolog: Callback | None, epilog: Callback | None, capability: str) -> bytes:
    """Compile a kernel and link it with the callbacks, to a cubin."""
    text = source(recipe, inverse, prolog is not None, epilog is not None)
    name, target = "nvmath_columns.cu", f"-arch=sm_{capability}"
    callbacks = [callback for callback in (prolog, epilog) if callback is not None]
    if not callbacks:
        return nvrtc.compile(text, name, (target,))
    parts = [("ltoir", nvrtc.compile(text, name, (target, "-rdc=true"), kind="ltoir"), "columns")]
    parts += [("ltoir", callback.ltoir(capability), f"{callback.phase} of the user") for callback in callbacks]
    return nvjitlink.link(parts, [target, "-lto"])


class ColumnTransform:
    """A kernel over given columns; only the addresses change from call to call.

    Parameters
    ----------
    device : int
        Where.
    recipe : Recipe
        How.
    columns : Columns
        What; input and output may be the same memory when their layouts are.
    inverse : bool
        The sign of the exponent is positive.
    prolog, epilog : Callback, optional
        Applied to every element that is loaded, or stored; the flat offsets count from the addresses of a call.
    """

    def __init__(
        self,
        device: int,
        recipe: Recipe,
        columns: Columns,
        inverse: bool,
        prolog: Callback | None = None,
        epilog: Callback | None = None,
    ) -> None:
        key = (recipe, inverse, *(None if callback is None else callback.key for callback in (prolog, epilog)))
        self.function = kernels.compiled(
            device, ("columns", *key), lambda capability: build(recipe, inverse, prolog, epilog, capability)
        )
        tiles_of_outer = -(-columns.width // recipe.columns)
        tiles = tiles_of_outer * columns.outer
        self.threads, self.nbytes = recipe.threads, recipe.shared_nbytes
        resident = _resident(device, self.function, self.threads, self.nbytes)
        self.blocks = min(tiles, max(1, resident // recipe.cluster)) * recipe.cluster
        geometry = _Geometry(
            columns.in_row, columns.in_outer, columns.out_row, columns.out_outer, columns.width, tiles_of_outer, tiles
        )  # fmt: skip
        self.addresses = tuple(ctypes.c_void_p(0) for _ in range(4))
        values = (*self.addresses, geometry)
        self.arguments = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        self.geometry = geometry
        self.at = ctypes.addressof(self.arguments)

    def __call__(self, source: int, target: int, load_info: int, store_info: int, stream: int) -> None:
        for address, value in zip(self.addresses, (source, target, load_info, store_info), strict=True):
            address.value = value
        driver.launch_kernel(self.function, self.blocks, 1, 1, self.threads, 1, 1, self.nbytes, stream, self.at, None)
