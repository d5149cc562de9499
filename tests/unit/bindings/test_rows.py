"""The grammar of rows: names, types, families, documentation."""

from __future__ import annotations

import pytest

from nvmath.bindings import _rows


def names(text: str, prefix: str = "lib") -> list[str]:
    return _rows.Index(text, prefix).names()


@pytest.mark.parametrize(
    ("c_name", "prefix", "name"),
    [
        ("cufftMakePlanMany64", "cufft", "make_plan_many64"),
        ("cufftExecC2C", "cufft", "exec_c2c"),
        ("cufftXtSetJITCallback", "cufft", "xt_set_jit_callback"),
        ("cuMemAlloc_v2", "cu", "mem_alloc"),
        ("cublasSgemm_v2_64", "cublas", "sgemm_64"),
        ("nvrtcVersion", "nvrtc", "version"),
        ("other", "lib", "other"),
    ],
)
def test_mechanical_names(c_name: str, prefix: str, name: str) -> None:
    assert _rows.python_name(c_name, prefix) == name


def test_a_row_has_arguments_outs_and_a_signature() -> None:
    row = _rows.parse("libDo(a: i32, &b: f64, c: str[], &d: ptr) -> usize", "lib")
    assert (row.c_name, row.name, row.result) == ("libDo", "do", "usize")
    assert [p.name for p in row.arguments] == ["a", "c"]
    assert [p.name for p in row.outs] == ["b", "d"]
    assert row.signature == "i&d*s&P>N"
    assert _rows.parse("libDo()", "lib").signature == ">!"


def test_what_is_by_address_or_always_null() -> None:
    row = _rows.parse("libDo(a: i32*, b: null, c: f64)", "lib")
    assert [p.name for p in row.arguments] == ["a", "c"]
    assert [p.adapted for p in row.parameters] == [True, True, False]
    assert "a : int\n    In; C type i32*." in row.documentation("E")


def test_memory_may_have_items_of_a_type() -> None:
    row = _rows.parse("libDo(a: cbuf<f32>, b: buf<c128>, c: buf)", "lib")
    assert row.signature == "-f+D*w>!"
    assert [(p.written, p.item_size) for p in row.parameters] == [("cbuf<f32>", 4), ("buf<c128>", 16), ("buf", 0)]
    assert "b : address (int), None or writable contiguous buffer of complex128\n" in row.documentation("E")
    rows = _rows.Index("lib{S,D}do[_64](a: buf<{f32,f64}>, b: buf<int>)", "lib")
    assert [row.signature for row in rows] == ["+f+i>!", "+f+q>!", "+d+i>!", "+d+q>!"]


def test_documentation_states_everything() -> None:
    text = _rows.parse("libDo(a: i32, c: f32[], &d: ptr)", "lib").documentation("LibError")
    expected = """Calls the C function ``libDo``.

Parameters
----------
a : int
    In; C type i32.
c : address (int), None, buffer or sequence of float
    In; C type f32[].

Returns
-------
d : int
    Out; C type ptr.

Raises
------
LibError
    The status is not success.
"""
    assert text == expected
    assert "Returns\n-------\nNone\n" in _rows.parse("libDo() -> void", "lib").documentation("LibError")
    assert "Raises" not in _rows.parse("libDo() -> str", "lib").documentation("LibError")


def test_sections_say_where_a_row_is_declared() -> None:
    text = (
        "@ lib.h\nlibOne(a: buf)\n@ other.h 1.2+\nlibTwo()\n@ other.h -1.4\nlibThree()\n@ other.h 1.3-1.5\nlibFour()\n"
    )
    rows = list(_rows.Index(text, "lib"))
    assert [(row.header, row.versions) for row in rows] == [
        ("lib.h", ""),
        ("other.h", "1.2+"),
        ("other.h", "-1.4"),
        ("other.h", "1.3-1.5"),
    ]
    assert "It is declared in ``lib.h``.\n" in rows[0].documentation("E")
    assert "In and out; C type buf." in rows[0].documentation("E")
    assert "of versions 1.2 and newer." in rows[1].documentation("E")
    assert "of versions up to 1.4." in rows[2].documentation("E")
    assert "of versions 1.3 to 1.5." in rows[3].documentation("E")


def test_a_wide_index_has_the_functions_of_64_bits_alone() -> None:
    text = "lib{S,D}dot_v2[_64](n: int)\nnorm = libNrm[_64](n: int)\nlibGet(n: i32)\n"
    rows = list(_rows.Index(text, "lib", wide=True))
    assert [(row.name, row.c_name, row.signature) for row in rows] == [
        ("sdot", "libSdot_v2_64", "q>!"),
        ("ddot", "libDdot_v2_64", "q>!"),
        ("norm", "libNrm_64", "q>!"),
        ("get", "libGet", "i>!"),
    ]


def test_comments_and_continuations() -> None:
    text = """
# a comment
libOne(a: i32,
    b: i32)   # another
libTwo()
"""
    assert list(_rows.lines(text)) == ["libOne(a: i32, b: i32)", "libTwo()"]


def test_braces_vary_together() -> None:
    text = "get_{float,double} = lib{f,}Get(a: {f32,f64}) -> {f32,f64}"
    rows = [_rows.parse(row, "lib") for row in _rows.expand(text)]
    assert [(row.name, row.c_name, row.signature) for row in rows] == [
        ("get_float", "libfGet", "f>f"),
        ("get_double", "libGet", "d>d"),
    ]
    with pytest.raises(ValueError, match="same number of alternatives"):
        list(_rows.expand("{a,b} = lib{c}()"))


def test_brackets_make_two_functions() -> None:
    rows = [_rows.parse(row, "lib") for row in _rows.expand("lib{S,D}dot_v2[_64](n: int, x: ptr, incx: int)")]
    assert [(row.name, row.c_name, row.signature) for row in rows] == [
        ("sdot", "libSdot_v2", "iPi>!"),
        ("sdot_64", "libSdot_v2_64", "qPq>!"),
        ("ddot", "libDdot_v2", "iPi>!"),
        ("ddot_64", "libDdot_v2_64", "qPq>!"),
    ]
    renamed = list(_rows.expand("dot = libDot[_64](n: int)"))
    assert [_rows.parse(row, "lib").name for row in renamed] == ["dot", "dot_64"]


def test_the_index_needs_no_parsing_of_parameters() -> None:
    assert names("libOne(a: nonsense)\ntwo = libOther()\n") == ["one", "two"]
    with pytest.raises(ValueError, match="two rows for one"):
        names("libOne()\none = libOther()\n")


@pytest.mark.parametrize(
    "row",
    [
        "libDo",
        "libDo(a)",
        "libDo(a: int8)",
        "libDo(a: i32) -> nothing",
        "libDo(a: i32) -> char",
        "libDo(&a: i32[])",
        "libDo(&a: buf)",
        "libDo(a: cbuf[])",
        "libDo(&a: c64)",
        "libDo(a: c128[])",
        "libDo(&a: new)",
        "libDo(a: end[])",
        "libDo(&a: null)",
        "libDo(a: null*)",
        "libDo(a: buf*)",
        "libDo(a: buf<f16>)",
        "libDo(a: buf<>)",
        "libDo(a: cbuf<f32>[])",
        "libDo(&a: buf<f32>)",
        "libDo(a: ptr<f32>)",
        "libDo(&a: i32*)",
        "libDo(a: c64*)",
        "libDo() -> null",
        "libDo() -> c64",
        "libDo(1a: i32)",
        "libDo(a: i32",
        "libDo(a: i32) i32",
    ],
)
def test_nonsense_is_refused(row: str) -> None:
    with pytest.raises(ValueError, match="libDo"):
        _rows.parse(row, "lib")


def test_enum_tables() -> None:
    tables = _rows.enums("IntEnum Type: A=1 B=0x10\n    C=-1\nIntFlag Flags: X=1\n")
    assert tables == {"Type": ("IntEnum", {"A": 1, "B": 16, "C": -1}), "Flags": ("IntFlag", {"X": 1})}
