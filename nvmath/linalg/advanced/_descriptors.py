"""The descriptors that tell cuBLASLt what a product is: operation, epilog and layouts."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

from ..._core.attributes import Cell, put
from ...bindings import cublasLt
from . import _narrow_descriptors as narrow
from ._epilogs import NO_EPILOG
from ._gemm import Gemm, Side
from ._options import MatmulOptions
from ._problem import MatmulProblem

_DESC: Final = cublasLt.MatmulDescAttribute
_LAYOUT: Final = cublasLt.MatrixLayoutAttribute
_N, _T, _C = 0, 1, 2
SOMEWHERE: Final = 1 << 20
"""Stands for a pointer while an algorithm is chosen: the library looks at its alignment only."""

POINTERS: Final = {
    "bias": _DESC.BIAS_POINTER, "drelu_bgrad": _DESC.BIAS_POINTER, "dgelu_bgrad": _DESC.BIAS_POINTER, "bgrada": _DESC.BIAS_POINTER,
    "bgradb": _DESC.BIAS_POINTER, "relu_aux": _DESC.EPILOGUE_AUX_POINTER, "gelu_aux": _DESC.EPILOGUE_AUX_POINTER,
}  # fmt: skip
"""The attribute that holds the address of an input or an auxiliary output."""

_BITS: Final = {"relu_aux": 8}
"""In which the library counts the rows of a matrix: 8 of a mask are one byte."""


class Descriptors:
    """What a product owns in the library; nothing but addresses of the epilog's matrices is set from call to call.

    Attributes
    ----------
    desc : int
        The operation.
    factors, results : pair of int
        Layouts of the matrices as they are multiplied, and of C and D.
    cells : dict
        The pointer attributes, by the name of the input or the auxiliary output.
    """

    def __init__(
        self, problem: MatmulProblem, gemm: Gemm, options: MatmulOptions, owned: list[tuple[Callable[[int], Any], int]]
    ) -> None:
        self.problem, self.gemm, self.owned = problem, gemm, owned
        self.count = prod(gemm.extents)
        self.cells: dict[str, Cell] = {}
        self.desc = self.own(
            cublasLt.matmul_desc_destroy, cublasLt.matmul_desc_create(problem.compute_type, problem.scale_type)
        )  # fmt: skip
        self.factors = self._factors()
        target = self._result(gemm.target)
        self.results = (
            target if gemm.addend is None or gemm.addend == gemm.target else self._result(gemm.addend),
            target,
        )
        self._epilog()
        if problem.narrow is not None:
            narrow.describe(self, problem.narrow)
        if options.sm_count_target:
            self.put(_DESC.SM_COUNT_TARGET, "i", options.sm_count_target)
        if options.fast_accumulation:
            self.put(_DESC.FAST_ACCUM, "b", 1)

    def own(self, destroy: Callable[[int], Any], number: int) -> int:
        """Note what is to be destroyed with the plan."""
        self.owned.append((destroy, number))
        return number

    def put(self, attribute: int, letter: str, value: Any) -> None:
        """Set an attribute of the operation."""
        put(cublasLt.matmul_desc_set_attribute, self.desc, attribute, letter, value)

    def _factors(self) -> tuple[int, int]:
        gemm, layouts = self.gemm, [0, 0]  # there are none of nothing to sum up
        sides = (gemm.first, gemm.m, gemm.k), (gemm.second, gemm.k, gemm.n)
        for index, (side, rows, cols) in enumerate(sides):
            self.put((_DESC.TRANSA, _DESC.TRANSB)[index], "i", operation(side))
            if gemm.k:
                shape = (cols, rows) if side.transposed else (rows, cols)
                layouts[index] = self.layout(side.matrix.dtype.code, shape, side.ld, side.steps)
        return layouts[0], layouts[1]

    def _result(self, side: Side) -> int:
        return self.layout(side.matrix.dtype.code, (self.gemm.m, self.gemm.n), side.ld, side.steps)

    def layout(self, code: int, shape: tuple[int, int], ld: int, steps: tuple[int, ...]) -> int:
        """Describe a column-major matrix, or a batch of them."""
        layout = self.own(cublasLt.matrix_layout_destroy, cublasLt.matrix_layout_create(code, *shape, ld))
        setter = cublasLt.matrix_layout_set_attribute
        if self.count != 1:
            put(setter, layout, _LAYOUT.BATCH_COUNT, "i", self.count)
            put(setter, layout, _LAYOUT.STRIDED_BATCH_OFFSET, "q", steps[0] if steps else 0)
        return layout

    # --- the epilog ---------------------------------------------------------------------------------------------------------------

    def _epilog(self) -> None:
        problem, gemm = self.problem, self.gemm
        if problem.epilog.code != NO_EPILOG.code:
            self.put(_DESC.EPILOGUE, "I", problem.epilog.code)
        if gemm.bias is not None:
            self._vector("bias", gemm.bias)
        if gemm.auxiliary is not None:
            self._matrix(problem.epilog.auxiliary, gemm.auxiliary)
        for (name, _), side in zip(problem.outputs, gemm.outputs, strict=True):
            if name in POINTERS:
                (self._vector if POINTERS[name] == _DESC.BIAS_POINTER else self._matrix)(name, side)

    def _vector(self, name: str, side: Side) -> None:
        if side.matrix.dtype is not self.problem.d.dtype:
            self.put(_DESC.BIAS_DATA_TYPE, "i", side.matrix.dtype.code)
        if side.steps:
            self.put(_DESC.BIAS_BATCH_STRIDE, "q", side.steps[0])
        self._cell(name, side)

    def _matrix(self, name: str, side: Side) -> None:
        unit = _BITS.get(name, 1)
        self.put(_DESC.EPILOGUE_AUX_LD, "q", side.ld * unit)
        if side.steps:
            self.put(_DESC.EPILOGUE_AUX_BATCH_STRIDE, "q", side.steps[0] * unit)
        if unit == 1 and (side.matrix.dtype is not self.problem.d.dtype or self.problem.narrow is not None):
            self.put(_DESC.EPILOGUE_AUX_DATA_TYPE, "i", side.matrix.dtype.code)
        self._cell(name, side)

    def _cell(self, name: str, side: Side) -> None:
        self.cells[name] = Cell(
            cublasLt.matmul_desc_set_attribute, self.desc, POINTERS[name], SOMEWHERE + side.matrix.alignment % 16
        )  # fmt: skip


def operation(side: Side) -> int:
    """Return the operation by which the library reads an operand; there is none that conjugates only."""
    conj = side.matrix.conj and side.matrix.dtype.kind == "c"
    assert side.transposed or not conj
    return (_C if conj else _T) if side.transposed else _N
