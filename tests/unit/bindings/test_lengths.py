"""Lengths of arrays: the grammar, and that every array of cuRAND and CBLAS is checked for as much as C reads and writes."""

from __future__ import annotations

import ctypes
import inspect
import random
from array import array as integers
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nvmath.bindings import _lengths, _load, _rows, _seam, curand
from nvmath.bindings._bind import substitute
from nvmath.bindings._rows import Row
from nvmath.bindings.nvpl import blas

TEXT = """
* x=n
{s,d}one:
two: y=2*n
* z=1
three: x=3
"""


def test_a_line_says_what_functions_need() -> None:
    assert _lengths.lengths(TEXT) == {
        "sone": {"x": "n"},
        "done": {"x": "n"},
        "two": {"x": "n", "y": "2*n"},
        "three": {"z": "1", "x": "3"},
    }


ROW = _rows.parse("libDo(n: i32, x: cbuf<f64>, sizes: i64[])", "lib")


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        ((3, np.zeros(3), [1, 2, 3, 4]), ""),
        ((3, bytearray(24), (1, 2, 3, 4)), ""),
        ((3, 4096, None), ""),  # nothing is known of an address
        ((np.int64(3), np.zeros((3, 1)), np.zeros(4, "i2")), ""),
        ((3, np.zeros(3, "f4"), [1, 2, 3, 4]), ""),  # the call refuses the type
        ((3, bytes(12), [1, 2, 3, 4]), r"do\(\): x needs 3 elements of 8 bytes \(n\), got room for 1.5"),
        ((3, np.zeros(2), [1, 2, 3, 4]), "x needs 3 elements of 8 bytes"),
        ((3, np.zeros(3), [1, 2, 3]), r"sizes needs 4 elements \(n\+1\), got room for 3"),
        ((3, 4096, np.zeros(3, "i8")), "sizes needs 4"),
        ((1, np.array(1.0), (1,)), "sizes needs 2"),
        ((2, np.array(1.0), (1,)), "x needs 2"),
        (("n", np.zeros(0), ()), ""),  # the call refuses the text
        ((0, np.zeros(0), object()), ""),
    ],
)
def test_what_is_refused(arguments: tuple[Any, ...], refused: str) -> None:
    checked, check = _lengths.check_of(ROW, {"x": "n", "sizes": "n+1"})
    assert checked == ["x", "sizes"]
    if refused:
        with pytest.raises(ValueError, match=refused):
            check(*arguments)
    else:
        check(*arguments)


def arrays(row: Row) -> list[str]:
    return [p.name for p in row.parameters if p.is_array]


@pytest.mark.parametrize("module", [blas, curand], ids=["blas", "curand"])
def test_every_array_has_a_length(module: Any) -> None:
    known = module._library.tables.lengths
    rows = {row.name: arrays(row) for row in module._library.rows() if arrays(row)}
    assert {name: [p for p in found if p not in known[name.removesuffix("_64")]] for name, found in rows.items()} == {
        name: [] for name in rows
    }
    assert {name.removesuffix("_64") for name in rows} == set(known)


def test_docstrings_say_how_long() -> None:
    text = str(curand.generate_uniform_double.__doc__)
    assert "output_ptr : address (int), None or writable contiguous buffer of float64\n" in text
    assert "In and out; C type buf<f64>; at least num elements." in text
    assert "ValueError\n    An array is shorter" in text
    assert "ValueError" not in str(curand.set_stream.__doc__)
    assert "In; C type i32[]; at least group_count elements.\n" in str(blas.sgemm_batch.__doc__)
    assert "alpha : float\n    In; C type f64.\n" in str(blas.daxpy.__doc__)


MATRIX = np.ones((3, 2))


@pytest.mark.parametrize(
    ("changed", "refused"),
    [
        ({"order": 100}, "order must be 101 or 102, got 100"),
        ({"trans_a": 0}, "trans_a must be 111, 112 or 113, got 0"),
        ({"trans_a": 114}, "trans_a must be 111, 112 or 113, got 114"),  # of OpenBLAS, and not in its interface
        ({"trans_b": 121}, "trans_b must be 111, 112 or 113, got 121"),
        ({"m": -1}, "m must be 0 or more, got -1"),
        ({"lda": 1}, "a has lines of 2 elements, so its leading dimension must be 2 or more, got 1"),
        ({"trans_a": 112, "m": 2, "k": 3, "lda": 1}, "a has lines of 2 elements"),
        ({"k": 0, "lda": 0}, "a has lines of 0 elements, so its leading dimension must be 1 or more, got 0"),
        ({"a": 4096, "lda": 1}, "a has lines of 2"),  # with an array elsewhere, what an address needs is known as well
        ({"ldc": 2, "c": np.zeros((3, 2))}, "c has lines of 3"),
        ({}, ""),
    ],
)
def test_what_blas_prints_and_goes_on_is_refused(changed: dict[str, Any], refused: str) -> None:
    """MKL prints that a parameter had a wrong value, and returns as if it had worked."""
    given = {"order": 101, "trans_a": 111, "trans_b": 112, "m": 3, "n": 3, "k": 2, "alpha": 1.0, "a": MATRIX, "lda": 2}
    given |= {"b": MATRIX, "ldb": 2, "beta": 0.0, "c": np.zeros((3, 3)), "ldc": 3} | changed
    calls: list[Any] = []
    with substitute("blas", SimpleNamespace(cblas_dgemm=lambda *args: calls.append(args))):
        if refused:
            with pytest.raises(ValueError, match=rf"^dgemm\(\): {refused}"):
                blas.dgemm(**given)
        else:
            blas.dgemm(**given)
    assert bool(calls) == (not refused)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("zherk", (111, 113)), ("cherk", (111, 113)), ("zher2k", (111, 113)), ("zsyrk", (111, 112)), ("csyr2k", (111, 112)),
        ("dsyrk", (111, 112, 113)), ("ssyr2k_64", (111, 112, 113)),
    ],
)  # fmt: skip
def test_products_of_a_matrix_with_itself_take_two_transpositions_of_complex_numbers(
    name: str, allowed: tuple[int, ...]
) -> None:
    item = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}[name[0]]
    numbers = {p: np.ones((2, 2), item) for p in ("a", "b", "c")}
    given = {"order": 101, "uplo": 121, "n": 2, "k": 2, "lda": 2, "ldb": 2, "ldc": 2, **numbers}
    function = getattr(blas, name)
    for factor in ("alpha", "beta"):
        plain = name[0] in "sd" or "herk" in name or (factor == "beta" and "her" in name)
        given[factor] = 1.0 if plain else np.ones(1, item)
    given = {key: value for key, value in given.items() if key in inspect.signature(function).parameters}
    calls: list[Any] = []
    with substitute("blas", SimpleNamespace(**{f"cblas_{name}": lambda *args: calls.append(args)})):
        for trans in (111, 112, 113, 114):
            if trans in allowed:
                function(**given, trans=trans)
            else:
                with pytest.raises(ValueError, match=rf"{name}\(\): trans must be .* got {trans}"):
                    function(**given, trans=trans)
    assert [args[2] for args in calls] == list(allowed)


@pytest.mark.parametrize(
    ("changed", "refused"),
    [
        ({"trans_a_array": [111, 55]}, "trans_a_array must be 111, 112 or 113, got 55"),
        ({"m_array": np.array([2, -1], np.int32)}, "m_array must be 0 or more, got -1"),
        ({"lda_array": [3, 2]}, "lda_array must be 3 or more in group 1, got 2"),
        ({"lda_array": (ctypes.c_int * 2)(3, 2)}, "lda_array must be 3 or more in group 1, got 2"),
        ({"lda_array": integers("i", [3, 2])}, "lda_array must be 3 or more in group 1, got 2"),
        ({"trans_b_array": [111, 112]}, "ldb_array must be 3 or more in group 1, got 2"),
        ({"ldc_array": [2, 1]}, "ldc_array must be 2 or more in group 1, got 1"),
        ({"group_size": [1, -1]}, "group_size must be 0 or more, got -1"),
        ({"group_count": -1}, "group_count must be 0 or more, got -1"),
        ({"trans_a_array": 64, "lda_array": []}, "lda_array needs 2 elements .*, got room for 0"),
        ({"m_array": 64, "ldc_array": []}, "ldc_array needs 2 elements .*, got room for 0"),
        ({"lda_array": [3, 3, 0], "trans_a_array": (111, 111, 0)}, ""),  # no more than the groups are read
        ({"trans_a_array": np.array([111, 111], np.int32).tobytes()}, ""),
        ({"lda_array": iter([3, 3])}, ""),
        ({"lda_array": 64, "m_array": 64}, ""),
        ({}, ""),
    ],
)
def test_each_group_of_a_batch_is_checked(changed: dict[str, Any], refused: str) -> None:
    a, b, c = np.ones((2, 3)), np.ones((3, 2)), np.zeros((2, 2))
    given: dict[str, Any] = {"trans_a_array": [111, 111], "trans_b_array": [111, 111], "m_array": [2, 2], "n_array": [2, 2]}
    given |= {"k_array": [3, 3], "alpha_array": [1.0, 1.0], "beta_array": [0.0, 0.0], "group_size": [1, 1]}
    given |= {"lda_array": [3, 3], "ldb_array": [2, 2], "ldc_array": [2, 2]}
    given |= {f"{name}_array": [matrix.ctypes.data] * 2 for name, matrix in (("a", a), ("b", b), ("c", c))}
    calls: list[Any] = []
    given |= {"order": 101, "group_count": 2} | changed
    with substitute("blas", SimpleNamespace(cblas_dgemm_batch=lambda *args: calls.append(args))):
        if refused:
            with pytest.raises(ValueError, match=rf"^dgemm_batch\(\): {refused}"):
                blas.dgemm_batch(**given)
        else:
            blas.dgemm_batch(**given)
    assert bool(calls) == (not refused)


def test_a_count_that_is_no_integer_is_refused_as_everywhere() -> None:
    with pytest.raises(TypeError, match="'group_count' must be an int"):
        blas.dgemm_batch(101, *[[111]] * 2, *[[2]] * 3, [1.0], [64], [2], [64], [2], [0.0], [64], [2], 1.0, [1])


@pytest.mark.parametrize("order", [101, 102])
@pytest.mark.parametrize(("m", "n"), [(0, 3), (2, 0), (0, 0)])
def test_mkl_wants_room_between_results_that_have_no_elements(capfd: Any, order: int, m: int, n: int) -> None:
    if "mkl" not in str(_load.find_library("blas")):
        pytest.skip("CBLAS is not that of MKL")
    for stride in range(20):
        with suppress(ValueError):
            blas.dgemm_batch_strided(
                order=order, trans_a=111, trans_b=111, m=m, n=n, k=4, alpha=1.0, a=np.ones(99), lda=5, stridea=25, b=np.ones(99), ldb=5,
                strideb=25, beta=0.0, c=np.zeros(70), ldc=5, stridec=stride, batch_size=2,
            )  # fmt: skip
        printed = capfd.readouterr()
        assert "ERROR" not in printed.out + printed.err
        assert "incorrect" not in printed.out + printed.err


@pytest.mark.parametrize("order", [101, 102])
@pytest.mark.parametrize("name", ["stridea", "strideb", "stridec", "batch_size"])
def test_mkl_takes_the_strides_that_are_not_refused(capfd: Any, order: int, name: str) -> None:
    """Every value is either refused here, or MKL computes with it and prints nothing."""
    if "mkl" not in str(_load.find_library("blas")):
        pytest.skip("CBLAS is not that of MKL")
    leading = {"lda": 5, "ldb": 5, "ldc": 5}
    for value in range(-2, 21):
        c = np.zeros(70)
        given = {"stridea": 25, "strideb": 25, "stridec": 25, "batch_size": 2} | {name: value}
        refused = True
        with suppress(ValueError):
            blas.dgemm_batch_strided(
                order=order, trans_a=111, trans_b=111, m=2, n=3, k=4, alpha=1.0, a=np.ones(99), b=np.ones(99), beta=0.0, c=c,
                **given, **leading,
            )  # fmt: skip
            refused = False
        least = {"stridec": 10 if order == 101 else 15}.get(name, 0)  # and c has room for three results
        assert refused == (value < least or (name, value > 3) == ("batch_size", True))
        assert c.any() == (not refused and (name, value) != ("batch_size", 0))
        printed = capfd.readouterr()
        assert "ERROR" not in printed.out + printed.err


def test_steps_of_0_are_refused_beside_matrices_only() -> None:
    x, y = np.ones(2), np.zeros(2)
    calls: list[Any] = []
    with substitute(
        "blas", SimpleNamespace(**{f"cblas_d{name}": lambda *args: calls.append(args) for name in ("axpy", "ger")})
    ):
        blas.daxpy(2, 1.0, x, 0, y, 1)  # adds the first number to each
        with pytest.raises(ValueError, match=r"dger\(\): inc_x must be other than 0, got 0"):
            blas.dger(101, 2, 2, 1.0, x, 0, y, 1, np.zeros(4), 2)
    assert len(calls) == 1


def test_random_numbers_need_arrays_of_their_type() -> None:
    if _load.find_library("curand") is None:
        pytest.skip("cuRAND is not installed")
    numbers = np.zeros(8)
    with pytest.raises(TypeError, match=r"'output_ptr' must have items of type float32 .* got float64"):
        curand.generate_uniform(0, numbers, numbers.size)
    with pytest.raises(TypeError, match=r"items of type float64 .* got float32"):
        curand.generate_uniform_double(0, np.zeros(8, "f4"), 8)
    with pytest.raises(TypeError, match=r"items of type uint32 .* got int32"):
        curand.generate(0, np.zeros(8, "i4"), 8)
    assert not numbers.any()


def test_a_loop_calls_the_function_itself() -> None:
    """Addresses advance, and are not checked."""
    calls: list[Any] = []
    with substitute("blas", SimpleNamespace(cblas_dcopy=lambda *args: calls.append(args))):
        _seam.repeat(blas.dcopy, (2,), ((0,), (8,), (0,), (16,), (0,)), (1, 4096, 1, 8192, 1))
        blas.dcopy(n=1, x=64, inc_x=1, y=np.zeros(1), inc_y=1)
    assert calls[:2] == [(1, 4096, 1, 8192, 1), (1, 4104, 1, 8208, 1)]
    assert len(calls) == 3


# ------------------------------------------------------------------------------------------------ what C needs

FUNCTIONS = {row.name: row for row in blas._library.rows() if arrays(row) and not row.name.endswith("_64")}
BATCHES = [name for name in FUNCTIONS if name.endswith("gemm_batch")]
VALUES: dict[str, tuple[Any, ...]] = {
    "order": (101, 102), "layout": (101, 102), "uplo": (121, 122), "diag": (131, 132), "side": (141, 142),
    "m": (1, 3, 4), "n": (1, 2, 4), "k": (1, 2, 3), "kl": (0, 1, 2), "ku": (0, 1, 2), "batch_size": (1, 2, 3),
    "inc_x": (1, 2, -1, -3), "inc_y": (1, 2, -2), "lda": (5, 6), "ldb": (5, 7), "ldc": (5, 6),
    "stridea": (30, 31), "strideb": (30, 32), "stridec": (30, 33),
}  # fmt: skip


def scalars(row: Row, draw: random.Random) -> dict[str, Any]:
    """Valid values of the arguments that are no arrays."""
    hermitian = row.name[1:] in ("herk", "her2k")
    transposes = (111, 113) if hermitian else (111, 112)
    values = {}
    for p in row.arguments:
        if p.name not in arrays(row):
            choices = transposes if p.name.startswith("trans") else VALUES.get(p.name)
            values[p.name] = draw.choice(choices) if choices else draw.uniform(0.5, 2)
    return values


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(
        _rows.ITEMS[next(p.item or p.type for p in FUNCTIONS[name].arguments if p.item or p.name == "alpha_array")]
    )


def named(row: Row) -> str:
    return row.c_name


def shortest(row: Row, given: dict[str, Any], name: str) -> int:
    """How many bytes an array needs at least before the function is called."""
    called: list[str] = []
    others = {other: bytearray(b"?" * 8192) for other in arrays(row)}
    with substitute("blas", SimpleNamespace(**{row.c_name: lambda *args: called.append("")})):
        function = getattr(blas, row.name)
        for nbytes in range(0, 8192, dtype_of(row.name).itemsize // 2):
            try:
                function(**given, **{**others, name: bytearray(nbytes)})
            except ValueError as error:
                assert str(error).startswith(f"{row.name}(): {name} needs")  # noqa: PT017
                assert not called
                continue
            return nbytes
    raise AssertionError(f"{name} is never long enough")


@pytest.fixture(scope="module")
def suffix() -> str:
    if _load.find_library("blas") is None:
        pytest.skip("no BLAS library is installed")
    return "" if blas._library.has("cblas_dgemm") else "_64"


def drawn(dtype: np.dtype[Any], nbytes: int, draw: random.Random) -> np.ndarray:
    n = -(-nbytes // dtype.itemsize)
    reals = n * (2 if dtype.kind == "c" else 1)
    values = np.array([draw.uniform(0.5, 2) for _ in range(reals)])
    return np.frombuffer(values.astype({"f4": "f4", "c8": "f4"}.get(dtype.str[1:], "f8")).tobytes(), "u1")[
        :nbytes
    ].copy()


TAIL = 64


def outcome(
    function: Any, given: dict[str, Any], memory: dict[str, np.ndarray], tail: int
) -> tuple[Any, dict[str, bytes]]:
    """The result and the arrays after a call, whose memory goes on behind their ends with a byte of our choice."""
    longer = {name: np.concatenate([found, np.full(TAIL, tail, "u1")]) for name, found in memory.items()}
    result = function(**given, **longer)
    assert all((longer[name][-TAIL:] == tail).all() for name in memory), "written behind the end"
    return result, {name: found[:-TAIL].tobytes() for name, found in longer.items()}


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in BATCHES])
def test_c_reads_and_writes_as_much_as_is_checked(name: str, suffix: str) -> None:
    """What lies behind the shortest arrays that are accepted does not matter, and their last element does."""
    row, dtype, draw = FUNCTIONS[name], dtype_of(name), random.Random(name)
    if blas._library.tables.rows.get(name + suffix) is None or not blas._library.has(row.c_name + suffix):
        pytest.skip(f"the BLAS library has no {row.c_name}{suffix}")
    function = getattr(blas, name + suffix)
    idle = set(arrays(row))
    for _ in range(60):
        given = scalars(row, draw)
        needed = {array: shortest(row, given, array) for array in arrays(row)}
        memory = {array: drawn(dtype, nbytes, draw) for array, nbytes in needed.items()}
        if name[1:] == "rotm":
            memory["p"].view(dtype)[0] = -1  # the form in which all numbers count
        expected = outcome(function, given, memory, 0)
        assert outcome(function, given, memory, 0xFF) == expected  # numbers behind the end would be NaN
        for array in tuple(idle):
            unit = min(dtype.itemsize, needed[array])
            for byte in (0, 0x5A, 0xFF):
                changed = memory | {array: memory[array].copy()}
                changed[array][-unit:] = byte
                if unit and _differs(outcome(function, given, changed, 0), expected, changed, array, unit):
                    idle.discard(array)
        if not idle:
            break
    assert not idle, f"the last element of {idle} is never used"


def _differs(found: Any, expected: Any, changed: dict[str, np.ndarray], array: str, unit: int) -> bool:
    """Whether an element that was changed was written, or changed anything else."""
    written = found[1][array][-unit:] != changed[array][-unit:].tobytes()
    rest = {name: data[:-unit] if name == array else data for name, data in found[1].items()}
    before = {name: data[:-unit] if name == array else data for name, data in expected[1].items()}
    return written or rest != before or str(found[0]) != str(expected[0])


@pytest.mark.parametrize("name", BATCHES)
def test_batches_check_their_tables(name: str) -> None:
    row = FUNCTIONS[name]
    counts = dict.fromkeys(arrays(row), 2) | {"a_array": 5, "b_array": 5, "c_array": 5}
    given: dict[str, Any] = {p: [111 if "trans" in p else 1] * n for p, n in counts.items()} | {"group_size": (2, 3)}
    dtype = dtype_of(name)
    if dtype.kind == "c":
        given |= {"alpha_array": np.ones(2, dtype), "beta_array": np.ones(2, dtype)}
    calls: list[Any] = []
    with substitute("blas", SimpleNamespace(**{row.c_name: lambda *args: calls.append(args)})):
        getattr(blas, name)(order=101, group_count=2, **given)
        assert len(calls) == 1
        for p, n in counts.items():
            with pytest.raises(ValueError, match=rf"{name}\(\): {p} needs {n} elements"):
                getattr(blas, name)(
                    order=101,
                    group_count=2,
                    **given | {p: given[p][:-1], "group_size": given["group_size"][: 2 - (p == "group_size")]},
                )
        getattr(blas, name)(
            order=101, group_count=2, **given | {"a_array": 64, "group_size": 4096}
        )  # nothing is known of addresses
        assert len(calls) == 2


# ------------------------------------------------------------------------------------------------ cuRAND

SIZES = {"generate_long_long": 8, "generate_poisson": 4, "generate_poisson_method": 4}
GENERATORS = [row for row in curand._library.rows() if arrays(row)]


@pytest.mark.parametrize("row", GENERATORS, ids=lambda row: row.name)
def test_a_short_array_is_refused_before_numbers_are_made(row: Row) -> None:
    size = SIZES.get(row.name, 8 if row.name.endswith("double") else 4)
    count = "num" if any(p.name == "num" for p in row.arguments) else "n"
    others = {p.name: 1 for p in row.arguments if p.name not in (count, "output_ptr")}
    calls: list[Any] = []
    with substitute("curand", SimpleNamespace(**{row.c_name: lambda *args: calls.append(args)})):
        function = getattr(curand, row.name)
        with pytest.raises(ValueError, match=rf"{row.name}\(\): output_ptr needs 7 elements of {size} bytes"):
            function(output_ptr=np.zeros(7 * size - 1, "u1"), **{count: 7}, **others)
        assert not calls
        for enough in (np.zeros(7 * size, "u1"), 4096, None):
            function(output_ptr=enough, **{count: 7}, **others)
        assert len(calls) == 3


# ------------------------------------------------------------------------------------------------ nothing to read


def product(name: str, given: dict[str, Any]) -> np.ndarray:
    """`given` to a gemm of rows whose result is 2 x 4, and what became of it."""
    c = np.arange(8.0).reshape(2, 4).astype(dtype_of(name))
    arguments = {"m": 2, "n": 4, "k": 3, "lda": 3, "ldb": 4, "ldc": 4, "c": c} | given
    getattr(blas, name)(order=101, trans_a=111, trans_b=111, **arguments)
    return c


@pytest.mark.parametrize("letter", "sdcz")
@pytest.mark.parametrize("beta", [0.0, 1.0, -2.5])
def test_factors_of_zero_need_no_matrices(letter: str, beta: float, suffix: str) -> None:
    name = f"{letter}gemm"
    dtype = dtype_of(name)
    scalar: Any = (lambda value: np.array([value], dtype)) if dtype.kind == "c" else float
    empty = np.empty(0, dtype)
    expected = (beta * np.arange(8.0).reshape(2, 4)).astype(dtype)
    full = {"a": np.full((2, 3), np.nan, dtype), "b": np.full((3, 4), np.nan, dtype)}
    for zero in (0.0, -0.0):
        for given in ({"a": empty, "b": empty}, {"a": empty, "b": np.ones((3, 4), dtype)}):
            found = product(name + suffix, {"alpha": scalar(zero), "beta": scalar(beta)} | given)
            assert np.array_equal(found, expected)
    found = product(name + suffix, {"alpha": scalar(2), "beta": scalar(beta), "k": 0, "lda": 1, "a": empty, "b": empty})
    assert np.array_equal(found, expected)
    for extent in ("m", "n"):
        found = product(
            name + suffix, full | {"alpha": scalar(2), "beta": scalar(beta), extent: 0, "a": empty, "b": empty}
        )
        assert np.array_equal(found, np.arange(8.0).reshape(2, 4))
    with pytest.raises(ValueError, match="a needs 6 elements"):
        product(name + suffix, {"alpha": scalar(1e-30), "beta": scalar(beta), "a": empty, "b": empty})
    with pytest.raises(ValueError, match="c needs 8 elements"):  # it is written, whatever the factors are
        product(name + suffix, {"alpha": scalar(0), "beta": scalar(0), "a": empty, "b": empty, "c": np.empty(7, dtype)})


def test_a_factor_of_zero_at_an_address(suffix: str) -> None:
    empty, zero, one = np.empty(0, "c8"), np.zeros(1, "c8"), np.ones(1, "c8")
    given = {"beta": one.ctypes.data, "a": empty, "b": empty}
    found = product("cgemm" + suffix, given | {"alpha": zero.ctypes.data})
    assert np.array_equal(found, np.arange(8.0).reshape(2, 4))
    for alpha in (one.ctypes.data, np.full(1, 1e-45j, "c8"), None):
        with pytest.raises(ValueError, match="a needs 6 elements"):
            product("cgemm" + suffix, given | {"alpha": alpha})


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "alpha" in [p.name for p in FUNCTIONS[name].arguments]])
def test_what_a_factor_of_zero_multiplies_may_be_absent(name: str, suffix: str) -> None:
    """The result is that of arrays full of zeros."""
    row, dtype, draw = FUNCTIONS[name], dtype_of(name), random.Random(name)
    if blas._library.tables.rows.get(name + suffix) is None or not blas._library.has(row.c_name + suffix):
        pytest.skip(f"the BLAS library has no {row.c_name}{suffix}")
    read = [p.name for p in row.arguments if p.type == "cbuf" and p.name not in ("alpha", "beta")]
    for _ in range(5):
        given = scalars(row, draw)
        memory = {p: drawn(dtype, shortest(row, given, p), draw) for p in arrays(row)}
        if "alpha" in memory:
            memory["alpha"][:] = 0
        else:
            given["alpha"] = 0.0
        expected = outcome(getattr(blas, name + suffix), given, memory | {p: memory[p] * 0 for p in read}, 0)
        kept = {p: memory[p].copy() for p in memory if p not in read}
        result = getattr(blas, name + suffix)(**given, **kept, **{p: np.empty(0, dtype) for p in read})
        assert str(result) == str(expected[0])
        assert {p: kept[p].tobytes() for p in kept} == {p: expected[1][p] for p in kept}
