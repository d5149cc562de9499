"""Contractions on a GPU through cuTENSOR."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .._core import kernels, memory_limit
from .._core.layout import Ints, contiguous, is_dense
from .._core.place import Cuda, discard
from ..bindings import _cuda as driver
from ..bindings import cutensor
from ._options import ContractionOptions
from ._preference import Preference
from ._problem import ADDEND, ContractionProblem, Tensor
from ._scalars import Scalars

_IDENTITY, _CONJ, _ADD = 1, 9, 3
_WORKSPACE_DEFAULT: Final = 2
_REQUIRED_WORKSPACE: Final = 0
_ALIGNED: Final = 256
_LARGEST_ALIGNMENT: Final = 256
_REDUCES_IN: Final = {"float64": "64F", "complex128": "64F"}

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


def alignment_of(ptr: int) -> int:
    """Return the largest power of two, up to what cuTENSOR can use, that divides an address."""
    return min(_LARGEST_ALIGNMENT, ptr & -ptr) if ptr else _LARGEST_ALIGNMENT


_ATTRIBUTES: Final = {
    "autotune_mode": 0, "cache_mode": 1, "incremental_count": 2, "kernel_rank": 4, "gpu_arch": 6,
}  # fmt: skip


@dataclass(slots=True)
class _Sum:
    """An operand whose own modes are summed over before the contraction."""

    operand: int
    plan: int
    workspace_nbytes: int
    offset: int = 0  # of the sums in the workspace


class CutensorPlan:
    """A contraction on one GPU."""

    def __init__(
        self, problem: ContractionProblem, place: Cuda, scalars: Scalars, options: ContractionOptions, preference: Preference
    ) -> None:
        self.problem, self.place, self.scalars = problem, place, scalars
        self.nbytes = 0
        self.workspace = 0
        self.garbage: list[tuple[Callable[[int], object], int]] = []
        self.sums: list[_Sum] = []
        self.ones = Scalars(problem.scalar)
        with place.current():
            if problem.empty or problem.vanishing:
                self.workspace_nbytes = self.library_nbytes = self._prepare_trivial()
                return
            self.handle = handle_of(place.device_id) if options.handle is None else int(options.handle)
            self.limit = memory_limit.bytes_of(options.memory_limit, driver.device_total_mem(driver.device_get(place.device_id)))
            try:
                self._prepare(preference)
            except BaseException:
                self.close()
                raise

    # --- making -------------------------------------------------------------------------------------------------------------------

    def _prepare_trivial(self) -> int:
        problem = self.problem
        if problem.vanishing and problem.addend is not None:
            raise ValueError(
                f"A contraction that sums over a mode of extent 0 and has the addend {ADDEND[len(problem.inputs)]} is not implemented on "
                'a GPU: the result is beta times the addend. Use that, or execution="cpu".'
            )
        return _ALIGNED if problem.vanishing else 0

    def _prepare(self, preference: Preference) -> None:
        problem = self.problem
        _refuse_broken_emulation(problem.compute, cutensor.get_version())
        kept = set(problem.output.modes)
        inputs = []
        for number, tensor in enumerate(problem.inputs):
            others = kept.union(*(other.modes for other in problem.inputs if other is not tensor))
            inputs.append(self._summed(number, tensor, others))
        compute = cutensor.ComputeDesc._read(problem.compute)
        dummy = any(not tensor.modes for tensor in inputs)
        arguments: list[Any] = []
        for tensor in inputs:
            desc, modes = self._describe(tensor, dummy)
            arguments += [desc, modes, _CONJ if tensor.conj else _IDENTITY]
        desc, modes = self._describe(self._both_outputs(), dummy)
        arguments += [desc, modes, _IDENTITY, desc, modes, compute]
        create = cutensor.create_contraction if len(inputs) == 2 else cutensor.create_contraction_trinary
        operation = self._own(cutensor.destroy_operation_descriptor, create(self.handle, *arguments))
        self.plan, self.library_nbytes = self._plan(operation, preference)
        self.execute = cutensor.contract if len(inputs) == 2 else cutensor.contract_trinary
        offset = -(-max([self.library_nbytes, *(step.workspace_nbytes for step in self.sums)]) // _ALIGNED) * _ALIGNED
        for step in self.sums:
            step.offset = offset
            count = 1
            for mode in inputs[step.operand].modes:
                count *= problem.extents[mode]
            offset += -(-count * problem.dtype.itemsize // _ALIGNED) * _ALIGNED
        self.workspace_nbytes = offset

    def _both_outputs(self) -> Tensor:
        """The result, and the addend where it is read directly: they share a descriptor, so also the alignment."""
        output, addend = self.problem.output, self.problem.addend
        alignment = output.alignment or _LARGEST_ALIGNMENT
        if addend is not None and addend.strides == output.strides:
            alignment = min(alignment, addend.alignment or _LARGEST_ALIGNMENT)
        return Tensor(output.modes, output.strides, alignment=alignment)

    def _own(self, destroy: Callable[[int], object], handle: int) -> int:
        self.garbage.append((destroy, handle))
        return handle

    def _promised(self, tensor: Tensor) -> int:
        """Return the alignment that the library may count on: that of whole arrays, or for views nothing beyond their elements."""
        whole = tensor.alignment in (0, _LARGEST_ALIGNMENT)
        return _LARGEST_ALIGNMENT if whole else self.problem.dtype.itemsize

    def _describe(self, tensor: Tensor, dummy: bool = False) -> tuple[int, Ints]:
        """Make a tensor descriptor; return it with the modes."""
        extents = tuple(self.problem.extents[mode] for mode in tensor.modes)
        strides, modes = tensor.strides, tensor.modes
        if dummy:  # a mode of extent 1, since a tensor without modes need not be accepted
            extents, strides, modes = (*extents, 1), (*strides, 1), (*modes, len(self.problem.extents))
        desc = cutensor.create_tensor_descriptor(
            self.handle, len(modes), extents, strides, self.problem.dtype.code, self._promised(tensor)
        )
        return self._own(cutensor.destroy_tensor_descriptor, desc), modes

    def _plan(self, operation: int, preference: Preference | None) -> tuple[int, int]:
        """Choose the kernels of an operation; return the plan and the workspace it needs."""
        wanted = preference or Preference()
        pref = self._own(
            cutensor.destroy_plan_preference, cutensor.create_plan_preference(self.handle, wanted.algo, wanted.jit)
        )
        for name in sorted(wanted.changed & _ATTRIBUTES.keys()):
            value = array("i", [getattr(wanted, name)])
            cutensor.plan_preference_set_attribute(self.handle, pref, _ATTRIBUTES[name], value.buffer_info()[0], 4)
        estimate = cutensor.estimate_workspace_size(self.handle, operation, pref, _WORKSPACE_DEFAULT)
        plan = cutensor.create_plan(self.handle, operation, pref, min(estimate, self.limit))
        self._own(cutensor.destroy_plan, plan)
        needed = array("Q", [0])
        cutensor.plan_get_attribute(self.handle, plan, _REQUIRED_WORKSPACE, needed.buffer_info()[0], 8)
        return plan, needed[0]

    def _summed(self, number: int, tensor: Tensor, others: set[int]) -> Tensor:
        """Plan the sum over modes that no other array has; return the operand of the contraction."""
        rest = tuple(mode for mode in tensor.modes if mode in others)
        if len(rest) == len(tensor.modes):
            return tensor
        problem = self.problem
        result = Tensor(rest, contiguous(tuple(problem.extents[mode] for mode in rest)), tensor.conj, _LARGEST_ALIGNMENT)
        source, source_modes = self._describe(tensor)
        target, modes = self._describe(result)
        compute = cutensor.ComputeDesc._read(_REDUCES_IN.get(problem.dtype.name, "32F"))
        operation = cutensor.create_reduction(
            self.handle, source, source_modes, _IDENTITY, target, modes, _IDENTITY, target, modes, _ADD, compute
        )
        self._own(cutensor.destroy_operation_descriptor, operation)
        plan, nbytes = self._plan(operation, None)
        self.sums.append(_Sum(number, plan, nbytes))
        return result

    # --- running ------------------------------------------------------------------------------------------------------------------

    def attach(self, workspace: int) -> None:
        """Use a work area from now on."""
        self.workspace = workspace

    def launch(self) -> Callable[..., None]:
        """Return the function that computes the problem: addresses of the operands and of the result, and the stream."""
        problem = self.problem
        if problem.empty:
            return lambda *_: None
        if problem.vanishing:
            return self._zeros()
        scalars, handle, plan, execute = self.scalars, self.handle, self.plan, self.execute
        alpha, beta, nbytes = scalars.alpha_ptr, scalars.beta_ptr, self.library_nbytes
        if problem.addend is None and not self.sums and len(problem.inputs) == 2:

            def run(a: int, b: int, out: int, stream: int) -> None:
                execute(handle, plan, alpha, a, b, beta, out, out, self.workspace, nbytes, stream)

            return run
        count, addend = len(problem.inputs), self._addend()

        def run_all(*arguments: int) -> None:
            operands, out, stream = list(arguments[:count]), arguments[-2], arguments[-1]
            for step in self.sums:
                operands[step.operand] = self._sum(step, operands[step.operand], stream)
            source = out if problem.addend is None else addend(arguments[count], out, stream)
            execute(handle, plan, alpha, *operands, beta, source, out, self.workspace, nbytes, stream)

        return run_all

    def _sum(self, step: _Sum, source: int, stream: int) -> int:
        target = self.workspace + step.offset
        ones = self.ones
        cutensor.reduce(
            self.handle, step.plan, ones.alpha_ptr, source, ones.beta_ptr, target, target, self.workspace, step.workspace_nbytes,
            stream,
        )  # fmt: skip
        return target

    def _addend(self) -> Callable[[int, int, int], int]:
        """cuTENSOR wants the addend in the layout of the result: where it is not, it is copied into the result first."""
        problem, scalars = self.problem, self.scalars
        if problem.addend is None or problem.addend.strides == problem.output.strides:
            return lambda addend, out, stream: addend
        extents = tuple(problem.extents[mode] for mode in problem.output.modes)
        move = kernels.move(
            self.place.device_id, extents, problem.addend.strides, problem.output.strides, problem.dtype, problem.dtype
        )

        def copied(addend: int, out: int, stream: int) -> int:
            if scalars.beta != 0:
                move(addend, out, stream)
            return out

        return copied

    def _zeros(self) -> Callable[..., None]:
        problem = self.problem
        item, extents = problem.dtype.itemsize, problem.out_shape
        if is_dense(extents, problem.out_strides):
            nbytes = item * _count(extents)
            return lambda *arguments: driver.memset_d8_async(arguments[-2], 0, nbytes, arguments[-1])
        move = kernels.move(
            self.place.device_id, extents, (0,) * len(extents), problem.out_strides, problem.dtype, problem.dtype
        )

        def run(*arguments: int) -> None:
            driver.memset_d8_async(self.workspace, 0, item, arguments[-1])
            move(self.workspace, arguments[-2], arguments[-1])

        return run

    def close(self) -> None:
        """Queue everything for destruction, the last made first."""
        garbage, self.garbage = self.garbage, []
        for destroy, handle in reversed(garbage):
            discard(destroy, handle)

    def __del__(self) -> None:
        self.close()


def _count(extents: Sequence[int]) -> int:
    count = 1
    for extent in extents:
        count *= extent
    return count


def _refuse_broken_emulation(compute: str, version: int) -> None:
    """cuTENSOR 2.5.0 computes 8XINT8 wrongly."""
    if compute == "8XINT8" and version == 20500:
        raise RuntimeError("COMPUTE_8XINT8 does not work in cuTENSOR 2.5.0. Install another version, or use COMPUTE_64F.")


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _handles.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
