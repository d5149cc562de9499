"""Products through the CBLAS interface of a library: its functions and their arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ...bindings import _seam
from .._gemm import (
    COLUMN_MAJOR,
    LEFT,
    LOWER,
    NON_UNIT,
    OPERATIONS,
    RIGHT,
    UNIT,
    UPPER,
    HostLibrary,
)
from ._gemv import VectorForm, vector_form
from ._lowering import Product, Side
from ._scalars import Scalars

Call = Callable[[int, int, int], None]
"""Called with the addresses of the two factors and of the target."""

_Template = tuple[Callable[..., Any], tuple[Any, ...], tuple[int, int, int], int]
"""A function, its arguments, where the three addresses go (alpha before the first), and where beta goes (nowhere: 0)."""


def call_of(product: Product, library: HostLibrary, scalars: Scalars) -> Call:
    """Return the function that computes a product alone."""
    vector = vector_form(product)
    if vector is not None:
        return _gemv(product, library, scalars, vector)
    template = _gemm_template if product.routine == "gemm" else _structured_template
    return _repeated(product, scalars, *template(product, library))


def gemm_arguments(product: Product, library: HostLibrary) -> tuple[Any, ...]:
    """Return the function for two general matrices, and its arguments up to the extents."""
    function = library.function("gemm", product.target.matrix.dtype)
    return (
        function, COLUMN_MAJOR, _operation(product.first), _operation(product.second), product.m, product.n, product.k
    )  # fmt: skip


def as_passed(product: Product, scalars: Scalars) -> Any:
    """Return alpha and beta as the functions take them: real numbers by value, complex ones by address."""
    return scalars.values if product.target.matrix.dtype.kind == "f" else scalars.addresses


def _gemm_template(product: Product, library: HostLibrary) -> _Template:
    function, *head = gemm_arguments(product, library)
    lda, ldb, ldd = product.first.ld, product.second.ld, product.target.ld
    return function, (*head, None, 0, lda, 0, ldb, None, 0, ldd), (7, 9, 12), 11


def _structured_template(product: Product, library: HostLibrary) -> _Template:
    first, second, target, structure = product.first, product.second, product.target, product.structure
    side, triangle = RIGHT if product.right else LEFT, UPPER if structure.upper else LOWER
    real = target.matrix.dtype.kind == "f"
    routine = "symm" if product.routine == "hemm" and real else product.routine
    function = library.function(routine, target.matrix.dtype)
    if routine == "trmm":
        unit = UNIT if structure.unit else NON_UNIT
        head: tuple[int, ...] = COLUMN_MAJOR, side, triangle, _operation(first), unit, product.m, product.n
        return function, (*head, None, 0, first.ld, 0, target.ld), (8, 10, 10), 0
    head = COLUMN_MAJOR, side, triangle, product.m, product.n
    return function, (*head, None, 0, first.ld, 0, second.ld, None, 0, target.ld), (6, 8, 11), 10


def _repeated(
    product: Product,
    scalars: Scalars,
    function: Callable[..., Any],
    template: tuple[Any, ...],
    at: tuple[int, int, int],
    beta_at: int,
) -> Call:
    """A call for every batch entry."""
    first, second, target = at
    extents, item = product.extents, product.target.matrix.dtype.itemsize
    steps: list[tuple[int, ...]] = [(0,) * len(extents)] * len(template)
    for position, side in zip(at, (product.first, product.second, product.target), strict=True):
        steps[position] = tuple(step * item for step in side.steps)
    strides, passed = tuple(steps), as_passed(product, scalars)

    def call(a: int, b: int, d: int) -> None:
        arguments = list(template)
        arguments[first - 1] = passed[0]
        arguments[first], arguments[second] = a, b
        arguments[target] = d  # after the second factor, which a product with a triangular matrix overwrites
        if beta_at:
            arguments[beta_at] = passed[1]
        _seam.repeat(function, extents, strides, tuple(arguments))

    return call


def _gemv(product: Product, library: HostLibrary, scalars: Scalars, vector: VectorForm) -> Call:
    """A product with a vector."""
    dtype, values, passed = product.target.matrix.dtype, scalars.values, as_passed(product, scalars)
    function, swapped = library.function("gemv", dtype), vector.matrix is product.second
    head = COLUMN_MAJOR, vector.operation, vector.rows, vector.cols
    ld, step, nbytes = vector.matrix.ld, vector.step, product.m * product.n * dtype.itemsize
    memset = ctypes.memset

    def call(a: int, b: int, d: int) -> None:
        if swapped:
            a, b = b, a
        if values[1] == 0:
            memset(d, 0, nbytes)  # not every release overwrites what it is to multiply by 0
        function(*head, passed[0], a, ld, b, step, passed[1], d, 1)

    return call


def _operation(side: Side) -> int:
    return OPERATIONS[side.transposed, side.matrix.conj]
