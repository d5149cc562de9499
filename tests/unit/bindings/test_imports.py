"""Importing the bindings opens no library and imports no NumPy; only the standard library at module level."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nvmath.bindings

ROOT = Path(nvmath.bindings.__file__).parent
#: Those without structures, which are NumPy arrays.
NAMES = (
    "cufft cublas curand cusolver cusolverDn cusolverSp cusparse cusparseLt mathdx nvpl.fft nvpl.blas nvpl.lapack _cuda"
)
MODULES = ["nvmath.bindings", *(f"nvmath.bindings.{name}" for name in NAMES.split())]

PURE = """
import sys
before = set(sys.modules)
import importlib
# the package that holds the bindings may import what it likes: only what the bindings add is looked at
import types
package = types.ModuleType("nvmath"); package.__path__ = [{root!r}]; sys.modules["nvmath"] = package
for name in {modules!r}:
    module = importlib.import_module(name)
    dir(module)
    [getattr(module, attribute) for attribute in dir(module)]
from nvmath.bindings import _load
assert _load.opened() == {{}}, _load.opened()
added = {{name.partition(".")[0] for name in set(sys.modules) - before}}
foreign = sorted(added - set(sys.stdlib_module_names) - {{"nvmath"}})
assert not foreign, foreign
print("pure")
"""


def run(code: str, **environment: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


@pytest.mark.parametrize("seam", ["", "ctypes"])
def test_importing_is_pure(seam: str) -> None:
    code = PURE.format(
        root=str(ROOT.parent), modules=[*MODULES, "nvmath.bindings._nvrtc", "nvmath.bindings._nvjitlink"]
    )
    assert run(code, NVMATH_SEAM=seam) == "pure"


def test_the_variable_chooses_the_seam() -> None:
    code = "from nvmath.bindings import _seam; print(_seam.KIND)"
    path = str(ROOT.parent.parent)
    assert run(code, NVMATH_SEAM="ctypes", PYTHONPATH=path) == "ctypes"
    if importlib.util.find_spec("nvmath.bindings._seam_c") is None:
        pytest.skip("the C extension nvmath.bindings._seam_c is not built")
    assert run(code, NVMATH_SEAM="", PYTHONPATH=path) == "c"
    assert run(code, NVMATH_SEAM="c", PYTHONPATH=path) == "c"


def test_submodules_are_lazy_attributes() -> None:
    path = str(ROOT.parent.parent)
    code = (
        "import sys, nvmath.bindings as b; assert 'nvmath.bindings.cufft' not in sys.modules; "
        "assert b.nvpl.fft.Kind.R2C == 3; print(b.cufft.Type.C2C.value, 'cufft' in dir(b), 'fft' in dir(b.nvpl))"
    )
    assert run(code, PYTHONPATH=path) == "41 True True"
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = nvmath.bindings.nonsense


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_standard_library_is_imported_at_module_level(path: Path) -> None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            assert name.startswith("nvmath.bindings") or name.partition(".")[0] in sys.stdlib_module_names
