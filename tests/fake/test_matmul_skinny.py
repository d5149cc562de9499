"""Our own kernel beside the algorithms of cuBLASLt: who proposes it, what is launched, how it is stored and found again."""

from __future__ import annotations

import ctypes
import pickle
import random

import numpy as np
import pytest
from fake.cublaslt import FakeCublasLt
from fake.driver import recorded

import nvmath
from nvmath._core import kernels
from nvmath.bindings import _nvrtc
from nvmath.bindings._bind import substitute
from nvmath.bindings._errors import LibraryNotFoundError
from nvmath.bindings._nvrtc import NvrtcError
from nvmath.linalg.advanced import Algorithm, AutotuneReport, Matmul, _handles, _skinny, _skinny_form, matmul
from nvmath.linalg.advanced._skinny_shape import RECIPES

ROWS, K, COLUMNS = 4096, 10, 40


def cuLaunchKernel(self, function, *rest):  # noqa: N802, the name of the C function
    """The only argument of the kernel begins with five addresses."""
    *_, stream, parameters, _ = rest
    self.queued(stream)
    given = _skinny._Arguments.from_address(ctypes.c_void_p.from_address(parameters).value)
    self.touch(stream, *(address for address in (given.x, given.y, given.c, given.bias, given.d) if address))


@pytest.fixture
def lt(gpu, monkeypatch):
    cuda = type(gpu.cuda)
    monkeypatch.setattr(cuda, "cuLaunchKernel", recorded(cuLaunchKernel))
    monkeypatch.setattr(_handles, "_handles", {})
    monkeypatch.setattr(cuda, "cuDeviceTotalMem_v2", lambda self, device: 1 << 30, raising=False)
    monkeypatch.setattr(cuda, "cuDriverGetVersion", lambda self: 13000, raising=False)
    monkeypatch.setattr(cuda, "cuDeviceGetName", lambda self, text, length, device: None, raising=False)
    monkeypatch.setattr(cuda, "cuMemcpyDtoDAsync_v2", lambda self, *rest: None, raising=False)
    monkeypatch.setattr(_skinny, "_resident", lambda place, function, threads, multiprocessors: multiprocessors or 132)
    monkeypatch.setattr(_skinny, "find_library", lambda name: "libnvrtc.so")
    monkeypatch.setattr(_skinny_form, "_LEAST_NBYTES", 1 << 19)
    monkeypatch.setattr(random, "sample", lambda population, k: list(population))  # the order of the events is known
    fake = FakeCublasLt(gpu.trace, gpu.cuda, 0)
    fake.candidates = 2
    with substitute("cublasLt", fake):
        yield fake
        nvmath.plan_cache.clear()
        gpu.leaks()
        assert fake.live() == []


@pytest.fixture
def operands(gpu):
    return [gpu.array(shape, "float32") for shape in ((ROWS, K), (K, COLUMNS), (ROWS, COLUMNS))]


def tuned(gpu, monkeypatch, product, winner, **options):
    """Autotune so that the candidate at a position is the fastest."""

    def times():
        while True:
            for index in range(2 + len(RECIPES)):
                yield 1.0 if index == winner else 1.5 + index / 100

    found = times()
    monkeypatch.setattr(type(gpu.cuda), "cuEventElapsedTime", lambda self, start, end: next(found), raising=False)
    return product.autotune(iterations=1, **options)


def arguments(gpu):
    """What the last kernel got."""
    call = gpu.trace.calls("cuLaunchKernel")[-1]
    return call, _skinny._Arguments.from_address(ctypes.c_void_p.from_address(call.args[-2]).value)


def test_a_plan_never_proposes_it(gpu, lt, operands):
    a, b, c = operands
    with Matmul(a, b, c, beta=0.5) as product:
        assert [each.own for each in product.plan()] == [None, None]
        product.execute()
        assert gpu.names("cublasLtMatmul", "cuLaunchKernel") == ["cublasLtMatmul"]


def test_autotune_measures_it_and_execute_uses_the_winner(gpu, lt, operands, monkeypatch):
    a, b, c = operands
    with Matmul(a, b, c, alpha=2.0, beta=0.5) as product:
        first, _ = product.plan()
        report = tuned(gpu, monkeypatch, product, 3)
        across = [number for number in range(len(RECIPES)) if number in {row.algorithm.own for row in report.rows}]
        assert across == list(range(len(RECIPES)))  # C order takes every recipe
        assert len(report.rows) == 2 + len(RECIPES)
        (best, *_) = product.algorithms
        assert best.own == 1
        gpu.forget()
        result = product.execute()
        assert gpu.names("cublasLtMatmul", "cuLaunchKernel") == ["cuLaunchKernel"]
        call, given = arguments(gpu)
        assert (given.x, given.y, given.c, given.d) == (a.ptr, b.ptr, c.ptr, result.ptr)
        assert (given.length, given.x_long, given.d_long, given.y_k) == (ROWS, K, COLUMNS, COLUMNS)
        assert (list(given.alpha), list(given.beta)) == ([2.0, 0.0], [0.5, 0.0])
        assert call.args[1] == min(132, ROWS // 256)  # blocks: four rows for each of 64 groups of threads
        product.execute(algorithm=first)
        assert gpu.names("cublasLtMatmul", "cuLaunchKernel") == ["cuLaunchKernel", "cublasLtMatmul"]
        product.reset_operands(alpha=3.0, beta=0.0)
        product.execute()
        assert (arguments(gpu)[1].alpha[0], arguments(gpu)[1].beta[0]) == (3.0, 0.0)


def test_autotune_again_measures_each_once(gpu, lt, operands, monkeypatch):
    a, b, c = operands
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan()
        tuned(gpu, monkeypatch, product, 0)
        assert len(tuned(gpu, monkeypatch, product, 4).rows) == 2 + len(RECIPES)
        assert len(tuned(gpu, monkeypatch, product, 4, prune=2).rows) == 2 + len(RECIPES)
        assert len(product.algorithms) == 2


def test_whoever_gives_algorithms_gets_no_others(gpu, lt, operands, monkeypatch):
    a, b, _ = operands
    with Matmul(a, b) as product:
        given = product.plan()
        product.plan(algorithms=given)
        assert [each.own for each in tuned(gpu, monkeypatch, product, 0).algorithms] == [None, None]


@pytest.mark.parametrize(
    "shapes", [((64, K), (K, COLUMNS)), ((4096, 512), (512, 512))], ids=["little", "much to compute"]
)
def test_no_rival_where_the_memory_is_not_the_bound(gpu, lt, monkeypatch, shapes):
    a, b = (gpu.array(shape, "float32") for shape in shapes)
    with Matmul(a, b) as product:
        product.plan()
        assert [row.algorithm.own for row in tuned(gpu, monkeypatch, product, 0).rows] == [None, None]


def test_no_rival_without_nvrtc(gpu, lt, operands, monkeypatch):
    monkeypatch.setattr(_skinny, "find_library", lambda name: None)
    a, b, _ = operands
    with Matmul(a, b) as product:
        product.plan()
        assert len(tuned(gpu, monkeypatch, product, 0).rows) == 2


@pytest.mark.parametrize(
    "error",
    [NvrtcError(5), LibraryNotFoundError("NVRTC is not here")],
    ids=["unknown GPU", "no NVRTC"],
)
def test_a_compiler_that_fails_leaves_the_product_to_the_library(gpu, lt, operands, monkeypatch, tmp_path, error):
    def fail(*given, **more):
        raise error

    a, b, _ = operands
    monkeypatch.setenv("NVMATH_AUTOTUNE_DIR", str(tmp_path))
    with Matmul(a, b) as product:
        product.plan()
        best, *_ = tuned(gpu, monkeypatch, product, 2).algorithms
        assert best.own == 0
    kernels._functions.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_nvrtc, "compile", fail)
        with Matmul(a, b) as product:
            assert [each.own for each in product.plan()] == [None, None]  # what was kept cannot be used
            if isinstance(error, NvrtcError):
                assert len(tuned(gpu, monkeypatch, product, 0).rows) == 2
        with Matmul(a, b) as product, pytest.raises(RuntimeError, match="cannot be compiled here"):
            product.plan(algorithms=[best])


def test_it_is_an_algorithm_like_any_other(gpu, lt, operands, monkeypatch):
    a, b, c = operands
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan()
        best, *_ = tuned(gpu, monkeypatch, product, 4).algorithms
        assert (best.own, best.algorithm_id, best.on_cpu) == (2, 10_002, False)
        assert (best.workspace_nbytes, best.waves_count, best.split_k, best.tile, best.stages) == (
            0,
            1.0,
            1,
            "UNDEFINED",
            "UNDEFINED",
        )
        assert (best.capabilities.splitk_support, best.capabilities.tile_ids) == (0, None)
        assert "kernel 2 of nvmath" in repr(best)
        with pytest.raises(ValueError, match="has nothing that can be set"):
            best.split_k = 2
        for again in (Algorithm.from_numpy(best.as_numpy()), pickle.loads(pickle.dumps(best))):
            assert again.own == 2
            gpu.forget()
            matmul(a, b, c, beta=1.0, algorithm=again)
            with Matmul(a, b, c, beta=1.0) as other:
                assert other.plan(algorithms=[again]) == (again,)
                other.execute()
            assert gpu.names("cublasLtMatmul", "cuLaunchKernel") == ["cuLaunchKernel"] * 2


def test_an_algorithm_that_does_not_fit_is_refused(gpu, lt, operands, monkeypatch):
    a, b, _ = operands
    with Matmul(a, b) as product:
        product.plan()
        best, *_ = tuned(gpu, monkeypatch, product, 2).algorithms
    strange = Algorithm.from_numpy(best.as_numpy())
    strange.algorithm.algo.data_[1] = 1000
    wide = gpu.array((ROWS, 200), "float32"), gpu.array((200, 200), "float32")
    for pair, algorithm in ((wide, best), ((a, b), strange)):
        with Matmul(*pair) as product, pytest.raises(RuntimeError, match="cannot compute this product"):
            product.plan(algorithms=[algorithm])


def test_results_on_disk_name_it(gpu, lt, operands, monkeypatch, tmp_path):
    a, b, c = operands
    monkeypatch.setenv("NVMATH_AUTOTUNE_DIR", str(tmp_path / "tuned"))
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan()
        tuned(gpu, monkeypatch, product, 5).save(tmp_path / "report.json")
    with Matmul(a, b, c, beta=1.0) as product:
        assert product.plan()[0].own == 3
        gpu.forget()
        product.execute()
        assert gpu.names("cublasLtMatmul", "cuLaunchKernel") == ["cuLaunchKernel"]
        again = tuned(gpu, monkeypatch, product, 0)
        assert len({row.algorithm.own for row in again.rows} - {None}) == len(RECIPES)
    assert AutotuneReport.load(tmp_path / "report.json").algorithms[0].own == 3
    monkeypatch.setattr(_skinny, "RECIPES", ())  # as if an older version read what a newer one kept
    with Matmul(a, b, c, beta=1.0) as product:
        assert [each.own for each in product.plan()] == [None, None]


def test_in_a_graph(gpu, lt, operands, monkeypatch):
    a, b, c = operands
    stream = gpu.stream()
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan()
        tuned(gpu, monkeypatch, product, 2)
        product.execute(stream=stream)
        with gpu.capture(stream) as graph:
            product.execute(stream=stream)
        assert [call.name for call in graph.calls] == ["cuLaunchKernel"]
        assert graph.broken == ""
        graph.destroy()


def test_the_part_of_the_gpu_that_may_be_used(gpu, lt, operands, monkeypatch):
    a, b, _ = operands
    with Matmul(a, b, options={"sm_count_target": 3}) as product:
        product.plan()
        tuned(gpu, monkeypatch, product, 2)
        product.execute()
        assert arguments(gpu)[0].args[1] == 3


def test_autotune_in_place_leaves_c_alone(gpu, lt, operands, monkeypatch):
    a, b, c = operands
    with Matmul(a, b, c, beta=1.0, options={"inplace": True}) as product:
        product.plan()
        gpu.forget()
        tuned(gpu, monkeypatch, product, 2)
        seen = [
            _skinny._Arguments.from_address(ctypes.c_void_p.from_address(call.args[-2]).value)
            for call in gpu.trace.calls("cuLaunchKernel")
        ]
        assert seen
        assert all(c.ptr not in (each.c, each.d) for each in seen)
        assert product.execute() is c
        assert (arguments(gpu)[1].c, arguments(gpu)[1].d) == (c.ptr, c.ptr)


def test_operands_of_the_host(gpu, lt, monkeypatch):
    a, b = np.ones((ROWS, K), "f"), np.ones((K, COLUMNS), "f")
    with Matmul(a, b, execution="cuda") as product:
        product.plan()
        tuned(gpu, monkeypatch, product, 2)
        gpu.forget()
        assert type(product.execute()) is np.ndarray
        assert gpu.names("cublasLtMatmul", "cuLaunchKernel") == ["cuLaunchKernel"]
