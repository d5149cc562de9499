"""Products on a GPU: the cases of the CPU by CuPy and PyTorch, host operands across, streams, capture, what cuBLASLt refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from frameworks import DEVICE, HOST, Framework, params, row_major
from hypothesis import assume, given, settings
from matmul_cases import Array, Case, assert_right, cases

import nvmath
from nvmath._core import place as places
from nvmath.bindings import _load
from nvmath.bindings.cublasLt import cuBLASLtError
from nvmath.linalg import ExecutionCUDA
from nvmath.linalg.advanced import Matmul, MatmulEpilog, MatmulOptions, matmul, matrix_qualifiers_dtype

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not places.has_device(), reason="no CUDA device"),
    pytest.mark.skipif(_load.find_library("cublasLt") is None, reason="cuBLASLt is not installed"),
]

ALL = ("float32", "float64", "complex64", "complex128")
PLAIN = ("",)
FUSED = ("RELU", "GELU", "BIAS", "RELU_BIAS", "GELU_BIAS")


def compute(case: Case, framework: Framework, **more: Any) -> tuple[Any, dict[str, Any]]:
    given = {
        name: framework.array(each.values, case.dtype, each.strides, each.offset)
        for name, each in case.operands.items()
    }
    q = np.zeros(3, matrix_qualifiers_dtype)
    q["is_conjugate"] = (*case.conj, 0)
    result = matmul(
        given["a"], given["b"], given.get("c"), alpha=case.alpha, beta=case.beta, qualifiers=q,
        epilog=MatmulEpilog[case.epilog] if case.epilog else None,
        epilog_inputs={"bias": given["bias"]} if case.bias is not None else None,
        options=MatmulOptions(inplace=case.inplace), **more,
    )  # fmt: skip
    return result, given


def check(case: Case, framework: Framework, **more: Any) -> None:
    result, given = compute(case, framework, **more)
    assert framework.dtype(result) == case.dtype
    assert_right(framework.numpy(result), case)
    for name, each in case.operands.items():
        if case.inplace and name == "c":
            assert result is given["c"]
        else:
            np.testing.assert_array_equal(framework.numpy(given[name]), each.values.astype(case.dtype))


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=300)
@given(case=cases(ALL, epilogs=PLAIN))
def test_any_product(framework: Framework, case: Case) -> None:
    assume(framework.negative or all(stride >= 0 for each in case.operands.values() for stride in each.strides))
    assume(not case.epilog)
    check(case, framework)


@pytest.mark.parametrize("framework", params(DEVICE))
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@settings(max_examples=150)
@given(data=cases(("float32",), negative=False, epilogs=FUSED))
def test_epilogs(framework: Framework, dtype: str, data: Case) -> None:
    if dtype == "float16":
        from dataclasses import replace

        from matmul_cases import rounded

        halves = {name: replace(each, values=rounded(each.values, "float16")) for name, each in data.operands.items()}
        data = replace(data, dtype="float16", **halves)
    check(data, framework)


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=100)
@given(case=cases(("float64", "complex64", "complex128"), negative=False, epilogs=FUSED))
def test_epilogs_that_the_library_may_refuse(framework: Framework, case: Case) -> None:
    try:
        check(case, framework)
    except cuBLASLtError as error:
        assert "does not support this product" in error.__notes__[0]  # noqa: PT017


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
