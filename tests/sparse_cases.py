"""Sparse systems for tests: matrices of the kinds that people solve, and how to tell that they are solved."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

DTYPES = ("float32", "float64", "complex64", "complex128")
KINDS = ("GENERAL", "SYMMETRIC", "HERMITIAN", "SPD", "HPD")
FORMATS = ("csr", "csc", "coo", "bsr")


def csr(rows: Any, dtype: str = "float64") -> sp.csr_array:
    """A matrix from its rows."""
    return sp.csr_array(np.array(rows, dtype=dtype))


def eps(dtype: Any) -> float:
    """Rounding unit."""
    return float(np.finfo(dtype).eps)


def assert_solves(matrix: Any, x: np.ndarray, b: np.ndarray, multiple: float = 1000) -> None:
    """The backward error of every column is a small multiple of the rounding unit."""
    assert x.shape == b.shape
    assert x.dtype == b.dtype
    wide = np.clongdouble if np.iscomplexobj(matrix) or np.iscomplexobj(b) else np.longdouble
    if sp.issparse(matrix):
        matrix = matrix.toarray() if matrix.shape[0] <= 1000 else matrix
    elif isinstance(matrix, np.ndarray):
        matrix = matrix.astype(wide)
    residual = abs(matrix @ x - b).max(axis=0, initial=0)
    norm = abs(matrix).sum(axis=1).max()
    scale = norm * abs(x).max(axis=0, initial=0) + abs(b).max(axis=0, initial=0)
    assert np.all(residual <= multiple * eps(b.dtype) * scale)


# --- named matrices ---------------------------------------------------------------------------------------------------------------


def poisson_1d(n: int) -> sp.csr_array:
    """Second differences."""
    return sp.diags_array(
        [np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1], format="csr"
    )


def poisson_2d(n: int) -> sp.csr_array:
    """Five-point stencil on a square."""
    line, one = poisson_1d(n), sp.eye_array(n, format="csr")
    return sp.csr_array(sp.kron(line, one) + sp.kron(one, line))


def poisson_3d(n: int) -> sp.csr_array:
    """Seven-point stencil on a cube."""
    plane, line = poisson_2d(n), poisson_1d(n)
    return sp.csr_array(sp.kron(plane, sp.eye_array(n)) + sp.kron(sp.eye_array(n * n), line))


def convection_diffusion(n: int, speed: float = 20.0) -> sp.csr_array:
    """Unsymmetric: upwind differences added to the Laplacian."""
    upwind = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 1.0)], offsets=[-1, 0], format="csr")
    return sp.csr_array(poisson_2d(n) + speed / n * sp.kron(upwind, sp.eye_array(n)))


def saddle_point(n: int) -> sp.csr_array:
    """Symmetric and indefinite, with zeros on the diagonal: a Laplacian with constraints."""
    block = poisson_2d(n)
    rng = np.random.default_rng(0)
    constraints = sp.random_array((n, n * n), density=0.3, rng=rng) + sp.eye_array(n, n * n)
    return sp.csr_array(sp.block_array([[block, constraints.T], [constraints, None]]))


def hermitian(n: int) -> sp.csr_array:
    """A Laplacian in a magnetic field: complex Hermitian, definite."""
    phase = np.exp(0.3j * np.arange(n * n - 1))
    return sp.csr_array(poisson_2d(n).astype(complex) + sp.diags_array([phase.conj(), phase], offsets=[-1, 1]) * 0.1)


def complex_symmetric(n: int) -> sp.csr_array:
    """A damped wave equation: complex, equal to its transpose."""
    return sp.csr_array(poisson_2d(n) - (0.7 - 0.2j) * sp.eye_array(n * n))


def tiny_and_huge(n: int, decades: int) -> tuple[sp.csr_array, np.ndarray]:
    """Rows and columns scaled by very different powers of ten, and a solution in which all columns matter."""
    rng = np.random.default_rng(1)
    rows, columns = 10.0 ** rng.integers(-decades, decades, (2, n * n))
    return sp.csr_array(sp.diags_array(rows) @ convection_diffusion(n) @ sp.diags_array(columns)), 1 / columns


#: name -> (matrix of a size, what is known of it)
NAMED: dict[str, tuple[Callable[[int], sp.csr_array], str]] = {
    "Poisson 2-D": (poisson_2d, "GENERAL"),
    "Poisson 2-D, SPD": (poisson_2d, "SPD"),
    "Poisson 3-D": (lambda n: poisson_3d(n // 2), "SPD"),
    "convection-diffusion": (convection_diffusion, "GENERAL"),
    "saddle point": (saddle_point, "SYMMETRIC"),
    "saddle point, general": (saddle_point, "GENERAL"),
    "Hermitian": (hermitian, "HPD"),
    "Hermitian, indefinite": (lambda n: hermitian(n) - 1.7 * sp.eye_array(n * n), "HERMITIAN"),
    "complex symmetric": (complex_symmetric, "SYMMETRIC"),
}

#: name -> (matrix, what is said of it): singular in every way
SINGULAR: dict[str, tuple[sp.csr_array, str]] = {
    "equal rows": (csr([[1, 1], [1, 1]]), "GENERAL"),
    "zero row": (csr([[1, 0], [0, 0]]), "GENERAL"),
    "stored zeros": (sp.csr_array((np.zeros(2), [0, 1], [0, 1, 2]), shape=(2, 2)), "GENERAL"),
    "no entries": (sp.csr_array((2, 2)), "GENERAL"),
    "rank 2 of 3": (csr([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), "GENERAL"),
    "structurally": (csr([[1, 1, 0], [1, 0, 0], [2, 0, 0]]), "GENERAL"),
    "floating grid": (poisson_1d(40) - sp.csr_array((np.ones(2), ([0, 39], [0, 39])), shape=(40, 40)), "GENERAL"),
    "floating grid, symmetric": (
        poisson_1d(40) - sp.csr_array((np.ones(2), ([0, 39], [0, 39])), shape=(40, 40)),
        "SYMMETRIC",
    ),
    "floating grid, SPD": (poisson_1d(40) - sp.csr_array((np.ones(2), ([0, 39], [0, 39])), shape=(40, 40)), "SPD"),
    "indefinite, as SPD": (csr([[1, 2], [2, 1]]), "SPD"),
    "negative, as SPD": (csr([[-2, 0], [0, -2]]), "SPD"),
    "NaN": (csr([[1, 2], [np.nan, 1]]), "GENERAL"),
    "infinity": (csr([[np.inf, 0], [0, 1]]), "GENERAL"),
}


# --- random matrices ---------------------------------------------------------------------------------------------------------------


def well_conditioned(
    rng: np.random.Generator, n: int, dtype: str, kind: str, density: float, *, permuted: bool = False
) -> np.ndarray:
    """A random matrix with a strong diagonal, symmetric or definite as `kind` says; SPD matrices are real."""
    real = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    if kind == "SPD":
        dtype = real
    made = rng.uniform(-1, 1, (n, n)) * (rng.random((n, n)) < density)
    if dtype.startswith("complex"):
        made = made + 1j * rng.uniform(-1, 1, (n, n)) * (made != 0)
    made = made + np.diag(rng.choice([-1, 1], n) * (2 + n))
    if kind in ("HERMITIAN", "HPD"):
        made = made + made.conj().T
    elif kind != "GENERAL":
        made = made + made.T
    if kind in ("SPD", "HPD"):
        np.fill_diagonal(made, abs(made.diagonal()) + 2 * n)
    if permuted:
        made = made[rng.permutation(n)]  # zeros on the diagonal
    return made.astype(dtype)


def part_of(matrix: np.ndarray, kind: str, view: str) -> np.ndarray:
    """What is stored of a matrix."""
    if kind == "GENERAL" or view == "FULL":
        return matrix
    return np.tril(matrix) if view == "LOWER" else np.triu(matrix)


def scrambled(rng: np.random.Generator, matrix: np.ndarray, form: str) -> Any:
    """A matrix in some format with its entries in no order, and doubled where the format allows it."""
    if form == "bsr":
        size = next(size for size in (3, 2, 1) if len(matrix) % size == 0)
        return sp.bsr_array(matrix, blocksize=(size, size))
    stored = sp.coo_array(matrix)
    split = rng.random(stored.nnz).astype(matrix.real.dtype)
    rows, columns = (np.concatenate([c, c]) for c in stored.coords)
    values = np.concatenate([stored.data * split, stored.data * (1 - split)]).astype(matrix.dtype)
    order = rng.permutation(rows.size)
    if form == "coo":
        return sp.coo_array((values[order], (rows[order], columns[order])), shape=matrix.shape)
    major, minor = (rows, columns) if form == "csr" else (columns, rows)
    order = order[np.argsort(major[order], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=len(matrix)))])
    kind = sp.csr_array if form == "csr" else sp.csc_array
    return kind((values[order], minor[order], indptr), shape=matrix.shape)


def right_side(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, layout: str) -> np.ndarray:
    """Random numbers in some layout: C, F, strided, or reversed."""
    made = rng.uniform(-1, 1, tuple(2 * extent for extent in shape))
    if dtype.startswith("complex"):
        made = made + 1j * rng.uniform(-1, 1, made.shape)
    made = made.astype(dtype)
    corner = tuple(slice(extent) for extent in shape)
    if layout == "C":
        return np.ascontiguousarray(made[corner])
    if layout == "F":
        return np.asfortranarray(made[corner])
    if layout == "strided":
        return made[tuple(slice(None, None, 2) for _ in shape)]
    return made[tuple(slice(extent, None) for extent in shape)][::-1]


LAYOUTS = ("C", "F", "strided", "reversed")


def solved(matrix: np.ndarray, trans: str) -> np.ndarray:
    """The matrix that a transposed solution belongs to."""
    return {"N": matrix, "T": matrix.T, "H": matrix.conj().T}[trans]


# --- singular ones ------------------------------------------------------------------------------------------------------------------


def free_laplacian(m: int, rng: np.random.Generator | None = None) -> sp.csr_array:
    """Of a grid that is held nowhere, with equal weights or random ones: constants are in its null space."""
    line, one = sp.diags_array([np.ones(m - 1)], offsets=[1], shape=(m, m)), sp.eye_array(m)
    links = sp.csr_array(sp.kron(line, one) + sp.kron(one, line))
    if rng is not None:
        links.data = rng.random(links.nnz)
    links = links + links.T
    return sp.csr_array(sp.diags_array(links.sum(axis=1)) - links)


def dependent(seed: int, kind: str) -> sp.csr_array:
    """Small integers, the last row and column combined from the others."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    matrix = rng.integers(-4, 5, (n, n)) * (rng.random((n, n)) < rng.choice([2, 3, 5, n]) / n)
    matrix = matrix + matrix.T if kind == "SYMMETRIC" else matrix
    weights = rng.integers(-2, 3, n - 1)
    matrix[-1] = weights @ matrix[:-1]
    if kind == "SYMMETRIC":
        matrix[:-1, -1] = matrix[-1, :-1]
        matrix[-1, -1] = weights @ matrix[:-1, -1]
    assert rank(matrix) < n
    return sp.csr_array(matrix.astype(float))


def rank(matrix: np.ndarray) -> int:
    """Of a matrix of integers, exactly."""
    rows = [[Fraction(int(value)) for value in row] for row in matrix]
    found = 0
    for column in range(len(rows)):
        at = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if at is None:
            continue
        rows[found], rows[at] = rows[at], rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][column] / rows[found][column]
            if factor:
                rows[i] = [one - factor * other for one, other in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found
