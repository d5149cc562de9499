"""Errors of libraries: name, function, code, explanation; and what is said of functions that a library lacks."""

from __future__ import annotations

import pickle
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from nvmath.bindings import _errors, _load, cudss, cufft, cusolver, cusolverDn
from nvmath.bindings._bind import Bindings, Errors, substitute

ENUMS = "IntEnum Status: OK=0 INVALID_VALUE=3 STRANGE=4\n"


def fail(bindings: Bindings, c_name: str, status: int) -> Any:
    assert bindings.errors is not None
    with pytest.raises(Exception, match="TOY") as caught:
        bindings.errors.failed(c_name)(status)
    return caught.value


@pytest.fixture
def toy() -> tuple[Bindings, ModuleType]:
    module: Any = ModuleType("toy_module")
    module._ROWS, module._ENUMS = "toyDo()\n", ENUMS
    return Bindings("cufft", module.__dict__, prefix="toy", errors=Errors("ToyError", "TOY_")), module


def test_an_error_says_name_code_function_and_meaning(toy: tuple[Bindings, ModuleType]) -> None:
    error = fail(toy[0], "toyDo", 3)
    assert type(error).__name__ == "ToyError"
    assert (error.status, error.function) == (3, "toyDo")
    assert str(error) == "TOY_INVALID_VALUE (3) from toyDo: an argument has a value that the function does not take"
    assert error.explanation in str(error)
    assert str(fail(toy[0], "toyDo", 4)) == "TOY_STRANGE (4) from toyDo"
    assert str(fail(toy[0], "toyDo", 77)) == "unknown TOY status 77 from toyDo"


def test_an_error_made_by_hand_is_its_name(toy: tuple[Bindings, ModuleType]) -> None:
    kind = toy[1].ToyError
    assert str(kind(3)) == "TOY_INVALID_VALUE"
    assert kind.__mro__[1] is Exception
    with pytest.raises(kind, match=r"^TOY_INVALID_VALUE$"):
        toy[1].check_status(3)
    assert toy[1].check_status(0) is None


def test_the_librarys_own_explanation_comes_first() -> None:
    module: Any = ModuleType("toy_module")
    errors = Errors("ToyError", "TOY_", explain="explain")
    module._ROWS, module._ENUMS = "explain = toyExplain(status: i32) -> str\n", ENUMS
    bindings = Bindings("cufft", module.__dict__, prefix="toy", errors=errors)
    with substitute("cufft", SimpleNamespace(toyExplain=lambda status: f"the toy says {status}")):
        assert str(fail(bindings, "toyDo", 3)) == "TOY_INVALID_VALUE (3) from toyDo: the toy says 3"

    def broken(status: int) -> str:
        raise OSError

    with substitute("cufft", SimpleNamespace(toyExplain=broken)):
        assert str(fail(bindings, "toyDo", 3)).startswith("TOY_INVALID_VALUE (3) from toyDo: an argument")


def test_errors_travel_between_processes() -> None:
    error: Any = cufft.cuFFTError(1)
    error.function = "cufftExecC2C"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cufft.cuFFTError
    assert (again.status, again.function, str(again)) == (1, "cufftExecC2C", str(error))


def test_parts_of_a_library_share_a_class() -> None:
    assert cusolverDn._library.errors is cusolver._library.errors
    with pytest.raises(cusolver.cuSOLVERError):
        cusolverDn.check_status(1)
    assert "cuSOLVERError" not in dir(cusolverDn)


def test_a_missing_function_says_which_versions_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in cudss._library.rows() if row.c_name == "cudssSetJitCacheDir")
    library = SimpleNamespace(
        address=lambda c_name: None, name="cudss", title="cuDSS", version="0.8.0", path="/lib/libcudss.so.0"
    )
    library.missing = lambda c_name, needed: _load.Library.missing(library, c_name, needed)  # type: ignore[arg-type]
    monkeypatch.setitem(_load._opened, "cudss", library)  # type: ignore[arg-type]
    with pytest.raises(_errors.FunctionNotFoundError) as caught:
        cudss.set_jit_cache_dir(0, "folder")
    assert str(caught.value).splitlines() == [
        "cudssSetJitCacheDir is not in cuDSS 0.8.0 (/lib/libcudss.so.0)",
        "  versions that have it: 1.0 and newer",
        f"  install one of them with: {_load.LIBRARIES['cudss'].install}",
    ]
    assert row.versions == "1.0+"
    assert isinstance(caught.value, NotImplementedError)
    assert isinstance(caught.value, RuntimeError)
