"""The search for libraries: order, overrides, what is in the process, messages."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from nvmath.bindings import LibraryNotFoundError, _libraries, _load, _search
from nvmath.bindings._libraries import LIBRARIES, Candidate, LibraryRow
from nvmath.bindings._versions import _packed, _words

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/maps, which only Linux has")


NUMBERS = itertools.count(1000)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    names: list[str] = []

    def add(row: LibraryRow) -> LibraryRow:
        monkeypatch.setitem(LIBRARIES, row.name, row)
        names.append(row.name)
        return row

    yield add
    for name in names:
        _load._opened.pop(name, None)


@pytest.fixture
def wheel(toy_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site-packages with the toy library in a wheel's folder, under a name that nothing else has."""
    folder = tmp_path / "site-packages" / "vendor" / "toy" / "lib"
    folder.mkdir(parents=True)
    file = folder / f"libtoy{next(NUMBERS)}-hash.so.1"  # what an earlier test opened stays in the process
    shutil.copy(toy_path, file)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    return file


def row(name: str, *files: str, **more: object) -> LibraryRow:
    candidates = tuple(Candidate("", (file,), version=("property", "toy_version")) for file in files)
    return LibraryRow(name, "Toy", "tests", "pip install toy", candidates, ("vendor/toy/lib",), **more)  # type: ignore[arg-type]


def test_a_wheel_is_found_and_opened_once(register: object, wheel: Path) -> None:
    register(row("toywheel", wheel.name))  # type: ignore[operator]
    assert _load.find_library("toywheel") == str(wheel)
    assert _load.peek("toywheel") is None
    library = _load.open_library("toywheel")
    assert (library.path, library.version, library.name, library.title) == (str(wheel), "1.2.3", "toywheel", "Toy")
    assert library.handle > 0
    assert library.address("toy_status") is not None
    assert library.address("absent") is None
    assert _load.open_library("toywheel") is library is _load.peek("toywheel")
    assert _load.opened()["toywheel"] == str(wheel)
    assert repr(library) == f"<Toy 1.2.3 at {wheel}>"


def test_the_first_candidate_that_is_there_wins(register: object, wheel: Path) -> None:
    register(row("toywheel", "libabsent.so.2", wheel.name))  # type: ignore[operator]
    assert _load.find_library("toywheel") == str(wheel)
    assert _load.open_library("toywheel").path == str(wheel)


def test_patterns_find_hashed_names(register: object, wheel: Path) -> None:
    register(row("toywheel", wheel.name.replace("hash", "*")))  # type: ignore[operator]
    assert _load.open_library("toywheel").path == str(wheel)


@linux
def test_what_is_in_the_process_wins(register: object, wheel: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "libtoyloaded.so.1"
    elsewhere.parent.mkdir()
    shutil.copy(wheel, elsewhere)
    shutil.copy(wheel, wheel.with_name("libtoyloaded.so.1"))
    ctypes.CDLL(str(elsewhere))
    register(row("toyloaded", "libtoyloaded.so.1"))  # type: ignore[operator]
    assert _load.find_library("toyloaded") == str(elsewhere)
    assert _load.open_library("toyloaded").path == str(elsewhere)


def test_an_override_replaces_the_candidates(
    register: object, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "libother.so.5"
    shutil.copy(wheel, other)
    register(row("toywheel", wheel.name, override="TOY_LIBRARY"))  # type: ignore[operator]
    monkeypatch.setenv("TOY_LIBRARY", str(other))
    assert _load.find_library("toywheel") == str(other)
    library = _load.open_library("toywheel")
    assert (library.path, library.title) == (str(other), "libother.so.5")


def test_an_override_that_is_not_there_is_an_error(
    register: object, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(row("toywheel", wheel.name, override="TOY_LIBRARY"))  # type: ignore[operator]
    monkeypatch.setenv("TOY_LIBRARY", "/nowhere/libtoywheel.so.1")
    assert _load.find_library("toywheel") is None
    with pytest.raises(LibraryNotFoundError, match=r"looked for: /nowhere/libtoywheel\.so\.1"):
        _load.open_library("toywheel", "the test")


def test_an_override_by_name_is_searched_like_the_others(
    register: object, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(row("toywheel", "libabsent.so.1", override="TOY_LIBRARY"))  # type: ignore[operator]
    monkeypatch.setenv("TOY_LIBRARY", wheel.name)
    assert _load.open_library("toywheel").path == str(wheel)


def test_a_library_of_two_files(register: object, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(wheel, wheel.with_name("libtoyf.so.1"))
    shutil.copy(wheel, wheel.with_name("libtoy_threads.so.1"))
    parts = (("libtoy_omp.so.1", "libtoy_threads.so.1"), ("libtoy_absent.so.1",))
    pair = Candidate("pair", (wheel.name, "libtoyf.so.1"), parts)
    register(LibraryRow("toypair", "Toy", "tests", "", (pair,), ("vendor/toy/lib",), "TOY_LIBRARY"))  # type: ignore[operator]
    library = _load.open_library("toypair")
    assert [Path(path).name for path in library.paths] == [wheel.name, "libtoyf.so.1", "libtoy_threads.so.1"]
    _load._opened.pop("toypair")
    monkeypatch.setenv("TOY_LIBRARY", str(wheel))
    assert [os.path.dirname(path) for path in _load.open_library("toypair").paths] == [str(wheel.parent)] * 3


def test_half_a_library_is_none(register: object, wheel: Path) -> None:
    pair = Candidate("pair", (wheel.name, "libtoyhalf.so.1"))
    register(LibraryRow("toyhalf", "Toy", "tests", "", (pair,), ("vendor/toy/lib",)))  # type: ignore[operator]
    with pytest.raises(LibraryNotFoundError, match=rf"{re.escape(wheel.name)}, libtoyhalf\.so\.1"):
        _load.open_library("toyhalf")


def test_a_file_that_is_no_library_is_passed_over(register: object, wheel: Path) -> None:
    wheel.with_name("libtoybroken.so.1").write_text("not ELF")
    register(row("toybroken", "libtoybroken.so.1"))  # type: ignore[operator]
    with pytest.raises(LibraryNotFoundError, match=r"there, but not loadable: .*libtoybroken\.so\.1"):
        _load.open_library("toybroken")


def test_the_message_has_at_most_ten_lines() -> None:
    for name, known in LIBRARIES.items():
        files = [file for candidate in known.candidates for file in candidate.files]
        from nvmath.bindings._errors import library_not_found

        places = [f"/place/{k}" for k in range(30)]
        text = str(library_not_found(name, known.title, "a test", files, known.install, known.override, places))
        assert len(text.splitlines()) <= 10
        assert "a test needs it" in text
        assert files[0] in text
        assert known.install in text


def test_threads_open_one_library(register: object, wheel: Path) -> None:
    register(row("toywheel", wheel.name))  # type: ignore[operator]
    start, found = threading.Barrier(6), []

    def work() -> None:
        start.wait()
        found.append(_load.open_library("toywheel"))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(library) for library in found}) == 1


def test_unknown_names() -> None:
    assert _load.find_library("nonsense") is None
    with pytest.raises(KeyError):
        _load.open_library("nonsense")


def test_every_row_is_complete() -> None:
    rows = _load.libraries()
    assert len({known.name for known in rows}) == len(rows)
    wanted = (
        "cuda nvrtc nvjitlink nvvm cufft cublas cublasLt cusolver cusparse curand cudss cutensor mathdx nccl nvshmem "
        "cusparseLt cublasMp cusolverMp cufftMp fftw blas lapack mkl numpy_openblas"
    )
    assert set(wanted.split()) == {known.name for known in rows}
    for known in rows:
        assert known.title
        assert known.serves
        assert known.install
        assert all(candidate.files for candidate in known.candidates)


# ------------------------------------------------------------------------------------------------ the CUDA major


@pytest.fixture
def no_frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "cupy"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@linux
@pytest.mark.usefixtures("no_frameworks")
def test_the_cuda_major_follows_the_process() -> None:
    assert _load._cuda_major(["/a/libcublas.so.12"]) == "12"
    assert _load._cuda_major(["/a/libnvrtc.so.13", "/a/libcufft.so.11"]) == "13"
    assert _load._cuda_major(["/a/libcufft.so.11.4.1.4"]) == "12"
    assert _load._cuda_major(["/a/libcusparse.so.12"]) == ""  # both majors have that name
    first = [c.files[0] for c in _load._Finder(LIBRARIES["cufft"], ["/a/libcublas.so.12"]).candidates()]
    assert first == ["libcufft.so.11", "libcufft.so.12"]
    assert _load._Finder(LIBRARIES["cufft"], []).candidates()[0].files == ("libcufft.so.12",)


@linux
@pytest.mark.usefixtures("no_frameworks")
def test_folders_of_the_other_major_come_last() -> None:
    row = LIBRARIES["cublasMp"]
    assert row.folders == ("nvidia/cublasmp/cu13/lib", "nvidia/cublasmp/cu12/lib")
    assert _load._Finder(row, ["/a/libcublas.so.12"]).folders() == list(reversed(row.folders))
    assert _load._Finder(row, ["/a/libcublas.so.13"]).folders() == list(row.folders)
    assert _load._Finder(row, []).folders() == list(row.folders)


def test_names_follow_the_form_of_the_library() -> None:
    """NumPy's OpenBLAS has functions of 64 bits alone: a function of 32 bits must not become one of them."""
    if _load.find_library("numpy_openblas") is None:
        pytest.skip("this NumPy brings no OpenBLAS")
    opened = _load.open_library("numpy_openblas")
    assert opened.address("cblas_dgemm_64") == opened.address("scipy_cblas_dgemm64_")
    wide = _load.Library.__new__(_load.Library)
    wide._files, wide._symbols = opened._files, ("scipy_{wide}64_",)
    assert wide.address("cblas_dgemm_64") == opened.address("cblas_dgemm_64")
    assert wide.address("cblas_dgemm") is None


@pytest.mark.usefixtures("no_frameworks")
def test_the_cuda_major_follows_torch_and_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = ModuleType("torch")
    torch.version = SimpleNamespace(cuda="12.8")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert _load._cuda_major([]) == "12"
    torch.version.cuda = None  # a build for the CPU
    assert _load._cuda_major([]) == ""
    cupy = ModuleType("cupy")
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert _load._cuda_major([]) == ""
    runtime = SimpleNamespace(runtimeGetVersion=lambda: 13000)
    cupy.cuda = SimpleNamespace(runtime=runtime)  # type: ignore[attr-defined]
    assert _load._cuda_major([]) == "13"


def test_a_file_that_is_named_is_known_by_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    path = _load.find_library("numpy_openblas")
    if path is None:
        pytest.skip("this NumPy brings no OpenBLAS")
    monkeypatch.setenv("NVMATH_BLAS_CPU_LIBRARY", path)
    candidate = _load._Finder(_load.LIBRARIES["blas"], []).candidates()[0]
    assert (candidate.flavour, candidate.files, candidate.symbols) == ("openblas", (path,), ("scipy_{wide}64_",))


# ------------------------------------------------------------------------------------------------ the table


def test_a_table_of_libraries() -> None:
    text = """
base | Base | tests | pip install base
    version pair base_version
    title The Base
    symbols a_{stem}
    file - libbase.so.1 base.dll libbase.dylib
user | User | tests | pip install user      # a comment
    cuda
    override USER
    needs base other
    folders user/lib
    like base
    like base b_{stem} c_{stem}
    file 13 libuser.so.2+libmore.so.2+?libx.so|liby.so
        user.dll
"""
    known = _libraries._read(text)
    base, user = known["base"], known["user"]
    assert (base.title, base.serves, base.install, base.cuda, base.folders) == (
        "Base",
        "tests",
        "pip install base",
        False,
        (),
    )
    assert (user.cuda, user.override, user.needs) == (True, "USER", ("base", "other"))
    if sys.platform == "linux":
        assert user.folders == ("user/lib",)
        assert base.candidates == (
            Candidate("", ("libbase.so.1",), (), ("pair", "base_version"), "The Base", ("a_{stem}",)),
        )
        assert user.candidates[:2] == (
            base.candidates[0],
            base.candidates[0]._replace(symbols=("b_{stem}", "c_{stem}")),
        )
        assert user.candidates[2] == Candidate("13", ("libuser.so.2", "libmore.so.2"), (("libx.so", "liby.so"),))


def test_libraries_of_other_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "one | One | x | y\n    folders a/lib\n    file - libone.so.1 one.dll\n    file - libtwo.so.2 - libtwo.dylib\n"
    )
    for platform, files, folder in (
        ("linux", ["libone.so.1", "libtwo.so.2"], "a/lib"),
        ("win32", ["one.dll"], "a/bin"),
        ("darwin", ["libone.so.1", "libtwo.dylib"], "a/lib"),
    ):
        monkeypatch.setattr(sys, "platform", platform)
        row = _libraries._read(text)["one"]
        assert ([candidate.files[0] for candidate in row.candidates], row.folders) == (files, (folder,))


def test_wheels_are_taken_without_asking_pathfinder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = LibraryRow("x", "X", "tests", "pip install x", (Candidate("", ("libx.so.1",)),), ("x/lib",), pathfinder="x")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert _load._Finder(row, []).pathfinder_is_first()
    (tmp_path / "x" / "lib").mkdir(parents=True)
    (tmp_path / "x" / "lib" / "libx.so.1").touch()
    assert not _load._Finder(row, []).pathfinder_is_first()


# ------------------------------------------------------------------------------------------------ places


def test_directories_come_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "env" / "lib" / "python3" / "site-packages"
    for folder in (
        site / "vendor" / "lib",
        tmp_path / "conda" / "lib",
        tmp_path / "cuda" / "lib64",
        tmp_path / "paths",
    ):
        folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(site)])
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "paths"))
    found = [path for path in _search.directories(["vendor/lib", "absent"]) if path.startswith(str(tmp_path))]
    if sys.platform == "linux":
        expected = ["env/lib/python3/site-packages/vendor/lib", "env/lib", "conda/lib", "cuda/lib64", "paths"]
        assert [os.path.relpath(path, tmp_path) for path in found] == expected
    assert len(set(found)) == len(found)


def test_file_names_match_with_longer_versions() -> None:
    paths = ["/x/libcufft.so.12.0.0.61", "/y/libcufftw.so.12"]
    assert _search.match_in(paths, "libcufft.so.12") == paths[0]
    assert _search.match_in(paths, "libcufftw.so.12") == paths[1]
    assert _search.match_in(paths, "libcufft.so.1") is None


@linux
def test_mapped_files_are_the_shared_objects() -> None:
    paths = _search.mapped_files()
    assert any("libc.so" in path or "libc-" in path for path in paths)
    assert len(set(paths)) == len(paths)


# ------------------------------------------------------------------------------------------------ versions


def test_versions_are_read_by_convention() -> None:
    assert _packed(13050, 1000, 10) == "13.5"
    assert _packed(20800, 10000, 100, 1) == "2.8.0"
    assert _words(b"FFTW-3.3.10-sse2-avx", 1) == "3.3.10-sse2-avx".partition("-")[0]
    assert _words(b"OpenBLAS 0.3.31  USE64BITINT", 1) == "0.3.31"
    assert _words(b"short", 4) == "short"
