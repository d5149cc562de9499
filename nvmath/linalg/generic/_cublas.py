"""Products on a GPU through cuBLAS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, Final

import numpy as np

from ..._core.arrays import Adapter
from ..._core.layout import Ints
from ..._core.place import Cuda
from ..._core.route import Launch
from ...bindings import _seam, cublas
from .._buffers import Buffers
from .._gemm import CUBLAS, LETTERS
from .._matrix import Matrix
from ._handles import handle_of, handle_on
from ._kernels import Combine, Term, loader
from ._kernels_host import first_of
from ._lowering import NOTHING, Product, Side, lower
from ._problem import MatmulProblem
from ._scalars import Scalars

Call = Callable[[int, int, int, int], None]
"""Called with the addresses of the two factors and of the target, and with the stream."""

Loads = list[tuple[int, Callable[[int, int, int], object]]]
"""Positions of operands, and what copies them: called with two addresses and the stream."""

_FREE: Final = (NOTHING, "diagonal")
_DEFAULT_ALGORITHM: Final = -1
_MOST: Final = 2**31 - 1
_COMPUTE: Final = {
    name: int(cublas.ComputeType.COMPUTE_64F if name in ("float64", "complex128") else cublas.ComputeType.COMPUTE_32F)
    for name in CUBLAS.dtypes
}
_N, _T, _C = 0, 1, 2


class CublasPlan:
    """A product on a GPU: the arguments of the calls, and what graphs that were captured need."""

    workspace_nbytes = 0
    nbytes = 0

    def __init__(
        self, problem: MatmulProblem, names: tuple[str, ...], scalars: Scalars, place: Cuda, adapter: Adapter
    ) -> None:
        self.problem, self.names, self.scalars, self.place, self.adapter = problem, names, scalars, place, adapter
        self.device = place.device_id
        self.product = None if problem.empty else lower(problem, CUBLAS)
        self.one = np.ones(1, scalars.array.dtype)
        self.idle: Launch | None = None
        self.steps: Launch | None = None  # what there is to do besides a call of the library, or instead of it
        self.call: Call | None = None
        if self.product is not None:
            with place.current():
                self._prepare(self.product)

    def _prepare(self, product: Product) -> None:
        """Make a handle and load our own kernels, since a capture could not."""
        if product.routine in _FREE:
            self.steps = self._combined(product)
            return
        handle_of(self.device, 0)
        self.call = self._gemm(product) if product.routine == "gemm" else self._structured(product)
        if not product.alone:
            self.steps = self._stepwise(product, self.call)

    @property
    def description(self) -> str:
        """Who computes."""
        return f"{'nothing to do' if self.product is None else self.product.routine} by cuBLAS"

    def launch(self) -> Launch:
        """Return the function that computes the product on a stream: addresses of the operands and of the result."""
        product = self.product
        if product is None:
            return lambda *pointers: None
        call, steps = self.call, self.steps
        if call is None:
            assert steps is not None
            return steps
        first, second = self.names.index(product.first.name), self.names.index(product.second.name)
        values = self.scalars.values

        def launch(*pointers: int) -> None:
            if values[0] == 0:
                self._idle(*pointers)
            elif steps is not None:
                steps(*pointers)
            else:
                call(pointers[first], pointers[second], pointers[-2], pointers[-1])

        return launch

    def _idle(self, *pointers: int) -> None:
        """The product when alpha is 0: nothing is multiplied, and the factors are not read."""
        if self.idle is None:
            problem = replace(self.problem, k=0)
            self.idle = CublasPlan(problem, self.names, self.scalars, self.place, self.adapter).launch()
        self.idle(*pointers)

    # --- calls of the library -----------------------------------------------------------------------------------------

    def _gemm(self, product: Product) -> Call:
        first, second, target = product.first, product.second, product.target
        dtype = target.matrix.dtype
        code, compute, device = dtype.code, _COMPUTE[dtype.name], self.device
        alpha, beta = self.scalars.addresses
        head = _operation(first), _operation(second), product.m, product.n, product.k, alpha
        lda, ldb, ldd = first.ld, second.ld, target.ld
        wide = _wide(product)
        inner = _inner_axis(product)
        if inner is None:
            gemm = _bound("gemm_ex" + wide)
            extents, strides = _outer_loops(product, None, 19, (7, 10, 14))

            def single(a: int, b: int, d: int, stream: int) -> None:
                arguments = (
                    handle_on(device, stream), *head, a, code, lda, b, code, ldb, beta, d, code, ldd, compute, _DEFAULT_ALGORITHM
                )  # fmt: skip
                if extents:
                    _seam.repeat(gemm, extents, strides, arguments)
                else:
                    gemm(*arguments)

            return single
        batched = _bound("gemm_strided_batched_ex" + wide)
        count, (step_a, step_b, step_d) = (
            product.extents[inner],
            (side.steps[inner] for side in (first, second, target)),
        )
        outer, outer_strides = _outer_loops(product, inner, 23, (7, 11, 16))

        def several(a: int, b: int, d: int, stream: int) -> None:
            arguments = (
                handle_on(device, stream), *head, a, code, lda, step_a, b, code, ldb, step_b, beta, d, code, ldd, step_d, count,
                compute, _DEFAULT_ALGORITHM,
            )  # fmt: skip
            if outer:
                _seam.repeat(batched, outer, outer_strides, arguments)
            else:
                batched(*arguments)

        return several

    def _structured(self, product: Product) -> Call:
        """A product with one structured factor, in a loop over the batch."""
        first, second, target, structure = product.first, product.second, product.target, product.structure
        dtype, routine, device = target.matrix.dtype, product.routine, self.device
        if routine == "hemm" and dtype.kind == "f":
            routine = "symm"
        function = _bound(LETTERS[dtype.name] + routine + _wide(product))
        alpha, beta = self.scalars.addresses
        lda, ldb, ldd = first.ld, second.ld, target.ld
        head: tuple[int, ...] = (int(product.right), int(structure.upper))
        tail: tuple[int, ...] = (beta,)
        if routine == "trmm":
            head, tail = (*head, _operation(first), int(structure.unit)), ()
        head = (*head, product.m, product.n, alpha)
        at = len(head) + 1
        positions = at, at + 2, at + 4 + len(tail)
        extents, strides = _outer_loops(product, None, positions[2] + 2, positions)

        def call(a: int, b: int, d: int, stream: int) -> None:
            arguments = (handle_on(device, stream), *head, a, lda, b, ldb, *tail, d, ldd)
            _seam.repeat(function, extents, strides, arguments)

        return call

    # --- several steps ------------------------------------------------------------------------------------------------

    def _stepwise(self, product: Product, call: Call) -> Launch:
        """Copies of what the library cannot read, C into the target, the product, C added, the target stored."""
        index = {name: position for position, name in enumerate(self.names)}
        first, second, addend = index[product.first.name], index[product.second.name], index.get("c", 0)
        seed = None if product.seed is None else loader(self.device, product.seed)
        finish = self._finish(product)
        loads, sizes, scratch = self._loads(product), [load.nbytes for load in product.loads], product.scratch
        if scratch:
            sizes.append(prod(product.store.shape) * product.store.source.dtype.itemsize)
        values = self.scalars.values

        def queue(operands: list[int], result: int, stream: int, buffers: list[int]) -> None:
            c, target = operands[addend], buffers[-1] if scratch else result
            load_all(loads, operands, buffers, stream)
            if seed is not None and values[1] != 0:
                seed(c, target, stream)
            call(operands[first], operands[second], target, stream)
            if finish is not None:
                finish(target, c, result, stream)

        return self._lending(sizes, queue)

    def _loads(self, product: Product) -> Loads:
        """Return the copies of operands: the position of each, and what makes it."""
        return [(self.names.index(load.name), loader(self.device, load)) for load in product.loads]

    def _lending(self, sizes: list[int], queue: Callable[[list[int], int, int, list[int]], None]) -> Launch:
        """Return a launch of steps that get buffers of these sizes, if there are any."""

        def plain(*pointers: int) -> None:
            *operands, result, stream = pointers
            queue(operands, result, stream, [])

        def lending(*pointers: int) -> None:
            *operands, result, stream = pointers
            with buffers.lent(stream) as lent:
                queue(operands, result, stream, lent)

        if not sizes:
            return plain
        buffers = Buffers(sizes, self.place, self.adapter)
        return lending

    def _finish(self, product: Product) -> Callable[[int, int, int, int], object] | None:
        """Return what adds C and stores the target, given the addresses of the target, of C and of D, and the stream."""
        store, c = product.store, self.problem.c
        if product.late and c is not None:
            add = Combine(
                self.device, store.target.dtype, store.shape, Term(store.out_strides), Term(store.in_strides), None,
                Term(_strides(c)), self.one.ctypes.data, self.scalars.addresses[1],
            )  # fmt: skip
            return lambda source, addend, target, stream: add(source, target, 0, addend, stream)
        if not product.scratch:
            return None
        copy = loader(self.device, store)
        return lambda source, addend, target, stream: copy(source, target, stream)

    def _combined(self, product: Product) -> Launch:
        """One pass over memory: the product with a diagonal, or the sum of nothing, and C; after copies, if any."""
        problem, index = self.problem, {name: position for position, name in enumerate(self.names)}
        loads = self._loads(product)
        diagonal, factor = product.first.matrix, product.second.matrix
        times = product.routine == "diagonal"
        x = g = None
        if times:
            step = -diagonal.row_stride if product.structure.reverse else diagonal.row_stride
            x = Term((*diagonal.batch_strides, *((0, step) if product.right else (step, 0))), diagonal.conj)
            g = Term(_strides(factor), factor.conj)
        combine = Combine(
            self.device, problem.d.dtype, product.store.shape, Term(_strides(problem.d)), g, x,
            None if problem.c is None else Term(_strides(problem.c)), *self.scalars.addresses,
        )  # fmt: skip
        start = first_of(diagonal, product.structure) * diagonal.dtype.itemsize if times else 0
        first, second, addend = index[product.first.name], index[product.second.name], index.get("c", 0)

        def queue(operands: list[int], result: int, stream: int, buffers: list[int]) -> None:
            c = operands[addend]
            load_all(loads, operands, buffers, stream)
            combine(operands[second], result, operands[first] + start, c, stream)

        return self._lending([load.nbytes for load in product.loads], queue)

    def close(self) -> None:
        """Give up what graphs needed."""
        self.steps = self.idle = None


def load_all(loads: Loads, operands: list[int], buffers: list[int], stream: int) -> None:
    """Queue the copies of operands into buffers, which take their places."""
    for (position, load), buffer in zip(loads, buffers, strict=False):  # the target may have one more
        load(operands[position], buffer, stream)
        operands[position] = buffer


def _strides(matrix: Matrix) -> Ints:
    return (*matrix.batch_strides, matrix.row_stride, matrix.col_stride)


def _operation(side: Side) -> int:
    """Return the operation by which the library reads an operand; there is none that conjugates only."""
    assert side.transposed or not side.matrix.conj
    return (_C if side.matrix.conj else _T) if side.transposed else _N


def _bound(name: str) -> Callable[..., Any]:
    function = getattr(cublas, name)
    bound: Callable[..., Any] = getattr(function, "__bound__", lambda: function)()
    return bound


def _wide(product: Product) -> str:
    """The suffix of the functions with 64-bit integers, where they are needed."""
    sides = product.first, product.second, product.target
    return "_64" if max(product.m, product.n, product.k, *product.extents, *(side.ld for side in sides)) > _MOST else ""


def _inner_axis(product: Product) -> int | None:
    """The loop that one call does: the longest one along which no operand goes backwards, if there is any."""
    sides = product.first, product.second, product.target
    forward = [axis for axis in range(len(product.extents)) if all(side.steps[axis] >= 0 for side in sides)]
    return max(forward, key=lambda axis: product.extents[axis], default=None)


def _outer_loops(product: Product, inner: int | None, count: int, at: Ints) -> tuple[Ints, tuple[Ints, ...]]:
    """Extents of the other loops, and what one step along each adds to every argument."""
    axes = [axis for axis in range(len(product.extents)) if axis != inner]
    item = product.target.matrix.dtype.itemsize
    steps: list[Ints] = [(0,) * len(axes)] * count
    for position, side in zip(at, (product.first, product.second, product.target), strict=True):
        steps[position] = tuple(side.steps[axis] * item for axis in axes)
    return tuple(product.extents[axis] for axis in axes), tuple(steps)
