"""Determinants: of all the libraries only SuperLU tells both its pivots and the order in which it took them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from ._condition import rank_of_pattern
from ._pattern import Array


def slogdet(matrix: Any) -> tuple[Any, Any]:
    """Sign, and logarithm of the absolute value, of a determinant, as :func:`numpy.linalg.slogdet` returns them.

    Parameters
    ----------
    matrix : csr_array
        The matrix with all its entries.
    """
    kind = matrix.dtype.type
    real = kind(0).real.dtype.type
    if rank_of_pattern(matrix) < matrix.shape[0]:  # SuperLU writes outside of its memory
        return kind(0), real(-np.inf)
    try:
        factors = splu(matrix.tocsc())
    except RuntimeError as error:
        if "singular" in str(error):
            return kind(0), real(-np.inf)
        raise
    diagonal = factors.U.diagonal()
    sizes = np.abs(diagonal)
    sign = (diagonal / sizes).prod() * _parity(factors.perm_r) * _parity(factors.perm_c)
    return sign, np.log(sizes).sum()


def _parity(permutation: Array) -> int:
    """1 for an even permutation, -1 for an odd one."""
    n = permutation.size
    graph = sparse.csr_array((np.ones(n), permutation, np.arange(n + 1)), shape=(n, n))
    cycles = connected_components(graph, directed=False, return_labels=False)
    return -1 if (n - cycles) % 2 else 1
