"""Batches of one pattern, which cuDSS takes at once, over the stand-in in host memory; those that it does not do well are taken alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from fft_cases import examples
from hypothesis import given
from hypothesis import strategies as st
from sparse_cases import KINDS, LAYOUTS, assert_solves, csr, part_of, right_side, solved, well_conditioned

from nvmath.sparse.advanced import IllConditionedWarning, SingularSystemError
from nvmath.sparse.advanced._cuda_batch import runs
from nvmath.sparse.advanced._systems import PatternChangedError

from .cudss_on_host import ANALYSIS, FACTORIZATION, SOLVE, HostCudss, needs_compiler
from .test_sparse_cudss import solver

pytestmark = [needs_compiler, pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")]


def members(count: int = 4, n: int = 5) -> list[sp.csr_array]:
    """Matrices of one pattern."""
    base = sp.csr_array(
        sp.diags_array([np.full(n - 1, -1.0), np.full(n, 4.0), np.full(n - 1, -1.5)], offsets=[-1, 0, 1])
    )
    rng = np.random.default_rng(0)
    return [
        sp.csr_array((base.data * (1 + rng.random(base.nnz)), base.indices, base.indptr), shape=base.shape)
        for _ in range(count)
    ]


def sides(a: list[Any], columns: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.random((one.shape[0], columns) if columns else one.shape[0]).astype(one.dtype) for one in a]


def at_once(made: HostCudss) -> bool:
    """Whether there was one analysis, for all."""
    return made.phases.count(ANALYSIS) == 1


@examples(40)
@given(data=st.data())
def test_systems_of_one_pattern_are_solved_at_once(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind = data.draw(st.sampled_from(KINDS))
    real = kind in ("GENERAL", "SYMMETRIC", "SPD") and (kind == "SPD" or data.draw(st.booleans()))
    dtype = data.draw(st.sampled_from(("float32", "float64") if real else ("complex64", "complex128")))
    if kind == "SYMMETRIC" and not real:
        kind = "HERMITIAN"
    part = data.draw(st.sampled_from(("FULL", "LOWER", "UPPER")))
    n, count, columns = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 5)), data.draw(st.integers(1, 3))
    pattern = well_conditioned(rng, n, "float64", "SPD", 0.4) != 0
    full = [np.where(pattern, well_conditioned(rng, n, dtype, kind, 1.0), 0).astype(dtype) for _ in range(count)]
    given_ = [sp.csr_array(part_of(one, kind, part)) for one in full]
    layout = data.draw(st.sampled_from(LAYOUTS))
    b = [right_side(rng, (n, columns), dtype, layout) for _ in range(count)]
    options = {"sparse_system_type": kind, "sparse_system_view": part}
    with solver(given_, b, host=data.draw(st.booleans()), **options) as (one, made):
        found = one.analyse().factorize().solve()
        assert at_once(made)
        assert made.phases == [ANALYSIS, FACTORIZATION, SOLVE, *[SOLVE] * columns]
    for matrix, x, side in zip(full, found, b, strict=True):
        assert_solves(matrix, x, side)


@pytest.mark.parametrize("columns", [1, 3])
def test_a_stack_is_read_where_it_is(columns: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a = members(6)
    n = a[0].shape[0]
    first, second = (np.tile(array, (6, 1)) for array in (a[0].indptr, a[0].indices))
    values = np.array([one.data for one in a]).reshape(2, 3, -1)
    arrays = (torch.from_numpy(array) for array in (first.reshape(2, 3, -1), second.reshape(2, 3, -1), values))
    stack = torch.sparse_csr_tensor(*arrays, size=(2, 3, n, n), check_invariants=False)
    b = torch.from_numpy(np.random.default_rng(0).random((2, 3, n, columns)))
    with solver(stack, b) as (one, made):
        x = one.analyse().factorize().solve()
        assert at_once(made)
        (descriptor,) = made.named("MatrixCreateCsr")
        assert descriptor[6] == one.ptrs[2]  # values
        if columns == 1:
            assert one.ptrs[3] in [arguments[1] for arguments in made.named("MatrixSetValues")] + [
                arguments[3] for arguments in made.named("MatrixCreateDn")
            ]
    for i, matrix in enumerate(a):
        assert_solves(matrix, np.array(x[i // 3, i % 3]), b[i // 3, i % 3].numpy())


def test_complex_right_sides_of_real_matrices() -> None:
    a = members()
    b = [side + 2j * side[::-1] for side in sides(a, 2)]
    with solver(a, b) as (one, made):
        found = one.analyse().factorize().solve()
        assert at_once(made)
    for matrix, x, side in zip(a, found, b, strict=True):
        assert_solves(matrix, x, side)


@pytest.mark.parametrize("blocking", [True, False])
def test_a_member_that_cudss_spoils_is_solved_alone(blocking: bool) -> None:
    a = members()
    b = sides(a)
    with solver(a, b, blocking=blocking) as (one, made):
        made.breaks = {2}
        found = one.analyse().factorize().solve()
        assert made.phases.count(FACTORIZATION) == 2
        assert one.plan.residual({}) < 1e-14
    for matrix, x, side in zip(a, found, b, strict=True):
        assert_solves(matrix, x, side)


def test_a_member_that_a_solution_spoils_is_solved_alone() -> None:
    a = members()
    b = sides(a)
    with solver(a, b) as (one, made):
        one.analyse().factorize()
        (data,) = [answers for answers in made.objects.values() if isinstance(answers, dict) and "members" in answers]
        data["members"][1]["factors"] = np.full((5, 5), np.nan)  # after it has been proved
        found = one.solve()
    for matrix, x, side in zip(a, found, b, strict=True):
        assert_solves(matrix, x, side)


@pytest.mark.parametrize("kind", ["GENERAL", "SPD"])
def test_a_singular_member_is_named_although_its_system_has_solutions(kind: str) -> None:
    a = members()
    a = [sp.csr_array((one + one.T) / 2) for one in a]
    a[3].data[:2] = a[3].data[2] = 0  # a row
    b = [matrix @ np.ones(5) for matrix in a]
    with np.errstate(all="ignore"), solver(a, b, sparse_system_type=kind) as (one, _):
        one.analyse()
        with pytest.raises(SingularSystemError, match="System 3 of the batch"):
            one.factorize()


def test_on_failure_warn_returns_what_there_is() -> None:
    a = members()
    a[1].data[:2] = 0
    with np.errstate(all="ignore"), solver(a, sides(a), on_failure="warn") as (one, _):
        one.analyse()
        with pytest.warns(IllConditionedWarning, match="singular"):
            one.factorize()


@pytest.mark.parametrize("on_failure", ["retry", "raise"])
def test_values_that_have_changed(on_failure: str) -> None:
    a = members()
    b = sides(a)
    with solver(a, b, on_failure=on_failure) as (one, _):
        one.analyse().factorize()
        a[2].data *= -3.0
        a[2].data[0] *= 7
        assert one.accepts()
        if on_failure == "raise":
            with pytest.raises(SingularSystemError, match=r"System 2 of the batch.*call factorize"):
                one.solve()
        for _ in range(2):
            one.factorize()
            for matrix, x, side in zip(a, one.solve(), b, strict=True):
                assert_solves(matrix, x, side)


def test_another_pattern_is_noticed() -> None:
    a = members()
    a = [sp.csr_array((one.data, one.indices.copy(), one.indptr.copy()), shape=one.shape) for one in a]
    for host in (False, True):
        with solver(a, sides(a), host=host) as (one, made):
            one.analyse()
            assert at_once(made)
            assert one.accepts()
            a[3].indices[0], kept = 1 - a[3].indices[0], a[3].indices[0]
            assert not one.accepts()
            with pytest.raises(PatternChangedError):
                one.factorize()
            a[3].indices[0] = kept


def spoilt(what: str) -> tuple[list[Any], dict[str, Any]]:
    a: list[Any] = members()
    match what:
        case "pattern":
            a[1] = csr(np.eye(5))
        case "number of equations":
            a[1] = csr(np.eye(3))
        case "order":
            a = [
                sp.csr_array((one.data[::-1].copy(), one.indices[::-1].copy(), one.indptr), shape=one.shape)
                for one in a
            ]
        case "format":
            a = [one.tocsc() for one in a]
        case "int64":
            for one in a:
                one.indices, one.indptr = one.indices.astype(np.int64), one.indptr.astype(np.int64)
        case "hybrid":
            return a, {"hybrid": True}
        case "complex symmetric":
            return [sp.csr_array((one + one.T).astype(complex) * (1 + 0.2j)) for one in a], {
                "sparse_system_type": "SYMMETRIC"
            }
    return a, {}


@pytest.mark.parametrize(
    "what", ["pattern", "number of equations", "order", "format", "int64", "hybrid", "complex symmetric"]
)
def test_other_batches_are_taken_one_by_one(what: str) -> None:
    a, keywords = spoilt(what)
    b = sides(a)
    with solver(a, b, **keywords) as (one, made):
        found = one.analyse().factorize().solve()
        assert made.phases.count(ANALYSIS) == 4
        assert "at once" not in one.plan.description
    for matrix, x, side in zip(a, found, b, strict=True):
        assert_solves(matrix.toarray(), x, side)


def test_matching_and_a_library_that_refuses_take_them_one_by_one() -> None:
    a = members()
    with solver(a, sides(a)) as (one, made):
        one.config.set("matching_algorithm", "max_diag_product")
        one.analyse().factorize().solve()
        assert made.phases.count(ANALYSIS) == 4
        one.config.set("matching_algorithm", "none")
        made.refuses = True
        one.analyse().factorize().solve()
        made.refuses = False
        made.calls.clear()
        one.analyse().factorize().solve()
        assert at_once(made)


@pytest.mark.parametrize("trans", ["T", "H"])
def test_transposes_are_solved_one_by_one(trans: str) -> None:
    a = members()
    b = sides(a)
    with solver(a, b) as (one, _):
        found = one.analyse().factorize().solve(trans)
        assert one.plan.residual({}) < 1e-14
    for matrix, x, side in zip(a, found, b, strict=True):
        assert_solves(solved(matrix, trans), x, side)


def test_information_is_asked_of_each() -> None:
    a = members()
    with solver(a, sides(a)) as (one, _):
        one.analyse().factorize()
        assert one.plan.info("lu_nnz", one.ptrs) == 4 * 7
        assert one.plan.info("info", one.ptrs) == 0
        signs, logarithms = one.plan.info("logdet", one.ptrs)
        expected = [np.linalg.slogdet(matrix.toarray()) for matrix in a]
        np.testing.assert_allclose(signs, [one[0] for one in expected])
        np.testing.assert_allclose(logarithms, [one[1] for one in expected])
        with pytest.raises(RuntimeError, match="not available for a batch"):
            one.plan.info("diag", one.ptrs)


def test_a_solution_that_was_not_waited_for_is_told_of_later() -> None:
    a = members()
    with solver(a, sides(a), blocking=False) as (one, made):
        one.analyse().factorize()
        (data,) = [answers for answers in made.objects.values() if isinstance(answers, dict) and "members" in answers]
        data["members"][1]["factors"] = np.full((5, 5), np.nan)
        one.solve()
        with pytest.warns(IllConditionedWarning, match=r"not waited for.*System 1 of the batch"):
            one.factorize()


def test_columns_of_different_numbers_are_solved_one_by_one() -> None:
    a = members(2)
    b = [np.ones((5, 2)), np.ones(5)]
    with solver(a, b) as (one, _):
        found = one.analyse().factorize().solve()
    for matrix, x, side in zip(a, found, b, strict=True):
        assert_solves(matrix, x, side)


@pytest.mark.parametrize("phase", ["factorize", "solve"])
def test_a_library_that_refuses_a_later_phase_takes_them_one_by_one(phase: str) -> None:
    a = members()
    b = sides(a)
    with solver(a, b) as (one, made):
        one.analyse()
        made.refuses = phase == "factorize"
        one.factorize()
        made.refuses = True
        found = one.solve()
        assert one.plan.residual({}) < 1e-14
    for matrix, x, side in zip(a, found, b, strict=True):
        assert_solves(matrix, x, side)


def test_runs() -> None:
    assert runs([100, 108, 116, 200, 208, 50], 8) == [(100, 3), (200, 2), (50, 1)]
    assert runs([], 8) == []
