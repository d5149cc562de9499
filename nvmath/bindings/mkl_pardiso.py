"""MKL PARDISO (``mkl_pardiso.h``): sparse direct solvers on the CPU.

Only ``pardiso_64`` is called: its integers have 64 bits whatever interface layer MKL was started with.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from nvmath.bindings import _load
from nvmath.bindings._bind import Bindings

_ROWS = """
_pardiso = pardiso_64(pt: ptr, maxfct: i64[], mnum: i64[], mtype: i64[], phase: i64[], n: i64[], a: ptr, ia: ptr, ja: ptr,
    perm: ptr, nrhs: i64[], iparm: ptr, msglvl: i64[], b: ptr, x: ptr, error: ptr) -> void
_set_num_threads_local = MKL_Set_Num_Threads_Local(num_threads: i32) -> i32
"""

#: What an error code means; `SINGULAR` are those that say something about the matrix.
MESSAGES: Final = {
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


class PardisoError(Exception):
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


_library = Bindings("mkl", globals(), rows=_ROWS, prefix="mkl_", error="PardisoError")


def __getattr__(name: str) -> Any:
    return _library.resolve(name)


def __dir__() -> list[str]:
    return _library.names()


def present() -> bool:
    """Whether MKL is installed and has PARDISO with 64-bit integers."""
    if "present" not in _library.state:
        _library.state["present"] = _load.find_library("mkl") is not None and _library.has("pardiso_64")
    return bool(_library.state["present"])


def pardiso(
    pt: array[int],
    mtype: int,
    phase: int,
    n: int,
    a: int,
    ia: int,
    ja: int,
    perm: int,
    nrhs: int,
    iparm: array[int],
    b: int,
    x: int,
) -> None:
    """Call ``pardiso_64`` for one matrix, silently.

    Parameters
    ----------
    pt, iparm : array
        64 integers of 64 bits (type code ``"q"``) each, which PARDISO reads and writes.
    mtype, phase, n, nrhs : int
        As in PARDISO.
    a, ia, ja, perm, b, x : int
        Addresses, or 0; integers have 64 bits.

    Raises
    ------
    PardisoError
        The error code is not 0.
    """
    error = array("q", [0])
    _library._pardiso(
        pt.buffer_info()[0], (1,), (1,), (mtype,), (phase,), (n,), a, ia, ja, perm, (nrhs,), iparm.buffer_info()[0], (0,), b, x,
        error.buffer_info()[0],
    )  # fmt: skip
    # Where an error was stored as a 32-bit integer the upper half is still 0.
    code = error[0] if error[0] < 2**31 else error[0] - 2**32
    if code:
        raise PardisoError(code)


@contextmanager
def at_most(num_threads: int) -> Iterator[None]:
    """Let MKL use no more threads in this thread for a while."""
    before = _library._set_num_threads_local(num_threads)
    try:
        yield
    finally:
        _library._set_num_threads_local(before)
