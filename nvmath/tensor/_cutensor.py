"""Contractions on a GPU through cuTENSOR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from .._core import kernels, memory_limit
from .._core.layout import contiguous, is_dense, stride_order
from .._core.lifetime import Closing
from .._core.place import Cuda
from ..bindings import _cuda as driver
from ..bindings import cutensor
from ._cutensor_objects import CONJ, IDENTITY, LARGEST_ALIGNMENT, Objects, compute_descriptor, handle_of
from ._options import ContractionOptions
from ._preference import Preference
from ._problem import ContractionProblem, Tensor, nested
from ._scalars import Scalars

_ALIGNED: Final = 256
_REDUCED_FROM: Final = 16
"""cutensorReduce reads and writes 16 bytes at a time, whatever alignment it was promised (2.8.1; the GPU faults otherwise)."""
Prepare = Callable[[int, int, int, int], None]
"""(source, target, the library's workspace, stream)"""


@dataclass(slots=True)
class _Before:
    """What is done to an operand before the contraction; the result lies in the workspace."""

    operand: int
    nbytes: int
    library_nbytes: int
    run: Prepare
    offset: int = 0  # of the result


class CutensorPlan(Closing):
    """A contraction on one GPU."""

    single: Prepare

    def __init__(
        self, problem: ContractionProblem, place: Cuda, scalars: Scalars, options: ContractionOptions, preference: Preference
    ) -> None:
        self.problem, self.place, self.scalars = problem, place, scalars
        self.nbytes = self.workspace = self.workspace_nbytes = self.library_nbytes = 0
        self.before: list[_Before] = []
        self.objects = Objects(0, problem.extents, problem.dtype, 0)
        self.addend = problem.addend
        self.ones = Scalars(problem.scalar)
        if problem.empty:
            return
        with place.current():
            objects = self.objects
            objects.handle = handle_of(place.device_id) if options.handle is None else int(options.handle)
            objects.limit = memory_limit.bytes_of(
                options.memory_limit, driver.device_total_mem(driver.device_get(place.device_id))
            )  # fmt: skip
            try:
                if problem.vanishing:
                    self._prepare_vanishing()
                elif len(problem.inputs) == 1:
                    self._prepare_single()
                else:
                    self._prepare(preference)
            except BaseException:
                self.close()
                raise

    # --- making -------------------------------------------------------------------------------------------------------------------

    def _prepare(self, preference: Preference) -> None:
        problem, objects = self.problem, self.objects
        compute = compute_descriptor(problem.compute, self.place.capability)
        kept = set(problem.output.modes)
        inputs = []
        for number, tensor in enumerate(problem.inputs):
            others = kept.union(*(other.modes for other in problem.inputs if other is not tensor))
            inputs.append(self._summed(number, tensor, others))
        self._pack_addend()
        dummy = any(not tensor.modes for tensor in inputs)
        arguments: list[Any] = []
        for tensor in inputs:
            desc, modes = objects.describe(tensor, dummy)
            arguments += [desc, modes, CONJ if tensor.conj else IDENTITY]
        desc, modes = objects.describe(self._both_outputs(), dummy)
        arguments += [desc, modes, IDENTITY, desc, modes, compute]
        create = cutensor.create_contraction if len(inputs) == 2 else cutensor.create_contraction_trinary
        operation = objects.own(cutensor.destroy_operation_descriptor, create(objects.handle, *arguments))
        self.plan, self.library_nbytes = objects.plan(operation, preference)
        self.execute = cutensor.contract if len(inputs) == 2 else cutensor.contract_trinary
        self._place_scratch()

    def _prepare_single(self) -> None:
        """One operand: a sum over the modes that the result lacks, or a copy."""
        objects, output = self.objects, self.problem.output
        (tensor,) = self.problem.inputs
        if len(tensor.modes) == len(output.modes):
            self._copied(tensor)
        elif objects.promised(output) >= _REDUCED_FROM:
            plan, self.library_nbytes = objects.reduction(self._packed(0, tensor, _REDUCED_FROM), output)
            self.single = self._reduce(plan, self.library_nbytes)
        else:
            self._copied(self._summed(0, tensor, set(output.modes)))
        self._place_scratch()

    def _copied(self, tensor: Tensor) -> None:
        """The result is a copy of what lies in the workspace, or of the operand."""
        output, dtype = self.problem.output, self.problem.dtype
        strides = tuple(tensor.stride(mode) for mode in output.modes)
        extents = self.objects.extents_of(output)
        move = kernels.move(self.place.device_id, extents, strides, output.strides, dtype, dtype)
        self.single = lambda source, target, work, stream: move(source, target, stream)

    def _reduce(self, plan: int, nbytes: int) -> Prepare:
        handle, one, zero = self.objects.handle, self.ones.alpha_ptr, self.ones.beta_ptr

        def run(source: int, target: int, work: int, stream: int) -> None:
            cutensor.reduce(handle, plan, one, source, zero, target, target, work, nbytes, stream)

        return run

    def _prepare_vanishing(self) -> None:
        """Every sum is over nothing: the result is beta * addend, or zero."""
        self._pack_addend()
        if self.addend is not None:
            self.scale = self.objects.scaling(self._both_outputs())
        self.library_nbytes = _ALIGNED
        self._place_scratch()

    def _place_scratch(self) -> None:
        offset = _rounded(max([self.library_nbytes, *(step.library_nbytes for step in self.before)]))
        for step in self.before:
            step.offset = offset
            offset += _rounded(step.nbytes)
        self.workspace_nbytes = offset

    def _both_outputs(self) -> Tensor:
        """The result, and the addend where it is read directly: they share a descriptor, so also the alignment."""
        output, addend = self.problem.output, self.addend
        alignment = output.alignment or LARGEST_ALIGNMENT
        if addend is not None and addend.strides == output.strides:
            alignment = min(alignment, addend.alignment or LARGEST_ALIGNMENT)
        return Tensor(output.modes, output.strides, alignment=alignment)

    def _scratch(self, number: int, tensor: Tensor, library_nbytes: int, run: Prepare) -> None:
        nbytes = prod(self.objects.extents_of(tensor)) * self.problem.dtype.itemsize
        self.before.append(_Before(number, nbytes, library_nbytes, run))

    def _packed(self, number: int, tensor: Tensor, least: int = 1) -> Tensor:
        """Plan a copy of an operand in a layout that the library is not given.

        It asks for positive strides of which each steps over all that the smaller ones reach. Layouts without neighbours in memory
        (every second element, a diagonal) are copied too: the library's kernels are made for a mode of stride 1.
        """
        extents = self.objects.extents_of(tensor)
        if nested(extents, tensor.strides) and self.objects.promised(tensor) >= least:
            return tensor
        order = stride_order(extents, tensor.strides)[::-1]
        modes, sizes = tuple(tensor.modes[axis] for axis in order), tuple(extents[axis] for axis in order)
        packed = Tensor(modes, contiguous(sizes), tensor.conj, LARGEST_ALIGNMENT)
        strides = tuple(tensor.strides[axis] for axis in order)
        move = kernels.move(self.place.device_id, sizes, strides, packed.strides, self.problem.dtype, self.problem.dtype)
        self._scratch(number, packed, 0, lambda source, target, work, stream: move(source, target, stream))
        return packed

    def _pack_addend(self) -> None:
        """cuTENSOR wants the addend in the layout of the result: where it is not, it is copied into the result first."""
        addend, output = self.problem.addend, self.problem.output
        self.fill: Callable[[int, int, int], None] | None = None
        if addend is not None and addend.strides != output.strides:
            extents = self.objects.extents_of(output)
            dtype = self.problem.dtype
            self.fill = kernels.move(self.place.device_id, extents, addend.strides, output.strides, dtype, dtype)

    def _summed(self, number: int, tensor: Tensor, others: set[int]) -> Tensor:
        """Plan the sum over modes that no other array has; return the operand of the contraction."""
        rest = tuple(mode for mode in tensor.modes if mode in others)
        if len(rest) == len(tensor.modes):
            return self._packed(number, tensor)
        tensor, objects = self._packed(number, tensor, _REDUCED_FROM), self.objects
        rest = tuple(mode for mode in tensor.modes if mode in others)
        result = Tensor(rest, contiguous(tuple(objects.extents[mode] for mode in rest)), tensor.conj, LARGEST_ALIGNMENT)
        plan, nbytes = objects.reduction(tensor, result)
        self._scratch(number, result, nbytes, self._reduce(plan, nbytes))
        return result

    @property
    def description(self) -> str:
        """Who computes it, after which copies and sums."""
        before = f" after {len(self.before)} copies or sums of operands" if self.before else ""
        return f"cuTENSOR{before}, workspace of {self.workspace_nbytes} bytes"

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
            return self._vanishing()
        if len(problem.inputs) == 1:
            return self._alone()
        scalars, handle, plan, execute = self.scalars, self.objects.handle, self.plan, self.execute
        alpha, beta, nbytes = scalars.alpha_ptr, scalars.beta_ptr, self.library_nbytes
        nothing = self._without_product()
        if problem.addend is None and not self.before and len(problem.inputs) == 2:

            def run(a: int, b: int, out: int, stream: int) -> None:
                if scalars.alpha == 0:
                    nothing(out, stream)
                    return
                execute(handle, plan, alpha, a, b, beta, out, out, self.workspace, nbytes, stream)

            return run
        count = len(problem.inputs)

        def run_all(*arguments: int) -> None:
            if scalars.alpha == 0:
                nothing(*arguments)
                return
            operands, out, stream = list(arguments[:count]), arguments[-2], arguments[-1]
            workspace = self.workspace
            for step in self.before:
                target = workspace + step.offset
                step.run(operands[step.operand], target, workspace, stream)
                operands[step.operand] = target
            source = self._addend(arguments, out, stream)
            execute(handle, plan, alpha, *operands, beta, source, out, workspace, nbytes, stream)

        return run_all

    def _alone(self) -> Callable[..., None]:
        single, before = self.single, self.before

        def run(source: int, out: int, stream: int) -> None:
            for step in before:
                step.run(source, self.workspace + step.offset, self.workspace, stream)
                source = self.workspace + step.offset
            single(source, out, self.workspace, stream)

        return run

    def _addend(self, arguments: tuple[int, ...], out: int, stream: int) -> int:
        """The address of the addend in the layout of the result; the result itself where nothing is added."""
        if self.addend is None or self.scalars.beta == 0:
            return out
        addend = arguments[len(self.problem.inputs)]
        if self.fill is None:
            return addend
        self.fill(addend, out, stream)
        return out

    def _without_product(self) -> Callable[..., None]:
        """What an alpha of 0 asks for: no operand is read, and the result is beta * addend, or zero. Few ask, so it is made then."""
        made: list[Callable[..., None]] = []

        def run(*arguments: int) -> None:
            if not made:
                with self.place.current():
                    made.append(self._scaled_addend())
            made[0](*arguments)

        return run

    def _scaled_addend(self) -> Callable[..., None]:
        zeros, scalars = self._zeros(), self.scalars
        if self.addend is None:
            return zeros
        handle, none, scale = self.objects.handle, self.ones.beta_ptr, self.objects.scaling(self._both_outputs())

        def run(*arguments: int) -> None:
            out, stream = arguments[-2], arguments[-1]
            if scalars.beta == 0:
                zeros(*arguments)
                return
            source = self._addend(arguments, out, stream)
            # the scalar that is to be added is not read, since its factor is 0: any address will do
            cutensor.elementwise_binary_execute(handle, scale, none, source, scalars.beta_ptr, source, out, stream)

        return run

    def _vanishing(self) -> Callable[..., None]:
        zeros, scalars = self._zeros(), self.scalars
        if self.addend is None:
            return zeros
        handle, none, scale, item = self.objects.handle, self.ones.beta_ptr, self.scale, self.problem.dtype.itemsize

        def run(*arguments: int) -> None:
            out, stream = arguments[-2], arguments[-1]
            if scalars.beta == 0:
                zeros(*arguments)
                return
            driver.memset_d8_async(self.workspace, 0, item, stream)
            source = self._addend(arguments, out, stream)
            cutensor.elementwise_binary_execute(handle, scale, none, self.workspace, scalars.beta_ptr, source, out, stream)

        return run

    def _zeros(self) -> Callable[..., None]:
        problem = self.problem
        item, extents = problem.dtype.itemsize, problem.out_shape
        if is_dense(extents, problem.out_strides):
            nbytes = item * prod(extents)
            return lambda *arguments: driver.memset_d8_async(arguments[-2], 0, nbytes, arguments[-1])
        move = kernels.move(
            self.place.device_id, extents, (0,) * len(extents), problem.out_strides, problem.dtype, problem.dtype
        )

        def run(*arguments: int) -> None:
            out, stream = arguments[-2:]
            driver.memset_d8_async(out, 0, item, stream)
            move(out, out, stream)  # its first element everywhere

        return run

    def close(self) -> None:
        """Queue everything for destruction."""
        self.objects.close()


def _rounded(nbytes: int) -> int:
    return -(-nbytes // _ALIGNED) * _ALIGNED
