"""A cuBLASLt over the fake driver: it computes nothing, but says which memory a product uses, and where it is queued."""
# ruff: noqa: N802, N815, the names of the C functions

from __future__ import annotations

import ctypes
import struct
from typing import Any

from fake.driver import FakeCuda, Trace, recorded

from nvmath.bindings.cublasLt import cuBLASLtError

BIAS_POINTER, AUX_POINTER, MAX_WORKSPACE_BYTES = 8, 11, 1


class FakeCublasLt:
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    def __init__(self, trace: Trace, cuda: FakeCuda, workspace_nbytes: int) -> None:
        self.trace, self.cuda, self.workspace_nbytes = trace, cuda, workspace_nbytes
        self.made: dict[int, bool] = {}
        self.bias: dict[int, int] = {}
        self.auxiliary: dict[int, int] = {}
        self.limits: dict[int, int] = {}
        self.candidates = 1

    def current_device(self) -> int:
        return self.cuda.current_device() or 0

    def live(self) -> list[int]:
        """What is not destroyed."""
        return [number for number, alive in self.made.items() if alive]

    def _make(self, *arguments: int) -> int:
        number = 0x100 + 16 * len(self.made)
        self.made[number] = True
        return number

    def _destroy(self, number: int) -> None:
        if not self.made.get(number):
            self.cuda.hazard(f"the descriptor {number:#x} was destroyed twice")
        self.made[number] = False

    cublasLtMatrixLayoutCreate = cublasLtMatmulPreferenceCreate = _make
    cublasLtMatmulDescDestroy = cublasLtMatrixLayoutDestroy = cublasLtMatmulPreferenceDestroy = _destroy

    @recorded
    def cublasLtCreate(self) -> int:
        return 8

    def cublasLtGetVersion(self) -> int:
        return 130100

    @recorded
    def cublasLtMatmulDescCreate(self, compute: int, scale: int) -> int:
        return self._make()

    @recorded
    def cublasLtMatmulDescSetAttribute(self, number: int, attribute: int, buffer: int, size: int) -> None:
        if attribute == BIAS_POINTER:
            self.bias[number] = ctypes.c_uint64.from_address(buffer).value
        if attribute == AUX_POINTER:
            self.auxiliary[number] = ctypes.c_uint64.from_address(buffer).value

    def cublasLtMatrixLayoutSetAttribute(self, number: int, attribute: int, buffer: int, size: int) -> None:
        pass

    def cublasLtMatmulPreferenceSetAttribute(self, number: int, attribute: int, buffer: int, size: int) -> None:
        if attribute == MAX_WORKSPACE_BYTES:
            self.limits[number] = ctypes.c_uint64.from_address(buffer).value

    @recorded
    def cublasLtMatmulAlgoGetHeuristic(self, *arguments: Any) -> None:
        *_, preference, limit, results, count = arguments
        if self.limits.get(preference, 0) < self.workspace_nbytes:
            return
        made = min(limit, self.candidates)
        for number in range(made):
            packed = struct.pack("=8QQif4i", number + 1, *range(1, 8), self.workspace_nbytes, 0, 1.0, 0, 0, 0, 0)
            ctypes.memmove(results + 96 * number, packed, 96)
        ctypes.c_int.from_address(count).value = made

    @recorded
    def cublasLtMatmulAlgoCheck(self, *arguments: int) -> None:
        """The third word of an algorithm is the number of splits: each needs a KiB, and more than 100 are too many."""
        algorithm, result = arguments[-2:]
        words = [ctypes.c_uint64.from_address(algorithm + 8 * index).value for index in range(8)]
        if words[2] > 100:
            raise cuBLASLtError(15)
        nbytes = max(self.workspace_nbytes, 1024 * words[2])
        ctypes.memmove(result, struct.pack("=8QQif4i", *words, nbytes, 0, 1.0, 0, 0, 0, 0), 96)

    def cublasLtMatmulAlgoConfigGetAttribute(
        self, algorithm: int, attribute: int, buffer: int, size: int, written: int
    ) -> None:
        word = ctypes.c_uint64.from_address(algorithm + 8 * attribute).value
        ctypes.memmove(buffer, word.to_bytes(8, "little"), size)

    def cublasLtMatmulAlgoConfigSetAttribute(self, algorithm: int, attribute: int, buffer: int, size: int) -> None:
        ctypes.c_uint64.from_address(algorithm + 8 * attribute).value = int.from_bytes(
            ctypes.string_at(buffer, size), "little"
        )

    @recorded
    def cublasLtMatmulAlgoGetIds(self, *arguments: Any) -> int:
        *_, limit, ids = arguments
        made = min(limit, 3)
        for index in range(made):
            ids[index] = 10 + index
        return made

    @recorded
    def cublasLtMatmul(self, handle: int, desc: int, *rest: int) -> None:
        _, a, la, b, lb, _, c, lc, d, ld, _, workspace, nbytes, stream = rest
        for number in (desc, la, lb, lc, ld):
            if not self.made.get(number):
                self.cuda.hazard("a product was started with a descriptor that is destroyed")
        if nbytes and not workspace:
            self.cuda.hazard("a product was started without its workspace")
        self.cuda.queued(stream)
        beside = {self.bias.get(desc, 0), self.auxiliary.get(desc, 0), workspace} - {0}
        used = {a, b, c, d, *beside}
        self.cuda.touch(stream, *used)
