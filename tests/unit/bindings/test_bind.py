"""The engine: rows to functions at first use, errors for what is missing, substitution."""

from __future__ import annotations

import copy
import enum
import importlib
import inspect
import pickle
import pydoc
import sys
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import nvmath.bindings
from nvmath.bindings import FunctionNotFoundError, LibraryNotFoundError, _bind, _cuda, _load, _seam, cufft, cusparse
from nvmath.bindings._libraries import LIBRARIES, Candidate, LibraryRow

ROWS = """
toyValue = toy_i64(a: i64) -> i64
toy_status(status: i32)
toy_version(kind: i32, &value: i32)
add = toy_add(a: ptr, b: ptr, times: i32)
toy_absent(a: i32)
second = toy_second_u64(a: cbuf<u64>) -> u64
filled = toy_fill(a: null, n: i32)
_secret = toy_counter() -> i64
"""
LENGTHS = "second: a=2"
ENUMS = "IntEnum Result: SUCCESS=0 BAD=7\nIntFlag Flags: A=1 B=2\n"


def check_status(status: int) -> None:
    raise RuntimeError(f"status {status}")


def make_module(library: str) -> ModuleType:
    module: Any = ModuleType("toy_bindings")
    module._ROWS, module._ENUMS, module._LENGTHS = ROWS, ENUMS, LENGTHS
    bindings = _bind.Bindings(library, module.__dict__, prefix="toy_", on_error=check_status, error="RuntimeError")
    module._library = bindings
    module.__getattr__ = bindings.resolve
    module.__dir__ = bindings.names
    return module  # type: ignore[no-any-return]


@pytest.fixture
def toy_row(toy_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LibraryRow]:
    candidate = Candidate("", (str(toy_path),), version=("property", "toy_version"))
    row = LibraryRow("toy", "Toy", "tests", "pip install toy", (candidate,), override="TOY_LIBRARY")
    monkeypatch.setitem(LIBRARIES, "toy", row)
    monkeypatch.delenv("TOY_LIBRARY", raising=False)
    yield row
    _load._opened.pop("toy", None)


@pytest.fixture
def toy_module(toy_row: LibraryRow) -> Any:
    return make_module("toy")


def test_access_opens_nothing_and_a_call_does(toy_module: Any) -> None:
    function = toy_module.status
    assert list(inspect.signature(function).parameters) == ["status"]
    assert function.__doc__.startswith("Calls the C function ``toy_status``")
    assert function.__module__ == "toy_bindings"
    assert "toy" not in _load.opened()
    assert function(0) is None
    assert _load.opened()["toy"].endswith("libtoy.so.1")
    with pytest.raises(RuntimeError, match="status 3"):
        function(status=3)


def test_a_function_is_one_object_for_ever(toy_module: Any) -> None:
    assert "status" not in vars(toy_module)
    first = toy_module.status
    assert toy_module.status is vars(toy_module)["status"] is first
    assert "toy" not in _load.opened()
    first(0)
    assert toy_module.status is vars(toy_module)["status"] is first
    assert toy_module.version is vars(toy_module)["version"]
    assert toy_module.version(1) == 2


def test_private_rows_and_names(toy_module: Any) -> None:
    assert toy_module._library._secret() >= 0
    assert "_secret" not in vars(toy_module)
    listed = dir(toy_module)
    assert {"status", "toyValue", "add", "absent", "Result"} <= set(listed)
    assert "_secret" not in listed
    with pytest.raises(AttributeError, match="module 'toy_bindings' has no attribute 'other'"):
        _ = toy_module.other


def test_a_missing_function_says_where_it_was_looked_for(toy_module: Any, toy_path: Path) -> None:
    assert hasattr(toy_module, "absent")
    with pytest.raises(FunctionNotFoundError) as caught:
        toy_module.absent(1)
    assert str(caught.value) == f"toy_absent is not in Toy 1.2.3 ({toy_path})"
    assert (caught.value.library, caught.value.function) == ("toy", "toy_absent")
    assert isinstance(caught.value, RuntimeError)
    assert not toy_module._library.has("toy_absent")
    assert toy_module._library.has("toy_status")


def test_a_missing_library_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    candidate = Candidate("", ("libnowhere.so.1",))
    row = LibraryRow("nowhere", "Nowhere", "tests", "pip install nowhere", (candidate,), override="NOWHERE_LIBRARY")
    monkeypatch.setitem(LIBRARIES, "nowhere", row)
    module: Any = make_module("nowhere")
    function = module.status
    with pytest.raises(LibraryNotFoundError) as caught:
        function(1)
    lines = str(caught.value).splitlines()
    assert lines[0] == "Nowhere was not found; toy_bindings.status needs it."
    assert "libnowhere.so.1" in lines[1]
    assert "pip install nowhere" in lines[2]
    assert "NOWHERE_LIBRARY" in lines[3]
    assert 5 < len(lines) <= 10
    assert caught.value.library == "nowhere"
    assert isinstance(caught.value, RuntimeError)


def test_enums_are_built_once_and_pickle() -> None:
    assert issubclass(cufft.Type, enum.IntEnum)
    assert cufft.Type is cufft.Type
    assert cufft.Type.C2C == 41
    assert pickle.loads(pickle.dumps(cufft.Type.Z2Z)) is cufft.Type.Z2Z
    assert cufft.Type.__module__ == "nvmath.bindings.cufft"


def test_status_errors() -> None:
    error = cufft.cuFFTError(3)
    assert str(error) == "CUFFT_INVALID_TYPE"
    assert error.status == 3
    assert str(cufft.cuFFTError(99)) == "unknown CUFFT status 99"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.status, str(again)) == (cufft.cuFFTError, 3, "CUFFT_INVALID_TYPE")
    cufft.check_status(0)
    with pytest.raises(cufft.cuFFTError, match=r"^CUFFT_SETUP_FAILED$"):
        cufft.check_status(7)


def test_many_threads_build_one_function(toy_module: Any) -> None:
    stubs = [toy_module.toyValue for _ in range(8)]
    start = threading.Barrier(8)
    found: list[Any] = []

    def work(stub: Any) -> None:
        start.wait()
        assert stub(5) == 5
        found.append(toy_module.toyValue)

    threads = [threading.Thread(target=work, args=(stub,)) for stub in stubs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_prepare_takes_a_function_of_a_library_that_is_not_open(toy_module: Any) -> None:
    a = np.array([2.0])
    call = _seam.prepare(toy_module.add, (0, 0, 3), (1, 0), (a,), lambda: np.zeros(1), b"")
    table = _seam.table(np.ndarray)
    _seam.enter(table, call)
    assert call(a).tolist() == table(a).tolist() == [6.0]
    assert _seam.can_prepare(toy_module.add)
    assert not _seam.can_prepare(lambda a, b, times: None)


def test_repeat_takes_a_function_of_a_library_that_is_not_open(toy_module: Any) -> None:
    import numpy as np

    a, b = np.zeros(3), np.arange(3.0)
    function = toy_module.add
    _seam.repeat(function, (3,), ((8,), (8,), (0,)), (_seam.pointer(a), _seam.pointer(b), 2))
    assert a.tolist() == [0, 2, 4]


class Recorder:
    """Stands in for the toy library."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def toy_status(self, status: int) -> None:
        self.calls.append(("status", status))
        if status:
            raise RuntimeError("refused")

    def toy_version(self, kind: int) -> int:
        return kind * 100

    def toy_add(self, a: int, b: int, times: int) -> None:
        self.calls.append((a, b, times))

    def toy_second_u64(self, a: int) -> int:
        return a


def test_substitution(toy_module: Any) -> None:
    toy_module.status(0)
    before = toy_module.status
    recorder = Recorder()
    toy_module._library.state["x"] = 1
    with _bind.substitute("toy", recorder):
        assert toy_module._library.state == {}
        toy_module.status(0)
        with pytest.raises(RuntimeError, match="refused"):
            toy_module.status(status=4)
        assert toy_module.version(3) == 300
        _seam.repeat(toy_module.add, (2,), ((8,), (16,), (0,)), (1000, 2000, 1))
        assert recorder.calls == [("status", 0), ("status", 4), (1000, 2000, 1), (1008, 2016, 1)]
        assert toy_module._library.has("toy_status")
        assert not toy_module._library.has("toy_i64")
        with pytest.raises(FunctionNotFoundError, match="toy_i64 is not in the substitute for toy"):
            toy_module.toyValue(1)
        other = Recorder()
        with _bind.substitute("toy", other):
            toy_module.status(0)
        toy_module.status(0)
        assert len(other.calls) == 1
        assert len(recorder.calls) == 5
    assert toy_module.status is before
    assert toy_module.status(0) is None
    assert len(recorder.calls) == 5
    assert toy_module.version(3) == 4


def test_a_function_that_is_held_follows_substitution(toy_module: Any) -> None:
    status, version, checked = toy_module.status, toy_module.version, toy_module.second
    for _ in range(2):
        recorder = Recorder()
        with _bind.substitute("toy", recorder):
            with pytest.raises(RuntimeError, match="refused"):
                status(status=4)
            assert version(3) == 300
            assert checked(a=4096) == 4096
            with pytest.raises(ValueError, match=r"second\(\): a needs 2 elements"):
                checked(bytearray(15))
            _seam.repeat(status, (2,), ((0,),), (0,))
            assert not _seam.can_prepare(status)
        assert recorder.calls == [("status", 4), ("status", 0), ("status", 0)]
        assert status(0) is None
        assert version(3) == 4
        assert checked(np.array([5, 7], "u8")) == 7
        assert _seam.can_prepare(status)


def test_a_prepared_call_stays_with_its_library(toy_module: Any) -> None:
    a = np.array([2.0])
    call = _seam.prepare(toy_module.add, (0, 0, 3), (1, 0), (a,), lambda: np.zeros(1), b"")
    with _bind.substitute("toy", Recorder()):
        assert call(a).tolist() == [6.0]


def kinds_of_functions(module: Any) -> list[Any]:
    """A bound one, one whose arrays are measured, one with adapted parameters and one that C does not have."""
    return [module.status, module.second, module.filled, module.absent]


@pytest.fixture
def importable(toy_module: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(sys.modules, "toy_bindings", toy_module)
    return toy_module


def described(function: Any) -> list[Any]:
    kind = [inspect.isroutine(function), function.__name__, function.__qualname__, function.__module__]
    return [*kind, str(inspect.signature(function)), function.__doc__, pydoc.plain(pydoc.render_doc(function))]


def test_functions_are_pickled_and_copied_by_name(importable: Any) -> None:
    functions = kinds_of_functions(importable)
    texts = [[pickle.dumps(function, protocol) for protocol in range(6)] for function in functions]
    before = [described(function) for function in functions]
    assert "toy" not in _load.opened()
    assert functions[0](0) is None
    assert functions[1](np.array([5, 7], "u8")) == 7
    with _bind.substitute("toy", Recorder()):
        functions[0](0)
    for function, pickled in zip(functions, texts, strict=True):
        assert copy.copy(function) is copy.deepcopy(function) is function
        again = [pickle.dumps(function, protocol) for protocol in range(6)]
        assert all(pickle.loads(text) is function for text in pickled + again)
    assert [described(function) for function in kinds_of_functions(importable)] == before
    assert before[0][1:5] == ["status", "status", "toy_bindings", "(status)"]
    assert before[1][1:5] == ["second", "second", "toy_bindings", "(a)"]
    assert "status in module toy_bindings" in before[0][-1]
    assert "Calls the C function ``toy_status``." in before[0][-1]


def test_functions_of_libraries_are_pickled() -> None:
    """Whether the library is installed or not."""
    for name in ("cublas.create", "cudss.create", "cufft.plan1d", "nvpl.blas.dgemm", "cublasLt.logger_set_callback"):
        module_name, _, attribute = f"nvmath.bindings.{name}".rpartition(".")
        module = importlib.import_module(module_name)
        function = getattr(module, attribute)
        assert getattr(module, attribute) is function
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy({"function": [function]}) == {"function": [function]}
        assert (function.__module__, function.__qualname__) == (module_name, attribute)


def test_substitution_opens_nothing(toy_module: Any) -> None:
    with _bind.substitute("toy", Recorder()):
        assert toy_module.version(1) == 100
        assert "toy" not in _load.opened()


def test_only_known_libraries_can_be_substituted() -> None:
    with pytest.raises(KeyError, match="no library is called 'nonsense'"), _bind.substitute("nonsense", object()):
        pass


class Driver:
    """A driver with two devices and an error."""

    def __init__(self, status: int = 0) -> None:
        self.status = status
        self.inits = 0

    def cuInit(self, flags: int) -> None:  # noqa: N802
        self.inits += 1
        _cuda.check_status(self.status)

    def cuDeviceGetCount(self) -> int:  # noqa: N802
        return 2

    def cuGetErrorName(self, status: int) -> tuple[int, str | None]:  # noqa: N802
        return (0, "CUDA_ERROR_NO_DEVICE") if status == 100 else (1, None)

    def cuGetErrorString(self, status: int) -> tuple[int, str | None]:  # noqa: N802
        return (0, "no CUDA-capable device is detected") if status == 100 else (1, None)

    def cuStreamQuery(self, stream: int) -> int:  # noqa: N802
        return stream

    def cuDeviceGetName(self, name: bytearray, length: int, device: int) -> None:  # noqa: N802
        name[:6] = b"device"

    def cuDeviceGetAttribute(self, attribute: int, device: int) -> int:  # noqa: N802
        return attribute - 66


def test_the_driver_is_started_once() -> None:
    driver = Driver()
    with _bind.substitute("cuda", driver):
        assert _cuda.device_count() == 2
        assert _cuda.why_no_device() == ""
        _cuda.initialize()
        assert driver.inits == 1
        assert _cuda.device_name(0) == "device"
        assert _cuda.compute_capability(0) == (9, 10)
        assert _cuda.stream_query(0)
        assert not _cuda.stream_query(600)
        with pytest.raises(_cuda.CudaError, match=r"unknown error: no description \(700\)"):
            _cuda.stream_query(700)


def test_a_driver_that_cannot_start_has_no_devices() -> None:
    with _bind.substitute("cuda", Driver(100)):
        assert _cuda.device_count() == 0
        assert _cuda.why_no_device() == "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected (100)"
        with pytest.raises(_cuda.CudaError) as caught:
            _cuda.initialize()
        error = caught.value
        assert (error.status, error.name) == (100, "CUDA_ERROR_NO_DEVICE")
        assert isinstance(pickle.loads(pickle.dumps(error)), _cuda.CudaError)


class Cufft:
    """cuFFT of some version, as far as LTO callbacks go."""

    def __init__(self, version: int, twelve: bool) -> None:
        self.version = version
        self.calls: list[tuple[Any, ...]] = []
        if twelve:
            setattr(self, "__cufftXtSetJITCallback_12_7", lambda *args: self.calls.append(("12", *args)))

    def cufftGetVersion(self) -> int:  # noqa: N802
        return self.version

    def cufftXtSetJITCallback(self, *args: Any) -> None:  # noqa: N802
        self.calls.append(("plain", *args))


@pytest.mark.parametrize(("version", "twelve"), [(12000, False), (11401, True), (11203, False)])
def test_the_entry_point_for_callbacks_follows_the_version(version: int, twelve: bool) -> None:
    library = Cufft(version, twelve)
    with _bind.substitute("cufft", library):
        cufft.xt_set_jit_callback(1, None, b"code", 4, 0, [64])
    code, info = array("B", b"code"), array("Q", [64])
    expected = {
        12000: ("plain", 1, None, code, 4, 0, info),
        11401: ("12", 1, None, code, 4, 0, info),
        11203: ("plain", 1, code, 4, 0, info),
    }
    assert library.calls == [expected[version]]
    kept = cufft._callbacks[1, 0]  # cuFFT reads them when the plan is made
    assert kept[0] is library.calls[0][-4]
    assert kept[1] is library.calls[0][-1]


def test_values_by_address_and_pointers_that_are_null(toy_module: Any, toy_row: LibraryRow) -> None:
    module: Any = ModuleType("more")
    module._ROWS = """
sum_of = toy_sum(n: i64, i: i32*, q: null, f: f32*, d: null) -> f64
filled = toy_fill(a: null, n: i32)
"""
    bindings = _bind.Bindings("toy", module.__dict__, prefix="toy_", on_error=check_status)
    assert list(inspect.signature(bindings.sum_of).parameters) == ["n", "i", "f"]
    assert bindings.sum_of(1, 3, 0.5) == 3.5
    assert bindings.sum_of(n=1, f=2, i=-7) == -5
    with pytest.raises(OverflowError, match=r"sum_of\(\).*'i'"):
        bindings.sum_of(1, 2**31, 0)
    assert bindings.filled(0) is None


@pytest.mark.parametrize("module", ["cublasLt", "cufft", "cufftMp", "cusparse", "nccl"])
def test_rows_that_are_written_by_hand_have_their_own_header(module: str) -> None:
    """They came after the rows of the last version once, and seemed to belong to it."""
    text = getattr(nvmath.bindings, module)._SPECIAL
    assert next(line for line in text.splitlines() if line and not line.startswith("#")).startswith("@ ")


def test_a_function_of_all_versions_is_not_said_to_be_of_the_newest() -> None:
    assert "of versions" not in cusparse.sp_gemm_estimate_memory_buffersize2.__doc__
    assert "of versions 12.8 and newer" in cusparse._library._sp_mv_op_buffer_size.__doc__
