"""Which library offers which product of matrices, as rows, and the functions of the CPU library that compute one.

Shared by every operation that ends in a product: what differs between the libraries is a row here, not a branch there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from .._core.dtypes import DTYPES, DType
from ..bindings import _load, _openblas
from ..bindings.nvpl import blas

LETTERS: Final = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
"""The first letter of the functions of BLAS for each dtype."""

COLUMN_MAJOR: Final = 102
OPERATIONS: Final = {(False, False): 111, (True, False): 112, (True, True): 113, (False, True): 114}
"""CBLAS: (transposed, conjugated) to the operation."""
LEFT, RIGHT, UPPER, LOWER, NON_UNIT, UNIT = 141, 142, 121, 122, 131, 132
"""CBLAS: side, triangle and diagonal."""


@dataclass(frozen=True, slots=True)
class Capability:
    """What a library can do by itself.

    Attributes
    ----------
    dtypes : frozenset of str
        Those that it multiplies; the others are converted to float32.
    structured : frozenset of str
        Those for which it has functions of symmetric, Hermitian and triangular matrices; else they are written out.
    lone_conj : bool
        Conjugate an operand that is not transposed too; else conjugate transposes only.
    any_strides : bool
        Read and write matrices of any strides; else one of the two must be 1.
    overwrites_factor : bool
        The product with a triangular matrix overwrites the other factor; else it has a result of its own.
    loops_from : int
        Batches of structured matrices of at least this extent are a loop; smaller ones are written out and done in one call.
    weak_vectors : frozenset of str
        Dtypes in which the product of a triangular matrix and a vector is not to be trusted.
    """

    dtypes: frozenset[str]
    structured: frozenset[str]
    lone_conj: bool
    any_strides: bool = False
    overwrites_factor: bool = False
    loops_from: int = 0
    weak_vectors: frozenset[str] = frozenset()

    def arithmetic(self, dtype: DType) -> DType:
        """The dtype in which operands of a dtype are multiplied."""
        return dtype if dtype.name in self.dtypes else DTYPES["float32"]


_BLAS: Final = frozenset(LETTERS)
OPENBLAS: Final = Capability(_BLAS, _BLAS, lone_conj=True, overwrites_factor=True)
CBLAS: Final = replace(OPENBLAS, lone_conj=False)
NUMPY: Final = Capability(_BLAS, frozenset(), lone_conj=True, any_strides=True)
CUBLAS: Final = Capability(
    _BLAS | {"float16", "bfloat16"}, _BLAS, lone_conj=False, loops_from=512,
    weak_vectors=frozenset({"complex128"}),  # ztrmm from the right with one row of 256 elements or more: the original refuses it
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostLibrary:
    """A library that multiplies on the CPU through the CBLAS interface, or NumPy, which has none.

    Attributes
    ----------
    title : str
        What people call it.
    capability : Capability
        Its row.
    module : module, optional
        Where its functions are; None for NumPy.
    suffix : str
        What their names end in.
    limit : str
        The function that sets the number of threads of the calling thread, or empty.
    """

    title: str
    capability: Capability
    module: Any = None
    suffix: str = ""
    limit: str = ""

    def function(self, routine: str, dtype: DType) -> Callable[..., Any]:
        """Return a function of the library, bound."""
        function = getattr(self.module, LETTERS[dtype.name] + routine + self.suffix)
        bound: Callable[..., Any] = getattr(function, "__bound__", lambda: function)()
        return bound

    def at_most(self, num_threads: int) -> Callable[[], AbstractContextManager[None]]:
        """Return what makes the library use no more threads for a while.

        Raises
        ------
        ValueError
            The library has no function for that.
        """
        if self.module is _openblas:
            return lambda: _openblas.at_most(num_threads)
        if not self.limit:
            raise ValueError(
                f"num_threads={num_threads} cannot be kept: nvmath cannot set the threads of {self.title}. Leave num_threads out, and set "
                "the number of threads by the environment variable of that library."
            )
        setter = getattr(self.module, self.limit)

        @contextmanager
        def limited() -> Iterator[None]:
            before = setter(num_threads)
            try:
                yield
            finally:
                setter(before)

        return limited


_LIMITS: Final = {
    "mkl": "mkl_set_num_threads_local",
    "nvpl": "set_num_threads_local",
    "openblas": "openblas_set_num_threads_local",
}
_BY_NUMPY: Final = HostLibrary("numpy.matmul", NUMPY)


def host_library() -> HostLibrary:
    """Return the library that multiplies on the CPU.

    It is the one that ``NVMATH_BLAS_CPU_LIBRARY`` names; else the OpenBLAS of NumPy; else a BLAS that is installed; else NumPy itself.

    Raises
    ------
    LibraryNotFoundError
        The library that is named is not there.
    """
    if os.environ.get("NVMATH_BLAS_CPU_LIBRARY"):
        return _installed()
    if _openblas.present():
        return HostLibrary("the OpenBLAS of NumPy", OPENBLAS, _openblas)
    return _BY_NUMPY if _load.find_library("blas") is None else _installed()


@cache
def _installed() -> HostLibrary:
    library = _load.open_library("blas", needed_by="a matrix product")
    limit = _LIMITS.get(library.flavour, "")
    known = any(row.name == limit and blas._library.has(row.c_name) for row in blas._library.rows())
    suffix = "_64" if blas._library.has("cblas_dgemm_64") else ""
    return HostLibrary(f"{library.title} {library.version}".strip(), CBLAS, blas, suffix, limit if known else "")
