"""A cuBLAS that computes on the host, and refuses what the library would; NaN shows what it must not read."""
# ruff: noqa: N802, the names of the C functions

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from nvmath.bindings.cublas import cuBLASError

INVALID_VALUE = 7
TYPES = {0: np.float32, 1: np.float64, 2: np.float16, 4: np.complex64, 5: np.complex128}
LETTERS = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
COMPUTE = {68: {0, 2, 4}, 70: {1, 5}}


def matrix(address: int, rows: int, cols: int, ld: int, kind: Any) -> np.ndarray:
    """A column-major matrix at an address."""
    if ld < max(1, rows):
        raise cuBLASError(INVALID_VALUE)
    item = np.dtype(kind).itemsize
    memory = (ctypes.c_char * ((ld * (cols - 1) + rows) * item)).from_address(address)
    return np.ndarray((rows, cols), kind, memory, 0, (item, ld * item))


def scalar(address: int, kind: Any) -> Any:
    kind = np.float32 if kind is np.float16 else kind
    return np.frombuffer(ctypes.string_at(address, np.dtype(kind).itemsize), kind)[0]


def operated(values: np.ndarray, operation: int) -> np.ndarray:
    values = values.astype(np.clongdouble if values.dtype.kind == "c" else np.longdouble)
    return values if operation == 0 else values.T.conj() if operation == 2 else values.T


class HostCublas:
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    def __init__(self) -> None:
        self.streams: list[int] = []
        self.handles = 0
        self.names: list[str] = []
        for letter, kind in LETTERS.items():
            for name, body in (("symm", self._symm), ("hemm", self._hemm), ("trmm", self._trmm)):
                if name != "hemm" or letter in "CZ":
                    setattr(self, f"cublas{letter}{name}_v2", self._typed(f"{letter}{name}", body, kind))

    def _typed(self, name: str, body: Callable[..., None], kind: Any) -> Callable[..., None]:
        def call(handle: int, *arguments: int) -> None:
            assert handle == 8
            self.names.append(name)
            body(kind, *arguments)

        return call

    def cublasCreate_v2(self) -> int:
        self.handles += 1
        return 8

    def cublasDestroy_v2(self, handle: int) -> None:
        self.handles -= 1

    def cublasSetStream_v2(self, handle: int, stream: int) -> None:
        self.streams.append(stream)

    def cublasGemmEx(
        self, handle: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int, a: int, a_type: int, lda: int, b: int, b_type: int,
        ldb: int, beta: int, c: int, c_type: int, ldc: int, compute: int, algorithm: int,
    ) -> None:  # fmt: skip
        self.names.append("gemm_ex")
        self._gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, a_type, compute)
        assert a_type == b_type == c_type
        assert algorithm == -1

    def cublasGemmStridedBatchedEx(
        self, handle: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int, a: int, a_type: int, lda: int, stride_a: int,
        b: int, b_type: int, ldb: int, stride_b: int, beta: int, c: int, c_type: int, ldc: int, stride_c: int, count: int,
        compute: int, algorithm: int,
    ) -> None:  # fmt: skip
        self.names.append("gemm_strided_batched_ex")
        assert a_type == b_type == c_type
        assert min(stride_a, stride_b, stride_c) >= 0
        item = np.dtype(TYPES[a_type]).itemsize
        for index in range(count):
            self._gemm(
                ta, tb, m, n, k, alpha, a + index * stride_a * item, lda, b + index * stride_b * item, ldb, beta,
                c + index * stride_c * item, ldc, a_type, compute,
            )  # fmt: skip

    def _gemm(
        self, ta: int, tb: int, m: int, n: int, k: int, alpha: int, a: int, lda: int, b: int, ldb: int, beta: int, c: int, ldc: int,
        code: int, compute: int,
    ) -> None:  # fmt: skip
        assert code in COMPUTE[compute]
        assert {ta, tb} <= {0, 1, 2}
        kind = TYPES[code]
        first = operated(matrix(a, *((k, m) if ta else (m, k)), lda, kind), ta)
        second = operated(matrix(b, *((n, k) if tb else (k, n)), ldb, kind), tb)
        self._write(matrix(c, m, n, ldc, kind), scalar(alpha, kind), first @ second, scalar(beta, kind))

    @staticmethod
    def _write(result: np.ndarray, alpha: Any, product: np.ndarray, beta: Any) -> None:
        assert alpha != 0, "the library is not asked for a product that is multiplied by 0"
        value = alpha * product
        result[...] = value if beta == 0 else value + beta * result

    def _structured(self, full: np.ndarray, right: int, b: np.ndarray) -> np.ndarray:
        b = b.astype(full.dtype)
        return b @ full if right else full @ b

    def _half(self, kind: Any, upper: int, a: int, extent: int, lda: int) -> tuple[np.ndarray, np.ndarray]:
        values = operated(matrix(a, extent, extent, lda, kind), 0)
        rows, cols = np.indices(values.shape)
        return values, rows <= cols if upper else rows >= cols

    def _symm(self, kind: Any, right: int, upper: int, m: int, n: int, alpha: int, a: int, lda: int, b: int, ldb: int, beta: int,
              c: int, ldc: int, conj: bool = False) -> None:  # fmt: skip
        values, stored = self._half(kind, upper, a, n if right else m, lda)
        full = np.where(stored, values, values.T.conj() if conj else values.T)
        if conj:
            full = np.where(np.eye(len(full), dtype=bool), full.real, full)
        product = self._structured(full, right, matrix(b, m, n, ldb, kind))
        self._write(matrix(c, m, n, ldc, kind), scalar(alpha, kind), product, scalar(beta, kind))

    def _hemm(self, kind: Any, *arguments: int) -> None:
        self._symm(kind, *arguments, conj=True)

    def _trmm(self, kind: Any, right: int, upper: int, operation: int, unit: int, m: int, n: int, alpha: int, a: int, lda: int,
              b: int, ldb: int, c: int, ldc: int) -> None:  # fmt: skip
        values, stored = self._half(kind, upper, a, n if right else m, lda)
        full = np.where(stored, values, 0)
        full = np.where(np.eye(len(full), dtype=bool), 1, full) if unit else full
        product = self._structured(operated(full, operation), right, matrix(b, m, n, ldb, kind))
        self._write(matrix(c, m, n, ldc, kind), scalar(alpha, kind), product, 0)
