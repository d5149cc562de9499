"""What users of other libraries reported of contractions, as checks of arrays of any package, in any place.

Each takes a function that makes an array of NumPy's values in the package under test, one that goes back, and the execution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nvmath.tensor import BinaryContraction, binary_contraction, einsum, ternary_contraction

Make = Callable[[np.ndarray], Any]
Back = Callable[[Any], np.ndarray]


def _right(back: Back, got: Any, want: np.ndarray) -> None:
    np.testing.assert_allclose(back(got), want, rtol=1e-12, atol=1e-13)


def other_alignments_with_a_kept_plan(make: Make, back: Back, execution: str) -> None:
    """cupy 7318, 7812; CUDA.jl 2407: a plan was used again for operands at another alignment."""
    values = np.random.default_rng(0).random(200)
    memory = make(values)
    for start in range(9):
        a, b = memory[start : start + 12].reshape(3, 4), memory[60 + start : 80 + start].reshape(4, 5)
        want = values[start : start + 12].reshape(3, 4) @ values[60 + start : 80 + start].reshape(4, 5)
        _right(back, binary_contraction("ij,jk->ik", a, b, execution=execution), want)
    a, b = memory[:12].reshape(3, 4), memory[60:80].reshape(4, 5)
    with BinaryContraction("ij,jk->ik", a, b, execution=execution) as contraction:
        contraction.plan()
        contraction.execute()
        for start in (1, 2, 4, 0, 3):
            contraction.reset_operands(a=memory[start : start + 12].reshape(3, 4))
            want = values[start : start + 12].reshape(3, 4) @ values[60:80].reshape(4, 5)
            _right(back, contraction.execute(), want)


def batches_in_any_place(make: Make, back: Back, execution: str) -> None:
    """rocm-libraries 10826, 11127: a mode of both operands and the result gave wrong values."""
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    _right(back, binary_contraction("bmk,bkn->bmn", make(a), make(b), execution=execution), a @ b)
    for result in ("nbm", "mnb", "bnm", "mbn"):
        want = np.einsum(f"bmk,bkn->{result}", a, b)
        _right(back, binary_contraction(f"bmk,bkn->{result}", make(a), make(b), execution=execution), want)
    x, y, z = (np.ascontiguousarray(a[:, i]) for i in range(3))
    want = np.einsum("bi,bj,bk->bijk", x, y, z)
    _right(back, ternary_contraction("bi,bj,bk->bijk", make(x), make(y), make(z), execution=execution), want)
    want = np.einsum("bi,bj,bk,b->bijk", x, y, z, x[:, 0])
    _right(back, einsum("bi,bj,bk,b->bijk", make(x), make(y), make(z), make(x[:, 0].copy()), execution=execution), want)


def modes_of_one_operand(make: Make, back: Back, execution: str) -> None:
    """numpy 11308: an index that only one operand has is summed over."""
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 3)), rng.random((4, 3))
    for expression in ("ij,kj->i", "ij,kl->", "ij,kl->ijkl", "ij,kl->lk", "ij,kl->j", "ij,kl->il"):
        _right(back, binary_contraction(expression, make(a), make(b), execution=execution), np.einsum(expression, a, b))


def extents_that_do_not_fit(make: Make, back: Back, execution: str) -> None:
    """jax 3645: a mismatch was not noticed."""
    for expression, shapes, text in (
        ("ij,jk->ik", [(2, 3), (4, 5)], "mode 'j' has extent 3 in operand a but 4 in operand b"),
        ("ijk,jk->i", [(2, 3), (3, 5)], "Operand a has 2 dimensions, but its term in 'ijk,jk->i' has 3 labels"),
        ("ij,jk->iz", [(2, 3), (3, 5)], "label 'z', which no operand has"),
    ):
        with pytest.raises(ValueError, match=text):
            binary_contraction(expression, *(make(np.ones(shape)) for shape in shapes), execution=execution)


REPORTS = {
    check.__name__: check
    for check in (other_alignments_with_a_kept_plan, batches_in_any_place, modes_of_one_operand, extents_that_do_not_fit)
}
