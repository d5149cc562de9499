"""What a product means: a pure function, tested without libraries."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from frameworks import row_major

from nvmath._core.dtypes import DTYPES
from nvmath._enums import CudaDataType
from nvmath.linalg._matrix import COLUMN, ROW, Matrix, Operand, leading_dimension, merge_batches, packed, readable
from nvmath.linalg.advanced import (
    MatmulComputeType,
    MatmulEpilog,
    MatmulEpilogPreferences,
    MatmulExtraEpilog,
    MatmulOptions,
    MatmulPlanPreferences,
    matrix_qualifiers_dtype,
)
from nvmath.linalg.advanced._auxiliary import outer
from nvmath.linalg.advanced._coerce import coerce, coerce_qualifiers
from nvmath.linalg.advanced._epilogs import check_epilog_inputs, coerce_epilog
from nvmath.linalg.advanced._gemm import Capability, lower
from nvmath.linalg.advanced._problem import MatmulProblem, differences, specify
from nvmath.linalg.advanced._scalars import Scalars

GPU = Capability(separate_addend=True, single_batch=True, column_epilogs=True)
CPU = Capability(separate_addend=False, single_batch=False, column_epilogs=False)


def op(
    shape: tuple[int, ...], dtype: str = "float32", strides: tuple[int, ...] | None = None, **fields: Any
) -> Operand:
    return Operand(shape, row_major(shape) if strides is None else strides, DTYPES[dtype], **fields)


def problem(
    *operands: Operand, options: dict[str, Any] | None = None, epilog: Any = None, bias: Operand | None = None
) -> MatmulProblem:
    return specify(
        *operands,
        inputs={} if bias is None else {"bias": bias},
        options=MatmulOptions(**(options or {})),
        epilog=coerce_epilog(epilog),
    )


# --- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        ((4,), (4,), ()),
        ((4,), (4, 3), (3,)),
        ((2, 4), (4,), (2,)),
        ((2, 4), (4, 3), (2, 3)),
        ((5, 2, 4), (4,), (5, 2)),
        ((4,), (5, 4, 3), (5, 3)),
        ((5, 2, 4), (4, 3), (5, 2, 3)),
        ((2, 4), (5, 4, 3), (5, 2, 3)),
        ((5, 2, 4), (5, 4, 3), (5, 2, 3)),
        ((6, 1, 2, 4), (5, 4, 3), (6, 5, 2, 3)),
        ((0, 4), (4, 3), (0, 3)),
        ((2, 0), (0, 3), (2, 3)),
    ],
)
def test_result_shapes(a, b, result):
    made = problem(op(a), op(b))
    assert made.out_shape == result
    assert made.empty == (0 in result)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((2, 4), (3, 3), "K extents must match"),
        ((4,), (3,), "K extents must match"),
        ((), (3,), "at least one dimension"),
        ((3, 2, 4), (5, 4, 3), "batch extents must match"),
    ],
)
def test_shapes_that_do_not_fit(a, b, message):
    with pytest.raises(ValueError, match=message):
        problem(op(a), op(b))


@pytest.mark.parametrize("c", [(2, 3), (2, 1), (5, 2, 3), (5, 2, 1), (1, 2, 3)])
def test_addends(c):
    made = problem(op((5, 2, 4)), op((4, 3)), op(c))
    assert made.out_shape == (5, 2, 3)
    assert made.addend_is_column == (c[-1] == 1)


@pytest.mark.parametrize(
    ("c", "message"),
    [
        ((3,), "at least two dimensions"),
        ((1, 3), "extents of c must match"),
        ((2, 2), "extents of c must match"),
        ((4, 2, 3), "batch extents of c must match"),
        ((2, 5, 2, 3), "batch extents of c must match"),
    ],
)
def test_addends_that_do_not_fit(c, message):
    with pytest.raises(ValueError, match=message):
        problem(op((5, 2, 4)), op((4, 3)), op(c))


def test_in_place():
    made = problem(op((2, 4)), op((4, 3)), op((2, 3), strides=(1, 5)), options={"inplace": True})
    assert (made.out_shape, made.out_strides) == ((2, 3), (1, 5))
    for c, message in (
        (None, "needs operand c"),
        (op((2, 1)), "inplace if operand C is broadcast"),
        (op((2, 3), strides=(0, 1)), "may overlap"),
    ):
        with pytest.raises(ValueError, match=message):
            problem(op((2, 4)), op((4, 3)), *([c] if c else []), options={"inplace": True})
    with pytest.raises(ValueError, match="inplace if operand C is broadcast"):
        problem(op((5, 2, 4)), op((4, 3)), op((2, 3)), options={"inplace": True})


# --- layouts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "c", "epilog", "order"),
    [
        (None, None, None, ROW),
        ((1, 2), None, None, COLUMN),
        (None, (1, 2), None, COLUMN),
        ((1, 2), (3, 1), None, ROW),
        (None, None, MatmulEpilog.RELU, ROW),
        (None, None, MatmulEpilog.BIAS, COLUMN),
        (None, (3, 1), MatmulEpilog.RELU_BIAS, COLUMN),
    ],
)
def test_order_of_the_result(a, c, epilog, order):
    operands = [op((2, 4), strides=a), op((4, 3))] + ([op((2, 3), strides=c)] if c else [])
    made = problem(
        *operands, epilog=epilog, bias=op((2,)) if epilog in (MatmulEpilog.BIAS, MatmulEpilog.RELU_BIAS) else None
    )
    assert made.d.order == order
    assert made.out_strides == ((3, 1) if order == ROW else (1, 2))


def test_a_column_of_one_makes_the_result_column_major():
    assert problem(op((5, 1)), op((1, 3))).out_strides == (1, 5)
    assert problem(op((5, 4)), op((4, 3)), op((5, 1))).out_strides == (1, 5)
    assert problem(op((5, 4)), op((4, 3)), op((5, 1), strides=(8, 1))).out_strides == (1, 5)


def test_batches_keep_the_order_in_memory():
    a = op((2, 3, 4, 5), strides=(20, 40, 5, 1))
    made = problem(a, op((5, 6)))
    assert made.out_strides == (24, 48, 6, 1)


def test_a_size_of_one_says_nothing_about_strides():
    sliced = problem(op((4, 1, 3, 5), strides=(120, 15, 5, 1)), op((5, 6)))
    assert sliced.a.batch_strides == (120, 0)
    assert problem(op((1, 5), strides=(999, 1)), op((5, 6))).d.order == ROW


@pytest.mark.parametrize(
    ("layout", "ld"),
    [
        ((3, 4, 1, 3), 3), ((3, 4, 1, 7), 7), ((3, 4, 4, 1), None), ((3, 4, 1, 2), None), ((3, 4, 2, 6), None),
        ((3, 4, 1, -3), None), ((1, 4, 99, 2), 2), ((1, 4, 1, 0), None), ((3, 1, 1, 77), 3), ((3, 1, 2, 1), None),
        ((0, 4, 5, 5), 1), ((3, 0, 1, 1), 3),
    ],
)  # fmt: skip
def test_leading_dimension(layout, ld):
    assert leading_dimension(*layout) == ld


def matrix(rows, cols, rs, cs, batch=()):
    return Matrix(rows, cols, rs, cs, batch, DTYPES["float64"])


def test_readable():
    assert readable(matrix(3, 4, 1, 5)) == (False, 5)
    assert readable(matrix(3, 4, 6, 1)) == (True, 6)
    assert readable(matrix(1, 4, 4, 1)) == (True, 4)
    assert readable(matrix(1, 4, 8, 2)) == (False, 2)
    assert readable(matrix(3, 1, 5, 1)) == (True, 5)
    for bad in (matrix(3, 4, 8, 2), matrix(3, 4, 0, 1), matrix(3, 4, -4, 1), matrix(3, 4, 1, -3)):
        assert readable(bad) is None


def test_a_copy_keeps_what_is_broadcast():
    assert packed(matrix(3, 4, 8, 2, (0, 0)), ROW, (2, 5), (1, 0)).batch_strides == (0, 0)
    assert packed(matrix(3, 4, 8, 2, (50, 0)), COLUMN, (2, 5), (1, 0)).batch_strides == (60, 12)


def test_batches_are_merged():
    assert merge_batches((2, 3), (60, 20), (60, 20)) == ((6,), [(20,), (20,)])
    assert merge_batches((2, 3), (60, 20), (0, 0)) == ((6,), [(20,), (0,)])
    assert merge_batches((2, 3), (20, 40), (20, 40)) == ((6,), [(20,), (20,)])
    assert merge_batches((2, 3), (60, 20), (0, 20)) == ((2, 3), [(60, 20), (0, 20)])
    assert merge_batches((1, 3, 1), (60, 20, 7), (0, 5, 0)) == ((3,), [(20,), (5,)])
    assert merge_batches((1,), (60,)) == ((), [()])


# --- lowering ---------------------------------------------------------------------------------------------------------


def test_a_row_major_result_is_computed_as_its_transpose():
    gemm = lower(problem(op((2, 4)), op((4, 3))), GPU)
    assert (gemm.swapped, gemm.m, gemm.n, gemm.k) == (True, 3, 2, 4)
    assert (gemm.first.transposed, gemm.first.ld) == (False, 3)
    assert (gemm.second.transposed, gemm.second.ld) == (False, 4)


def test_a_bias_is_for_columns():
    gemm = lower(problem(op((2, 4)), op((4, 3)), epilog=MatmulEpilog.BIAS, bias=op((2,))), GPU)
    assert (gemm.swapped, gemm.target.ld, gemm.first.transposed, gemm.first.ld) == (False, 2, True, 4)
    assert gemm.loads == ()


def test_a_row_major_c_in_place_with_a_bias_goes_through_scratch():
    made = problem(
        op((2, 4)), op((4, 3)), op((2, 3)), options={"inplace": True}, epilog=MatmulEpilog.BIAS, bias=op((2,))
    )
    gemm = lower(made, GPU)
    assert gemm.store is not None
    assert gemm.fill is not None
    assert lower(made, CPU).store is None


def test_loops_of_batches():
    made = problem(op((3, 1, 2, 4)), op((5, 4, 3)))
    assert lower(made, CPU).extents == (3, 5)
    gemm = lower(made, GPU)
    assert gemm.extents == (15,)
    assert dict(gemm.loads).keys() == {"a", "b"}
    assert lower(problem(op((3, 5, 2, 4)), op((4, 3))), GPU).loads == ()


def test_a_column_that_is_added_is_not_copied():
    gemm = lower(problem(op((2, 4)), op((4, 3)), op((2, 1))), GPU)
    assert gemm.addend is not None
    assert (gemm.addend.ld, gemm.loads) == (0, ())
    assert dict(lower(problem(op((2, 4)), op((4, 3)), op((2, 1), strides=(7, 1))), GPU).loads).keys() == {"c"}


# --- dtypes -----------------------------------------------------------------------------------------------------------


def test_dtypes_that_do_not_fit():
    with pytest.raises(ValueError, match="Unsupported combination of dtypes"):
        problem(op((2, 4)), op((4, 3), "float64"))
    with pytest.raises(ValueError, match="Unsupported combination of dtypes"):
        problem(op((2, 4)), op((4, 3)), op((2, 3), "complex64"))
    for name in ("int32", "complex32", "uint8"):
        with pytest.raises(ValueError, match=r"^The dtype of operand a is not supported"):
            problem(op((2, 4), name), op((4, 3), name))
    with pytest.raises(ValueError, match="Scales are required for narrow-precision"):
        problem(op((2, 4), "float8_e4m3fn"), op((4, 3), "float8_e4m3fn"))


@pytest.mark.parametrize(
    ("dtype", "compute", "scale"),
    [
        ("float16", "COMPUTE_32F", "CUDA_R_32F"), ("bfloat16", "COMPUTE_32F", "CUDA_R_32F"),
        ("float32", "COMPUTE_32F", "CUDA_R_32F"), ("float64", "COMPUTE_64F", "CUDA_R_64F"),
        ("complex64", "COMPUTE_32F", "CUDA_C_32F"), ("complex128", "COMPUTE_64F", "CUDA_C_64F"),
    ],
)  # fmt: skip
def test_default_types(dtype, compute, scale):
    made = problem(op((2, 4), dtype), op((4, 3), dtype))
    assert (MatmulComputeType(made.compute_type).name, CudaDataType(made.scale_type).name) == (compute, scale)
    assert made.d.dtype.name == dtype


def test_asked_types():
    made = problem(
        op((2, 4), "float16"), op((4, 3), "float16"), options={"compute_type": MatmulComputeType.COMPUTE_16F}
    )
    assert made.scale_type == CudaDataType.CUDA_R_16F
    made = problem(
        op((2, 4), "complex64"),
        op((4, 3), "complex64"),
        options={"compute_type": MatmulComputeType.COMPUTE_32F_FAST_TF32},
    )
    assert made.scale_type == CudaDataType.CUDA_C_32F
    made = problem(op((2, 4), "float64"), op((4, 3), "float64"), options={"scale_type": CudaDataType.CUDA_R_64F})
    assert made.compute_type == MatmulComputeType.COMPUTE_64F
    assert problem(op((2, 4), "float16"), op((4, 3), "float16"), options={"result_type": 0}).d.dtype.name == "float32"


@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        ("float32", {"compute_type": MatmulComputeType.COMPUTE_64F}),
        ("float32", {"compute_type": MatmulComputeType.COMPUTE_16F}),
        ("float32", {"compute_type": MatmulComputeType.COMPUTE_32I}),
        ("float32", {"scale_type": CudaDataType.CUDA_R_8I}),
        ("float32", {"scale_type": CudaDataType.CUDA_R_64F}),
        ("float16", {"compute_type": MatmulComputeType.COMPUTE_32F_FAST_TF32}),
        ("float32", {"result_type": 999}),
        ("float32", {"result_type": CudaDataType.CUDA_C_32F}),
    ],
)
def test_types_that_do_not_fit(dtype, options):
    with pytest.raises(ValueError, match=r"not supported|no compute type|must be None or a member"):
        problem(op((2, 4), dtype), op((4, 3), dtype), options=options)


# --- epilogs ----------------------------------------------------------------------------------------------------------


def test_epilogs():
    assert coerce_epilog(None) is coerce_epilog(MatmulEpilog.DEFAULT)
    assert coerce_epilog(6).inputs == ("bias",)
    for member in MatmulEpilog:
        row = coerce_epilog(member)
        assert (row.name, row.code) == (member.name, member)
        assert coerce_epilog(member.name.lower()) is row
    for extra in MatmulExtraEpilog:
        assert coerce_epilog(extra).extra
    for wrong, message in (
        ("relu_bais", "There is no epilog 'relu_bais'. Did you mean 'RELU_BIAS'"),
        (3, "member of MatmulEpilog"),
        (1.5, "member of MatmulEpilog"),
        (len, "a Python function, not <built-in function len>"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            coerce_epilog(wrong)


def test_functions_as_epilogs():
    def twice(value, row, column):
        return 2 * value

    factor = 2

    def same(value, row, column):
        return factor * value

    assert coerce_epilog(twice) == coerce_epilog(twice)
    assert hash(coerce_epilog(twice)) == hash(coerce_epilog(twice))
    before = coerce_epilog(same)
    factor = 3
    assert coerce_epilog(same) != before  # another value, another function
    for wrong, message in (
        (lambda value: value, "must take 3 positional parameters"),
        (lambda value, row, column, *more: value, "must take"),
        (lambda value, row, column, a: value, "has a parameter 'a', which is the name of an operand"),
        (lambda value, row, column: None, "must return the element"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            coerce_epilog(wrong)


@pytest.mark.parametrize(("m", "mask", "padded"), [(1, 16, 8), (8, 16, 8), (9, 16, 16), (128, 16, 128), (129, 32, 136)])
def test_layouts_of_auxiliary_outputs(m, mask, padded):
    for name, rows, dtype in (("RELU_AUX", mask, "uint8"), ("GELU_AUX", padded, "float32")):
        made = problem(op((5, m, 4)), op((4, 3)), epilog=name)
        ((key, matrix),) = made.outputs
        assert key == name.lower()
        assert (matrix.rows, matrix.cols, matrix.row_stride, matrix.col_stride) == (rows, 3, 1, rows)
        assert (matrix.batch_strides, matrix.dtype.name) == ((3 * rows,), dtype)
        assert made.d.order == COLUMN
    for name, extent in (("BGRADA", m), ("BGRADB", 3)):
        ((key, matrix),) = problem(op((m, 4)), op((4, 3)), epilog=name).outputs
        assert outer(key, matrix, ()) == ((extent,), (1,))
        ((key, matrix),) = problem(op((5, m, 4)), op((4, 3)), epilog=name).outputs
        assert outer(key, matrix, (5,)) == ((5, extent, 1), (extent, 1, extent))


def test_the_type_of_an_auxiliary_output():
    def made(epilog, **fields):
        return specify(
            op((8, 4)),
            op((4, 3)),
            options=MatmulOptions(),
            epilog=coerce_epilog(epilog),
            preferences=MatmulEpilogPreferences(**fields),
        )

    assert made("GELU_AUX", aux_type=CudaDataType.CUDA_R_16F).outputs[0][1].dtype.name == "float16"
    for epilog, fields, message in (
        ("RELU_AUX", {"aux_type": 0}, "aux_type is not supported for the epilog RELU_AUX"),
        ("BGRADA", {"aux_type": 0}, "aux_type is not supported"),
        ("GELU_AUX", {"aux_type": CudaDataType.CUDA_R_8I}, "aux_type = int8 is not supported"),
        ("GELU_AUX", {"aux_amax": True}, "aux_amax is not supported"),
    ):
        with pytest.raises(ValueError, match=message):
            made(epilog, **fields)


def test_auxiliary_inputs_that_do_not_fit():
    def made(epilog, name, given, *operands):
        return specify(
            *(operands or (op((8, 4)), op((4, 3)))),
            inputs={name: given},
            options=MatmulOptions(),
            epilog=coerce_epilog(epilog),
        )

    assert made("DRELU", "relu_aux", op((16, 3), "uint8")).auxiliary.rows == 16
    batched = made("DRELU", "relu_aux", op((16, 3), "uint8"), op((5, 8, 4)), op((4, 3)))
    assert batched.auxiliary.batch_strides == (0,)  # one mask serves all
    for epilog, name, given, message in (
        ("DRELU", "relu_aux", op((8, 3), "uint8"), r"its shape is \(8, 3\), expected \(16, 3\)"),
        ("DRELU", "relu_aux", op((16, 3)), "needs uint8, but it is float32"),
        ("DRELU", "relu_aux", op((2, 16, 3), "uint8"), "extents of relu_aux must match"),
        ("DGELU", "gelu_aux", op((8, 3), "float64"), "needs float32, but it is float64"),
        ("DGELU", "gelu_aux", op((7, 3)), "Pass the auxiliary output 'gelu_aux' of a product with the epilog GELU_AUX"),
    ):
        with pytest.raises(ValueError, match=message):
            made(epilog, name, given)


def test_epilogs_that_mean_nothing():
    with pytest.raises(ValueError, match="needs real values"):
        problem(op((8, 4), "complex64"), op((4, 3), "complex64"), epilog="BGRADA")
    with pytest.raises(ValueError, match="not supported for a result without elements"):
        problem(op((0, 4)), op((4, 3)), epilog="RELU_AUX")
    with pytest.raises(ValueError, match=r"bias is complex64, but a and b are float32. Pass bias.real"):
        problem(op((2, 4)), op((4, 3)), epilog="BIAS", bias=op((2,), "complex64"))


def test_epilog_inputs():
    row = coerce_epilog(MatmulEpilog.BIAS)
    assert check_epilog_inputs(row, {"bias": 1}) == {"bias": 1}
    for given in (None, {}, {"bais": 1}, {"bias": 1, "relu_aux": 2}):
        with pytest.raises(ValueError, match="exactly the keys: 'bias'"):
            check_epilog_inputs(row, given)


@pytest.mark.parametrize("shape", [(2,), (2, 1), (5, 2, 1), (1, 2, 1)])
def test_a_bias(shape):
    made = problem(op((5, 2, 4)), op((4, 3)), epilog=MatmulEpilog.BIAS, bias=op(shape))
    assert made.bias is not None
    assert (made.bias.rows, made.bias.cols) == (2, 1)


@pytest.mark.parametrize("shape", [(), (3,), (1,), (2, 3), (4, 2, 1), (5, 2)])
def test_a_bias_that_does_not_fit(shape):
    with pytest.raises(ValueError, match="bias must match"):
        problem(op((5, 2, 4)), op((4, 3)), epilog=MatmulEpilog.BIAS, bias=op(shape))


def test_an_activation_of_complex_numbers():
    with pytest.raises(ValueError, match="RELU is not defined for complex64"):
        problem(op((2, 4), "complex64"), op((4, 3), "complex64"), epilog=MatmulEpilog.RELU)


# --- options, qualifiers, scalars -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"compute_type": 3}, ValueError),
        ({"scale_type": 999}, ValueError),
        ({"blocking": False}, ValueError),
        ({"memory_limit": "80"}, ValueError),
        ({"memory_limit": -1}, ValueError),
        ({"inplace": 2}, ValueError),
        ({"sm_count_target": -1}, ValueError),
        ({"device_id": 1.5}, ValueError),
        ({"allocator": object()}, TypeError),
        ({"result_amax": 1}, ValueError),
        ({"block_scaling": "yes"}, ValueError),
    ],
)
def test_options_that_are_refused(fields, error):
    with pytest.raises(error, match=next(iter(fields))):
        MatmulOptions(**fields)


def test_options_have_defaults_for_none():
    options = MatmulOptions(sm_count_target=None, fast_accumulation=None, device_id=None, memory_limit=None)
    assert (options.sm_count_target, options.fast_accumulation, options.device_id, options.memory_limit) == (
        0,
        False,
        0,
        "80%",
    )


def test_texts_of_options():
    assert repr(MatmulOptions()) == "MatmulOptions()"
    assert (
        repr(MatmulOptions(inplace=True, compute_type=77))
        == "MatmulOptions(inplace=True, compute_type=ComputeType.COMPUTE_32F_FAST_TF32)"
    )
    assert repr(MatmulPlanPreferences(limit=3)) == "MatmulPlanPreferences(limit=3, epilog=MatmulEpilogPreferences())"
    for fields, message in (
        (
            {"result_type": "f"},
            "MatmulOptions.result_type must be None or a member of CudaDataType, not 'f'. Members: CUDA_R_32F",
        ),
        ({"handle": "q"}, "MatmulOptions.handle, a cuBLASLt handle, must be an integer, not 'q'"),
        ({"handle": -1}, "must be at least 0"),
        ({"memory_limit": "80"}, "or a size such as '500 MB'"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            MatmulOptions(**fields)
    with pytest.raises(TypeError, match=r"options has an unexpected keyword 'in_place'.*Did you mean 'inplace'"):
        coerce(MatmulOptions, {"in_place": True}, "options")
    with pytest.raises(TypeError, match="The known names are: reduction_scheme_mask"):
        coerce(MatmulPlanPreferences, {"xyz": True}, "preferences")


def test_preferences():
    assert MatmulPlanPreferences(limit=None, reduction_scheme_mask=None, max_waves_count=None).limit == 8
    assert MatmulPlanPreferences(reduction_scheme_mask=3).reduction_scheme_mask == 3
    for fields in ({"limit": 0}, {"limit": -1}, {"reduction_scheme_mask": 8}):
        with pytest.raises(ValueError, match="MatmulPlanPreferences"):
            MatmulPlanPreferences(**fields)
    with pytest.raises(TypeError, match="epilog must be"):
        MatmulPlanPreferences(epilog=3)
    assert MatmulPlanPreferences(epilog={"aux_amax": False}).epilog == MatmulEpilogPreferences()
    assert MatmulEpilogPreferences(aux_type=0).aux_type is CudaDataType.CUDA_R_32F
    for fields, message in (
        ({"aux_type": "f"}, "aux_type must be None or a member of CudaDataType, not 'f'"),
        ({"aux_amax": 1}, "aux_amax must be True or False"),
    ):
        with pytest.raises(ValueError, match=message):
            MatmulEpilogPreferences(**fields)


def test_qualifiers():
    q = np.zeros(3, matrix_qualifiers_dtype)
    q["is_conjugate"] = (0, 1, 0)
    assert coerce_qualifiers(q) == (False, True)
    assert coerce_qualifiers(None) == (False, False)
    assert coerce_qualifiers(q[:2]) == (False, True)
    assert list(q["is_conjugate"]) == [0, 1, 0]
    for bad, message in (
        (np.zeros(3), "dtype of qualifiers"),
        (q[:1], "one entry for each"),
        ([1, 2, 3], "dtype of qualifiers"),
    ):
        with pytest.raises(ValueError, match=message):
            coerce_qualifiers(bad)
    q["is_conjugate"] = 1
    with pytest.raises(ValueError, match="C cannot be conjugated"):
        coerce_qualifiers(q)


def test_scalars():
    scalars = Scalars(CudaDataType.CUDA_R_32F)
    assert scalars.values == [1.0, 0.0]
    scalars.store(scalars.read(np.float64(0.5), beta=2))
    assert scalars.values == [0.5, 2.0]
    assert scalars.array.tolist() == [0.5, 2.0]
    assert scalars.read(3) == [3.0, 2.0]
    for bad in ("1.5", 1j, [1, 2], object()):
        with pytest.raises(ValueError, match=r"alpha = .* cannot be converted to float32"):
            scalars.read(bad)
    assert Scalars(CudaDataType.CUDA_C_64F).read(1j, 2) == [1j, 2]


# --- resets -----------------------------------------------------------------------------------------------------------


def test_differences():
    old = problem(op((2, 4)), op((4, 3)))
    assert differences(old, problem(op((2, 4)), op((4, 3))), layouts=True) == ""
    other = problem(op((2, 4), strides=(1, 2)), op((4, 3)))
    assert "a: strides must match" in differences(old, other, layouts=True)
    assert differences(old, other, layouts=False) == ""
    assert "b: extents must match" in differences(old, problem(op((2, 4)), op((4, 2))), layouts=True)
    assert "conjugation" in differences(
        problem(op((2, 4), "complex64"), op((4, 3), "complex64")),
        problem(op((2, 4), "complex64", conj=True), op((4, 3), "complex64")), layouts=True,
    )  # fmt: skip
    assert "shape of the result" in differences(
        problem(op((4,)), op((4, 3))), problem(op((1, 4)), op((4, 3))), layouts=True
    )


def test_the_text_of_a_problem():
    text = str(problem(op((2, 4)), op((4, 3)), op((2, 1)), epilog=MatmulEpilog.RELU))
    assert text == (
        "matmul of float32 (2, 4) x (4, 3) to float32 column-major, plus a column C, epilog RELU, compute type COMPUTE_32F, scale "
        "type CUDA_R_32F"
    )
