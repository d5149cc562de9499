"""The contractions of tests/cpu on a GPU, and what only a GPU has: streams, graphs, workspaces, plan preferences."""

from __future__ import annotations

import numpy as np
import pytest
from frameworks import DEVICE, HOST, Framework, params
from hypothesis import given
from hypothesis import strategies as st
from tensor_cases import Case, cases, examples

import nvmath
from nvmath._core import place
from nvmath.bindings import _load
from nvmath.tensor import BinaryContraction, ComputeDesc, TernaryContraction, binary_contraction, ternary_contraction

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device"),
    pytest.mark.skipif(_load.find_library("cutensor") is None, reason="cuTENSOR is not installed (pip install cutensor-cu13)"),
]

CLASSES = {2: BinaryContraction, 3: TernaryContraction}
FUNCTIONS = {2: binary_contraction, 3: ternary_contraction}
ADDENDS = {2: "c", 3: "d"}

everywhere = pytest.mark.parametrize("framework", params((*DEVICE, *HOST)))
devices = pytest.mark.parametrize("framework", params(DEVICE))
counts = pytest.mark.parametrize("count", [2, 3])


def addend_of(case: Case, framework: Framework) -> tuple[np.ndarray | None, dict[str, object]]:
    if case.beta is None:
        return None, {}
    values = case.addend()
    return values, {ADDENDS[len(case.terms)]: framework.array(values, case.dtype, case.out_layout)}


@everywhere
@counts
@examples(60)
@given(data=st.data())
def test_one_call(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count))
    values = case.operands()
    arrays = case.arrays(framework, values)
    addend, more = addend_of(case, framework)
    for _ in range(2):
        got = FUNCTIONS[count](
            case.expression, *arrays, **more, **case.scalars(), qualifiers=case.qualifiers(), execution="cuda"
        )  # fmt: skip
        case.check(framework.numpy(got), values, addend)
    for array, value in zip(arrays, values, strict=True):
        np.testing.assert_array_equal(framework.numpy(array), value)


@everywhere
@counts
@examples(40)
@given(data=st.data())
def test_into_an_array_of_any_layout(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count))
    values = case.operands()
    addend, more = addend_of(case, framework)
    out = framework.empty(case.shape(case.output), case.dtype, case.out_layout)
    got = FUNCTIONS[count](
        case.expression, *case.arrays(framework, values), **more, **case.scalars(), qualifiers=case.qualifiers(), out=out,
        execution="cuda",
    )  # fmt: skip
    assert got is out
    case.check(framework.numpy(out), values, addend)


@everywhere
@counts
@examples(40)
@given(data=st.data())
def test_the_result_may_be_the_addend(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count, addend=True))
    values, addend = case.operands(), case.addend()
    out = framework.array(addend, case.dtype, case.out_layout)
    got = FUNCTIONS[count](
        case.expression, *case.arrays(framework, values), **{ADDENDS[count]: out}, **case.scalars(),
        qualifiers=case.qualifiers(), out=out, execution="cuda",
    )  # fmt: skip
    assert got is out
    case.check(framework.numpy(out), values, addend)


@everywhere
@counts
@examples(40)
@given(data=st.data())
def test_stateful(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count))
    values = case.operands()
    addend, more = addend_of(case, framework)
    arrays = case.arrays(framework, values)
    with CLASSES[count](case.expression, *arrays, **more, qualifiers=case.qualifiers(), execution="cuda") as contraction:
        contraction.plan()
        case.check(framework.numpy(contraction.execute(**case.scalars())), values, addend)
        other = Case(**{**case.__dict__, "seed": case.seed + 1})
        fresh = other.operands()
        contraction.reset_operands(**dict(zip("abc", other.arrays(framework, fresh), strict=False)))
        other.check(framework.numpy(contraction.execute(**case.scalars())), fresh, addend)
        name = data.draw(st.sampled_from("abc"[:count]))
        contraction.reset_operands(**{name: arrays["abc".index(name)]})
        mixed = [values[i] if "abc"[i] == name else fresh[i] for i in range(count)]
        case.check(framework.numpy(contraction.execute(**case.scalars(), release_workspace=True)), mixed, addend)


@devices
@counts
@examples(25)
@given(data=st.data())
def test_gpu_operands_on_the_cpu(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count))
    values = case.operands()
    addend, more = addend_of(case, framework)
    got = FUNCTIONS[count](
        case.expression, *case.arrays(framework, values), **more, **case.scalars(), qualifiers=case.qualifiers(), execution="cpu"
    )  # fmt: skip
    case.check(framework.numpy(got), values, addend)


@devices
@examples(25)
@given(data=st.data())
def test_empty(framework: Framework, data: st.DataObject) -> None:
    case = data.draw(cases(framework, 2, empty=True, addend=False))
    values = case.operands()
    got = binary_contraction(case.expression, *case.arrays(framework, values), **case.scalars(), qualifiers=case.qualifiers())
    case.check(framework.numpy(got), values, None)


@pytest.fixture
def torch():
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("this build of torch sees no CUDA device")
    return module


def test_host_operands_run_on_the_gpu_by_default(torch) -> None:
    with BinaryContraction("ij,jk->ik", np.ones((4, 4)), np.ones((4, 4))) as contraction:
        assert contraction.execution_options.name == "cuda"
        contraction.plan()
        assert contraction.execute()[0, 0] == 4


def test_streams(torch) -> None:
    a, b = torch.randn(300, 300, device="cuda"), torch.randn(300, 300, device="cuda")
    want = a @ b
    streams = [torch.cuda.Stream() for _ in range(3)]
    torch.cuda.synchronize()
    with BinaryContraction("ij,jk->ik", a, b) as contraction:
        contraction.plan()
        for stream in (*streams, *streams):
            got = contraction.execute(stream=stream)
            stream.synchronize()
            torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
    for stream in streams:
        with torch.cuda.stream(stream):
            got = binary_contraction("ij,jk->ik", a, b)
        stream.synchronize()
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)


def test_capture(torch) -> None:
    a, b = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda")
    out = torch.empty(64, 64, device="cuda")
    with BinaryContraction("ij,jk->ki", a, b, out=out) as contraction:
        contraction.plan()
        contraction.execute()
        binary_contraction("ij,jk->ki", a, b)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            contraction.execute(alpha=2)
            other = binary_contraction("ij,jk->ki", a, b)
        a.normal_()
        nvmath.plan_cache.clear()
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(out, 2 * (a @ b).T, rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(other, (a @ b).T, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["TF32", "3XTF32", "16F", "16BF"])
def test_compute_types(torch, name: str) -> None:
    a, b = torch.randn(64, 80, device="cuda"), torch.randn(80, 48, device="cuda")
    options = {"compute_type": getattr(ComputeDesc, "COMPUTE_" + name)()}
    got = binary_contraction("ij,jk->ik", a, b, options=options)
    torch.testing.assert_close(got, (a.double() @ b.double()).float(), rtol=0.02, atol=0.2)


def test_compute_type_of_the_bindings(torch) -> None:
    from nvmath.bindings import cutensor

    a = torch.randn(16, 16, device="cuda", dtype=torch.float64)
    options = {"compute_type": cutensor.ComputeDesc.COMPUTE_64F()}
    torch.testing.assert_close(binary_contraction("ij,jk->ik", a, a, options=options), a @ a)


def test_bfloat16(torch) -> None:
    a, b = (torch.randn(32, 32, device="cuda").to(torch.bfloat16) for _ in range(2))
    got = binary_contraction("ij,jk->ik", a, b)
    torch.testing.assert_close(got.double(), a.double() @ b.double(), rtol=2**-7, atol=0.05)


def test_lazy_conjugation(torch) -> None:
    a, b = (torch.randn(8, 8, device="cuda", dtype=torch.complex128) for _ in range(2))
    torch.testing.assert_close(binary_contraction("ij,jk->ik", a.conj(), b), a.conj() @ b)
    torch.testing.assert_close(binary_contraction("ij,jk->ik", a.conj(), b, qualifiers=[9, 1, 1]), a @ b)
    torch.testing.assert_close(binary_contraction("ij,jk->ik", a.mH, b), a.mH @ b)


def test_preferences(torch) -> None:
    a, b = (torch.randn(40, 40, 40, device="cuda") for _ in range(2))
    want = torch.einsum("abc,cbd->ad", a.double(), b.double()).float()
    with BinaryContraction("abc,cbd->ad", a, b) as contraction:
        preference = contraction.plan_preference
        for algo in nvmath.tensor.ContractionAlgo:
            preference.algo = algo
            contraction.plan()
            torch.testing.assert_close(contraction.execute(), want, rtol=1e-3, atol=1e-2)
        preference.algo = nvmath.tensor.ContractionAlgo.GETT
        preference.kernel_rank = 1
        contraction.plan()
        torch.testing.assert_close(contraction.execute(), want, rtol=1e-3, atol=1e-2)


def test_workspace_comes_from_the_caller_and_is_counted(torch) -> None:
    taken = []

    class Allocator:
        def memalloc_async(self, size: int, stream: object) -> object:
            block = torch.empty(size, dtype=torch.uint8, device="cuda")
            taken.append(size)
            return nvmath.MemoryPointer(block.data_ptr(), size, lambda: None)

    a, b = torch.randn(30, 40, 50, device="cuda"), torch.randn(60, device="cuda")
    with BinaryContraction("ijk,l->i", a, b, options={"allocator": Allocator()}) as contraction:  # sums need scratch
        contraction.plan()
        for _ in range(3):
            got = contraction.execute()
        assert len(taken) == 1
        contraction.execute(release_workspace=True)
        contraction.execute(release_workspace=True)
        assert len(taken) == 2
    torch.testing.assert_close(got, a.sum((1, 2)) * b.sum(), rtol=1e-3, atol=1e-2)


def test_alignments(torch) -> None:
    memory = torch.randn(400, device="cuda")
    for offset in range(9):
        a, b = memory[offset : offset + 64].view(8, 8), memory[100 + offset : 164 + offset].view(8, 8)
        torch.testing.assert_close(binary_contraction("ij,jk->ik", a, b), a @ b, rtol=1e-4, atol=1e-4)
    with BinaryContraction("ij,jk->ik", memory[:64].view(8, 8), memory[64:128].view(8, 8)) as contraction:
        contraction.plan()
        for offset in (1, 2, 4, 0, 128):
            a = memory[offset : offset + 64].view(8, 8)
            contraction.reset_operands(a=a)
            torch.testing.assert_close(contraction.execute(), a @ memory[64:128].view(8, 8), rtol=1e-4, atol=1e-4)


def test_execution_returns_before_the_work_is_done(torch) -> None:
    import time

    a, b = torch.randn(8192, 8192, device="cuda"), torch.randn(8192, 8192, device="cuda")
    with BinaryContraction("ij,jk->ik", a, b) as contraction:
        contraction.plan()
        contraction.execute()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        contraction.execute()
        host = time.perf_counter() - begin
        torch.cuda.synchronize()
        assert host < 0.5 * (time.perf_counter() - begin)
