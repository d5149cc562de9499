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
AUX_POINTER, AUX_LD, AUX_STRIDE, AUX_TYPE = 11, 12, 13, 22
ORDER, COUNT, STRIDE = 1, 5, 6
DEFAULT, RELU, BIAS, DRELU, GELU, DGELU = 1, 2, 4, 8, 32, 64
AUX, BGRAD, BGRADA, BGRADB = 128, 16, 256, 512
""" Bits of an epilog: activation, bias, auxiliary matrix (of which DRELU and DGELU read), sums. """


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
        self.refuses_epilogs = False
        self.candidates = 1
        self.workspaces = (0,)
        self.used: list[tuple[int, ...]] = []

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
        self._check_epilog(desc, d, m, k, operations)
        if any(op == 2 and self._get(each, ORDER, "i", 0) for op, each in zip(operations, (a, b), strict=True)):
            raise cuBLASLtError(NOT_SUPPORTED)  # it conjugates what it transposes only
        if len({self._get(layout, COUNT, "i", 1) for layout in (a, b, c, d)}) != 1:
            raise cuBLASLtError(INVALID_VALUE)
        made = min(limit, self.candidates)
        for number in range(made):
            nbytes = self.workspaces[number % len(self.workspaces)]
            packed = struct.pack("=8QQif4i", number + 1, *range(1, 8), nbytes, 0, 1.0, 0, 0, 0, 0)
            ctypes.memmove(results + 96 * number, packed, 96)
        ctypes.c_int.from_address(count).value = made

    def _check_epilog(self, desc: int, d: int, m: int, k: int, operations: list[int]) -> None:
        epilog = self._get(desc, EPILOGUE, "I", DEFAULT)
        if epilog == DEFAULT:
            return
        row_major, bias, aux = (
            self._get(d, ORDER, "i", 0),
            self._get(desc, BIAS_POINTER, "Q", 0),
            self._get(desc, AUX_POINTER, "Q", 0),
        )
        if self.refuses_epilogs or (row_major and epilog not in (RELU, GELU)):
            raise cuBLASLtError(NOT_SUPPORTED)
        if epilog & (BIAS | BGRAD | BGRADA | BGRADB) and not bias:
            raise cuBLASLtError(NOT_SUPPORTED)
        if (epilog & BGRADA and operations[0]) or (epilog & BGRADB and not operations[1]):
            raise cuBLASLtError(NOT_SUPPORTED)
        if epilog & AUX:
            ld = self._get(desc, AUX_LD, "q", 0)
            unit = 128 if epilog & (RELU | DRELU) else 8
            if not aux or ld < m or ld % unit:
                raise cuBLASLtError(NOT_SUPPORTED)
        assert k > 1 or not epilog & (DRELU | DGELU | BGRADA | BGRADB), "some versions read what is not theirs"

    # --- algorithms: the second word of the struct is the tile, the third the number of splits -----------------------------------------

    def cublasLtMatmulAlgoGetIds(
        self, handle: int, compute: int, scale: int, a: int, b: int, c: int, d: int, limit: int, ids: Any
    ) -> int:
        made = min(limit, 3)
        for index in range(made):
            ids[index] = 10 + index
        return made

    def cublasLtMatmulAlgoConfigGetAttribute(
        self, algorithm: int, attribute: int, buffer: int, size: int, written: int
    ) -> None:
        word = ctypes.c_uint64.from_address(algorithm + 8 * attribute).value
        ctypes.memmove(buffer, word.to_bytes(8, "little"), size)

    def cublasLtMatmulAlgoConfigSetAttribute(self, algorithm: int, attribute: int, buffer: int, size: int) -> None:
        ctypes.c_uint64.from_address(algorithm + 8 * attribute).value = int.from_bytes(
            ctypes.string_at(buffer, size), "little"
        )

    def cublasLtMatmulAlgoCheck(
        self, handle: int, desc: int, a: int, b: int, c: int, d: int, algorithm: int, result: int
    ) -> None:
        splits = ctypes.c_uint64.from_address(algorithm + 16).value
        if splits > 100:
            raise cuBLASLtError(NOT_SUPPORTED)
        words = [ctypes.c_uint64.from_address(algorithm + 8 * index).value for index in range(8)]
        ctypes.memmove(result, struct.pack("=8QQif4i", *words, 1024 * splits, 0, 1.0, 0, 0, 0, 0), 96)

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
        self.used.append(tuple(ctypes.c_uint64.from_address(algorithm + 8 * index).value for index in range(8)))
        value = one * (factors[0] @ factors[1])
        if other != 0:
            value = value + other * self._array(lc, c)
        epilog = self._get(desc, EPILOGUE, "I", DEFAULT)
        if epilog == DEFAULT:
            epilog = 0
        if epilog & BIAS:
            value = value + self._vector(desc, ld, *result.shape[:2], dtype=BIAS_TYPE)
        if result.dtype.kind != "c":
            value = value.real
        result[...] = self._activated(desc, epilog, value, ld)
        sums = ((BGRAD, result.sum(2)), (BGRADA, factors[0].real.sum(2)), (BGRADB, factors[1].real.sum(1)))
        for bit, total in sums:
            if epilog & bit:
                self._vector(desc, ld, *total.shape)[..., 0] = total

    def _vector(self, desc: int, ld: int, count: int, rows: int, dtype: int | None = None) -> np.ndarray:
        """The bias, or the sums that take its place."""
        code = self.made[ld]["code"]
        kind = np.dtype(TYPES[code if dtype is None else self._get(desc, dtype, "i", code)])
        stride, address = self._get(desc, BIAS_STRIDE, "q", 0), self._get(desc, BIAS_POINTER, "Q", 0)
        memory = (ctypes.c_char * ((stride * (count - 1) + rows) * kind.itemsize)).from_address(address)
        return np.ndarray((count, rows, 1), kind, memory, 0, (stride * kind.itemsize, kind.itemsize, 0))

    def _auxiliary(self, desc: int, ld: int, shape: tuple[int, ...], bits: bool) -> np.ndarray:
        count, rows, cols = shape
        code = self.made[ld]["code"]
        kind = np.dtype(np.uint8 if bits else TYPES[self._get(desc, AUX_TYPE, "i", code)])
        lead, stride = self._get(desc, AUX_LD, "q", 0), self._get(desc, AUX_STRIDE, "q", 0)
        if bits:
            lead, stride, rows = lead // 8, stride // 8, -(-rows // 8)
        span = 1 + (count - 1) * stride + (cols - 1) * lead + rows - 1
        memory = (ctypes.c_char * (span * kind.itemsize)).from_address(self._get(desc, AUX_POINTER, "Q", 0))
        return np.ndarray(
            (count, rows, cols), kind, memory, 0, tuple(step * kind.itemsize for step in (stride, 1, lead))
        )

    def _activated(self, desc: int, epilog: int, value: np.ndarray, ld: int) -> np.ndarray:
        def bent(x: np.ndarray) -> np.ndarray:
            return np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))

        if epilog & DRELU:
            mask = self._auxiliary(desc, ld, value.shape, True)
            return value * np.unpackbits(mask, axis=1, count=value.shape[1], bitorder="little")
        if epilog & DGELU:
            x = self._auxiliary(desc, ld, value.shape, False).astype(np.longdouble)
            t = bent(x)
            return value * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x * x))
        if epilog & AUX:
            auxiliary = self._auxiliary(desc, ld, value.shape, bool(epilog & RELU))
            auxiliary[...] = np.packbits(value > 0, axis=1, bitorder="little") if epilog & RELU else value
        if epilog & RELU:
            return np.maximum(value, 0)
        return 0.5 * value * (1 + bent(value)) if epilog & GELU else value
