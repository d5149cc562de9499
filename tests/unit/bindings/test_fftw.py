"""The FFTW3 interface over the library that is installed, against NumPy; and over a substitute."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nvmath.bindings import _bind, _load, _seam
from nvmath.bindings.nvpl import fft

PRECISIONS = {"double": (64, np.complex128, np.float64, 1e-13), "float": (32, np.complex64, np.float32, 1e-5)}
pointer = _seam.pointer


@pytest.fixture(scope="module")
def library() -> fft.LibraryInfo:
    if _load.find_library("fftw") is None:
        pytest.skip("no FFT library with the FFTW3 interface (mkl, nvpl-fft or fftw)")
    return fft.fftw_library()


@pytest.fixture(params=PRECISIONS)
def precision(request: pytest.FixtureRequest, library: fft.LibraryInfo) -> Iterator[str]:
    yield request.param
    fft.plan_with_nthreads(PRECISIONS[request.param][0], 1)


def complex_array(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def strides(array: np.ndarray) -> list[int]:
    return [stride // array.itemsize for stride in array.strides]


def guru(
    kind: int, sign: int, precision: str, a: np.ndarray, b: np.ndarray, axes: tuple[int, ...], **more: Any
) -> None:
    """Plans, executes and destroys a transform over `axes`; the shape is that of the real (or larger) side."""
    code = PRECISIONS[precision][0]
    shape = b.shape if kind == 2 else a.shape
    entries = list(zip(shape, strides(a), strides(b), strict=True))
    dims = [entries[axis] for axis in axes]
    howmany = [entry for axis, entry in enumerate(entries) if axis not in axes]
    plan = fft.plan_guru(code, kind, sign, dims, howmany, pointer(a), pointer(b), **more)
    try:
        execute = getattr(fft, f"execute_{ {1: 'c2c', 2: 'c2r', 3: 'r2c'}[kind] }_{precision}")
        execute(plan, pointer(a), pointer(b))
    finally:
        fft.destroy_guru(code, plan)


def close(a: np.ndarray, b: np.ndarray, precision: str) -> bool:
    return bool(np.linalg.norm(a - b) <= PRECISIONS[precision][3] * np.linalg.norm(b))


def test_the_library_says_what_it_is(library: fft.LibraryInfo) -> None:
    assert library.flavour in ("mkl", "nvpl", "fftw")
    assert library.version[:1].isdigit()
    assert library.path
    assert fft.get_version() > 0


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("shape", "axes"), [((12,), (0,)), ((6, 8), (1,)), ((6, 8), (0,)), ((6, 8), (0, 1)), ((3, 4, 5), (1, 2))]
)
def test_guru_c2c(precision: str, sign: int, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    a = complex_array(shape, PRECISIONS[precision][1])
    before, b = a.copy(), np.empty_like(a)
    guru(1, sign, precision, a, b, axes, num_threads=2)
    expected = np.fft.fftn(a, axes=axes) if sign < 0 else np.fft.ifftn(a, axes=axes, norm="forward")
    assert close(b, expected, precision)
    assert np.array_equal(a, before)


def test_guru_takes_strides_and_works_in_place(precision: str) -> None:
    base = complex_array((9, 16), PRECISIONS[precision][1])
    a = base[::2, ::-2]
    b = np.zeros((5, 8), base.dtype, order="F")
    guru(1, -1, precision, a, b, (1,))
    assert close(b, np.fft.fft(a), precision)
    c = np.ascontiguousarray(a)
    guru(1, -1, precision, c, c, (0, 1))
    assert close(c, np.fft.fft2(a), precision)


def test_guru_r2c_and_c2r(precision: str) -> None:
    _, complex_type, real_type, _ = PRECISIONS[precision]
    r = np.random.default_rng(1).standard_normal((4, 6, 7)).astype(real_type)
    c = np.empty((4, 6, 4), complex_type)
    guru(3, -1, precision, r, c, (1, 2))
    assert close(c, np.fft.rfft2(r), precision)
    back = np.empty_like(r)
    guru(2, 1, precision, c, back, (1, 2))
    assert close(back / 42, r, precision)


def test_repeat_runs_a_plan_over_a_loop(precision: str) -> None:
    code, dtype, _, _ = PRECISIONS[precision]
    a = complex_array((3, 5, 8), dtype)
    b = np.empty((5, 3, 8), dtype).transpose(1, 0, 2)
    plan = fft.plan_guru(code, 1, -1, [(8, 1, 1)], [], pointer(a), pointer(b), flags=64 | fft.UNALIGNED)
    execute = getattr(fft, f"execute_c2c_{precision}")
    _seam.repeat(execute, (3, 5), ((0, 0), a.strides[:2], b.strides[:2]), (plan, pointer(a), pointer(b)))
    fft.destroy_guru(code, plan)
    assert close(b, np.fft.fft(a), precision)


def test_one_plan_serves_several_threads(precision: str) -> None:
    code, dtype, _, _ = PRECISIONS[precision]
    inputs = [complex_array((64,), dtype, seed) for seed in range(4)]
    plan = fft.plan_guru(
        code, 1, -1, [(64, 1, 1)], [], pointer(inputs[0]), pointer(inputs[1]), flags=64 | fft.UNALIGNED
    )
    execute = getattr(fft, f"execute_c2c_{precision}")
    wrong: list[int] = []

    def work(seed: int) -> None:
        a, b = inputs[seed], np.empty_like(inputs[seed])
        for _ in range(200):
            execute(plan, pointer(a), pointer(b))
            if not close(b, np.fft.fft(a), precision):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fft.destroy_guru(code, plan)
    assert not wrong


def test_no_plan_is_an_error(library: fft.LibraryInfo) -> None:
    with pytest.raises(fft.FFTWError, match="made no plan for dims"):
        fft.plan_guru(64, 1, -1, [(-5, 1, 1)], [], 4096, 4096)
    with pytest.raises(ValueError, match=r"precision must be Precision\.FLOAT"):
        fft.plan_guru(16, 1, -1, [(4, 1, 1)], [], 4096, 4096)


def test_plan_many(precision: str) -> None:
    code, dtype, _, _ = PRECISIONS[precision]
    a = complex_array((6, 8), dtype)
    before, b = a.copy(), np.empty_like(a)
    layout = (1, (8,), 6, pointer(a), (8,), 1, 8, pointer(b), None, 1, 8)
    plan = fft.plan_many(fft.Precision(code), fft.Kind.C2C, fft.Sign.UNSPECIFIED, *layout, fft.PlannerFlags.ESTIMATE)
    assert np.array_equal(a, before)
    fft.execute(plan, pointer(a), pointer(b), fft.Sign.FORWARD)
    assert close(b, np.fft.fft(a), precision)
    fft.execute(plan, pointer(a), pointer(b), fft.Sign.INVERSE)
    assert close(b, np.fft.ifft(a, norm="forward"), precision)
    with pytest.raises(fft.FFTWError, match="the plan has the sign -1, 1, not 0"):
        fft.execute(plan, pointer(a), pointer(b), fft.Sign.UNSPECIFIED)
    with pytest.raises(fft.FFTWUnaligned, match=f"multiples of {code // 4} bytes"):
        fft.execute(plan, pointer(a) + 4, pointer(b), -1)
    fft.destroy(plan)
    fft.destroy(plan)
    with pytest.raises(fft.FFTWError, match="destroyed"):
        fft.execute(plan, pointer(a), pointer(b), -1)


def test_plans_of_one_direction(precision: str) -> None:
    code, complex_type, real_type, _ = PRECISIONS[precision]
    r = np.random.default_rng(2).standard_normal((3, 8)).astype(real_type)
    c = np.empty((3, 5), complex_type)
    plan = fft.plan_many(code, fft.Kind.R2C, 0, 1, [8], 3, pointer(r), None, 1, 8, pointer(c), None, 1, 5, 1)
    fft.execute(plan, pointer(r), pointer(c), 0)
    assert close(c, np.fft.rfft(r), precision)
    with pytest.raises(fft.FFTWError, match="the plan has the sign -1, not 1"):
        fft.execute(plan, pointer(r), pointer(c), 1)
    fft.destroy(plan)
    with pytest.raises(fft.FFTWError, match="no plan of sign 1"):
        fft.plan_many(code, fft.Kind.R2C, 1, 1, [8], 3, pointer(r), None, 1, 8, pointer(c), None, 1, 5, 1)
    back = np.empty_like(r)
    make = getattr(fft, f"plan_many_c2r_{precision}")
    handle = make(1, [8], 3, pointer(c), None, 1, 5, pointer(back), None, 1, 8, fft.PlannerFlags.ESTIMATE)
    getattr(fft, f"execute_c2r_{precision}")(handle, pointer(c), pointer(back))
    getattr(fft, f"destroy_plan_{precision}")(handle)
    assert close(back / 8, r, precision)


def test_a_plan_can_stand_for_its_address(library: fft.LibraryInfo) -> None:
    a = complex_array((8,), np.complex128)
    b = np.empty_like(a)
    plan = fft.plan_many(64, 1, -1, 1, [8], 1, pointer(a), None, 1, 8, pointer(b), None, 1, 8, 1)
    fft.execute_c2c_double(plan, pointer(a), pointer(b))
    fft.destroy(plan)
    assert close(b, np.fft.fft(a), "double")


def test_threads_of_the_planner(precision: str) -> None:
    code = PRECISIONS[precision][0]
    fft.plan_with_nthreads(code, 2)
    assert fft.planner_nthreads(code) == 2
    fft.plan_with_nthreads(code, 1)
    assert fft.planner_nthreads(code) == 1


class Recorder:
    """Records what reaches the library."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        if name == "nvpl_fft_get_version" or not name.startswith("fftw"):
            raise AttributeError(name)

        def call(*arguments: Any) -> int:
            self.calls.append((name, *arguments))
            return 0 if "absent" in arguments else 4096

        return call


def test_flags_become_those_of_fftw3() -> None:
    recorder = Recorder()
    layout = (1, (8,), 1, 0, None, 1, 8, 0, None, 1, 8)
    with _bind.substitute("fftw", recorder):
        for flag in fft.PlannerFlags.__members__.values():
            fft.plan_many_c2c_double(*layout, -1, flag)
        with pytest.raises(ValueError, match="flags must be a value of PlannerFlags"):
            fft.plan_many_c2c_double(*layout, -1, 64)
    planned = [call[-1] - fft.UNALIGNED for call in recorder.calls if "plan_many" in call[0]]
    assert planned == [64, 0, 32, 8, 1 << 21]


def test_planning_prepares_threads_once_and_sets_them_when_they_change() -> None:
    recorder = Recorder()
    with _bind.substitute("fftw", recorder):
        for threads in (2, 2, 3, None):
            fft.plan_guru(32, 3, -1, [(8, 1, 1)], [(2, 8, 5)], 64, 128, num_threads=threads)
        assert fft.fftw_library().flavour == "fftw"
    plan = ("fftwf_plan_guru64_dft_r2c", 1, (8, 1, 1), 1, (2, 8, 5), 64, 128, 64)
    threads = "fftwf_plan_with_nthreads"
    assert recorder.calls == [("fftwf_init_threads",), (threads, 2), plan, plan, (threads, 3), plan, plan]


def test_every_public_function_has_a_true_signature_and_a_docstring() -> None:
    for name in dir(fft):
        value = getattr(fft, name)
        if callable(value) and getattr(value, "__module__", "") == fft.__name__ and not name.startswith("_"):
            assert value.__doc__, name
            if not isinstance(value, type):
                inspect.signature(value)
