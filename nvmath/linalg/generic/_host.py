"""Plans of products on the CPU: the calls of a library, or of NumPy, and what comes before and after them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..._core import kernels_host
from ..._core.layout import contiguous
from ..._core.options import available_threads
from ..._core.route import Launch, Runner
from .._gemm import host_library
from .._matrix import ROW
from .._prepared import Whole
from ._blas import Call, as_passed, call_of, gemm_arguments
from ._gemv import vector_form
from ._kernels_host import diagonal_of, finisher, loader, view_of
from ._lowering import NOTHING, Product, Side, lower
from ._problem import MatmulProblem
from ._scalars import Scalars

_NUMPY_TO: Final = 4096
"""Multiplications of one matrix of a batch up to which NumPy's loop is faster than one call of the library for each."""


class HostPlan:
    """A product on the CPU."""

    workspace_nbytes = 0
    nbytes = 0

    def __init__(self, problem: MatmulProblem, names: tuple[str, ...], scalars: Scalars, num_threads: int) -> None:
        self.problem, self.names, self.scalars, self.num_threads = problem, names, scalars, num_threads
        self.library = host_library()
        self.product = None if problem.empty else lower(problem, self.library.capability)
        self.limited = None if num_threads >= available_threads() else self.library.at_most(num_threads)
        self.idle: Launch | None = None

    @property
    def description(self) -> str:
        """Who computes."""
        routine = "nothing to do" if self.product is None else self.product.routine
        return f"{routine} by {self.library.title}"

    def launch(self) -> Launch:
        """Return the function that computes the product: addresses of the operands and of the result."""
        product = self.product
        if product is None:
            return lambda *pointers: None
        if not product.alone or product.routine == NOTHING or self.library.module is None:
            run = self._unless_idle(self._stepwise(product))
        elif self._is_direct(product):
            run = self._direct(product)
        else:
            run = self._alone(product, self._call(product))
        return run if self.limited is None else self._within(self.limited, run)

    def whole(self) -> Whole | None:
        """Return the foreign call that is all of this product, or None if it takes more."""
        product, values = self.product, self.scalars.values
        if product is None or self.limited is not None or len(self.names) != 2 or values[0] == 0 or not self._is_direct(product):
            return None
        function, *head = gemm_arguments(product, self.library)
        constants = np.array(values, self.scalars.array.dtype)
        start, step = constants.ctypes.data, constants.itemsize
        alpha, beta = values if constants.dtype.kind == "f" else (start, start + step)
        tail = (alpha, 0, product.first.ld, 0, product.second.ld, beta, 0, product.target.ld)
        places = tuple({product.first.name: 7, product.second.name: 9}[name] for name in self.names)
        return Whole(function, (*head, *tail), (*places, 12), self.scalars.array, constants)

    def _is_direct(self, product: Product) -> bool:
        """Whether it is one call for two general matrices."""
        alone = product.alone and product.routine == "gemm" and self.library.module is not None
        return alone and not product.extents and vector_form(product) is None

    @staticmethod
    def _within(limit: Callable[[], AbstractContextManager[None]], run: Launch) -> Launch:
        def limited(*pointers: int) -> None:
            with limit():
                run(*pointers)

        return limited

    # --- alpha = 0: nothing is multiplied, and the factors are not read -----------------------------------------------

    def _idle(self, *pointers: int) -> None:
        if self.idle is None:
            self.idle = HostPlan(replace(self.problem, k=0), self.names, self.scalars, self.num_threads).launch()
        self.idle(*pointers)

    def _unless_idle(self, run: Launch) -> Launch:
        if self.problem.k == 0:
            return run
        values, idle = self.scalars.values, self._idle

        def unless_idle(*pointers: int) -> None:
            if values[0] == 0:
                idle(*pointers)
            else:
                run(*pointers)

        return unless_idle

    # --- one call -----------------------------------------------------------------------------------------------------

    def _direct(self, product: Product) -> Launch:
        """The product alone: one Python function around one foreign call."""
        function, layout, trans_a, trans_b, m, n, k = gemm_arguments(product, self.library)
        lda, ldb, ldd = product.first.ld, product.second.ld, product.target.ld
        scalars = as_passed(product, self.scalars)
        first, second = self.names.index(product.first.name), self.names.index(product.second.name)
        values, idle = self.scalars.values, self._idle

        def launch(*pointers: int) -> None:
            if values[0] == 0:
                idle(*pointers)
                return
            a, b, d = pointers[first], pointers[second], pointers[-1]
            function(layout, trans_a, trans_b, m, n, k, scalars[0], a, lda, b, ldb, scalars[1], d, ldd)

        def fuse(make: Callable[[], Any], pointer: Callable[[Any], int]) -> Runner:
            def run(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
                result = make() if out is None else out
                if values[0] == 0:
                    idle(*ptrs, pointer(result))
                    return result
                a, b, d = ptrs[first], ptrs[second], pointer(result)
                function(layout, trans_a, trans_b, m, n, k, scalars[0], a, lda, b, ldb, scalars[1], d, ldd)
                return result

            return run

        launch.fuse = fuse  # type: ignore[attr-defined]
        return launch

    def _alone(self, product: Product, call: Call) -> Launch:
        """A call and nothing else."""
        first, second = self.names.index(product.first.name), self.names.index(product.second.name)
        values, idle = self.scalars.values, self._idle
        many_small = self._many_small(product)
        as_numpy_makes = many_small and self._plain_rows()

        def launch(*pointers: int) -> None:
            if values[0] == 0:
                idle(*pointers)
            else:
                call(pointers[first], pointers[second], pointers[-1])

        def fuse(make: Callable[[], Any], pointer: Callable[[Any], int]) -> Runner:
            def run(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
                by_numpy = many_small and values[0] == 1 and type(objs[0]) is type(objs[1]) is np.ndarray
                if by_numpy and out is None and as_numpy_makes:
                    with np.errstate(all="ignore"):
                        return np.matmul(objs[0], objs[1])
                result = make() if out is None else out
                if values[0] == 0:
                    idle(*ptrs, pointer(result))
                elif by_numpy:
                    with np.errstate(all="ignore"):
                        np.matmul(objs[0], objs[1], out=result)
                else:
                    call(ptrs[first], ptrs[second], pointer(result))
                return result

            return run

        launch.fuse = fuse  # type: ignore[attr-defined]
        return launch

    def _many_small(self, product: Product) -> bool:
        """Whether NumPy's loop over a batch is the faster one, and in place: a call of the library costs as much as its work."""
        problem = self.problem
        plain = product.routine == "gemm" and not (problem.a.conj or problem.b.conj) and problem.d.order == ROW
        return plain and bool(product.extents) and product.m * product.n * product.k <= _NUMPY_TO

    def _plain_rows(self) -> bool:
        """Whether operands and result are C-contiguous, as NumPy would make the result by itself."""
        problem = self.problem
        shapes = {each: (*problem.batch, each.rows, each.cols) for each in (problem.a, problem.b, problem.d)}
        straight = all((*each.batch_strides, each.row_stride, each.col_stride) == contiguous(shapes[each]) for each in shapes)
        return straight and problem.out_shape == shapes[problem.d]

    # --- several steps ------------------------------------------------------------------------------------------------

    def _stepwise(self, product: Product) -> Launch:
        """Copies of what the library cannot read, C or a factor into the target, the product, C added, the target stored."""
        index = {name: position for position, name in enumerate(self.names)}
        first, second, addend = index[product.first.name], index[product.second.name], index.get("c", 0)
        loads = [(index[load.name], loader(load), load.nbytes) for load in product.loads]
        seed, seeded = (None, 0) if product.seed is None else (loader(product.seed), index[product.seed.name])
        only_if_added = product.seed is not None and product.seed.name == "c"
        call, values = self._call(product), self.scalars.values
        finish = finisher(product.store, self.problem.c if product.late else None, product.scratch)
        scratch_nbytes = (
            product.store.source.dtype.itemsize * int(np.prod(product.store.shape)) if product.scratch else 0
        )
        finishes = product.late or product.scratch

        def run(*pointers: int) -> None:
            *operands, result = pointers
            owners, final = [], result
            c = operands[addend]
            for position, load, nbytes in loads:
                scratch, owner = kernels_host.scratch(nbytes)
                owners.append(owner)
                load(operands[position], scratch)
                operands[position] = scratch
            if scratch_nbytes:
                result, owner = kernels_host.scratch(scratch_nbytes)
                owners.append(owner)
            if seed is not None and not (only_if_added and values[1] == 0):
                seed(operands[seeded], result)
            call(operands[first], operands[second], result)
            if finishes:
                finish(result, c, final, values[1])

        return run

    def _call(self, product: Product) -> Call:
        if product.routine == NOTHING:
            return self._clear(product)
        if product.routine == "diagonal":
            return self._diagonal(product)
        if self.library.module is None:
            return self._numpy(product)
        return call_of(product, self.library, self.scalars)

    # --- elementwise, and without a BLAS ------------------------------------------------------------------------------

    def _clear(self, product: Product) -> Call:
        """The sum of nothing."""
        dtype = product.target.matrix.dtype.name
        zero = np.zeros((), dtype)
        return self._added(product, lambda a, b: zero, view_of(product.target.matrix, self.problem.batch), dtype)

    def _diagonal(self, product: Product) -> Call:
        batch, dtype = self.problem.batch, product.target.matrix.dtype
        diagonal = diagonal_of(product.first.matrix, batch, product.structure, product.right)
        factor, target = view_of(product.second.matrix, batch), view_of(product.target.matrix, batch)
        return self._added(
            product,
            lambda a, b: _conj(diagonal(a), product.first) * _conj(factor(b), product.second),
            target,
            dtype.name,
        )

    def _numpy(self, product: Product) -> Call:
        batch, dtype = self.problem.batch, product.target.matrix.dtype
        first, second, target = (
            view_of(side.matrix, batch) for side in (product.first, product.second, product.target)
        )
        return self._added(
            product,
            lambda a, b: np.matmul(_conj(first(a), product.first), _conj(second(b), product.second)),
            target,
            dtype.name,
        )

    def _added(
        self,
        product: Product,
        multiply: Callable[[int, int], np.ndarray[Any, Any]],
        target: Callable[[int], Any],
        dtype: str,
    ) -> Call:
        """Scale a product and put it into the target; where the target is C, beta * C is added here."""
        values, number = self.scalars.values, np.dtype(dtype).type
        inplace = self.problem.inplace and not product.scratch

        def call(a: int, b: int, d: int) -> None:
            result = target(d)
            with np.errstate(all="ignore"):
                value: Any = multiply(a, b)
                if values[0] != 1:
                    value = value * number(values[0])
                if inplace and values[1] != 0:
                    value = value + number(values[1]) * result
            result[...] = value

        return call

    def close(self) -> None:
        """Nothing is owned."""


def _conj(values: np.ndarray[Any, Any], side: Side) -> np.ndarray[Any, Any]:
    return values.conj() if side.matrix.conj else values
