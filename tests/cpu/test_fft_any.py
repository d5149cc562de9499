"""Any transform of any array that a package can express is right, whatever library serves."""

import numpy as np
import pytest
from fft_cases import cases, examples, one_call, strides
from frameworks import HOST, Framework, params
from hypothesis import given
from hypothesis import strategies as st

import nvmath

pytestmark = pytest.mark.usefixtures("backend")

frameworks = pytest.mark.parametrize("framework", params(HOST))


@frameworks
@examples(150)
@given(data=st.data())
def test_one_call(framework: Framework, data: st.DataObject) -> None:
    case = data.draw(cases(framework))
    values = case.values()
    operand = case.operand(framework, values)
    got = one_call(case, operand)
    case.check(framework, got, case.want(values))
    np.testing.assert_array_equal(framework.numpy(operand), values)  # the caller's operand is never changed


@frameworks
@examples(75)
@given(data=st.data())
def test_stateful_twice(framework: Framework, data: st.DataObject) -> None:
    case = data.draw(cases(framework))
    values = case.values()
    want = case.want(values)
    operand = case.operand(framework, values)
    threads = data.draw(st.sampled_from([None, 1, 2, 3]))
    with nvmath.fft.FFT(
        operand, **case.keywords(), execution=nvmath.fft.ExecutionCPU(num_threads=threads)
    ) as transform:
        transform.plan()
        first = transform.execute(case.direction)
        second = transform.execute(case.direction)
    case.check(framework, first, want)
    case.check(framework, second, want)
    np.testing.assert_array_equal(framework.numpy(first), framework.numpy(second))
    np.testing.assert_array_equal(framework.numpy(operand), values)


@frameworks
@examples(50)
@given(data=st.data())
def test_reset(framework: Framework, data: st.DataObject) -> None:
    case = data.draw(cases(framework))
    values = case.values()
    want = case.want(values)
    with nvmath.fft.FFT(case.operand(framework, values), **case.keywords()) as transform:
        transform.plan()
        transform.execute(case.direction)
        transform.reset_operand(case.operand(framework, -values))
        case.check(framework, transform.execute(case.direction), -want)
        transform.release_operand()
        transform.reset_operand(case.operand(framework, values))
        case.check(framework, transform.execute(case.direction), want)


@frameworks
@examples(75)
@given(data=st.data())
def test_in_place(framework: Framework, data: st.DataObject) -> None:
    case = data.draw(cases(framework, kinds=("C2C",), resized=False, zero_strides=False))
    values = case.values()
    operand = case.operand(framework, values)
    got = nvmath.fft.fft(operand, **case.keywords() | {"options": {"inplace": True}}, direction=case.direction)
    assert got is operand
    case.check(framework, operand, case.want(values))


@frameworks
@examples(75)
@given(data=st.data())
def test_into_an_array_of_any_layout(framework: Framework, data: st.DataObject) -> None:
    case = data.draw(cases(framework))
    values = case.values()
    layout = data.draw(strides(case.result_shape, negative=framework.negative, zero=False))
    out = framework.empty(case.result_shape, case.result_dtype, layout)
    got = one_call(case, case.operand(framework, values), out=out)
    assert got is out
    case.check(framework, out, case.want(values))


@frameworks
@examples(40)
@given(data=st.data())
def test_empty_batch(framework: Framework, data: st.DataObject) -> None:
    case = data.draw(cases(framework, empty=True))
    values = case.values()
    got = one_call(case, case.operand(framework, values))
    case.check(framework, got, case.want(values))
