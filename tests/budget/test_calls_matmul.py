"""How many Python-level calls a product makes."""

import numpy as np
import pytest
from counts import EXECUTE, ONE_CALL, RESET_AND_EXECUTE, calls_of

import nvmath
from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

EPILOGS = [None, MatmulEpilog.RELU_BIAS]


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


@pytest.mark.parametrize(("epilog", "execute", "one_call"), [(None, 3, 8), (MatmulEpilog.RELU_BIAS, 9, 16)])
def test_how_many_they_are_now(operands, epilog, execute, one_call):
    """Far below the bounds that hold for every operation: a change that adds a call shows."""
    a, b, bias = operands
    inputs = {"bias": bias} if epilog else None
    with Matmul(a, b, execution="cpu") as product:
        product.plan(epilog=epilog, epilog_inputs=inputs)
        assert calls_of(product.execute) <= execute
    assert calls_of(lambda: matmul(a, b, epilog=epilog, epilog_inputs=inputs, execution="cpu")) <= one_call


def test_a_product_of_numpy_arrays_alone_is_one_call_of_c():
    a, b = (np.random.default_rng(seed).random((8, 8)) for seed in (1, 2))
    with Matmul(a, b, execution="cpu") as product:
        product.plan()
        assert calls_of(product.execute) <= 1  # whether to log
    assert calls_of(lambda: matmul(a, b, execution="cpu")) <= 2
