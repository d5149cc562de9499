"""Matrices of applications, which come with pyamg: finite elements, flow, waves; every way to say what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from sparse_cases import assert_solves

from nvmath.sparse.advanced import DirectSolver, SingularSystemError, direct_solver

gallery = pytest.importorskip("pyamg.gallery", reason="pyamg is not installed")
pytestmark = pytest.mark.usefixtures("sparse_library")

#: name -> what it is
REGULAR = {
    "airfoil": ("GENERAL", "SYMMETRIC", "SPD"), "bar": ("GENERAL", "SYMMETRIC", "SPD"), "knot": ("GENERAL", "SYMMETRIC", "SPD"),
    "unit_cube": ("GENERAL", "SYMMETRIC"), "local_disc_galerkin_diffusion": ("GENERAL", "SYMMETRIC", "SPD"),
    "recirc_flow": ("GENERAL",), "helmholtz_2D": ("GENERAL", "SYMMETRIC"),
}  # fmt: skip
CASES = [(name, kind) for name, kinds in REGULAR.items() for kind in kinds]


def example(name: str) -> sp.csr_array:
    return sp.csr_array(gallery.load_example(name)["A"])


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_they_are_solved(name: str, kind: str) -> None:
    a = example(name)
    rng = np.random.default_rng(0)
    b = (a @ rng.standard_normal((a.shape[0], 2))).astype(a.dtype)
    with DirectSolver(a, b, options={"sparse_system_type": kind}, execution="cpu") as solver:
        solver.plan()
        info = solver.factorize()
        x = solver.solve()
        condition = info.condition
    assert_solves(a, x, b)
    other = splu(a.tocsc()).solve(b)
    assert abs(x - other).max() <= 1000 * condition * np.finfo(float).eps * abs(other).max()


@pytest.mark.parametrize("part", ["LOWER", "UPPER"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("name", [name for name, kinds in REGULAR.items() if "SPD" in kinds])
def test_a_triangle_is_enough(name: str, form: str, part: str) -> None:
    a = example(name)
    a = sp.csr_array((a + a.T) / 2)
    b = a @ np.ones(a.shape[0])
    stored: Any = (sp.tril(a) if part == "LOWER" else sp.triu(a)).asformat(form)
    options = {"sparse_system_type": "SPD", "sparse_system_view": part}
    assert_solves(a, direct_solver(stored, b, options=options, execution="cpu"), b)


def test_the_inertia_is_that_of_the_eigenvalues() -> None:
    a = sp.csr_array(example("airfoil") - 1.5 * sp.eye_array(260))
    values = np.linalg.eigvalsh(a.toarray())
    with DirectSolver(a, np.ones(260), options={"sparse_system_type": "SYMMETRIC"}, execution="cpu") as solver:
        solver.plan()
        np.testing.assert_array_equal(solver.factorize().inertia, [(values > 0).sum(), (values < 0).sum()])


@pytest.mark.parametrize("kind", ["GENERAL", "SYMMETRIC"])
def test_a_problem_without_boundary_values_is_singular(kind: str) -> None:
    a = example("unit_square")
    assert abs(a.sum(axis=1)).max() < 1e-12  # the constant vector solves it for b = 0
    with pytest.raises(SingularSystemError):
        direct_solver(a, a @ np.arange(191.0), options={"sparse_system_type": kind}, execution="cpu")
