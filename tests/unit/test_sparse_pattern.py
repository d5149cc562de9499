"""Patterns and values: what a library reads is the matrix that the caller means."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from fft_cases import examples
from hypothesis import given
from hypothesis import strategies as st
from sparse_cases import FORMATS, KINDS, csr, part_of, scrambled, well_conditioned

from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import DirectSolverMatrixType, DirectSolverMatrixViewType, _product
from nvmath.sparse.advanced._condition import equilibrium, error_of_known
from nvmath.sparse.advanced._pattern import Assembly, check, is_canonical
from nvmath.sparse.advanced._product import Product


def arrays(a: sp.sparray) -> tuple[np.ndarray, np.ndarray]:
    return (a.row, a.col) if a.format == "coo" else (a.indptr, a.indices)


def assembled(a: sp.sparray, kind: str, view: str, *, full: bool) -> tuple[Assembly, np.ndarray]:
    block = a.data.shape[1:] if a.format == "bsr" else ()
    made = Assembly(
        *arrays(a),
        a.shape[0],
        DirectSolverMatrixType[kind],
        DirectSolverMatrixViewType[view],
        full=full,
        form=a.format,
        block=block,
    )
    return made, made.values(a.data.ravel())


@examples(150)
@given(data=st.data())
def test_any_matrix(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    kind, view, form = (data.draw(st.sampled_from(group)) for group in (KINDS, ("FULL", "LOWER", "UPPER"), FORMATS))
    n, full = data.draw(st.sampled_from([1, 2, 3, 6, 9])), data.draw(st.booleans())
    matrix = well_conditioned(rng, n, "complex128", kind, data.draw(st.sampled_from([0.0, 0.3, 1.0])))
    if data.draw(st.booleans()):
        np.fill_diagonal(matrix, 0)  # then it is not stored
    stored = part_of(matrix, kind, view)
    a = scrambled(rng, stored, form) if data.draw(st.booleans()) else sp.csr_array(stored).asformat(form)
    made, values = assembled(a, kind, view, full=full)
    assert is_canonical(made.indptr, made.indices)
    expected = matrix if kind == "GENERAL" or full else np.triu(matrix)
    read = sp.csr_array((values, made.indices, made.indptr), shape=matrix.shape)
    np.testing.assert_allclose(read.toarray(), expected, atol=1e-12)
    if kind != "GENERAL":  # PARDISO wants every diagonal element
        present = {(int(i), int(j)) for i, j in zip(*read.tocoo().coords, strict=True)}
        assert {(i, i) for i in range(n)} <= present
        half = Product(made, "complex128", half=not full, hermitian=kind in ("HERMITIAN", "HPD"))
        x = rng.random((n, 2)) + 1j
        np.testing.assert_allclose(half(values, x), matrix @ x, atol=1e-10)
        bound = abs(matrix) @ abs(x)
        assert np.all(half.sizes(values, x) >= bound * (1 - 1e-12))
        assert np.all(half.sizes(values, x) <= 2 * bound + 1e-12)
    else:
        product, x = Product(made, "complex128"), rng.random(n) + 1j
        for op, other in (("N", matrix), ("T", matrix.T), ("H", matrix.conj().T)):
            np.testing.assert_allclose(product(values, x, op), other @ x, atol=1e-10)
    assert made.accepts(*arrays(a))


@pytest.mark.skipif(not mkl_pardiso.present(), reason="MKL is not installed (pip install mkl)")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("half", "op"), [(False, "N"), (False, "T"), (False, "H"), (True, "N")])
def test_products_of_mkl(dtype: str, half: bool, op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrix = well_conditioned(rng, 40, dtype, "SYMMETRIC" if half else "GENERAL", 0.3)
    monkeypatch.setattr(_product, "_ENTRIES_FOR_THREADS", 0)
    made, values = assembled(sp.csr_array(matrix), "SYMMETRIC" if half else "GENERAL", "FULL", full=False)
    product, x = Product(made, dtype, half=half, threads=2), rng.random(40).astype(dtype)
    expected = (matrix.T if op in "TH" else matrix) @ x
    np.testing.assert_allclose(product(values, x, op), expected, rtol=1e-4 if dtype == "float32" else 1e-12)
    assert mkl_pardiso.can_multiply() == (product._pattern is not None)


def test_values_in_order_are_not_copied() -> None:
    a = csr([[1, 2], [0, 3]])
    made, values = assembled(a, "GENERAL", "FULL", full=False)
    assert made.trivial
    assert np.shares_memory(values, a.data)


def test_other_patterns_are_not_accepted() -> None:
    a = csr([[4, 1, 0], [0, 4, 1], [1, 0, 4]])
    made, _ = assembled(a, "GENERAL", "FULL", full=False)
    for other in (csr([[4, 0, 1], [1, 4, 0], [0, 1, 4]]), csr([[4, 1, 1], [0, 4, 0], [1, 0, 4]]), csr(np.eye(3))):
        assert not made.accepts(*arrays(other))


def test_a_pattern_that_is_edited_is_not_accepted() -> None:
    a = csr([[4, 1, 0], [0, 4, 1], [1, 0, 4]])
    made, _ = assembled(a, "GENERAL", "FULL", full=False)
    a.indices[0] = 2
    assert not made.accepts(*arrays(a))


@pytest.mark.parametrize(
    ("indptr", "indices", "part"),
    [
        ([0, 2, 4], [0, 1, 0, 2], "outside of 0 to 1"),
        ([0, 2, 4], [0, -1, 0, 1], "outside of 0 to 1"),
        ([0, 5, 4], [0, 1, 0, 1], "decrease in between"),
        ([1, 2, 4], [0, 1, 0, 1], "from 0 to the number of entries, 4; they go from 1 to 4"),
    ],
)
def test_invalid_patterns(indptr: list[int], indices: list[int], part: str) -> None:
    with pytest.raises(ValueError, match=part):
        check(np.array(indptr), np.array(indices), 2)


@pytest.mark.parametrize("decades", [1, 10, 100])
def test_equilibrium_undoes_any_scaling(decades: int) -> None:
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(well_conditioned(rng, 30, "float64", "GENERAL", 0.2))
    rows, columns = 10.0 ** rng.integers(-decades, decades, (2, 30))
    r, c = equilibrium(sp.csr_array(sp.diags_array(rows) @ matrix @ sp.diags_array(columns)))
    scaled = abs(sp.csr_array(sp.diags_array(r * rows) @ matrix @ sp.diags_array(columns * c))).data
    assert scaled.max() / scaled.min() < 1e8
    assert np.all(np.log2(r) == np.round(np.log2(r)))


def test_a_known_solution_shows_a_singular_matrix() -> None:
    matrix = csr([[1, 2, 0], [2, 4, 0], [0, 0, 3]])
    assert error_of_known(matrix, lambda b: np.linalg.lstsq(matrix.toarray(), b)[0]) > 0.1
    good = csr([[1, 2, 0], [2, 5, 0], [0, 0, 3]])
    assert error_of_known(good, lambda b: np.linalg.solve(good.toarray(), b)) < 1e-12
