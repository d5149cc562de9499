"""Products in narrow precision on the CPU: values, scales, what is returned besides, life cycle and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvmath import CudaDataType
from nvmath.linalg.advanced import Matmul, MatmulEpilog, MatmulQuantizationScales, matmul
from nvmath.linalg.advanced._narrow_formats import FORMATS, decoded, encode
from nvmath.linalg.advanced.helpers.matmul import (
    apply_mxfp8_scale,
    create_mxfp8_scale,
    expand_block_scale,
    quantize_to_fp4,
    to_block_scale,
    unpack_fp4,
)

torch = pytest.importorskip("torch")

CPU: dict[str, Any] = {"execution": "cpu"}
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
NAMES = {E4M3: "float8_e4m3fn", E5M2: "float8_e5m2"}
TYPES = {
    torch.float16: CudaDataType.CUDA_R_16F,
    torch.bfloat16: CudaDataType.CUDA_R_16BF,
    torch.float32: CudaDataType.CUDA_R_32F,
    E4M3: CudaDataType.CUDA_R_8F_E4M3,
    E5M2: CudaDataType.CUDA_R_8F_E5M2,
}
EPS = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-24}


def pair(
    m: int = 32, n: int = 48, k: int = 64, a: Any = E4M3, b: Any = E4M3, batch: tuple[int, ...] = (), seed: int = 0
) -> Any:
    """Return A with K innermost and B with K innermost."""
    rng = torch.Generator().manual_seed(seed)
    first = torch.randn(*batch, m, k, generator=rng).to(a)
    second = torch.randn(*batch, n, k, generator=rng).to(b).mT
    return first, second


def quantised(values: Any, dtype: Any) -> Any:
    """Round to the nearest, saturating: another implementation than the one that is tested."""
    limit = FORMATS[NAMES[dtype]].largest
    return values.float().clamp(-limit, limit).to(dtype)


def assert_close(got: Any, want: Any, size: Any, k: int) -> None:
    """Compare with what float32 arithmetic over K terms and one rounding of the result may be off."""
    bound = 2.0**-23 * (k + 8) * size + EPS[got.dtype] * want.abs() + 2.0**-24
    assert ((got.double() - want).abs() <= bound).all()


def assert_rounded(got: Any, want: Any, size: Any, k: int) -> None:
    """Compare a narrow result: each code must be that of a value within the error of float32 arithmetic."""
    slack = 2.0**-23 * (k + 8) * size
    low, high = quantised(want - slack, got.dtype).float(), quantised(want + slack, got.dtype).float()
    assert ((low <= got.float()) & (got.float() <= high)).all()


# --- one scale for each matrix ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scales", [(1, 1, 1), (2, 1, 1), (1, 4, 1), (1, 1, 0.5), (2, 4, 0.25)])
def test_every_scale_is_applied_once(scales):
    a, b = pair()
    sa, sb, sd = scales
    got = matmul(a, b, quantization_scales={"a": sa, "b": sb, "d": sd}, **CPU)
    product = (a.double() * sa) @ (b.double() * sb) * sd
    assert got.dtype is E4M3
    assert_rounded(got, product, (a.double().abs() * sa) @ (b.double().abs() * sb) * sd, 64)


@pytest.mark.parametrize("result", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize(("first", "second"), [(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3)])
def test_wide_results_and_addends(first, second, result):
    a, b = pair(a=first, b=second)
    c = torch.randn(32, 48).to(result)
    got = matmul(a, b, c, alpha=0.5, beta=-2.0, quantization_scales={"a": 3.0, "b": 0.25}, **CPU)
    want = 0.5 * (3 * a.double()) @ (0.25 * b.double()) - 2 * c.double()
    size = 0.5 * (3 * a.double().abs()) @ (0.25 * b.double().abs()) + 2 * c.double().abs()
    assert got.dtype is result
    assert_close(got, want, size, 64)
    alone = matmul(a, b, quantization_scales={"a": 3.0, "b": 0.25}, options={"result_type": TYPES[result]}, **CPU)
    assert alone.dtype is result
    assert_close(alone, (3 * a.double()) @ (0.25 * b.double()), 0.75 * a.double().abs() @ b.double().abs(), 64)


@pytest.mark.parametrize(
    ("first", "second", "result"), [(E5M2, E4M3, E5M2), (E5M2, E4M3, E4M3), (E4M3, E5M2, E5M2), (E4M3, E4M3, E4M3)]
)
@pytest.mark.parametrize("addend", [torch.float16, torch.bfloat16, None])
def test_narrow_results(first, second, result, addend):
    a, b = pair(a=first, b=second)
    scales = {"a": 1.5, "b": 2.0, "d": 0.125}
    c = None if addend is None else torch.randn(32, 48).to(addend)
    options = {"result_type": TYPES[result]}
    got = matmul(a, b, c, beta=None if c is None else 1.0, quantization_scales=scales, options=options, **CPU)
    want, size = 3 * a.double() @ b.double(), 3 * a.double().abs() @ b.double().abs()
    if c is not None:
        want, size = want + c.double(), size + c.double().abs()
    assert got.dtype is result
    assert_rounded(got, want / 8, size / 8, 64)


@settings(max_examples=25)
@given(
    st.tuples(*(st.sampled_from((16, 32, 80)),) * 3),
    st.sampled_from(((), (), (2,), (2, 3))),
    st.sampled_from((1.0, 0.3, 1e-30, 1e30, -2.0)),
    st.sampled_from((1.0, 7.0, 1e-30)),
    st.sampled_from(("k", "m", "padded")),
    st.integers(0, 1000),
)
def test_any_scale_shape_and_layout(extents, batch, sa, sb, layout, seed):
    m, n, k = extents
    a, b = pair(m, n, k, batch=batch, seed=seed)
    if layout == "m":
        a = a.mT.contiguous().mT
        b = b.contiguous()
    elif layout == "padded":
        a = torch.nn.functional.pad(a.view(torch.uint8), (0, 16)).view(E4M3)[..., :k]
    got = matmul(a, b, quantization_scales={"a": sa, "b": sb}, options={"result_type": CudaDataType.CUDA_R_32F}, **CPU)
    want = sa * sb * (a.double() @ b.double())
    size = abs(sa * sb) * (a.double().abs() @ b.double().abs())
    finite = want.abs() < 3e38
    assert_close(got[finite], want[finite], size[finite], k)


def test_batches_stretch():
    a, _ = pair(batch=(2, 1))
    _, b = pair(batch=(1, 3), seed=2)
    got = matmul(
        a, b, quantization_scales={"a": 2.0, "b": 1.0}, options={"result_type": CudaDataType.CUDA_R_32F}, **CPU
    )
    assert tuple(got.shape) == (2, 3, 32, 48)
    assert_close(got, 2 * a.double() @ b.double(), 2 * a.double().abs() @ b.double().abs(), 64)


def test_what_is_too_large_saturates_and_nan_stays():
    a, b = pair()
    got = matmul(a, b, quantization_scales={"a": 1e6, "b": 1.0, "d": 1.0}, **CPU)
    want = a.double() @ b.double()
    assert torch.equal(got.float(), torch.where(want < 0, -448.0, 448.0).float())
    a.view(torch.uint8)[3, 5] = 0x7F
    got = matmul(a, b, quantization_scales={"a": 1.0, "b": 1.0, "d": 1.0}, **CPU)
    assert got.float().isnan().any(1).tolist() == [row == 3 for row in range(32)]


def test_the_largest_magnitude_is_that_before_scaling_and_rounding():
    a, b = pair()
    got, more = matmul(a, b, quantization_scales={"a": 2.0, "b": 1.0, "d": 0.5}, options={"result_amax": True}, **CPU)
    want = (2 * a.double() @ b.double()).abs().max()
    assert list(more) == ["result_amax"]
    assert (more["result_amax"].dtype, tuple(more["result_amax"].shape)) == (torch.float32, (1,))
    torch.testing.assert_close(more["result_amax"].double()[0], want, rtol=1e-6, atol=0)
    assert got.dtype is E4M3


def test_delayed_scaling_keeps_the_result_in_range():
    a, b = pair()
    options = {"result_amax": True}
    scale = torch.full((1,), 1000.0)
    with Matmul(a, b, quantization_scales={"a": 1, "b": 1, "d": scale}, options=options, **CPU) as product:
        product.plan()
        result, more = product.execute()
        assert (result.float().abs() == 448).any()
        scale[:] = 448 / more["result_amax"]  # in place: no reset
        result, more = product.execute()
        want = a.double() @ b.double() * scale.item()
        assert_rounded(result, want, a.double().abs() @ b.double().abs() * scale.item(), 64)
        assert result.float().abs().max() == 448


# --- epilogs ----------------------------------------------------------------------------------------------------------


def test_epilogs_work_on_unrounded_values():
    a, b = pair()
    bias = torch.randn(32).to(torch.bfloat16)
    scales = {"a": 1.0, "b": 1.0, "d": 2.0}
    got = matmul(a, b, epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": bias}, quantization_scales=scales, **CPU)
    want = 2 * (a.double() @ b.double() + bias.double()[:, None]).clamp(min=0)
    assert_rounded(got, want, 2 * (a.double().abs() @ b.double().abs() + bias.double().abs()[:, None]), 64)


def test_the_auxiliary_output_has_the_type_of_c_unless_it_is_asked_for():
    a, b = pair()
    c = torch.randn(32, 48).to(torch.float16)
    scales = {"a": 1.0, "b": 1.0, "d": 1.0}
    arguments = {
        "beta": 1.0,
        "epilog": MatmulEpilog.GELU_AUX,
        "options": {"result_type": CudaDataType.CUDA_R_8F_E4M3},
        **CPU,
    }
    before = a.double() @ b.double() + c.double()
    size = a.double().abs() @ b.double().abs() + c.double().abs()
    _, more = matmul(a, b, c, quantization_scales=scales, **arguments)
    assert more["gelu_aux"].dtype is torch.float16
    assert_close(more["gelu_aux"], before, size, 64)
    preferences = {"epilog": {"aux_type": CudaDataType.CUDA_R_8F_E4M3, "aux_amax": True}}
    inputs = {"aux_quantization_scale": 0.5}
    result, more = matmul(
        a, b, c, quantization_scales=scales, preferences=preferences, epilog_inputs=inputs, **arguments
    )
    assert_rounded(more["gelu_aux"], before / 2, size / 2, 64)
    torch.testing.assert_close(more["gelu_aux_amax"].double()[0], before.abs().max(), rtol=1e-6, atol=0)
    assert result.dtype is E4M3
    for bad in ({}, None):
        with pytest.raises(ValueError, match="auxiliary output is not specified"):
            matmul(a, b, c, quantization_scales=scales, preferences=preferences, epilog_inputs=bad, **arguments)
    with pytest.raises(ValueError, match="not supported for an auxiliary output when it is not a narrow-precision"):
        matmul(a, b, c, quantization_scales=scales, epilog_inputs=inputs, **arguments)


# --- scales of rows, columns and blocks -------------------------------------------------------------------------------


def blown_up(scale: Any, rows: int, cols: int) -> Any:
    """Return the scale of every element."""
    up = [-(-extent // have) for extent, have in zip((rows, cols), scale.shape, strict=True)]
    sizes = [
        1 if have == extent else 128 if have > 1 else extent
        for extent, have in zip((rows, cols), scale.shape, strict=True)
    ]
    assert len(up) == 2
    wide = scale.double().repeat_interleave(sizes[0], 0).repeat_interleave(sizes[1], 1)
    return wide[:rows, :cols]


@pytest.mark.parametrize(
    ("shape_a", "shape_b"),
    [((160, 1), (1, 144)), ((160, 3), (3, 144)), ((160, 3), (3, 2)), ((2, 3), (3, 144))],
    ids=["rows and columns", "vectors", "vectors and blocks", "blocks and vectors"],
)
@pytest.mark.parametrize("turned", [False, True])
def test_scales_of_rows_columns_and_blocks(shape_a, shape_b, turned):
    m, n, k = 160, 144, 320
    a, b = pair(m, n, k)
    sa, sb = torch.rand(shape_a) + 0.5, torch.rand(shape_b) + 0.5
    if turned:
        sa, sb = sa.T.contiguous().T, sb.T.contiguous().T
    options = {"result_type": CudaDataType.CUDA_R_32F}
    got = matmul(a, b, quantization_scales={"a": sa, "b": sb}, options=options, **CPU)
    first, second = a.double() * blown_up(sa, m, k), b.double() * blown_up(sb, k, n)
    assert_close(got, first @ second, first.abs() @ second.abs(), k)
    with pytest.raises(ValueError, match="not supported with scales of rows"):
        matmul(a, b, quantization_scales={"a": sa, "b": sb, "d": 1.0}, **CPU)


def test_scales_that_mean_nothing():
    a, b = pair(160, 144, 320)
    options = {"result_type": CudaDataType.CUDA_R_16F}
    for sa, sb in (((160, 2), (3, 144)), ((2, 3), (3, 2)), ((160, 1), (1,))):
        with pytest.raises(ValueError, match="one of these shapes"):
            matmul(a, b, quantization_scales={"a": torch.ones(sa), "b": torch.ones(sb)}, options=options, **CPU)


# --- scales of small blocks -------------------------------------------------------------------------------------------


def block_scales(operand: Any, shape: tuple[int, ...], kind: str, axis: int, seed: int) -> Any:
    """Return random scales in tiles, and the scale of every element."""
    rng = torch.Generator().manual_seed(seed)
    size = {"MXFP8": 32, "NVFP4": 16}[kind]
    natural = [extent // size if at == len(shape) + axis else extent for at, extent in enumerate(shape)]
    if kind == "MXFP8":
        flat = to_block_scale(
            torch.randint(120, 134, natural, generator=rng, dtype=torch.uint8), shape, kind, axis=axis
        )
    else:
        flat = to_block_scale((torch.rand(natural, generator=rng) * 4 + 0.25).to(E4M3), shape, kind, axis=axis)
    return flat, expand_block_scale(flat, shape, kind, axis=axis, output_dtype=torch.float64)


@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
@pytest.mark.parametrize("result", [torch.float16, torch.float32])
def test_mxfp8(batch, result):
    m, n, k = 128, 256, 384
    a, b = pair(m, n, k, batch=batch)
    (sa, wide_a), (sb, wide_b) = (
        block_scales(a, (*batch, m, k), "MXFP8", -1, 1),
        block_scales(b, (*batch, k, n), "MXFP8", -2, 2),
    )
    first, second = a.double() * wide_a, b.double() * wide_b
    options = {"block_scaling": True, "result_type": TYPES[result]}
    got = matmul(a, b, quantization_scales=MatmulQuantizationScales(a=sa, b=sb), options=options, **CPU)
    want, size = first @ second, first.abs() @ second.abs()
    if result is torch.float16:
        keep = want.abs() < 65000
        got, want, size = got[keep], want[keep], size[keep]
    assert_close(got, want, size, k)


def test_scales_of_mxfp8_that_leave_float32():
    a, b = pair(128, 128, 128)
    options = {"block_scaling": True, "result_type": CudaDataType.CUDA_R_32F}
    scales = {"a": create_mxfp8_scale(a, 127), "b": create_mxfp8_scale(b, -127)}
    got = matmul(a, b, quantization_scales=scales, options=options, **CPU)
    assert_close(got, a.double() @ b.double(), a.double().abs() @ b.double().abs(), 128)


@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("kind", [E4M3, E5M2])
@pytest.mark.parametrize("column", [False, True])
def test_the_scales_of_an_mxfp8_result(batch, kind, column):
    m, n, k = 128, 256, 128
    a, b = pair(m, n, k, batch=batch)
    sa, sb = create_mxfp8_scale(a, 3), create_mxfp8_scale(b, -1)
    options = {"block_scaling": True, "result_type": TYPES[kind]}
    epilog = (
        {"epilog": MatmulEpilog.BIAS, "epilog_inputs": {"bias": torch.zeros(m, dtype=torch.bfloat16)}} if column else {}
    )
    got, more = matmul(a, b, quantization_scales={"a": sa, "b": sb}, options=options, **epilog, **CPU)
    scales = more["d_out_scale"]
    assert (scales.dtype, tuple(scales.shape), got.dtype) == (
        torch.uint8,
        (int(np.prod(batch, dtype=int)) * m * n // 32,),
        kind,
    )
    assert (got.stride(-2) == 1) is column
    want = 4 * a.double() @ b.double()
    axis = -2 if column else -1
    step = expand_block_scale(scales, tuple(got.shape), "MXFP8", axis=axis, output_dtype=torch.float64)
    top = FORMATS[NAMES[kind]].largest
    block = (
        want.unflatten(axis, (-1, 32))
        .abs()
        .amax(axis, keepdim=True)
        .expand(*want.unflatten(axis, (-1, 32)).shape)
        .reshape(want.shape)
    )
    assert (block <= top * step * (1 + 1e-6)).all()  # nothing saturates
    assert (block * 2 >= top * step * (1 - 1e-6)).all()  # and the scale is the smallest power of two that does it
    assert_rounded(got, want / step, 4 * a.double().abs() @ b.double().abs() / step, k)


def test_a_result_of_mxfp8_is_an_operand_of_the_next_product():
    a, b = pair(128, 128, 128)
    ones = {"a": create_mxfp8_scale(a, 0), "b": create_mxfp8_scale(b, 0)}
    middle, more = matmul(a, b, quantization_scales=ones, options={"block_scaling": True}, **CPU)
    options = {"block_scaling": True, "result_type": CudaDataType.CUDA_R_32F}
    got = matmul(middle, b, quantization_scales={"a": more["d_out_scale"], "b": ones["b"]}, options=options, **CPU)
    value = apply_mxfp8_scale(middle, more["d_out_scale"], torch.float64)
    assert_close(got, value @ b.double(), value.abs() @ b.double().abs(), 128)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_nvfp4(batch):
    m, n, k = 128, 256, 192
    a, b = quantize_to_fp4(torch.randn(*batch, m, k) * 2, -1), quantize_to_fp4(torch.randn(*batch, k, n) * 2, -2)
    (sa, wide_a), (sb, wide_b) = (
        block_scales(a, (*batch, m, k), "NVFP4", -1, 1),
        block_scales(b, (*batch, k, n), "NVFP4", -2, 2),
    )
    first, second = unpack_fp4(a, -1).double() * wide_a, unpack_fp4(b, -2).double() * wide_b
    want, size = first @ second, first.abs() @ second.abs()
    arguments = {"quantization_scales": {"a": sa, "b": sb}, **CPU}
    got = matmul(a, b, options={"block_scaling": True, "result_type": CudaDataType.CUDA_R_32F}, **arguments)
    assert_close(got, want, size, k)
    got, more = matmul(a, b, options={"block_scaling": True}, **arguments)
    assert (got.dtype, tuple(got.shape)) == (torch.float4_e2m1fn_x2, (*batch, m, n // 2))
    step = expand_block_scale(more["d_out_scale"], (*batch, m, n), "NVFP4", axis=-1, output_dtype=torch.float64)
    values = unpack_fp4(got, -1).double() * step
    assert more["d_out_scale"].dtype is E4M3
    assert (
        (values - want).abs() <= step * 1.0 + 0.07 * want.abs()
    ).all()  # half the widest gap, and the rounding of the scale


def test_a_column_major_result_of_nvfp4_is_packed_along_its_rows():
    m, n, k = 128, 128, 64
    a, b = quantize_to_fp4(torch.randn(m, k), -1), quantize_to_fp4(torch.randn(k, n), -2)
    ones = torch.ones(m * k // 16).to(E4M3)
    bias = torch.zeros(m, dtype=torch.bfloat16)
    got, more = matmul(
        a, b, epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": bias}, quantization_scales={"a": ones, "b": ones},
        options={"block_scaling": True}, **CPU,
    )  # fmt: skip
    assert (tuple(got.shape), got.stride(0)) == ((m // 2, n), 1)
    want = unpack_fp4(a, -1).double() @ unpack_fp4(b, -2).double()
    step = expand_block_scale(more["d_out_scale"], (m, n), "NVFP4", axis=-2, output_dtype=torch.float64)
    assert ((unpack_fp4(got, -2).double() * step - want).abs() <= step + 0.07 * want.abs()).all()


# --- packages ---------------------------------------------------------------------------------------------------------


def test_numpy_arrays_of_ml_dtypes():
    package = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((32, 64)).astype(package.float8_e4m3fn)
    b = rng.standard_normal((48, 64)).astype(package.float8_e4m3fn).T
    got = matmul(a, b, quantization_scales={"a": np.float32(2), "b": np.full(1, 0.5, np.float32), "d": 1}, **CPU)
    assert (type(got), got.dtype, got.shape) == (np.ndarray, np.dtype(package.float8_e4m3fn), (32, 48))
    codes = np.empty((32, 48), np.uint8)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    encode(exact.astype(np.float32), "float8_e4m3fn", codes)
    off = np.abs(decoded("float8_e4m3fn")[codes] - got.astype(np.float64))
    assert (off <= np.abs(exact) / 8).all()
    assert (off != 0).mean() < 0.01  # where float32 and float64 fall on two sides of a border


def test_mxfp8_of_numpy_arrays():
    package = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((128, 128)).astype(package.float8_e4m3fn)
    b = rng.standard_normal((128, 128)).astype(package.float8_e5m2).T
    scales = {"a": create_mxfp8_scale(a, 1), "b": create_mxfp8_scale(b, -3)}
    got, more = matmul(a, b, quantization_scales=scales, options={"block_scaling": True}, **CPU)
    want = a.astype(np.float64) @ b.astype(np.float64) / 4
    value = apply_mxfp8_scale(got, more["d_out_scale"], np.float64)
    assert (got.dtype, more["d_out_scale"].dtype) == (a.dtype, np.uint8)
    assert (np.abs(value - want) <= np.abs(want) / 15 + np.abs(want).max() * 2.0**-14).all()


# --- life cycle -------------------------------------------------------------------------------------------------------


def test_operands_and_scales_are_replaced():
    a, b = pair()
    other, _ = pair(seed=5)
    options = {"result_type": CudaDataType.CUDA_R_32F}
    with Matmul(a, b, quantization_scales={"a": 1, "b": 1}, options=options, **CPU) as product:
        product.plan()
        first = product.execute()
        product.reset_operands(quantization_scales={"a": 4})
        torch.testing.assert_close(product.execute(), 4 * first, rtol=1e-6, atol=1e-6)
        product.reset_operands(a=other, quantization_scales={"b": torch.tensor([0.5])})
        torch.testing.assert_close(product.execute().double(), 2 * other.double() @ b.double(), rtol=1e-5, atol=1e-4)
        product.reset_operands_unchecked(quantization_scales={"b": torch.tensor([0.25])})
        torch.testing.assert_close(product.execute().double(), other.double() @ b.double(), rtol=1e-5, atol=1e-4)
        with pytest.raises(ValueError, match="no scale of d at construction"):
            product.reset_operands(quantization_scales={"d": 1.0})
        with pytest.raises(ValueError, match="a_scale had dtype float32, so it cannot be replaced"):
            product.reset_operands(quantization_scales={"a": torch.ones(1).half()})
        with pytest.raises(ValueError, match="one of these shapes"):
            product.reset_operands(quantization_scales={"a": torch.ones(2)})
        product.release_operands()
        product.reset_operands(a=a, b=b, quantization_scales={"a": 1, "b": 1})
        assert torch.equal(product.execute(), first)


def test_one_call_after_another_uses_the_new_scales():
    a, b = pair()
    options = {"result_type": CudaDataType.CUDA_R_32F}
    plain = matmul(a, b, quantization_scales={"a": 1, "b": 1}, options=options, **CPU)
    for scale in (2.0, 4.0):
        got = matmul(a, b, quantization_scales={"a": scale, "b": 1}, options=options, **CPU)
        torch.testing.assert_close(got, scale * plain, rtol=1e-6, atol=1e-6)


def test_scales_of_wide_operands_are_ignored_with_a_warning(caplog):
    got = matmul(np.eye(2), np.eye(2), quantization_scales={"a": 3.0, "b": 5.0}, **CPU)
    np.testing.assert_array_equal(got, np.eye(2))
    assert "quantization_scales are ignored" in caplog.text


def test_in_place():
    a, b = pair()
    c = torch.randn(32, 48)
    want = a.double() @ b.double() + 2 * c.double()
    got = matmul(a, b, c, beta=2.0, quantization_scales={"a": 1, "b": 1}, options={"inplace": True}, **CPU)
    assert got is c
    assert_close(c, want, a.double().abs() @ b.double().abs() + 8, 64)


def test_nothing_of_the_caller_is_changed():
    a, b = pair()
    scale = torch.tensor([2.0])
    before = [each.view(torch.uint8).clone() for each in (a, b.mT, scale)]
    matmul(a, b, quantization_scales={"a": scale, "b": scale, "d": scale}, **CPU)
    for each, old in zip((a, b.mT, scale), before, strict=True):
        assert torch.equal(each.view(torch.uint8), old)


# --- refusals ---------------------------------------------------------------------------------------------------------

ONES = {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("scales", "words"),
    [
        (None, "Scales are required for narrow-precision"),
        ({}, "Scales are required for narrow-precision"),
        ({"a": 1, "d": 1}, "scale of b is not specified"),
        ({"a": 1, "b": 1}, "scale of d is not specified"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "scale of c is not supported for c when it is not a narrow-precision"),
        ({"a": 1, "b": torch.ones(3), "d": 1}, r"one of these shapes"),
        ({"a": 1, "b": 1, "d": torch.ones(2)}, "scale of d must be a number or a float32 tensor"),
    ],
)
def test_scales_that_are_missing_or_wrong(scales, words):
    a, b = pair()
    with pytest.raises(ValueError, match=words):
        Matmul(a, b, quantization_scales=scales, **CPU)


def test_a_scale_of_another_package_is_refused():
    a, b = pair()
    with pytest.raises(TypeError, match="package"):
        Matmul(a, b, quantization_scales={"a": np.ones(1, np.float32), "b": 1, "d": 1}, **CPU)
    with pytest.raises(TypeError, match="unexpected keyword 'e'"):
        Matmul(a, b, quantization_scales={"e": 1}, **CPU)


def test_a_scale_of_a_wide_result_is_refused():
    a, b = pair()
    with pytest.raises(
        ValueError, match="scale of d is not supported for a result of float16 when it is not a narrow-precision"
    ):
        Matmul(
            a, b, quantization_scales={"a": 1, "b": 1, "d": 1}, options={"result_type": CudaDataType.CUDA_R_16F}, **CPU
        )


def test_dtypes_that_do_not_go_together():
    a, b = pair(a=E5M2, b=E5M2)
    with pytest.raises(ValueError, match=r"Unsupported combination of dtypes.*float8_e4m3fn with float8_e5m2"):
        Matmul(a, b, quantization_scales=ONES, **CPU)
    a, b = pair()
    with pytest.raises(ValueError, match="Unsupported combination of dtypes"):
        Matmul(a, b.float(), quantization_scales=ONES, **CPU)
    with pytest.raises(ValueError, match="Unsupported combination of dtypes: a result of float8_e5m2"):
        Matmul(a, b, quantization_scales=ONES, options={"result_type": CudaDataType.CUDA_R_8F_E5M2}, **CPU)
    with pytest.raises(ValueError, match="Unsupported combination of dtypes: c of float32 and a result of float16"):
        Matmul(
            a,
            b,
            torch.ones(32, 48),
            beta=1,
            quantization_scales=ONES,
            options={"result_type": CudaDataType.CUDA_R_16F},
            **CPU,
        )
    with pytest.raises(ValueError, match=r"^The dtype of operand c is not supported"):
        Matmul(a, b, torch.ones(32, 48).to(E4M3), beta=1, quantization_scales=ONES, **CPU)


def test_extents_that_the_library_cannot_multiply():
    for m, n, k, words in ((16, 16, 17, "K is 17"), (20, 16, 16, "M is 20"), (16, 8, 16, "N is 8")):
        a, b = pair(m, n, k)
        product = Matmul(a, b, quantization_scales={**ONES, "d": 1}, **CPU)
        with pytest.raises(ValueError, match=f"divisible by 16 .*{words}"):
            product.plan()
    a, b = pair(128, 64, 128)
    scales = {"a": create_mxfp8_scale(a, 0), "b": create_mxfp8_scale(b, 0)}
    with pytest.raises(ValueError, match=r"divisible by 128 .*N is 64"):
        matmul(a, b, quantization_scales=scales, options={"block_scaling": True}, **CPU)


def test_block_scales_that_do_not_fit():
    a, b = pair(128, 128, 128)
    good = create_mxfp8_scale(a, 0)
    blocks = {"block_scaling": True}
    for scale, words in (
        (1, "must be a tensor with a value for each block"),
        (good[:-1], "should have shape"),
        (good.float(), "must be uint8 tensor"),
        (good.reshape(2, -1), "should have shape"),
        (torch.stack([good, good], 1)[:, 0], "must be contiguous"),
    ):
        with pytest.raises(ValueError, match=words):
            Matmul(a, b, quantization_scales={"a": scale, "b": good}, options=blocks, **CPU)
    with pytest.raises(ValueError, match="scale of d is not supported with block_scaling"):
        Matmul(a, b, quantization_scales={"a": good, "b": good, "d": good}, options=blocks, **CPU)
    with pytest.raises(ValueError, match="block_scaling=True is required for MXFP8"):
        Matmul(a, b, quantization_scales={"a": good, "b": good, "d": 1}, **CPU)
    with pytest.raises(ValueError, match="block_scaling=True is for FP8 and FP4"):
        Matmul(a.float(), b.float(), options=blocks, **CPU)
    one = torch.ones(2, 128, 128).to(E4M3)
    with pytest.raises(ValueError, match=r"batch extents must match with block_scaling"):
        Matmul(one, b, quantization_scales={"a": create_mxfp8_scale(one, 0), "b": good}, options=blocks, **CPU)


def test_fp4_operands_that_do_not_fit():
    a, b = quantize_to_fp4(torch.ones(128, 128), -1), quantize_to_fp4(torch.ones(128, 128), -2)
    ones = torch.ones(1024).to(E4M3)
    arguments = {"quantization_scales": {"a": ones, "b": ones}, "options": {"block_scaling": True}, **CPU}
    with pytest.raises(ValueError, match="block_scaling=True is required for FP4"):
        Matmul(a, b, quantization_scales=ONES, **CPU)
    with pytest.raises(ValueError, match="Mixed FP4/non-FP4"):
        Matmul(a, torch.ones(128, 128).to(E4M3), **arguments)
    with pytest.raises(ValueError, match="FP4 operand a must be row-major"):
        Matmul(b, b, **arguments)
    with pytest.raises(ValueError, match="FP4 operand b must be column-major"):
        Matmul(a, a, **arguments)
    with pytest.raises(ValueError, match="at least two dimensions"):
        Matmul(a[0], b, **arguments)
    with pytest.raises(ValueError, match="must be float8_e4m3fn tensor"):
        Matmul(
            a, b, quantization_scales={"a": ones.view(torch.uint8), "b": ones}, options={"block_scaling": True}, **CPU
        )
    for m, n, k, words in (
        (64, 128, 128, "divisible by 128"),
        (128, 64, 128, "divisible by 128"),
        (128, 128, 96, "divisible by 64"),
    ):
        first, second = quantize_to_fp4(torch.ones(m, k), -1), quantize_to_fp4(torch.ones(k, n), -2)
        with pytest.raises(ValueError, match=words):
            Matmul(first, second, **arguments)


def test_the_largest_magnitude_of_a_wide_result_is_refused():
    a, b = pair()
    options = {"result_amax": True, "result_type": CudaDataType.CUDA_R_16F}
    with pytest.raises(
        ValueError, match="result_amax is not supported for a result of float16 when it is not a narrow-precision"
    ):
        Matmul(a, b, quantization_scales=ONES, options=options, **CPU)
    with pytest.raises(ValueError, match="result_amax"):
        Matmul(np.eye(2), np.eye(2), options={"result_amax": True}, **CPU)


def test_compute_types_other_than_float32_are_refused():
    a, b = pair()
    with pytest.raises(ValueError, match="COMPUTE_16F"):
        Matmul(a, b, quantization_scales={**ONES, "d": 1}, options={"compute_type": 64}, **CPU)


@pytest.mark.parametrize(("power", "alpha"), [(59, -100), (56, -90), (-59, 110), (-55, 100), (70, -120), (-70, 120)])
@pytest.mark.parametrize("first", [E4M3, E5M2])
@pytest.mark.parametrize("vectors", [False, True])
def test_scales_whose_product_belongs_to_no_float32(power, alpha, first, vectors):
    """What is computed in between must not leave the range of numbers, nor lose digits at its end."""
    a, b = pair(16, 16, 16, a=first)
    size = 64 if power > 0 else 2.0**-7
    a, b = (a.float() * size).to(first), (b.float() * size).to(E4M3)
    sa, sb = torch.tensor(1.7 * 2.0**power), torch.tensor(1.3 * 2.0**power)
    if vectors:
        sa, sb = sa.expand(16, 1).contiguous(), sb.expand(1, 16).contiguous()
    else:
        sa, sb = float(sa), float(sb)
    got = matmul(a, b, alpha=2.0**alpha, quantization_scales={"a": sa, "b": sb}, options={"result_type": 0}, **CPU)
    x, y = a.double() * sa, b.double() * sb
    want, sizes = x @ y * 2.0**alpha, x.abs() @ y.abs() * 2.0**alpha
    assert ((got.double() - want).abs() <= 2.0**-23 * 24 * sizes).all()


def test_a_scale_beyond_float32_is_refused():
    a, b = pair(16, 16, 16)
    with pytest.raises(ValueError, match=r"scale of a, 1e\+300, is too large for float32"):
        matmul(a, b, quantization_scales={"a": 1e300, "b": 1.0}, options={"result_type": 0}, **CPU)


TINIEST = {torch.float16: 2.0**-24, torch.bfloat16: 2.0**-133, torch.float32: 2.0**-149}


@settings(max_examples=150, deadline=None)
@given(
    powers=st.tuples(st.integers(-110, 110), st.integers(-110, 110), st.integers(-100, 100)),
    result=st.sampled_from([torch.float16, torch.bfloat16, torch.float32]),
    kinds=st.sampled_from([(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3)]),
    vectors=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_the_bound_of_the_guide_holds_for_every_scale(powers, result, kinds, vectors, seed):
    """However small or large the scales are, also in turn: what is off follows from the terms, not from the range of float32."""
    a, b = pair(16, 16, 32, *kinds, seed=seed)
    spread = 2.0 ** torch.randint(-12, 12, (16, 32), generator=torch.Generator().manual_seed(seed))
    a = (a.double() * spread).clamp(-400, 400).to(kinds[0])  # subnormal codes among them
    sa, sb = (torch.tensor(mantissa * 2.0**power) for mantissa, power in zip((1.7, 1.3), powers, strict=False))
    alpha = 1.1 * 2.0 ** powers[2]
    scales = {"a": sa.expand(16, 1).clone(), "b": sb.expand(1, 16).clone()} if vectors else {"a": sa, "b": sb}
    got = matmul(a, b, alpha=alpha, quantization_scales=scales, options={"result_type": TYPES[result]}, **CPU).double()
    factor = float(np.float32(alpha))
    want = (a.double() * sa.double()) @ (b.double() * sb.double()) * factor
    sizes = (a.double().abs() * sa.double()) @ (b.double().abs() * sb.double()) * factor
    largest = torch.finfo(result).max
    bound = 40 * 2.0**-23 * sizes + torch.maximum(EPS[result] * want.abs(), torch.tensor(TINIEST[result] / 2, dtype=torch.float64))
    inside = want.abs() + bound < largest  # else infinity is the rounded value
    assert ((got - want).abs() <= bound)[inside].all()
    assert (got[want.abs() - bound > largest * (1 + EPS[result])].abs() == float("inf")).all()
