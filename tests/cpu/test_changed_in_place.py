"""Arrays of NumPy that get another shape where they are, after they were given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nvmath
from nvmath.linalg import DirectSolver, advanced
from nvmath.linalg import Matmul as GenericMatmul

Array = np.ndarray[Any, Any]

OPERATIONS: dict[str, Callable[[Array, Array], Any]] = {
    "fft": lambda a, b: nvmath.fft.FFT(a, execution="cpu"),
    "advanced": lambda a, b: advanced.Matmul(a, b, execution="cpu"),
    "advanced with c": lambda a, b: advanced.Matmul(a, b, b, beta=1.0, execution="cpu"),
    "generic": lambda a, b: GenericMatmul(a, b, execution="cpu"),
    "generic with c": lambda a, b: GenericMatmul(b, b, a, beta=1.0, execution="cpu"),
    "tensor": lambda a, b: nvmath.tensor.BinaryContraction("ij,jk->ik", a, b, execution="cpu"),
    "solver": lambda a, b: DirectSolver(b, a, execution="cpu"),
}


def shrink(a: Array) -> None:
    a.resize((2, 6), refcheck=False)


def reshape(a: Array) -> None:
    a.shape = (4, 9)


def flatten(a: Array) -> None:
    a.shape = (36,)


@pytest.fixture(params=OPERATIONS)
def made(request: pytest.FixtureRequest) -> Any:
    """The operand that will change, and a function that executes."""
    a, b = np.random.default_rng(0).standard_normal((6, 6)) + 0j, np.eye(6) + 0j
    with OPERATIONS[request.param](a, b) as operation:
        operation.plan()
        if isinstance(operation, DirectSolver):
            operation.factorize()
            yield a, operation.solve
        else:
            yield a, operation.execute


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("change", [shrink, reshape, flatten])
def test_another_shape_is_refused_until_it_is_the_old_one_again(made: Any, change: Callable[[Array], None]) -> None:
    a, execute = made
    before = execute()
    values = a.copy()
    change(a)
    for _ in range(3):
        with pytest.raises(ValueError, match=r"does not fit|shape|extent|axes|axis|ndim|dimension"):
            execute()
    a.resize((6, 6), refcheck=False)
    a[...] = values
    for _ in range(2):
        np.testing.assert_array_equal(execute(), before)
