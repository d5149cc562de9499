"""Contractions over the fake driver: which addresses reach the library, in which order, and what stays behind."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from fake.cutensor import FakeCutensor

import nvmath
from nvmath.bindings._bind import substitute
from nvmath.bindings.cutensor import cuTENSORError
from nvmath.tensor import BinaryContraction, Einsum, TernaryContraction, _cutensor_objects, binary_contraction, einsum

NAMES = ("cutensorContract", "cutensorContractTrinary", "cutensorReduce", "cuLaunchKernel")


@pytest.fixture(params=[0, 4096], ids=["no workspace", "workspace"])
def ct(request, gpu, monkeypatch):
    monkeypatch.setattr(_cutensor_objects, "_handles", {})
    monkeypatch.setattr(type(gpu.cuda), "cuDeviceTotalMem_v2", lambda self, device: 1 << 30, raising=False)
    fake = FakeCutensor(gpu.trace, gpu.cuda, request.param)
    with substitute("cutensor", fake):
        yield fake
        nvmath.plan_cache.clear(captured=True)
        gpu.leaks()
        assert fake.live() == []


@pytest.fixture
def operands(gpu):
    return [gpu.array(shape, "float32") for shape in ((8, 9), (9, 10), (10, 11), (11, 12))]


def contracted(gpu):
    """The addresses of A, B, C, D of every contraction of two, and its stream."""
    calls = gpu.trace.calls("cutensorContract")
    return [(call.args[3], call.args[4], call.args[6], call.args[7], call.args[10]) for call in calls]


def test_addresses(gpu, ct, operands):
    a, b, _, _ = operands
    addend = gpu.array((8, 10), "float32")
    with BinaryContraction("ij,jk->ik", a, b, c=addend) as contraction:
        contraction.plan()
        d = contraction.execute(beta=1)
        assert contracted(gpu) == [(a.ptr, b.ptr, addend.ptr, d.ptr, 0)]
        d = contraction.execute(beta=0)  # the addend is not read
        assert contracted(gpu)[1] == (a.ptr, b.ptr, d.ptr, d.ptr, 0)


def test_the_result_may_be_the_addend(gpu, ct, operands):
    a, b, _, _ = operands
    total = gpu.array((8, 10), "float32")
    with BinaryContraction("ij,jk->ik", a, b, c=total, out=total) as contraction:
        contraction.plan()
        assert contraction.execute(beta=1) is total
        assert contracted(gpu) == [(a.ptr, b.ptr, total.ptr, total.ptr, 0)]


def test_a_result_that_is_also_an_operand_is_made_beside_it(gpu, ct):
    a, b = gpu.array((8, 8), "float32"), gpu.array((8, 8), "float32")
    with BinaryContraction("ij,jk->ik", a, b, out=a) as contraction:
        contraction.plan()
        assert contraction.execute() is a
        ((_, _, _, written, _),) = contracted(gpu)
        assert written not in (a.ptr, b.ptr)
        assert [call.args[:2] for call in gpu.trace.calls("copy")] == [(a.ptr, written)]
    assert binary_contraction("ij,jk->ik", a, b, out=a) is a
    assert gpu.count("copy") == 2


@pytest.mark.parametrize(("offset", "strides"), [(4, None), (0, (20, 2)), (0, (1, 20))])
def test_results_that_the_library_writes_itself(gpu, ct, operands, offset, strides):
    a, b, _, _ = operands
    out = gpu.array((8, 10), "float32", strides=strides, offset=offset)
    assert binary_contraction("ij,jk->ik", a, b, out=out) is out
    (written,) = (call[3] for call in contracted(gpu))
    assert (written == out.ptr) == (strides != (20, 2))  # that one has no neighbours in memory


def test_the_second_execute_allocates_its_result_only(gpu, ct, operands):
    with Einsum("ab,bc,cd,de->ae", *operands) as network:
        network.plan()
        network.execute()
        gpu.forget()
        network.execute()
        assert gpu.names("take", "take_buffer", "cutensorCreatePlan", *NAMES) == ["take", *["cutensorContract"] * 3]


def test_steps_hand_their_results_on_within_the_workspace(gpu, ct, operands):
    with Einsum("ab,bc,cd,de->ae", *operands, optimize=[(0, 1), (0, 2), (0, 1)]) as network:
        network.plan()
        result = network.execute()
        a, b, c, d = operands
        first, second, third = contracted(gpu)
        assert first[:2] == (a.ptr, b.ptr)
        assert second[:2] == (c.ptr, first[3])
        assert third[:2] == (d.ptr, second[3])
        assert third[3] == result.ptr
        (taken,) = gpu.trace.calls("take_buffer")
        begin, end = taken.result, taken.result + taken.args[0]
        assert all(begin + ct.workspace_nbytes <= each[3] < end for each in (first, second))


def test_an_address_that_sums_cannot_be_read_from_is_copied_first(gpu, ct):
    for offset, kernels in ((0, []), (16, []), (4, ["cuLaunchKernel"])):
        a, b = gpu.array((8, 9), "float32", offset=offset), gpu.array((8, 10), "float32")
        gpu.forget()
        binary_contraction("ij,ik->ik", a, b)
        assert gpu.names(*NAMES) == [*kernels, "cutensorReduce", "cutensorContract"]


def test_other_strides_and_alignments_make_another_plan_and_the_same_do_not(gpu, ct, operands):
    a, b, _, _ = operands
    with BinaryContraction("ij,jk->ik", a, b) as contraction:
        contraction.plan()
        contraction.reset_operands(a=gpu.array((8, 9), "float32"))
        assert gpu.count("cutensorCreateContraction") == 1
        contraction.reset_operands(a=gpu.array((8, 9), "float32", strides=(1, 8)))
        contraction.reset_operands(a=gpu.array((8, 9), "float32", strides=(1, 8), offset=8))
        assert gpu.count("cutensorCreateContraction") == 3
        contraction.execute()


def test_references_go_with_release_and_reset(gpu, ct, operands):
    refs = [weakref.ref(each) for each in operands]
    network = Einsum("ab,bc,cd,de->ae", *operands)
    network.plan()
    network.execute()
    operands.clear()
    network.reset_operands(gpu.array((8, 9), "float32"), None, None, None)
    gc.collect()
    assert [ref() is None for ref in refs] == [True, False, False, False]
    network.release_operands()
    gc.collect()
    assert [ref() for ref in refs] == [None] * 4
    network.free()


@pytest.mark.parametrize("name", ["cutensorCreateTensorDescriptor", "cutensorCreateContraction", "cutensorCreatePlan"])
@pytest.mark.parametrize("at", [1, 3])
def test_a_plan_that_fails_leaves_nothing_and_can_be_made_again(gpu, ct, operands, name, at):
    network = Einsum("ab,bc,cd,de->ae", *operands)
    gpu.fail(name, at, error=cuTENSORError(14))
    with pytest.raises(cuTENSORError, match="INTERNAL_ERROR"):
        network.plan()
    with pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
        network.execute()
    gpu.leaks()
    assert ct.live() == []
    network.plan()
    network.execute()
    network.free()


def test_a_ternary_contraction_that_the_library_lacks(gpu, ct, operands):
    gpu.fail("cutensorCreateContractionTrinary", error=cuTENSORError(15))
    with TernaryContraction("ab,bc,cd->ad", *operands[:3]) as contraction:
        contraction.plan()
        contraction.execute()
        assert gpu.names(*NAMES) == ["cutensorContract"] * 2


def test_a_launch_that_fails_can_be_tried_again(gpu, ct, operands):
    with Einsum("ab,bc,cd,de->ae", *operands) as network:
        network.plan()
        gpu.fail("cutensorContract", 2, error=cuTENSORError(13))
        with pytest.raises(cuTENSORError, match="EXECUTION_FAILED"):
            network.execute()
        network.execute()


def test_streams(gpu, ct, operands):
    first, second = gpu.stream(), gpu.stream()
    with Einsum("ab,bc,cd,de->ae", *operands) as network:
        network.plan()
        results = [network.execute(stream=stream) for stream in (first, second, first)]
        assert gpu.streams_of("cutensorContract") == [first] * 3 + [second] * 3 + [first] * 3
        gpu.cuda.synchronize()
        del results
    for stream in (first, second):
        einsum("ab,bc,cd,de->ae", *operands, stream=stream)
    gpu.cuda.synchronize()


def test_one_call_plans_once(gpu, ct, operands):
    a, b, _, _ = operands
    out = gpu.array((8, 10), "float32")
    for _ in range(3):
        binary_contraction("ij,jk->ik", a, b)
        binary_contraction("ij,jk->ik", a, b, out=out)
        einsum("ab,bc,cd,de->ae", *operands)
    assert gpu.count("cutensorCreatePlan") == 1 + 1 + 3
    assert gpu.count("cutensorContract") == 3 * (1 + 1 + 3)
    assert [call[3] == out.ptr for call in contracted(gpu)[:2]] == [False, True]


def test_a_new_plan_takes_the_preference_of_its_time(gpu, ct, operands):
    a, b, _, _ = operands
    with BinaryContraction("ij,jk->ik", a, b) as contraction:
        contraction.plan()
        contraction.plan_preference.algo = nvmath.tensor.ContractionAlgo.TTGT
        before = len(ct.live())
        contraction.plan()
        nvmath._core.place.reap()
        assert len(ct.live()) == before
        contraction.execute()


def test_a_captured_network_outlives_the_cache(gpu, ct, operands):
    einsum("ab,bc,cd,de->ae", *operands)
    stream = gpu.stream()
    with gpu.capture(stream) as graph, gpu.package.stream(stream):
        result = einsum("ab,bc,cd,de->ae", *operands)
    nvmath.plan_cache.clear()
    assert ct.live() != []
    gpu.cuda.synchronize()
    graph.replay(stream)
    graph.destroy()
    del result


def test_host_operands_travel(gpu, ct):
    a, b, c = np.ones((4, 3), "f"), np.ones((3, 2), "f"), np.ones((4, 2), "f")
    with BinaryContraction("ij,jk->ik", a, b, c=c, out=c, execution="cuda") as contraction:
        contraction.plan()
        uploads = gpu.count("cuMemcpyHtoDAsync_v2")
        assert uploads == 3
        assert contraction.execute(beta=1) is c
        contraction.reset_operands(a=a + 1)
        assert gpu.count("cuMemcpyHtoDAsync_v2") == uploads + 1
        contraction.execute(beta=1)
        first, second = contracted(gpu)
        assert first[:3] == second[:3]
