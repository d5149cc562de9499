"""The seam with 0 to 24 arguments of every type, with 0 to 8 results, over C functions that are generated here; eight threads."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nvmath.bindings import _rows

C_TYPES = {
    "i32": "int32_t",
    "f64": "double",
    "ptr": "void *",
    "i64": "int64_t",
    "u32": "uint32_t",
    "f32": "float",
    "usize": "size_t",
    "u64": "uint64_t",
}
KINDS = list(C_TYPES)
COUNTS = range(25)


def kind_of(k: int) -> str:
    return KINDS[k % len(KINDS)]


def source() -> str:
    """Functions ``n_<count>`` (a weighted sum) and ``o_<count>`` (each result is the number of its place)."""
    lines = ["#include <stddef.h>", "#include <stdint.h>"]
    for count in COUNTS:
        arguments = ", ".join(f"{C_TYPES[kind_of(k)]} a{k}" for k in range(count)) or "void"
        terms = (
            " + ".join(f"{k + 1} * (double){'(intptr_t)' if kind_of(k) == 'ptr' else ''}a{k}" for k in range(count))
            or "0"
        )
        lines.append(f"double n_{count}({arguments}) {{ return {terms}; }}")
        outs = ", ".join(f"{C_TYPES[kind_of(k)]} *a{k}" for k in range(count)) or "void"
        stores = " ".join(
            f"*a{k} = ({C_TYPES[kind_of(k)]}){'(intptr_t)' if kind_of(k) == 'ptr' else ''}{k + 1};"
            for k in range(count)
        )
        lines.append(f"int o_{count}({outs}) {{ {stores} return 0; }}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    folder: Path = tmp_path_factory.mktemp("arity")
    (folder / "arity.c").write_text(source())
    subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-o", str(folder / "libarity.so"), str(folder / "arity.c")], check=True
    )
    return ctypes.CDLL(str(folder / "libarity.so"))


def bound(seam: ModuleType, library: ctypes.CDLL, row: str) -> Callable[..., Any]:
    parsed = _rows.parse(row, "")
    address = ctypes.addressof(ctypes.c_char.in_dll(library, parsed.c_name))
    names = tuple(p.name for p in parsed.arguments)
    return seam.bind(address, parsed.name, names, parsed.signature, None, "", "arity")  # type: ignore[no-any-return]


@pytest.mark.parametrize("count", COUNTS)
def test_every_argument_arrives_in_its_place(seam: ModuleType, library: ctypes.CDLL, count: int) -> None:
    function = bound(seam, library, f"n_{count}({', '.join(f'a{k}: {kind_of(k)}' for k in range(count))}) -> f64")
    values = [100 + 7 * k for k in range(count)]
    expected = float(sum((k + 1) * value for k, value in enumerate(values)))
    assert function(*values) == expected
    assert function(**{f"a{k}": value for k, value in enumerate(values)}) == expected
    with pytest.raises(TypeError):
        function(*values, 1)


@pytest.mark.parametrize("count", COUNTS)
def test_every_result_comes_from_its_place(seam: ModuleType, library: ctypes.CDLL, count: int) -> None:
    function = bound(seam, library, f"o_{count}({', '.join(f'&a{k}: {kind_of(k)}' for k in range(count))})")
    results = tuple(range(1, count + 1))
    assert function() == (None if count == 0 else 1 if count == 1 else results)


def test_eight_threads(seam: ModuleType, library: ctypes.CDLL) -> None:
    count = 24
    function = bound(seam, library, f"n_{count}({', '.join(f'a{k}: {kind_of(k)}' for k in range(count))}) -> f64")
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(300):
            value = 1000 * number + turn
            if function(*[value] * count) != value * count * (count + 1) / 2:
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
