"""What is on this machine: versions, devices, libraries, and what is missing."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from ._core.options import available_threads
from ._version import __version__
from .bindings import _cuda, _load, _seam
from .bindings.nvpl.fft import fftw_library

PACKAGES: Final = (
    "numpy", "scipy", "torch", "cupy-cuda13x", "cupy-cuda12x", "cupy", "numba", "numba-cuda", "cuda-bindings",
)  # fmt: skip

# Operation, what does it, the row of the library, how to install what is not a library.
SERVICES: Final = (
    ("FFT on the CPU", "fftw", "", ""),
    ("FFT on the CPU: large primes, or no library", "", "scipy", "pip install scipy"),
    ("FFT on a GPU", "cufft", "", ""),
    ("matmul, contractions on the CPU", "numpy_openblas", "", ""),
    ("matmul, contractions on the CPU: no OpenBLAS", "", "numpy", "pip install numpy"),
    ("dense solver on the CPU", "numpy_openblas", "", ""),
    ("dense solver on the CPU: no LAPACK", "", "scipy", "pip install scipy"),
    ("matmul with epilogs on a GPU", "cublasLt", "", ""),
    ("matmul, batched dense solver on a GPU", "cublas", "", ""),
    ("dense solver on a GPU", "cusolver", "", ""),
    ("contractions on a GPU", "cutensor", "", ""),
    ("sparse direct solver on the CPU", "mkl", "", ""),
    ("sparse direct solver on the CPU: no MKL", "", "scipy", "pip install scipy"),
    ("sparse direct solver on a GPU", "cudss", "", ""),
    ("Python callbacks on the CPU", "", "numba", "pip install numba"),
    ("Python callbacks on a GPU: compiler", "", "numba-cuda", "pip install numba-cuda"),
    ("Python callbacks on a GPU: code generator", "nvvm", "", ""),
    ("Python callbacks on a GPU: linker", "nvjitlink", "", ""),
    ("copies and casts on a GPU", "nvrtc", "", ""),
    ("every operation on a GPU", "cuda", "", ""),
)

# Operation, variable that names another library for it, the row of that.
_NAMED: Final = {
    "matmul, contractions on the CPU": ("NVMATH_BLAS_CPU_LIBRARY", "blas"),
    "dense solver on the CPU": ("NVMATH_LAPACK_CPU_LIBRARY", "lapack"),
}

_PIP: Final = "pip install "
_WIDTH: Final = max(len(operation) for operation, _, _, _ in SERVICES)


def gather() -> dict[str, Any]:
    """Look at everything; opens the libraries that are found, to ask their version."""
    rows = {row.name: row for row in _load.libraries()}
    used = [name for _, name, _, _ in SERVICES if name]
    return {
        "nvmath": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": {"name": _cpu_name(), "threads": available_threads()},
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "foreign_calls": {"c": "C extension", "ctypes": "ctypes (the C extension is not built)"}[_seam.KIND],
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith("NVMATH_")},
        "devices": _devices(),
        "why_no_device": "" if _cuda.device_count() else _cuda.why_no_device(),
        "services": [_service(*service, rows) for service in SERVICES],
        "other_libraries": {name: _load.find_library(name) for name in rows if name not in used},
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _devices() -> list[dict[str, Any]]:
    devices = []
    for index in range(_cuda.device_count()):
        major, minor = _cuda.compute_capability(index)
        nbytes = _cuda.device_total_mem(_cuda.device_get(index))
        devices.append(
            {
                "index": index,
                "name": _cuda.device_name(index),
                "compute_capability": f"{major}.{minor}",
                "memory_gib": round(nbytes / 2**30, 1),
            }
        )
    return devices


def _service(operation: str, library: str, package: str, install: str, rows: dict[str, Any]) -> dict[str, Any]:
    """Say who serves an operation: a library that is opened, or a Python package."""
    answer = {"operation": operation, "by": package, "version": "", "path": "", "install": ""}
    if package:
        answer["version"] = _version(package)
        return answer | {"install": "" if answer["version"] else install}
    variable, other = _NAMED.get(operation, ("", ""))
    library = other if os.environ.get(variable) else library
    row = rows[library]
    try:
        opened = _load.open_library(library, operation)
        if library == "fftw":
            fftw_library()  # a file that NVMATH_FFT_CPU_LIBRARY names may be anything
    except (RuntimeError, OSError):
        return answer | {"by": row.title, "install": row.install}
    return answer | {"by": opened.title, "version": opened.version, "path": opened.path}


def report(*, as_json: bool = False) -> None:
    """Print what `gather` finds."""
    found = gather()
    if as_json:
        json.dump(found, sys.stdout, indent=2)
        print()
        return
    print(f"nvmath-anywhere {found['nvmath']}, Python {found['python']}, {found['platform']}")
    print(f"CPU: {found['cpu']['name']}, {found['cpu']['threads']} threads available")
    for device in found["devices"]:
        print(
            f"GPU {device['index']}: {device['name']}, compute capability {device['compute_capability']}, "
            f"{device['memory_gib']} GiB"
        )
    if not found["devices"]:
        print(f"GPU: none ({found['why_no_device']})")
    print("packages: " + ", ".join(f"{name} {version}" for name, version in found["packages"].items()))
    print(f"foreign calls: {found['foreign_calls']}")
    for name, value in found["environment"].items():
        print(f"set: {name}={value}")
    _print_services(found["services"])
    _print_others(found["other_libraries"], {service["path"] for service in found["services"]})


def _print_others(others: dict[str, str | None], serving: set[str]) -> None:
    """The libraries that `nvmath.bindings` calls and no operation does."""
    rows = {row.name: row for row in _load.libraries()}
    print("\nfor nvmath.bindings only")
    for name, path in others.items():
        if path and path not in serving:
            print(f"  {rows[name].title:<{_WIDTH}} {path}")
    missing = [rows[name] for name, path in others.items() if not path and rows[name].install]
    if missing:
        print("missing")
    for row in missing:
        print(f"  {row.title:<{_WIDTH}} {row.serves}")
    _print_commands([row.install for row in missing])


def _print_services(services: list[dict[str, Any]]) -> None:
    present = [service for service in services if not service["install"]]
    print("\nserved by")
    for service in present:
        print(f"  {service['operation']:<{_WIDTH}} {service['by']} {service['version']}".rstrip())
        if service["path"]:
            print(f"  {'':<{_WIDTH}} {service['path']}")
    missing = [service for service in services if service["install"]]
    if missing:
        print("missing")
    for service in missing:
        print(f"  {service['operation']:<{_WIDTH}} {service['by']}")
    _print_commands([service["install"] for service in missing])


# --- how to install what is missing -----------------------------------------------------------------------------------------------


def _print_commands(installs: list[str]) -> None:
    """One line to copy for each kind of machine, which installs everything that pip can."""
    names, others = commands(installs)
    if names or others:
        print("to install them")
    for kind, wanted in names.items():
        print(f"  {kind:<{_WIDTH}} pip install {' '.join(wanted)}".rstrip())
    for other in others:
        print(f"  {'':<{_WIDTH}} {other}")


def commands(installs: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the packages to install for each kind of machine, and what no package brings."""
    kinds = ("on this machine", "with CUDA 13", "with CUDA 12")
    names: dict[str, list[str]] = {kind: [] for kind in kinds}
    others = []
    for install in dict.fromkeys(installs):
        if not install.startswith(_PIP):
            others.append(install)
            continue
        for kind, name in map(_choice, install.removeprefix(_PIP).split(" or ")):
            if kind in names and name not in names[kind]:
                names[kind].append(name)
    return {kind: wanted for kind, wanted in names.items() if wanted}, others


def _choice(text: str) -> tuple[str, str]:
    """The kind of machine that a package is for, from its name or what is said about it in brackets; empty for another processor."""
    name, _, about = text.partition(" (")
    for major in ("13", "12"):
        if about == f"CUDA {major})" or name.endswith(f"-cu{major}"):
            return f"with CUDA {major}", name
    processors = {"x86-64)": ("x86_64", "AMD64"), "Arm)": ("aarch64", "arm64")}.get(about)
    return ("on this machine" if processors is None or platform.machine() in processors else ""), name
