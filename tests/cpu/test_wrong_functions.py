"""Wrong epilogs, wrong inputs of epilogs and masks as operands: the text names what was given, the rule and the remedy."""

import importlib.util

import numpy as np
import pytest

import nvmath
from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

A, B, REAL = np.eye(3), -np.ones((3, 2)), np.ones(4)
needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")


def identity(value, row, column):
    return value


def with_limit(value, row, column, limit):
    return value


def text_of(error, call, *arguments, **keywords):
    with pytest.raises(error) as caught:
        call(*arguments, **keywords)
    return str(caught.value)


def planned(**keywords):
    with Matmul(A, B) as product:
        product.plan(**keywords)


def one_call(**keywords):
    matmul(A, B, **keywords)


CALLS = pytest.mark.parametrize("call", [one_call, planned])


@CALLS
@pytest.mark.parametrize("given", [{"func": identity}, {"function": identity}, {"limit": 2.0}])
def test_a_dict_as_epilog_is_told_from_a_function_and_its_arrays(call, given):
    text = text_of(ValueError, call, epilog=given)
    assert repr(given) in text
    assert "Pass the function itself, epilog=f" in text
    assert "epilog_inputs=" in text


@CALLS
@pytest.mark.parametrize("given", [MatmulEpilog, [MatmulEpilog.RELU], 3.5, object()])
def test_what_is_no_epilog_is_named_with_what_is_one(call, given):
    text = text_of(ValueError, call, epilog=given)
    assert repr(given) in text
    assert "'RELU_BIAS'" in text


@CALLS
def test_a_ufunc_as_epilog_has_to_be_called_by_a_function(call):
    assert "lambda value, row, column" in text_of(ValueError, call, epilog=np.tanh)


@CALLS
@pytest.mark.parametrize(("epilog", "name"), [("bias", "bias"), (with_limit, "limit")])
@pytest.mark.parametrize(("given", "remedy"), [(2.0, "number"), ([1.0, 2.0, 3.0], "numpy.asarray()"), (None, "an array")])
def test_an_input_that_is_no_array_is_named(call, epilog, name, given, remedy):
    text = text_of(ValueError, call, epilog=epilog, epilog_inputs={name: given})
    assert f"epilog_inputs[{name!r}] must be an array, not {given!r} of type {type(given).__name__}." in text
    assert remedy in text


@CALLS
def test_missing_inputs_are_shown_as_they_are_given(call):
    assert "Pass epilog_inputs={'bias': array}." in text_of(ValueError, call, epilog="relu_bias")
    assert "Pass epilog_inputs={'limit': array}." in text_of(ValueError, call, epilog=with_limit, epilog_inputs={"lim": A[0]})


@CALLS
def test_a_bias_without_an_epilog_for_it_names_that_one(call):
    text = text_of(ValueError, call, epilog="relu", epilog_inputs={"bias": A[0]})
    assert "Leave them out, or pass epilog='RELU_BIAS'." in text


@CALLS
@pytest.mark.parametrize(
    ("given", "words"),
    [({"limt": 3}, ("'limt'", "Did you mean 'limit'?")), ({"best": 3}, ("'best'", "max_waves_count, numerical_impl_mask, limit"))],
)
def test_unknown_preferences_are_named_with_those_that_there_are(call, given, words):
    text = text_of(TypeError, call, preferences=given)
    assert all(word in text for word in ("MatmulPlanPreferences", *words))


# --- functions that return something else -------------------------------------------------------------------------------------------


def nothing(value, row, column):
    pass


def nothing_sometimes(value, row, column):  # noqa: RET503 - that is its fault
    if value > 0:
        return 1.0


def pair(value, row, column):
    return value, row


def word(value, row, column):
    return "a"


def imaginary(value, row, column):
    return value * 1j


@CALLS
def test_an_epilog_that_returns_nothing_is_refused(call):
    assert "nothing" in text_of(ValueError, call, epilog=nothing)


@CALLS
def test_an_epilog_that_returns_nothing_for_some_values_is_refused_before_it_meets_one(call):
    text = text_of(ValueError, call, epilog=nothing_sometimes)
    assert "in every case" in text
    assert "if value > 0" in text


@needs_numba
@CALLS
@pytest.mark.parametrize(("epilog", "given"), [(pair, "Tuple(float64, int64)"), (word, "str"), (imaginary, "complex128")])
def test_an_epilog_that_returns_no_real_number_is_told_what_it_returns(call, epilog, given):
    text = text_of(ValueError, call, epilog=epilog)
    assert f"It must return one number, float64, but it returns {given}." in text
    assert "Expected:" in text
    assert "<nvmath" not in text  # nothing of the function that calls it


def keep_positive(data, offset, info, reserved):  # noqa: RET503 - that is its fault
    if data[offset] > 0:
        return data[offset]


def load_pair(data, offset, info, reserved):
    return 1.0, 2.0


def store_and_return(data, offset, element, info, reserved):
    data[offset] = element
    return element


@needs_numba
@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"prolog": keep_positive}, "in every case"),
        ({"prolog": load_pair}, "It must return one number, float64, but it returns UniTuple(float64 x 2)."),
        ({"epilog": store_and_return}, "It must store its result and return nothing, but it returns complex128."),
    ],
)
def test_callbacks_of_transforms_are_told_what_they_return(keywords, words):
    assert words in text_of(ValueError, nvmath.fft.rfft, REAL, **keywords)


@needs_numba
@pytest.mark.parametrize("given", [{"func": identity}, {"function": identity, "dat": REAL}])
def test_a_dict_with_other_names_says_which_names_there_are(given):
    text = text_of(TypeError, nvmath.fft.rfft, REAL, epilog=given)
    unknown = (given.keys() - {"function"}).pop()
    assert f"holds {unknown!r}" in text
    assert "epilog={'function': f, 'data': array}" in text


# --- masks ----------------------------------------------------------------------------------------------------------------------------

MASK = A > 0


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (nvmath.fft.rfft, (MASK,), ""),
        (nvmath.fft.FFT, (MASK,), "Operand operand: "),
        (matmul, (A, MASK), "Operand b: "),
        (nvmath.linalg.matmul, (MASK, B), "Operand a: "),
        (nvmath.linalg.direct_solver, (MASK, B), "Operand a: "),
        (nvmath.tensor.binary_contraction, ("ij,jk->ik", A, MASK), "Operand b: "),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_mask_as_operand_is_named_with_the_conversion(call, arguments, name):
    text = text_of(ValueError, call, *arguments)
    assert text.startswith(f"{name}The NumPy dtype 'bool' is not supported")
    assert "array.astype('float64'); a mask becomes 0.0 and 1.0." in text


def test_a_mask_of_torch_is_named_too():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    text = text_of(ValueError, matmul, torch.eye(3), torch.eye(3) > 0)
    assert text.startswith("Operand b: The torch dtype torch.bool is not supported")
    assert "tensor.to(torch.float64)" in text


def test_long_double_complex_numbers_become_double_ones():
    assert "astype('complex128')" in text_of(ValueError, nvmath.fft.fft, np.ones(4, np.clongdouble))
