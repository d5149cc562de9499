"""A cuTENSOR that computes in host memory, and is as particular as the real one: what is promised must hold, or it complains."""
# ruff: noqa: N802, N815, the names of the C functions

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from nvmath._core import kernels_host
from nvmath._core.dtypes import DTYPES, DType
from nvmath.bindings.cutensor import cuTENSORError

ROWS = {row.code: row for row in DTYPES.values()}
SCALARS = {"float16": "float32"}
CONJ = 9
NOT_SUPPORTED = 15


@dataclass
class Described:
    """A tensor descriptor."""

    extents: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType
    alignment: int

    def at(self, address: int, least: int = 1) -> np.ndarray:
        """The tensor at an address, which must keep the promise."""
        assert address % self.alignment == 0, f"promised a multiple of {self.alignment}, got {address:#x}"
        assert address % least == 0, f"misaligned address: {address:#x} is read {least} bytes at a time"
        return kernels_host.array_at(address, self.extents, self.strides, self.dtype)


class HostCutensor:
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    def __init__(self, workspace_nbytes: int = 0, trinary: bool = True) -> None:
        self.workspace_nbytes, self.trinary = workspace_nbytes, trinary
        self.made: dict[int, Any] = {}
        for position, name in enumerate(("16F", "16BF", "32F", "64F", "TF32", "3XTF32", "4X16F", "9X16BF", "8XINT8")):
            setattr(self, "CUTENSOR_COMPUTE_DESC_" + name, 50 + position)

    def keep(self, what: Any) -> int:
        """Give an object a number."""
        number = 1000 + len(self.made)
        self.made[number] = what
        return number

    def cutensorCreate(self) -> int:
        return 8

    def cutensorGetVersion(self) -> int:
        return 20801

    def destroy(self, number: int) -> None:
        """Destroy an object once."""
        del self.made[number]

    cutensorDestroyTensorDescriptor = cutensorDestroyOperationDescriptor = cutensorDestroyPlan = destroy
    cutensorDestroyPlanPreference = destroy

    def cutensorCreateTensorDescriptor(self, handle: int, count: int, extents: Any, strides: Any, code: int, alignment: int) -> int:
        assert count == len(extents) == len(strides)
        assert all(extent > 0 for extent in extents)
        reach = 1
        for stride, extent in sorted(zip(strides, extents, strict=True)):
            assert stride >= (reach if extent > 1 else 1), f"strides {strides} of {extents} do not nest"
            reach = max(reach, stride * extent)
        assert alignment % ROWS[code].itemsize == 0
        return self.keep(Described(tuple(extents), tuple(strides), ROWS[code], alignment))

    def _operation(self, kind: str, *tensors: tuple[int, Any, int]) -> int:
        for desc, modes, _ in tensors:
            assert len(set(modes)) == len(modes) == len(self.made[desc].extents)
        return self.keep((kind, [(self.made[desc], list(modes), operator) for desc, modes, operator in tensors]))

    def cutensorCreateContraction(self, handle: int, *a: Any) -> int:
        assert a[6:8] == a[9:11]
        inputs = set(a[1]) | set(a[4])
        assert set(a[10]) <= inputs
        assert all(mode in {*a[10], *other} for own, other in ((a[1], a[4]), (a[4], a[1])) for mode in own), "a mode of one operand"
        return self._operation("contract", a[0:3], a[3:6], (a[9], a[10], 1))

    def cutensorCreateContractionTrinary(self, handle: int, *a: Any) -> int:
        if not self.trinary:
            raise cuTENSORError(NOT_SUPPORTED)
        assert a[9:11] == a[12:14]
        return self._operation("contract", a[0:3], a[3:6], a[6:9], (a[12], a[13], 1))

    def cutensorCreateReduction(self, handle: int, *a: Any) -> int:
        assert a[3:5] == a[6:8]
        return self._operation("reduce", a[0:3], (a[6], a[7], 1))

    def cutensorCreateElementwiseBinary(self, handle: int, *a: Any) -> int:
        assert a[3:5] == a[6:8]
        return self._operation("elementwise", a[0:3], (a[6], a[7], 1))

    def cutensorCreatePlanPreference(self, handle: int, algo: int, jit: int) -> int:
        return self.keep("preference")

    def cutensorEstimateWorkspaceSize(self, handle: int, operation: int, preference: int, kind: int) -> int:
        return self.workspace_nbytes

    def cutensorCreatePlan(self, handle: int, operation: int, preference: int, limit: int) -> int:
        assert limit >= self.workspace_nbytes
        return self.keep(self.made[operation])

    def cutensorPlanGetAttribute(self, handle: int, plan: int, attribute: int, buffer: int, size: int) -> None:
        ctypes.c_uint64.from_address(buffer).value = self.workspace_nbytes

    def _scribble(self, workspace: int, nbytes: int) -> None:
        """The library may write anything into its workspace."""
        assert nbytes >= self.workspace_nbytes
        if self.workspace_nbytes:
            assert workspace % 256 == 0
            ctypes.memset(workspace, 0xAB, self.workspace_nbytes)

    def cutensorContract(self, handle: int, plan: int, alpha: int, a: int, b: int, *rest: int) -> None:
        self._contract(plan, alpha, (a, b), *rest)

    def cutensorContractTrinary(self, handle: int, plan: int, alpha: int, a: int, b: int, c: int, *rest: int) -> None:
        self._contract(plan, alpha, (a, b, c), *rest)

    def _contract(
        self, plan: int, alpha: int, inputs: tuple[int, ...], beta: int, c: int, d: int, workspace: int, nbytes: int, stream: int
    ) -> None:
        kind, (*tensors, (out, modes, _)) = self.made[plan]
        assert kind == "contract"
        self._scribble(workspace, nbytes)
        arguments: list[Any] = []
        for (tensor, own, operator), address in zip(tensors, inputs, strict=True):
            values = _wide(tensor.at(address))
            arguments += [values.conj() if operator == CONJ else values, own]
        value = scalar(alpha, out.dtype) * np.einsum(*arguments, modes)
        factor = scalar(beta, out.dtype)
        if factor != 0:
            value = value + factor * _wide(out.at(c))
        out.at(d)[...] = value

    def cutensorReduce(
        self, handle: int, plan: int, alpha: int, a: int, beta: int, c: int, d: int, workspace: int, nbytes: int, stream: int
    ) -> None:
        kind, ((source, own, _), (target, modes, _)) = self.made[plan]
        assert kind == "reduce"
        assert scalar(beta, source.dtype) == 0
        self._scribble(workspace, nbytes)
        target.at(d, 16)[...] = scalar(alpha, source.dtype) * np.einsum(_wide(source.at(a, 16)), own, modes)

    def cutensorElementwiseBinaryExecute(
        self, handle: int, plan: int, alpha: int, a: int, gamma: int, c: int, d: int, stream: int
    ) -> None:
        kind, ((source, own, _), (target, _modes, _)) = self.made[plan]
        assert kind == "elementwise"
        assert own == []
        value = scalar(gamma, source.dtype) * _wide(target.at(c))
        factor = scalar(alpha, source.dtype)
        if factor != 0:  # else the other is not read
            value = value + factor * _wide(source.at(a))
        target.at(d)[...] = value


def _wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def scalar(address: int, dtype: DType) -> Any:
    """A factor, in the dtype in which the library reads it."""
    return kernels_host.array_at(address, (), (), DTYPES[SCALARS.get(dtype.name, dtype.name)])[()].item()


class HostDriver:
    """As much of the driver as plans need, in host memory."""

    @staticmethod
    def cuDeviceGet(number: int) -> int:
        return number

    @staticmethod
    def cuDeviceTotalMem_v2(device: int) -> int:
        return 1 << 30

    @staticmethod
    def cuMemsetD8Async(address: int, value: int, count: int, stream: int) -> None:
        ctypes.memset(address, value, count)


def move(device: int, *layout: Any) -> Any:
    """The host twin of our kernels of that name."""
    made = kernels_host.move(*layout)
    return lambda source, target, stream: made(source, target)
