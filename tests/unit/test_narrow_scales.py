"""The public functions for block scales and packed FP4: layouts, values and refusals, for every package on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvmath.linalg.advanced.helpers.matmul import (
    BlockScalingFormat,
    apply_mxfp8_scale,
    create_mxfp8_scale,
    expand_block_scale,
    get_block_scale_offset,
    invert_mxfp8_scale,
    quantize_to_fp4,
    to_block_scale,
    unpack_fp4,
)

FORMATS = ("NVFP4", "MXFP8")
SIZES = {"NVFP4": 16, "MXFP8": 32}


class InNumpy:
    """Arrays of NumPy."""

    name = "numpy"

    def make(self, values: np.ndarray) -> Any:
        return values.copy()

    def back(self, array: Any) -> np.ndarray:
        return np.asarray(array)

    def dtype(self, name: str) -> Any:
        return np.dtype(name)


class InTorch:
    """Tensors of PyTorch on the host."""

    name = "torch"

    def __init__(self) -> None:
        self.torch = pytest.importorskip("torch")

    def make(self, values: np.ndarray) -> Any:
        return self.torch.from_numpy(values.copy())

    def back(self, array: Any) -> np.ndarray:
        narrow = array.dtype.itemsize == 1
        return (array.view(self.torch.uint8) if narrow else array).numpy()

    def dtype(self, name: str) -> Any:
        return getattr(self.torch, name)


@pytest.fixture(params=[InNumpy, InTorch], ids=["numpy", "torch"])
def package(request: Any) -> Any:
    return request.param()


@st.composite
def operands(draw: Any) -> tuple[tuple[int, ...], str, int]:
    """A shape, a format, and the blocked axis."""
    kind = draw(st.sampled_from(FORMATS))
    axis = draw(st.sampled_from((-1, -2)))
    last = [0, 0]
    last[axis] = draw(st.integers(1, 3)) * 4 * SIZES[kind]
    last[-3 - axis] = draw(st.integers(1, 2)) * 128
    return (*draw(st.sampled_from(((), (), (1,), (2,), (2, 3)))), *last), kind, axis


def scale_shape(shape: tuple[int, ...], kind: str, axis: int) -> tuple[int, ...]:
    """The shape of the scales in their natural order."""
    made = list(shape)
    made[axis] //= SIZES[kind]
    return tuple(made)


@given(operands(), st.integers(0, 2**32 - 1))
def test_the_flat_order_is_that_of_the_offsets(case: tuple[tuple[int, ...], str, int], seed: int) -> None:
    shape, kind, axis = case
    natural = scale_shape(shape, kind, axis)
    scales = np.random.default_rng(seed).integers(0, 255, natural).astype(np.uint8)
    flat = to_block_scale(scales, shape, kind, axis=axis)
    offsets = get_block_scale_offset(tuple(np.indices(natural)), shape, kind, axis=axis)
    np.testing.assert_array_equal(np.sort(offsets, axis=None), np.arange(scales.size))  # each place is taken once
    np.testing.assert_array_equal(flat[offsets], scales)


@given(operands(), st.integers(0, 2**32 - 1))
def test_expanding_gives_every_element_its_scale(case: tuple[tuple[int, ...], str, int], seed: int) -> None:
    shape, kind, axis = case
    scales = np.random.default_rng(seed).integers(0, 127, scale_shape(shape, kind, axis)).astype(np.uint8)
    wide = expand_block_scale(to_block_scale(scales, shape, kind, axis=axis), shape, kind, axis=axis)
    np.testing.assert_array_equal(wide, np.repeat(scales, SIZES[kind], axis=axis))


def test_offsets_of_some_blocks() -> None:
    # worked out by hand from the formula in the module's description
    assert get_block_scale_offset((37, 5), (128, 256), "MXFP8", axis=-1) == 512 + 16 * 5 + 4 * 1 + 1
    assert get_block_scale_offset((5, 37), (256, 128), BlockScalingFormat.MXFP8, axis=-2) == 597
    assert get_block_scale_offset((1, 2, 37, 5), (2, 3, 128, 256), "MXFP8", axis=-1) == 5 * 1024 + 597
    np.testing.assert_array_equal(
        get_block_scale_offset((np.arange(3), np.arange(3)), (128, 256), "MXFP8", axis=-1), [0, 17, 34]
    )


def test_the_axis_follows_from_the_strides(package: Any) -> None:
    x = package.make(np.zeros((128, 256), np.float32))
    turned = x.T
    assert get_block_scale_offset((37, 5), x, "MXFP8") == get_block_scale_offset((5, 37), turned, "MXFP8") == 597
    with pytest.raises(ValueError, match="contradicts the operand, which is row-major"):
        get_block_scale_offset((37, 5), x, "MXFP8", axis=-2)


def test_packed_operands_are_doubled() -> None:
    torch = pytest.importorskip("torch")
    packed = torch.zeros(128, 128, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    assert get_block_scale_offset((37, 9), packed, "NVFP4") == get_block_scale_offset(
        (37, 9), (128, 256), "NVFP4", axis=-1
    )
    assert get_block_scale_offset((9, 37), packed.T, "NVFP4") == get_block_scale_offset(
        (9, 37), (256, 128), "NVFP4", axis=-2
    )
    with pytest.raises(ValueError, match="requires block_scaling_format='NVFP4'"):
        get_block_scale_offset((9, 37), packed, "MXFP8")


def test_out_is_written_and_returned(package: Any) -> None:
    scales = np.random.default_rng(2).integers(0, 255, (128, 8)).astype(np.uint8)
    out = package.make(np.zeros(1024, np.uint8))
    assert to_block_scale(package.make(scales), (128, 256), "MXFP8", axis=-1, out=out) is out
    np.testing.assert_array_equal(package.back(out), to_block_scale(scales, (128, 256), "MXFP8", axis=-1))
    for bad in (np.zeros(1023, np.uint8), np.zeros((128, 8), np.uint8), np.zeros(1024, np.float32)):
        with pytest.raises(ValueError, match="out must"):
            to_block_scale(package.make(scales), (128, 256), "MXFP8", axis=-1, out=package.make(bad))


def test_to_block_scale_leaves_its_argument_alone(package: Any) -> None:
    scales = package.make(np.arange(512, dtype=np.int64).astype(np.uint8).reshape(128, 4))
    flat = to_block_scale(scales, (128, 128), "MXFP8", axis=-1)
    flat[...] = 0
    np.testing.assert_array_equal(package.back(scales).ravel(), np.arange(512).astype(np.uint8))


def test_scales_of_nvfp4_are_float8_or_bytes() -> None:
    torch = pytest.importorskip("torch")
    ones = torch.ones(128, 4).to(torch.float8_e4m3fn)
    flat = to_block_scale(ones, (128, 64), "NVFP4", axis=-1)
    assert flat.dtype is torch.float8_e4m3fn
    assert to_block_scale(ones.view(torch.uint8), (128, 64), "NVFP4", axis=-1).dtype is torch.uint8
    assert expand_block_scale(flat, (128, 64), "NVFP4", axis=-1).dtype is torch.float8_e4m3fn
    wide = expand_block_scale(flat.view(torch.uint8), (128, 64), "NVFP4", axis=-1, output_dtype=torch.float16)
    assert wide.dtype is torch.float16
    assert torch.equal(wide, torch.ones(128, 64, dtype=torch.float16))


def test_numbers_from_exponents(package: Any) -> None:
    flat = package.make(np.full(1024, 130, np.uint8))
    for name in ("float16", "float32", "float64"):
        wide = expand_block_scale(flat, (128, 256), "MXFP8", axis=-1, output_dtype=package.dtype(name))
        assert str(wide.dtype).endswith(name)
        np.testing.assert_array_equal(package.back(wide), np.full((128, 256), 8.0))
    small = package.make(np.full(1024, 5, np.uint8))
    with pytest.raises(ValueError, match="requires at least float32"):
        expand_block_scale(small, (128, 256), "MXFP8", axis=-1, output_dtype=package.dtype("float16"))
    with pytest.raises(TypeError, match="output_dtype must be 'smallest'"):
        expand_block_scale(small, (128, 256), "MXFP8", axis=-1, output_dtype=package.dtype("int32"))
    with pytest.raises(ValueError, match="device must be"):
        expand_block_scale(small, (128, 256), "MXFP8", axis=-1, device="elsewhere")


@pytest.mark.parametrize(
    ("exponent", "want"), [(-12, "float16"), (0, "float16"), (16, "float32"), (-127, "float64"), (-20, "float32")]
)
def test_the_smallest_dtype_that_holds_all_values(package: Any, exponent: int, want: str) -> None:
    x = package.make(np.ones((128, 128), np.float32))
    got = apply_mxfp8_scale(x, create_mxfp8_scale(x, exponent))
    assert str(got.dtype).endswith(want)
    np.testing.assert_array_equal(package.back(got).astype(np.float64), np.full((128, 128), 2.0**exponent))


def test_scales_are_applied_block_by_block_in_any_layout(package: Any) -> None:
    rng = np.random.default_rng(3)
    values, scales = (
        rng.standard_normal((2, 128, 256)).astype(np.float32),
        rng.integers(120, 134, (2, 128, 8)).astype(np.uint8),
    )
    want = values * 2.0 ** (np.repeat(scales, 32, axis=-1).astype(np.float64) - 127)
    flat = package.make(to_block_scale(scales, (2, 128, 256), "MXFP8", axis=-1))
    got = apply_mxfp8_scale(package.make(values), flat, package.dtype("float64"))
    np.testing.assert_array_equal(package.back(got), want)
    column = package.make(np.ascontiguousarray(values[0].T)).T
    if package.name == "numpy":
        assert column.strides[-2] < column.strides[-1]
    turned = to_block_scale(scales[0].T.copy(), (256, 128), "MXFP8", axis=-2)
    lying = package.make(values[0]).T  # blocks run along the contiguous axis, which is the first one
    np.testing.assert_array_equal(
        package.back(apply_mxfp8_scale(lying, package.make(turned), package.dtype("float64"))), want[0].T
    )


def test_what_does_not_fit_the_asked_dtype_is_refused(package: Any) -> None:
    x = package.make(np.ones((128, 128), np.float32))
    for exponent, name in ((20, "float16"), (-127, "float32")):
        with pytest.raises(ValueError, match="would overflow or underflow"):
            apply_mxfp8_scale(x, create_mxfp8_scale(x, exponent), package.dtype(name))
    with pytest.raises(TypeError, match="output_dtype"):
        apply_mxfp8_scale(x, create_mxfp8_scale(x, 0), package.dtype("int32"))
    with pytest.raises(ValueError, match="should have shape"):
        apply_mxfp8_scale(x, create_mxfp8_scale(x, 0)[:5])


def test_exponents_and_their_inverse(package: Any) -> None:
    x = package.make(np.zeros((128, 64), np.uint8))
    for exponent in (-127, -3, 0, 128):
        scales = create_mxfp8_scale(x, exponent)
        np.testing.assert_array_equal(package.back(scales), np.full(256, exponent + 127, np.uint8))
        inverse = invert_mxfp8_scale(scales)
        np.testing.assert_array_equal(package.back(inverse), np.full(256, max(0, 127 - exponent), np.uint8))
    for bad in (-128, 129, 0.5):
        with pytest.raises(ValueError, match="integer from -127 to 128"):
            create_mxfp8_scale(x, bad)
    with pytest.raises(ValueError, match="must be uint8, not float32"):
        invert_mxfp8_scale(package.make(np.zeros(3, np.float32)))
    with pytest.raises(ValueError, match=r"must be a torch\.Tensor, a NumPy array or a CuPy array"):
        create_mxfp8_scale([1.0], 0)


def test_every_value_of_fp4_survives_packing(package: Any) -> None:
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    table = np.stack([values, -values]).repeat(2, axis=0)
    for axis in (-1, -2):
        packed = quantize_to_fp4(package.make(table), axis)
        assert tuple(packed.shape) == ((4, 4) if axis == -1 else (2, 8))
        back = unpack_fp4(packed, axis)
        np.testing.assert_array_equal(package.back(back), table)
        assert str(back.dtype).endswith("float32")
        assert (back.T if axis == -2 else back).strides[-1] == 4 if package.name == "numpy" else back.stride(axis) == 1


def test_fp4_ties_go_to_the_smaller_magnitude_and_large_values_saturate(package: Any) -> None:
    x = np.array([[0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 7.0, np.inf, -np.inf, -0.0, -5.0]], np.float32)
    got = package.back(unpack_fp4(quantize_to_fp4(package.make(x), -1), -1))
    np.testing.assert_array_equal(got, [[0, 0.5, 1, 1.5, 2, 3, 4, 6, 6, -6, 0, -4]])
    assert np.signbit(got[0, 10])
    above = np.nextafter(x[:, :7], np.float32(10)).repeat(2, axis=0)
    padded = np.concatenate([above, np.zeros((2, 1), np.float32)], axis=1)
    np.testing.assert_array_equal(
        package.back(unpack_fp4(quantize_to_fp4(package.make(padded), -1), -1))[0, :7], [0.5, 1, 1.5, 2, 3, 4, 6]
    )


def test_layouts_of_packed_fp4() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    assert quantize_to_fp4(x, -1).stride() == (3, 1)
    packed = quantize_to_fp4(x, -2)
    assert (tuple(packed.shape), packed.stride(), packed.dtype) == ((2, 6), (1, 2), torch.float4_e2m1fn_x2)
    assert quantize_to_fp4(torch.ones(3, 4, 6), -2).stride() == (12, 1, 2)
    assert quantize_to_fp4(torch.ones(2), -1).shape == (1,)


def test_fp4_refusals(package: Any) -> None:
    ones = package.make(np.ones((2, 2), np.float32))
    with pytest.raises(ValueError, match="must be float32"):
        quantize_to_fp4(package.make(np.ones((2, 2))), -1)
    for axis in (0, 1, 2):
        with pytest.raises(ValueError, match="axis must be -1 or -2"):
            quantize_to_fp4(ones, axis)
    with pytest.raises(ValueError, match="must be even, but it is 3"):
        quantize_to_fp4(package.make(np.ones((2, 3), np.float32)), -1)
    with pytest.raises(ValueError, match="axis must be -1 for a 1-dimensional array"):
        quantize_to_fp4(package.make(np.ones(2, np.float32)), -2)
    with pytest.raises(ValueError, match="fp4_tensor must be"):
        unpack_fp4(ones, -1)
    for function in (quantize_to_fp4, unpack_fp4):
        with pytest.raises(TypeError, match=r"must be a torch\.Tensor, a NumPy array or a CuPy array"):
            function([[1.0]], -1)


@pytest.mark.parametrize(
    ("shape", "axis", "words"),
    [
        ((100, 256), -1, "divisible by 128"),
        ((128, 100), -1, "divisible by 128 for MXFP8"),
        ((0, 128), -1, "must be positive"),
        ((256,), -1, "at least 2-dimensional"),
        ((128, 128), None, "axis must be given"),
        ((128, 128), 3, "axis must be -1 or -2"),
    ],
)
def test_shapes_that_have_no_tiles(shape: tuple[int, ...], axis: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        get_block_scale_offset((0, 0), shape, "MXFP8", axis=axis)


def test_scales_of_the_wrong_kind(package: Any) -> None:
    with pytest.raises(TypeError, match="must have the dtype uint8, not float32"):
        to_block_scale(package.make(np.ones((128, 4), np.float32)), (128, 128), "MXFP8", axis=-1)
    with pytest.raises(ValueError, match="should have shape"):
        to_block_scale(package.make(np.ones((64, 4), np.uint8)), (128, 128), "MXFP8", axis=-1)
    with pytest.raises(ValueError, match="block_scaling_format must be"):
        to_block_scale(package.make(np.ones((128, 4), np.uint8)), (128, 128), "MXFP9", axis=-1)
    with pytest.raises(ValueError, match="index must have 2 entries"):
        get_block_scale_offset((0,), (128, 128), "MXFP8", axis=-1)
    with pytest.raises(ValueError, match="blocks from 0 to 3"):
        get_block_scale_offset((0, 4), (128, 128), "MXFP8", axis=-1)
