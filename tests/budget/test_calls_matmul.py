"""How many Python-level calls a product makes."""

import sys

import numpy as np
import pytest

import nvmath
from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

EXECUTE, RESET_AND_EXECUTE, ONE_CALL = 15, 25, 30
EPILOGS = [None, MatmulEpilog.RELU_BIAS]


def calls_of(function) -> int:
    """Count the Python functions that `function` enters, itself left out."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "call"

    function()  # what is made at the first call is made
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count - 1


@pytest.fixture(params=["numpy", "torch"])
def operands(request):
    made = [np.random.default_rng(1).random(shape).astype("f") for shape in ((8, 8), (8, 8), (8,))]
    if request.param == "numpy":
        return made
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return [torch.from_numpy(each) for each in made]


@pytest.mark.parametrize("epilog", EPILOGS)
def test_execute_and_reset(operands, epilog):
    a, b, bias = operands
    inputs = {"bias": bias} if epilog else None
    with Matmul(a, b, execution="cpu") as product:
        product.plan(epilog=epilog, epilog_inputs=inputs)
        assert calls_of(product.execute) <= EXECUTE

        def both():
            product.reset_operands(a=b, b=a, epilog_inputs=inputs)
            product.execute()

        assert calls_of(both) <= RESET_AND_EXECUTE


@pytest.mark.parametrize("epilog", EPILOGS)
def test_one_call_with_a_kept_plan(operands, epilog):
    a, b, bias = operands
    inputs = {"bias": bias} if epilog else None
    nvmath.plan_cache.clear()
    assert calls_of(lambda: matmul(a, b, epilog=epilog, epilog_inputs=inputs, execution="cpu")) <= ONE_CALL
    assert nvmath.plan_cache.info().hits == 1
