"""Matrix products in the OpenBLAS of NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import prod
from typing import Final

from .._core.dtypes import DTYPES
from ..bindings import _openblas, _seam
from ._scalars import Scalars
from ._steps import Gemm, Matrix

_LETTERS: Final = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_GEMV_FROM: Final = 4096
_MANY_DOTS: Final = 200


def gemm(
    step: Gemm, name: str, by_value: bool, one: Scalars, other: Scalars, nothing: Callable[[int], None]
) -> Callable[[int, int, int], None]:
    """C = alpha * A B + beta * C with alpha of one and beta of the other factors; with an alpha of 0 A and B are not read.

    What BLAS does then is another thing in each of its kernels, so `nothing` is called in its place.
    """
    function, item = getattr(_openblas, f"{_LETTERS[name]}gemm"), DTYPES[name].itemsize
    head = (_openblas.ROW_MAJOR, _transposition(step.a), _transposition(step.b), step.m, step.n, step.k)
    lda, ldb, ldc = step.a.ld, step.b.ld, step.target.ld
    alpha_ptr, beta_ptr = one.alpha_ptr, other.beta_ptr
    batch = step.batch
    a_steps, b_steps, c_steps = (tuple(stride * item for stride in matrix.batch) for matrix in (step.a, step.b, step.target))
    none = (0,) * len(batch)
    strides = (*(none,) * 7, a_steps, none, b_steps, none, none, c_steps, none)

    def run(a: int, b: int, c: int) -> None:
        if one.alpha == 0:
            nothing(c)
            return
        function(*head, one.alpha, a, lda, b, ldb, other.beta, c, ldc)

    def run_complex(a: int, b: int, c: int) -> None:
        if one.alpha == 0:
            nothing(c)
            return
        function(*head, alpha_ptr, a, lda, b, ldb, beta_ptr, c, ldc)

    def run_batch(a: int, b: int, c: int) -> None:
        if one.alpha == 0:
            nothing(c)
            return
        alpha, beta = (one.alpha, other.beta) if by_value else (alpha_ptr, beta_ptr)
        _seam.repeat(function, batch, strides, (*head, alpha, a, lda, b, ldb, beta, c, ldc))

    unit, outer = Scalars(name), tuple(row[:-1] for row in strides)

    def run_sums(a: int, b: int, c: int) -> None:
        if one.alpha == 0:
            nothing(c)
            return
        alpha, beta, add = (one.alpha, other.beta, 1.0) if by_value else (alpha_ptr, beta_ptr, unit.alpha_ptr)
        _seam.repeat(function, batch[:-1], outer, (*head, alpha, a, lda, b, ldb, beta, c, ldc))
        a, b = a + a_steps[-1], b + b_steps[-1]
        _seam.repeat(function, (*batch[:-1], batch[-1] - 1), strides, (*head, alpha, a, lda, b, ldb, add, c, ldc))

    return run_sums if step.sums else run_batch if batch else run if by_value else run_complex


def is_gemv(step: Gemm) -> bool:
    """A product with a vector that is large enough for the other function to pay, with a dense result."""
    lengths = (step.m, step.n)
    dense = step.target.ld == 1 if step.n == 1 else step.m == 1
    return 1 in lengths and dense and not step.batch and not step.a.conj and not step.b.conj and step.m * step.n * step.k > _GEMV_FROM


def gemv(
    step: Gemm, name: str, by_value: bool, one: Scalars, other: Scalars, nothing: Callable[[int], None]
) -> Callable[[int, int, int], None]:
    """The same where one side is a vector."""
    function, nbytes = getattr(_openblas, f"{_LETTERS[name]}gemv"), step.m * step.n * DTYPES[name].itemsize
    if step.n == 1:
        matrix, rows, columns = step.a, step.m, step.k
        step_of_x = 1 if step.b.transposed else step.b.ld
    else:  # the transposed equation
        matrix, rows, columns = Matrix(step.b.buffer, not step.b.transposed, step.b.ld, ()), step.n, step.k
        step_of_x = step.a.ld if step.a.transposed else 1
    transposed, ld = matrix.transposed, matrix.ld
    if rows == 1 and not transposed:  # a row is a column with steps of 1; OpenBLAS is faster on that
        transposed, ld = True, 1
    trans, shape = (_openblas.TRANS, (columns, rows)) if transposed else (_openblas.NO_TRANS, (rows, columns))
    head, vector_first = (_openblas.ROW_MAJOR, trans, *shape), step.n != 1

    def run(a: int, b: int, c: int) -> None:
        if one.alpha == 0:
            nothing(c)
            return
        if vector_first:
            a, b = b, a
        if other.beta == 0:
            ctypes.memset(c, 0, nbytes)  # not every release overwrites what it is to multiply by 0
        alpha, beta = (one.alpha, other.beta) if by_value else (one.alpha_ptr, other.beta_ptr)
        function(*head, alpha, a, ld, b, step_of_x, beta, c, 1)

    return run


def many_dots(step: Gemm) -> bool:
    """Many short scalar products: NumPy's loop is faster than as many calls."""
    return step.m == step.n == 1 and not step.a.conj and not step.b.conj and prod(step.batch) > _MANY_DOTS


def _transposition(matrix: Matrix) -> int:
    if matrix.conj:
        return _openblas.CONJ_TRANS if matrix.transposed else _openblas.CONJ_NO_TRANS
    return _openblas.TRANS if matrix.transposed else _openblas.NO_TRANS
