"""The machine and the versions of a run: what a reader needs to judge a number, and nothing that names the machine."""

from __future__ import annotations

import datetime
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from nvmath._core.options import available_threads
from nvmath.bindings import _cuda, _load

PACKAGES = (
    "nvmath-anywhere",
    "numpy",
    "scipy",
    "mkl_fft",
    "torch",
    "cupy-cuda13x",
    "cupy-cuda12x",
    "numba",
    "numba-cuda",
)


def describe() -> dict[str, Any]:
    """Return date, processor, memory, devices, versions."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": _processor(),
        "threads": available_threads(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "devices": [_cuda.device_name(index) for index in range(_cuda.device_count())],
        "versions": {name: version for name in PACKAGES if (version := _version(name))} | _libraries(),
    }


def sentence(machine: dict[str, Any]) -> str:
    """Write a description in one paragraph."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    hardware = [
        f"{machine['processor']}, {machine['threads']} thread(s), {machine['memory_gib']} GiB",
        *machine["devices"],
    ]
    return f"{machine['date']}; {'; '.join(hardware)}; {machine['system']}; {versions}."


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _libraries() -> dict[str, str]:
    found = {}
    for name in ("fftw", *(["cufft"] if _cuda.device_count() else [])):
        try:
            library = _load.open_library(name)
        except RuntimeError:
            continue
        found[f"{library.title} (library)"] = library.version
    return found


def _processor() -> str:
    fields = _fields(Path("/proc/cpuinfo"))
    name = fields.get("model name", platform.processor() or platform.machine())
    wide = [word for word in ("avx512f", "avx2") if word in fields.get("flags", "").split()]
    return f"{name} ({wide[0]})" if wide else name


def _memory_gib() -> int:
    kib = _fields(Path("/proc/meminfo")).get("MemTotal", "0 kB").split()[0]
    return round(int(kib) / 2**20)


def _fields(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in reversed(lines))
    return {name.strip(): value.strip() for name, _, value in pairs}
