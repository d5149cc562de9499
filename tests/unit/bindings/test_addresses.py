"""What is taken as an address and what as memory, wherever C wants a pointer: the same in both kinds of the seam."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nvmath.bindings import _addresses, _load
from nvmath.bindings.nvpl import blas, lapack

Bind = Callable[[str], Callable[..., Any]]


class Pair(ctypes.Structure):
    _fields_ = (("first", ctypes.c_int64), ("second", ctypes.c_int64))


VALUES = np.array([11, 22], dtype="i8")
ADDRESS = VALUES.ctypes.data
MEMORY = (ctypes.c_int64 * 2)(11, 22)
TEXT = ctypes.create_string_buffer(VALUES.tobytes())
CALLBACK = ctypes.CFUNCTYPE(None)(lambda: None)
POINTERS = {
    "typed": VALUES.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)),
    "typed otherwise": VALUES.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
    "void": ctypes.c_void_p(ADDRESS),
    "char": ctypes.cast(TEXT, ctypes.c_char_p),
    "wide char": ctypes.cast(MEMORY, ctypes.c_wchar_p),
    "reference": ctypes.byref(MEMORY),
    "pointer to a structure": ctypes.pointer(Pair(11, 22)),
    "int64": np.int64(ADDRESS),
    "uintp": np.uintp(ADDRESS),
}
NULLS = [
    ctypes.c_void_p(),
    ctypes.c_char_p(),
    ctypes.POINTER(ctypes.c_double)(),
    ctypes.CFUNCTYPE(None)(),
    np.uint64(0),
    None,
]
MEMORIES = {
    "array": MEMORY,
    "structure": Pair(11, 22),
    "array of pointers": (ctypes.c_void_p * 2)(11, 22),
    "NumPy": VALUES,
    "complex without dimensions": np.frombuffer(VALUES.tobytes(), "c16")[0],
    "array without dimensions": np.array(np.frombuffer(VALUES.tobytes(), "c16")[0]),
}


@pytest.mark.parametrize("given", POINTERS.values(), ids=POINTERS)
def test_a_pointer_is_the_address_that_it_holds(bind: Bind, given: Any) -> None:
    assert bind("toy_second_u64(a: u64[]) -> u64")(given) == 22
    assert bind("toy_second_u64(a: ptr) -> u64")(given) == 22
    assert bind("toy_second_u64(a: cbuf) -> u64")(given) == 22


@pytest.mark.parametrize("given", POINTERS.values(), ids=POINTERS)
def test_c_writes_where_a_pointer_leads(bind: Bind, given: Any) -> None:
    address = bind("toy_ptr(a: ptr) -> ptr")(given)
    function = bind("toy_memset(data: buf, value: i32, n: usize) -> void")
    before = ctypes.string_at(address, 16)
    try:
        function(given, 5, 16)
        assert ctypes.string_at(address, 16) == bytes([5] * 16)
    finally:
        ctypes.memmove(address, before, 16)
    assert bind("toy_ptr(a: ptr) -> ptr")(given) == address


@pytest.mark.parametrize("given", NULLS, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("kind", ["ptr", "u64[]", "cbuf", "buf"])
def test_a_pointer_that_leads_nowhere_is_null(bind: Bind, kind: str, given: Any) -> None:
    assert bind(f"toy_ptr(a: {kind}) -> ptr")(given) == 0


@pytest.mark.parametrize("given", MEMORIES.values(), ids=MEMORIES)
def test_arrays_and_structures_are_memory(bind: Bind, given: Any) -> None:
    assert bind("toy_second_u64(a: cbuf) -> u64")(given) == 22
    assert _addresses.address_of(given) is None


def test_functions_and_references_with_an_offset(bind: Bind) -> None:
    function = bind("toy_ptr(a: ptr) -> ptr")
    assert function(CALLBACK) == ctypes.cast(CALLBACK, ctypes.c_void_p).value
    assert function(ctypes.byref(MEMORY, 8)) == ctypes.addressof(MEMORY) + 8


def test_pointers_are_elements(bind: Bind) -> None:
    function = bind("toy_second_ptr(a: ptr[]) -> ptr")
    assert function([None, POINTERS["typed"]]) == ADDRESS
    assert function([0, np.uint64(ADDRESS)]) == ADDRESS
    pointers = (ctypes.POINTER(ctypes.c_int64) * 2)(POINTERS["typed"], POINTERS["typed"])
    assert function(pointers) == ADDRESS
    assert bind("toy_second_ptr(a: cbuf) -> ptr")(pointers) == ADDRESS


@pytest.mark.parametrize("given", [ctypes.c_int.from_param(5), ctypes.py_object(5), 1.5, "text", object()], ids=str)
@pytest.mark.parametrize("kind", ["ptr", "u64[]"])
def test_what_holds_no_address_is_refused(bind: Bind, kind: str, given: Any) -> None:
    with pytest.raises(TypeError, match=r"toy\.ptr\(\): 'a' must be an address"):
        bind(f"toy_ptr(a: {kind}) -> ptr")(given)


@pytest.mark.parametrize("kind", ["u64[]", "cbuf", "buf"])
def test_an_integer_in_an_array_without_dimensions_might_be_either(bind: Bind, kind: str) -> None:
    with pytest.raises(TypeError, match=r"toy\.ptr\(\): 'a' must be an address"):
        bind(f"toy_ptr(a: {kind}) -> ptr")(np.array(ADDRESS, "u8"))


class Tensor:
    """As arrays of other packages: one number has ``__index__``, and there is no buffer protocol."""

    def __index__(self) -> int:
        return 5

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("kind", ["cbuf", "buf"])
def test_an_array_of_one_number_is_no_address(bind: Bind, kind: str) -> None:
    with pytest.raises(TypeError, match=r"toy\.ptr\(\): 'a' must be an address"):
        bind(f"toy_ptr(a: {kind}) -> ptr")(Tensor())


@pytest.mark.parametrize("kind", ["cbuf", "buf"])
def test_memory_with_gaps_is_said_to_have_them(bind: Bind, kind: str) -> None:
    whole = np.zeros((4, 6))
    for given in (whole[:, ::2], whole[::2], whole[::-1], np.zeros((2, 3, 4)).transpose(1, 0, 2)):
        wanted = r"'a' must be C-contiguous or F-contiguous \(or pass the address of its memory\), got"
        with pytest.raises(ValueError, match=wanted):
            bind(f"toy_ptr(a: {kind}) -> ptr")(given)
    for given in (whole, whole.T, whole[:0, ::2]):
        assert bind(f"toy_ptr(a: {kind}) -> ptr")(given) == given.ctypes.data


# ------------------------------------------------------------------------------------------------ libraries


@pytest.fixture
def ending() -> str:
    if _load.find_library("blas") is None:
        pytest.skip("no BLAS library is installed")
    return "" if blas._library.has("cblas_dgemm") else "_64"


def test_blas_takes_pointers(ending: str) -> None:
    x, y = np.array([3.0]), np.array([7.0])
    pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    for given in (pointer, ctypes.c_void_p(address), np.uint64(address or 0)):
        assert getattr(blas, f"ddot{ending}")(1, given, 1, x, 1) == x[0] ** 2
        getattr(blas, f"dcopy{ending}")(1, y, 1, given, 1)
        assert x.tolist() == y.tolist()
    assert ctypes.cast(pointer, ctypes.c_void_p).value == address


def test_blas_says_what_is_wrong_with_a_column(ending: str) -> None:
    """Its elements were counted once, though a legal leading dimension says that they are apart."""
    a, b, big = np.ones((2, 3)), np.ones((3, 4)), np.zeros((2, 10))
    gemm, dot = getattr(blas, f"dgemm{ending}"), getattr(blas, f"ddot{ending}")
    with pytest.raises(ValueError, match=r"'c' must be C-contiguous or F-contiguous \(or pass the address"):
        gemm(101, 111, 111, 2, 4, 3, 1.0, a, 3, b, 4, 0.0, big[:, 3:7], 10)
    gemm(101, 111, 111, 2, 4, 3, 1.0, a, 3, b, 4, 0.0, big[:, 3:7].ctypes.data, 10)
    assert np.array_equal(big[:, 3:7], a @ b)
    assert big.sum() == (a @ b).sum()
    x = np.arange(10.0)
    with pytest.raises(ValueError, match=r"'x' must be C-contiguous or F-contiguous \(or pass the address"):
        dot(5, x[::2], 2, x, 1)
    assert dot(5, x[::2].ctypes.data, 2, np.ones(5), 1) == x[::2].sum()


def test_lapack_takes_pointers() -> None:
    if _load.find_library("lapack") is None:
        pytest.skip("no LAPACK library is installed")
    matrix = np.array([[4.0, 3.0], [6.0, 3.0]])
    given, expected = matrix.copy(), matrix.copy()
    pivots, expected_pivots = np.zeros(2, "i8"), np.zeros(2, "i8")
    assert lapack.dgetrf(101, 2, 2, expected, 2, expected_pivots) == 0
    pointer = given.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    assert lapack.dgetrf(101, 2, 2, pointer, 2, ctypes.c_void_p(pivots.ctypes.data)) == 0
    assert given.tolist() == expected.tolist() != matrix.tolist()
    assert pivots.tolist() == expected_pivots.tolist()
