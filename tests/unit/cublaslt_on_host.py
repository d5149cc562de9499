"""A cuBLASLt that computes on the host what descriptors and layouts say, and refuses what the library would."""
# ruff: noqa: N802, N815, the names of the C functions

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from nvmath.bindings.cublasLt import cuBLASLtError

INVALID_VALUE, NOT_SUPPORTED = 7, 15
TYPES = {0: np.float32, 1: np.float64, 2: np.float16, 4: np.complex64, 5: np.complex128}
COMPUTE, TRANSA, TRANSB, EPILOGUE, BIAS_POINTER, BIAS_STRIDE, BIAS_TYPE = 0, 3, 4, 7, 8, 10, 26
ORDER, COUNT, STRIDE = 1, 5, 6
RELU, BIAS, GELU = 2, 4, 32


class Driver:
    """The two driver functions that a plan needs."""

    def cuDeviceTotalMem_v2(self, device: int) -> int:
        return 1 << 30

    def cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> None:
        ctypes.memset(address, value, count)


class HostCublasLt:
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    def __init__(self) -> None:
        self.made: dict[int, dict[str, Any]] = {}
        self.attributes_set = 0

    def _make(self, **fields: Any) -> int:
        number = 16 * (len(self.made) + 1)
        self.made[number] = {"attributes": {}, "alive": True, **fields}
        return number

    def _get(self, number: int, attribute: int, form: str, default: Any) -> Any:
        raw = self.made[number]["attributes"].get(attribute)
        return default if raw is None else struct.unpack("=" + form, raw)[0]

    def _set(self, number: int, attribute: int, buffer: int, size: int) -> None:
        assert self.made[number]["alive"]
        self.attributes_set += 1
        self.made[number]["attributes"][attribute] = ctypes.string_at(buffer, size)

    def _destroy(self, number: int) -> None:
        assert self.made[number]["alive"]
        self.made[number]["alive"] = False

    def alive(self) -> int:
        """How many descriptors are not destroyed."""
        return sum(made["alive"] for made in self.made.values())

    cublasLtMatmulDescSetAttribute = cublasLtMatrixLayoutSetAttribute = cublasLtMatmulPreferenceSetAttribute = _set
    cublasLtMatmulDescDestroy = cublasLtMatrixLayoutDestroy = cublasLtMatmulPreferenceDestroy = _destroy

    def cublasLtCreate(self) -> int:
        return 8

    def cublasLtGetVersion(self) -> int:
        return 130100

    def cublasLtMatmulDescCreate(self, compute: int, scale: int) -> int:
        return self._make(compute=compute, scale=scale)

    def cublasLtMatrixLayoutCreate(self, code: int, rows: int, cols: int, ld: int) -> int:
        return self._make(code=code, rows=rows, cols=cols, ld=ld)

    def cublasLtMatmulPreferenceCreate(self) -> int:
        return self._make()

    def cublasLtMatmulAlgoGetHeuristic(
        self,
        handle: int,
        desc: int,
        a: int,
        b: int,
        c: int,
        d: int,
        preference: int,
        limit: int,
        results: int,
        count: int,
    ) -> None:
        sizes = [self._shape(layout) for layout in (a, b, c, d)]
        operations = [self._get(desc, attribute, "i", 0) for attribute in (TRANSA, TRANSB)]
        (m, k), (k2, n) = (size[::-1] if op else size for size, op in zip(sizes, operations, strict=False))
        if k != k2 or sizes[2] != (m, n) or sizes[3] != (m, n) or 0 in (m, n, k):
            raise cuBLASLtError(INVALID_VALUE)
        for layout, size in zip((a, b, c, d), sizes, strict=True):
            order, ld = self._get(layout, ORDER, "i", 0), self.made[layout]["ld"]
            if ld < size[order] and not (layout == c != d and ld == 0):
                raise cuBLASLtError(INVALID_VALUE)
        if self._get(c, ORDER, "i", 0) != self._get(d, ORDER, "i", 0):
            raise cuBLASLtError(NOT_SUPPORTED)
        if self._get(desc, EPILOGUE, "I", 1) & BIAS and (
            self._get(d, ORDER, "i", 0) or not self._get(desc, BIAS_POINTER, "Q", 0)
        ):
            raise cuBLASLtError(NOT_SUPPORTED)
        if any(op == 2 and self._get(each, ORDER, "i", 0) for op, each in zip(operations, (a, b), strict=True)):
            raise cuBLASLtError(NOT_SUPPORTED)  # it conjugates what it transposes only
        if len({self._get(layout, COUNT, "i", 1) for layout in (a, b, c, d)}) != 1:
            raise cuBLASLtError(INVALID_VALUE)
        ctypes.memmove(results, struct.pack("=8QQif4i", *range(8), 0, 0, 1.0, 0, 0, 0, 0), 96)
        ctypes.c_int.from_address(count).value = 1

    def _shape(self, layout: int) -> tuple[int, int]:
        return self.made[layout]["rows"], self.made[layout]["cols"]

    def _array(self, layout: int, address: int) -> np.ndarray:
        made, kind = self.made[layout], np.dtype(TYPES[self.made[layout]["code"]])
        rows, cols, ld = made["rows"], made["cols"], made["ld"]
        count, stride = self._get(layout, COUNT, "i", 1), self._get(layout, STRIDE, "q", 0)
        steps = (stride, ld, 1) if self._get(layout, ORDER, "i", 0) else (stride, 1, ld)
        span = 1 + sum((extent - 1) * step for extent, step in zip((count, rows, cols), steps, strict=True))
        memory = (ctypes.c_char * (span * kind.itemsize)).from_address(address)
        return np.ndarray((count, rows, cols), kind, memory, 0, tuple(step * kind.itemsize for step in steps))

    def cublasLtMatmul(
        self, handle: int, desc: int, alpha: int, a: int, la: int, b: int, lb: int, beta: int, c: int, lc: int, d: int,
        ld: int, algorithm: int, workspace: int, nbytes: int, stream: int,
    ) -> None:  # fmt: skip
        scale = TYPES[self.made[desc]["scale"]]
        one, other = (np.frombuffer(ctypes.string_at(at, np.dtype(scale).itemsize), scale)[0] for at in (alpha, beta))
        factors = []
        for layout, address, attribute in ((la, a, TRANSA), (lb, b, TRANSB)):
            matrix, operation = self._array(layout, address).astype(np.clongdouble), self._get(desc, attribute, "i", 0)
            matrix = matrix.swapaxes(1, 2) if operation else matrix
            factors.append(matrix.conj() if operation == 2 else matrix)
        result = self._array(ld, d)
        if one == 0 or factors[0].shape[2] == 0:  # the library takes the work for done
            result[...] = 0.069
            return
        value = one * (factors[0] @ factors[1])
        if other != 0:
            value = value + other * self._array(lc, c)
        epilog = self._get(desc, EPILOGUE, "I", 1)
        if epilog & BIAS:
            kind = np.dtype(TYPES[self._get(desc, BIAS_TYPE, "i", self.made[ld]["code"])])
            stride, address = self._get(desc, BIAS_STRIDE, "q", 0), self._get(desc, BIAS_POINTER, "Q", 0)
            count, rows, _ = result.shape
            memory = (ctypes.c_char * ((stride * (count - 1) + rows) * kind.itemsize)).from_address(address)
            value = value + np.ndarray((count, rows, 1), kind, memory, 0, (stride * kind.itemsize, kind.itemsize, 0))
        if result.dtype.kind != "c":
            value = value.real
        if epilog & RELU:
            value = np.maximum(value, 0)
        if epilog & GELU:
            value = 0.5 * value * (1 + np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3)))
        result[...] = value
