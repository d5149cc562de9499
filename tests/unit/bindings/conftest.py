"""A toy C library, and both kinds of the seam over it."""

from __future__ import annotations

import ctypes
import importlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nvmath.bindings import _rows


class ToyError(Exception):
    """What a nonzero status of the toy library raises."""

    def __init__(self, status: int) -> None:
        super().__init__(f"TOY_{status}")
        self.status = status


def raise_toy_error(status: int) -> None:
    raise ToyError(status)


@pytest.fixture(scope="session")
def toy_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    path = tmp_path_factory.mktemp("toy") / "libtoy.so.1"
    source = Path(__file__).with_name("toy.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(path), str(source)], check=True)
    return path


@pytest.fixture(scope="session")
def toy(toy_path: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(toy_path))


@pytest.fixture(params=["c", "ctypes"])
def seam(request: pytest.FixtureRequest) -> ModuleType:
    name = f"nvmath.bindings._seam_{request.param}"
    if request.param == "c" and importlib.util.find_spec(name) is None:
        pytest.skip("the C extension nvmath.bindings._seam_c is not built")
    return importlib.import_module(name)


@pytest.fixture
def bind(seam: ModuleType, toy: ctypes.CDLL) -> Callable[[str], Callable[..., Any]]:
    """Binds a row of the toy library."""

    def bound(row: str) -> Callable[..., Any]:
        parsed = _rows.parse(row, "toy_")
        address = ctypes.addressof(ctypes.c_char.in_dll(toy, parsed.c_name))
        names = tuple(p.name for p in parsed.arguments)
        doc = parsed.documentation("ToyError")
        return seam.bind(address, parsed.name, names, parsed.signature, raise_toy_error, doc, "toy")  # type: ignore[no-any-return]

    return bound
