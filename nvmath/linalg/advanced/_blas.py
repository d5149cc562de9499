"""Products on the CPU: the OpenBLAS that NumPy has in the process, or NumPy's own matmul where it has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..._core import kernels_host
from ..._core.dtypes import DTYPES, DType
from ..._core.options import available_threads
from ..._core.route import Launch, Runner
from ...bindings import _openblas, _seam
from .._matrix import Matrix
from .._prepared import Whole
from ._algorithm import Algorithm, host_algorithm
from ._gemm import Capability, Gemm, Side, lower
from ._host_epilogs import finisher
from ._problem import MatmulProblem
from ._scalars import Scalars

CAPABILITY: Final = Capability(separate_addend=False, single_batch=False, column_epilogs=False)

_COLUMN_MAJOR: Final = 102
_OPERATIONS: Final = {(False, False): 111, (True, False): 112, (True, True): 113, (False, True): 114}
_FUNCTIONS: Final = {"float32": "sgemm", "float64": "dgemm", "complex64": "cgemm", "complex128": "zgemm"}
_ARITHMETIC: Final = {"float16": DTYPES["float32"], "bfloat16": DTYPES["float32"], "int8": DTYPES["float64"]}

Begin = Callable[[tuple[int, ...], int, np.ndarray[Any, Any]], Any]
"""Called with the addresses of the operands, that of D and its values; prepares D, and returns by how much what is there counts."""
_NOTHING: Final = np.empty(0)

Multiply = Callable[[int, int, int, Any], None]
"""Called with the addresses of A, B and D, and with beta."""


class HostMatmulPlan:
    """A product on the CPU."""

    workspace_nbytes = 0
    nbytes = 0

    def __init__(self, problem: MatmulProblem, names: tuple[str, ...], scalars: Scalars, num_threads: int) -> None:
        self.problem, self.names, self.scalars, self.num_threads = problem, names, scalars, num_threads
        self.arithmetic: DType = _ARITHMETIC.get(problem.a.dtype.name, problem.a.dtype)
        self.gemm = None if problem.empty else lower(problem, CAPABILITY, self.arithmetic)
        self.algorithms: tuple[Algorithm, ...] = (host_algorithm(),)
        self.output_ptrs = [0] * len(problem.outputs)
        self.on_edit: Callable[[], None] | None = None
        self.finish = (
            None if self.gemm is None else finisher(problem, self.gemm, names, self.output_ptrs, num_threads)
        )  # fmt: skip

    def need_of(self, algorithm: Algorithm) -> int:
        """No workspace is needed."""
        return 0

    def check_again(self) -> None:
        """There is nothing that could be edited."""

    def launch(self, algorithm: Algorithm | None = None) -> Launch:
        """Return the function that computes the product."""
        gemm = self.gemm
        if gemm is None:
            return lambda *pointers: None
        blas = _openblas.present()
        if blas and self._simple(gemm):
            run: Launch = self._direct(gemm)
        else:
            run = self._stepwise(gemm, self._blas(gemm) if blas else self._numpy(gemm))
        return run if self.num_threads >= available_threads() or not blas else self._limited(run)

    def whole(self) -> Whole | None:
        """Return the foreign call that is all of this product, or None if it takes more."""
        gemm, scalars = self.gemm, self.scalars
        values, complex_ = scalars.values, self.arithmetic.kind == "c"
        limited = self.num_threads < available_threads()
        if gemm is None or limited or not _openblas.present() or not self._simple(gemm) or values[0] == 0:
            return None
        constants = np.array([values[0], 0], scalars.array.dtype)
        start, step = constants.ctypes.data, constants.itemsize
        alpha, beta = (start, start + step) if complex_ else (values[0], 0.0)
        function, *head = self._arguments(gemm)
        tail = (alpha, 0, gemm.first.ld, 0, gemm.second.ld, beta, 0, gemm.target.ld)
        first, second = (9, 7) if gemm.swapped else (7, 9)
        return Whole(function, (*head, *tail), (first, second, 12), scalars.array, constants)

    def _simple(self, gemm: Gemm) -> bool:
        """Whether nothing comes before or after the product of two matrices."""
        more = gemm.loads or gemm.fill or gemm.store or gemm.extents or self.finish or self.problem.c or gemm.bias
        return not more

    def _limited(self, run: Launch) -> Launch:
        def limited(*pointers: int) -> None:
            with _openblas.at_most(self.num_threads):
                run(*pointers)

        return limited

    # --- one call ---------------------------------------------------------------------------------------------------------------

    def _arguments(self, gemm: Gemm) -> tuple[Any, ...]:
        function = getattr(_openblas, _FUNCTIONS[self.arithmetic.name])
        head = _COLUMN_MAJOR, _operation(gemm.first), _operation(gemm.second), gemm.m, gemm.n, gemm.k
        return getattr(function, "__bound__", lambda: function)(), *head

    def _direct(self, gemm: Gemm) -> Launch:
        """The product alone: one Python function around one foreign call.

        With alpha = 0 there are no terms: OpenBLAS looks at the factors of small products all the same, and NaN in them would show.
        """
        function, layout, trans_a, trans_b, m, n, k = self._arguments(gemm)
        lda, ldb, ldd = gemm.first.ld, gemm.second.ld, gemm.target.ld
        complex_ = self.arithmetic.kind == "c"
        values = self.scalars.values
        scalars: Any = self.scalars.addresses if complex_ else values
        beta = scalars[1] if complex_ else 0.0
        first, second = (1, 0) if gemm.swapped else (0, 1)

        def launch(*pointers: int) -> None:
            a, b, d = pointers[first], pointers[second], pointers[2]
            terms = k if values[0] else 0
            function(layout, trans_a, trans_b, m, n, terms, scalars[0], a, lda, b, ldb, beta, d, ldd)

        def fuse(make: Callable[[], Any], pointer: Callable[[Any], int]) -> Runner:
            def run(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
                result = make() if out is None else out
                terms = k if values[0] else 0
                function(
                    layout, trans_a, trans_b, m, n, terms, scalars[0], ptrs[first], lda, ptrs[second], ldb, beta, pointer(result), ldd
                )  # fmt: skip
                return result

            return run

        launch.fuse = fuse  # type: ignore[attr-defined]
        return launch

    # --- the product as one of several steps ------------------------------------------------------------------------------------

    def _blas(self, gemm: Gemm) -> Multiply:
        function, layout, trans_a, trans_b, m, n, k = self._arguments(gemm)
        lda, ldb, ldd = gemm.first.ld, gemm.second.ld, gemm.target.ld
        swapped, extents, values, item = gemm.swapped, gemm.extents, self.scalars.values, self.arithmetic.itemsize
        none = (0,) * len(gemm.extents)
        moving = {7: gemm.first, 9: gemm.second, 12: gemm.target}
        steps = tuple(
            tuple(step * item for step in moving[position].steps) if position in moving else none for position in range(14)
        )  # fmt: skip
        constants = np.zeros(2, self.arithmetic.name)
        alpha_at, beta_at = constants.ctypes.data, constants.ctypes.data + item
        complex_ = self.arithmetic.kind == "c"

        def multiply(a: int, b: int, d: int, beta: Any) -> None:
            if swapped:
                a, b = b, a
            alpha = values[0]
            terms = k if alpha else 0
            if complex_:
                constants[0], constants[1] = alpha, beta
                alpha, beta = alpha_at, beta_at
            if none:
                arguments = (layout, trans_a, trans_b, m, n, terms, alpha, a, lda, b, ldb, beta, d, ldd)
                _seam.repeat(function, extents, steps, arguments)
            else:
                function(layout, trans_a, trans_b, m, n, terms, alpha, a, lda, b, ldb, beta, d, ldd)

        return multiply

    def _numpy(self, gemm: Gemm) -> Multiply:
        values = self.scalars.values
        sides = (gemm.second, gemm.first) if gemm.swapped else (gemm.first, gemm.second)
        view_a, view_b, view_d = (
            self._view(side.matrix.transposed if gemm.swapped else side.matrix) for side in (*sides, gemm.target)
        )
        conj_a, conj_b = (side.matrix.conj for side in sides)

        def multiply(a: int, b: int, d: int, beta: Any) -> None:
            one, other, result = view_a(a), view_b(b), view_d(d)
            with np.errstate(all="ignore"):
                if values[0] == 0:  # as BLAS: the factors are not looked at
                    product = np.zeros_like(result)
                else:
                    product = np.matmul(one.conj() if conj_a else one, other.conj() if conj_b else other)
                if values[0] != 1:
                    product *= result.dtype.type(values[0])
                if beta != 0:
                    product += result.dtype.type(beta) * result
                result[...] = product

        return multiply

    def _view(self, matrix: Matrix) -> Callable[[int], np.ndarray[Any, Any]]:
        shape = (*self.problem.batch, matrix.rows, matrix.cols)
        return kernels_host.viewer(shape, (*matrix.batch_strides, matrix.row_stride, matrix.col_stride), matrix.dtype)

    def _stepwise(self, gemm: Gemm, multiply: Multiply) -> Launch:
        """C into the target, the product, the epilog."""
        index = {name: position for position, name in enumerate(self.names)}
        begin, finish = self._begin(gemm, index.get("c"), index.get("bias")), self.finish
        view = self._target(gemm)

        looked_at = finish is not None or self._fills(gemm)

        def run(*pointers: int) -> None:
            target = pointers[-1]
            values = view(target) if looked_at else _NOTHING
            multiply(pointers[0], pointers[1], target, begin(pointers, target, values))
            if finish is not None:
                finish(pointers, values)

        if gemm.loads or gemm.store:
            return self._staged(gemm, index, run)
        rank = len(self.problem.batch) + 2

        def fuse(make: Callable[[], Any], pointer: Callable[[Any], int]) -> Runner:
            def run(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
                result = make() if out is None else out
                target = pointer(result)
                values = result if type(result) is np.ndarray and result.ndim == rank else view(target)
                multiply(ptrs[0], ptrs[1], target, begin(ptrs, target, values))
                if finish is not None:
                    finish(ptrs, values)
                return result

            return run

        run.fuse = fuse  # type: ignore[attr-defined]
        return run

    def _fills(self, gemm: Gemm) -> bool:
        """Whether the product is added to the bias: a pass less than adding that afterwards."""
        return self.problem.c is None and gemm.bias is not None

    def _onto_bias(self, side: Side, bias: int) -> Begin:
        read = self._view(side.matrix)
        known, column = 0, _NOTHING  # the bias is often where it was

        def begin(pointers: tuple[int, ...], target: int, values: np.ndarray[Any, Any]) -> Any:
            nonlocal known, column
            if pointers[bias] != known:
                known, column = pointers[bias], read(pointers[bias])
            values[...] = column
            return 1.0

        return begin

    def _target(self, gemm: Gemm) -> Callable[[int], np.ndarray[Any, Any]]:
        return self._view(gemm.target.matrix.transposed if gemm.swapped else gemm.target.matrix)

    def _begin(self, gemm: Gemm, c: int | None, bias: int | None) -> Begin:
        """Return what prepares the target and says by how much the product shall multiply what is there."""
        values = self.scalars.values
        if c is None:
            plain = bias is None or gemm.bias is None
            return (lambda pointers, target, values: 0.0) if plain else self._onto_bias(gemm.bias, bias)  # type: ignore[arg-type]
        if gemm.fill is None:
            return lambda pointers, target, matrix: values[1]
        fill = _mover(gemm.fill)

        def begin(pointers: tuple[int, ...], target: int, matrix: np.ndarray[Any, Any]) -> Any:
            if values[1] != 0:
                fill(pointers[c], target)
            return values[1]

        return begin

    def _staged(self, gemm: Gemm, index: dict[str, int], run: Launch) -> Launch:
        """Run over copies of the operands that BLAS cannot read, and into scratch memory where it cannot write."""
        loads = [(index[name], _mover(move), move.nbytes) for name, move in gemm.loads]
        store, nbytes = (None, 0) if gemm.store is None else (_mover(gemm.store), gemm.store.nbytes)

        def staged(*pointers: int) -> None:
            *operands, result = pointers
            owners = []
            for position, move, size in loads:
                scratch, owner = kernels_host.scratch(size)
                owners.append(owner)
                move(operands[position], scratch)
                operands[position] = scratch
            if store is None:
                run(*operands, result)
                return
            target, owner = kernels_host.scratch(nbytes)
            run(*operands, target)
            store(target, result)

        return staged

    def close(self) -> None:
        """Nothing is owned."""


def _operation(side: Side) -> int:
    return _OPERATIONS[side.transposed, side.matrix.conj]


def _mover(move: Any) -> Callable[[int, int], None]:
    return kernels_host.move(move.shape, move.in_strides, move.out_strides, move.source.dtype, move.target.dtype)
