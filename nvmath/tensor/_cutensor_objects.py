"""The objects of cuTENSOR that one plan owns: descriptors, plan preferences, plans; and what the library can be given."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Callable
from typing import Final

from .._core.dtypes import DType
from .._core.layout import Ints, is_dense
from .._core.place import discard
from ..bindings import cutensor
from ._preference import Preference
from ._problem import Tensor

IDENTITY, CONJ, ADD = 1, 9, 3
_WORKSPACE_DEFAULT: Final = 2
_REQUIRED_WORKSPACE: Final = 0
LARGEST_ALIGNMENT: Final = 256
_ACCUMULATES_IN: Final = {"float64": "64F", "complex128": "64F"}

_EMULATED_ON_BLACKWELL: Final = ("4X16F", "9X16BF")
"""Single precision made of narrower products. On a GPU before Blackwell the library gives no more than TF32 has (2.8.1 on an H200)
instead of saying that it cannot: there single precision itself is taken."""
_BLACKWELL: Final = (10, 0)

_ATTRIBUTES: Final = {
    "autotune_mode": 0, "cache_mode": 1, "incremental_count": 2, "kernel_rank": 4, "gpu_arch": 6,
}  # fmt: skip

_handles: dict[int, int] = {}
_lock = threading.Lock()


def handle_of(device: int) -> int:
    """Return our cuTENSOR handle of the current device; cuTENSOR's handles may be used by several threads."""
    handle = _handles.get(device)
    if handle is None:
        with _lock:
            handle = _handles.get(device)
            if handle is None:
                handle = _handles[device] = cutensor.create()
    return handle


def alignment_of(number: int) -> int:
    """Return the largest power of two, up to what cuTENSOR can use, that divides a number of bytes (0: anything does)."""
    return min(LARGEST_ALIGNMENT, number & -number) if number else LARGEST_ALIGNMENT


class Objects:
    """What one plan made in cuTENSOR; it is destroyed with the plan."""

    def __init__(self, handle: int, extents: Ints, dtype: DType, limit: int) -> None:
        self.handle, self.extents, self.dtype, self.limit = handle, extents, dtype, limit
        self.garbage: list[tuple[Callable[[int], object], int]] = []

    def own(self, destroy: Callable[[int], object], handle: int) -> int:
        """Note how to destroy an object."""
        self.garbage.append((destroy, handle))
        return handle

    def extents_of(self, tensor: Tensor) -> Ints:
        """Extents of the modes of a tensor."""
        return tuple(self.extents[mode] for mode in tensor.modes)

    def promised(self, tensor: Tensor) -> int:
        """Return the alignment that the library may count on: of a view with gaps, what every step in it keeps."""
        alignment = tensor.alignment or LARGEST_ALIGNMENT
        if is_dense(self.extents_of(tensor), tensor.strides):
            return alignment
        steps = (alignment_of(stride * self.dtype.itemsize) for stride in tensor.strides if stride != 1)
        return min(alignment, *steps, LARGEST_ALIGNMENT)

    def describe(self, tensor: Tensor, dummy: bool = False) -> tuple[int, Ints]:
        """Make a tensor descriptor; return it with the modes."""
        extents, strides, modes = self.extents_of(tensor), tensor.strides, tensor.modes
        if dummy:  # a mode of extent 1, since a tensor without modes need not be accepted
            extents, strides, modes = (*extents, 1), (*strides, 1), (*modes, len(self.extents))
        desc = cutensor.create_tensor_descriptor(
            self.handle, len(modes), extents, strides, self.dtype.code, self.promised(tensor)
        )
        return self.own(cutensor.destroy_tensor_descriptor, desc), modes

    def accumulation(self) -> int:
        """The compute descriptor of sums and copies."""
        return cutensor.ComputeDesc._read(_ACCUMULATES_IN.get(self.dtype.name, "32F"))

    def plan(self, operation: int, preference: Preference | None = None) -> tuple[int, int]:
        """Choose the kernels of an operation; return the plan and the workspace it needs."""
        wanted = preference or Preference()
        pref = self.own(
            cutensor.destroy_plan_preference, cutensor.create_plan_preference(self.handle, wanted.algo, wanted.jit)
        )
        for name in sorted(wanted.changed & _ATTRIBUTES.keys()):
            value = array("i", [getattr(wanted, name)])
            cutensor.plan_preference_set_attribute(self.handle, pref, _ATTRIBUTES[name], value.buffer_info()[0], 4)
        estimate = cutensor.estimate_workspace_size(self.handle, operation, pref, _WORKSPACE_DEFAULT)
        plan = self.own(
            cutensor.destroy_plan, cutensor.create_plan(self.handle, operation, pref, min(estimate, self.limit))
        )
        needed = array("Q", [0])
        cutensor.plan_get_attribute(self.handle, plan, _REQUIRED_WORKSPACE, needed.buffer_info()[0], 8)
        return plan, needed[0]

    def reduction(self, source: Tensor, target: Tensor) -> tuple[int, int]:
        """Plan the sum over the modes that the target lacks."""
        described, source_modes = self.describe(source)
        result, modes = self.describe(target)
        operation = cutensor.create_reduction(
            self.handle, described, source_modes, IDENTITY, result, modes, IDENTITY, result, modes, ADD, self.accumulation()
        )
        return self.plan(self.own(cutensor.destroy_operation_descriptor, operation))

    def scaling(self, target: Tensor) -> int:
        """Plan ``target = 0 * scalar + beta * target``, element by element; the library does not read a scalar whose factor is 0."""
        nothing, modes = self.describe(Tensor((), (), alignment=self.dtype.itemsize))
        result, result_modes = self.describe(target)
        operation = cutensor.create_elementwise_binary(
            self.handle, nothing, modes, IDENTITY, result, result_modes, IDENTITY, result, result_modes, ADD, self.accumulation()
        )
        return self.plan(self.own(cutensor.destroy_operation_descriptor, operation))[0]

    def close(self) -> None:
        """Queue everything for destruction, the last made first."""
        garbage, self.garbage = self.garbage, []
        for destroy, handle in reversed(garbage):
            discard(destroy, handle)


def refuse_broken_emulation(compute: str, version: int) -> None:
    """cuTENSOR 2.5.0 computes 8XINT8 wrongly."""
    if compute == "8XINT8" and version == 20500:
        raise RuntimeError("COMPUTE_8XINT8 does not work in cuTENSOR 2.5.0. Install another version, or use COMPUTE_64F.")


def compute_descriptor(compute: str, capability: tuple[int, int]) -> int:
    """Return the library's constant for a compute type on a GPU of some compute capability."""
    refuse_broken_emulation(compute, cutensor.get_version())
    return cutensor.ComputeDesc._read("32F" if compute in _EMULATED_ON_BLACKWELL and capability < _BLACKWELL else compute)


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _handles.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

