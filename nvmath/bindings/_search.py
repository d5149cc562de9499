"""Where library files are looked for. Nothing here opens a library."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path


def mapped_files() -> list[str]:
    """Paths of the shared objects in this process (Linux; elsewhere none)."""
    try:
        text = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    paths = (line[line.find("/") :] for line in text.splitlines() if "/" in line)
    return [path for path in dict.fromkeys(paths) if ".so" in path and not path.endswith(" (deleted)")]


def match_in(paths: Iterable[str], pattern: str) -> str | None:
    """The first path whose file name fits a pattern (``libcufft.so.12`` also fits ``libcufft.so.12.0.0.61``)."""
    wild = "*" in pattern
    for path in paths if wild else [path for path in paths if pattern in path]:
        name = path[path.rfind(os.sep) + 1 :]
        if name.startswith(pattern) and name[len(pattern) :][:1] in ("", "."):
            return path
        if wild and (fnmatchcase(name, pattern) or fnmatchcase(name, pattern + ".*")):
            return path
    return None


def match_beside(path: str, pattern: str) -> str | None:
    """The file of that name (or pattern) in the folder of another file."""
    folder = os.path.dirname(path)
    try:
        names = sorted(os.listdir(folder), reverse=True)
    except OSError:
        return None
    return next((os.path.join(folder, name) for name in names if fnmatchcase(name, pattern)), None)


def directories(folders: Iterable[str]) -> Iterator[str]:
    """Directories to look in, in order: wheels, this environment, conda, a CUDA toolkit, the system.

    `folders` are those of the wheels, relative to site-packages.
    """
    seen: set[str] = set()
    for directory in _every_directory(tuple(folders)):
        if directory not in seen and os.path.isdir(directory):
            seen.add(directory)
            yield directory


def _every_directory(folders: tuple[str, ...]) -> Iterator[str]:
    yield from _wheel_directories(folders)
    yield from _environment_directories(_sites())
    yield from _toolkit_directories()
    yield from system_directories()


def _sites() -> list[str]:
    return [os.path.abspath(entry) for entry in sys.path if entry]


def _wheel_directories(folders: Iterable[str]) -> Iterator[str]:
    return (os.path.join(site, *folder.split("/")) for site in _sites() for folder in folders)


def in_wheels(pattern: str, folders: Iterable[str]) -> bool:
    """Whether a wheel brings a file of that name (or pattern)."""
    return any(match_beside(os.path.join(folder, pattern), pattern) for folder in _wheel_directories(folders))


def _environment_directories(sites: list[str]) -> Iterator[str]:
    roots = [sys.prefix, *_user_roots(sites), sys.base_prefix, os.environ.get("CONDA_PREFIX", "")]
    for root in roots:
        if root:
            yield from (
                (os.path.join(root, "Library", "bin"),) if sys.platform == "win32" else (os.path.join(root, "lib"),)
            )


def _user_roots(sites: list[str]) -> Iterator[str]:
    """Prefixes of the site-packages folders on sys.path: wheels put data files (MKL's libraries) under them."""
    for site in sites:
        if os.path.basename(site) in ("site-packages", "dist-packages"):
            yield str(Path(site).parents[1 if sys.platform == "win32" else 2])


def _toolkit_directories() -> Iterator[str]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        root = os.environ.get(variable)
        if root:
            for folder in ("lib64", "lib", "nvvm/lib64", "bin", "bin/x64"):
                yield os.path.join(root, *folder.split("/"))


def system_directories() -> Iterator[str]:
    """Where the system's loader looks."""
    variable = {"win32": "PATH", "darwin": "DYLD_LIBRARY_PATH"}.get(sys.platform, "LD_LIBRARY_PATH")
    yield from (entry for entry in os.environ.get(variable, "").split(os.pathsep) if entry)
    if sys.platform != "win32":
        yield from _configured_directories()
        yield from ("/usr/local/cuda/lib64", "/usr/local/lib", "/usr/lib64", "/lib64", "/usr/lib", "/lib")
        yield "/usr/lib/wsl/lib"


@cache
def _configured_directories() -> tuple[str, ...]:
    """The lines of /etc/ld.so.conf.d: reading them is cheaper than asking ldconfig, and opens nothing."""
    found: list[str] = []
    for file in sorted(Path("/etc/ld.so.conf.d").glob("*.conf")):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found += [line.strip() for line in text.splitlines() if line.startswith("/")]
    return tuple(found)


def find_file(pattern: str, folders: Iterable[str]) -> str | None:
    """The path of the first file of that name (or pattern) in `directories`; a path is itself if it is a file."""
    if os.path.dirname(pattern):
        return os.path.abspath(pattern) if os.path.isfile(pattern) else None
    for directory in directories(folders):
        path = os.path.join(directory, pattern)
        if os.path.isfile(path):
            return path
        if "*" in pattern:
            matches = sorted(entry for entry in os.listdir(directory) if fnmatchcase(entry, pattern))
            if matches:
                return os.path.join(directory, matches[-1])
    return None
