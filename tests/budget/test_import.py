"""What importing costs: nothing but our own modules and the standard library."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPORT = """
import json, sys, time
import numpy
before = set(sys.modules)
def mapped():
    try:
        lines = open("/proc/self/maps").read().splitlines()
    except OSError:
        return set()
    return {line[line.find("/"):] for line in lines if "/" in line and ".so" in line}
libraries = mapped()
begin = time.process_time()
import nvmath
MORE
seconds = time.process_time() - begin
new = sorted(mapped() - libraries)
print(json.dumps({"modules": sorted(set(sys.modules) - before), "libraries": new, "seconds": seconds}))
"""
FRAMEWORKS = {"torch", "cupy", "numba", "numba_cuda", "jax", "scipy", "skimage", "cuda"}


def in_a_new_process(more: str = "") -> dict:
    """Import in a fresh interpreter and return what that added to what numpy had imported."""
    program = [sys.executable, "-W", "error", "-c", REPORT.replace("MORE", more)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


USES = {
    "import nvmath": "",
    "nvmath.fft": "nvmath.fft",
    "every public name": "[getattr(nvmath, name) for name in nvmath.__all__]",
    "bindings": "import nvmath.bindings.cufft, nvmath.bindings.nvpl.fft",
}


@pytest.fixture(scope="module", params=USES)
def added(request):
    return in_a_new_process(USES[request.param])


def test_only_our_own_modules_and_the_standard_library_are_imported(added):
    foreign = {name for name in added["modules"] if name.partition(".")[0] not in {*sys.stdlib_module_names, "nvmath"}}
    # NumPy imports parts of itself lazily; what a wheel's own loader adds is none of ours.
    foreign = {name for name in foreign if not name.startswith(("numpy.", "_distutils", "__editable__"))}
    assert foreign == set()


def test_no_framework_is_imported(added):
    assert {name.partition(".")[0] for name in added["modules"]} & FRAMEWORKS == set()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux says which libraries are open")
def test_no_library_is_opened_but_extension_modules_and_what_they_link(added):
    of_python = ("lib-dynload", "_seam_c", "_exchange_c", "libffi", "libcrypto", "libssl", "libz.", "libbz2", "liblzma")
    assert [path for path in added["libraries"] if not any(word in path for word in of_python)] == []


def test_importing_nvmath_takes_at_most_60_ms_of_processor_time():
    assert min(in_a_new_process()["seconds"] for _ in range(5)) <= 0.060
