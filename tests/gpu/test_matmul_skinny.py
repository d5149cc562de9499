"""Our own kernel for products that the memory bounds, on a GPU: every recipe against double precision, and what autotuning does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nvmath._core import place as places
from nvmath.bindings import _load
from nvmath.linalg.advanced import Algorithm, AutotuneReport, Matmul, _skinny_form, matmul
from nvmath.linalg.advanced._algorithm import own_algorithm
from nvmath.linalg.advanced._skinny_shape import RECIPES

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not places.has_device(), reason="no CUDA device"),
    pytest.mark.skipif(_load.find_library("cublasLt") is None, reason="cuBLASLt is not installed"),
    pytest.mark.skipif(_load.find_library("nvrtc") is None, reason="NVRTC is not installed"),
]

EPS = {
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
    "complex64": 2.0**-24,
    "complex128": 2.0**-53,
}
WORK = {"float64": 2.0**-52, "complex128": 2.0**-52}
NUMBERS = range(len(RECIPES))


def array(torch: Any, shape: tuple[int, int], dtype: str, order: str = "C", padding: int = 0, offset: int = 0) -> Any:
    """Random numbers in one order, in lines that are longer than needed by some elements, some elements behind a good address."""
    rows, cols = shape if order == "C" else shape[::-1]
    flat = torch.randn(rows * (cols + padding) + offset, dtype=torch.float64, device="cuda")
    kind = getattr(torch, dtype)
    if dtype.startswith("complex"):
        flat = torch.complex(flat, torch.randn_like(flat))
    lines = flat.to(kind)[offset:].view(rows, cols + padding)[:, :cols]
    return lines if order == "C" else lines.T


def expected(
    torch: Any, a: Any, b: Any, c: Any, bias: Any, alpha: Any, beta: Any, epilog: str | None
) -> tuple[Any, Any]:
    """The product in double precision, and the size of what was added up."""
    wide = torch.complex128 if a.is_complex() else torch.float64
    z = alpha * (a.to(wide) @ b.to(wide))
    size = abs(alpha) * (a.abs().double() @ b.abs().double())
    if c is not None and beta != 0:
        z, size = z + beta * c.to(wide), size + abs(beta) * c.abs().double()
    if bias is not None:
        z, size = z + bias.to(wide)[:, None], size + bias.abs().double()[:, None]
    if epilog and "relu" in epilog:
        z = z.clamp(min=0)
    return z, size


def assert_right(got: Any, want: Any, size: Any, dtype: str, k: int) -> None:
    bound = EPS[dtype] * want.abs() + (k + 4) * WORK.get(dtype, 2.0**-23) * size + 2.0**-24 * (dtype == "float16")
    assert got.isfinite().all()
    assert ((got.to(want.dtype) - want).abs() <= bound).all()


def planned(
    number: int, *operands: Any, epilog: Any = None, epilog_inputs: Any = None, **options: Any
) -> Matmul | None:
    """Return a product that is computed by one recipe, or None when the recipe is not for its layouts."""
    product = Matmul(*operands, **options)
    try:
        product.plan(algorithms=[own_algorithm(number)], epilog=epilog, epilog_inputs=epilog_inputs)
    except RuntimeError as error:
        product.free()
        if "cannot compute this product" not in str(error):
            raise
        return None
    return product


CASES = [
    ((10_000, 10, 40), "CCC", 0, 0, None), ((10_007, 10, 40), "CCC", 0, 0, "relu"), ((20_011, 3, 7), "CCC", 0, 0, None),
    ((5000, 64, 4), "CCC", 0, 0, None), ((5001, 33, 128), "CCC", 0, 0, "relu"), ((8192, 16, 16), "FFF", 0, 0, None),
    ((8190, 10, 40), "FFF", 0, 0, "relu_bias"), ((8192, 10, 40), "CCC", 0, 0, "bias"), ((40, 10, 9000), "CCC", 0, 0, "bias"),
    ((40, 10, 9000), "FFF", 0, 0, "relu_bias"), ((7000, 12, 1), "CCC", 0, 0, None), ((7001, 12, 24), "CCC", 4, 0, None),
    ((7001, 12, 24), "CCC", 3, 0, None), ((7001, 12, 24), "CCC", 0, 1, None), ((7001, 12, 24), "FFC", 0, 2, None),
    ((7001, 1, 30), "CFF", 1, 0, None), ((9000, 7, 8), "FCC", 0, 0, "silu"),
]  # fmt: skip


FEW = [CASES[0], CASES[1], CASES[5], CASES[7], CASES[11]]
ALL = [("float32", *case) for case in CASES]
ALL += [(dtype, *case) for dtype in ("float16", "bfloat16", "float64", "complex64", "complex128") for case in FEW]


@pytest.mark.parametrize(("dtype", "extents", "orders", "padding", "offset", "epilog"), ALL)
def test_values(
    torch: Any, dtype: str, extents: tuple[int, int, int], orders: str, padding: int, offset: int, epilog: str | None
) -> None:
    m, k, n = extents
    if dtype.startswith("complex") and epilog in ("relu", "relu_bias", "silu"):
        epilog = "bias"
    shapes = (m, k), (k, n), (m, n)
    a, b, c = (array(torch, shape, dtype, order, padding, offset) for shape, order in zip(shapes, orders, strict=True))
    bias = array(torch, (1, m), dtype)[0] if epilog and "bias" in epilog else None
    inputs = None if bias is None else {"bias": bias}
    tried = 0
    for alpha, beta in ((1.0, 1.0), (0.5, -2.0), (1.5, 0.0)):
        want, size = expected(torch, a, b, c, bias, alpha, beta, epilog)
        if epilog == "silu":
            want = want * torch.sigmoid(want)
        for number in NUMBERS:
            product = planned(number, a, b, c, alpha=alpha, beta=beta, epilog=epilog, epilog_inputs=inputs)
            if product is None:
                continue
            tried += 1
            with product:
                assert_right(product.execute(), want, size, dtype, k)
    assert tried >= 3


def test_the_shape_of_the_issue(torch: Any) -> None:
    a, b, c = (array(torch, shape, "float32") for shape in ((10_000_000, 10), (10, 40), (10_000_000, 40)))
    want, size = expected(torch, a[-1000:], b, c[-1000:], None, 0.5, 0.25, None)
    whole = torch.addmm(c, a, b, alpha=0.5, beta=0.25)
    for number in NUMBERS:
        product = planned(number, a, b, c, alpha=0.5, beta=0.25)
        assert product is not None
        with product:
            got = product.execute()
        assert_right(got[-1000:], want, size, "float32", 10)
        torch.testing.assert_close(got, whole, rtol=1e-5, atol=1e-5)
        del got


def test_what_is_multiplied_by_0_is_not_read(torch: Any) -> None:
    for orders in ("CCC", "FFF"):
        shapes = (5000, 10), (10, 40), (5000, 40)
        a, b, c = (array(torch, shape, "float32", order) for shape, order in zip(shapes, orders, strict=True))
        nan_a, nan_c = torch.full_like(a, float("nan")), torch.full_like(c, float("nan"))
        for number in NUMBERS:
            product = planned(number, a, b, nan_c, beta=0.0)
            if product is None:
                continue
            with product:
                torch.testing.assert_close(product.execute(), a @ b, rtol=1e-5, atol=1e-5)
                product.reset_operands(a=nan_a, c=c, alpha=0.0, beta=3.0)
                assert torch.equal(product.execute(), 3 * c)
                product.reset_operands(alpha=1.0)
                assert product.execute().isnan().all()


def test_in_place_and_between_the_lines(torch: Any) -> None:
    for order in "CF":
        a, b = array(torch, (4001, 10), "float32", order), array(torch, (10, 24), "float32", order)
        for padding in (0, 1, 4):
            for number in NUMBERS:
                c = array(torch, (4001, 24), "float32", order, padding)
                whole, lines = c._base if c._base is not None else c, c.clone()
                before = whole.clone()
                product = planned(number, a, b, c, beta=0.5, options={"inplace": True})
                if product is None:
                    continue
                with product:
                    assert product.execute() is c
                torch.testing.assert_close(c, a @ b + 0.5 * lines, rtol=1e-5, atol=1e-5)
                c.copy_(lines)
                assert torch.equal(whole, before)


def test_a_column_c_batches_and_conjugated_factors(torch: Any) -> None:
    a, b = torch.randn(50, 300, 10, device="cuda"), torch.randn(10, 40, device="cuda")
    column = torch.randn(50, 300, 1, device="cuda")
    z = torch.complex(torch.randn(6000, 10, device="cuda"), torch.randn(6000, 10, device="cuda"))
    w = torch.complex(torch.randn(10, 16, device="cuda"), torch.randn(10, 16, device="cuda"))
    done = 0
    for number in NUMBERS:
        for operands, more, want in (
            ((a, b), {}, a @ b), ((a, b, column), {"beta": 2.0}, a @ b + 2 * column), ((z.conj(), w), {}, z.conj() @ w),
            ((z, w.conj()), {"alpha": 1 - 2j}, (1 - 2j) * (z @ w.conj())),
        ):  # fmt: skip
            product = planned(number, *operands, **more)
            if product is not None:
                done += 1
                with product:
                    torch.testing.assert_close(product.execute(), want, rtol=1e-4, atol=1e-4)
    assert done >= 8


def test_float16_is_rounded_once(torch: Any) -> None:
    a, b, c = (array(torch, shape, "float16") for shape in ((20_000, 32), (32, 16), (20_000, 16)))
    want, size = expected(torch, a, b, c, None, 1.0, 1.0, None)
    for number in NUMBERS:
        product = planned(number, a, b, c, beta=1.0)
        if product is not None:
            with product:
                assert_right(product.execute(), want, size, "float16", 32)


def test_another_alignment_after_a_reset(torch: Any) -> None:
    a, b = array(torch, (5000, 12), "float32"), array(torch, (12, 24), "float32")
    odd = array(torch, (5000, 12), "float32", offset=1)
    for number in NUMBERS:
        product = planned(number, a, b)
        assert product is not None
        with product:
            for each in (a, odd, a):
                product.reset_operands(a=each)
                torch.testing.assert_close(product.execute(), each @ b, rtol=1e-5, atol=1e-5)


def test_in_a_graph_and_on_another_stream(torch: Any) -> None:
    a, b, c = (array(torch, shape, "float32") for shape in ((100_000, 10), (10, 40), (100_000, 40)))
    product = planned(2, a, b, c, beta=1.0)
    assert product is not None
    with product:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            first = product.execute()
        stream.synchronize()
        torch.testing.assert_close(first, a @ b + c, rtol=1e-5, atol=1e-5)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = product.execute()
        for _ in range(3):
            a.copy_(torch.randn_like(a))
            graph.replay()
            torch.cuda.synchronize()
            torch.testing.assert_close(result, a @ b + c, rtol=1e-5, atol=1e-5)


def test_autotune_measures_it_keeps_it_and_finds_it_again(torch: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("NVMATH_AUTOTUNE_DIR", str(tmp_path / "tuned"))
    a, b, c = (array(torch, shape, "float32") for shape in ((1_000_000, 10), (10, 40), (1_000_000, 40)))
    keep = c.clone()
    with Matmul(a, b, c, alpha=0.5, beta=0.25) as product:
        assert all(each.own is None for each in product.plan())
        report = product.autotune(iterations=3)
        assert {each.own for each in report.algorithms} >= set(NUMBERS)
        assert torch.equal(c, keep)
        for each in product.algorithms or ():
            torch.testing.assert_close(product.execute(algorithm=each), 0.5 * (a @ b) + 0.25 * c, rtol=1e-5, atol=1e-5)
        report.save(tmp_path / "report.json")
        best = report.algorithms[0]
    with Matmul(a, b, c, alpha=0.5, beta=0.25) as product:
        assert product.plan()[0].as_numpy().tobytes()[:64] == best.as_numpy().tobytes()[:64]
        torch.testing.assert_close(product.execute(), 0.5 * (a @ b) + 0.25 * c, rtol=1e-5, atol=1e-5)
    loaded = AutotuneReport.load(tmp_path / "report.json").algorithms
    own = next(each for each in loaded if each.own is not None)
    got = matmul(a, b, c, alpha=0.5, beta=0.25, algorithm=Algorithm.from_numpy(own.as_numpy()))
    torch.testing.assert_close(got, 0.5 * (a @ b) + 0.25 * c, rtol=1e-5, atol=1e-5)


def test_autotune_leaves_other_products_to_the_library(torch: Any) -> None:
    for m, k, n in ((64, 10, 40), (4096, 4096, 4096)):
        a, b = array(torch, (m, k), "float32"), array(torch, (k, n), "float32")
        with Matmul(a, b) as product:
            product.plan(preferences={"limit": 2})
            assert all(each.own is None for each in product.autotune(iterations=1).algorithms)


@pytest.mark.parametrize("epilog", ["bias", "relu_bias", "gelu_bias"])
def test_autotune_with_epilogs_and_16_bits(torch: Any, monkeypatch: Any, epilog: str) -> None:
    """The library needs a second kernel here, and ours does all at once."""
    monkeypatch.setattr(_skinny_form, "_LEAST_NBYTES", 1 << 20)
    a, b, c = (array(torch, shape, "float16") for shape in ((100_000, 16), (16, 32), (100_000, 32)))
    bias = array(torch, (1, 100_000), "float16")[0]
    with Matmul(a, b, c, beta=1.0) as product:
        product.plan(epilog=epilog, epilog_inputs={"bias": bias})
        report = product.autotune(iterations=2)
        assert any(each.own is not None for each in report.algorithms)
        results = [product.execute(algorithm=each).double() for each in product.algorithms or ()]
    for each in results[1:]:
        torch.testing.assert_close(each, results[0], rtol=2e-3, atol=2e-3)
