"""A cuTENSOR over the fake driver: it computes nothing, but says which memory a contraction uses, and where it is queued."""
# ruff: noqa: N802, N815, the names of the C functions

from __future__ import annotations

import ctypes
from typing import Any

from fake.driver import FakeCuda, Trace, recorded


class FakeCutensor:
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    def __init__(self, trace: Trace, cuda: FakeCuda, workspace_nbytes: int) -> None:
        self.trace, self.cuda, self.workspace_nbytes = trace, cuda, workspace_nbytes
        self.made: dict[int, bool] = {}
        for position, name in enumerate(("16F", "16BF", "32F", "64F", "TF32", "3XTF32", "4X16F", "9X16BF", "8XINT8")):
            setattr(self, "CUTENSOR_COMPUTE_DESC_" + name, 50 + position)

    def current_device(self) -> int:
        return self.cuda.current_device() or 0

    def live(self) -> list[int]:
        """What is not destroyed."""
        return [number for number, alive in self.made.items() if alive]

    @recorded
    def cutensorCreate(self) -> int:
        return 8

    def cutensorGetVersion(self) -> int:
        return 20801

    def _make(self, *arguments: Any) -> int:
        number = 0x100 + 16 * len(self.made)
        self.made[number] = True
        return number

    def _destroy(self, number: int) -> None:
        if not self.made.get(number):
            self.cuda.hazard(f"the object {number:#x} was destroyed twice")
        self.made[number] = False

    cutensorDestroyTensorDescriptor = cutensorDestroyOperationDescriptor = cutensorDestroyPlanPreference = _destroy
    cutensorDestroyPlan = _destroy
    cutensorCreateReduction = cutensorCreateElementwiseBinary = cutensorCreatePlanPreference = _make

    @recorded
    def cutensorCreateTensorDescriptor(self, *arguments: Any) -> int:
        return self._make()

    @recorded
    def cutensorCreateContraction(self, *arguments: Any) -> int:
        return self._make()

    @recorded
    def cutensorCreateContractionTrinary(self, *arguments: Any) -> int:
        return self._make()

    def cutensorEstimateWorkspaceSize(self, *arguments: Any) -> int:
        return self.workspace_nbytes

    @recorded
    def cutensorCreatePlan(self, handle: int, operation: int, preference: int, limit: int) -> int:
        return self._make()

    def cutensorPlanGetAttribute(self, handle: int, plan: int, attribute: int, buffer: int, size: int) -> None:
        ctypes.c_uint64.from_address(buffer).value = self.workspace_nbytes

    def _run(self, plan: int, workspace: int, nbytes: int, stream: int, *used: int) -> None:
        if not self.made.get(plan):
            self.cuda.hazard("a plan was used that is destroyed")
        if self.workspace_nbytes and (not workspace or nbytes < self.workspace_nbytes):
            self.cuda.hazard("a plan was used without its workspace")
        if workspace % 256:
            self.cuda.hazard("a workspace is not aligned")
        self.cuda.queued(stream)
        self.cuda.touch(stream, *{*used, *([workspace] if workspace else [])})

    @recorded
    def cutensorContract(self, handle: int, plan: int, alpha: int, a: int, b: int, beta: int, c: int, d: int, *rest: int) -> None:
        self._run(plan, *rest, a, b, c, d)

    @recorded
    def cutensorContractTrinary(self, handle: int, plan: int, alpha: int, a: int, b: int, c: int, beta: int, d: int, *rest: int) -> None:
        e, *more = rest
        self._run(plan, *more, a, b, c, d, e)

    @recorded
    def cutensorReduce(self, handle: int, plan: int, alpha: int, a: int, beta: int, c: int, d: int, *rest: int) -> None:
        self._run(plan, *rest, a, c, d)
