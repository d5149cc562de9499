"""The matrices of an epilog: what it reads besides A, B and C, and what it gives besides D."""

from __future__ import annotations

from collections.abc import Mapping

from ..._core.dtypes import DType
from ..._core.layout import Ints, contiguous
from .._matrix import COLUMN, Matrix, Operand, batch_order, matrix_of, packed
from ._epilogs import AUXILIARIES, TYPED, Auxiliary, Epilog
from ._narrow import FLAT
from ._options import BY_CODE
from ._preferences import MatmulEpilogPreferences
from ._types import SUPPORTED, check_dtype, same_kind


def check(
    epilog: Epilog, dtype: DType, elements: int, preferences: MatmulEpilogPreferences, *, narrow: bool = False
) -> None:
    """Refuse an epilog that means nothing for a product.

    Raises
    ------
    ValueError
        That is so; the text says why and what to do.
    """
    if dtype.kind == "i" and epilog.name != "DEFAULT":
        raise ValueError(
            f"The epilog {epilog.name} is not supported for a result of {dtype}. Leave it out, or use floating operands."
        )
    if epilog.real_only and dtype.kind == "c":
        raise ValueError(
            f"The epilog {epilog.name} is not defined for {dtype}: it needs real values. Use BIAS, a Python function or no epilog."
        )
    if epilog.outputs and not elements:
        raise ValueError(
            f"The epilog {epilog.name} is not supported for a result without elements. Leave the epilog out."
        )
    if preferences.aux_type is not None:
        if not any(name in TYPED for name in epilog.outputs):
            raise ValueError(
                f"MatmulEpilogPreferences.aux_type is not supported for the epilog {epilog.name}: only GELU_AUX and GELU_AUX_BIAS have "
                "an auxiliary output whose type can be chosen. Leave it out."
            )
        row = BY_CODE[int(preferences.aux_type)]
        eight = narrow and row.kind == "f" and row.bits == 8
        if not eight and (row.name not in SUPPORTED or row.kind != "f"):
            more = ", or float8_e4m3fn or float8_e5m2 for FP8 operands" if narrow else ""
            raise ValueError(
                f"MatmulEpilogPreferences.aux_type = {row} is not supported. Use float16, bfloat16, float32 or float64{more}."
            )
        if eight:
            return
    if preferences.aux_amax:
        raise ValueError(
            "MatmulEpilogPreferences.aux_amax is not supported for an auxiliary output when it is not a narrow-precision (FP8) one. "
            "Leave it out, and compute abs(aux).max() instead."
        )


def fits_batch(own: Ints, batch: Ints) -> bool:
    """Whether batch extents stretch to those of the problem."""
    return len(own) <= len(batch) and all(
        extent in (1, wanted) for extent, wanted in zip(own, batch[len(batch) - len(own) :], strict=True)
    )


def read(epilog: Epilog, name: str, given: Operand, extents: tuple[int, int], batch: Ints, dtype: DType) -> Matrix:
    """Return an input of an epilog as a batch of matrices.

    Raises
    ------
    ValueError
        Its shape or dtype does not fit.
    """
    return (
        _bias(given, extents[0], batch, dtype) if name == "bias" else _given(epilog, name, given, extents, batch, dtype)
    )


def _bias(bias: Operand, m: int, batch: Ints, dtype: DType) -> Matrix:
    shape = bias.shape
    same_kind("bias", bias.dtype, dtype)
    rows = shape[-2:] if len(shape) > 1 else (*shape, 1)
    if not shape or rows != (m, 1) or not fits_batch(shape[:-2], batch):
        batched = f" or {(*batch, m, 1)}" if batch else ""
        raise ValueError(
            f"The bias must match the rows of the result: its shape is {shape}, expected ({m},) or ({m}, 1){batched}. "
            "For a bias along the columns compute the transpose: matmul(b.T, a.T, ...).T."
        )
    return matrix_of(bias, row_vector=False, batch=batch)


def _given(epilog: Epilog, name: str, given: Operand, extents: tuple[int, int], batch: Ints, dtype: DType) -> Matrix:
    row = AUXILIARIES[name]
    shape, wanted, kind = given.shape, row.extents(*extents), row.dtype(dtype, None)
    source = "RELU_AUX" if name == "relu_aux" else "GELU_AUX"
    remedy = f"Pass the auxiliary output {name!r} of a product with the epilog {source}, as it is."
    if given.dtype is not kind:
        raise ValueError(
            f"The dtype of {name} must match: {epilog.name} needs {kind}, but it is {given.dtype}. {remedy}"
        )
    if shape[-2:] != wanted or not fits_batch(shape[:-2], batch):
        raise ValueError(
            f"The extents of {name} must match: its shape is {shape}, expected {(*batch, *wanted)}. {remedy}"
        )
    return matrix_of(given, row_vector=False, batch=batch)


def arrays(epilog: Epilog, inputs: Mapping[str, Operand], batch: Ints) -> tuple[Operand, ...]:
    """Return the arrays of a user's function: 1 or 2 axes, and those of the batch before them.

    Raises
    ------
    ValueError
        An array has other axes, or a dtype that the function cannot have.
    """
    made = []
    for name in epilog.inputs:
        given = inputs[name]
        if not given.shape or not fits_batch(given.shape[:-2], batch):
            raise ValueError(
                f"The array {name} of the epilog {epilog.name} has shape {given.shape}: it must have one or two axes, or the batch axes "
                f"{batch} and two more. Reshape it."
            )
        if given.dtype.bits < 8 or given.dtype.name.startswith(("float8", "complex32", "bcomplex")):
            raise ValueError(
                f"The array {name} of the epilog {epilog.name} has dtype {given.dtype}, which a function cannot read."
            )
        made.append(given)
    return tuple(made)


def outputs(
    epilog: Epilog, result: Matrix, batch: Ints, preferences: MatmulEpilogPreferences
) -> tuple[tuple[str, Matrix], ...]:
    """Return the auxiliary outputs, compact and column-major, with batches in the order of the result."""
    asked = None if preferences.aux_type is None else BY_CODE[int(preferences.aux_type)]
    axes = batch_order(batch, result.batch_strides)
    made = []
    for name in epilog.outputs:
        row: Auxiliary = AUXILIARIES[name]
        rows, cols = row.extents(result.rows, result.cols)
        frame = Matrix(rows, cols, 0, 0, (1,) * len(batch), row.dtype(result.dtype, asked))
        made.append((name, packed(frame, COLUMN, batch, axes)))
    return tuple(made)


def outer(name: str, matrix: Matrix, batch: Ints) -> tuple[Ints, Ints]:
    """Return shape and strides of an auxiliary output as the caller sees it: a vector is 1-dimensional when there are no batches."""
    if name in FLAT or (AUXILIARIES[name].vector and not batch):
        return (matrix.rows,), contiguous((matrix.rows,))
    return (*batch, matrix.rows, matrix.cols), (*matrix.batch_strides, matrix.row_stride, matrix.col_stride)


__all__ = ["arrays", "check", "check_dtype", "fits_batch", "outer", "outputs", "read"]
