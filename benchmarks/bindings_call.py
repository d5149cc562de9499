"""What one foreign call of 16 arguments costs: through the extension, through ctypes, and in Cython (built here).

The C function does nothing; every way checks the ranges of its arguments, releases the GIL and looks at the status. Needs a C
compiler, and Cython for its part.

    python -m benchmarks.bindings_call [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nvmath.bindings import _rows, _seam_ctypes

from .harness import Case, Contenders, arguments, measure, report
from .peers import peer

COUNT = 16
NAMES = [f"a{k}" for k in range(COUNT)]
#: As in ``cublasLtMatmul``: addresses, one size.
C_TYPES = ["void *"] * 14 + ["size_t", "void *"]
OURS = {"void *": "ptr", "size_t": "usize"}
ROW = f"lib_sixteen({', '.join(f'{n}: {OURS[c]}' for n, c in zip(NAMES, C_TYPES, strict=True))})"
SOURCE = """
#include <stddef.h>
int lib_sixteen({declared}) {{ return a0 == 0; }}
"""
PYX = """
from libc.stdint cimport intptr_t
cdef extern int lib_sixteen({declared}) nogil
class Error(Exception):
    pass
cpdef sixteen({typed}):
    cdef int status
    with nogil:
        status = lib_sixteen({passed})
    if status != 0:
        raise Error(status)
"""


def build(folder: Path) -> tuple[ctypes.CDLL, Any]:
    """Compile the library, and the Cython module if Cython is here."""
    compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
    declared = ", ".join(f"{c} {n}" for c, n in zip(C_TYPES, NAMES, strict=True))
    source, library = folder / "sixteen.c", folder / "libsixteen.so"
    source.write_text(SOURCE.format(declared=declared))
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library)), _cython(folder, compiler, declared) if peer("Cython") else None


def _cython(folder: Path, compiler: str, declared: str) -> Any:
    words = ["size_t" if c == "size_t" else "intptr_t" for c in C_TYPES]
    typed = ", ".join(f"{word} {name}" for word, name in zip(words, NAMES, strict=True))
    passed = ", ".join(f"<{c}>{n}" for c, n in zip(C_TYPES, NAMES, strict=True))
    pyx, built = folder / "sixteen_cython.pyx", folder / "sixteen_cython.so"
    pyx.write_text(PYX.format(declared=declared, typed=typed, passed=passed))
    subprocess.run([sys.executable, "-m", "cython", "-3", str(pyx)], check=True)
    include = f"-I{sysconfig.get_path('include')}"
    link = ["-L" + str(folder), "-lsixteen", f"-Wl,-rpath,{folder}"]
    parts = [compiler, "-O2", "-shared", "-fPIC", include, str(pyx.with_suffix(".c")), "-o", str(built), *link]
    subprocess.run(parts, check=True)
    spec = importlib.util.spec_from_file_location("sixteen_cython", built)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bound(bind: Callable[..., Any], library: ctypes.CDLL) -> Callable[..., Any]:
    """The function as the bindings make it."""
    row = _rows.parse(ROW, "lib_")
    address = ctypes.addressof(ctypes.c_char.in_dll(library, "lib_sixteen"))
    names = tuple(p.name for p in row.arguments)
    return bind(address, "sixteen", names, row.signature, None, "", "benchmark")  # type: ignore[no-any-return]


def cases(seconds: float) -> list[Case]:
    """Measure with positional arguments."""
    with tempfile.TemporaryDirectory() as name:
        library, cython = build(Path(name))
        values = tuple(2**33 + k for k in range(COUNT))
        contenders: Contenders = {}
        seam_c = peer("nvmath.bindings._seam_c")
        if seam_c is not None:
            extension = bound(seam_c.bind, library)
            contenders["extension"] = lambda: extension(*values)
        fallback = bound(_seam_ctypes.bind, library)
        contenders["ctypes, with our checks"] = lambda: fallback(*values)
        bare = library.lib_sixteen
        bare.argtypes = [ctypes.c_size_t if c == "size_t" else ctypes.c_void_p for c in C_TYPES]
        contenders["ctypes, bare"] = lambda: bare(*values)
        if cython is not None:
            contenders["Cython"] = lambda: cython.sixteen(*values)
        for contender in contenders.values():
            contender()
        base = "Cython" if cython is not None else "ctypes, bare"
        return [measure(f"{COUNT} arguments", contenders, base, seconds=seconds)]


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Cost of a foreign call", cases(asked.seconds), asked)
