"""One problem as one column-major GEMM over a loop of batches, with the copies that make it readable.

A row-major result is computed as its transpose: ``D.T = B.T @ A.T``. Pure functions; the libraries differ in a few capabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from ..._core.dtypes import DType
from ..._core.layout import Ints
from .._matrix import COLUMN, ROW, Matrix, batch_order, leading_dimension, merge_batches, packed, readable
from ._epilogs import AUXILIARIES
from ._integers import INT8
from ._narrow import FP4
from ._narrow_descriptors import scale_moves
from ._problem import MatmulProblem


@dataclass(frozen=True, slots=True)
class Capability:
    """What a library can do by itself.

    Attributes
    ----------
    separate_addend : bool
        Read C from memory of its own; else C is copied into D first.
    single_batch : bool
        Batches with one stride for each operand only; else any loop.
    column_epilogs : bool
        Epilogs with a bias write a column-major result only.
    lone_conj : bool
        Conjugate an operand that is not transposed too; else conjugate transposes only.
    addressed_outputs : bool
        Auxiliary matrices are read and written by the GEMM itself; else by what follows it.
    """

    separate_addend: bool
    single_batch: bool
    column_epilogs: bool
    lone_conj: bool = True
    addressed_outputs: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """A copy between two layouts of one matrix, which may convert the dtype."""

    shape: Ints
    source: Matrix
    target: Matrix

    @property
    def nbytes(self) -> int:
        """Size of the dense copy: of the side that is not the caller's, which is the larger one where they differ."""
        count = max(
            prod(self.shape), self.target.rows * self.target.row_stride, self.target.cols * self.target.col_stride
        )
        return count * max(self.source.dtype.itemsize, self.target.dtype.itemsize)

    @property
    def in_strides(self) -> Ints:
        """Strides that are read: one column serves all columns of the target."""
        col = 0 if self.source.cols != self.target.cols else self.source.col_stride
        return (*self.source.batch_strides, self.source.row_stride, col)

    @property
    def out_strides(self) -> Ints:
        """Strides that are written."""
        return (*self.target.batch_strides, self.target.row_stride, self.target.col_stride)


@dataclass(frozen=True, slots=True)
class Side:
    """A matrix as the library gets it.

    Attributes
    ----------
    matrix : Matrix
        What it is, after swapping and copying.
    transposed : bool
        Whether the library sees its transpose, in column-major order.
    ld : int
        Leading dimension; 0 for one column that serves all.
    steps : tuple of int
        Elements from one batch entry to the next, for each loop.
    """

    matrix: Matrix
    transposed: bool
    ld: int
    steps: Ints


@dataclass(frozen=True, slots=True)
class Gemm:
    """``target = first @ second + addend``, all column-major, over loops of `extents`.

    `loads` are copies of operands, by name, that come first; `fill` copies C into the target; `store` copies a scratch target to where
    D belongs. `auxiliary` is what an epilog reads, `outputs` what it gives besides D.
    """

    m: int
    n: int
    k: int
    swapped: bool
    first: Side
    second: Side
    addend: Side | None
    target: Side
    bias: Side | None
    auxiliary: Side | None
    outputs: tuple[Side, ...]
    extents: Ints
    loads: tuple[tuple[str, Move], ...]
    fill: Move | None
    store: Move | None


def lower(problem: MatmulProblem, capability: Capability, arithmetic: DType | None = None) -> Gemm:
    """Turn a problem into one call of a GEMM, with copies of what the library cannot read.

    Parameters
    ----------
    problem : MatmulProblem
        What is to be computed.
    capability : Capability
        What the library can do.
    arithmetic : DType, optional
        The dtype to which every operand is converted; by default they are taken as they are.
    """
    return _Lowering(problem, capability, arithmetic).gemm()


_FORCED: Final = {"BGRADA": {"a": False}, "BGRADB": {"b": True}}
"""Whether a library that sums an operand up reads it transposed, by epilog and operand."""


class _Lowering:
    def __init__(self, problem: MatmulProblem, capability: Capability, arithmetic: DType | None) -> None:
        self.problem, self.capability, self.arithmetic = problem, capability, arithmetic
        self.axes = batch_order(problem.batch, problem.d.batch_strides)
        self.loads: dict[str, Move] = {}
        self.upright = problem.epilog.column and capability.column_epilogs
        self.upright = self.upright or (problem.addend_is_column and capability.separate_addend)
        self.forced = _FORCED.get(problem.epilog.name, {}) if capability.column_epilogs else {}
        small = problem.narrow is not None or problem.a.dtype is INT8
        self.k_inner = small and capability.column_epilogs  # such factors have one layout only

    def gemm(self) -> Gemm:
        problem = self.problem
        target = self._target()
        store = None if target is problem.d else self._move(target, problem.d)
        swapped = self._swapped(target)
        a, b = (self._readable(name, matrix, target, swapped) for name, matrix in (("a", problem.a), ("b", problem.b)))
        fill, c = self._addend(target, swapped)
        bias, auxiliary = self._bias(target), self._auxiliary(target)
        outputs = tuple(matrix for _, matrix in problem.outputs)
        beside_d = (bias, auxiliary, *outputs) if self.capability.addressed_outputs else ()
        present = [each for each in (target, a, b, c, *beside_d) if each is not None]
        extents, steps = merge_batches(problem.batch, *(each.batch_strides for each in present))
        step_of = {id(each): step for each, step in zip(present, steps, strict=True)}

        def factor(name: str, matrix: Matrix) -> Side:
            turned = matrix.transposed if swapped else matrix
            transposed = True if self._turns(turned) else self.forced.get(name)
            if self.k_inner:
                transposed = (name == "a") != swapped
            if transposed is None:
                form = readable(turned)
                assert form is not None
                return Side(turned, *form, step_of[id(matrix)])
            ld = _ld(turned.transposed if transposed else turned)
            assert ld is not None
            return Side(turned, transposed, ld, step_of[id(matrix)])

        def straight(matrix: Matrix) -> Side:
            turned = matrix.transposed if swapped else matrix
            ld = 0 if matrix.cols != problem.n else _ld(turned)
            assert ld is not None
            return Side(turned, False, ld, step_of[id(matrix)])

        def beside(matrix: Matrix | None) -> Side | None:
            return None if matrix is None else Side(matrix, False, _ld(matrix) or 0, step_of.get(id(matrix), ()))

        if self.k_inner and problem.narrow is not None:
            self.loads.update(
                (name, Move((one.rows, one.cols), one, other)) for name, one, other in scale_moves(problem.narrow)
            )
        sides = factor("a", a), factor("b", b)
        first, second = sides[::-1] if swapped else sides
        m, n = (problem.n, problem.m) if swapped else (problem.m, problem.n)
        return Gemm(
            m, n, problem.k, swapped, first, second, None if c is None else straight(c), straight(target), beside(bias),
            beside(auxiliary), tuple(Side(each, False, each.rows, step_of.get(id(each), ())) for each in outputs), extents,
            tuple(self.loads.items()), fill, store,
        )  # fmt: skip

    def _bias(self, target: Matrix) -> Matrix | None:
        bias = self.problem.bias
        if bias is None:
            return None
        if not self.capability.column_epilogs:
            return self._converted("bias", bias)
        return self._loop(
            "bias", bias if bias.row_stride == 1 or bias.rows == 1 else self._pack("bias", bias, COLUMN), target
        )

    def _auxiliary(self, target: Matrix) -> Matrix | None:
        given, name = self.problem.auxiliary, self.problem.epilog.auxiliary
        if given is None:
            return None
        if not self.capability.addressed_outputs:
            return given if given.dtype.kind == "u" else self._converted(name, given)
        ld = _ld(given)
        fits = ld is not None and ld % AUXILIARIES[name].unit == 0
        return self._loop(name, given if fits else self._pack(name, given, COLUMN), target)

    def _converted(self, name: str, matrix: Matrix) -> Matrix:
        """Copy an operand to the dtype of the arithmetic, if it has another."""
        fits = self.arithmetic is None or matrix.dtype is self.arithmetic
        return matrix if fits else self._pack(name, matrix, COLUMN)

    def _target(self) -> Matrix:
        """Return D, or a scratch layout where the library cannot write to D itself."""
        d, dtype = self.problem.d, self.arithmetic or self.problem.d.dtype
        fits = dtype is d.dtype and readable(d) is not None
        if self.upright:
            fits = fits and _ld(d) is not None
        if self.capability.single_batch:
            fits = fits and self._one_step(d.batch_strides)
        order = COLUMN if self.upright else d.order
        return d if fits else packed(d, order, self.problem.batch, self.axes, dtype)

    def _swapped(self, target: Matrix) -> bool:
        """Whether the transpose is computed: as the target wants it; if that is a vector, so that fewer operands are copied."""
        if self.upright:
            return False
        form = readable(target)
        assert form is not None
        swapped = form[0]
        if _ld(target) is None or _ld(target.transposed) is None:
            return swapped
        copies = [
            sum(not self._conjugable(each, way) for each in (self.problem.a, self.problem.b))
            for way in (swapped, not swapped)
        ]
        return swapped if copies[0] <= copies[1] else not swapped

    def _turns(self, matrix: Matrix) -> bool:
        """Whether the library can only read the matrix transposed, since it conjugates no other way."""
        return matrix.conj and matrix.dtype.kind == "c" and not self.capability.lone_conj

    def _conjugable(self, matrix: Matrix, swapped: bool) -> bool:
        return not self._turns(matrix) or _ld(matrix if swapped else matrix.transposed) is not None

    def _addend(self, target: Matrix, swapped: bool) -> tuple[Move | None, Matrix | None]:
        """Return the copy of C into the target, and the addend that the library reads."""
        problem, c = self.problem, self.problem.c
        if c is None:
            return None, None
        if problem.inplace and target is problem.d:
            return None, target if self.capability.separate_addend else None
        if problem.inplace or not self.capability.separate_addend:
            return self._move(c, target), target if self.capability.separate_addend else None
        column = c.row_stride == 1 or c.rows == 1
        fits = column if problem.addend_is_column else _ld(c.transposed if swapped else c) is not None
        return None, self._loop("c", c if fits else self._pack("c", c, ROW if swapped else COLUMN), target)

    def _readable(self, name: str, matrix: Matrix, target: Matrix, swapped: bool) -> Matrix:
        dtype = self.arithmetic or matrix.dtype
        order, fits = matrix.order, readable(matrix) is not None
        if self._turns(matrix):
            order = COLUMN if swapped else ROW
        elif name in self.forced:
            order = ROW if self.forced[name] else COLUMN
            fits = _ld(matrix.transposed if self.forced[name] else matrix) is not None
        if self.k_inner:
            order, fits = (ROW, _aligned(matrix.transposed)) if name == "a" else (COLUMN, _aligned(matrix))
        if not fits or dtype is not matrix.dtype or not self._conjugable(matrix, swapped):
            matrix = self._pack(name, matrix, order)
        return self._loop(name, matrix, target, order)

    def _loop(self, name: str, matrix: Matrix, target: Matrix, order: str | None = None) -> Matrix:
        """Copy an operand whose batches cannot be walked together with those of the target."""
        if not self.capability.single_batch or not matrix.batched or name in self.loads:
            return matrix
        fits = self._one_step(target.batch_strides, matrix.batch_strides)
        return matrix if fits else self._pack(name, matrix, order or matrix.order)

    def _one_step(self, *strides: Ints) -> bool:
        """Whether each operand goes from one batch entry to the next, in one loop, by one stride that is not negative."""
        extents, steps = merge_batches(self.problem.batch, *strides)
        return len(extents) <= 1 and all(step >= 0 for each in steps for step in each)

    def _pack(self, name: str, matrix: Matrix, order: str) -> Matrix:
        if matrix.dtype is FP4:
            raise ValueError(
                f"The FP4 operand {name} has batches that the library cannot walk in one loop, and FP4 is not copied. Make it contiguous."
            )
        dtype = None if matrix.dtype.kind == "u" else self.arithmetic
        copy = packed(matrix, order, self.problem.batch, self.axes, dtype)
        self.loads[name] = self._move(matrix, copy)
        return copy

    def _move(self, source: Matrix, target: Matrix) -> Move:
        batch = self.problem.batch
        shape = (*(batch if target.batched else (1,) * len(batch)), target.rows, target.cols)
        return Move(shape, source, target)


def _ld(matrix: Matrix) -> int | None:
    """Return the leading dimension by which a column-major library reads a matrix as it is."""
    return leading_dimension(matrix.rows, matrix.cols, matrix.row_stride, matrix.col_stride)


def _aligned(matrix: Matrix) -> bool:
    """Whether columns of narrow values are contiguous and begin where the library can read them."""
    ld, unit = _ld(matrix), 4 if matrix.dtype is INT8 else 16
    return ld is not None and ld % unit == 0 and all(step % unit == 0 for step in matrix.batch_strides)
