"""What is asked of cuDSS, over a stand-in that records; numbers are checked on a GPU."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import Any

import numpy as np
import pytest

from nvmath._core import place
from nvmath._core.dtypes import dtype
from nvmath.bindings import cudss
from nvmath.bindings._bind import substitute
from nvmath.sparse.advanced import (
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverOptions,
    SingularSystemError,
)
from nvmath.sparse.advanced import _cudss as rooms
from nvmath.sparse.advanced._config import CudssConfig
from nvmath.sparse.advanced._problem import SystemProblem


class Recorder:
    """Answers like cuDSS 1.0 and remembers every call."""

    def __init__(self, version: tuple[int, int] = (1, 0), info: int = 0, fails: str = "") -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.numbers = count(1000)
        self.version, self.info, self.fails = version, info, fails

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cudss"):
            raise AttributeError(name)

        def call(*arguments: Any) -> Any:
            short = name.removeprefix("cudss")
            self.calls.append((short, arguments))
            if short == self.fails:
                raise cudss.cuDSSError(5)
            if short == "GetProperty":
                return (*self.version, 0)[arguments[0]]
            if short == "DataGet" and arguments[2] == 0:
                ctypes.c_int32.from_address(arguments[3]).value = self.info
            return next(self.numbers) if "Create" in short else None

        return call

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for called, arguments in self.calls if called == name]


class Device:
    device_id = 0
    current = staticmethod(nullcontext)
    wait = staticmethod(lambda stream: None)
    capturing = staticmethod(lambda stream: False)


def problem(shape: tuple[int, ...] = (3,), strides: tuple[int, ...] = (1,)) -> SystemProblem:
    kind, part = DirectSolverMatrixType.SYMMETRIC, DirectSolverMatrixViewType.LOWER
    return SystemProblem(3, 5, dtype("float64"), dtype("int32"), dtype("int64"), kind, part, shape, strides, strides)


PATTERN = np.array([0, 1, 3, 5], np.int32), np.array([0, 0, 1, 1, 2], np.int64)


CONFIGS: list[CudssConfig] = []


@contextmanager
def recorded(**answers: Any) -> Iterator[Recorder]:
    recorder = Recorder(**answers)
    rooms._free.clear()
    with substitute("cudss", recorder):
        try:
            yield recorder
        finally:
            while CONFIGS:
                CONFIGS.pop().close()
            place._garbage.clear()
    rooms._free.clear()


def plan_of(made: SystemProblem, **options: Any) -> rooms.CudssPlan:
    config: Any = CudssConfig(False)
    CONFIGS.append(config)
    return rooms.CudssPlan(made, Device(), config, DirectSolverOptions(**options), None, None, False)  # type: ignore[arg-type]


def test_phases() -> None:
    with recorded() as seen:
        plan = plan_of(problem((3, 2), (1, 7)))
        plan.analyse((1, 2, 3, 4), 77, PATTERN)
        (matrix,) = seen.named("MatrixCreateCsr")
        assert matrix == (3, 3, 5, 1, 0, 2, 3, 10, 24, 1, 1, 1, 0)
        plan.factorize((1, 2, 30, 4), 77)
        assert seen.named("MatrixSetCsrPointers")[-1][1:] == (1, 0, 2, 30)
        plan.launch()(1, 2, 30, 40, 50, 78)
        assert [arguments[1] for arguments in seen.named("Execute")] == [3, 4, 1008]
        assert [arguments[1] for arguments in seen.named("SetStream")] == [77, 78]
        sides = seen.named("MatrixCreateDn")
        assert sides == [(3, 2, 3, 4, 1, 0), (3, 2, 3, 4, 1, 0), (3, 2, 7, 40, 1, 0), (3, 2, 7, 50, 1, 0)]
        solution, right = seen.named("Execute")[-1][5:]
        assert (right, solution) == (1006, 1007) or solution != right


def test_a_factorization_that_fails_is_an_error() -> None:
    with recorded(info=-3) as seen:
        plan = plan_of(problem())
        plan.analyse((1, 2, 3, 4), 0, PATTERN)
        with pytest.raises(SingularSystemError, match="cuDSS reports error -3"):
            plan.factorize((1, 2, 3, 4), 0)
        assert not plan.factorized
        assert seen.named("DataGet")


def test_patterns_that_cudss_cannot_read_are_refused() -> None:
    with recorded() as seen:
        plan = plan_of(problem())
        with pytest.raises(ValueError, match="sum_duplicates"):
            plan.analyse((1, 2, 3, 4), 0, (PATTERN[0], np.array([0, 1, 0, 1, 2])))
        with pytest.raises(ValueError, match="outside of 0 to 2"):
            plan.analyse((1, 2, 3, 4), 0, (PATTERN[0], np.array([0, 0, 1, 1, 3])))
        assert seen.named("MatrixCreateCsr") == []


def test_patterns_are_compared() -> None:
    with recorded():
        plan = plan_of(problem())
        plan.analyse((1, 2, 3, 4), 0, PATTERN)
        assert plan.accepts((9, 9, 9, 9), PATTERN)
        assert not plan.accepts((1, 2, 3, 4), (PATTERN[0], np.array([0, 0, 1, 0, 2])))


def test_an_old_library_is_refused_with_its_version() -> None:
    with recorded(version=(0, 7)), pytest.MonkeyPatch.context() as patch:
        from nvmath.bindings import _load

        found = type("Library", (), {"version": "0.7.1", "path": "/opt/libcudss.so.0"})
        patch.setattr(_load, "open_library", lambda name: found)
        with pytest.raises(RuntimeError, match=r"cuDSS 0\.7\.1 at /opt/libcudss\.so\.0 is too old: version 0\.8 or newer"):
            plan_of(problem())


def test_handles_are_used_again_and_nothing_stays_behind() -> None:
    with recorded() as seen:
        for _ in range(3):
            plan = plan_of(problem())
            plan.analyse((1, 2, 3, 4), 0, PATTERN)
            plan.close()
            while place._garbage:
                destroy, handle = place._garbage.popleft()
                destroy(handle)
        assert len(seen.named("Create")) == 1
        assert len(seen.named("DataCreate")) == len(seen.named("DataDestroy")) == 3
        created = len(seen.named("MatrixCreateCsr")) + len(seen.named("MatrixCreateDn"))
        assert len(seen.named("MatrixDestroy")) == created


def test_a_handle_of_the_caller_is_used_and_kept() -> None:
    with recorded() as seen:
        plan = plan_of(problem(), handle=99)
        assert seen.named("Create") == []
        assert seen.named("DataCreate") == [(99,)]
        plan.close()
        while place._garbage:
            destroy, handle = place._garbage.popleft()
            destroy(handle)
        assert rooms._free == {}


def test_a_failing_creation_leaves_nothing() -> None:
    with recorded(fails="DataCreate") as seen:
        with pytest.raises(cudss.cuDSSError, match="CUDSS_STATUS_EXECUTION_FAILED"):
            plan_of(problem())
        assert len(place._garbage) == 1  # the handle goes back
        assert seen.named("Destroy") == []


def test_threading_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.delenv("CUDSS_THREADING_LIB", raising=False)
    assert rooms.threading_library(DirectSolverOptions()) == ""
    file = tmp_path / "threads.so"
    file.touch()
    monkeypatch.setenv("CUDSS_THREADING_LIB", str(file))
    assert rooms.threading_library(DirectSolverOptions()) == str(file)
    with pytest.raises(ValueError, match=r"no file '/none'.*options\.multithreading_lib"):
        rooms.threading_library(DirectSolverOptions(multithreading_lib="/none"))
    monkeypatch.setenv("CUDSS_THREADING_LIB", "/none")
    with pytest.raises(ValueError, match="CUDSS_THREADING_LIB"):
        rooms.threading_library(DirectSolverOptions())


def test_written_sizes_are_read_back() -> None:
    assert array("Q", [0]).itemsize == 8
