"""Products on a GPU: the cases of the CPU by CuPy and PyTorch, host operands across, streams, capture, what cuBLASLt refuses."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frameworks import DEVICE, HOST, Framework, leave_dirt, params, row_major
from hypothesis import assume, given, settings
from matmul_cases import AUXILIARY, EXTRA, Array, Case, assert_outputs, assert_right, cases

import nvmath
from nvmath._core import place as places
from nvmath.bindings import _load
from nvmath.linalg import ExecutionCUDA
from nvmath.linalg.advanced import Matmul, MatmulEpilog, _gpu, matmul

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not places.has_device(), reason="no CUDA device"),
    pytest.mark.skipif(_load.find_library("cublasLt") is None, reason="cuBLASLt is not installed"),
]

ALL = ("float32", "float64", "complex64", "complex128")
PLAIN = ("",)
FUSED = ("RELU", "GELU", "BIAS", "RELU_BIAS", "GELU_BIAS")


def check(case: Case, framework: Framework, **more: Any) -> None:
    given = case.make(framework)
    leave_dirt(framework)
    result = matmul(given["a"], given["b"], given.get("c"), **case.arguments(given), **more)
    if isinstance(result, tuple):
        result, outputs = result
        assert_outputs({name: framework.numpy(each) for name, each in outputs.items()}, case)
    assert framework.dtype(result) == case.dtype
    assert_right(framework.numpy(result), case)
    for name, each in case.operands.items():
        if case.inplace and name == "c":
            assert result is given["c"]
        else:
            np.testing.assert_array_equal(framework.numpy(given[name]), each.values.astype(case.dtype_of(name)))


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=300)
@given(case=cases(ALL, epilogs=PLAIN))
def test_any_product(framework: Framework, case: Case) -> None:
    assume(framework.negative or all(stride >= 0 for each in case.operands.values() for stride in each.strides))
    assume(not case.epilog)
    check(case, framework)


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=300)
@given(case=cases(("float32", "float16", "float64"), negative=False, epilogs=(*FUSED, *AUXILIARY, *EXTRA)))
def test_epilogs(framework: Framework, case: Case) -> None:
    check(case, framework)


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=100)
@given(case=cases(("complex64", "complex128"), negative=False, epilogs=FUSED))
def test_a_complex_bias(framework: Framework, case: Case) -> None:
    check(case, framework)


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=200)
@given(case=cases(("float32", "float16", "float64"), negative=False, epilogs=(*FUSED, *AUXILIARY, *EXTRA)))
def test_epilogs_by_our_own_kernels(framework: Framework, case: Case) -> None:
    """As if cuBLASLt had no epilogs at all."""
    nvmath.plan_cache.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            _gpu, "needs_more_k", lambda problem: problem.epilog.name != "DEFAULT" and not problem.epilog.extra
        )
        check(case, framework)
    nvmath.plan_cache.clear()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_bias_is_added_before_the_one_rounding(dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    kind = getattr(torch, dtype)
    for m, n, k in ((16, 16, 8), (64, 48, 256), (16, 16, 65536), (5, 7, 3)):
        a, b = torch.randn(m, k, device="cuda").to(kind), torch.randn(k, n, device="cuda").to(kind)
        c = torch.randn(m, n, device="cuda").to(kind)
        bias = -(a.double() @ b.double())[:, 0].to(kind)  # so that much cancels
        for addend in (None, c):
            exact = a.double() @ b.double() + bias.double()[:, None] + (0 if addend is None else addend.double())
            size = (
                a.double().abs() @ b.double().abs()
                + bias.double().abs()[:, None]
                + (0 if addend is None else addend.double().abs())
            )
            beta = None if addend is None else 1.0
            got = matmul(a, b, addend, beta=beta, epilog="bias", epilog_inputs={"bias": bias}).double()
            eps = 2.0 ** (-11 if dtype == "float16" else -8)
            allowed = eps * exact.abs() + 2.0**-22 * (k + 8) ** 0.5 * size + 2.0**-24
            assert ((got - exact).abs() <= allowed).all(), (m, n, k, beta)


@pytest.mark.parametrize("epilog", ["BIAS", "RELU_BIAS", "GELU_BIAS", "RELU_AUX_BIAS", "GELU_AUX_BIAS"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_nothing_is_rounded_before_the_bias_is_added(dtype: str, epilog: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    kind = getattr(torch, dtype)
    gelu = partial(torch.nn.functional.gelu, approximate="tanh")
    activation = gelu if "GELU" in epilog else torch.relu if "RELU" in epilog else torch.clone
    torch.manual_seed(0)
    for m, n, k in (
        (64, 64, 64),
        (64, 64, 2),
        (33, 64, 64),
        (64, 33, 256),
        (1, 3, 64),
        (129, 257, 1000),
        (1000, 1000, 1000),
    ):
        a, b = torch.randn(m, k, device="cuda").to(kind), torch.randn(k, n, device="cuda").to(kind)
        product = (a.double() @ b.double())[:, 0]
        bias = -product.to(kind)  # so that the first column is what a rounding would take away
        got = matmul(a, b, epilog=epilog, epilog_inputs={"bias": bias})
        got = got[0] if isinstance(got, tuple) else got
        once, twice = activation(product + bias.double()), activation(product.to(kind).double() + bias.double())
        allowed = 0.25 * (twice - once).abs().mean() + 2.0**-24
        assert (got.double()[:, 0] - once).abs().mean() <= allowed, (m, n, k)


def test_users_functions() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")

    def shifted(value, row, column, scale, table):
        return value * scale[row] + table[row, column] - column if value > 0 else value * 0.25

    for dtype, tolerance in (
        (torch.float32, 1e-5),
        (torch.float64, 1e-12),
        (torch.float16, 2e-2),
        (torch.bfloat16, 1e-1),
    ):
        for batch in ((), (3,)):
            a, b = torch.randn(*batch, 33, 16, device="cuda").to(dtype), torch.randn(16, 20, device="cuda").to(dtype)
            scale, table = (
                torch.randn(66, device="cuda").to(dtype)[::2],
                torch.randn(*batch, 20, 33, device="cuda").to(dtype).mT,
            )
            z = (a.double() @ b.double()).to(dtype).double()
            want = torch.where(
                z > 0,
                z * scale.double()[:, None] + table.double() - torch.arange(20, device="cuda", dtype=torch.float64),
                z * 0.25,
            )
            got = matmul(a, b, epilog=shifted, epilog_inputs={"scale": scale, "table": table})
            assert got.dtype is dtype
            torch.testing.assert_close(got.double(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS:UserWarning")  # of torch's own thread for gradients
def test_a_network_forward_and_backward() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, w, bias = (
        torch.randn(64, 96, device="cuda"),
        torch.randn(128, 64, device="cuda"),
        torch.randn(128, device="cuda"),
    )
    upstream, v = torch.randn(32, 96, device="cuda"), torch.randn(32, 128, device="cuda")
    for forward, backward, activation in (
        ("RELU_AUX_BIAS", "DRELU_BGRAD", torch.relu),
        ("GELU_AUX_BIAS", "DGELU_BGRAD", lambda z: torch.nn.functional.gelu(z, approximate="tanh")),
    ):
        hidden, aux = matmul(w, x, epilog=forward, epilog_inputs={"bias": bias})
        gradient, sums = matmul(v.T, upstream, epilog=backward, epilog_inputs=aux)
        z = (w @ x + bias[:, None]).requires_grad_()
        (v @ activation(z)).backward(upstream)
        torch.testing.assert_close(hidden, activation(z).detach(), rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(gradient, z.grad, rtol=1e-3, atol=1e-3)
        (key,) = sums
        torch.testing.assert_close(sums[key], z.grad.sum(1), rtol=1e-3, atol=1e-2)


def test_the_mask_of_relu_is_that_of_the_cpu() -> None:
    """The format, and the bit of an exact zero."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b = torch.eye(40), torch.randint(-1, 2, (40, 24)).float()
    host = matmul(a, b, epilog="relu_aux", execution="cpu")[1]["relu_aux"]
    there = matmul(a.cuda(), b.cuda(), epilog="relu_aux")[1]["relu_aux"]
    assert (there.shape, there.stride(), there.dtype) == (host.shape, host.stride(), host.dtype)
    torch.testing.assert_close(there[:5].cpu(), host[:5])  # the bits of the 40 rows; what pads them means nothing


def test_algorithms() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b = torch.randn(512, 256, device="cuda"), torch.randn(256, 384, device="cuda")
    want = a.double() @ b.double()
    with Matmul(a, b) as product:
        algorithms = product.plan(preferences={"limit": 8})
        assert 1 <= len(algorithms) <= 8
        assert set(product.applicable_algorithm_ids(100)) >= {each.algorithm_id for each in algorithms}
        for each in algorithms:
            torch.testing.assert_close(product.execute(algorithm=each).double(), want, rtol=1e-4, atol=1e-4)
            capabilities = each.capabilities
            assert each.tile in (capabilities.tile_ids or (each.tile,)) or each.tile == "UNDEFINED"
            assert "tile_ids" in str(capabilities)
        stored = pickle.loads(pickle.dumps(algorithms))
    with Matmul(a, b) as product:
        assert product.plan(algorithms=stored) == stored
        torch.testing.assert_close(product.execute().double(), want, rtol=1e-4, atol=1e-4)
        before = stored[0].split_k
        stored[0].split_k = before  # an edit that changes nothing is checked, and works
        torch.testing.assert_close(product.execute().double(), want, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(matmul(a, b, algorithm=stored[-1]).double(), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("inplace", [False, True])
def test_autotune(inplace: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setenv("NVMATH_AUTOTUNE_DIR", str(tmp_path))
    a, b, c = (torch.randn(1024, 1024, device="cuda", dtype=torch.float16) for _ in range(3))
    copies = a.clone(), b.clone(), c.clone()
    bias = torch.randn(1024, device="cuda", dtype=torch.float16)
    with Matmul(a, b, c, beta=0.5, options={"inplace": inplace}) as product:
        product.plan(epilog="RELU", preferences={"limit": 8})
        report = product.autotune(iterations=5)
        for one, other in zip((a, b, c), copies, strict=True):
            assert (one == other).all()
        medians = [row.median_ms for row in report.rows]
        assert medians == sorted(medians)
        assert product.algorithms == report.algorithms
        result = product.execute()
        want = torch.relu(copies[0].double() @ copies[1].double() + 0.5 * copies[2].double())
        torch.testing.assert_close(result.double(), want, rtol=2e-2, atol=2e-1)
    assert len(list(tmp_path.iterdir())) == 1
    with Matmul(a, b, copies[2].clone(), beta=0.5, options={"inplace": inplace}) as product:
        (best, *_) = product.plan(epilog="RELU", preferences={"limit": 8})
        assert (best.as_numpy()["algo"]["data_"] == report.algorithms[0].as_numpy()["algo"]["data_"]).all()
    with Matmul(a, b) as product:
        product.plan(epilog="GELU_AUX_BIAS", epilog_inputs={"bias": bias})
        product.autotune(iterations=2, prune=2)
        assert len(product.algorithms or ()) <= 2


@pytest.mark.parametrize("framework", params(HOST[:2]))
@settings(max_examples=100)
@given(case=cases(ALL, negative=False, epilogs=PLAIN))
def test_host_operands(framework: Framework, case: Case) -> None:
    assume(not case.epilog)
    check(case, framework, execution="cuda")


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=50)
@given(case=cases(ALL, negative=False))
def test_device_operands_on_the_cpu(framework: Framework, case: Case) -> None:
    check(case, framework, execution="cpu")


@pytest.mark.parametrize("framework", params(DEVICE))
def test_halves(framework: Framework) -> None:
    rng = np.random.default_rng(3)
    for m, n, k in ((64, 48, 32), (5, 7, 3), (1, 8, 16)):
        a, b = (framework.array(rng.standard_normal(shape).astype("f2")) for shape in ((m, k), (k, n)))
        want = framework.numpy(a).astype(float) @ framework.numpy(b).astype(float)
        np.testing.assert_allclose(framework.numpy(matmul(a, b)), want, rtol=2e-3, atol=2e-2)
        wide = matmul(a, b, options={"result_type": nvmath.CudaDataType.CUDA_R_32F})
        assert framework.dtype(wide) == "float32"
        np.testing.assert_allclose(framework.numpy(wide), want, rtol=1e-5, atol=1e-4)


def test_host_operands_run_on_the_gpu_by_default() -> None:
    a = np.eye(3)
    with Matmul(a, a) as product:
        assert product.execution_options == ExecutionCUDA(device_id=0)
        product.plan()
        np.testing.assert_array_equal(product.execute(), a)
        product.reset_operands(b=2 * a)
        np.testing.assert_array_equal(product.execute(), 2 * a)
        product.reset_operands(a=np.asfortranarray(np.tri(3)))
        np.testing.assert_array_equal(product.execute(), 2 * np.tri(3))


@pytest.mark.parametrize("framework", params(DEVICE))
@pytest.mark.parametrize("epilog", ["", *FUSED])
@pytest.mark.parametrize(("k", "alpha"), [(0, None), (0, 0.0), (4, 0.0), (64, 0.0)])
def test_nothing_to_sum_up(framework: Framework, k: int, alpha: Any, epilog: str) -> None:
    rng = np.random.default_rng(2)

    def array(*shape: int) -> Array:
        return Array(np.float32(rng.standard_normal(shape)).astype(float), row_major(shape))

    for shape in ((1, 1), (3, 5), (64, 48), (2, 16, 8)):
        batch, (m, n) = shape[:-2], shape[-2:]
        for beta, inplace in ((None, False), (0.0, False), (1.0, False), (1.0, True), (-0.5, False)):
            c = None if beta is None else array(*shape)
            bias = array(*batch, m, 1) if "BIAS" in epilog else None
            a, b = array(*batch, m, k), array(*batch, k, n)
            check(Case("float32", a, b, c, bias, alpha, beta, epilog, (False, False), inplace), framework)


@pytest.mark.parametrize("framework", params(DEVICE))
def test_resets(framework: Framework) -> None:
    rng = np.random.default_rng(4)
    values = [rng.standard_normal(shape).astype("f") for shape in ((8, 8), (8, 8), (8,))]
    a, b, bias = (framework.array(each) for each in values)
    x, y, z = (each.astype(float) for each in values)
    with Matmul(a, b) as product:
        product.plan(epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": bias})

        def holds(want: np.ndarray) -> None:
            np.testing.assert_allclose(framework.numpy(product.execute()), np.maximum(want, 0), rtol=1e-4, atol=1e-5)

        holds(x @ y + z[:, None])
        product.reset_operands(epilog_inputs={"bias": framework.array(2 * values[2])})
        holds(x @ y + 2 * z[:, None])
        product.reset_operands(a=b, alpha=0.5)
        holds(0.5 * y @ y + 2 * z[:, None])
        product.reset_operands_unchecked(b=a, epilog_inputs={"bias": bias})
        holds(0.5 * y @ x + z[:, None])
        with pytest.raises(ValueError, match="strides must match"):
            product.reset_operands(a=a.T)
        shifted = framework.array(values[0], offset=1)
        product.reset_operands(a=shifted)  # another alignment: another plan
        holds(0.5 * x @ x + z[:, None])
        product.plan()
        np.testing.assert_allclose(framework.numpy(product.execute()), 0.5 * x @ x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("framework", params(DEVICE))
def test_in_place_over_an_operand(framework: Framework) -> None:
    values = np.random.default_rng(6).standard_normal((8, 8))
    d = framework.array(values)
    assert matmul(d, d, d, beta=1.0, options={"inplace": True}) is d
    np.testing.assert_allclose(framework.numpy(d), values @ values + values, rtol=1e-12, atol=1e-12)


def test_float32_is_float32() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a = torch.randn(256, 512, device="cuda")
    want = a.double() @ a.double().T
    assert (torch.linalg.norm(matmul(a, a.T) - want) / torch.linalg.norm(want)).item() < 1e-6
    fast = matmul(a, a.T, options={"compute_type": 77})
    assert (torch.linalg.norm(fast - want) / torch.linalg.norm(want)).item() > 1e-6


def test_many_batches() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b = torch.ones(65537, 2, 3, device="cuda"), torch.ones(65537, 3, 2, device="cuda")
    assert (matmul(a, b) == 3).all()


def test_streams_and_out() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b = torch.randn(128, 128, device="cuda"), torch.randn(128, 128, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    for chosen in (stream, stream.cuda_stream, None):
        result = matmul(a, b, stream=chosen)
        torch.cuda.synchronize()
        torch.testing.assert_close(result, a @ b, rtol=1e-4, atol=1e-4)
    with Matmul(a, b) as product:
        product.plan()
        out = torch.empty(128, 128, device="cuda")
        assert product.execute(out=out) is out
        torch.testing.assert_close(out, a @ b, rtol=1e-4, atol=1e-4)


def test_a_graph() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")
    matmul(a, b)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = matmul(a, b)
    for _ in range(2):
        a.mul_(2)
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(result, a @ b, rtol=1e-4, atol=1e-3)


def test_an_allocator() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    taken = []

    class Allocator:
        def memalloc(self, size: int) -> Any:
            taken.append(size)
            block = torch.empty(size, dtype=torch.uint8, device="cuda")
            return type("Pointer", (), {"ptr": block.data_ptr(), "block": block})()

    a, b = torch.randn(64, 65536, device="cuda"), torch.randn(65536, 64, device="cuda")
    with Matmul(a, b, options={"allocator": Allocator()}) as product:
        product.plan()
        for _ in range(3):
            result = product.execute()
        assert len(taken) == (product._plan_object.workspace_nbytes > 0)
        torch.testing.assert_close(result, a @ b, rtol=1e-3, atol=1e-2)
    with Matmul(a, b, options={"memory_limit": 0}) as product:
        product.plan()
        assert product._plan_object.workspace_nbytes == 0


def steps(array: Any) -> dict[str, Any]:
    """Products that need memory between their steps: operands, keywords, and arguments of plan()."""
    return {
        "strided": ((array((64, 64))[:, ::2], array((32, 48))), {}, {}),
        "in place, strided": (
            (array((64, 32)), array((32, 48)), array((64, 96))[:, ::2]), {"beta": 0.0, "options": {"inplace": True}}, {},
        ),
        "alpha of zero": ((array((64, 32)), array((32, 48)), array((64, 48))), {"alpha": 0.0, "beta": 2.0}, {}),
        "sum in single precision": (
            (array((64, 32)).astype("float16"), array((32, 48)).astype("float16"), array((64, 48)).astype("float16")), {"beta": 1.0},
            {"epilog": "bias", "epilog_inputs": {"bias": array((64,)).astype("float16")}},
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", steps(lambda shape: np.zeros(shape, "f")))
def test_a_graph_of_cupy_writes_to_no_memory_but_its_own(name: str) -> None:
    """What a captured product needs between its steps must not go back to the pool, from which other arrays come."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    rng = np.random.default_rng(5)
    operands, keywords, planning = steps(lambda shape: cupy.asarray(rng.random(shape, np.float32)))[name]
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.get_current_stream().synchronize()
    with stream, Matmul(*operands, **keywords) as product:
        product.plan(**planning)
        want = product.execute().copy()
        stream.synchronize()
        stream.begin_capture()
        result = product.execute()
        graph = stream.end_capture()
        others = [cupy.full(64 * 64, 7.0, np.float32) for _ in range(64)]  # of the sizes that went back
        for _ in range(2):
            graph.launch(stream)
        stream.synchronize()
        cupy.testing.assert_allclose(result, want, rtol=1e-3)
        assert all(bool((other == 7.0).all()) for other in others)


def test_the_first_execution_may_be_captured() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b = torch.randn(96, 130, device="cuda")[:, ::2], torch.randn(65, 33, device="cuda")
    with Matmul(a, b) as product:
        product.plan()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = product.execute()
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(result, a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("epilog", ["drelu_bgrad", "bgradb", "bgrada"])
def test_sums_of_many_terms(epilog: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    count = 10**6
    tenth = torch.full((2, count), 0.1, device="cuda")
    ones = torch.ones(2, count, device="cuda")
    a, b = {"drelu_bgrad": (ones[:, :1], tenth[:1]), "bgradb": (ones[:1], tenth.T), "bgrada": (tenth, ones[:1].T)}[
        epilog
    ]
    inputs = (
        {"relu_aux": torch.full((count, 16), 255, device="cuda", dtype=torch.uint8).T}
        if epilog == "drelu_bgrad"
        else None
    )
    _, sums = matmul(a, b, epilog=epilog, epilog_inputs=inputs)
    torch.testing.assert_close(
        sums[epilog].flatten().double().cpu(), torch.full((2,), count * float(np.float32(0.1)), dtype=torch.float64), rtol=1e-4, atol=0
    )  # fmt: skip
