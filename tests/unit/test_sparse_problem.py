"""What sparse systems mean: where each matrix and each column lies, without any library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from fft_cases import examples
from hypothesis import given
from hypothesis import strategies as st
from sparse_cases import LAYOUTS, csr, right_side

from nvmath._core.arrays import adapter_of
from nvmath._core.kernels_host import array_at
from nvmath.sparse.advanced import DirectSolverMatrixType, DirectSolverOptions
from nvmath.sparse.advanced._host import reduced
from nvmath.sparse.advanced._operands import take_all
from nvmath.sparse.advanced._problem import SystemProblem, differences, specify
from nvmath.sparse.advanced._sides import Columns


def problem_of(a: Any, b: Any, copied: bool = False, **options: Any) -> tuple[SystemProblem, list[np.ndarray]]:
    stored, many = take_all(a)
    sides = tuple(b) if isinstance(b, list) else (b,)
    operands = [*(array for one in stored for array in one.arrays), *sides]
    views = tuple(adapter_of(array).view(array) for array in operands)
    flags = (False,) * (3 * len(stored)) + (copied,) * len(sides)
    metas = [one.meta for one in stored]
    return specify(metas, (many, isinstance(b, list)), views, flags, DirectSolverOptions(**options)), operands


def columns_at(columns: Columns, array: np.ndarray, problem: SystemProblem) -> np.ndarray:
    return array_at(
        array.ctypes.data + columns.start * problem.dtype.itemsize, columns.shape, columns.strides, problem.dtype
    )


@examples(100)
@given(data=st.data())
def test_columns_are_where_they_are(data: st.DataObject) -> None:
    n, batch = data.draw(st.sampled_from([1, 2, 5])), data.draw(st.sampled_from([(), (1,), (3,), (2, 3)]))
    columns = data.draw(st.sampled_from([1, 2, 4]))
    rng = np.random.default_rng(0)
    dtype = data.draw(st.sampled_from(["float64", "complex128"]))
    b = right_side(rng, (*batch, n, columns), dtype, data.draw(st.sampled_from(LAYOUTS)))
    count = int(np.prod(batch))
    a = [csr(np.eye(n))] * count if batch else csr(np.eye(n))
    problem, _ = problem_of(a, b)
    assert problem.split == (dtype == "complex128")
    flat = np.zeros(problem.result.nbytes // b.itemsize, dtype)
    for side in problem.sides:
        columns_at(side.x, flat, problem)[...] = columns_at(side.b, b, problem)
    x = array_at(flat.ctypes.data, problem.result.shape, problem.result.strides, problem.result.dtype)
    np.testing.assert_array_equal(x, b)  # every element of b is in one column, at the same place as in x
    order = sorted(range(b.ndim), key=lambda axis: (abs(b.strides[axis]), b.shape[axis], axis))
    steps = [problem.result.strides[axis] for axis in order if b.shape[axis] > 1]
    assert steps == sorted(steps)  # the order of the axes is that of b


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((5,), (1,), 5), ((5,), (2,), 0), ((5, 3), (1, 5), 5), ((5, 3), (1, 8), 8), ((5, 3), (3, 1), 0), ((5, 1), (1, 1), 5),
        ((1, 3), (7, 1), 1), ((5, 3), (1, 0), 0), ((5, 3), (1, 4), 0), ((5, 3, 2), (1, 5, 15), 0), ((5, 0), (1, 1), 5),
    ],
)  # fmt: skip
def test_leading_dimensions(shape: tuple[int, ...], strides: tuple[int, ...], expected: int) -> None:
    assert Columns(0, shape, strides).leading == expected


def test_copies_are_dense() -> None:
    b = np.zeros((8, 6))[::2, ::2]
    problem, _ = problem_of(csr(np.eye(4)), b, copied=True)
    assert problem.sides[0].b.strides == (3, 1)


def test_blocks() -> None:
    problem, _ = problem_of(sp.bsr_array(np.eye(6), blocksize=(2, 3)), np.ones(6))
    (matrix,) = problem.matrices
    assert (matrix.block, matrix.counts[0]) == ((2, 3), 4)


def test_real_hermitian_matrices_are_symmetric() -> None:
    for given_, meant in (("HERMITIAN", "SYMMETRIC"), ("HPD", "SPD"), ("GENERAL", "GENERAL")):
        problem, _ = problem_of(csr(np.eye(2)), np.ones(2), sparse_system_type=DirectSolverMatrixType[given_])
        assert problem.kind is DirectSolverMatrixType[meant]


def test_a_plan_does_not_depend_on_right_sides() -> None:
    first, _ = problem_of(csr(np.eye(3)), np.ones(3))
    second, _ = problem_of(csr(np.eye(3)), np.ones((3, 4)))
    assert first.matrix == second.matrix
    assert first != second
    assert differences(first, second) == ""
    third, _ = problem_of(csr(np.eye(4)), np.ones(4))
    assert "numbers of equations: expected [3], given [4]" in differences(first, third)


@pytest.mark.parametrize(
    ("name", "real"),
    [
        ("GENERAL", False),
        ("GENERAL", True),
        ("SYMMETRIC", False),
        ("SYMMETRIC", True),
        ("SPD", True),
        ("HERMITIAN", False),
        ("HPD", False),
    ],
)
@pytest.mark.parametrize("op", "NTH")
def test_transposes_are_reduced_to_what_libraries_have(name: str, real: bool, op: str) -> None:
    rng = np.random.default_rng(0)
    made = rng.random((3, 3)) + 3 * np.eye(3) + (0 if real else 1j * rng.random((3, 3)))
    matrix = {"GENERAL": made, "SYMMETRIC": made + made.T, "SPD": made + made.T}.get(name, made + made.conj().T)
    b = rng.random(3) + (0 if real else 1j)
    asked, conjugated = reduced(DirectSolverMatrixType[name], real, op)
    assert asked == "N" or name == "GENERAL"
    ops = {"N": matrix, "T": matrix.T, "H": matrix.conj().T}
    x = np.linalg.solve(ops[asked], b.conj() if conjugated else b)
    np.testing.assert_allclose(ops[op] @ (x.conj() if conjugated else x), b)
