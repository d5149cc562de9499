"""Batches of sparse systems: each is solved as if it were alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from fft_cases import examples
from hypothesis import given
from hypothesis import strategies as st
from sparse_cases import DTYPES, FORMATS, LAYOUTS, assert_solves, csr, right_side, scrambled, solved, well_conditioned

from nvmath.sparse.advanced import DirectSolver, SingularSystemError, direct_solver

pytestmark = pytest.mark.usefixtures("sparse_library")


@pytest.fixture
def torch() -> Iterator[Any]:
    """PyTorch; it says that its sparse tensors are in beta state."""
    found = pytest.importorskip("torch", reason="torch is not installed")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse .* tensor support is in beta state")
        yield found


@examples(60)
@given(data=st.data())
def test_sequences(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    dtype, form = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from(FORMATS))
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 5, 12]), min_size=1, max_size=4))
    dense = [well_conditioned(rng, n, dtype, "GENERAL", 0.4) for n in sizes]
    a = [scrambled(rng, matrix, form) for matrix in dense]
    b = [
        right_side(rng, (n,) if columns is None else (n, columns), dtype, data.draw(st.sampled_from(LAYOUTS)))
        for n in sizes
        for columns in [data.draw(st.sampled_from([None, 1, 3]))]
    ]
    trans = data.draw(st.sampled_from("NTH"))
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        found = solver.solve(trans=trans)
    assert isinstance(found, tuple)
    for matrix, x, side in zip(dense, found, b, strict=True):
        assert_solves(solved(matrix, trans), x, side)
        if side.ndim == 2 and min(side.shape) > 1:  # the order of the axes is kept
            assert (abs(x.strides[0]) < abs(x.strides[1])) == (abs(side.strides[0]) < abs(side.strides[1]))


def test_a_sequence_of_matrices_with_one_array() -> None:
    rng = np.random.default_rng(0)
    dense = [well_conditioned(rng, 6, "float64", "GENERAL", 0.5) for _ in range(6)]
    a = [sp.csr_array(matrix) for matrix in dense]
    for b in (rng.random((6, 6, 2)), rng.random((2, 3, 6, 1)), rng.random((6, 2, 6)).transpose(0, 2, 1)):
        x = direct_solver(a, b, execution="cpu")
        assert x.shape == b.shape
        columns = (array.reshape(6, 6, -1) for array in (x, b))
        for matrix, one, other in zip(dense, *columns, strict=True):
            assert_solves(matrix, one, other)


def test_one_matrix_with_a_sequence() -> None:
    a, rng = csr([[4, 1], [1, 3]]), np.random.default_rng(0)
    b = (rng.random(2), rng.random((2, 3)))
    for x, side in zip(direct_solver(a, b, execution="cpu"), b, strict=True):
        assert_solves(a, x, side)


@pytest.mark.parametrize("shape", [(1,), (4,), (2, 3), (1, 1)])
@pytest.mark.parametrize("layout", ["sparse_csr", "sparse_csc", "sparse_bsr"])
def test_stacks_of_torch(torch: Any, shape: tuple[int, ...], layout: str) -> None:
    rng = np.random.default_rng(1)
    pattern = rng.random((6, 6)) < 0.5
    pattern |= np.eye(6, dtype=bool)
    dense = np.stack([well_conditioned(rng, 6, "float64", "GENERAL", 1.0) * pattern for _ in range(np.prod(shape))])
    dense = dense.reshape(*shape, 6, 6)
    stack = torch.from_numpy(dense)
    a = stack.to_sparse_bsr((2, 3)) if layout == "sparse_bsr" else stack.to_sparse(layout=getattr(torch, layout))
    for columns in (1, 3):
        b = torch.from_numpy(rng.random((*shape, 6, columns)))
        for side in (b, b.mT.contiguous().mT):
            x = direct_solver(a, side, execution="cpu")
            assert x.shape == b.shape
            torch.testing.assert_close(stack @ x, b)
        if len(shape) == 1:
            for one, matrix, side in zip(direct_solver(a, list(b), execution="cpu"), stack, b, strict=True):
                torch.testing.assert_close(matrix @ one, side)


def test_resets(torch: Any) -> None:
    rng = np.random.default_rng(2)
    first = [well_conditioned(rng, n, "float64", "GENERAL", 0.5) for n in (3, 5)]
    a, b = [sp.csr_array(matrix) for matrix in first], [rng.random(3), rng.random(5)]
    with DirectSolver(a, b, execution="cpu") as solver:
        solver.plan()
        solver.factorize()
        b = [rng.random((3, 2)), rng.random(5)]
        solver.reset_operands(b=b)
        for matrix, x, side in zip(first, solver.solve(), b, strict=True):
            assert_solves(matrix, x, side)
        doubled = [sp.csr_array((2 * one.data, one.indices, one.indptr), shape=one.shape) for one in a]
        solver.reset_operands(a=doubled)
        solver.factorize()
        for matrix, x, side in zip(first, solver.solve(), b, strict=True):
            assert_solves(2 * matrix, x, side)
        for keywords, part in (
            ({"a": a[0]}, "a sequence, so it cannot be replaced by a single object"),
            ({"a": a[:1]}, "had 2 matrices"),
            ({"a": a[::-1]}, "had shape"),
            ({"b": b[0]}, "a sequence, so it cannot be replaced by a single object"),
            ({"b": b[:1]}, "had 2 right-hand sides"),
            ({"b": b[::-1]}, "extent N"),
        ):
            with pytest.raises(TypeError, match=part):
                solver.reset_operands(**keywords)


def test_the_singular_one_is_named() -> None:
    a = [csr(np.eye(2)), csr([[1, 1], [1, 1]])]
    with pytest.raises(SingularSystemError, match="System 1 of the batch"):
        direct_solver(a, [np.ones(2), np.array([1.0, 2])], execution="cpu")


def test_one_error_names_all_that_failed() -> None:
    singular, fine, bad = csr([[1, 1], [1, 1]]), csr(np.eye(2)), csr([[1, np.nan], [0, 1]])
    with pytest.raises(SingularSystemError) as caught:
        direct_solver([singular, fine, bad], [np.ones(2)] * 3, execution="cpu")
    text = str(caught.value)
    assert text.startswith("System 0 of the batch: The matrix a is singular")
    assert "System 1" not in text
    assert text.endswith("System 2 of the batch: The matrix a has infinities or NaN.")
    with pytest.raises(SingularSystemError, match=r"System 3 of the batch: .* 2 more systems of the batch failed\.$"):
        direct_solver([bad] * 6, [np.ones(2)] * 6, execution="cpu")


def test_information() -> None:
    a = [csr(np.diag([1.0, -2, 3])), csr(np.diag([1.0, 2, -4]))]
    kind = {"sparse_system_type": "symmetric"}
    with DirectSolver(a, [np.ones(3), np.ones(3)], options=kind, execution="cpu") as solver:
        solver.plan()
        info = solver.factorize()
        assert info.lu_nnz >= 6
        assert info.npivots == 0
        sign, log = info.logdet
        np.testing.assert_array_equal(sign, [-1, -1])
        np.testing.assert_allclose(log, np.log([6, 8]))
        np.testing.assert_allclose(info.condition, [3, 4])
        np.testing.assert_array_equal(info.inertia, [[2, 1], [2, 1]])
        for name in ("diag", "row_permutation", "col_permutation"):
            with pytest.raises(RuntimeError, match="batch of systems"):
                getattr(info, name)


@pytest.mark.parametrize(
    ("a", "b", "kind", "part"),
    [
        ([], np.ones(2), TypeError, "empty sequence"),
        ([csr(np.eye(2))], [], TypeError, "empty sequence"),
        ([csr(np.eye(2))], np.ones(2), TypeError, "batch of 1 matrices"),
        ([csr(np.eye(2))], np.ones((2, 2)), TypeError, "batch of 1 matrices"),
        ([csr(np.eye(2))], [np.ones(2)] * 2, TypeError, "as many right-hand sides"),
        ([csr(np.eye(2))] * 3, np.ones((2, 2, 1)), TypeError, "has 2 right-hand sides"),
        ([csr(np.eye(2))] * 2, np.ones((2, 3, 1)), TypeError, "extent N"),
        ([csr(np.eye(2)), csr(np.eye(2)).tocsc()], [np.ones(2)] * 2, TypeError, "one package and format"),
        ([csr(np.eye(2)), csr(np.eye(2), "float32")], [np.ones(2)] * 2, ValueError, "same dtypes"),
        ([csr(np.eye(2)), csr(np.ones((2, 3)))], [np.ones(2)] * 2, TypeError, r"a\[1\] must be square"),
        ([csr(np.eye(2))] * 2, [np.ones(2), np.ones(2, "float32")], ValueError, "one dtype"),
        ([csr(np.eye(2))] * 2, [np.ones(2), np.ones((2, 2, 1))], TypeError, r"b\[1\] has"),
    ],
)
def test_what_does_not_fit(a: Any, b: Any, kind: type[Exception], part: str) -> None:
    with pytest.raises(kind, match=part):
        direct_solver(a, b, execution="cpu")


def test_stacks_that_do_not_fit(torch: Any) -> None:
    a = torch.stack([torch.eye(2, dtype=torch.float64)] * 6).reshape(2, 3, 2, 2).to_sparse_csr()
    with pytest.raises(TypeError, match=r"batch of shape \(2, 3\)"):
        direct_solver(a, torch.ones(3, 2, 2, 1, dtype=torch.float64), execution="cpu")
    with pytest.raises(TypeError, match="stack of matrices by"):
        direct_solver([a], torch.ones(3, 2, 2, 1, dtype=torch.float64), execution="cpu")
