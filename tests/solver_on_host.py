"""A cuSOLVER and a cuBLAS that compute on the host, in the memory that the addresses name, and check what the libraries would."""
# ruff: noqa: N802, N815, the names of the C functions

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest
from fused_on_host import SHARED, HostFused
from scipy.linalg import lapack, solve_triangular

from nvmath._core import kernels, kernels_host
from nvmath._core.dtypes import DTYPES, DType
from nvmath.bindings._bind import substitute
from nvmath.linalg._solver import _cuda, _kernels

TYPES = {0: "float32", 1: "float64", 4: "complex64", 5: "complex128"}
LETTERS = {"S": "float32", "D": "float64", "C": "complex64", "Z": "complex128"}


def matrix(address: int, dtype: str, rows: int, cols: int, ld: int) -> np.ndarray:
    """The column-major matrix at an address."""
    assert ld >= max(1, rows), "leading dimension"
    return kernels_host.array_at(address, (rows, cols), (1, ld), DTYPES[dtype])


def integers(address: int, count: int, dtype: str) -> np.ndarray:
    """The integers at an address."""
    return kernels_host.array_at(address, (count,), (1,), DTYPES[dtype])


def addresses(table: int, count: int) -> list[int]:
    """The entries of a table of pointers."""
    return [int(each) for each in integers(table, count, "uint64")]


class Common:
    """Handles, and the stream that each works on."""

    def __init__(self) -> None:
        self.streams: dict[int, int] = {}
        self.calls: list[str] = []

    def _create(self) -> int:
        handle = 1000 + len(self.streams)
        self.streams[handle] = 0
        return handle

    def _set_stream(self, handle: int, stream: int) -> None:
        self.streams[handle] = stream


def factorize_lu(a: np.ndarray, pivots: np.ndarray) -> int:
    """Factorize in place."""
    (getrf,) = lapack.get_lapack_funcs(("getrf",), (a,))
    lu, found, info = getrf(a)
    a[...], pivots[...] = lu, found + 1
    return int(info)


def solve_lu(a: np.ndarray, pivots: np.ndarray, operation: int, b: np.ndarray) -> None:
    """Solve in place."""
    (getrs,) = lapack.get_lapack_funcs(("getrs",), (a,))
    x, info = getrs(a, pivots - 1, b, trans=operation)
    assert info == 0
    b[...] = x


def factorize_cholesky(a: np.ndarray, lower: bool) -> int:
    """Factorize in place."""
    (potrf,) = lapack.get_lapack_funcs(("potrf",), (a,))
    c, info = potrf(a, lower=lower, clean=0)
    a[...] = c
    return int(info)


def solve_triangle(a: np.ndarray, upper: int, operation: int, b: np.ndarray) -> None:
    """Solve in place, as trsm does: by dividing by the diagonal whatever it is."""
    if not np.diagonal(a).all():
        b[...] = np.inf
        return
    b[...] = solve_triangular(a, b, trans=operation, lower=not upper, check_finite=False)


class HostCusolver(Common):
    """Attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    cusolverDnCreate, cusolverDnSetStream = Common._create, Common._set_stream

    def cusolverDnGetStream(self, handle: int) -> int:
        return self.streams[handle]

    def cusolverDnCreateParams(self) -> int:
        return 77

    def cusolverDnDestroyParams(self, params: int) -> None:
        assert params == 77

    def cusolverDnXgetrf_bufferSize(self, handle, params, m, n, kind, a, ld, compute) -> tuple[int, int]:
        return 1024, 8

    def cusolverDnXpotrf_bufferSize(self, handle, params, uplo, n, kind, a, ld, compute) -> tuple[int, int]:
        return 512, 0

    def cusolverDnXgeqrf_bufferSize(self, handle, params, m, n, kind, a, ld, kind_tau, tau, compute) -> tuple[int, int]:
        return 256, 0

    def cusolverDnXgetrf(self, handle, params, m, n, kind, a, ld, pivots, compute, work, nbytes, host, host_nbytes, info) -> None:
        assert work
        assert (nbytes, host_nbytes, kind) == (1024, 8, compute)
        self.calls.append("getrf")
        integers(info, 1, "int32")[0] = factorize_lu(matrix(a, TYPES[kind], m, n, ld), integers(pivots, n, "int64"))

    def cusolverDnXgetrs(self, handle, params, operation, n, nrhs, kind, a, ld, pivots, kind_b, b, ldb, info) -> None:
        self.calls.append("getrs")
        solve_lu(
            matrix(a, TYPES[kind], n, n, ld), integers(pivots, n, "int64"), operation, matrix(b, TYPES[kind_b], n, nrhs, ldb)
        )

    def cusolverDnXpotrf(self, handle, params, upper, n, kind, a, ld, compute, work, nbytes, host, host_nbytes, info) -> None:
        self.calls.append("potrf")
        integers(info, 1, "int32")[0] = factorize_cholesky(matrix(a, TYPES[kind], n, n, ld), not upper)

    def cusolverDnXpotrs(self, handle, params, upper, n, nrhs, kind, a, ld, kind_b, b, ldb, info) -> None:
        factor, side = matrix(a, TYPES[kind], n, n, ld), matrix(b, TYPES[kind], n, nrhs, ldb)
        (potrs,) = lapack.get_lapack_funcs(("potrs",), (factor,))
        side[...] = potrs(factor, side, lower=not upper)[0]

    def cusolverDnXgeqrf(self, handle, params, m, n, kind, a, ld, kt, tau, compute, work, nbytes, host, host_nbytes, info) -> None:
        factor = matrix(a, TYPES[kind], m, n, ld)
        (geqrf,) = lapack.get_lapack_funcs(("geqrf",), (factor,))
        qr, taus, _, found = geqrf(factor)
        factor[...], integers(info, 1, "int32")[0] = qr, found
        kernels_host.array_at(tau, (n,), (1,), DTYPES[TYPES[kind]])[...] = taus

    def _size(self, handle, side, trans, m, n, k, a, ld, tau, c, ldc) -> int:
        return 4096

    def _multiply(self, letter: str, handle, side, trans, m, n, k, a, ld, tau, c, ldc, work, lwork, info) -> None:
        assert (side, lwork >= 4096, bool(work)) == (0, True, True)
        kind = LETTERS[letter]
        factor, target = matrix(a, kind, m, k, ld), matrix(c, kind, m, n, ldc)
        name = "unmqr" if kind.startswith("c") else "ormqr"
        (multiply,) = lapack.get_lapack_funcs((name,), (factor,))
        taus = kernels_host.array_at(tau, (k,), (1,), DTYPES[kind])
        target[...] = multiply("L", "C" if trans == 2 else "T", factor, taus, target, max(1, 64 * n))[0]

    def __getattr__(self, name: str) -> Any:
        stem, letter = name.removeprefix("cusolverDn")[1:], name.removeprefix("cusolverDn")[:1]
        if stem in ("ormqr_bufferSize", "unmqr_bufferSize"):
            return self._size
        if stem in ("ormqr", "unmqr"):
            return lambda *arguments: self._multiply(letter, *arguments)
        if stem == "potrfBatched":

            def potrf_batched(handle, upper, n, table, ld, info, count) -> None:
                self.calls.append("potrfBatched")
                for index, address in enumerate(addresses(table, count)):
                    made = factorize_cholesky(matrix(address, LETTERS[letter], n, n, ld), not upper)
                    integers(info, count, "int32")[index] = made

            return potrf_batched
        raise AttributeError(name)


class HostCublas(Common):
    """Attributes are named like the C functions."""

    cublasCreate_v2, cublasSetStream_v2 = Common._create, Common._set_stream

    def __getattr__(self, name: str) -> Any:
        stem, letter = name.removeprefix("cublas")[1:], name.removeprefix("cublas")[:1]
        kind = LETTERS.get(letter, "")

        def getrf(handle, n, table, ld, pivots, info, count) -> None:
            self.calls.append("getrfBatched")
            found = integers(pivots, n * count, "int32").reshape(count, n)
            for index, address in enumerate(addresses(table, count)):
                integers(info, count, "int32")[index] = factorize_lu(matrix(address, kind, n, n, ld), found[index])

        def getrs(handle, operation, n, nrhs, table, ld, pivots, sides, ldb, info, count) -> None:
            found = integers(pivots, n * count, "int32").reshape(count, n)
            for index, (a, b) in enumerate(zip(addresses(table, count), addresses(sides, count), strict=True)):
                solve_lu(matrix(a, kind, n, n, ld), found[index], operation, matrix(b, kind, n, nrhs, ldb))
            integers(info, 1, "int32")[0] = 0

        def trsm(handle, side, upper, operation, diagonal, m, n, alpha, a, ld, b, ldb) -> None:
            assert (side, diagonal, kernels_host.array_at(alpha, (1,), (1,), DTYPES[kind])[0]) == (0, 0, 1)
            solve_triangle(matrix(a, kind, m, m, ld), upper, operation, matrix(b, kind, m, n, ldb))

        def trsm_batched(handle, side, upper, operation, diagonal, m, n, alpha, table, ld, sides, ldb, count) -> None:
            for a, b in zip(addresses(table, count), addresses(sides, count), strict=True):
                trsm(handle, side, upper, operation, diagonal, m, n, alpha, a, ld, b, ldb)

        known = {"getrfBatched": getrf, "getrsBatched": getrs, "trsm_v2": trsm, "trsmBatched": trsm_batched}
        if kind and stem in known:
            return known[stem]
        raise AttributeError(name)


# --- our kernels --------------------------------------------------------------------------------------------------------------------


class Norms:
    """See `_kernels.Norms`."""

    def __init__(self, device: int, dtype: DType, step: int, count: int, shape: Any, ld: int, part: int, split: Any = None) -> None:
        self.dtype, self.step, self.count, self.shape, self.ld, self.part = dtype, step, count, shape, ld, part
        self.split = shape[1] if split is None else split

    def __call__(self, base: int, result: int, rest: int, stream: int) -> None:
        for index in range(self.count):
            values = np.abs(matrix(base + index * self.step * self.dtype.itemsize, self.dtype.name, *self.shape, self.ld))
            values = {0: values, 1: np.tril(values), 2: np.triu(values)}[self.part].sum(axis=0)
            for target, part in ((result, values[: self.split]), (rest, values[self.split :])):
                if part.size:
                    kernels_host.array_at(target, (self.count,), (1,), DTYPES["float64"])[index] = part.max(initial=0)


def fill(
    device: int, dtype: DType, base: int, step: int, count: int, n: int, ld: int, lower: bool, conjugated: bool, stream: int
) -> None:
    """See `_kernels.fill`."""
    for index in range(count):
        values = matrix(base + index * step * dtype.itemsize, dtype.name, n, n, ld)
        part = np.tril(values, -1) if lower else np.triu(values, 1)
        diagonal = np.diagonal(values).copy()
        values[...] = part + (part.T.conj() if conjugated else part.T)
        np.fill_diagonal(values, diagonal.real if conjugated else diagonal)


class Addresses:
    """See `_kernels.Addresses`."""

    def __init__(self, device: int, step: int, count: int) -> None:
        self.step, self.count = step, count

    def __call__(self, table: int, base: int, stream: int) -> None:
        integers(table, self.count, "uint64")[...] = base + self.step * np.arange(self.count, dtype=np.uint64)


def conjugation(device: int, dtype: DType, shape: Any, strides: Any) -> Any:
    """See `_kernels.conjugation`."""

    def run(address: int, stream: int) -> None:
        values = kernels_host.array_at(address, shape, strides, dtype)
        np.conjugate(values, out=values)

    return run


def move(device: int, *layout: Any) -> Any:
    """See `kernels.move`."""
    run = kernels_host.move(*layout)
    return lambda source, target, stream: run(source, target)


def copy(source: int, target: int, nbytes: int, stream: int) -> None:
    """See `staging.upload`."""
    ctypes.memmove(target, source, nbytes)


@contextmanager
def libraries() -> Iterator[tuple[HostCusolver, HostCublas]]:
    """Put stand-ins in the place of both libraries and of our kernels."""
    solver, blas = HostCusolver(), HostCublas()
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        stack.enter_context(substitute("cusolver", solver))
        stack.enter_context(substitute("cublas", blas))
        patch.setattr(kernels, "move", move)
        for name, function in (("Norms", Norms), ("fill", fill), ("Addresses", Addresses), ("conjugation", conjugation)):
            patch.setattr(_kernels, name, function)
        for name in ("upload", "download"):
            patch.setattr(_cuda, name, copy)
        patch.setattr(_cuda, "Fused", HostFused)
        patch.setattr(_cuda, "shared_of_block", lambda device: SHARED)
        forget_handles()
        yield solver, blas
        forget_handles()


def forget_handles() -> None:
    """Empty the pools, whose handles are those of one library."""
    from nvmath.linalg._solver import _handles

    for pool in (_handles.SOLVERS, _handles.BLAS):
        pool._after_fork()
