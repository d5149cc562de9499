"""Streams, logs, forks, memory managers, and what the import costs."""

import gc
import logging
import os
import subprocess
import sys

import numpy as np
import pytest

import nvmath
from nvmath._core import errors, log
from nvmath._core.fork import Children
from nvmath._core.stream import device_of, handle_of, resolve

# --- streams ----------------------------------------------------------------------------------------------------------


class WithProtocol:
    def __cuda_stream__(self):
        return (0, 7)


class WithProperty:
    __cuda_stream__ = (0, 7)


class LikeCupy:
    ptr, device_id = 7, 1


class LikeTorch:
    cuda_stream, device_index = 7, 1


@pytest.mark.parametrize("stream", [7, np.int64(7), WithProtocol(), WithProperty(), LikeCupy(), LikeTorch()])
def test_whatever_stands_for_a_stream(stream):  # R110
    assert handle_of(stream) == 7


@pytest.mark.parametrize("stream", ["7", 7.0, True, None, object(), [7], b"7", np.ones(1)])
def test_what_is_no_stream(stream):
    with pytest.raises(TypeError, match=f"__cuda_stream__; got {type(stream).__name__}"):
        handle_of(stream)


def test_the_device_of_a_stream():
    assert device_of(LikeCupy()) == device_of(LikeTorch()) == 1
    assert device_of(7) is device_of(WithProtocol()) is None
    assert device_of(type("Null", (), {"device_id": -1})()) is None


def test_a_stream_of_another_device_is_refused():
    class Adapter:
        current_stream = staticmethod(lambda device: 40 + device)

    assert resolve(None, Adapter, 2) == 42
    assert resolve(7, Adapter, 0) == 7
    assert resolve(LikeTorch(), Adapter, 1) == 7
    with pytest.raises(ValueError, match="belongs to device 1, but the operands are processed on device 0"):
        resolve(LikeTorch(), Adapter, 0)


# --- log and warnings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0.00 B"), (1023, "1023.00 B"), (1536, "1.50 KiB"), (5 << 20, "5.00 MiB"), (3 << 40, "3072.00 GiB")],
)
def test_readable_sizes(nbytes, text):
    assert log.readable(nbytes) == text


def test_timing_is_for_those_who_listen(caplog):
    logger = logging.getLogger("quiet")
    with caplog.at_level(logging.WARNING), log.timed(logger, "This"):
        pass
    assert not caplog.records
    with caplog.at_level(logging.INFO), log.timed(logger, "This"):
        pass
    assert "This took" in caplog.text
    assert "ms" in caplog.text


def test_a_phase_that_fails_is_not_timed(caplog):
    with caplog.at_level(logging.INFO), pytest.raises(ZeroDivisionError), log.timed(logging.getLogger("quiet"), "This"):
        raise ZeroDivisionError
    assert not caplog.records


def test_a_warning_points_at_the_caller():
    with pytest.warns(errors.UngradedWarning) as caught:
        errors.warn("text", errors.UngradedWarning)
    assert caught[0].filename == __file__


def test_one_tree_of_state_errors():
    assert issubclass(nvmath.fft.InvalidFFTState, errors.InvalidStateError)
    assert issubclass(errors.UngradedWarning, UserWarning)
    assert errors.join((None, "a", 1)) == "None, 'a', 1"


# --- forks ------------------------------------------------------------------------------------------------------------


def test_generations():
    children = Children()
    assert children.generation == 0
    assert not children.openmp_is_unsafe()
    children.born()
    assert children.generation == 1


def test_gnu_openmp_is_what_makes_a_child_careful(monkeypatch):
    from nvmath._core import fork

    children = Children()
    children.born()
    for loaded in (True, False):
        monkeypatch.setattr(fork, "_gnu_openmp_is_loaded", lambda loaded=loaded: loaded)
        assert children.openmp_is_unsafe() is loaded


# --- memory managers --------------------------------------------------------------------------------------------------


def test_a_memory_pointer_is_freed_once():
    calls = []
    pointer = nvmath.MemoryPointer(4096, 16, lambda: calls.append(1))
    assert (pointer.device_ptr, pointer.size) == (4096, 16)
    pointer.free()
    assert calls == [1]
    with pytest.raises(RuntimeError, match="already been freed"):
        pointer.free()
    del pointer
    gc.collect()
    assert calls == [1]


def test_a_forgotten_memory_pointer_is_freed():
    calls = []
    pointer = nvmath.MemoryPointer(4096, 16, lambda: calls.append(1))
    del pointer
    gc.collect()
    assert calls == [1]


def test_a_memory_pointer_without_finalizer_is_freed_any_number_of_times():
    pointer = nvmath.MemoryPointer(4096, 16, finalizer=None)
    pointer.free()
    pointer.free()


def test_a_memory_pointer_is_freed_at_exit():
    code = "import nvmath; p = nvmath.MemoryPointer(1, 1, lambda: print('freed')); p.me = p"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("freed\n", "")


class Synchronous:
    def memalloc(self, size):
        return nvmath.MemoryPointer(1, size, None)


class Ordered:
    def memalloc_async(self, size, stream):
        return nvmath.MemoryPointer(1, size, None)


def test_managers_are_recognised_by_their_method():
    assert isinstance(Synchronous(), nvmath.BaseCUDAMemoryManager)
    assert isinstance(Ordered(), nvmath.BaseCUDAMemoryManagerAsync)
    assert not isinstance(Synchronous(), nvmath.BaseCUDAMemoryManagerAsync)
    assert not isinstance(object(), nvmath.BaseCUDAMemoryManager)


@pytest.mark.parametrize("base", [nvmath.BaseCUDAMemoryManager, nvmath.BaseCUDAMemoryManagerAsync])
def test_a_manager_must_implement_its_method(base):
    class Nothing(base):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="abstract"):
        Nothing()


def allocate(manager, nbytes=64, stream=5):
    from nvmath._core.memory import from_user

    return from_user(manager, 0)(nbytes, stream)


@pytest.mark.parametrize("name", ["device_ptr", "device_pointer", "ptr", "pointer"])
def test_where_an_address_may_be(name):
    owner = type("Owner", (), {name: 4096})()

    class Manager:
        def memalloc(self, size):
            return owner

    assert allocate(Manager()) == (4096, owner)


def test_a_memory_object_without_an_address():
    class Manager:
        def memalloc(self, size):
            return object()

    with pytest.raises(AttributeError, match="device_ptr, device_pointer, ptr, pointer"):
        allocate(Manager())


def test_the_ordered_method_is_preferred_and_gets_a_stream():
    seen = []

    class Manager:
        def memalloc(self, size):
            raise AssertionError

        def memalloc_async(self, size, stream):
            seen.append((size, handle_of(stream)))
            return nvmath.MemoryPointer(8, size, None)

    assert allocate(Manager(), 100, 9)[0] == 8
    assert seen == [(100, 9)]


def test_a_type_error_of_an_allocator_names_the_protocol():
    class Manager:
        def memalloc(self):
            """Takes no size."""

    with pytest.raises(TypeError, match=r"Manager does not conform to nvmath\.BaseCUDAMemoryManager"):
        allocate(Manager())


def test_other_errors_of_an_allocator_pass_through():
    class Manager:
        def memalloc(self, size):
            raise MemoryError("none left")

    with pytest.raises(MemoryError, match="none left"):
        allocate(Manager())


# --- the import -------------------------------------------------------------------------------------------------------


def in_a_new_process(code, **environment):
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout.strip()


def test_the_import_opens_no_library_and_imports_no_framework():  # R108
    found = in_a_new_process("""
import sys
before = set(sys.modules)
import nvmath, nvmath.fft, nvmath.memory, nvmath.bindings
from nvmath.bindings import _load
tops = {name.partition(".")[0] for name in sys.modules}
heavy = {"torch", "cupy", "scipy", "numba", "numba_cuda", "cuda", "mkl"} & tops
print(_load.opened(), sorted(heavy))
""")
    assert found == "{} []"


def test_the_top_level_alone_imports_nothing_of_a_domain():
    assert (
        in_a_new_process("import sys, nvmath; print('nvmath.fft' in sys.modules, 'numpy' in sys.modules)")
        == "False False"
    )


def test_names_are_found_lazily_and_listed():
    assert set(nvmath.__all__) <= set(dir(nvmath))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = nvmath.nonsense
    assert (
        in_a_new_process("import nvmath; print(nvmath.fft.fft.__name__, nvmath.ComputeType.COMPUTE_32F.value)")
        == "fft 4"
    )


@pytest.mark.parametrize(
    "order", ["numpy nvmath", "nvmath numpy", "scipy.fft nvmath", "nvmath scipy.fft", "torch nvmath", "nvmath torch"]
)
def test_any_order_of_imports_works(order):  # R106
    for name in order.split():
        if name != "nvmath":
            pytest.importorskip(name.partition(".")[0], reason=f"{name} is not installed")
    imports = "\n".join(f"import {name}" for name in order.split())
    code = f"{imports}\nimport numpy as np, nvmath\nprint(nvmath.fft.fft(np.ones((256, 256), complex))[0, 0].real)"
    assert in_a_new_process(code, PYTHONWARNINGS="ignore") == "65536.0"


def test_the_original_in_the_same_environment_is_refused(tmp_path):
    (tmp_path / "nvmath_python-1.0.0.dist-info").mkdir()
    run = subprocess.run(
        [sys.executable, "-c", "import nvmath"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )  # fmt: skip
    assert run.returncode != 0
    assert "pip uninstall nvmath-python" in run.stderr
