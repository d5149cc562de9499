"""What is done to matrices on the CPU besides the products of the library: copies, structure written out, sums."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core import kernels_host
from ..._core.dtypes import DType
from ..._core.layout import Ints
from .._matrix import Matrix
from ._lowering import Load
from ._qualifiers import Structure

View = Callable[[int], np.ndarray[Any, Any]]
"""Makes an array over the matrix at an address."""


def view_of(matrix: Matrix, batch: Ints) -> View:
    """Return a function that sees the matrix at an address as an array of shape ``(*batch, rows, cols)``."""
    shape = (*batch, matrix.rows, matrix.cols)
    return kernels_host.viewer(shape, (*matrix.batch_strides, matrix.row_stride, matrix.col_stride), matrix.dtype)


def diagonal_of(matrix: Matrix, batch: Ints, structure: Structure, right: bool) -> View:
    """Return a function that sees the diagonal at an address as a column, or as the row that scales columns."""
    step = -matrix.row_stride if structure.reverse else matrix.row_stride
    shape, strides = ((1, matrix.rows), (0, step)) if right else ((matrix.rows, 1), (step, 0))
    view = kernels_host.viewer((*batch, *shape), (*matrix.batch_strides, *strides), matrix.dtype)
    start = first_of(matrix, structure) * matrix.dtype.itemsize
    return lambda ptr: view(ptr + start)


def first_of(matrix: Matrix, structure: Structure) -> int:
    """Elements from the address of a diagonal to its first element."""
    return (matrix.rows - 1) * matrix.row_stride if structure.reverse else 0


def loader(load: Load) -> Callable[[int, int], object]:
    """Return a function that copies from one address to another, as the load says."""
    if load.plain and load.same:
        nbytes, memmove = load.nbytes, ctypes.memmove
        return lambda origin, to: memmove(to, origin, nbytes)
    if load.plain:
        return kernels_host.move(
            load.shape, load.in_strides, load.out_strides, load.source.dtype, load.target.dtype
        )  # fmt: skip
    target = kernels_host.viewer(load.shape, load.out_strides, load.target.dtype)
    if load.structure.kind == "dg":
        return _diagonal(load, target)
    source = kernels_host.viewer(load.shape, load.in_strides, load.source.dtype)
    if load.structure.general:

        def conjugate(origin: int, to: int) -> None:
            np.conjugate(source(origin), out=target(to))

        return conjugate

    def expand(origin: int, to: int) -> None:
        target(to)[...] = written_out(source(origin), load.structure, load.conj)

    return expand


def _diagonal(load: Load, target: View) -> Callable[[int, int], None]:
    structure, rows = load.structure, load.source.rows
    batch = load.shape[:-2]
    source = diagonal_of(load.source, batch, structure, right=False)
    index = np.arange(rows)

    def expand(origin: int, to: int) -> None:
        values = source(origin)[..., 0]
        result = target(to)
        result[...] = 0
        result[..., index, index] = values.conj() if load.conj else values

    return expand


def written_out(values: np.ndarray[Any, Any], structure: Structure, conj: bool) -> np.ndarray[Any, Any]:
    """Return all elements of square matrices of which one triangle is stored; the other one is not looked at."""
    extent = values.shape[-1]
    stored = np.tri(extent, dtype=np.bool_)
    stored = stored.T if structure.upper else stored
    if structure.kind == "tr":
        full = np.where(stored, values, values.dtype.type(0))
    else:
        other = values.swapaxes(-1, -2)
        full = np.where(stored, values, other.conj() if structure.kind == "he" else other)
    diagonal = np.einsum("...ii->...i", full)
    if structure.unit:
        diagonal[...] = 1
    if structure.kind == "he" and full.dtype.kind == "c":
        diagonal.imag = 0
    return np.conjugate(full) if conj else full


def widened(matrix: Matrix, shape: Ints, strides: Ints, dtype: DType) -> View:
    """Return a function that sees elements in the dtype of the arithmetic: as they are, or as a converted copy."""
    if matrix.dtype is dtype:
        return kernels_host.viewer(shape, strides, dtype)
    target = np.empty(shape, dtype.name)
    steps = tuple(stride // target.itemsize for stride in target.strides)
    move = kernels_host.move(shape, strides, steps, matrix.dtype, dtype)

    def convert(ptr: int) -> np.ndarray[Any, Any]:
        made = np.empty_like(target)
        move(ptr, made.ctypes.data)
        return made

    return convert


def finisher(store: Load, c: Matrix | None, scratch: bool) -> Callable[[int, int, int, Any], object]:
    """Return a function of the addresses of the product, of C and of D, and of beta: ``D = product + beta * C``."""
    dtype, shape = store.source.dtype, store.shape
    product = kernels_host.viewer(shape, store.in_strides, dtype)
    copy = loader(store) if scratch else None
    if c is None:
        return lambda source, addend, target, beta: copy(source, target) if copy else None
    addend_at = widened(c, shape, (*c.batch_strides, c.row_stride, c.col_stride), dtype)
    number = np.dtype(dtype.name).type

    def finish(source: int, addend: int, target: int, beta: Any) -> None:
        if beta != 0:
            values = product(source)
            with np.errstate(all="ignore"):
                values += number(beta) * addend_at(addend)
        if copy is not None:
            copy(source, target)

    return finish
