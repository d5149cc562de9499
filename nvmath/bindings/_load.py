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
        other = f"{c_name}_64"  # or the other way round: the same function with integers of the other size
        other = c_name.removesuffix("_64") if c_name.endswith("_64") else other
        known = other if self.address(other) is not None else ""
        return function_not_found(c_name, self.name, self.title, self.version, self.path, needed, install, known)

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
    finder = _Finder(row, _search.mapped_files())
    return next((path for candidate in finder.candidates() if (path := finder.file_of(candidate)) is not None), None)


def _open(row: LibraryRow, needed_by: str) -> Library:
    for name in row.needs:
        with suppress(LibraryNotFoundError):  # the library's own run path may do
            open_library(name, needed_by)
    finder = _Finder(row, _search.mapped_files())
    library = finder.library()
    if library is not None:
        return library
    forced = finder.forced
    files = [forced] if forced else [file for candidate in row.candidates for file in candidate.files]
    places = _search.directories(row.folders)
    raise library_not_found(row.name, row.title, needed_by, files, row.install, row.override, places, finder.refusals)


class _Finder:
    """How one library is looked for, given the files that the process has loaded."""

    def __init__(self, row: LibraryRow, mapped: list[str]) -> None:
        self.row, self.mapped = row, mapped
        self.forced = os.environ.get(row.override, "") if row.override else ""
        self.major = _cuda_major(mapped) if row.cuda or len(row.folders) > 1 else ""
        self.refusals: list[str] = []

    def candidates(self) -> list[Candidate]:
        """The candidates in the order in which they are tried."""
        if self.forced:
            return [_forced_candidate(self.row, self.forced)]
        major = self.major if self.row.cuda else ""
        return sorted(self.row.candidates, key=lambda candidate: bool(major) and candidate.flavour not in (major, ""))

    def folders(self) -> list[str]:
        """The folders of the wheels; those of another CUDA major than the process uses come last."""
        other = {"12": "/cu13/", "13": "/cu12/"}.get(self.major)
        return sorted(self.row.folders, key=lambda folder: other is not None and other in folder)

    def file_of(self, candidate: Candidate) -> str | None:
        """Where the first file of a candidate is."""
        first = candidate.files[0]
        loaded = _search.match_in(self.mapped, os.path.basename(first))
        return loaded or _search.find_file(first, self.folders())

    def library(self) -> Library | None:
        """The library, opened."""
        found = self.from_pathfinder() if self.pathfinder_is_first() else None
        return found or self.from_candidates() or (None if self.forced else self.from_pathfinder())

    def pathfinder_is_first(self) -> bool:
        """Whether to ask it before we search: not where CUDA's major is settled, nor for wheels (it looks there first, and takes 20 ms)."""
        row = self.row
        settled = bool(self.forced) or (row.cuda and self.major != "")
        return not settled and not any(_search.in_wheels(each.files[0], row.folders) for each in row.candidates)

    def from_pathfinder(self) -> Library | None:
        """What cuda-pathfinder finds, unless the library is in the process already."""
        row = self.row
        if not row.pathfinder or any(_search.match_in(self.mapped, each.files[0]) for each in row.candidates):
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
                return Library(row, candidate, [(path, ctypes.CDLL(path)), *self.parts(candidate, path)])
        return None

    def from_candidates(self) -> Library | None:
        """The first candidate all of whose files can be opened."""
        for candidate in self.candidates():
            files: list[tuple[str, ctypes.CDLL]] = []
            for name in candidate.files:
                file = self.opened(name, self.refusals)
                if file is None:
                    break
                files.append(file)
            else:
                return Library(self.row, candidate, [*files, *self.parts(candidate, files[0][0])])
        return None

    def parts(self, candidate: Candidate, first: str) -> Iterator[tuple[str, ctypes.CDLL]]:
        """Further files, beside the first one or where that was looked for."""
        for alternatives in candidate.parts:
            opened = (self.opened(_search.match_beside(first, name) or name, []) for name in alternatives)
            found = next(filter(None, opened), None)
            if found is not None:
                yield found

    def opened(self, name: str, refusals: list[str]) -> tuple[str, ctypes.CDLL] | None:
        """A file, opened wherever it is found."""
        for path in self.places(name):
            try:
                handle = ctypes.CDLL(path)
            except OSError as error:
                if os.path.isabs(path):
                    refusals.append(str(error))
                continue
            return _path_of(path), handle
        return None

    def places(self, name: str) -> Iterator[str]:
        """Where a file may be."""
        loaded = _search.match_in(self.mapped, os.path.basename(name))
        if loaded is not None and name in (os.path.basename(name), loaded):
            yield loaded
        path = _search.find_file(name, self.folders())
        by_name = name if "*" not in name else None  # the loader's own cache and run paths
        places = (by_name, path) if self.row.loader_first else (path, by_name)
        yield from (place for place in places if place is not None)


def _path_of(opened: str) -> str:
    """The full path of a library that was just opened by name."""
    if os.path.isabs(opened):
        return opened
    return _search.match_in(_search.mapped_files(), opened) or _search.find_file(opened, ()) or opened


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
