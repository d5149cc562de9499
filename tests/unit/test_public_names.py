"""What a look into the package shows: public names only; and what is said of the parts that are not written yet."""

import importlib
import importlib.util
import pydoc
import subprocess
import sys

import pytest

import nvmath
from nvmath.linalg import advanced

MODULES = [
    "nvmath", "nvmath.fft", "nvmath.linalg", "nvmath.linalg.generic", "nvmath.linalg.advanced", "nvmath.linalg.advanced.helpers",
    "nvmath.linalg.advanced.helpers.matmul", "nvmath.sparse", "nvmath.sparse.advanced", "nvmath.tensor", "nvmath.memory",
]  # fmt: skip
CLASSES = [
    nvmath.fft.FFT, nvmath.linalg.Matmul, advanced.Matmul, nvmath.linalg.DirectSolver, nvmath.sparse.advanced.DirectSolver,
    nvmath.tensor.BinaryContraction, nvmath.tensor.TernaryContraction, nvmath.tensor.Einsum,
]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_dir_of_a_module_lists_its_public_names_only(name):
    module = importlib.import_module(name)
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in dir(module))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_what_a_class_shows_is_documented_or_an_attribute_of_the_original(cls):
    shown = [name for name in dir(cls) if not name.startswith("_")]
    undocumented = [name for name in shown if not getattr(getattr(cls, name), "__doc__", None)]
    assert undocumented == []
    assert {name for name in shown if not callable(getattr(cls, name)) and not isinstance(getattr(cls, name), property)} <= {"valid_state"}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_help_on_a_class_names_nothing_of_the_plan_cache(cls):
    lines = pydoc.plain(pydoc.render_doc(cls)).splitlines()
    names = {line.removeprefix(" |  ").partition("(")[0].partition(" =")[0] for line in lines if line.startswith(" |  ")}
    assert not {"after_fork", "answered", "nbytes", "pinned", "stack", "stamp"} & names


UNWRITTEN = ["nvmath.device", "nvmath.distributed", "nvmath.sparse.matmul", "nvmath.sparse.Matmul", "nvmath.sparse.ust"]
WAYS = {
    "import {name}": ModuleNotFoundError,
    "from {parent} import {last}": ModuleNotFoundError,
    "import {parent}; {name}": AttributeError,
    "import {name}.more": ModuleNotFoundError,
}


@pytest.mark.parametrize("name", UNWRITTEN)
@pytest.mark.parametrize("way", WAYS)
def test_a_part_that_is_not_written_yet_says_so(name, way):
    parent, _, last = name.rpartition(".")
    with pytest.raises(WAYS[way]) as caught:
        exec(way.format(name=name, parent=parent, last=last))
    assert str(caught.value).startswith(f"{name} is not written yet")
    assert "nvmath-python" in str(caught.value)


@pytest.mark.parametrize("name", UNWRITTEN)
def test_code_that_asks_whether_a_part_is_there_is_told_no(name):
    parent, _, last = name.rpartition(".")
    assert not hasattr(importlib.import_module(parent), last)
    if name.count(".") == 1 or name == "nvmath.sparse.ust":  # a module
        assert importlib.util.find_spec(name) is None
    try:
        importlib.import_module(name)
    except ImportError:
        return
    raise AssertionError(name)


def test_other_names_have_the_texts_of_python():
    with pytest.raises(AttributeError, match=r"^module 'nvmath' has no attribute 'nothing'$"):
        nvmath.nothing  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'nvmath.nothing'$"):
        importlib.import_module("nvmath.nothing")
    with pytest.raises(ImportError, match=r"cannot import name 'nothing' from 'nvmath\.sparse'"):
        exec("from nvmath.sparse import nothing")


def test_the_finder_stands_last_and_once():
    program = "import sys; before = list(sys.meta_path); import nvmath; print([str(f) for f in sys.meta_path[len(before):]])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[\"<class 'nvmath._unwritten.Unwritten'>\"]"
