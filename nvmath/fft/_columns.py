"""Transforms along columns on a GPU by a kernel of our own, which the user's callbacks are linked into.

cuFFT's ordinary kernels take no callbacks, and its kernels that do are slow along columns; an epilog in a kernel of its
own reads and writes the whole result once more. This kernel does the last pass of a transform and the epilog together.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Final

from .._core import kernels, log
from .._core import place as places
from ..bindings import _cuda as driver
from ..bindings import _nvjitlink as nvjitlink
from ..bindings import _nvrtc as nvrtc
from ._callbacks import Callback
from ._columns_source import Recipe, source
from ._passes import Columns

_MULTIPROCESSORS: Final = 16  # device attribute
_SHARED_OF_BLOCK: Final = 97  # device attribute
_DYNAMIC_SHARED: Final = 8  # function attribute
_FREE_SHARED: Final = 48 << 10

# What pays, by precision and length: the best first, then what a device can do that has no clusters or less shared memory.
#
# Measured on an H200 with cuFFT 12.0, in us; "before" is cuFFT and a kernel for the epilog:
#
#     R2C with an epilog, through the public interface; "before" at 4096 is the transform and a product by the array package
#                                                        before   now
#     512 x 4096                                           23.0   17.8
#     1024 x 4096                                          42.3   31.1
#     2048 x 4096                                          87.0   62.0
#     4096 x 4096                                         173.2  120.7 (a cluster of 2)
#     16 x 1024 x 1024                                    148.7  109.2
#
# The kernels alone, rows and columns of 4096 x 4096: a cluster of 2 takes 133.2, one block 142.2, the three kernels before 177.7.
# 8192 is left to cuFFT, which transforms both axes of 8192 x 4096 in less time than its rows and our columns take (314.6, 377.9).
# Shorter columns, and double precision, have not been measured.
RECIPES: Final[dict[tuple[str, int], tuple[Recipe, ...]]] = {
    ("float32", 512): (Recipe(512, 16, (8, 8, 8)),),
    ("float32", 1024): (Recipe(1024, 8, (16, 8, 8)),),
    ("float32", 2048): (Recipe(2048, 8, (16, 16, 8)),),
    ("float32", 4096): (Recipe(4096, 8, (16, 16, 16), cluster=2), Recipe(4096, 4, (16, 16, 16))),
}
_LEAST_WIDTH: Final = 16
_LEAST_ELEMENTS: Final = 1 << 16
_FIRST_WITH_CLUSTERS: Final = 9, 0


@dataclass(frozen=True, slots=True)
class Limits:
    """What a device can do."""

    capability: tuple[int, int]
    shared_nbytes: int  # of one block

    def allow(self, recipe: Recipe) -> bool:
        """Whether a kernel can run."""
        clusters = recipe.cluster == 1 or self.capability >= _FIRST_WITH_CLUSTERS
        return clusters and recipe.shared_nbytes <= self.shared_nbytes


def recipe_of(step: Columns, limits: Limits) -> Recipe | None:
    """Return how columns are transformed, or nothing when the library and a kernel for the callback are as good.

    Few columns leave most of a device idle, and little data does not earn back the second that linking takes.
    """
    if step.width < _LEAST_WIDTH or step.length * step.width * step.outer < _LEAST_ELEMENTS:
        return None
    return next(filter(limits.allow, RECIPES.get((step.precision.name, step.length), ())), None)


def limits_of(device: int) -> Limits:
    """The limits of a device."""
    return Limits(places.cuda(device).capability, driver.device_get_attribute(_SHARED_OF_BLOCK, device))


@cache
def toolkit_fault(capability: tuple[int, int]) -> str:
    """Return why the installed compiler and linker make no kernels for a compute capability, or an empty text."""
    architecture = 10 * capability[0] + capability[1]
    try:
        version = nvrtc.version()
        known = nvrtc.supported_archs()
        nvjitlink.version()
    except RuntimeError as error:  # not found, or too old to be asked
        return str(error).splitlines()[0]
    if architecture not in known:
        return f"NVRTC {version[0]}.{version[1]} does not know compute capability {capability[0]}.{capability[1]}"
    return ""


def pays(device: int, step: Columns) -> bool:
    """Whether columns shall be transformed here."""
    limits = limits_of(device)
    if recipe_of(step, limits) is None:
        return False
    fault = toolkit_fault(limits.capability)
    if fault:
        log.ROOT.debug("Callbacks are applied by a kernel of their own, not by the transform along columns: %s.", fault)
    return not fault


class _Geometry(ctypes.Structure):
    _fields_ = (
        ("in_row", ctypes.c_longlong), ("in_outer", ctypes.c_longlong),
        ("out_row", ctypes.c_longlong), ("out_outer", ctypes.c_longlong),
        ("columns", ctypes.c_uint), ("tiles_of_outer", ctypes.c_uint), ("tiles", ctypes.c_uint),
    )  # fmt: skip


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
    """A kernel over given columns; only the addresses change from call to call, those of the callbacks' data too.

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
    callbacks : (Callback or None, Callback or None), optional
        Prolog and epilog. The step says whether they are applied, to every element that is loaded or stored; the flat
        offsets count from the addresses of a call.
    """

    def __init__(
        self,
        device: int,
        recipe: Recipe,
        columns: Columns,
        inverse: bool,
        callbacks: tuple[Callback | None, Callback | None] = (None, None),
    ) -> None:
        prolog, epilog = callbacks[0] if columns.prolog else None, callbacks[1] if columns.epilog else None
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
