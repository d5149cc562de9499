"""Narrow precision on a GPU: the cases of the CPU through cuBLASLt, what it refuses, scales edited in place, streams, capture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvmath import CudaDataType
from nvmath._core import place as places
from nvmath.bindings import _load
from nvmath.bindings.cublasLt import cuBLASLtError
from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul
from nvmath.linalg.advanced.helpers.matmul import (
    apply_mxfp8_scale,
    create_mxfp8_scale,
    expand_block_scale,
    get_block_scale_offset,
    invert_mxfp8_scale,
    quantize_to_fp4,
    to_block_scale,
    unpack_fp4,
)


def capability() -> tuple[int, int]:
    """Return that of GPU 0, (0, 0) without one."""
    return places.cuda(0).capability if places.has_device() else (0, 0)


pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not places.has_device(), reason="no CUDA device"),
    pytest.mark.skipif(_load.find_library("cublasLt") is None, reason="cuBLASLt is not installed"),
    pytest.mark.skipif(capability() < (8, 9), reason="the GPU has a compute capability below 8.9"),
]
HOPPER = pytest.mark.skipif(capability() != (9, 0), reason="the GPU does not have compute capability 9.0")
BLACKWELL = pytest.mark.skipif(capability() < (10, 0), reason="the GPU has a compute capability below 10")
NOT_BLACKWELL = pytest.mark.skipif(capability() >= (10, 0), reason="the GPU has compute capability 10 or newer")

LOSS = 2.0**-9
"""What the tensor cores may lose of the sum of magnitudes: they keep fewer bits than float32 while they add."""
EPS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}
F32, F16, BF16 = CudaDataType.CUDA_R_32F, CudaDataType.CUDA_R_16F, CudaDataType.CUDA_R_16BF
E4M3, E5M2 = CudaDataType.CUDA_R_8F_E4M3, CudaDataType.CUDA_R_8F_E5M2


def pair(
    torch: Any, m: int, n: int, k: int, a: str = "float8_e4m3fn", b: str = "float8_e4m3fn", batch: tuple[int, ...] = ()
) -> Any:
    """Return A and B with K innermost."""
    rng = torch.Generator("cuda").manual_seed(m + n + k)
    first = torch.randn(*batch, m, k, generator=rng, device="cuda").to(getattr(torch, a))
    second = torch.randn(*batch, n, k, generator=rng, device="cuda").to(getattr(torch, b)).mT
    return first, second


def assert_close(got: Any, want: Any, size: Any) -> None:
    """Compare a wide result."""
    eps = EPS[str(got.dtype).removeprefix("torch.")]
    bound = LOSS * size + eps * want.abs() + 2.0**-24
    assert ((got.double() - want).abs() <= bound).all()


def assert_rounded(torch: Any, got: Any, want: Any, size: Any) -> None:
    """Compare a narrow result: each code must be one that a value within the bound rounds to."""
    top = 448.0 if got.dtype is torch.float8_e4m3fn else 57344.0
    slack = LOSS * size
    low, high = ((want + sign * slack).float().clamp(-top, top).to(got.dtype).float() for sign in (-1, 1))
    assert ((low <= got.float()) & (got.float() <= high)).all()


# --- one scale for each matrix ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scales", [(1, 1, 1), (2, 1, 1), (1, 4, 1), (1, 1, 0.5), (2, 4, 0.25)])
def test_every_scale_is_applied_once(torch, scales):
    a, b = pair(torch, 64, 96, 128)
    sa, sb, sd = scales
    got = matmul(a, b, quantization_scales={"a": sa, "b": sb, "d": sd})
    factor = sa * sb * sd
    assert got.dtype is torch.float8_e4m3fn
    assert_rounded(torch, got, factor * (a.double() @ b.double()), factor * (a.double().abs() @ b.double().abs()))


@pytest.mark.parametrize("result", [F16, BF16, F32])
@pytest.mark.parametrize(
    ("first", "second"),
    [("float8_e4m3fn", "float8_e4m3fn"), ("float8_e4m3fn", "float8_e5m2"), ("float8_e5m2", "float8_e4m3fn")],
)
def test_wide_results_and_addends(torch, first, second, result):
    a, b = pair(torch, 64, 96, 128, first, second)
    want, size = 0.75 * a.double() @ b.double(), 0.75 * a.double().abs() @ b.double().abs()
    got = matmul(a, b, quantization_scales={"a": 3.0, "b": 0.25}, options={"result_type": result})
    assert_close(got, want, size)
    c = torch.randn(64, 96, device="cuda").to(got.dtype)
    got = matmul(a, b, c, alpha=2.0, beta=-0.5, quantization_scales={"a": 3.0, "b": 0.25})
    assert_close(got, 2 * want - 0.5 * c.double(), 2 * size + 0.5 * c.double().abs())


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ("float8_e5m2", "float8_e4m3fn", E5M2),
        ("float8_e5m2", "float8_e4m3fn", E4M3),
        ("float8_e4m3fn", "float8_e4m3fn", E4M3),
    ],
)
@pytest.mark.parametrize("addend", ["float16", "bfloat16", None])
def test_narrow_results(torch, first, second, result, addend):
    a, b = pair(torch, 64, 96, 128, first, second)
    c = None if addend is None else torch.randn(64, 96, device="cuda").to(getattr(torch, addend))
    scales = {"a": 1.5, "b": 2.0, "d": 0.125}
    got = matmul(a, b, c, beta=None if c is None else 1.0, quantization_scales=scales, options={"result_type": result})
    want, size = 3 * a.double() @ b.double(), 3 * a.double().abs() @ b.double().abs()
    if c is not None:
        want, size = want + c.double(), size + c.double().abs()
    assert_rounded(torch, got, want / 8, size / 8)


@settings(max_examples=30, deadline=None)
@given(
    st.tuples(*(st.sampled_from((16, 48, 256)),) * 3),
    st.sampled_from(((), (), (2,), (2, 3))),
    st.sampled_from(("k", "m", "padded")),
    st.sampled_from((1.0, 0.3, 2.0**20)),
)
def test_any_shape_and_layout(extents, batch, layout, scale):
    torch = pytest.importorskip("torch")
    m, n, k = extents
    a, b = pair(torch, m, n, k, batch=batch)
    if layout == "m":
        a, b = a.mT.contiguous().mT, b.contiguous()
    elif layout == "padded":
        a = torch.nn.functional.pad(a.view(torch.uint8), (0, 24)).view(torch.float8_e4m3fn)[..., :k]
    got = matmul(a, b, quantization_scales={"a": scale, "b": 1.0}, options={"result_type": F32})
    assert_close(got, scale * (a.double() @ b.double()), scale * (a.double().abs() @ b.double().abs()))


def test_the_largest_magnitude_and_delayed_scaling(torch):
    a, b = pair(torch, 128, 128, 256)
    scale = torch.full((1,), 1000.0, device="cuda")
    with Matmul(a, b, quantization_scales={"a": 1, "b": 1, "d": scale}, options={"result_amax": True}) as product:
        product.plan()
        result, more = product.execute()
        want = (a.double() @ b.double()).abs().max()
        torch.testing.assert_close(more["result_amax"].double()[0], want, rtol=1e-2, atol=0)
        assert (result.float().abs() == 448).any()
        scale[:] = 448 / more["result_amax"]  # in place: no reset
        result, more = product.execute()
        assert_rounded(
            torch, result, a.double() @ b.double() * scale.item(), a.double().abs() @ b.double().abs() * scale.item()
        )
        again, more = product.execute()  # the magnitude is not that of all calls so far
        torch.testing.assert_close(more["result_amax"].double()[0], want, rtol=1e-2, atol=0)
        assert torch.equal(again.view(torch.uint8), result.view(torch.uint8))


def test_a_product_of_nothing_keeps_the_addend(torch):
    a, b = pair(torch, 64, 96, 128)
    c = torch.randn(64, 96, device="cuda")
    got = matmul(a, b, c, alpha=0.0, beta=1.0, quantization_scales={"a": 1, "b": 1})
    assert torch.equal(got, c)


def test_operands_and_scales_are_replaced(torch):
    a, b = pair(torch, 64, 96, 128)
    with Matmul(a, b, quantization_scales={"a": 1, "b": 1}, options={"result_type": F32}) as product:
        product.plan()
        first = product.execute()
        product.reset_operands(quantization_scales={"a": 4})
        torch.testing.assert_close(product.execute(), 4 * first)
        product.reset_operands(a=a.clone(), quantization_scales={"b": torch.tensor([0.5], device="cuda")})
        torch.testing.assert_close(product.execute(), 2 * first)
        product.release_operands()
        product.reset_operands(a=a, b=b, quantization_scales={"a": 1, "b": 1})
        assert torch.equal(product.execute(), first)


def test_host_operands_travel(torch):
    a, b = pair(torch, 64, 96, 128)
    scales = {"a": 2.0, "b": torch.tensor([0.5]), "d": 0.25}
    got, more = matmul(a.cpu(), b.cpu(), quantization_scales=scales, options={"result_amax": True}, execution="cuda")
    there, _ = matmul(
        a, b, quantization_scales={**scales, "b": torch.tensor([0.5], device="cuda")}, options={"result_amax": True}
    )  # fmt: skip
    assert (got.device.type, more["result_amax"].device.type) == ("cpu", "cpu")
    assert torch.equal(got.view(torch.uint8), there.cpu().view(torch.uint8))


def test_operands_of_a_gpu_on_the_cpu(torch):
    a, b = pair(torch, 64, 96, 128)
    got = matmul(a, b, quantization_scales={"a": 1, "b": 1}, options={"result_type": F32}, execution="cpu")
    assert got.device.type == "cuda"
    torch.testing.assert_close(got.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-4)


def test_unaligned_operands_are_refused(torch):
    _, b = pair(torch, 64, 96, 128)
    memory = torch.zeros(64 * 128 + 1, dtype=torch.uint8, device="cuda")
    shifted = memory[1:].view(64, 128).view(torch.float8_e4m3fn)
    with pytest.raises(ValueError, match="aligned to 16 bytes"):
        Matmul(shifted, b, quantization_scales={"a": 1, "b": 1, "d": 1})


def test_another_stream_and_a_graph(torch):
    a, b = pair(torch, 128, 128, 256)
    stream = torch.cuda.Stream()
    scales = {name: torch.ones(1, device="cuda") for name in "abd"}
    want = matmul(a, b, quantization_scales=scales)
    torch.cuda.synchronize()
    got = matmul(a, b, quantization_scales={"a": 1.0, "b": 1.0, "d": 1.0}, stream=stream)
    stream.synchronize()
    assert torch.equal(got.view(torch.uint8), want.view(torch.uint8))
    with Matmul(a, b, quantization_scales=scales, options={"result_amax": True}) as product:
        product.plan()
        product.execute()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured, more = product.execute()
        scales["d"].fill_(0.5)
        graph.replay()
        torch.cuda.synchronize()
        assert_rounded(torch, captured, a.double() @ b.double() / 2, a.double().abs() @ b.double().abs() / 2)
        torch.testing.assert_close(
            more["result_amax"].double()[0], (a.double() @ b.double()).abs().max(), rtol=1e-2, atol=0
        )


# --- epilogs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epilog", ["RELU", "GELU", "BIAS", "RELU_BIAS", "GELU_BIAS"])
def test_epilogs_with_a_wide_result(torch, epilog):
    a, b = pair(torch, 64, 96, 128)
    bias = torch.randn(64, device="cuda").to(torch.bfloat16)
    inputs = {"bias": bias} if "BIAS" in epilog else None
    got = matmul(
        a, b, epilog=MatmulEpilog[epilog], epilog_inputs=inputs, quantization_scales={"a": 0.5, "b": 0.5}, options={"result_type": BF16}
    )  # fmt: skip
    value, size = 0.25 * a.double() @ b.double(), 0.25 * a.double().abs() @ b.double().abs()
    if inputs:
        value = value + bias.double()[:, None]
    if "RELU" in epilog:
        value = value.clamp(min=0)
    if "GELU" in epilog:
        value = torch.nn.functional.gelu(value, approximate="tanh")
    assert_close(got, value, 2 * size + 1)


@pytest.mark.parametrize("epilog", ["RELU", "BIAS", "RELU_BIAS"])
def test_epilogs_with_a_narrow_result(torch, epilog):
    a, b = pair(torch, 64, 96, 128)
    bias = torch.randn(64, device="cuda").to(torch.bfloat16)
    inputs = {"bias": bias} if "BIAS" in epilog else None
    scales = {"a": 1, "b": 1, "d": 2}
    got = matmul(a, b, epilog=MatmulEpilog[epilog], epilog_inputs=inputs, quantization_scales=scales)
    value, size = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    if inputs:
        value, size = value + bias.double()[:, None], size + bias.double().abs()[:, None]
    if "RELU" in epilog:
        value = value.clamp(min=0)
    assert_rounded(torch, got, 2 * value, 2 * size)


@pytest.mark.parametrize("kind", [None, E4M3])
def test_the_auxiliary_output_of_a_narrow_result(torch, kind):
    a, b = pair(torch, 64, 96, 128)
    c = torch.zeros(96, 64, device="cuda", dtype=torch.float16).mT
    preferences = {"epilog": {"aux_type": kind, "aux_amax": kind is not None}}
    inputs = None if kind is None else {"aux_quantization_scale": 0.5}
    scales = {"a": 1, "b": 1, "d": 1}
    with Matmul(a, b, c, beta=1.0, quantization_scales=scales, options={"result_type": E4M3}) as product:
        product.plan(epilog=MatmulEpilog.GELU_AUX, epilog_inputs=inputs, preferences=preferences)
        got, more = product.execute()
    want, size = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    assert_rounded(torch, got, torch.nn.functional.gelu(want, approximate="tanh"), 2 * size)
    if kind is None:
        assert more["gelu_aux"].dtype is torch.float16
        assert_close(more["gelu_aux"], want, size)
    else:
        assert_rounded(torch, more["gelu_aux"], want / 2, size / 2)
        torch.testing.assert_close(more["gelu_aux_amax"].double()[0], want.abs().max(), rtol=1e-2, atol=0)


# --- scales of rows, columns and blocks -------------------------------------------------------------------------------


@HOPPER
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("shape_a", "shape_b"),
    [((256, 1), (1, 384)), ((256, 5), (5, 384)), ((256, 5), (5, 3)), ((2, 5), (5, 384))],
    ids=["rows and columns", "vectors", "vectors and blocks", "blocks and vectors"],
)
def test_scales_of_rows_columns_and_blocks(torch, shape_a, shape_b, turned):
    m, n, k = 256, 384, 640
    a, b = pair(torch, m, n, k)
    sa, sb = torch.rand(shape_a, device="cuda") + 0.5, torch.rand(shape_b, device="cuda") + 0.5
    if turned:
        sa, sb = sa.T.contiguous().T, sb.T.contiguous().T

    def wide(scale: Any, rows: int, cols: int) -> Any:
        sizes = [
            1 if have == extent else extent if have == 1 else 128
            for have, extent in zip(scale.shape, (rows, cols), strict=True)
        ]
        return scale.double().repeat_interleave(sizes[0], 0).repeat_interleave(sizes[1], 1)

    first, second = a.double() * wide(sa, m, k), b.double() * wide(sb, k, n)
    got = matmul(a, b, quantization_scales={"a": sa, "b": sb}, options={"result_type": BF16})
    assert_close(got, first @ second, first.abs() @ second.abs())


# --- scales of small blocks -------------------------------------------------------------------------------------------


@NOT_BLACKWELL
def test_block_scales_need_another_gpu(torch):
    a, b = pair(torch, 128, 128, 128)
    scales = {"a": create_mxfp8_scale(a, 0), "b": create_mxfp8_scale(b, 0)}
    with pytest.raises(cuBLASLtError, match=r"MXFP8 needs a GPU of compute capability 10\.0 or newer"):
        matmul(a, b, quantization_scales=scales, options={"block_scaling": True})
    got, more = matmul(a, b, quantization_scales=scales, options={"block_scaling": True}, execution="cpu")
    value = apply_mxfp8_scale(got, more["d_out_scale"], torch.float64)
    assert got.device.type == more["d_out_scale"].device.type == "cuda"
    assert ((value - a.double() @ b.double()).abs() <= (a.double() @ b.double()).abs().max() / 16).all()


@BLACKWELL
@pytest.mark.parametrize("batch", [(), (2,)])
def test_mxfp8(torch, batch):
    m, n, k = 256, 128, 384
    a, b = pair(torch, m, n, k, batch=batch)
    sa = to_block_scale(
        torch.randint(120, 134, (*batch, m, k // 32), dtype=torch.uint8, device="cuda"),
        (*batch, m, k),
        "MXFP8",
        axis=-1,
    )
    sb = to_block_scale(
        torch.randint(120, 134, (*batch, k // 32, n), dtype=torch.uint8, device="cuda"),
        (*batch, k, n),
        "MXFP8",
        axis=-2,
    )
    first = a.double() * expand_block_scale(sa, (*batch, m, k), "MXFP8", axis=-1, output_dtype=torch.float64)
    second = b.double() * expand_block_scale(sb, (*batch, k, n), "MXFP8", axis=-2, output_dtype=torch.float64)
    scales = {"a": sa, "b": sb}
    got = matmul(a, b, quantization_scales=scales, options={"block_scaling": True, "result_type": F32})
    assert_close(got, first @ second, first.abs() @ second.abs())
    got, more = matmul(a, b, quantization_scales=scales, options={"block_scaling": True})
    here, expected = matmul(a, b, quantization_scales=scales, options={"block_scaling": True}, execution="cpu")
    assert (more["d_out_scale"] == expected["d_out_scale"]).double().mean() > 0.99
    assert (got.view(torch.uint8) == here.view(torch.uint8)).double().mean() > 0.98


@BLACKWELL
def test_nvfp4(torch):
    m, n, k = 128, 256, 192
    a, b = quantize_to_fp4(torch.randn(m, k, device="cuda"), -1), quantize_to_fp4(torch.randn(k, n, device="cuda"), -2)
    ones = {
        name: torch.ones(rows * k // 16, device="cuda").to(torch.float8_e4m3fn) for name, rows in (("a", m), ("b", n))
    }
    first, second = unpack_fp4(a, -1).double(), unpack_fp4(b, -2).double()
    got = matmul(a, b, quantization_scales=ones, options={"block_scaling": True, "result_type": F32})
    assert_close(got, first @ second, first.abs() @ second.abs())
    got, more = matmul(a, b, quantization_scales=ones, options={"block_scaling": True})
    step = expand_block_scale(more["d_out_scale"], (m, n), "NVFP4", axis=-1, output_dtype=torch.float64)
    want = first @ second
    assert ((unpack_fp4(got, -1).double() * step - want).abs() <= step + 0.07 * want.abs()).all()


# --- helpers ----------------------------------------------------------------------------------------------------------


def test_helpers_work_on_the_gpu_as_on_the_host(torch):
    rng = np.random.default_rng(0)
    natural = torch.from_numpy(rng.integers(120, 134, (128, 8)).astype(np.uint8))
    flat = to_block_scale(natural.cuda(), (128, 256), "MXFP8", axis=-1)
    assert torch.equal(flat.cpu(), to_block_scale(natural, (128, 256), "MXFP8", axis=-1))
    wide = expand_block_scale(flat, (128, 256), "MXFP8", axis=-1, output_dtype=torch.float32)
    assert torch.equal(
        wide.cpu(), expand_block_scale(flat.cpu(), (128, 256), "MXFP8", axis=-1, output_dtype=torch.float32)
    )
    assert expand_block_scale(flat, (128, 256), "MXFP8", axis=-1, device="cpu").device.type == "cpu"
    x = torch.randn(128, 256)
    assert torch.equal(apply_mxfp8_scale(x.cuda(), flat).cpu(), apply_mxfp8_scale(x, flat.cpu()))
    for axis in (-1, -2):
        packed = quantize_to_fp4(x.cuda(), axis)
        assert torch.equal(packed.cpu().view(torch.uint8), quantize_to_fp4(x, axis).view(torch.uint8))
        assert torch.equal(unpack_fp4(packed, axis).cpu(), unpack_fp4(quantize_to_fp4(x, axis), axis))
    scale = create_mxfp8_scale(x.cuda(), 3, stream=torch.cuda.current_stream())
    assert (scale.device.type, int(scale[0]), int(invert_mxfp8_scale(scale)[0])) == ("cuda", 130, 124)
    index = torch.arange(8, device="cuda"), torch.arange(8, device="cuda")
    offsets = get_block_scale_offset(index, (128, 256), "MXFP8", axis=-1)
    assert torch.equal(flat[offsets].cpu(), natural[range(8), range(8)])


def test_helpers_take_cupy_arrays(cupy):
    x = cupy.asarray(np.random.default_rng(0).standard_normal((128, 256)), cupy.float32)
    packed = quantize_to_fp4(x, -1)
    np.testing.assert_array_equal(
        cupy.asnumpy(unpack_fp4(packed, -1)), unpack_fp4(quantize_to_fp4(cupy.asnumpy(x), -1), -1)
    )
    scales = create_mxfp8_scale(x, 2)
    np.testing.assert_array_equal(
        cupy.asnumpy(apply_mxfp8_scale(x, scales, cupy.float64)), 4.0 * cupy.asnumpy(x).astype(np.float64)
    )
    natural = cupy.full((128, 8), 129, np.uint8)
    flat = to_block_scale(natural, (128, 256), "MXFP8", axis=-1)
    assert (expand_block_scale(flat, (128, 256), "MXFP8", axis=-1, output_dtype=np.float32) == 4).all()


# --- int8 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["row", "column", "padded"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_int8(torch, batch, layout):
    m, n, k = 64, 36, 100
    a = torch.randint(-128, 128, (*batch, m, k), dtype=torch.int8, device="cuda")
    b = torch.randint(-128, 128, (*batch, k, n), dtype=torch.int8, device="cuda")
    c = torch.randint(-1000, 1000, (*batch, m, n), dtype=torch.int32, device="cuda")
    if layout == "column":
        a, b = a.mT.contiguous().mT, b.mT.contiguous().mT
    elif layout == "padded":
        a = torch.nn.functional.pad(a, (0, 3))[..., :k]
    want = (a.double() @ b.double()).long()
    got = matmul(a, b)
    assert got.dtype is torch.int32
    assert torch.equal(got.long(), want)
    assert torch.equal(matmul(a, b, c, alpha=3, beta=-2).long(), 3 * want - 2 * c.long())
    assert torch.equal(matmul(a, b, c, alpha=0, beta=1), c)


def test_int8_extents_that_a_gpu_does_not_have(torch):
    a = torch.ones(6, 8, dtype=torch.int8, device="cuda")
    with pytest.raises(ValueError, match="divisible by 4 for int8 operands on a GPU, but M is 6"):
        matmul(a, a.T)
    assert (matmul(a, a.T, execution="cpu") == 8).all()
