"""Users' epilogs on the CPU: a compiled loop over the values, or the function itself where numba is not installed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import pairwise
from math import prod
from numbers import Number
from typing import Any, Final

import numpy as np

from ..._core import jit, kernels_host
from ..._core.dtypes import DType
from ..._core.fork import children
from ..._core.layout import contiguous
from ..._core.options import available_threads
from ...bindings._seam import pointer
from .._matrix import Operand, matrix_of
from ._custom import CustomEpilog, kinds_of, value_type
from ._problem import MatmulProblem

Array = np.ndarray[Any, Any]
_WALK: Final = "void(uint64, int64, int64, int64, int64, int64, int64, int64[:, ::1], int64[:, ::1])"
_PER_THREAD: Final = 1 << 17
"""Fewer elements than this are not worth a thread."""


def on_host(problem: MatmulProblem, positions: list[int], num_threads: int) -> Callable[[tuple[int, ...], Array], None]:
    """Return what applies the function to the values, in place; `positions` are those of its arrays among the operands."""
    function: CustomEpilog = problem.epilog.function
    readers = [_reader(each) for each in problem.arrays]
    compiled = find_spec("numba") is not None
    walk = _walk(function, problem.d.dtype, kinds_of(problem)) if compiled else None
    offsets = _batch_offsets(problem)

    def apply(pointers: tuple[int, ...], values: Array) -> None:
        arrays = [read(pointers[position]) for read, position in zip(readers, positions, strict=True)]
        if walk is None:
            _plainly(function.function, values, arrays, problem)
            return
        item = values.itemsize
        steps = tuple(step // item for step in values.strides)
        where = offsets.copy()
        where[:, 0] = _flat_offsets(problem.batch, steps[:-2])
        table = np.array([[pointer(each), *_extents(each)] for each in arrays] or [[0, 0, 0]], np.int64)
        start, (rows, columns) = pointer(values), values.shape[-2:]
        outer = columns if steps[-2] == 1 else rows  # the loop that is divided among threads, see _TEXT
        count = max(1, min(num_threads, values.size // _PER_THREAD, outer))
        bounds = [outer * part // count for part in range(count + 1)]
        run_in_threads(
            [
                partial(walk, start, rows, columns, *steps[-2:], first, last, where, table)
                for first, last in pairwise(bounds)
            ]
        )

    return apply


# --- threads ----------------------------------------------------------------------------------------------------------------------

_executor: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def run_in_threads(parts: list[Callable[[], None]]) -> None:
    """Run the first part here and the others in the pool; return, or raise, when all have ended."""
    own, *others = parts
    pending = [_pool().submit(part) for part in others]
    try:
        own()
    finally:
        wait(pending)
    for future in pending:
        future.result()


def _pool() -> ThreadPoolExecutor:
    global _executor
    with _lock:
        if _executor is None:
            _executor = ThreadPoolExecutor(available_threads(), thread_name_prefix="nvmath-epilog")
        return _executor


class _Threads:
    """Forgets the parent's threads in a forked child."""

    def _after_fork(self) -> None:
        global _executor, _lock
        _executor, _lock = None, threading.Lock()


_heir: Final = _Threads()
children.inherited.add(_heir)


def _reader(operand: Operand) -> Callable[[int], Array]:
    """Return what makes a row-major array, of a dtype that the function can compute with, of an operand."""
    kind, dense = value_type(operand.dtype), contiguous(operand.shape)
    if kind is operand.dtype and tuple(operand.strides) == dense:
        return kernels_host.viewer(operand.shape, dense, operand.dtype)
    move = kernels_host.move(operand.shape, operand.strides, dense, operand.dtype, kind)

    def read(address: int) -> Array:
        made = np.empty(operand.shape, kind.name)
        move(address, pointer(made))
        return made

    return read


def _extents(array: Array) -> tuple[int, int]:
    """The extents that the function sees: of the last two axes."""
    return (array.shape[0], 1) if array.ndim == 1 else (array.shape[-2], array.shape[-1])


def _flat_offsets(batch: tuple[int, ...], steps: tuple[int, ...]) -> Array:
    """The offset of every batch entry, entries in row-major order."""
    made = np.zeros(batch, np.int64)
    for axis, (extent, step) in enumerate(zip(batch, steps, strict=True)):
        made += (np.arange(extent) * step).reshape([-1 if other == axis else 1 for other in range(len(batch))])
    return made.reshape(-1)


def _batch_offsets(problem: MatmulProblem) -> Array:
    """For each batch entry: where the values begin (filled in later), and by how many bytes each array is further."""
    table = np.zeros((prod(problem.batch), 1 + len(problem.arrays)), np.int64)
    for column, each in enumerate(problem.arrays, 1):
        if len(each.shape) > 2:
            dense = Operand(each.shape, contiguous(each.shape), value_type(each.dtype))
            steps = matrix_of(dense, row_vector=False, batch=problem.batch).batch_strides
            table[:, column] = _flat_offsets(problem.batch, steps) * dense.dtype.itemsize
    return table


# --- compiled ---------------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=128)
def _walk(function: CustomEpilog, dtype: DType, arrays: tuple[tuple[DType, int], ...]) -> Any:
    """Compile the loop over the values: along columns where rows lie next to each other, else along rows."""
    user = function.compilable(dtype, arrays, "numba")
    made = jit.host_function(user)
    from ..._core.jit import pointers

    kinds = {
        f"kind{index}": pointers.pointer_type(jit.Pointer(value_type(kind).name))
        for index, (kind, _) in enumerate(arrays)
    }
    values: dict[str, Any] = {
        "function": made, "pointer_from": pointers.pointer_from, "np": np, "__name__": __name__,
        "element": pointers.pointer_type(jit.Pointer(value_type(dtype).name)), **kinds,
    }  # fmt: skip
    passed = "".join(f", array{index}, table[{index}, 1], table[{index}, 2]" for index in range(len(arrays)))
    located = "".join(
        f"        array{index} = pointer_from(np.uint64(table[{index}, 0] + where[entry, {index + 1}]), kind{index})\n"
        for index in range(len(arrays))
    )
    exec(_TEXT.replace("LOCATED", located).replace("PASSED", passed), values)
    return jit.compile_loop(values["walk"], _WALK)


_TEXT: Final = """
def walk(start, rows, columns, row_step, column_step, first, last, where, table):
    values = pointer_from(start, element)
    for entry in range(where.shape[0]):
        base = where[entry, 0]
LOCATED        if row_step == 1:
            for column in range(first, last):
                for row in range(rows):
                    at = base + row + column * column_step
                    values[at] = function(values[at], row, columnPASSED)
        elif column_step == 1:
            for row in range(first, last):
                for column in range(columns):
                    at = base + row * row_step + column
                    values[at] = function(values[at], row, columnPASSED)
        else:
            for row in range(first, last):
                for column in range(columns):
                    at = base + row * row_step + column * column_step
                    values[at] = function(values[at], row, columnPASSED)
"""


# --- not compiled -----------------------------------------------------------------------------------------------------------------


def _plainly(function: Callable[..., Any], values: Array, arrays: list[Array], problem: MatmulProblem) -> None:
    """Call the function once for each element: with whole arrays it may run as well, and mean something else."""
    for entry in np.ndindex(values.shape[:-2]):
        own = [each[_entry(each, entry)] if each.ndim > 2 else each for each in arrays]
        matrix = values[entry]
        for index in np.ndindex(matrix.shape):
            matrix[index] = _number(function(matrix[index], *index, *own), matrix.dtype)


def _number(made: Any, dtype: Any) -> Any:
    """Return what a function returned, if it is a number that the result can hold."""
    if not isinstance(made, Number | np.bool_):
        raise ValueError(f"The epilog must return a number for each element, not {made!r}.")
    if dtype.kind != "c" and isinstance(made, complex | np.complexfloating):
        raise ValueError(f"The epilog returned {made!r}, but the result is {dtype}: return a real number, its .real perhaps.")
    return made


def _entry(array: Array, entry: tuple[int, ...]) -> tuple[int, ...]:
    """The batch entry of an array whose batch axes may be 1."""
    own = array.shape[:-2]
    return tuple(0 if extent == 1 else index for extent, index in zip(own, entry[len(entry) - len(own) :], strict=True))
