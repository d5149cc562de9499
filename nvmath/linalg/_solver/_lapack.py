"""LAPACK on the CPU: the one inside of NumPy, else MKL, NVPL or OpenBLAS, else SciPy's, which is always there.

Its functions take addresses only, as Fortran does, so one of them can be repeated over a batch by moving some of the addresses.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from ..._core.fork import IMPORTING
from ...bindings import _load, _rows, _seam

_LETTERS: Final = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}

#: What the functions take, in their order; `len` is the length of a text, which Fortran passes at the end.
_ARGUMENTS: Final = {
    "getrf": "m n a lda ipiv info",
    "getrs": "trans n nrhs a lda ipiv b ldb info len",
    "potrf": "uplo n a lda info len",
    "potrs": "uplo n nrhs a lda b ldb info len",
    "sytrf": "uplo n a lda ipiv work lwork info len",
    "sytrs": "uplo n nrhs a lda ipiv b ldb info len",
    "hetrf": "uplo n a lda ipiv work lwork info len",
    "hetrs": "uplo n nrhs a lda ipiv b ldb info len",
    "trtrs": "uplo trans diag n nrhs a lda b ldb info len1 len2 len3",
    "geqrf": "m n a lda tau work lwork info",
    "ormqr": "side trans m n k a lda tau c ldc work lwork info len1 len2",
}
_UNITARY: Final = {"ormqr": "unmqr"}
_DOTS: Final = {"float32": ("sdot", "f32"), "float64": ("ddot", "f64")}


SERIAL: Final = 10_000
"""Numbers up to which OpenBLAS does not wake its threads for a dot product."""


@dataclass(frozen=True, slots=True)
class Source:
    """A library that has LAPACK: what it is called, the width of its integers, and how its functions are.

    A title without a library is SciPy's.
    """

    title: str
    library: str
    integer: str
    prefix: str = ""
    suffix: str = "_"

    def address(self, name: str) -> int | None:
        """Return the address of a function by its name with the letter of the type, such as ``"dgetrf"``."""
        if not self.library:
            return _in_scipy(name)
        return _load.open_library(self.library).address(f"{self.prefix}{name}{self.suffix}")

    @property
    def numpys(self) -> bool:
        """Whether it is the OpenBLAS of NumPy."""
        return self.prefix == "scipy_"


def _in_scipy(name: str) -> int | None:
    """The address behind a function that SciPy offers to Cython."""
    with IMPORTING:
        from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__.get(name)
    if capsule is None:
        return None
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address: int | None = pointer_of(capsule, name_of(capsule))
    return address


SCIPY: Final = Source("SciPy's LAPACK", "", "int32", "", "")


@cache
def source() -> Source:
    """Return the LAPACK to use: the library that serves `nvmath.bindings.nvpl.lapack` if its names are known, else SciPy's.

    Raises
    ------
    LibraryNotFoundError, FunctionNotFoundError
        The library that ``NVMATH_LAPACK_CPU_LIBRARY`` names cannot be opened, or is no LAPACK.
    """
    named = bool(os.environ.get("NVMATH_LAPACK_CPU_LIBRARY"))
    if not named and _load.find_library("lapack") is None:
        return SCIPY
    found = _load.open_library("lapack")
    plain = "int32" if found.flavour == "mkl" else "int64"  # what MKL's plain names take unless it is told otherwise
    for prefix, suffix, integer in (("scipy_", "_64_", "int64"), ("", "_64_", "int64"), ("", "_", plain)):
        candidate = Source(found.title, "lapack", integer, prefix, suffix)
        if candidate.address("dgetrf") is not None:
            return candidate
    if named:
        raise found.missing("dgetrf")
    return SCIPY


class Lapack:
    """The functions of one data type.

    Attributes
    ----------
    integer : numpy.dtype
        Of every integer that is passed.
    title : str
        What the library is called.
    """

    def __init__(self, dtype: str, where: Source) -> None:
        self.dtype, self.where = dtype, where
        self.integer = np.dtype(where.integer)
        self.title = where.title

    def function(self, name: str) -> Callable[..., None]:
        """Return a function by its name without the letter of the type, such as ``"getrf"``."""
        return _function(self.where, self.dtype, name)


@cache
def _function(where: Source, dtype: str, name: str) -> Callable[..., None]:
    stem = _LETTERS[dtype] + (_UNITARY.get(name, name) if dtype.startswith("complex") else name)
    address = where.address(stem)
    if address is None:
        raise RuntimeError(f"{where.title} has no function {stem}. Install a NumPy that brings OpenBLAS: pip install numpy.")
    parameters = ", ".join(f"{p}: {'usize' if p.startswith('len') else 'ptr'}" for p in _ARGUMENTS[name].split())
    return _bound(address, f"{stem}({parameters}) -> void")


def _bound(address: int, text: str) -> Callable[..., Any]:
    row = _rows.parse(text, "")
    arguments = tuple(p.name for p in row.arguments)
    return _seam.bind(address, row.name, arguments, row.signature, None, row.documentation("RuntimeError"), __name__)


@cache
def lapack(dtype: str) -> Lapack:
    """Return the functions of a data type in the library that is used here."""
    return Lapack(dtype, source())


@cache
def dot_of(real: str) -> Callable[..., float] | None:
    """Return BLAS's dot product of two real vectors, or None if its name is not known."""
    name, result = _DOTS[real]
    address = _load.open_library("lapack").address(f"scipy_cblas_{name}64_") if source().numpys else None
    return None if address is None else _bound(address, f"{name}(n: i64, x: ptr, incx: i64, y: ptr, incy: i64) -> {result}")


@cache
def squares(real: str) -> Callable[[int, int], float]:
    """Return the function (count, address) that sums the squares of real numbers.

    The sum is infinite or NaN if one of the numbers is, or if it overflows.
    """
    kind, dot = np.dtype(real), dot_of(real)

    def total(count: int, ptr: int) -> float:
        if dot is not None and count <= SERIAL:
            return dot(count, ptr, 1, ptr, 1)
        memory: Any = (ctypes.c_char * (count * kind.itemsize)).from_address(ptr)
        values = np.frombuffer(memory, kind)
        with np.errstate(all="ignore"):
            return float(np.einsum("i,i->", values, values))

    return total


def arguments_of(name: str) -> tuple[str, ...]:
    """Return the names of the arguments of a function, in their order."""
    return tuple(_ARGUMENTS[name].split())
