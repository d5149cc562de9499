"""Generic products over the fake driver: handles, streams, scratch memory and lifetimes."""
# ruff: noqa: N802, the names of the C functions

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
from fake.driver import FakeCuda, Trace, recorded

import nvmath
from nvmath._core import place
from nvmath.bindings._bind import substitute
from nvmath.bindings._cuda import CudaError
from nvmath.bindings.cublas import cuBLASError
from nvmath.linalg import (
    DiagonalMatrixQualifier,
    FillMode,
    GeneralMatrixQualifier,
    Matmul,
    SymmetricMatrixQualifier,
    TriangularMatrixQualifier,
    matmul,
    matrix_qualifiers_dtype,
)
from nvmath.linalg.generic import _handles


class FakeCublas:
    """A cuBLAS that computes nothing, but says which memory a product uses, and where it is queued."""

    def __init__(self, trace: Trace, cuda: FakeCuda) -> None:
        self.trace, self.cuda = trace, cuda
        self.stream_of: dict[int, int] = {}
        self.made = 0

    def current_device(self) -> int:
        return self.cuda.current_device() or 0

    @recorded
    def cublasCreate_v2(self) -> int:
        self.made += 1
        self.stream_of[self.made] = 0
        return self.made

    @recorded
    def cublasDestroy_v2(self, handle: int) -> None:
        if self.stream_of.pop(handle, None) is None:
            self.cuda.hazard("a handle was destroyed twice")

    @recorded
    def cublasSetStream_v2(self, handle: int, stream: int) -> None:
        self.stream_of[handle] = stream

    def _use(self, handle: int, *addresses: int) -> None:
        stream = self.stream_of[handle]
        self.cuda.queued(stream)
        self.cuda.touch(stream, *addresses)

    @recorded
    def cublasGemmEx(self, handle: int, *rest: Any) -> None:
        self._use(handle, rest[6], rest[9], rest[13])

    @recorded
    def cublasGemmStridedBatchedEx(self, handle: int, *rest: Any) -> None:
        self._use(handle, rest[6], rest[10], rest[15])

    @recorded
    def cublasSsymm_v2(self, handle: int, *rest: Any) -> None:
        self._use(handle, rest[5], rest[7], rest[10])

    @recorded
    def cublasStrmm_v2(self, handle: int, *rest: Any) -> None:
        self._use(handle, rest[7], rest[9], rest[11])


@recorded
def cuMemcpyDtoDAsync_v2(self: Any, target: int, source: int, nbytes: int, stream: int) -> None:
    self.queued(stream)
    self.touch(stream, target, source)


@pytest.fixture
def blas(gpu, monkeypatch):
    monkeypatch.setattr(type(gpu.cuda), "cuMemcpyDtoDAsync_v2", cuMemcpyDtoDAsync_v2, raising=False)
    monkeypatch.setattr(_handles, "_handles", _handles._Handles())
    fake = FakeCublas(gpu.trace, gpu.cuda)
    with substitute("cublas", fake):
        yield fake
        gpu.leaks()
        _handles._handles.of_device.clear()
        place.reap()
        assert fake.stream_of == {}


@pytest.fixture
def operands(gpu):
    return [gpu.array(shape, "float32") for shape in ((64, 32), (32, 48), (64, 48))]


def qualified(first: Any) -> Any:
    import numpy as np

    general = GeneralMatrixQualifier.create()
    return np.array([first, general, general], matrix_qualifiers_dtype)


def test_addresses_and_the_stream(gpu, blas, operands):
    a, b, _ = operands
    stream = gpu.stream()
    with Matmul(a, b) as product:
        product.plan()
        d = product.execute(stream=stream)
        (call,) = gpu.trace.calls("cublasGemmEx")
        # row-major: the transposes are multiplied in the other order
        assert (call.args[7], call.args[10], call.args[14]) == (b.ptr, a.ptr, d.ptr)
        assert call.stream == stream


def test_the_stream_is_set_when_it_changes(gpu, blas, operands):
    a, b, _ = operands
    first, second = gpu.stream(), gpu.stream()
    with Matmul(a, b) as product:
        product.plan()
        results = [product.execute(stream=stream) for stream in (first, first, second, first)]
        assert [call.args[1] for call in gpu.trace.calls("cublasSetStream_v2")] == [first, second, first]
        gpu.cuda.synchronize()
        del results


def test_one_handle_for_a_thread(gpu, blas, operands):
    a, b, _ = operands
    for _ in range(3):
        with Matmul(a, b) as product:
            product.plan()
            product.execute()
    assert blas.made == 1

    def work() -> None:
        matmul(a, b)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert blas.made == 2
    gc.collect()
    place.reap()
    assert list(blas.stream_of) == [1]  # that of the thread that ended is gone


def test_the_second_execute_allocates_its_result_only(gpu, blas, operands):
    a, b, _ = operands
    with Matmul(a, b) as product:
        product.plan()
        product.execute()
        gpu.forget()
        product.execute()
        assert gpu.names("take", "take_buffer", "cublasGemmEx", "cuLaunchKernel", "cublasSetStream_v2") == [
            "take",
            "cublasGemmEx",
        ]


def test_c_is_copied_unless_it_is_overwritten(gpu, blas, operands):
    a, b, c = operands
    work = "cuLaunchKernel", "cuMemcpyDtoDAsync_v2", "cublasGemmEx"
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan()
        product.execute()
        assert gpu.names(*work) == ["cuMemcpyDtoDAsync_v2", "cublasGemmEx"]
        gpu.forget()
        product.reset_operands(beta=0.0)
        product.execute()
        assert gpu.names(*work) == ["cublasGemmEx"]
        product.reset_operands(beta=1.0)
    gpu.forget()
    with Matmul(a, b, gpu.array((64, 48), "float32", strides=(50, 1)), beta=1.0) as product:
        product.plan()
        product.execute()
        assert gpu.names(*work) == ["cuLaunchKernel", "cublasGemmEx"]
    gpu.forget()
    with Matmul(a, b, c, beta=1.0, options={"inplace": True}) as product:
        product.plan()
        assert product.execute() is c
        assert gpu.names(*work) == ["cublasGemmEx"]


def test_nothing_is_multiplied_by_zero(gpu, blas, operands):
    a, b, c = operands
    matmul(a, b, c, alpha=0.0, beta=2.0)
    assert gpu.names("cuLaunchKernel", "cublasGemmEx") == ["cuLaunchKernel"]


def test_copies_of_what_cannot_be_read_are_ordered(gpu, blas):
    a, b = gpu.array((64, 32), "float32", strides=(64, 2)), gpu.array((32, 48), "float32")
    stream = gpu.stream()
    with Matmul(a, b) as product:
        product.plan()
        for _ in range(2):
            product.execute(stream=stream)
        assert gpu.count("cuLaunchKernel") == 2
        assert set(gpu.streams_of("cuLaunchKernel", "cublasGemmEx")) == {stream}


def test_a_triangular_product_in_place(gpu, blas):
    a, b, c = (gpu.array(shape, "float32") for shape in ((64, 64), (64, 48), (64, 48)))
    q = qualified(TriangularMatrixQualifier.create(uplo=FillMode.UPPER))
    with Matmul(a, b, c, beta=1.0, qualifiers=q, options={"inplace": True}) as product:
        product.plan()
        for _ in range(2):
            assert product.execute() is c
        assert gpu.names("cublasStrmm_v2", "cuLaunchKernel") == ["cublasStrmm_v2", "cuLaunchKernel"] * 2


def test_a_batch_of_symmetric_matrices(gpu, blas):
    small, large = (gpu.array((2, extent, extent), "float32") for extent in (64, 512))
    q = qualified(SymmetricMatrixQualifier.create())[:2]
    matmul(small, small, qualifiers=q)
    assert gpu.names("cuLaunchKernel", "cublasGemmStridedBatchedEx", "cublasSsymm_v2") == [
        "cuLaunchKernel",
        "cublasGemmStridedBatchedEx",
    ]
    gpu.forget()
    matmul(large, large, qualifiers=q)
    assert gpu.names("cuLaunchKernel", "cublasGemmStridedBatchedEx", "cublasSsymm_v2") == ["cublasSsymm_v2"] * 2


def test_references_go_with_release(gpu, blas, operands):
    a, b, c = operands
    refs = [weakref.ref(each) for each in operands]
    product = Matmul(a, b, c, beta=1.0)
    product.plan()
    product.execute()
    operands.clear()
    del a, b, c
    product.release_operands()
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3
    product.free()


def test_a_call_that_fails_can_be_tried_again(gpu, blas, operands):
    a, b, _ = operands
    with Matmul(a, b) as product:
        product.plan()
        gpu.fail("cublasGemmEx", error=cuBLASError(13))
        with pytest.raises(cuBLASError, match="EXECUTION_FAILED"):
            product.execute()
        product.execute()


def test_a_handle_that_cannot_be_made(gpu, blas, operands):
    a, b, _ = operands
    product = Matmul(a, b)
    gpu.fail("cublasCreate_v2", error=cuBLASError(1))
    with pytest.raises(cuBLASError, match="NOT_INITIALIZED"):
        product.plan()
    product.plan()
    product.execute()
    product.free()


def test_one_call_plans_once(gpu, blas, operands):
    a, b, _ = operands
    for _ in range(3):
        matmul(a, b)
    assert nvmath.plan_cache.info().misses == 1
    assert gpu.count("cublasGemmEx") == 3


def test_capture_and_replay(gpu, blas, operands):
    a, b, _ = operands
    matmul(a, b)
    stream = gpu.stream()
    with gpu.capture(stream) as graph, gpu.package.stream(stream):
        result = matmul(a, b)
    nvmath.plan_cache.clear()
    gpu.cuda.synchronize()
    graph.replay(stream)
    graph.destroy()
    del result


def test_host_operands_across(gpu, blas):
    import numpy as np

    a, b, c = np.ones((4, 3), "f"), np.ones((3, 2), "f"), np.ones((4, 2), "f")
    with Matmul(a, b, c, beta=1.0, options={"inplace": True}, execution="cuda") as product:
        product.plan()
        uploads = gpu.count("cuMemcpyHtoDAsync_v2")
        assert product.execute() is c
        product.reset_operands(a=a + 1)
        assert gpu.count("cuMemcpyHtoDAsync_v2") == uploads + 1
        product.execute()


def test_host_operands_stay_on_the_host_by_default(gpu, blas):
    import numpy as np

    np.testing.assert_array_equal(matmul(np.eye(2), np.eye(2)), np.eye(2))
    assert gpu.count("cublasGemmEx") == 0


def test_sequences(gpu, blas, operands):
    a, b, _ = operands
    other = gpu.array((16, 32), "float32")
    assert len(matmul([a, other], [b])) == 2
    assert gpu.count("cublasGemmEx") == 2


def test_a_forked_child_forgets_the_handles_of_its_parent(gpu, blas, operands):
    a, b, _ = operands
    matmul(a, b)
    _handles._heir._after_fork()
    gc.collect()
    place.reap()
    assert blas.stream_of.pop(1) == 0  # not destroyed: it is the parent's
    matmul(a, b)
    assert blas.made == 2


def test_a_capture_needs_a_handle_that_is_there(gpu, blas, operands):
    a, b, _ = operands
    matmul(a, b)
    _handles._handles.of_device.clear()  # as in a thread that has computed nothing yet
    place.reap()
    stream = gpu.stream()
    with (
        gpu.capture(stream) as graph,
        gpu.package.stream(stream),
        pytest.raises(RuntimeError, match="no cuBLAS handle yet"),
    ):
        matmul(a, b)
    graph.destroy()
    matmul(a, b)


# --- graphs, and the memory and kernels of steps of our own -----------------------------------------------------------


def strided_factor(gpu):
    return Matmul(gpu.array((64, 32), "float32", strides=(64, 2)), gpu.array((32, 48), "float32"))


def result_that_cannot_be_written(gpu):
    a, b = gpu.array((64, 32), "float32"), gpu.array((32, 48), "float32")
    return Matmul(a, b, gpu.array((64, 48), "float32", strides=(96, 2)), beta=1.0, options={"inplace": True})


def triangle_in_place(gpu):
    a, b, c = (gpu.array(shape, "float32") for shape in ((64, 64), (64, 48), (64, 48)))
    q = qualified(TriangularMatrixQualifier.create(uplo=FillMode.UPPER))
    return Matmul(a, b, c, beta=1.0, qualifiers=q, options={"inplace": True})


def diagonal_of_a_structured_matrix(gpu):
    import numpy as np

    a, b = gpu.array((64,), "float32"), gpu.array((64, 64), "float32")
    q = np.array([DiagonalMatrixQualifier.create(), SymmetricMatrixQualifier.create()], matrix_qualifiers_dtype)
    return Matmul(a, b, qualifiers=q)


STEPWISE = [strided_factor, result_that_cannot_be_written, triangle_in_place, diagonal_of_a_structured_matrix]


@pytest.mark.parametrize("make", STEPWISE)
def test_memory_of_steps_stays_for_the_graph_that_uses_it(gpu, blas, make):
    stream, other = gpu.stream(), gpu.stream()
    with make(gpu) as product:
        product.plan()
        product.execute(stream=stream)
        gpu.cuda.synchronize()
        with gpu.capture(stream) as graph:
            results = [product.execute(stream=stream) for _ in range(2)]
        assert not graph.broken
        assert len(gpu.cuda.live()) == 1  # both calls share it, one after the other
        gpu.cuda.synchronize()
        graph.replay(stream)
        results.append(product.execute(stream=other))  # in memory of its own, at the same time
        assert len(gpu.cuda.live()) == 1
        gpu.end_graphs()
    assert gpu.cuda.live() == []


@pytest.mark.parametrize("make", STEPWISE)
def test_memory_of_steps_goes_back_with_each_call_otherwise(gpu, blas, make):
    stream = gpu.stream()
    with make(gpu) as product:
        product.plan()
        results = [product.execute(stream=stream) for _ in range(2)]
        assert gpu.workspaces == 2
        assert gpu.cuda.live() == []
        gpu.fail("cuLaunchKernel")
        with pytest.raises(CudaError):
            product.execute(stream=stream)
        assert gpu.cuda.live() == []
    assert len(results) == 2


@pytest.mark.parametrize("make", STEPWISE)
def test_planning_loads_the_kernels(gpu, blas, make):
    stream = gpu.stream()
    with make(gpu) as product:
        product.plan()
        loaded = gpu.count("cuModuleLoadData")
        assert loaded
        with gpu.capture(stream) as graph:
            result = product.execute(stream=stream)
        assert not graph.broken
        assert gpu.count("cuModuleLoadData") == loaded
        gpu.end_graphs()
    del result


def test_a_kernel_that_only_a_captured_call_needs_does_not_end_the_capture(gpu, blas, operands):
    a, b, c = operands
    stream = gpu.stream()
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan()
        product.reset_operands(alpha=0.0)
        with gpu.capture(stream) as graph:
            result = product.execute(stream=stream)
        assert not graph.broken
        assert [call.name for call in graph.calls] == ["cuLaunchKernel"]
        gpu.end_graphs()
    del result
