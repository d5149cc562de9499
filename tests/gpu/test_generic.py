"""Generic products on a GPU: the cases of the CPU by CuPy and PyTorch, host operands across, streams, capture, threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from frameworks import DEVICE, HOST, Framework, params
from generic_cases import CREATE, Case, Kind, assert_right, cases, check
from hypothesis import given, settings
from hypothesis import strategies as st

from nvmath._core import place as places
from nvmath.bindings import _load
from nvmath.linalg import ExecutionCPU, ExecutionCUDA, Matmul, matmul, matrix_qualifiers_dtype

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not places.has_device(), reason="no CUDA device"),
    pytest.mark.skipif(_load.find_library("cublas") is None, reason="cuBLAS is not installed"),
]

ALL = ("float32", "float64", "complex64", "complex128")


def qualified(*kinds: Kind) -> np.ndarray:
    return np.array([kind.qualifier for kind in kinds], matrix_qualifiers_dtype)


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=400)
@given(data=st.data())
def test_any_product(framework: Framework, data: Any) -> None:
    check(data.draw(cases(ALL, negative=framework.negative)), framework)


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=150)
@given(data=st.data())
def test_half(framework: Framework, data: Any) -> None:
    check(data.draw(cases(("float16",), negative=framework.negative)), framework)


@settings(max_examples=100)
@given(case=cases(("bfloat16",), negative=False))
def test_bfloat16(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this build of torch sees no CUDA device")

    def tensor(array: Any) -> Any:
        flat = torch.from_numpy(np.array(array.values, order="C")).to(torch.bfloat16).cuda()
        room = 1 + sum(s * (n - 1) for s, n in zip(array.strides, flat.shape, strict=True) if n)
        holder = torch.zeros(room, dtype=torch.bfloat16, device="cuda")
        return holder.as_strided(flat.shape, array.strides).copy_(flat) if flat.numel() else flat

    result = matmul(*(tensor(each) for each in case.operands.values()), **case.keywords())
    assert result.dtype is torch.bfloat16
    assert_right(result.double().cpu().numpy(), case)


@pytest.mark.parametrize("framework", params(HOST[:2]))
@settings(max_examples=150)
@given(data=st.data())
def test_host_operands(framework: Framework, data: Any) -> None:
    check(data.draw(cases(ALL, negative=framework.negative)), framework, execution="cuda")


@pytest.mark.parametrize("framework", params(DEVICE))
@settings(max_examples=60)
@given(data=st.data())
def test_device_operands_on_the_cpu(framework: Framework, data: Any) -> None:
    check(data.draw(cases(ALL, negative=framework.negative)), framework, execution="cpu")


@pytest.mark.parametrize("framework", params(DEVICE))
@pytest.mark.parametrize("kind", [kind for kind in CREATE if kind != "ge"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("extent", [33, 300, 700])
def test_large_structured_products(framework: Framework, kind: str, side: str, dtype: str, extent: int) -> None:
    """Native functions of the library at sizes where its kernels change; NaN where nothing may be read; batches in a loop."""
    rng = np.random.default_rng(6)
    complex_ = dtype.startswith("complex")
    for batch in ((), (2,)):
        for upper, unit, conj in ((False, False, False), (True, True, complex_)):
            made = Kind(kind, conj, upper and kind != "dg", unit and kind == "tr", unit and kind == "dg")
            shape = (*batch, extent) if kind == "dg" else (*batch, extent, extent)
            special = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if complex_ else 0)
            special = made.poisoned(special.astype(dtype))
            for width in (1, 7):
                other = rng.standard_normal((extent, width)) + (
                    1j * rng.standard_normal((extent, width)) if complex_ else 0
                )
                other = other.astype(dtype)
                full = made.dense(special)
                want, operands, kinds = full @ other, (special, other), (made, Kind())
                if side == "right":
                    want, operands, kinds = other.T @ full, (other.T.copy(), special), (Kind(), made)
                got = matmul(*(framework.array(each.astype(dtype)) for each in operands), qualifiers=qualified(*kinds))
                scale = np.abs(want).max()
                tolerance = (1e-5 if dtype in ("float32", "complex64") else 1e-13) * extent * scale
                np.testing.assert_allclose(framework.numpy(got), want, rtol=0, atol=tolerance)


@pytest.mark.parametrize("framework", params(DEVICE))
def test_nothing_is_read_that_is_multiplied_by_zero(framework: Framework) -> None:
    nan, eye = np.full((40, 40), np.nan), np.eye(40)
    for kind in CREATE:
        a = np.ones(40) if kind == "dg" else eye
        q = qualified(Kind(kind), Kind(), Kind())
        for options in ({}, {"inplace": True}):
            got = matmul(
                framework.array(a), framework.array(eye), framework.array(nan), beta=0.0, qualifiers=q, options=options
            )
            np.testing.assert_array_equal(framework.numpy(got), eye)
            bad = framework.array(np.full_like(a, np.nan)), framework.array(nan), framework.array(eye)
            got = matmul(*bad, alpha=0.0, beta=2.0, qualifiers=q, options=options)
            np.testing.assert_array_equal(framework.numpy(got), 2 * eye)


@pytest.mark.parametrize("framework", params(DEVICE))
def test_float32_is_float32(framework: Framework) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((512, 512)).astype("f"), rng.standard_normal((512, 512)).astype("f")
    reference = a.astype(float) @ b
    got = framework.numpy(matmul(framework.array(a), framework.array(b)))
    assert np.linalg.norm(got - reference) / np.linalg.norm(reference) < 1e-6


@pytest.mark.parametrize("framework", params(DEVICE))
def test_many_batches(framework: Framework) -> None:
    a, b = framework.array(np.ones((65537, 2, 3), "f")), framework.array(np.ones((65537, 3, 2), "f"))
    assert (framework.numpy(matmul(a, b)) == 3).all()


@pytest.mark.parametrize("framework", params(DEVICE))
def test_life_cycle(framework: Framework) -> None:
    rng = np.random.default_rng(2)
    x, y, z = (rng.random((16, 16)) for _ in range(3))
    a, b, c = (framework.array(each) for each in (x, y, z))
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan()
        np.testing.assert_allclose(framework.numpy(product.execute()), x @ y + z)
        product.reset_operands(a=b, alpha=2.0)
        np.testing.assert_allclose(framework.numpy(product.execute_unchecked()), 2 * y @ y + z)
        out = framework.empty((16, 16), "float64", (1, 16))
        assert product.execute(out=out) is out
        np.testing.assert_allclose(framework.numpy(out), 2 * y @ y + z)
        with pytest.raises(ValueError, match="strides"):
            product.reset_operands(a=framework.array(x, strides=(1, 16)))
        product.release_operands()
        with pytest.raises(ValueError, match="released"):
            product.execute()
    got = matmul([a, a[:3]], [b], [c, c[:3]], beta=2.0)
    np.testing.assert_allclose(framework.numpy(got[1]), x[:3] @ y + 2 * z[:3])


def test_streams_and_capture() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this build of torch sees no CUDA device")
    a = torch.randn(300, 300, device="cuda", dtype=torch.float64)
    c = torch.randn(300, 300, device="cuda", dtype=torch.float64)
    q = qualified(Kind("tr"), Kind(), Kind())
    want = torch.tril(a) @ a + c
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    with Matmul(a, a, c, beta=1.0, qualifiers=q) as product:
        product.plan()
        results = [product.execute(stream=streams[turn % 2]) for turn in range(10)]
        torch.cuda.synchronize()
        for result in results:
            torch.testing.assert_close(result, want)
    matmul(a, a, c, beta=1.0, qualifiers=q)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = matmul(a, a, c, beta=1.0, qualifiers=q)
    a.mul_(2)
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(result, torch.tril(a) @ a + c)


@pytest.mark.parametrize("framework", params(DEVICE))
def test_threads_have_handles_of_their_own(framework: Framework) -> None:
    rng = np.random.default_rng(4)
    wrong: list[int] = []

    def work(number: int) -> None:
        x, y = rng.random((64, 64)), rng.random((64, 64))
        a, b = framework.array(x), framework.array(y)
        for _ in range(50):
            if not np.allclose(framework.numpy(matmul(a, b)), x @ y):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_places() -> None:
    a = np.eye(3)
    with Matmul(a, a) as product:
        assert isinstance(product.execution_options, ExecutionCPU)
    with Matmul(a, a, execution="cuda") as product:
        assert product.execution_options == ExecutionCUDA(device_id=0)
        product.plan()
        np.testing.assert_array_equal(product.execute(), a)
        product.reset_operands(a=np.asfortranarray(np.tri(3)))
        np.testing.assert_array_equal(product.execute(), np.tri(3))


# --- graphs of products with steps of our own -------------------------------------------------------------------------


def shapes_with_steps(array: Any) -> dict[str, Any]:
    """Products that need memory between their steps: operands and keywords."""
    general, triangle = Kind(), Kind("tr")
    return {
        "strided": ((array((64, 64))[:, ::2], array((32, 48))), {}),
        "triangle and c": (
            (array((64, 64)), array((64, 48)), array((64, 48))),
            {"beta": 1.0, "qualifiers": qualified(triangle, general, general), "options": {"inplace": True}},
        ),
        "diagonal of a symmetric matrix": (
            (array((64,)), array((64, 64))), {"qualifiers": qualified(Kind("dg"), Kind("sy"))},
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", shapes_with_steps(lambda shape: np.zeros(shape)))
def test_a_graph_of_cupy_writes_to_no_memory_but_its_own(name: str) -> None:
    """What a captured product needs between its steps must not go back to the pool, from which other arrays come."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    rng = np.random.default_rng(5)
    operands, keywords = shapes_with_steps(lambda shape: cupy.asarray(rng.random(shape)))[name]
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.get_current_stream().synchronize()
    with stream, Matmul(*operands, **keywords) as product:
        product.plan()
        start = operands[2].copy() if keywords.get("options") else None
        want = product.execute().copy()
        stream.synchronize()
        stream.begin_capture()
        result = product.execute()
        graph = stream.end_capture()
        others = [cupy.full(64 * 64, 7.0) for _ in range(64)]  # of the sizes that went back
        for _ in range(2):
            if start is not None:
                operands[2][...] = start
            graph.launch(stream)
        stream.synchronize()
        cupy.testing.assert_allclose(result, want)
        assert all(bool((other == 7.0).all()) for other in others)


@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_the_first_execution_may_be_captured(alpha: float) -> None:
    """Kernels are loaded by plan(); the one for alpha = 0, which only a reset makes necessary, in the capture."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this build of torch sees no CUDA device")
    a, b = torch.randn(96, 130, device="cuda", dtype=torch.float64)[:, ::2], torch.randn(65, 33, device="cuda", dtype=torch.float64)
    c = torch.randn(96, 33, device="cuda", dtype=torch.float64)
    with Matmul(a, b, c, beta=0.5) as product:
        product.plan()
        product.reset_operands(alpha=alpha)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = product.execute()
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(result, alpha * a @ b + 0.5 * c)
