"""Who may import whom."""

import ast
import sys
from pathlib import Path

import pytest

import nvmath

ROOT = Path(nvmath.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))
FRAMEWORKS = {"torch", "cupy", "jax", "numba", "cuda", "mkl", "matplotlib", "PIL", "skimage"}


def name_of(path):
    parts = ("nvmath", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, *, inside_functions):
    """Absolute names of what a file imports, at module level or anywhere; names for type checkers apart."""
    package = name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
    found = set()

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not inside_functions:
                continue
            if isinstance(child, ast.Import):
                found.update(alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) - child.level + 1] if child.level else []
                module = ".".join([*base, *([child.module] if child.module else [])])
                found.update(
                    {module, *(f"{module}.{alias.name}" for alias in child.names)} if child.level else {module}
                )
            visit(child)

    visit(ast.parse(path.read_text()))
    return found


def tops(names):
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("path", [p for p in FILES if "bindings" in p.parts], ids=name_of)
def test_bindings_know_the_standard_library_only(path):
    outside = tops(imports(path, inside_functions=False)) - set(sys.stdlib_module_names) - {"nvmath", ""}
    assert not outside
    own = {name for name in imports(path, inside_functions=True) if name.startswith("nvmath.")}
    assert all(name.startswith(("nvmath.bindings", "nvmath._version", "nvmath._enums")) for name in own), own


@pytest.mark.parametrize("path", [p for p in FILES if "_core" in p.parts], ids=name_of)
def test_the_core_knows_no_domain(path):
    domains = (
        "nvmath.fft",
        "nvmath.linalg",
        "nvmath.sparse",
        "nvmath.tensor",
        "nvmath.device",
        "nvmath.distributed",
        "nvmath.interop",
    )
    names = imports(path, inside_functions=True)
    assert not [name for name in names if name.startswith(domains)]
    bindings = [name for name in names if name.startswith("nvmath.bindings.")]
    allowed = ("_cuda", "_nvrtc", "_nvjitlink", "_seam", "_errors", "_load")
    assert all(name.split(".")[2] in allowed for name in bindings), bindings


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_framework_is_imported_by_its_adapter_only(path):
    at_module_level = tops(imports(path, inside_functions=False)) & FRAMEWORKS
    if path.parent.name == "arrays" and path.stem in FRAMEWORKS:
        at_module_level.discard(path.stem)
    assert not at_module_level


@pytest.mark.parametrize("path", [p for p in FILES if "fft" in p.relative_to(ROOT).parts[:1]], ids=name_of)
def test_a_domain_knows_the_core_and_its_own_libraries(path):
    names = imports(path, inside_functions=True)
    bindings = {name.split(".")[2] for name in names if name.startswith("nvmath.bindings.")}
    assert bindings <= {"cufft", "nvpl", "_seam", "_cuda", "_nvrtc", "_nvjitlink"}, bindings
    others = [
        name for name in names if name.startswith("nvmath.") and name.split(".")[1] in {"linalg", "sparse", "tensor"}
    ]
    assert not others


@pytest.mark.parametrize(
    ("room", "forbidden"),
    [
        ("_options", ("_problem", "_passes", "_plan", "_cufft", "_fftw", "_api", "_backend")),
        ("_problem", ("_passes", "_plan", "_cufft", "_fftw", "_api", "_backend", "bindings")),
        ("_passes", ("_cufft", "_fftw", "_api", "_backend", "bindings")),
        ("_plan", ("_cufft", "_fftw", "_api", "_backend", "bindings")),
        ("_fftw", ("_api", "_backend", "_cufft")),
        ("_cufft", ("_api", "_backend", "_fftw")),
        ("_pocketfft", ("_api", "_backend", "_cufft")),
        ("_backend", ("_api",)),
    ],
)
def test_rooms_of_the_fft(room, forbidden):
    names = imports(ROOT / "fft" / f"{room}.py", inside_functions=True)
    assert not [name for name in names if any(part in forbidden for part in name.split(".")[1:])]


def test_modules_import_each_other_in_no_circle():
    graph = {name_of(path): set() for path in FILES}
    for path in FILES:
        for name in imports(path, inside_functions=False):
            while name and name not in graph:
                name = name.rpartition(".")[0]
            if name and name != name_of(path):
                graph[name_of(path)].add(name)
    for package in [name for name in graph if any(other.startswith(name + ".") for other in graph)]:
        for other, used in graph.items():  # a module may name its own package: it is initialised before
            if other.startswith(package + "."):
                used.discard(package)
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name in done:
            return
        path.append(name)
        for other in sorted(graph[name]):
            visit(other)
        path.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


FORBIDDEN = {"utils", "helpers", "common", "misc", "internal", "base", "manager"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_module_has_a_name_that_says_nothing(path):
    assert path.stem.strip("_") not in FORBIDDEN
