"""What newcomers write, and what they are told: names of members, options in the wrong place, inputs that are no dict, lines of errors."""

from __future__ import annotations

import inspect
import logging

import numpy as np
import pytest

from nvmath import CudaDataType
from nvmath.linalg.advanced import (
    Matmul,
    MatmulComputeType,
    MatmulEpilogPreferences,
    MatmulNumericalImplFlags,
    MatmulOptions,
    MatmulPlanPreferences,
    MatmulReductionScheme,
    helpers,
    matmul,
)

H = helpers.matmul
ON_CPU = {"execution": "cpu"}
EYE = np.eye(4)


@pytest.mark.parametrize("member", MatmulComputeType)
def test_a_compute_type_by_its_name(member):
    for name in (member.name, member.name.lower(), member.name.removeprefix("COMPUTE_"), member.name[8:].lower()):
        assert MatmulOptions(compute_type=name).compute_type is member


@pytest.mark.parametrize("member", CudaDataType)
def test_a_data_type_by_its_name(member):
    for name in (member.name, member.name.lower(), member.name.removeprefix("CUDA_")):
        assert MatmulOptions(result_type=name).result_type is member
        assert MatmulOptions(scale_type=name).scale_type is member
        assert MatmulEpilogPreferences(aux_type=name).aux_type is member


@pytest.mark.parametrize(
    ("name", "member"),
    [("float16", CudaDataType.CUDA_R_16F), ("BFLOAT16", CudaDataType.CUDA_R_16BF), ("float8_e4m3fn", CudaDataType.CUDA_R_8F_E4M3)],
)  # fmt: skip
def test_a_data_type_by_that_of_the_dtype(name, member):
    assert MatmulOptions(result_type=name).result_type is member


def test_a_product_with_names():
    a = EYE.astype("f4")
    result = matmul(a, a, options={"compute_type": "32f_pedantic", "result_type": "float16"}, **ON_CPU)
    assert result.dtype == np.float16


def test_masks_by_names():
    made = MatmulPlanPreferences(
        reduction_scheme_mask="inplace | COMPUTE_TYPE", numerical_impl_mask="op_type_fma|ACCUMULATOR_32F"
    )
    assert made.reduction_scheme_mask == MatmulReductionScheme.INPLACE | MatmulReductionScheme.COMPUTE_TYPE
    assert made.numerical_impl_mask == MatmulNumericalImplFlags.OP_TYPE_FMA | MatmulNumericalImplFlags.ACCUMULATOR_32F


@pytest.mark.parametrize(
    ("make", "meant"),
    [
        (lambda: MatmulOptions(compute_type="COMPUTE_32F_FAST_TF23"), r"Did you mean COMPUTE_32F_FAST_TF32\?"),
        (lambda: MatmulOptions(result_type="flaot32"), r"Did you mean CUDA_R_32F\?"),
        (lambda: MatmulOptions(result_type="xyz"), "Members: CUDA_R_32F"),
        (lambda: MatmulPlanPreferences(reduction_scheme_mask="in_place"), r"Did you mean INPLACE\?"),
        (lambda: MatmulPlanPreferences(numerical_impl_mask="op_type_fma|acumulator_32f"), r"Did you mean ACCUMULATOR_32F\?"),
    ],
)  # fmt: skip
def test_a_name_that_is_none(make, meant):
    with pytest.raises(ValueError, match=meant):
        make()


def test_the_format_of_blocks_by_its_name():
    scales = np.full((128, 4), 127, np.uint8)
    assert (H.to_block_scale(scales, (128, 128), "mxfp8", axis=-1) == 127).all()
    with pytest.raises(ValueError, match="'NVFP4' or 'MXFP8', not 'fp8'"):
        H.to_block_scale(scales, (128, 128), "fp8", axis=-1)


@pytest.mark.parametrize("wrong", [np.ones(4), 1.0, [np.ones(4)]])
def test_inputs_of_an_epilog_that_are_no_dict(wrong):
    with pytest.raises(TypeError, match=r"Pass a bias as epilog_inputs=\{'bias': bias\}"):
        matmul(EYE, EYE, epilog="bias", epilog_inputs=wrong, **ON_CPU)
    with Matmul(EYE, EYE, **ON_CPU) as product, pytest.raises(TypeError, match="must be None or a dict of arrays"):
        product.plan(epilog="bias", epilog_inputs=wrong)


def test_a_scale_of_an_auxiliary_output_that_has_none():
    for epilog, more in (("gelu_aux", {}), ("bias", {"bias": np.ones(4)})):
        with pytest.raises(ValueError, match=r"epilog_inputs\['aux_quantization_scale'\] is not supported"):
            matmul(EYE, EYE, epilog=epilog, epilog_inputs={"aux_quantization_scale": 2.0, **more}, **ON_CPU)


def test_no_scales_are_no_scales(caplog):
    with caplog.at_level(logging.WARNING), Matmul(EYE, EYE, quantization_scales={}, **ON_CPU) as product:
        product.plan()
        with pytest.raises(ValueError, match="at least one operand"):
            product.reset_operands(quantization_scales={})
        product.reset_operands(a=2 * EYE, quantization_scales={})
        np.testing.assert_array_equal(product.execute(), 2 * EYE)
    assert not [record for record in caplog.records if "quantization_scales" in record.message]


def test_the_line_of_an_epilog_that_does_not_compile():
    pytest.importorskip("numba", reason="numba is not installed")

    def wrong(value, row, column):
        twice = value + value
        shifted = twice - column
        return shifted.nonsense

    line = inspect.getsourcelines(wrong)[1] + 3
    with pytest.raises(ValueError, match=rf"line {line}:\n *{line} \| +return shifted\.nonsense"):
        matmul(EYE, EYE, epilog=wrong, **ON_CPU)


# --- helpers of narrow precision ------------------------------------------------------------------------------------


def test_indices_of_small_dtypes_do_not_overflow():
    rows, groups = np.arange(0, 128, 9), np.arange(0, 128, 9) % 16
    wide = H.get_block_scale_offset((rows, groups), (256, 512), "MXFP8", axis=-1)
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.uint64):
        narrow = H.get_block_scale_offset((rows.astype(dtype), groups.astype(dtype)), (256, 512), "MXFP8", axis=-1)
        np.testing.assert_array_equal(narrow, wide)
    assert H.get_block_scale_offset(
        (np.int8(100), np.uint8(3)), (128, 128), "MXFP8", axis=-1
    ) == H.get_block_scale_offset((100, 3), (128, 128), "MXFP8", axis=-1)


@pytest.mark.parametrize("wrong", [0.5, np.float32(1), np.zeros(3), np.zeros(3, bool), "0"])
def test_indices_that_are_no_integers(wrong):
    with pytest.raises(TypeError, match="Entry 1 of the index must be an integer or an array of integers"):
        H.get_block_scale_offset((0, wrong), (128, 128), "MXFP8", axis=-1)


def test_arrays_of_two_packages():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(TypeError, match="arrays of one package, not of numpy and torch"):
        H.get_block_scale_offset((np.zeros(3, int), torch.zeros(3, dtype=torch.int64)), (128, 128), "MXFP8", axis=-1)
    with pytest.raises(TypeError, match="scales_1d must be an array of torch, as x is, not ndarray"):
        H.apply_mxfp8_scale(torch.zeros(128, 128), np.full(512, 127, np.uint8))
    with pytest.raises(TypeError, match="scales_1d must be an array of numpy, as x is, not Tensor"):
        H.apply_mxfp8_scale(np.zeros((128, 128), "f4"), torch.full((512,), 127, dtype=torch.uint8))


def test_scales_of_complex_numbers():
    with pytest.raises(ValueError, match="x must hold real numbers, but it is complex64"):
        H.apply_mxfp8_scale(np.zeros((128, 128), "c8"), np.full(512, 127, np.uint8))


def test_the_dtype_of_expanded_scales_by_its_name():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for flat in (torch.full((512,), 128, dtype=torch.uint8), np.full(512, 128, np.uint8)):
        made = H.expand_block_scale(flat, (128, 128), "MXFP8", axis=-1, output_dtype="float32")
        assert str(made.dtype).endswith("float32")
        assert (made == 2).all()


def test_expanded_scales_for_a_gpu_that_is_not_there(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="needs a GPU and a PyTorch that can use it"):
        H.expand_block_scale(torch.full((512,), 128, dtype=torch.uint8), (128, 128), "MXFP8", axis=-1, device="cuda")
    with pytest.raises(ValueError, match="device must be None for numpy arrays"):
        H.expand_block_scale(np.full(512, 128, np.uint8), (128, 128), "MXFP8", axis=-1, device="cuda")


def test_the_advice_for_an_addend_in_fp8():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a = torch.ones(16, 16).to(torch.float8_e4m3fn)
    for c in (a, a.to(torch.float8_e5m2)):
        with pytest.raises(
            ValueError, match=r"^The dtype of operand c is not supported: float8.* convert it to float16 or bfloat16"
        ):
            matmul(a, a, c, beta=1.0, quantization_scales={"a": 1, "b": 1, "d": 1}, **ON_CPU)
