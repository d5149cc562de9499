"""The type stubs of the bindings that the wheel contains: they say what is there, and what it takes."""

import ast
import enum
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
stubs = pytest.importorskip("tools.bindgen.stubs", reason="tools is not on the path: run from the repository")


USER = """
import ctypes
import numpy as np
from nvmath.bindings import cublas, cublasLt, cufft, curand
from nvmath.bindings.nvpl import blas

address = ctypes.c_void_p(4096)
for output in (4096, address, np.empty(4, np.float32), (ctypes.c_float * 4)(), ctypes.pointer(ctypes.c_float()), None):
    curand.generate_uniform(0, output, 4)
curand.generate_uniform(0, ctypes.byref(ctypes.c_float()), np.int64(4))
cublas.dgemm(0, 0, 0, 1, 1, 1, np.float64(1), address, 1, 4096, 1, None, None, 1)
cublasLt.matmul_algo_get_heuristic(0, 0, 0, 0, 0, 0, 0, 8, cublasLt.MatmulHeuristicResult(8), np.zeros(1, np.int32))
cufft.plan_many(1, 2, np.array([1, 2]), [1, 2], 1, 1, None, 1, 1, 0x29, 1)
blas.dgemv(101, 111, 3, 2, 1.0, np.ones(6), 2, np.ones(2), 1, 0.0, np.zeros(3), 1)
curand.generate_uniform(0, [1.0], 4)  # wrong: what C writes there would be lost
"""


def test_a_type_checker_takes_what_the_functions_take(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    package = tmp_path / "nvmath" / "bindings"
    stubs.write(package)
    for folder in (tmp_path / "nvmath", package, package / "nvpl"):
        folder.joinpath("__init__.pyi").touch()
    tmp_path.joinpath("user.py").write_text(USER)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(tmp_path / "cache"),
        "--no-error-summary",
        "user.py",
    ]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert [line.partition(": ")[0] for line in found.stdout.splitlines()] == [f"user.py:{len(USER.splitlines())}"], (
        found.stdout
    )


@pytest.mark.parametrize("name", stubs.MODULES)
def test_a_stub_declares_everything_with_its_parameters(name):
    module = importlib.import_module("nvmath.bindings." + name.replace("/", "."))
    declared = {node.name: node for node in ast.parse(stubs.stub(module)).body if hasattr(node, "name")}
    public = {row.name for row in module._library.rows() if not row.name.startswith("_")}
    public |= {enumeration for enumeration in module._library.tables.enums if not enumeration.startswith("_")}
    public |= {error for error in vars(module) if error.endswith("Error") and error in dir(module)}
    own = {error for error in public if getattr(getattr(module, error), "__module__", "") != "nvmath.bindings._errors"}
    assert own <= declared.keys()
    for known, node in declared.items():
        value = getattr(module, known)
        if isinstance(node, ast.FunctionDef):
            arguments = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
            assert arguments == list(inspect.signature(value).parameters), known
        elif isinstance(value, enum.EnumMeta):
            members = {
                line.targets[0].id: ast.literal_eval(line.value) for line in node.body if isinstance(line, ast.Assign)
            }
            assert members == {member: int(item) for member, item in value.__members__.items()}


@pytest.mark.parametrize("name", ["curand", "cublasLt", "nvpl/blas", "nvpl/fft"])
def test_a_stub_does_not_depend_on_what_was_used(name):
    code = (
        "import importlib, sys\n"
        "from tools.bindgen import stubs\n"
        f"module = importlib.import_module('nvmath.bindings.{name.replace('/', '.')}')\n"
        "before = stubs.stub(module)\n"
        "for used in module._library.names(): getattr(module, used)\n"
        "sys.exit(stubs.stub(module) != before)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
