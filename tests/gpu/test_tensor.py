"""The contractions of tests/cpu on a GPU, and what only a GPU has: streams, graphs, workspaces, plan preferences."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest
from frameworks import DEVICE, HOST, Framework, params
from tensor_apart import Apart
from tensor_cases import cases, networks

import nvmath
from nvmath._core import place
from nvmath.bindings import FunctionNotFoundError, _load
from nvmath.bindings.cutensor import cuTENSORError
from nvmath.tensor import (
    BinaryContraction,
    ComputeDesc,
    Einsum,
    TernaryContraction,
    binary_contraction,
    einsum,
    ternary_contraction,
)
from nvmath.tensor._options import ALLOWED, COMPUTE

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device"),
    pytest.mark.skipif(_load.find_library("cutensor") is None, reason="cuTENSOR is not installed (pip install cutensor-cu13)"),
]

everywhere = pytest.mark.parametrize("framework", params((*DEVICE, *HOST)))
devices = pytest.mark.parametrize("framework", params(DEVICE))
counts = pytest.mark.parametrize("count", [2, 3])


@pytest.fixture(scope="module")
def apart() -> Iterator[Apart]:
    """A process for the random cases."""
    made = Apart()
    yield made
    made.close()


@everywhere
@counts
@pytest.mark.parametrize("check", ["one_call", "into_an_array", "stateful"])
def test_any(apart: Apart, framework: Framework, count: int, check: str) -> None:
    apart.every(check, cases(framework, count), 60, framework.name, "cuda")


@everywhere
@counts
def test_the_result_may_be_the_addend(apart: Apart, framework: Framework, count: int) -> None:
    apart.every("into_the_addend", cases(framework, count, addend=True), 40, framework.name, "cuda")


@everywhere
@counts
def test_empty(apart: Apart, framework: Framework, count: int) -> None:
    apart.every("one_call", cases(framework, count, empty=True), 40, framework.name, "cuda")


@everywhere
@pytest.mark.parametrize("empty", [False, True])
def test_einsum(apart: Apart, framework: Framework, empty: bool) -> None:
    apart.every("einsum", networks(framework, empty=empty), 60, framework.name, "cuda")


@devices
@counts
def test_gpu_operands_on_the_cpu(apart: Apart, framework: Framework, count: int) -> None:
    apart.every("one_call", cases(framework, count), 25, framework.name, "cpu")


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


@pytest.mark.parametrize("dtype", sorted(ALLOWED))
@pytest.mark.parametrize("name", COMPUTE)
def test_compute_types(torch, dtype: str, name: str) -> None:
    """Each is as precise as it says, or the library says that it does not have it."""
    if name not in ALLOWED[dtype]:
        return
    kind = getattr(torch, dtype)
    wide = torch.complex128 if kind.is_complex else torch.float64
    a, b = (torch.randn(shape, device="cuda", dtype=wide).to(kind) for shape in ((64, 80), (80, 48)))
    options = {"compute_type": getattr(ComputeDesc, "COMPUTE_" + name)()}
    emulated = name not in ("32F", "64F", "TF32", "16F", "16BF")
    got = None
    with contextlib.suppress(*((cuTENSORError, FunctionNotFoundError) if emulated else ())):
        got = binary_contraction("ij,jk->ik", a, b, options=options)
    if got is None:  # this release does not have it on this GPU
        return
    kept = {"16F": 2.0**-10, "16BF": 2.0**-7, "TF32": 2.0**-10, "64F": 2.0**-52, "8XINT8": 2.0**-48}.get(name, 2.0**-20)
    error = (got.to(wide) - a.to(wide) @ b.to(wide)).abs()
    allowed = (8 * kept + 2 * torch.finfo(kind).eps) * (a.to(wide).abs() @ b.to(wide).abs())
    assert (error <= allowed).all()


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


def test_ternary_and_einsum_agree(torch) -> None:
    a, b, c = (torch.randn(shape, device="cuda", dtype=torch.float64) for shape in ((8, 9, 5), (5, 9, 7), (7, 6)))
    d = torch.randn(8, 6, device="cuda", dtype=torch.float64)
    want = torch.einsum("iaj,jak,kl->il", a, b, c)
    torch.testing.assert_close(ternary_contraction("iaj,jak,kl->il", a, b, c, d=d, alpha=2, beta=-1), 2 * want - d)
    torch.testing.assert_close(einsum("iaj,jak,kl->il", a, b, c), want)
    with TernaryContraction("iaj,jak,kl->il", a, b, c) as contraction:
        contraction.plan()
        torch.testing.assert_close(contraction.execute(alpha=3), 3 * want)


def test_a_network_in_a_graph(torch) -> None:
    operands = [torch.randn(16, 16, device="cuda", dtype=torch.float64) for _ in range(5)]
    with Einsum("ab,bc,cd,de,ef->fa", *operands) as network:
        network.plan()
        network.execute()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            got = network.execute()
        operands[2].normal_()
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(got, torch.linalg.multi_dot(operands).T)


def test_autotuning_keeps_the_result(torch) -> None:
    a, b = (torch.randn(24, 24, 24, device="cuda") for _ in range(2))
    want = torch.einsum("abc,cbd->ad", a.double(), b.double()).float()
    with BinaryContraction("abc,cbd->ad", a, b) as contraction:
        preference = contraction.plan_preference
        preference.autotune_mode = nvmath.tensor.ContractionAutotuneMode.INCREMENTAL
        preference.cache_mode = nvmath.tensor.ContractionCacheMode.PEDANTIC
        preference.incremental_count = 3
        for _ in range(5):
            contraction.plan()
            torch.testing.assert_close(contraction.execute(), want, rtol=1e-3, atol=1e-2)


def test_kernels_are_compiled_on_request(torch) -> None:
    a, b = (torch.randn(32, 32, device="cuda") for _ in range(2))
    with BinaryContraction("ij,jk->ik", a, b) as contraction:
        contraction.plan_preference.jit = nvmath.tensor.ContractionJitMode.DEFAULT
        contraction.plan()
        torch.testing.assert_close(contraction.execute(), a @ b, rtol=1e-4, atol=1e-4)


def test_a_workspace_limit_is_kept(torch) -> None:
    a, b = (torch.randn(64, 64, 64, device="cuda") for _ in range(2))
    want = torch.einsum("abc,cbd->ad", a.double(), b.double()).float()
    for limit in (0, "1 MiB", 0.5):
        with BinaryContraction("abc,cbd->ad", a, b, options={"memory_limit": limit}) as contraction:
            contraction.plan()
            if limit == 0:
                assert contraction._plan_object.library_nbytes == 0
            torch.testing.assert_close(contraction.execute(), want, rtol=1e-3, atol=1e-2)


def test_a_complex_array_at_half_its_alignment(cupy, apart: Apart) -> None:
    assert apart.run("half_aligned", None, "cupy", "cuda") == ""


def test_sums_over_nothing_with_an_addend(torch) -> None:
    a, b = torch.empty(4, 0, device="cuda"), torch.empty(0, 5, device="cuda")
    c = torch.randn(4, 5, device="cuda")
    for addend in (c, c.T.contiguous().T, torch.randn(5, 9, device="cuda")[:, 1:5].T):
        torch.testing.assert_close(binary_contraction("ij,jk->ik", a, b, c=addend, beta=2.5), 2.5 * addend)
        out = addend.clone()
        assert binary_contraction("ij,jk->ik", a, b, c=out, beta=-1, out=out) is out
        torch.testing.assert_close(out, -addend)
    got = binary_contraction("ij,jk->ik", a, b, c=torch.full((4, 5), torch.nan, device="cuda"), beta=0)
    assert not got.any()


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


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [2, 64])
def test_with_an_alpha_of_zero_no_operand_is_read(torch, n: int, dtype: str) -> None:
    kind = getattr(torch, dtype)
    a, ones = torch.full((n, n), torch.nan, dtype=kind, device="cuda"), torch.ones(n, n, dtype=kind, device="cuda")
    for text in ("ij,jk->ik", "ij,jk->ki", "ij,ij->ij"):
        assert not binary_contraction(text, a, a, alpha=0).any()
        torch.testing.assert_close(binary_contraction(text, a, a, c=ones, alpha=0, beta=3), 3 * ones)
        into = torch.ones(n, 2 * n, dtype=kind, device="cuda")
        binary_contraction(text, a, a, alpha=0, out=into[:, :n])
        assert not into[:, :n].any()
        assert bool((into[:, n:] == 1).all())
        binary_contraction(text, a, a, c=ones.T, alpha=0, beta=3, out=into[:, :n])
        torch.testing.assert_close(into[:, :n], 3 * ones)
        addend = 2 * ones
        binary_contraction(text, a, a, c=addend, alpha=0, beta=3, out=addend)
        torch.testing.assert_close(addend, 6 * ones)
    assert not ternary_contraction("ij,jk,kl->il", a, a, a, alpha=0).any()
    torch.testing.assert_close(ternary_contraction("ij,jk,kl->il", a, a, a, d=ones, alpha=0, beta=3), 3 * ones)
    first = ones.clone()
    first[0, 0] = torch.nan  # the one element whose address stands for the operand that is not read
    got = binary_contraction("ij,jk->ik", a, a, c=first, alpha=0, beta=3)
    assert int(torch.isnan(got).sum()) == 1
    with BinaryContraction("ij,jk->ik", ones, ones, c=ones) as contraction:
        contraction.plan()
        for alpha, want in ((0, 3), (1, n + 3), (0, 3)):
            torch.testing.assert_close(contraction.execute(alpha=alpha, beta=3), want * ones)


def test_what_happens_to_out_between_executions(torch) -> None:
    a, out = torch.randn(32, 32, device="cuda"), torch.zeros(32, 32, device="cuda")
    want = a @ a
    with BinaryContraction("ij,jk->ik", a, a, out=out) as contraction:
        contraction.plan()
        out.data = torch.zeros(1, 1, device="cuda")
        with pytest.raises(ValueError, match="out must have the shape"):
            contraction.execute()
        for new in (torch.zeros(32, 32, device="cuda").T, torch.zeros(32, 65, device="cuda")[:, 1:33], torch.zeros(32, 32, device="cuda")):
            out.data = new
            contraction.execute()
            torch.testing.assert_close(new, want, rtol=1e-3, atol=1e-3)
        out.data = a
        contraction.execute()
        torch.testing.assert_close(a, want, rtol=1e-3, atol=1e-3)


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
