"""The life cycle with several operands: which addresses reach the library, in which order, and what stays behind."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import weakref
from types import SimpleNamespace

import pytest
from fake.cublaslt import FakeCublasLt

import nvmath
from nvmath.bindings import _cuda as driver
from nvmath.bindings._bind import substitute
from nvmath.bindings.cublasLt import cuBLASLtError
from nvmath.linalg.advanced import Matmul, MatmulEpilog, _custom, _finish, _gpu, _handles, matmul

RELU_BIAS = MatmulEpilog.RELU_BIAS


@pytest.fixture(params=[0, 4096], ids=["no workspace", "workspace"])
def lt(request, gpu, monkeypatch):
    monkeypatch.setattr(_handles, "_handles", {})
    monkeypatch.setattr(type(gpu.cuda), "cuDeviceTotalMem_v2", lambda self, device: 1 << 30, raising=False)
    fake = FakeCublasLt(gpu.trace, gpu.cuda, request.param)
    with substitute("cublasLt", fake):
        yield fake
        nvmath.plan_cache.clear()
        gpu.leaks()
        assert fake.live() == []


@pytest.fixture
def operands(gpu):
    return [gpu.array(shape, "float32") for shape in ((64, 32), (32, 48), (64, 48), (64,))]


def launched(gpu):
    """The addresses of A, B, C, D of every product, and its stream."""
    return [
        (call.args[3], call.args[5], call.args[8], call.args[10], call.args[15])
        for call in gpu.trace.calls("cublasLtMatmul")
    ]


def test_addresses(gpu, lt, operands):
    a, b, c, bias = operands
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan(epilog=RELU_BIAS, epilog_inputs={"bias": bias})
        d = product.execute()
        assert lt.bias == {next(iter(lt.bias)): bias.ptr}
        # C is row-major, the bias wants a column-major result: C is copied
        (first,) = launched(gpu)
        assert (first[0], first[1], first[3]) == (a.ptr, b.ptr, d.ptr)
        assert first[2] != c.ptr
        product.plan()
        d = product.execute()
        assert launched(gpu)[1] == (b.ptr, a.ptr, c.ptr, d.ptr, 0)


def test_out_at_an_odd_address_is_filled_by_a_copy(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        product.plan()
        fine, odd = gpu.array((64, 48), "float32"), gpu.array((64, 48), "float32", offset=4)
        assert product.execute(out=fine) is fine
        assert product.execute(out=odd) is odd
        first, second = (call[3] for call in launched(gpu))
        assert first == fine.ptr
        assert second != odd.ptr


def test_in_place_writes_into_c(gpu, lt, operands):
    a, b, c, _ = operands
    with Matmul(a, b, c, beta=1.0, options={"inplace": True}) as product:
        product.plan()
        gpu.forget()
        assert product.execute() is c
        assert launched(gpu) == [(b.ptr, a.ptr, c.ptr, c.ptr, 0)]
        other = gpu.array((64, 48), "float32")
        product.reset_operands(c=other)
        assert product.execute() is other


def test_the_second_execute_allocates_its_result_only(gpu, lt, operands):
    a, b, _, bias = operands
    with Matmul(a, b) as product:
        product.plan(epilog=RELU_BIAS, epilog_inputs={"bias": bias})
        product.execute()
        gpu.forget()
        product.execute()
        assert gpu.names("take", "take_buffer", "cublasLtMatmulDescSetAttribute", "cublasLtMatmul") == [
            "take",
            "cublasLtMatmul",
        ]


def test_a_reset_of_some_keeps_the_others(gpu, lt, operands):
    a, b, _, bias = operands
    with Matmul(a, b) as product:
        product.plan(epilog=RELU_BIAS, epilog_inputs={"bias": bias})
        swapped, late = gpu.array((32, 48), "float32"), gpu.array((64,), "float32")
        product.reset_operands(b=swapped)
        product.reset_operands(epilog_inputs={"bias": late}, alpha=2.0)  # the long way round, after a swap
        product.execute()
        assert launched(gpu)[-1][:2] == (a.ptr, swapped.ptr)
        assert set(lt.bias.values()) == {late.ptr}


def test_references_go_with_release(gpu, lt, operands):
    a, b, c, bias = operands
    refs = [weakref.ref(each) for each in operands]
    product = Matmul(a, b, c, beta=1.0)
    product.plan(epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": bias})
    product.execute()
    operands.clear()
    del a, b, c, bias
    product.release_operands()
    gc.collect()
    assert [ref() for ref in refs] == [None] * 4
    product.free()


def test_a_swap_lets_go_of_the_old_operand(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        product.plan()
        ref = weakref.ref(a)
        product.reset_operands(a=gpu.array((64, 32), "float32"))
        operands.clear()
        del a
        gc.collect()
        assert ref() is None


@pytest.mark.parametrize(
    "name", ["cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatmulAlgoGetHeuristic"]
)
def test_a_plan_that_fails_leaves_nothing_and_can_be_made_again(gpu, lt, operands, name):
    a, b, _, bias = operands
    product = Matmul(a, b)
    gpu.fail(name, error=cuBLASLtError(14))
    with pytest.raises(cuBLASLtError, match="INTERNAL_ERROR"):
        product.plan(epilog=RELU_BIAS, epilog_inputs={"bias": bias})
    with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
        product.execute()
    gpu.leaks()
    assert lt.live() == []
    product.plan(epilog=RELU_BIAS, epilog_inputs={"bias": bias})
    product.execute()
    product.free()


def test_a_launch_that_fails_can_be_tried_again(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        product.plan()
        gpu.fail("cublasLtMatmul", error=cuBLASLtError(13))
        with pytest.raises(cuBLASLtError, match="EXECUTION_FAILED"):
            product.execute()
        product.execute()


def test_two_streams(gpu, lt, operands):
    a, b, _, _ = operands
    first, second = gpu.stream(), gpu.stream()
    with Matmul(a, b) as product:
        product.plan()
        results = [product.execute(stream=stream) for stream in (first, second, first)]
        assert [each[4] for each in launched(gpu)] == [first, second, first]
        gpu.cuda.synchronize()
        del results


def test_copies_of_what_cannot_be_read_are_ordered(gpu, lt):
    a, b = gpu.array((64, 32), "float32", strides=(64, 2)), gpu.array((32, 48), "float32")
    stream = gpu.stream()
    with Matmul(a, b) as product:
        product.plan()
        gpu.forget()
        for _ in range(2):
            product.execute(stream=stream)
        assert gpu.count("cuLaunchKernel") == 2
        assert set(gpu.streams_of("cuLaunchKernel", "cublasLtMatmul")) == {stream}


def test_an_operand_of_another_alignment_makes_another_plan(gpu, lt, operands):
    a, b, _, _ = operands
    with Matmul(a, b) as product:
        product.plan()
        before = gpu.count("cublasLtMatmulDescCreate")
        product.reset_operands(a=gpu.array((64, 32), "float32"))
        assert gpu.count("cublasLtMatmulDescCreate") == before
        product.reset_operands(a=gpu.array((64, 32), "float32", offset=4))
        assert gpu.count("cublasLtMatmulDescCreate") == before + 1
        product.execute()


def test_one_call_plans_once(gpu, lt, operands):
    a, b, _, bias = operands
    for _ in range(3):
        matmul(a, b, epilog=RELU_BIAS, epilog_inputs={"bias": bias})
    assert gpu.count("cublasLtMatmulDescCreate") == 1
    assert gpu.count("cublasLtMatmul") == 3
    other = gpu.array((64,), "float32")
    matmul(a, b, epilog=RELU_BIAS, epilog_inputs={"bias": other})
    assert gpu.count("cublasLtMatmulDescCreate") == 1
    assert other.ptr in lt.bias.values()


def test_a_captured_plan_outlives_the_cache(gpu, lt, operands):
    a, b, _, _ = operands
    matmul(a, b)
    stream = gpu.stream()
    with gpu.capture(stream) as graph, gpu.package.stream(stream):
        result = matmul(a, b)
    nvmath.plan_cache.clear()
    assert lt.live() != []
    gpu.cuda.synchronize()
    graph.replay(stream)
    graph.destroy()
    del result
    nvmath.plan_cache.clear(captured=True)
    nvmath._core.place.reap()
    assert lt.live() == []


def test_host_operands_across(gpu, lt):
    import numpy as np

    a, b, c = np.ones((4, 3), "f"), np.ones((3, 2), "f"), np.ones((4, 2), "f")
    with Matmul(a, b, c, beta=1.0, options={"inplace": True}, execution="cuda") as product:
        product.plan()
        uploads = gpu.count("cuMemcpyHtoDAsync_v2")
        assert product.execute() is c
        product.reset_operands(a=a + 1)
        assert gpu.count("cuMemcpyHtoDAsync_v2") == uploads + 1
        product.execute()
        (first, second) = launched(gpu)
        assert first[:4] == second[:4]
        assert first[2] == first[3]


def test_how_many_functions_of_ours_a_call_enters(gpu, operands, monkeypatch):
    """Without a workspace: `execute`, and one function that allocates, sets what changed and launches."""
    monkeypatch.setattr(_handles, "_handles", {})
    monkeypatch.setattr(type(gpu.cuda), "cuDeviceTotalMem_v2", lambda self, device: 1 << 30, raising=False)
    a, b, _, bias = operands
    entered, home = [], os.path.dirname(nvmath.__file__)

    def profile(frame, event, argument):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith((home, "<a product")):
            entered.append(frame.f_code.co_name)

    with substitute("cublasLt", FakeCublasLt(gpu.trace, gpu.cuda, 0)), Matmul(a, b) as product:
        product.plan(epilog=RELU_BIAS, epilog_inputs={"bias": bias})
        product.execute()
        before = sys.getprofile()
        sys.setprofile(profile)
        product.execute()
        sys.setprofile(before)
    assert [name for name in entered if name != "__getattr__"][:3] == ["execute", "_now", "run"]
    assert len(entered) <= 5


# --- graphs, and the memory and kernels of steps of our own -----------------------------------------------------------


def strided_factor(gpu):
    return Matmul(gpu.array((64, 32), "float32", strides=(64, 2)), gpu.array((32, 48), "float32")), {}


def result_that_cannot_be_written(gpu):
    a, b = gpu.array((64, 32), "float32"), gpu.array((32, 48), "float32")
    c = gpu.array((64, 48), "float32", strides=(96, 2))
    return Matmul(a, b, c, beta=1.0, options={"inplace": True}), {}


def alpha_of_zero(gpu):
    return Matmul(gpu.array((64, 32), "float32"), gpu.array((32, 48), "float32"), alpha=0.0), {}


def sum_in_single_precision(gpu):
    a, b, c, bias = (gpu.array(shape, "float16") for shape in ((64, 32), (32, 48), (64, 48), (64,)))
    return Matmul(a, b, c, beta=1.0), {"epilog": MatmulEpilog.BIAS, "epilog_inputs": {"bias": bias}}


def function_of_an_array_that_is_converted(gpu):
    def scaled(value, row, column, scales):
        return value * scales[row]

    a, b = gpu.array((64, 32), "float32"), gpu.array((32, 48), "float32")
    return Matmul(a, b), {"epilog": scaled, "epilog_inputs": {"scales": gpu.array((64,), "float16")}}


STEPWISE = [
    strided_factor, result_that_cannot_be_written, alpha_of_zero, sum_in_single_precision, function_of_an_array_that_is_converted,
]  # fmt: skip


@pytest.fixture(params=STEPWISE)
def stepwise(request, gpu, lt, monkeypatch):
    """A planned product that does more than one call of the library."""
    monkeypatch.setattr(_gpu, "find_library", lambda name: name)
    monkeypatch.setattr(_custom.CustomEpilog, "ltoir", lambda *arguments: b"code")

    def launch(*arguments):
        """The only argument is a structure that begins with two addresses."""
        *_, stream, parameters, _extra = arguments
        structure = ctypes.c_void_p.from_address(parameters).value
        for address in (ctypes.c_void_p * 2).from_address(structure):
            driver.memset_d8_async(address, 0, 1, stream)

    ours = SimpleNamespace(launch_kernel=launch, memset_d8_async=driver.memset_d8_async)
    monkeypatch.setattr(_finish, "driver", ours)
    product, arguments = request.param(gpu)
    with product:
        product.plan(**arguments)
        yield product
        gpu.end_graphs()
    assert gpu.cuda.live() == []


def test_memory_of_steps_stays_for_the_graph_that_uses_it(gpu, stepwise):
    stream, other = gpu.stream(), gpu.stream()
    stepwise.execute(stream=stream)
    gpu.cuda.synchronize()
    kept = len(gpu.cuda.live())  # the workspace
    with gpu.capture(stream) as graph:
        results = [stepwise.execute(stream=stream) for _ in range(2)]
    assert not graph.broken
    assert len(gpu.cuda.live()) == kept + 1  # both calls share it, one after the other
    gpu.cuda.synchronize()
    graph.replay(stream)
    results.append(stepwise.execute(stream=other))  # in memory of its own, at the same time
    assert len(gpu.cuda.live()) == 2 * kept + 1


def test_memory_of_steps_goes_back_with_each_call_otherwise(gpu, stepwise):
    stream = gpu.stream()
    results = [stepwise.execute(stream=stream)]
    kept = len(gpu.cuda.live())
    gpu.forget()
    results.append(stepwise.execute(stream=stream))
    assert gpu.workspaces == 1
    gpu.fail("cublasLtMatmul", error=cuBLASLtError(13))
    with pytest.raises(cuBLASLtError):
        stepwise.execute(stream=stream)
    assert len(gpu.cuda.live()) == kept
    assert len(results) == 2


def test_planning_loads_the_kernels(gpu, stepwise):
    stream, loaded = gpu.stream(), gpu.count("cuModuleLoadData")
    with gpu.capture(stream) as graph:
        result = stepwise.execute(stream=stream)
    assert not graph.broken
    assert gpu.count("cuModuleLoadData") == loaded
    del result


def test_a_one_call_that_was_captured_keeps_the_memory_of_its_steps(gpu, lt):
    a, b = gpu.array((64, 32), "float32", strides=(64, 2)), gpu.array((32, 48), "float32")
    stream = gpu.stream()
    matmul(a, b)
    with gpu.capture(stream) as graph:
        result = matmul(a, b, stream=stream)
    for _ in range(2):
        matmul(a, b, stream=stream)
    nvmath.plan_cache.clear()
    gpu.cuda.synchronize()
    graph.replay(stream)
    gpu.end_graphs()
    del result


@pytest.mark.parametrize("how", ["one call", "execute", "out"])
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("k", [0, 1, 32])
@pytest.mark.parametrize("epilog", ["bgrada", "bgradb"])
def test_sums_go_to_the_array_that_is_returned(gpu, lt, monkeypatch, epilog, k, batch, how):
    """Whether the library sums up or, for alpha = 0 and k = 1, our kernel; and whatever the kept plan did before."""
    written = []
    product_of = FakeCublasLt.cublasLtMatmul

    def noting_sum(self, operands, source, output, stream):
        written.append(output)

    def noting_product(self, handle, desc, *rest):
        written.extend([self.bias[desc]] if desc in self.bias else [])
        product_of(self, handle, desc, *rest)

    monkeypatch.setattr(_finish._Sum, "__call__", noting_sum)
    monkeypatch.setattr(FakeCublasLt, "cublasLtMatmul", noting_product)
    a, b = gpu.array((*batch, 64, k), "float32"), gpu.array((*batch, k, 48), "float32")
    out = gpu.array((*batch, 64, 48), "float32") if how == "out" else None
    kept = []  # so that no address comes again
    with Matmul(a, b) as product:
        product.plan(epilog=epilog)
        for alpha in (0.0, 2.0, 0.0, 0.0, None, 0.5, -1.0, 0.0, 1.0):
            written.clear()
            if how == "execute":
                product.reset_operands(alpha=1.0 if alpha is None else alpha)
                _, sums = product.execute()
            else:
                _, sums = matmul(a, b, alpha=alpha, epilog=epilog, out=out)
            assert written == [sums[epilog].ptr]
            kept.append(sums)
