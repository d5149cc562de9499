# needs: nothing
"""Symmetric, Hermitian, triangular and diagonal matrices: what is not stored is not read."""

import numpy as np

from nvmath.linalg import (
    DiagonalMatrixQualifier,
    DiagType,
    FillMode,
    GeneralMatrixQualifier,
    HermitianMatrixQualifier,
    SymmetricMatrixQualifier,
    TriangularMatrixQualifier,
    matmul,
    matrix_qualifiers_dtype,
)


def qualifiers(*each):
    return np.array([*each], matrix_qualifiers_dtype)


rng = np.random.default_rng(0)
n = 4
general = GeneralMatrixQualifier.create()
stored = np.tri(n, dtype=bool)
a, b, c = rng.random((n, n)), rng.random((n, 3)), rng.random((n, 3))
lower = np.where(stored, a, np.nan)  # the upper triangle may hold anything

symmetric = np.tril(a) + np.tril(a, -1).T
both = qualifiers(SymmetricMatrixQualifier.create(uplo=FillMode.LOWER), general, general)
assert np.allclose(matmul(lower, b, c, beta=2.0, qualifiers=both), symmetric @ b + 2 * c)

# On the right-hand side, too.
assert np.allclose(
    matmul(b.T, lower, qualifiers=qualifiers(general, SymmetricMatrixQualifier.create())), b.T @ symmetric
)

z = a + 1j * rng.random((n, n))
hermitian = np.tril(z, -1) + np.tril(z, -1).conj().T + np.diag(a.diagonal())
assert np.allclose(matmul(z, b + 0j, qualifiers=qualifiers(HermitianMatrixQualifier.create(), general)), hermitian @ b)

unit = TriangularMatrixQualifier.create(uplo=FillMode.UPPER, diag=DiagType.UNIT)
assert np.allclose(matmul(a, b, qualifiers=qualifiers(unit, general)), (np.triu(a, 1) + np.eye(n)) @ b)

# A diagonal matrix is its diagonal; a batch of them is a matrix with a row for each.
d = rng.random(n)
diagonal = DiagonalMatrixQualifier.create()
assert np.allclose(matmul(d, b, qualifiers=qualifiers(diagonal, general)), np.diag(d) @ b)
batch = rng.random((5, n))
assert np.allclose(matmul(batch, b, qualifiers=qualifiers(diagonal, general)), batch[:, :, None] * b)

# Both operands may be structured.
assert np.allclose(
    matmul(d, lower, qualifiers=qualifiers(diagonal, SymmetricMatrixQualifier.create())), np.diag(d) @ symmetric
)

print(SymmetricMatrixQualifier.to_string(SymmetricMatrixQualifier.create()))
