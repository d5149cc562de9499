"""Epilogs on the CPU: what is done to the values of a product, in place, in the precision that it was computed in."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, prod, sqrt
from typing import Any, Final

import numpy as np

from ..._core import kernels_host
from ..._core.dtypes import DTYPES, DType
from ..._core.layout import contiguous
from ...bindings._seam import pointer
from .._matrix import Matrix
from ._gemm import Gemm
from ._problem import MatmulProblem

Array = np.ndarray[Any, Any]
_BYTE: Final = DTYPES["uint8"]
Finish = Callable[[tuple[int, ...], Array], None]
"""Called with the addresses of the operands and the values."""


def finisher(
    problem: MatmulProblem, gemm: Gemm, names: tuple[str, ...], output_ptrs: list[int], num_threads: int
) -> Finish | None:
    """Return what is done to the values of the target at the end, or None when that is nothing."""
    epilog, index = problem.epilog, {name: position for position, name in enumerate(names)}
    steps: list[Finish] = []
    if gemm.bias is not None and problem.c is not None:  # else the product was added to it
        steps.append(_adding(_view(problem, gemm.bias.matrix), index["bias"]))
    steps += [
        _writing(problem, position, matrix, output_ptrs)
        for position, (name, matrix) in enumerate(problem.outputs) if name in ("relu_aux", "gelu_aux")
    ]  # fmt: skip
    if epilog.activation in _MASKED:
        assert gemm.auxiliary is not None
        view, at, apply = _view(problem, gemm.auxiliary.matrix), index[epilog.auxiliary], _MASKED[epilog.activation]
        steps.append(lambda pointers, values: apply(values, view(pointers[at])))
    elif epilog.activation:
        activate = ACTIVATIONS[epilog.activation]
        steps.append(lambda pointers, values: _in_panels(activate, values))
    if epilog.function is not None:
        from ._custom_host import on_host

        steps.append(on_host(problem, [index[name] for name in epilog.inputs], num_threads))
    steps += [
        _summing(problem, gemm, name, position, matrix, index, output_ptrs)
        for position, (name, matrix) in enumerate(problem.outputs) if name not in ("relu_aux", "gelu_aux")
    ]  # fmt: skip
    if not steps:
        return None
    return _relu_alone if epilog.activation == "relu" and len(steps) == 1 else _quietly(steps)


_PANEL: Final = 1 << 15
"""Elements that are done at a time, so that what an activation needs in between stays in the cache."""


def _in_panels(activate: Callable[[Array], None], values: Array) -> None:
    """Apply a function of several passes to a part of the values after the other."""
    if values.size <= 2 * _PANEL:
        activate(values)
        return
    slowest = np.moveaxis(values, int(np.argmax(np.abs(values.strides))), 0)
    step = max(1, _PANEL * len(slowest) // values.size)
    for start in range(0, len(slowest), step):
        activate(slowest[start : start + step])


def _relu_alone(pointers: tuple[int, ...], values: Array) -> None:
    np.maximum(values, 0, out=values)


def _quietly(steps: list[Finish]) -> Finish:
    """Infinities and NaN are values like others: what the caller wants to hear about them in his own arithmetic is his business."""

    def finish(pointers: tuple[int, ...], values: Array) -> None:
        with np.errstate(all="ignore"):
            for step in steps:
                step(pointers, values)

    return finish


def _view(problem: MatmulProblem, matrix: Matrix) -> Callable[[int], Array]:
    shape = (*problem.batch, matrix.rows, matrix.cols)
    return kernels_host.viewer(shape, (*matrix.batch_strides, matrix.row_stride, matrix.col_stride), matrix.dtype)


def _adding(view: Callable[[int], Array], at: int) -> Finish:
    def add(pointers: tuple[int, ...], values: Array) -> None:
        bias = view(pointers[at])
        np.add(values, bias, out=values, casting="unsafe")

    return add


# --- auxiliary outputs ------------------------------------------------------------------------------------------------------------


def _put(
    values: Array, target: int, shape: tuple[int, ...], strides: tuple[int, ...], source: DType, dtype: DType
) -> None:
    """Store values, of any layout, at an address."""
    packed = np.ascontiguousarray(values, np.dtype(source.name))
    kernels_host.move(shape, contiguous(shape), strides, source, dtype)(pointer(packed), target)


def _writing(problem: MatmulProblem, position: int, matrix: Matrix, output_ptrs: list[int]) -> Finish:
    """Store the mask of the values from 0 on (as cuBLASLt has it), or the values: for the gradient of the activation."""
    batch, m, n = problem.batch, problem.m, problem.n
    strides = (*matrix.batch_strides, matrix.row_stride, matrix.col_stride)
    nbytes = prod((*batch, matrix.rows, n)) * matrix.dtype.itemsize
    whole = kernels_host.viewer((*batch, matrix.rows, n), strides, matrix.dtype) if matrix.dtype.kind == "u" else None
    clear = kernels_host.viewer((nbytes,), (1,), _BYTE)

    def mask(pointers: tuple[int, ...], values: Array) -> None:
        assert whole is not None
        clear(output_ptrs[position])[...] = 0
        whole(output_ptrs[position])[..., : -(-m // 8), :] = np.packbits(values >= 0, axis=-2, bitorder="little")

    def store(pointers: tuple[int, ...], values: Array) -> None:
        clear(output_ptrs[position])[...] = 0
        _put(values, output_ptrs[position], (*batch, m, n), strides, _row_of(values), matrix.dtype)

    return store if whole is None else mask


def _summing(
    problem: MatmulProblem,
    gemm: Gemm,
    name: str,
    position: int,
    matrix: Matrix,
    index: dict[str, int],
    output_ptrs: list[int],
) -> Finish:
    """Add up the columns of the result or of A, or the rows of B."""
    shape = (*problem.batch, matrix.rows)
    strides = (*matrix.batch_strides, matrix.row_stride)
    operand = {"bgrada": "a", "bgradb": "b"}.get(name)
    copies = {each: move.target for each, move in gemm.loads}
    if operand is not None:
        view, at = _view(problem, copies.get(operand, getattr(problem, operand))), index[operand]
    axis = -2 if name == "bgradb" else -1

    def add_up(pointers: tuple[int, ...], values: Array) -> None:
        terms = values if operand is None else view(pointers[at])
        exact = np.result_type(terms.dtype, np.float64)  # NumPy adds one after the other where the terms do not lie side by side
        sums = terms.sum(axis=axis, dtype=exact).astype(np.result_type(terms.dtype, np.float32))
        _put(np.broadcast_to(sums, shape), output_ptrs[position], shape, strides, _row_of(sums), matrix.dtype)

    return add_up


def _row_of(values: Array) -> DType:
    return DTYPES[values.dtype.name]


# --- activations ------------------------------------------------------------------------------------------------------------------


def _relu(values: Array) -> None:
    np.maximum(values, 0, out=values)


def _bent(values: Array) -> Array:
    """tanh of what the approximation of GELU takes it of."""
    inner = values * values
    inner *= 0.044715
    inner += 1
    inner *= values
    inner *= sqrt(2 / pi)
    np.tanh(inner, out=inner)
    return inner


def _gelu(values: Array) -> None:
    """The approximation by tanh, as cuBLASLt has it."""
    inner = _bent(values)
    inner += 1
    inner *= 0.5
    values *= inner


def _tanh(values: Array) -> None:
    np.tanh(values, out=values)


def _sigmoid(values: Array) -> None:
    np.negative(values, out=values)
    np.exp(values, out=values)
    values += 1
    np.reciprocal(values, out=values)


def _silu(values: Array) -> None:
    factor = np.negative(values)
    np.exp(factor, out=factor)
    factor += 1
    values /= factor


def _drelu(values: Array, mask: Array) -> None:
    m = values.shape[-2]
    bits = np.unpackbits(mask[..., : -(-m // 8), :], axis=-2, count=m, bitorder="little")
    np.copyto(values, 0, where=bits == 0)


def _dgelu(values: Array, before: Array) -> None:
    x = before[..., : values.shape[-2], :]
    bent = _bent(x)
    slope = 1 - bent * bent
    slope *= x
    slope *= sqrt(2 / pi)
    slope *= 1 + 3 * 0.044715 * x * x
    slope += 1 + bent
    slope *= 0.5
    values *= slope


ACTIVATIONS: Final[dict[str, Callable[[Array], None]]] = {
    "relu": _relu, "gelu": _gelu, "tanh": _tanh, "sigmoid": _sigmoid, "silu": _silu,
}  # fmt: skip
"""What is done to the values; a GPU has the same rows."""

_MASKED: Final[dict[str, Callable[[Array, Array], None]]] = {"drelu": _drelu, "dgelu": _dgelu}
