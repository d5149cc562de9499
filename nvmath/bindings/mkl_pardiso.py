"""MKL PARDISO (``mkl_pardiso.h``): sparse direct solvers on the CPU.

The integers of ``pardiso_64`` have 64 bits whatever interface layer MKL was started with, those of ``pardiso`` as many as the layer says.
"""

from __future__ import annotations

import platform
import sys
from array import array
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from nvmath.bindings import _load
from nvmath.bindings._bind import Bindings

_ROWS = """
_pardiso = pardiso_64(pt: ptr, maxfct: ptr, mnum: ptr, mtype: ptr, phase: ptr, n: ptr, a: ptr, ia: ptr, ja: ptr,
    perm: ptr, nrhs: ptr, iparm: ptr, msglvl: ptr, b: ptr, x: ptr, error: ptr) -> void
_pardiso_short = pardiso(pt: ptr, maxfct: ptr, mnum: ptr, mtype: ptr, phase: ptr, n: ptr, a: ptr, ia: ptr, ja: ptr,
    perm: ptr, nrhs: ptr, iparm: ptr, msglvl: ptr, b: ptr, x: ptr, error: ptr) -> void
_dasum = dasum(n: ptr, x: ptr, incx: ptr) -> f64
_create_csr_float32 = mkl_sparse_s_create_csr_64(handle: ptr, base: i32, rows: i64, columns: i64, starts: ptr, ends: ptr,
    indices: ptr, values: ptr) -> i32
_create_csr_float64 = mkl_sparse_d_create_csr_64(handle: ptr, base: i32, rows: i64, columns: i64, starts: ptr, ends: ptr,
    indices: ptr, values: ptr) -> i32
_mv_float32 = mkl_sparse_s_mv_64(operation: i32, alpha: f32, handle: ptr, type: i64, diag: i64, x: ptr, beta: f32, y: ptr) -> i32
_mv_float64 = mkl_sparse_d_mv_64(operation: i32, alpha: f64, handle: ptr, type: i64, diag: i64, x: ptr, beta: f64, y: ptr) -> i32
_destroy_sparse = mkl_sparse_destroy_64(handle: ptr) -> i32
_set_num_threads_local = MKL_Set_Num_Threads_Local(num_threads: i32) -> i32
"""

#: What an error code means; `SINGULAR` are those that say something about the matrix. Of one that should be definite so does every positive
#: code: which pivot it was that is not positive.
MESSAGES: Final = {
    1: "a pivot is not positive",
    -1: "the input is inconsistent",
    -2: "there is not enough memory",
    -3: "the reordering failed",
    -4: "a pivot is zero",
    -5: "there was an internal error",
    -6: "the reordering of an unsymmetric matrix failed",
    -7: "a diagonal matrix is singular",
    -8: "a 32-bit integer overflowed",
    -9: "there is not enough memory for the out-of-core mode",
    -10: "a file of the out-of-core mode cannot be opened",
    -11: "a file of the out-of-core mode cannot be read or written",
    -12: "pardiso_64 was called from a 32-bit library",
    -13: "the work was interrupted",
    -15: "an internal error in the two-level factorization",
}
SINGULAR: Final = frozenset({-4, -6, -7})


class PardisoError(RuntimeError):
    """PARDISO did not succeed.

    Parameters
    ----------
    error : int
        Its error code; also the attribute ``error``.
    """

    def __init__(self, error: int) -> None:
        self.error = error
        super().__init__(f"PARDISO error {error}: {MESSAGES.get(error, 'unknown')}")

    def __reduce__(self) -> tuple[type[PardisoError], tuple[int]]:
        return type(self), (self.error,)


_library = Bindings("mkl", globals(), prefix="mkl_", error="PardisoError")


def __getattr__(name: str) -> Any:
    return _library.resolve(name)


def __dir__() -> list[str]:
    return _library.names()


def present() -> bool:
    """Whether MKL is installed and has PARDISO with 64-bit integers."""
    if "present" not in _library.state:
        _library.state["present"] = _load.find_library("mkl") is not None and _library.has("pardiso_64")
    return bool(_library.state["present"])


def has_short() -> bool:
    """Whether the integers of ``pardiso`` have 32 bits: the interface layer of MKL, which is the same for the whole process, decides that.

    A number whose lower half is 1 and that is negative as a whole tells: the sum of so many elements is the first one, or 0.
    """
    if "short" not in _library.state:
        known = present() and _library.has("pardiso") and _library.has("dasum")
        one, element, halves = array("q", [1]), array("d", [1.0]), array("q", [1 - 2**32])
        where = (values.buffer_info()[0] for values in (halves, element, one))
        _library.state["short"] = known and sys.byteorder == "little" and _library._dasum(*where) == 1.0
    return bool(_library.state["short"])


_PHASE, _NRHS, _ERROR = 3, 5, 7


class Pardiso:
    """One matrix in PARDISO: its memory, its parameters, and calls with as few conversions as possible.

    Parameters
    ----------
    mtype : int
        Type of the matrix, as in PARDISO.
    n : int
        Number of equations.
    short : bool, default False
        Whether integers have 32 bits and ``pardiso`` is called, for which :func:`has_short` must be true; else ``pardiso_64`` is.

    Attributes
    ----------
    iparm : array
        The 64 parameters, which PARDISO reads and writes.
    """

    __slots__ = ("_addresses", "_call", "_pt", "_scalars", "_short", "iparm")

    def __init__(self, mtype: int, n: int, *, short: bool = False) -> None:
        kind = "i" if short else "q"
        self._pt, self.iparm = array("q", bytes(512)), array(kind, [0]) * 64
        # maxfct, mnum, mtype, phase, n, nrhs, msglvl, error
        self._scalars = array(kind, [1, 1, mtype, 0, n, 1, 0, 0])
        first, size = self._scalars.buffer_info()[0], self._scalars.itemsize
        self._addresses = tuple(first + size * i for i in range(8))
        self._call: Any = None
        self._short = short

    def __call__(
        self, phase: int, a: int, ia: int, ja: int, perm: int = 0, nrhs: int = 1, b: int = 0, x: int = 0
    ) -> None:
        """Run a phase.

        Parameters
        ----------
        phase, nrhs : int
            As in PARDISO.
        a, ia, ja, perm, b, x : int
            Addresses, or 0; integers have 32 or 64 bits as was said.

        Raises
        ------
        PardisoError
            The error code is not 0.
        """
        call = self._call
        if call is None:
            call = self._call = _library._pardiso_short if self._short else _library._pardiso
        scalars = self._scalars
        scalars[_PHASE], scalars[_NRHS], scalars[_ERROR] = phase, nrhs, 0
        maxfct, mnum, mtype, phase_, n, nrhs_, msglvl, error = self._addresses
        call(
            self._pt.buffer_info()[0], maxfct, mnum, mtype, phase_, n, a, ia, ja, perm, nrhs_, self.iparm.buffer_info()[0],
            msglvl, b, x, error,
        )  # fmt: skip
        code = scalars[_ERROR]
        if code:
            # Where an error was stored as a 32-bit integer the upper half is still 0.
            raise PardisoError(code if code < 2**31 else code - 2**32)


_GENERAL, _SYMMETRIC, _UPPER, _NON_UNIT = 20, 21, 41, 50
_PLAIN, _TRANSPOSED = 10, 11


def can_multiply() -> bool:
    """Whether :func:`multiply` works: ``mkl_sparse_?_mv`` gets a structure by value, which is done by the convention of Linux on x86-64."""
    return (
        present() and sys.platform == "linux" and platform.machine() == "x86_64" and _library.has("mkl_sparse_d_mv_64")
    )


def multiply(
    dtype: str,
    n: int,
    starts: int,
    indices: int,
    values: int,
    x: int,
    y: int,
    *,
    transposed: bool = False,
    half: bool = False,
) -> bool:
    """Multiply a real square matrix in CSR by a vector, with all threads of MKL (``mkl_sparse_?_mv``).

    Parameters
    ----------
    dtype : str
        Of the values and the vectors, float32 or float64.
    n : int
        Number of rows.
    starts, indices, values, x, y : int
        Addresses; integers have 64 bits, indices begin at 0, and `y` is written.
    transposed : bool
        Whether to multiply by the transpose.
    half : bool
        Whether the upper triangle of a symmetric matrix is given.

    Returns
    -------
    bool
        Whether it was done.
    """
    handle = array("q", [0])
    created = getattr(_library, f"_create_csr_{dtype}")(
        handle.buffer_info()[0], 0, n, n, starts, starts + 8, indices, values
    )
    if created:
        return False
    try:
        # struct matrix_descr {int type, mode, diag}, in the two registers that it takes
        kind, operation = (_SYMMETRIC if half else _GENERAL) | _UPPER << 32, _TRANSPOSED if transposed else _PLAIN
        return not getattr(_library, f"_mv_{dtype}")(operation, 1.0, handle[0], kind, _NON_UNIT, x, 0.0, y)
    finally:
        _library._destroy_sparse(handle[0])


class AtMost:
    """A context in which MKL uses no more threads in this thread.

    Parameters
    ----------
    num_threads : int
        How many.
    """

    __slots__ = ("_before", "_num_threads")

    def __init__(self, num_threads: int) -> None:
        self._num_threads = num_threads

    def __enter__(self) -> None:
        self._before = _limit_threads()(self._num_threads)

    def __exit__(self, *error: object) -> None:
        _limit_threads()(self._before)


@cache
def _limit_threads() -> Callable[[int], int]:
    return _library._set_num_threads_local  # type: ignore[no-any-return]
