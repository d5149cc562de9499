"""The OpenBLAS that NumPy's wheels bring (64-bit integers, symbols ``scipy_..._64_``): it is in the process already.

The functions are those of `nvmath.bindings.nvpl.blas` with 64-bit integers, without the suffix: ``dgemm``, ``zhemm``, ...
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from nvmath.bindings import _load
from nvmath.bindings._bind import Bindings
from nvmath.bindings.nvpl import blas

_ROWS = """
get_num_threads = scipy_openblas_get_num_threads64_() -> i32
set_num_threads = scipy_openblas_set_num_threads64_(num_threads: i32) -> void
"""
_SPECIAL = blas._ROWS

ROW_MAJOR = 101
NO_TRANS, TRANS, CONJ_TRANS, CONJ_NO_TRANS = 111, 112, 113, 114

_library = Bindings("numpy_openblas", globals(), prefix="cblas_", wide=True)
_lock = threading.Lock()
_limits: list[int] = []


__getattr__, __dir__ = _library.resolve, _library.names


def present() -> bool:
    """Whether this NumPy brings an OpenBLAS that has the CBLAS functions."""
    if "present" not in _library.state:
        _library.state["present"] = _load.find_library("numpy_openblas") is not None and all(
            _library.has(f"cblas_{letter}{name}_64") for letter in "sdcz" for name in ("gemm", "gemv", "trsm")
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
