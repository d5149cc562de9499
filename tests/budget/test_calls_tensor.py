"""How many Python-level calls a contraction makes."""

import numpy as np
import pytest
from counts import EXECUTE, ONE_CALL, RESET_AND_EXECUTE, calls_of

import nvmath
from nvmath.tensor import BinaryContraction, Einsum, binary_contraction, einsum


@pytest.fixture(params=["numpy", "torch"])
def arrays(request):
    rng = np.random.default_rng(1)
    made = [rng.standard_normal((4, 4)) for _ in range(4)]
    if request.param == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        made = [torch.from_numpy(array) for array in made]
    return made


def test_execute(arrays):
    a, b, c, _ = arrays
    with BinaryContraction("ij,jk->ik", a, b, execution="cpu") as contraction:
        contraction.plan()
        assert calls_of(contraction.execute) <= EXECUTE
    with BinaryContraction("ij,jk->ik", a, b, c=c, execution="cpu") as contraction:
        contraction.plan()
        assert calls_of(lambda: contraction.execute(alpha=2.0, beta=1.0)) <= RESET_AND_EXECUTE


def test_checked_reset_and_execute(arrays):
    a, b, c, d = arrays
    with BinaryContraction("ij,jk->ik", a, b, execution="cpu") as contraction:
        contraction.plan()

        def both():
            contraction.reset_operands(a=c, b=d)
            contraction.execute()

        assert calls_of(both) <= RESET_AND_EXECUTE


def test_one_call_with_a_kept_plan(arrays, fresh_cache):
    a, b, _, _ = arrays
    assert calls_of(lambda: binary_contraction("ij,jk->ik", a, b, execution="cpu")) <= ONE_CALL
    assert nvmath.plan_cache.info().hits == 1


def test_one_call_into_an_array(arrays, fresh_cache):
    a, b, c, _ = arrays
    assert calls_of(lambda: binary_contraction("ij,jk->ik", a, b, out=c, execution="cpu")) <= ONE_CALL
    assert calls_of(lambda: binary_contraction("ij,jk->ik", a, b, c=c, beta=1.0, execution="cpu")) <= ONE_CALL


def test_einsum(arrays, fresh_cache):
    assert calls_of(lambda: einsum("ij,jk,kl,lm->im", *arrays, execution="cpu")) <= ONE_CALL
    with Einsum("ij,jk,kl,lm->im", *arrays, execution="cpu") as network:
        network.plan()
        assert calls_of(network.execute) <= EXECUTE
