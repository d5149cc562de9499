"""Algorithms and auxiliary outputs: which algorithm is launched, what an edit changes, what autotuning touches."""

from __future__ import annotations

import gc
import json
import pickle
import random
import weakref

import numpy as np
import pytest
from fake.cublaslt import FakeCublasLt

import nvmath
from nvmath.bindings import cublasLt
from nvmath.bindings._bind import substitute
from nvmath.bindings.cublasLt import cuBLASLtError
from nvmath.linalg.advanced import (
    Algorithm,
    AutotuneReport,
    Matmul,
    MatmulEpilog,
    _handles,
    matmul,
    matmul_heuristic_result_dtype,
)


@pytest.fixture(params=[0, 4096], ids=["no workspace", "workspace"])
def lt(request, gpu, monkeypatch):
    cuda = type(gpu.cuda)

    def copied(self, destination, source, nbytes, stream):
        self.queued(stream)
        self.touch(stream, destination, source)
        self.trace.copied.append((destination, source, nbytes))

    monkeypatch.setattr(_handles, "_handles", {})
    monkeypatch.setattr(cuda, "cuDeviceTotalMem_v2", lambda self, device: 1 << 30, raising=False)
    monkeypatch.setattr(cuda, "cuDriverGetVersion", lambda self: 13000, raising=False)
    monkeypatch.setattr(cuda, "_device_get_name", lambda self, *rest: None, raising=False)
    monkeypatch.setattr(cuda, "cuDeviceGetName", lambda self, text, length, device: None, raising=False)
    monkeypatch.setattr(cuda, "cuEventElapsedTime", lambda self, start, end: 1.0 + start % 7, raising=False)
    monkeypatch.setattr(cuda, "cuMemcpyDtoDAsync_v2", copied, raising=False)
    gpu.trace.copied = []
    fake = FakeCublasLt(gpu.trace, gpu.cuda, request.param)
    fake.candidates = 4
    with substitute("cublasLt", fake):
        yield fake
        nvmath.plan_cache.clear()
        gpu.leaks()
        assert fake.live() == []


@pytest.fixture
def operands(gpu):
    return [gpu.array(shape, "float32") for shape in ((256, 128), (128, 192), (256, 192), (256,))]


def launched(gpu):
    """The addresses of the algorithms of every product."""
    return [call.args[12] for call in gpu.trace.calls("cublasLtMatmul")]


def test_a_plan_returns_what_the_library_proposes(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        assert product.algorithms is None
        algorithms = product.plan(preferences={"limit": 3})
        assert product.algorithms is algorithms
        assert [each.algorithm_id for each in algorithms] == [1, 2, 3]
        assert {each.workspace_nbytes for each in algorithms} == {lt.workspace_nbytes}
        assert len(product.plan()) == 4
        assert product.applicable_algorithm_ids(2) == (10, 11)
        with pytest.raises(ValueError, match="limit must be at least 1"):
            product.applicable_algorithm_ids(0)


def test_the_algorithm_of_a_call(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product, Matmul(a, b) as other:
        algorithms = product.plan()
        for chosen in (None, *algorithms, None):
            product.execute(algorithm=chosen)
        addresses = [each.address for each in algorithms]
        assert launched(gpu) == [addresses[0], *addresses, addresses[0]]
        foreign = other.plan()[0]
        for wrong in (foreign, 1, "first"):
            with pytest.raises(ValueError, match=r"has to be included in the plan\(\) algorithms"):
                product.execute(algorithm=wrong)


def test_given_algorithms_are_used_as_they_are(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        second = pickle.loads(pickle.dumps(product.plan()))[1]
    asked = gpu.count("cublasLtMatmulAlgoGetHeuristic")
    with Matmul(a, b) as product:
        assert product.plan(algorithms=[second]) == (second,)
        product.execute()
        assert gpu.count("cublasLtMatmulAlgoGetHeuristic") == asked
        assert launched(gpu) == [second.address]
        with pytest.raises(AssertionError, match="must hold Algorithm objects"):
            product.plan(algorithms=[3])
        with pytest.raises(ValueError, match="algorithms is empty"):
            product.plan(algorithms=[])
    asked = gpu.count("cublasLtMatmulAlgoGetHeuristic")
    matmul(a, b, algorithm=second)
    assert gpu.count("cublasLtMatmulAlgoGetHeuristic") == asked
    assert launched(gpu)[-1] == second.address


def test_an_edit_has_an_effect(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        first, *_ = product.plan()
        product.execute()
        before = first.workspace_nbytes
        first.split_k = 20
        first.tile = (64, 32)
        assert (first.split_k, first.tile) == (20, (64, 32))
        product.execute()
        assert gpu.count("cublasLtMatmulAlgoCheck") == 4  # every algorithm of the plan, once
        call = gpu.trace.calls("cublasLtMatmul")[-1]
        assert (call.args[12], call.args[14]) == (first.address, 20 * 1024)
        assert call.args[13] != 0
        product.execute()
        assert gpu.count("cublasLtMatmulAlgoCheck") == 4
        assert first.workspace_nbytes == before  # what it is in this plan is the plan's business


def test_an_edit_that_the_library_refuses(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        first, *_ = product.plan()
        first.split_k = 101
        for _ in range(2):
            with pytest.raises(cuBLASLtError, match="NOT_SUPPORTED") as caught:
                product.execute()
            assert "was edited, or comes from another product" in caught.value.__notes__[0]
        first.split_k = 1
        product.execute()
        with pytest.raises(KeyError, match="is no tile"):
            first.tile = (7, 7)
        with pytest.raises(ValueError, match="must be an integer"):
            first.split_k = "x"


def test_autotune_leaves_the_users_arrays_alone(gpu, lt, operands):
    a, b, c, _ = operands
    with Matmul(a, b, c, beta=1.0, options={"inplace": True}) as product:
        product.plan()
        gpu.forget()
        gpu.trace.copied = []
        report = product.autotune(iterations=2)
        products = gpu.trace.calls("cublasLtMatmul")
        assert len(products) == 3 * 4  # a round to warm up
        assert all(c.ptr not in (call.args[8], call.args[10]) for call in products)
        assert {(source, nbytes) for _, source, nbytes in gpu.trace.copied} == {(c.ptr, 256 * 192 * 4)}
        assert gpu.count("cuMemsetD8Async") == len(products)
        assert sorted(row.algorithm.algorithm_id for row in report.rows) == [1, 2, 3, 4]
        gpu.forget()
        product.execute()
        (call,) = gpu.trace.calls("cublasLtMatmul")
        assert call.args[10] == c.ptr


@pytest.mark.parametrize("at", [1, 3, 6])
def test_autotune_that_fails_waits_before_memory_goes_back(gpu, lt, at):
    stream, failing = gpu.stream(), cuBLASLtError(13)
    with Matmul(np.ones((64, 32), "f"), np.ones((32, 48), "f"), execution="cuda") as product:
        product.plan()
        gpu.cuda.synchronize()
        gpu.fail("cublasLtMatmul", at, failing)
        with pytest.raises(cuBLASLtError):
            product.autotune(iterations=2, stream=stream)
        product.execute()
    assert gpu.leaks() == []


def test_autotune_sorts_and_prunes(gpu, lt, operands, monkeypatch):
    a, b, _, _ = operands
    monkeypatch.setattr(
        random, "sample", lambda population, k: list(population)
    )  # then the order of the events is known
    with Matmul(a, b) as product:
        planned = product.plan()
        times = iter([5.0, 9.0, 4.0, 7.0] * 20)
        monkeypatch.setattr(type(gpu.cuda), "cuEventElapsedTime", lambda self, start, end: next(times))
        report = product.autotune(iterations=3, prune=2)
        assert [row.median_ms for row in report.rows] == [4.0, 5.0, 7.0, 9.0]
        assert product.algorithms == (planned[2], planned[0])
        assert report.speedup == 5 / 4
        assert planned[2].score_ms == 4.0
        product.execute()
        assert launched(gpu)[-1] == planned[2].address
        for keywords in ({"iterations": 0}, {"prune": 0}, {"prune": -1}):
            with pytest.raises(ValueError, match="must be at least"):
                product.autotune(**keywords)
        text = str(report)
        assert "rank" in text
        assert "1.250 times as fast" in text


def test_autotune_before_a_plan_or_without_operands(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
            product.autotune()
        product.plan()
        product.release_operands()
        with pytest.raises(RuntimeError, match="released"):
            product.autotune()


def test_results_on_disk(gpu, lt, operands, monkeypatch, tmp_path):
    a, b, _, _ = operands
    monkeypatch.setenv("NVMATH_AUTOTUNE_DIR", str(tmp_path / "tuned"))
    with Matmul(a, b) as product:
        product.plan()
        report = product.autotune(iterations=1)
        report.save(tmp_path / "report.json")
    asked = gpu.count("cublasLtMatmulAlgoGetHeuristic")
    with Matmul(a, b) as product:
        (best, *_) = product.plan()
        assert gpu.count("cublasLtMatmulAlgoGetHeuristic") == asked
        np.testing.assert_array_equal(
            best.as_numpy()["algo"]["data_"], report.algorithms[0].as_numpy()["algo"]["data_"]
        )
    with Matmul(a, gpu.array((128, 64), "float32")) as product:
        product.plan()
        assert gpu.count("cublasLtMatmulAlgoGetHeuristic") > asked  # another problem
    (kept,) = (tmp_path / "tuned").iterdir()
    json.loads(kept.read_text())
    for damage in ("", "{}", kept.read_text().replace("algorithm", "x")):
        kept.write_text(damage)
        with Matmul(a, b) as product:
            product.plan()
    loaded = AutotuneReport.load(tmp_path / "report.json")
    assert [row.times_ms for row in loaded.rows] == [row.times_ms for row in report.rows]
    with pytest.raises(ValueError, match="is no report"):
        AutotuneReport.load(kept)


def test_algorithms_as_arrays(lt, gpu, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        first, *_ = product.plan()
    array = first.as_numpy()
    assert (array.nbytes, array.shape) == (96, (1,))
    again = Algorithm.from_numpy(array)
    assert again.algorithm_id == first.algorithm_id
    again.split_k = 3
    assert first.split_k != 3
    for bad, message in ((np.zeros(1), "dtype"), (np.concatenate([array, array]), "one algorithm")):
        with pytest.raises(ValueError, match=message):
            Algorithm.from_numpy(bad)
    with pytest.raises(AssertionError, match="made by"):
        Algorithm(3)


def test_a_forgotten_product_goes_at_once(gpu, lt, operands):
    a, b, _, _ = operands
    product = Matmul(a, b)
    algorithms = product.plan()
    product.execute()
    product.autotune(iterations=1)
    ref = weakref.ref(product)
    gc.disable()
    try:
        del product
        assert ref() is None
    finally:
        gc.enable()
    algorithms[0].split_k = 2  # nobody is told


def test_the_struct_is_that_of_the_bindings():
    struct = cublasLt.MatmulHeuristicResult()
    assert struct.dtype == matmul_heuristic_result_dtype
    algorithm = Algorithm(struct)
    struct.workspace_size = 7
    assert (algorithm.workspace_nbytes, algorithm.algorithm.workspace_size, algorithm.address) == (7, 7, struct.ptr)


def test_auxiliary_outputs_are_new_at_each_call(gpu, lt, operands):
    a, b, _, bias = operands
    stream = gpu.stream()
    with Matmul(a, b) as product:
        product.plan(epilog=MatmulEpilog.RELU_AUX_BIAS, epilog_inputs={"bias": bias})
        seen = []
        for chosen in (None, stream):
            result, outputs = product.execute(stream=chosen)
            mask = outputs["relu_aux"]
            assert (mask.shape, mask.strides) == ((32, 192), (1, 32))
            assert set(lt.auxiliary.values()) == {mask.ptr}
            seen.append((result, mask))
        assert len({mask.ptr for _, mask in seen}) == 2
        out = gpu.array((256, 192), "float32", strides=(1, 256))
        result, outputs = product.execute(out=out)
        assert result is out
        assert list(outputs) == ["relu_aux"]
    result, outputs = matmul(a, b, epilog=MatmulEpilog.RELU_AUX)
    mask = outputs["relu_aux"]
    result, outputs = matmul(a, b, epilog=MatmulEpilog.DRELU_BGRAD, epilog_inputs={"relu_aux": mask})
    assert set(lt.bias.values()) >= {outputs["drelu_bgrad"].ptr}
    assert lt.auxiliary != {}


def test_auxiliary_outputs_of_host_operands(gpu, lt):
    a, b = np.ones((16, 8), "f"), np.ones((8, 24), "f")
    with Matmul(a, b, execution="cuda") as product:
        product.plan(epilog="gelu_aux")
        downloads = gpu.count("cuMemcpyDtoHAsync_v2")
        _, outputs = product.execute()
        assert type(outputs["gelu_aux"]) is np.ndarray
        assert outputs["gelu_aux"].shape == (16, 24)
        assert gpu.count("cuMemcpyDtoHAsync_v2") == downloads + 2
