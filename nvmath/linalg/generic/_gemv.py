"""Products with a vector, which the libraries of the CPU compute by another function than those of two matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .._gemm import OPERATIONS
from ._lowering import Product, Side

_GEMV_FROM: Final = 1024
"""Multiplications from which gemv is faster than gemm."""


@dataclass(frozen=True, slots=True)
class VectorForm:
    """A product with a vector as gemv computes it: the matrix in memory, what is done to it, and the step of the vector."""

    matrix: Side
    operation: int
    rows: int
    cols: int
    step: int


def vector_form(product: Product) -> VectorForm | None:
    """Return how gemv computes a product, or None when it cannot, or when it would not be faster."""
    column = product.n == 1
    matrix, vector = (product.first, product.second) if column else (product.second, product.first)
    work = product.m * product.n * product.k
    dense = column or product.target.ld == 1
    if (
        product.routine != "gemm"
        or product.extents
        or 1 not in (product.m, product.n)
        or vector.matrix.conj
        or not dense
    ):
        return None
    transposed = matrix.transposed == column  # a row is computed as a column, by the transpose of the matrix
    if work <= _GEMV_FROM or (matrix.matrix.conj and not transposed):
        return None
    rows, cols = matrix.matrix.rows, matrix.matrix.cols
    rows, cols = (cols, rows) if matrix.transposed else (rows, cols)
    step = vector.ld if vector.transposed == column else 1
    return VectorForm(matrix, OPERATIONS[transposed, matrix.matrix.conj], rows, cols, step)
