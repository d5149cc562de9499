"""What may be written for the options of a sparse solver, and what its objects say of themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import nvmath
from nvmath.bindings.cudss import PivotType
from nvmath.sparse.advanced import (
    DirectSolver,
    DirectSolverMatchingAlg,
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverOptions,
    DirectSolverReorderingAlg,
    direct_solver,
)
from nvmath.sparse.advanced._config import coerce

COMPLEX = sp.csr_array(np.array([[4.0 + 1j, 1 - 2j, 0], [2j, 5, 1], [0.5, 0, 3 - 1j]]))
REAL = sp.csr_array(np.array([[4.0, 1, 0], [1, -3, 2], [0, 2, 5]]))
B = np.array([1.0, 2, 3])


def planned(a: Any = REAL, **options: Any) -> DirectSolver:
    solver = DirectSolver(a, B.astype(a.dtype), options=options, execution="cpu")
    solver.plan()
    solver.factorize()
    return solver


@pytest.mark.parametrize("letter", ["H", "C"])
def test_the_conjugate_transpose_has_two_letters(letter: Any) -> None:
    with planned(COMPLEX) as solver:
        np.testing.assert_allclose(COMPLEX.conj().T @ solver.solve(trans=letter), B, rtol=1e-13)


@pytest.mark.parametrize("kind", DirectSolverMatrixType)
@pytest.mark.parametrize("write", [str.lower, str.upper, str.title])
def test_kinds_and_views_have_names(kind: DirectSolverMatrixType, write: Any) -> None:
    options = DirectSolverOptions(sparse_system_type=write(kind.name), sparse_system_view=write("lower"))
    assert options.sparse_system_type is kind
    assert options.sparse_system_view is DirectSolverMatrixViewType.LOWER


@pytest.mark.parametrize(
    ("word", "a"), [("gen", COMPLEX), ("sym", REAL), ("her", COMPLEX + COMPLEX.conj().T), ("pos", COMPLEX @ COMPLEX.conj().T),
                    ("positive definite", REAL @ REAL), ("Pos", REAL @ REAL)],
)  # fmt: skip
def test_words_of_scipy_and_of_dense_solvers_will_do(word: str, a: Any) -> None:
    a = sp.csr_array(a)
    x = direct_solver(a, B.astype(a.dtype), options={"sparse_system_type": word}, execution="cpu")
    np.testing.assert_allclose(a @ x, B, rtol=1e-12)
    dense = nvmath.linalg.DirectSolverOptions(assume_a=word.lower())
    assert (dense.assume_a != "general") == (DirectSolverOptions(sparse_system_type=word).sparse_system_type != 0)


@pytest.mark.parametrize(
    ("setting", "text", "member"),
    [
        ("reordering_algorithm", "nested-dissection", DirectSolverReorderingAlg.NESTED_DISSECTION),
        ("reordering_algorithm", "amd", DirectSolverReorderingAlg.AMD),
        ("matching_algorithm", "max_diag_product", DirectSolverMatchingAlg.MAX_DIAG_PRODUCT),
        ("pivot_type", "bunch_kaufman", PivotType.PIVOT_BUNCH_KAUFMAN),
        ("pivot_type", "PIVOT_DIAGONAL", PivotType.PIVOT_DIAGONAL),
        ("pivot_type", 1, PivotType.PIVOT_NONE),
    ],
)
def test_settings_have_names(setting: str, text: Any, member: Any) -> None:
    assert coerce(setting, text) is member


def test_a_name_is_as_good_as_a_member() -> None:
    nvmath.plan_cache.clear()
    x = direct_solver(
        REAL,
        B,
        options={"sparse_system_type": "symmetric"},
        plan_preferences={"reordering_algorithm": "amd"},
        execution="cpu",
    )
    np.testing.assert_allclose(REAL @ x, B)


@pytest.mark.parametrize(
    ("make", "meant"),
    [
        (lambda: DirectSolverOptions(sparse_system_type="symetric"), "Did you mean 'SYMMETRIC'"),
        (lambda: DirectSolverOptions(sparse_system_view="upp"), "Did you mean 'UPPER'"),
        (lambda: coerce("pivot_type", "bunch_kaufmann"), "Did you mean 'BUNCH_KAUFMAN'"),
        (lambda: coerce("matching_algorithm", "xyz"), "There are 'NONE'"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest_one(make: Any, meant: str) -> None:
    with pytest.raises(ValueError, match=meant):
        make()


def test_a_misspelt_entry_of_an_execution_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(TypeError, match="Did you mean 'num_threads'"):
        direct_solver(REAL, B, execution={"name": "cpu", "threads": 2})


@pytest.mark.parametrize(("a", "kind"), [(REAL, "general"), (sp.csr_array(COMPLEX + COMPLEX.T), "symmetric")])
def test_inertia_of_a_matrix_without_real_eigenvalues_is_refused(a: Any, kind: str) -> None:
    with (
        planned(a, sparse_system_type=kind) as solver,
        pytest.raises(RuntimeError, match=f"{kind.upper()}.*sparse_system_type"),
    ):
        _ = solver.factorization_info.inertia


def test_texts_of_infos_and_settings() -> None:
    solver = DirectSolver(REAL, B, execution="cpu")
    info, config = solver.factorization_info, solver.plan_config
    assert "not planned" in repr(info)
    solver.plan()
    assert "npivots" not in repr(info)
    solver.factorize()
    library = solver._plan_object.plans[0].library
    assert repr(info) == f"<DirectSolverFactorizationInfo: {library} for 1 system, lu_nnz={info.lu_nnz}, npivots=0>"
    assert library in repr(solver.plan_info)
    assert "reordering_algorithm=DEFAULT" in repr(config)
    assert repr(solver.solution_config) == "DirectSolverSolutionConfig(solution_algorithm=DEFAULT, ir_num_steps=0)"
    solver.free()
    assert "freed" in repr(info)
    assert "freed" in repr(config)


def test_both_kinds_of_solver_warn_with_one_class() -> None:
    assert nvmath.linalg.IllConditionedWarning is nvmath.sparse.advanced.IllConditionedWarning
