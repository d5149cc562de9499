"""Find and open C libraries: a table of rows and one search for all of them.

Order of the search: what is already in the process, wheels, then cuda-pathfinder if it is installed, then our own list
(this environment, conda, a CUDA toolkit, the system's loader). The CUDA major follows what is in the process
(torch, CuPy, an opened library), otherwise the newest found wins. A library is opened at its first use
and never closed.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property

from nvmath.bindings import _search
from nvmath.bindings._errors import FunctionNotFoundError, LibraryNotFoundError, function_not_found, library_not_found
from nvmath.bindings._fork import held_at_fork
from nvmath.bindings._libraries import LIBRARIES, Candidate, LibraryRow
from nvmath.bindings._versions import read_version

__all__ = ["Library", "find_library", "libraries", "open_library", "opened", "peek"]

_lock = held_at_fork(threading.RLock())
_opened: dict[str, Library] = {}


class Library:
    """An open library (of one or several files).

    Attributes
    ----------
    name : str
        The name of its row.
    title : str
        What people call it.
    flavour : str
        Which candidate it is: the CUDA major, or ``"mkl"``, ``"nvpl"``, ``"fftw"``, ``"openblas"``.
    path : str
        Where the first file lies.
    handle : int
        The loader's handle of the first file.
    version : str
        As the library itself says, or ``""``.
    """

    def __init__(self, row: LibraryRow, candidate: Candidate, files: list[tuple[str, ctypes.CDLL]]) -> None:
        self.name = row.name
        self.title = candidate.title or row.title
        self.flavour = candidate.flavour
        self.path = files[0][0]
        self.paths = [path for path, _ in files]
        self.handle: int = files[0][1]._handle
        self._files = [file for _, file in files]
        self._version = candidate.version
        self._symbols = candidate.symbols

    @cached_property
    def version(self) -> str:
        """The version that the library states."""
        return read_version(self, *self._version)

    def address(self, c_name: str) -> int | None:
        """The address of a symbol, or None; the name is that of our rows."""
        stem = c_name.removesuffix("_64")
        forms = (form for form in self._symbols if stem != c_name or "{wide}" not in form)
        names = (c_name, *(form.format(stem=stem, wide=stem) for form in forms))
        for name in names:
            for file in self._files:
                try:
                    return ctypes.addressof(ctypes.c_char.in_dll(file, name))
                except ValueError:
                    continue
        return None

    def missing(self, c_name: str, needed: str = "") -> FunctionNotFoundError:
        """The error for a symbol that is not there; `needed` says which versions have it."""
        install = LIBRARIES[self.name].install if self.name in LIBRARIES else ""
        return function_not_found(c_name, self.name, self.title, self.version, self.path, needed, install)

    def __repr__(self) -> str:
        return f"<{self.title} {self.version} at {self.path}>"


def libraries() -> tuple[LibraryRow, ...]:
    """The rows of every library that the bindings know."""
    return tuple(LIBRARIES.values())


def opened() -> dict[str, str]:
    """Name -> path of the libraries opened so far."""
    return {name: library.path for name, library in _opened.items()}


def peek(name: str) -> Library | None:
    """The library if it is open already."""
    return _opened.get(name)


def open_library(name: str, needed_by: str = "") -> Library:
    """The library called `name`, found and opened at the first call.

    Raises
    ------
    LibraryNotFoundError
        It is not there; the message says what needs it, how to install it and where it was looked for.
    """
    library = _opened.get(name)
    if library is None:
        with _lock:
            library = _opened.get(name)
            if library is None:
                library = _opened[name] = _open(LIBRARIES[name], needed_by)
    return library


def find_library(name: str) -> str | None:
    """The path of the file that would be opened, or None. Opens nothing, never raises."""
    already = _opened.get(name)
    if already is not None:
        return already.path
    row = LIBRARIES.get(name)
    if row is None:
        return None
    mapped = _search.mapped_files()
    for candidate in _candidates(row, mapped):
        first = candidate.files[0]
        path = _search.match_in(mapped, os.path.basename(first)) or _search.find_file(first, _folders(row, mapped))
        if path is not None:
            return path
    return None


def _open(row: LibraryRow, needed_by: str) -> Library:
    for name in row.needs:
        with suppress(LibraryNotFoundError):  # the library's own run path may do
            open_library(name, needed_by)
    mapped = _search.mapped_files()
    forced = _override(row)
    refusals: list[str] = []
    library = _from_pathfinder(row, mapped) if _pathfinder_is_first(row, mapped) else None
    library = library or _from_candidates(row, mapped, refusals) or (None if forced else _from_pathfinder(row, mapped))
    if library is not None:
        return library
    files = [forced] if forced else [file for candidate in row.candidates for file in candidate.files]
    places = _search.directories(row.folders)
    raise library_not_found(row.name, row.title, needed_by, files, row.install, row.override, places, refusals)


def _pathfinder_is_first(row: LibraryRow, mapped: list[str]) -> bool:
    """Whether to ask it before we search: not where CUDA's major is settled, nor for wheels (it looks there first, and takes 20 ms)."""
    settled = bool(_override(row)) or (row.cuda and _cuda_major(mapped) != "")
    return not settled and not any(_search.in_wheels(candidate.files[0], row.folders) for candidate in row.candidates)


def _override(row: LibraryRow) -> str:
    return os.environ.get(row.override, "") if row.override else ""


def _candidates(row: LibraryRow, mapped: list[str]) -> list[Candidate]:
    """The candidates in the order in which they are tried."""
    forced = _override(row)
    if forced:
        return [_forced_candidate(row, forced)]
    major = _cuda_major(mapped) if row.cuda else ""
    return sorted(row.candidates, key=lambda candidate: bool(major) and candidate.flavour not in (major, ""))


def _forced_candidate(row: LibraryRow, file: str) -> Candidate:
    """What the user named, with the parts and the version query of the candidate that it looks like."""
    name = os.path.basename(file)
    for candidate in row.candidates:
        if fnmatchcase(name, candidate.files[0].partition(".")[0] + ".*"):
            return candidate.at(file)
    return Candidate(row.candidates[-1].flavour, (file,), title=name)


def _cuda_major(mapped: list[str]) -> str:
    """The CUDA major that this process uses already, or ''."""
    torch_version = getattr(sys.modules.get("torch"), "version", None)
    version = getattr(torch_version, "cuda", None)
    if version:
        return str(version).partition(".")[0]
    majors = {
        candidate.flavour
        for row in LIBRARIES.values()
        if row.cuda
        for candidate in row.candidates
        if candidate.flavour and _search.match_in(mapped, candidate.files[0])
    }
    return max(majors, key=int, default="") or _cupy_major()


def _cupy_major() -> str:
    cupy = sys.modules.get("cupy")
    if cupy is None:
        return ""
    try:
        return str(cupy.cuda.runtime.runtimeGetVersion() // 1000)
    except Exception:  # a CuPy without a driver, or one that is still being imported, says nothing
        return ""


def _from_candidates(row: LibraryRow, mapped: list[str], refusals: list[str]) -> Library | None:
    for candidate in _candidates(row, mapped):
        files = _open_files(row, candidate.files, mapped, refusals)
        if files:
            return Library(row, candidate, files + _open_parts(row, candidate, files[0][0], mapped))
    return None


def _open_files(
    row: LibraryRow, names: tuple[str, ...], mapped: list[str], refusals: list[str]
) -> list[tuple[str, ctypes.CDLL]]:
    """All of the files, or nothing."""
    files: list[tuple[str, ctypes.CDLL]] = []
    for name in names:
        file = _open_file(name, row, mapped, refusals)
        if file is None:
            return []
        files.append(file)
    return files


def _open_parts(row: LibraryRow, candidate: Candidate, first: str, mapped: list[str]) -> list[tuple[str, ctypes.CDLL]]:
    parts: list[tuple[str, ctypes.CDLL]] = []
    for alternatives in candidate.parts:
        for name in alternatives:
            beside = _search.match_beside(first, name)
            part = _open_file(beside or name, row, mapped, [])
            if part is not None:
                parts.append(part)
                break
    return parts


def _open_file(name: str, row: LibraryRow, mapped: list[str], refusals: list[str]) -> tuple[str, ctypes.CDLL] | None:
    for path in _places(name, row, mapped):
        try:
            handle = ctypes.CDLL(path)
        except OSError as error:
            if os.path.isabs(path):
                refusals.append(str(error))
            continue
        return _path_of(path), handle
    return None


def _places(name: str, row: LibraryRow, mapped: list[str]) -> Iterator[str]:
    loaded = _search.match_in(mapped, os.path.basename(name))
    if loaded is not None and name in (os.path.basename(name), loaded):
        yield loaded
    path = _search.find_file(name, _folders(row, mapped))
    by_name = name if "*" not in name else None  # the loader's own cache and run paths
    places = (by_name, path) if row.loader_first else (path, by_name)
    yield from (place for place in places if place is not None)


def _folders(row: LibraryRow, mapped: list[str]) -> list[str]:
    """The folders of the wheels; those of another CUDA major than the process uses come last."""
    other = {"12": "/cu13/", "13": "/cu12/"}.get(_cuda_major(mapped)) if len(row.folders) > 1 else None
    return sorted(row.folders, key=lambda folder: other is not None and other in folder)


def _path_of(opened: str) -> str:
    """The full path of a library that was just opened by name."""
    if os.path.isabs(opened):
        return opened
    return _search.match_in(_search.mapped_files(), opened) or _search.find_file(opened, ()) or opened


def _from_pathfinder(row: LibraryRow, mapped: list[str]) -> Library | None:
    """What cuda-pathfinder finds, unless the library is in the process already."""
    if not row.pathfinder or any(_search.match_in(mapped, candidate.files[0]) for candidate in row.candidates):
        return None
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib
    except ImportError:
        return None
    try:
        path = load_nvidia_dynamic_lib(row.pathfinder).abs_path
    except Exception:  # not found, not supported on this platform, or a bug there: our own search goes on
        return None
    for candidate in row.candidates:
        if path and _search.match_in([path], candidate.files[0]):
            files = [(path, ctypes.CDLL(path))]
            return Library(row, candidate, files + _open_parts(row, candidate, path, mapped))
    return None
