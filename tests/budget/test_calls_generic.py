"""How many Python-level calls a generic product makes."""

import numpy as np
import pytest
from counts import EXECUTE, ONE_CALL, RESET_AND_EXECUTE, calls_of

import nvmath
from nvmath.linalg import GeneralMatrixQualifier, Matmul, SymmetricMatrixQualifier, matmul, matrix_qualifiers_dtype


@pytest.fixture(params=["numpy", "torch"])
def operands(request):
    made = [np.random.default_rng(1).random((8, 8)).astype("f") for _ in range(3)]
    if request.param == "numpy":
        return made
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return [torch.from_numpy(each) for each in made]


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("qualified", [False, True])
def test_execute_and_reset(operands, added, qualified):
    a, b, c = operands
    qualifiers = None
    if qualified:
        general = GeneralMatrixQualifier.create()
        qualifiers = np.array([SymmetricMatrixQualifier.create(), general, general], matrix_qualifiers_dtype)
    extra, scalars = ((c,), {"beta": 1.0}) if added else ((), {})
    with Matmul(a, b, *extra, **scalars, qualifiers=qualifiers) as product:
        product.plan()
        assert calls_of(product.execute) <= EXECUTE
        assert calls_of(product.execute_unchecked) <= EXECUTE

        def both():
            product.reset_operands(a=b, b=a)
            product.execute()

        assert calls_of(both) <= RESET_AND_EXECUTE


@pytest.mark.parametrize("added", [False, True])
def test_one_call_with_a_kept_plan(operands, added):
    a, b, c = operands
    extra, scalars = ((c,), {"beta": 1.0}) if added else ((), {})
    nvmath.plan_cache.clear()
    assert calls_of(lambda: matmul(a, b, *extra, **scalars)) <= ONE_CALL
    assert nvmath.plan_cache.info().hits == 1


def test_a_plain_product_of_numpy_arrays_is_a_handful_of_calls():
    a = np.ones((8, 8))
    with Matmul(a, a) as product:
        product.plan()
        assert calls_of(product.execute) <= 4
    nvmath.plan_cache.clear()
    assert calls_of(lambda: matmul(a, a)) <= 10
