"""What an FFT means: shapes, lengths, layouts and refusals, from metadata alone."""

import pickle

import numpy as np
import pytest
from fft_cases import cases, examples
from frameworks import BY_NAME, row_major
from hypothesis import given
from hypothesis import strategies as st

from nvmath._core.dtypes import dtype
from nvmath.fft import FFTDirection, FFTOptions
from nvmath.fft._problem import differences, embedding, normalise_axes, plan_arguments, specify

TORCH = BY_NAME["torch-cpu"]


def problem(shape, name="complex128", *, strides=None, **keywords):
    options = FFTOptions(**keywords.pop("options", {}))
    keywords.setdefault("axes", None)
    return specify(tuple(shape), tuple(strides or row_major(shape)), dtype(name), options=options, **keywords)


@examples(200)
@given(data=st.data())
def test_shapes_dtypes_and_lengths(data):
    case = data.draw(cases(TORCH, empty=data.draw(st.booleans())))
    made = problem(
        case.shape, case.dtype, strides=case.strides, axes=case.axes, extents=case.extents, norm=case.norm,
        options={"fft_type": case.kind, "last_axis_parity": case.parity, "result_layout": case.layout},
    )  # fmt: skip
    assert made.kind == case.kind
    assert (made.in_dtype.name, made.out_dtype.name) == (case.dtype, case.result_dtype)
    assert made.out_shape == case.result_shape
    assert (made.axes, made.lengths, made.points) == (case.axes, case.lengths, case.points)
    assert made.empty == (0 in case.shape)
    assert made.source_shape == case.shape
    assert made.default_direction == (FFTDirection.INVERSE if case.kind == "C2R" else FFTDirection.FORWARD)
    assert set(made.batch_axes) | set(made.axes) == set(range(len(case.shape)))


@examples(100)
@given(data=st.data())
def test_problems_are_values(data):
    case = data.draw(cases(TORCH))
    keywords = {"axes": case.axes, "extents": case.extents, "norm": case.norm, "strides": case.strides,
                "options": {"fft_type": case.kind, "last_axis_parity": case.parity}}  # fmt: skip
    one, two = problem(case.shape, case.dtype, **keywords), problem(case.shape, case.dtype, **keywords)
    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == one
    assert plan_arguments(one) == plan_arguments(two)
    assert differences(one, two) == ""


def test_a_problem_is_frozen():
    made = problem((4, 8))
    with pytest.raises(AttributeError):
        made.kind = "R2C"
    assert not hasattr(made, "__dict__")


def test_the_text_of_a_problem_names_everything():
    text = str(problem((4, 8), "float32", axes=[1]))
    for word in ("R2C", "float32", "(4, 8)", "(8, 1)", "(1,)", "complex64", "(4, 5)", "(5, 1)"):
        assert word in text
    assert "in place" in str(problem((8,), options={"inplace": True}))


@pytest.mark.parametrize(
    ("name", "asked", "kind"),
    [("complex64", None, "C2C"), ("float64", None, "R2C"), ("complex64", "C2R", "C2R"), ("float16", None, "R2C"),
     ("complex32", None, "C2C"), ("float32", "R2C", "R2C"), ("complex128", "C2C", "C2C")],
)  # fmt: skip
def test_the_kind_follows_from_the_dtype(name, asked, kind):
    assert problem((8,), name, options={"fft_type": asked}).kind == kind


@pytest.mark.parametrize(
    ("axes", "ndim", "expected"),
    [(None, 3, (0, 1, 2)), ((), 3, (0, 1, 2)), ([], 5, (0, 1, 2, 3, 4)), ([-1], 3, (2,)), ([2, 0], 3, (2, 0)),
     (range(2), 3, (0, 1)),      (np.array([1, 0]), 2, (1, 0)), (iter([1]), 2, (1,)),
     ([True], 2, (1,)), ([np.uint8(1)], 2, (1,)), ([-3, -2, -1], 3, (0, 1, 2))],
)  # fmt: skip
def test_axes(axes, ndim, expected):
    assert normalise_axes(axes, ndim) == expected


def test_axes_follow_from_s():
    assert normalise_axes(None, 4, (8, 8)) == (2, 3)
    assert normalise_axes((), 4, (8,)) == (3,)


REFUSALS = [
    # (shape, dtype, keywords, exception, words)
    ((), "complex64", {}, ValueError, "0-dimensional"),
    ((8,), "int32", {}, ValueError, "int32 is not supported; convert the operand to one of float16"),
    ((8,), "float8_e4m3fn", {}, ValueError, "float8_e4m3fn"),
    ((8,), "complex64", {"axes": [1]}, ValueError, "Axis 1 is out of range.*-1 to 0"),
    ((8, 8), "complex64", {"axes": [0, 0]}, ValueError, "names an axis twice"),
    ((8, 8), "complex64", {"axes": [1, -1]}, ValueError, "names an axis twice"),
    ((8, 8), "complex64", {"axes": [0.0]}, TypeError, "axes must be a sequence of integers"),
    ((8, 8), "complex64", {"axes": 1}, TypeError, "axes must be a sequence of integers, not 1"),
    ((8, 8), "complex64", {"axes": ["a"]}, TypeError, "axes must be a sequence of integers"),
    ((8, 8), "complex64", {"axes": [None]}, TypeError, "axes must be a sequence of integers"),
    ((4, 0), "complex64", {"axes": [1]}, ValueError, "Axis 1 .* extent 0"),
    ((4, 0), "complex64", {"axes": [0, 1]}, ValueError, "Axis 1 .* extent 0"),
    ((4, 0), "float32", {"axes": [1]}, ValueError, "extent 0"),
    ((4, 1), "complex64", {"axes": [1], "options": {"fft_type": "C2R"}}, ValueError, 'extent 0.*"last_axis_parity": "odd"'),
    ((4, 0), "complex64", {"axes": [1], "options": {"fft_type": "C2R"}}, ValueError, "extent 0"),
    ((4, 0), "complex64", {"axes": [1], "options": {"fft_type": "C2R", "last_axis_parity": "odd"}}, ValueError, "extent 0"),
    ((8,), "float32", {"options": {"fft_type": "C2C"}}, ValueError, "C2C FFT takes a complex operand, but the operand is float32"),
    ((8,), "float32", {"options": {"fft_type": "C2R"}}, ValueError, "C2R FFT takes a complex operand"),
    ((8,), "complex64", {"options": {"fft_type": "R2C"}}, ValueError, "R2C FFT takes a real operand"),
    ((8,), "float32", {"options": {"inplace": True}}, ValueError, "inplace=True needs a complex-to-complex"),
    ((8,), "complex64", {"options": {"inplace": True, "fft_type": "C2R"}}, ValueError, "inplace=True needs"),
    ((8,), "complex64", {"options": {"inplace": True}, "extents": (4,)}, ValueError, "cannot change the shape"),
    ((4, 8), "complex64", {"options": {"inplace": True}, "strides": (0, 1)}, ValueError, "share memory"),
    ((4, 8), "complex64", {"options": {"inplace": True}, "strides": (4, 1)}, ValueError, "share memory"),
    ((8,), "float16", {"package": "numpy"}, TypeError, "complex32, which numpy does not have"),
    ((8,), "complex32", {"package": "cupy"}, TypeError, "complex32, which cupy does not have"),
    ((8, 8), "complex64", {"extents": (1, 2, 3)}, ValueError, "3 entries.*2 axes"),
    ((8, 8), "complex64", {"extents": (1,), "axes": [0, 1]}, ValueError, "1 entries.*2 axes"),
    ((8, 8), "complex64", {"extents": (0, 4)}, ValueError, "length 0"),
    ((8, 8), "complex64", {"extents": (-2, 4)}, ValueError, "length -2"),
    ((8, 8), "complex64", {"extents": (2.5, 4)}, TypeError, "s must be a sequence of integers"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "name", "keywords", "error", "words"), REFUSALS)
def test_refusals(shape, name, keywords, error, words):
    with pytest.raises(error, match=words):
        problem(shape, name, **keywords)


def test_half_precision_needs_a_package_that_has_it():
    assert problem((8,), "float16", package="torch").out_dtype.name == "complex32"


def test_strides_in_place_are_those_of_the_operand():
    made = problem((4, 8), strides=(40, 3), options={"inplace": True, "result_layout": "natural"})
    assert made.out_strides == made.in_strides == (40, 3)


def test_a_copied_operand_is_dense():
    made = problem((4, 8), strides=(-1, 40), copied=True)
    assert made.in_strides == made.source_strides == (1, 4)


def test_what_the_library_reads_after_cropping_and_padding():
    made = problem((4, 8), axes=[1], extents=(5,))
    assert (made.source_shape, made.shape, made.lengths) == ((4, 8), (4, 5), (5,))
    half = problem((4, 8), axes=[1], extents=(6,), options={"fft_type": "C2R"})
    assert (half.shape, half.lengths, half.out_shape) == ((4, 4), (6,), (4, 6))
    padded = problem((4, 0), axes=[1], extents=(3,))
    assert (padded.source_shape, padded.shape) == ((4, 0), (4, 3))


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [((4, 6, 8), (48, 8, 1), {0: 4, 1: 6, 2: 8}), ((2, 4, 4), (72, 8, 1), {0: 2, 1: 9, 2: 8}), ((4, 8), (-8, 1), None),
     ((4, 8), (0, 1), None), ((4, 8), (9, 2), None), ((4, 8), (1, 4), {0: 4, 1: 8}), ((8,), (3,), {0: 8})],
)  # fmt: skip
def test_embedding(shape, strides, expected):
    assert embedding(shape, strides) == expected


def test_differences_name_what_was_expected_and_what_was_given():
    text = differences(problem((4, 8), axes=[1]), problem((4, 9), axes=[1]))
    assert "shape: expected (4, 8), given (4, 9)" in text
    assert "strides: expected (8, 1), given (9, 1)" in text
