"""The array for results is looked at in each execution: its package can give it other memory, another shape, other flags."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nvmath.tensor import BinaryContraction, Einsum, InvalidContractionState, binary_contraction

A = np.arange(16.0).reshape(4, 4)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


def _binary(a: Any, out: Any, **more: Any) -> BinaryContraction:
    return BinaryContraction("ij,jk->ik", a, a, out=out, execution="cpu", **more)


def _einsum(a: Any, out: Any) -> Einsum:
    return Einsum("ij,jk->ik", a, a, out=out, execution="cpu")


both = pytest.mark.parametrize("make", [_binary, _einsum])


@both
def test_another_shape_is_refused(make: Callable[..., Any]) -> None:
    out = np.zeros((4, 4))
    with make(A, out) as contraction:
        contraction.plan()
        out.resize((2, 2), refcheck=False)
        for _ in range(2):
            with pytest.raises(ValueError, match=r"out must have the shape of the result.*\(4, 4\), but it has shape \(2, 2\)"):
                contraction.execute()
        out.resize((4, 4), refcheck=False)
        assert contraction.execute() is out
    np.testing.assert_array_equal(out, A @ A)


@both
def test_a_read_only_one_is_refused(make: Callable[..., Any]) -> None:
    out = np.zeros((4, 4))
    with make(A, out) as contraction:
        contraction.plan()
        contraction.execute()
        out[...] = 0
        out.flags.writeable = False
        with pytest.raises(ValueError, match="out is read-only"):
            contraction.execute()
    assert not out.any()


@both
def test_other_strides_are_followed(make: Callable[..., Any]) -> None:
    out = np.zeros((4, 4))
    with make(A, out) as contraction:
        contraction.plan()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            out.strides = (8, 32)
        contraction.execute()
    np.testing.assert_array_equal(out, A @ A)


@both
def test_torch_can_give_it_other_memory(make: Callable[..., Any], torch: Any) -> None:
    x, out = torch.tensor(A), torch.zeros(4, 4, dtype=torch.float64)
    with make(x, out) as contraction:
        contraction.plan()
        for new in (torch.zeros(1, 1, dtype=torch.float64), torch.zeros(4, 4), torch.zeros(4, dtype=torch.float64).expand(4, 4)):
            out.data = new
            with pytest.raises(ValueError, match="out must"):
                contraction.execute()
            assert not new.any()
        out.data = torch.zeros(4, 4, dtype=torch.float64).T
        contraction.execute()
        np.testing.assert_array_equal(out, A @ A)
        out.data = torch.zeros(4, 4, dtype=torch.float64)
        out.resize_(0)
        out.untyped_storage().resize_(0)
        with pytest.raises(ValueError, match=r"shape \(0,\)"):
            contraction.execute()
        out.data = x  # now it is the operand
        contraction.execute()
    np.testing.assert_array_equal(x, A @ A)


def test_the_addend_it_is_can_move(torch: Any) -> None:
    x, out = torch.tensor(A), torch.ones(4, 4, dtype=torch.float64)
    with _binary(x, out, c=out) as contraction:
        contraction.plan()
        contraction.execute(beta=1)
        out.data = torch.full((4, 4), 5.0, dtype=torch.float64)
        contraction.execute(beta=1)
    np.testing.assert_array_equal(out, A @ A + 5)


def test_a_refused_operand_leaves_the_way_of_writing(torch: Any) -> None:
    x, out = torch.tensor(A), torch.zeros(4, 8, dtype=torch.float64)[:, :4]
    moved = x.clone()
    with BinaryContraction("ij,jk->ik", moved, x, out=out, execution="cpu") as contraction:
        contraction.plan()
        memory, moved.data = moved.data, out[:, :3]
        with pytest.raises(ValueError, match="extent"):
            contraction.execute()
        moved.data = memory
        contraction.execute()
    np.testing.assert_array_equal(out, A @ A)


def test_it_may_not_require_a_gradient(torch: Any) -> None:
    x, out = torch.tensor(A), torch.zeros(4, 4, dtype=torch.float64, requires_grad=True)
    for call in (lambda: _binary(x, out), lambda: _einsum(x, out), lambda: binary_contraction("ij,jk->ik", x, x, out=out, execution="cpu")):
        with pytest.raises(ValueError, match=r"out requires a gradient.*detach\(\)"):
            call()
    with _binary(x, out.detach()) as contraction:
        contraction.plan()
        contraction.execute()
    np.testing.assert_array_equal(out.detach(), A @ A)


def test_without_checks_the_object_must_still_be_complete() -> None:
    contraction = BinaryContraction("ij,jk->ik", A, A, execution="cpu")
    contraction.plan()
    contraction.release_operands()
    with pytest.raises(ValueError, match="b is missing"):
        contraction.reset_operands_unchecked(a=A)
    contraction.reset_operands_unchecked(a=A, b=A)
    np.testing.assert_array_equal(contraction.execute(), A @ A)
    contraction.free()
    out = np.zeros((4, 4))
    with _binary(A, out) as other:
        other.plan()
        other.release_operands()
        with pytest.raises(ValueError, match="out is missing"):
            other.reset_operands_unchecked(a=A, b=A)
    with pytest.raises(InvalidContractionState, match="freed"):
        contraction.reset_operands_unchecked(a=A, b=A)
