"""The tool that writes the rows: folding into families, spans of versions, out-parameters, memory on the host, what it refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nvmath.bindings import _rows

families = pytest.importorskip("tools.bindgen.families", reason="tools is not on the path: run from the repository")
from tools.bindgen import check, packages, recorded, write  # noqa: E402
from tools.bindgen.headers import CType, Function, Headers  # noqa: E402
from tools.bindgen.targets import Target  # noqa: E402

STATUS = CType("i32", spelling="toyStatus_t")
HANDLE = CType("struct", 1, spelling="toyHandle_t")


def function(name: str, *parameters: tuple[str, CType], result: CType = STATUS) -> Function:
    return Function(name, result, parameters, "toy.h")


def edition(version: str, *functions: Function, **enums: dict[str, int]) -> packages.Edition:
    return packages.Edition(version, Headers({f.name: f for f in functions}, dict(enums)))


def written(target: Target, *editions: packages.Edition, rows: str = "", special: str = "") -> write.Written:
    kept = list(_rows.Index(rows, "toy"))
    return write.write(
        target,
        list(editions),
        SimpleNamespace(rows=lambda: kept, tables=SimpleNamespace(special=lambda: set(special.split()))),
    )


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> Target:
    known = recorded.Recorded(
        functions={"create": [], "get_size": ["handle"], "do_it_2": ["handle", "n", "alpha"]},
        enums={"Mode": ("IntEnum", {"FAST": 1, "SLOW": 2})},
    )
    monkeypatch.setattr(write, "recorded", lambda: {"toy": known})
    return Target(module="toy", headers=("toy.h",), prefix="toy", host=r"\\.alpha$".replace("\\\\", "\\"))


CREATE = function("toyCreate", ("handle", CType("struct", 2)))
SIZE = function("toyGetSize", ("handle", HANDLE), ("bytes", CType("usize", 1)))
DO = function("toyDoIt2", ("handle", HANDLE), ("n", CType("i32")), ("alpha", CType("f32", 1, True)))


def test_recorded_names_and_out_parameters(target: Target) -> None:
    made = written(target, edition("1.0", CREATE, SIZE, DO))
    assert made.rows.splitlines() == [
        "@ toy.h",
        "toyCreate(&handle: ptr)",
        "toyGetSize(handle: ptr, &bytes: usize)",
        "do_it_2 = toyDoIt2(handle: ptr, n: i32, alpha: cbuf<f32>)",
    ]
    assert not [note for note in made.notes if "Mode" not in note]


def test_what_some_versions_have(target: Target) -> None:
    made = written(target, edition("1.0", CREATE, SIZE), edition("1.1", CREATE, SIZE, DO), edition("2.0", CREATE, DO))
    assert [line for line in made.rows.splitlines() if line.startswith("@")] == [
        "@ toy.h",
        "@ toy.h 1.1+",
        "@ toy.h -1.1",
    ]


@pytest.mark.parametrize(
    ("span", "inside", "outside"),
    [
        ("", ["0.1", "9"], []),
        ("1.2+", ["1.2", "1.10", "2.0"], ["1.1"]),
        ("-1.2", ["0.9", "1.2"], ["1.3"]),
        ("1.2-1.4", ["1.3"], ["1.1", "1.10"]),
    ],
)
def test_spans(span: str, inside: list[str], outside: list[str]) -> None:
    assert all(check.covers(span, version) for version in inside)
    assert not any(check.covers(span, version) for version in outside)


def test_rows_that_are_there_are_kept_while_they_fit(target: Target) -> None:
    rows = "do_it_2 = toyDoIt2(handle: ptr, n: i32, alpha: f32[])\n"
    assert "alpha: f32[]" in written(target, edition("1.0", DO), rows=rows).rows
    void = function("toyDoIt2", *DO.parameters[:2], ("alpha", CType("void", 1, True)))
    assert "alpha: cbuf<c64>" in written(target, edition("1.0", void), rows=rows.replace("f32[]", "cbuf<c64>")).rows
    changed = function("toyDoIt2", *DO.parameters[:2], ("alpha", CType("f64", 1, True)))
    assert "alpha: cbuf<f64>" in written(target, edition("1.0", changed), rows=rows).rows


def test_rows_that_are_written_by_hand_are_left_out(target: Target) -> None:
    assert "toyDoIt2" not in written(target, edition("1.0", CREATE, DO), special="toyDoIt2").rows


@pytest.mark.parametrize(
    ("changed", "note"),
    [
        (function("toyDoIt2", *DO.parameters, ("extra", CType("i32"))), "write it by hand"),
        (function("toyDoIt2", *DO.parameters[:2], ("alpha", CType("struct", 0))), "a structure by value"),
        (function("toyDoIt2", DO.parameters[1], DO.parameters[0], DO.parameters[2]), "swapped"),
    ],
)
def test_what_cannot_be_matched_is_left_out_and_said(target: Target, changed: Function, note: str) -> None:
    made = written(target, edition("1.0", changed))
    assert "toyDoIt2" not in made.rows
    assert any(note in line for line in made.notes)


def test_a_row_is_compared_with_the_declaration() -> None:
    row = _rows.parse("toyDoIt2(handle: ptr, n: i64, alpha: f32[])", "toy")
    assert list(check.differences(row, DO)) == ["toyDoIt2: parameter n is q in the row, '' in C"]
    assert list(check.differences(_rows.parse("toyDoIt2(handle: ptr, n: i32, alpha: cbuf<f32>)", "toy"), DO)) == []
    assert list(check.differences(_rows.parse("toyDoIt2(handle: ptr, n: i32, alpha: cbuf<f64>)", "toy"), DO))
    short = _rows.parse("toyDoIt2(handle: ptr)", "toy")
    assert list(check.differences(short, DO)) == ["toyDoIt2: 1 parameters in the row, 3 in C"]
    by_value = function("toyDoIt2", *DO.parameters[:2], ("alpha", CType("c64", 0, spelling="cuComplex")))
    assert list(check.differences(_rows.parse("toyDoIt2(handle: ptr, n: i32, alpha: c64)", "toy"), by_value)) == []
    assert list(check.differences(_rows.parse("toyDoIt2(handle: ptr, n: i32, alpha: ptr)", "toy"), by_value))


def test_enumerations_have_recorded_and_new_members(target: Target) -> None:
    modes = {"TOY_MODE_FAST": 1, "TOY_MODE_SLOW": 2, "TOY_MODE_NEW": 3, "TOY_MODE_END": 4}
    other = {"TOY_KIND_A": 0, "TOY_KIND_B": 7}
    made = written(
        target, edition("1.0", CREATE, toyMode_t=modes, toyKind_t=other, cudaThing_t={"CUDA_X": 1, "CUDA_Y": 2})
    )
    assert made.enums.splitlines() == ["IntEnum Mode: FAST=1 SLOW=2 NEW=3", "IntEnum Kind: A=0 B=7"]


def fold(text: str) -> list[str]:
    rows: list[Any] = list(_rows.Index(text, "lib"))
    return list(families.fold(rows, "lib"))


def test_families() -> None:
    text = """
libSdot_v2(n: i32, x: ptr) -> f32
libDdot_v2(n: i32, x: ptr) -> f64
libSdot_v2_64(n: i64, x: ptr) -> f32
libDdot_v2_64(n: i64, x: ptr) -> f64
libCreate(&handle: ptr)
libOther(n: i32)
libOther_64(n: i32)
"""
    assert fold(text) == [
        "lib{S,D}dot_v2[_64](n: int, x: ptr) -> {f32,f64}",
        "libCreate(&handle: ptr)",
        "libOther[_64](n: i32)",
    ]
    typed = "libSone(a: buf<f32>, b: buf<i32>)\nlibDone(a: buf<f64>, b: buf<i32>)\n"
    typed += "libSone_64(a: buf<f32>, b: buf<i64>)\nlibDone_64(a: buf<f64>, b: buf<i64>)\n"
    assert fold(typed) == ["lib{S,D}one[_64](a: buf<{f32,f64}>, b: buf<int>)"]


def test_what_is_folded_means_the_same() -> None:
    for text in (
        "libSdot_v2(n: i32) -> f32\nlibDdot_v2(n: i32) -> f64\nlibSdot_v2_64(n: i64) -> f32\nlibDdot_v2_64(n: i64) -> f64\n",
        "sone = LAPACKE_sone_64(a: f32)\ndone = LAPACKE_done_64(a: f64)\n",
        "libCone(a: i32)\nlibZone(b: i32)\n",
        "libSone(a: f32, b: buf<i32>)\nlibCone(a: cbuf<c64>, b: buf<i32>)\n",
        "libSone(a: buf<f32>)\nlibDone(a: buf<f64>)\nlibSone_64(a: buf<f32>)\nlibDone_64(a: buf<f64>)\n",
    ):
        before = set(_rows.Index(text, "lib"))
        after = set(_rows.Index("\n".join(fold(text)), "lib"))
        assert before == after
