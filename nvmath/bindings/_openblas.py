"""The OpenBLAS that NumPy's wheels bring (64-bit integers, symbols ``scipy_..._64_``): it is in the process already."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nvmath.bindings import _load
from nvmath.bindings._bind import Bindings

_ROWS = """
{sgemm,dgemm} = scipy_cblas_{s,d}gemm64_(order: i32, trans_a: i32, trans_b: i32, m: i64, n: i64, k: i64, alpha: {f32,f64},
    a: ptr, lda: i64, b: ptr, ldb: i64, beta: {f32,f64}, c: ptr, ldc: i64) -> void
{cgemm,zgemm} = scipy_cblas_{c,z}gemm64_(order: i32, trans_a: i32, trans_b: i32, m: i64, n: i64, k: i64, alpha: ptr,
    a: ptr, lda: i64, b: ptr, ldb: i64, beta: ptr, c: ptr, ldc: i64) -> void
{sgemv,dgemv} = scipy_cblas_{s,d}gemv64_(order: i32, trans: i32, m: i64, n: i64, alpha: {f32,f64}, a: ptr, lda: i64,
    x: ptr, incx: i64, beta: {f32,f64}, y: ptr, incy: i64) -> void
{cgemv,zgemv} = scipy_cblas_{c,z}gemv64_(order: i32, trans: i32, m: i64, n: i64, alpha: ptr, a: ptr, lda: i64,
    x: ptr, incx: i64, beta: ptr, y: ptr, incy: i64) -> void
get_num_threads = scipy_openblas_get_num_threads64_() -> i32
set_num_threads = scipy_openblas_set_num_threads64_(num_threads: i32) -> void
"""

ROW_MAJOR = 101
NO_TRANS, TRANS, CONJ_TRANS, CONJ_NO_TRANS = 111, 112, 113, 114

_library = Bindings("numpy_openblas", globals(), rows=_ROWS, prefix="scipy_")
_lock = threading.Lock()
_limits: list[int] = []


def __getattr__(name: str) -> Any:
    return _library.resolve(name)


def __dir__() -> list[str]:
    return _library.names()


def present() -> bool:
    """Whether this NumPy brings an OpenBLAS with the functions above."""
    if "present" not in _library.state:
        _library.state["present"] = _load.find_library("numpy_openblas") is not None and all(
            _library.has(row.c_name) for row in _library.rows()
        )
    return bool(_library.state["present"])


@contextmanager
def at_most(num_threads: int) -> Iterator[None]:
    """Let the library use no more threads for a while; the number is one for the process, so the least one asked for holds."""
    with _lock:
        before = _library.get_num_threads()
        if not _limits:
            _library.state["before"] = before
        _limits.append(num_threads)
        if num_threads < before:
            _library.set_num_threads(num_threads)
    try:
        yield
    finally:
        with _lock:
            _limits.remove(num_threads)
            wanted = min([_library.state["before"], *_limits])
            if wanted != _library.get_num_threads():
                _library.set_num_threads(wanted)
