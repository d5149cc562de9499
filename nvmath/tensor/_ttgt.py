"""Contractions on the CPU: transpose, matrix product, transpose, with every step planned.

A problem is lowered to a program of steps over numbered buffers. Transposes are left out wherever the modes of an operand already
merge to a matrix that BLAS can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from .._core.dtypes import DTYPES, DType
from .._core.layout import Ints, contiguous
from ._problem import ContractionProblem, Tensor
from ._steps import OUT, Copy, Finish, Gemm, Matrix, Piece, Product, Program, Step, Sum

_WORK: Final = {
    # (dtype, compute type): dtype of the arithmetic, where it is not that of the operands
    ("float16", "32F"): "float32", ("bfloat16", "32F"): "float32", ("float64", "32F"): "float32", ("complex128", "32F"): "complex64",
}  # fmt: skip
_STEPPING: Final = 3
"""How much more a copy costs whose reads or writes are not next to each other."""
_LOOPED_FROM: Final = 1 << 20
"""Multiplications of one matrix product from which a loop over such products can pay: its threads have enough to do."""
ROUNDED: Final = ("16F", "16BF", "TF32")
"""Compute types whose operands are rounded to fewer bits; the others are as good as the arithmetic of the CPU."""

Orders = tuple[Ints, Ints, Ints]
"""Of the rows, the columns and the summed modes of a matrix product, the fastest last."""
Form = tuple[int, Orders, list[int]]
"""Elements copied or added once more, the orders, and the summed mode that is looped over, if one is."""


@dataclass(slots=True)
class _Lowering:
    problem: ContractionProblem
    conjugates: bool
    work: DType
    first: int
    steps: list[Step] = field(default_factory=list)
    scratch: list[int] = field(default_factory=list)
    moved: int = 0

    def extents(self, modes: Iterable[int]) -> Ints:
        return tuple(self.problem.extents[mode] for mode in modes)

    def size(self, modes: Iterable[int]) -> int:
        return prod(self.extents(modes))

    def new(self, modes: Sequence[int]) -> Piece:
        """A dense piece in scratch, the last mode the fastest."""
        self.scratch.append(self.size(modes))
        return Piece(self.first + len(self.scratch) - 1, tuple(modes), contiguous(self.extents(modes)))

    def copy(self, piece: Piece, modes: Sequence[int]) -> Piece:
        """Copy a piece so that its modes lie in an order, conjugated if it is to be."""
        target = self.new(modes)
        strides = tuple(piece.stride(mode) for mode in modes)
        self.steps.append(
            Copy(piece.buffer, target.buffer, self.extents(modes), strides, target.strides, self.work, self.work, piece.conj)
        )
        return target

    def read(self, number: int, tensor: Tensor) -> Piece:
        """An input as a piece, converted or rounded where the arithmetic is not that of its dtype."""
        piece = Piece(number, tensor.modes, tensor.strides, tensor.conj)
        rounding = self.problem.compute if self.problem.compute in ROUNDED else ""
        if self.work is self.problem.dtype and not rounding:
            return piece
        modes = _by_stride(piece)
        target = self.new(modes)
        strides = tuple(piece.stride(mode) for mode in modes)
        self.steps.append(
            Copy(number, target.buffer, self.extents(modes), strides, target.strides, self.problem.dtype, self.work, False, rounding)
        )
        return Piece(target.buffer, target.modes, target.strides, tensor.conj)

    def reduce(self, piece: Piece, keep: Iterable[int]) -> Piece:
        """Sum over the modes that nobody else has."""
        wanted = set(keep)
        gone = [mode for mode in piece.modes if mode not in wanted]
        if not gone:
            return piece
        rest = [mode for mode in _by_stride(piece) if mode in wanted]
        order = (*rest, *gone)
        target = self.new(rest)
        strides = tuple(piece.stride(mode) for mode in order)
        self.steps.append(Sum(piece.buffer, target.buffer, self.extents(order), strides, target.strides, len(gone)))
        return Piece(target.buffer, target.modes, target.strides, piece.conj)

    def pair(self, a: Piece, b: Piece, keep: Iterable[int], target: Piece | None) -> Piece:
        """Contract two pieces, into a given target if its layout allows, else into scratch."""
        kept = set(keep)
        a = self.reduce(a, {*b.modes, *kept})
        b = self.reduce(b, {*a.modes, *kept})
        summed = [mode for mode in a.modes if mode in b.modes and mode not in kept]
        return self.matrix_product(a, b, summed, target) if summed else self.product(a, b, target)

    def product(self, a: Piece, b: Piece, target: Piece | None) -> Piece:
        a, b = (self.copy(piece, _by_stride(piece)) if piece.conj else piece for piece in (a, b))
        if target is None:
            target = self.new((*(m for m in a.modes if m in b.modes), *(m for m in a.modes if m not in b.modes),
                               *(m for m in b.modes if m not in a.modes)))  # fmt: skip
        modes = _by_stride(target)
        strides = (tuple(piece.stride(mode) for mode in modes) for piece in (a, b, target))
        self.steps.append(Product(a.buffer, b.buffer, target.buffer, self.extents(modes), *strides))
        return target

    def matrix_product(self, a: Piece, b: Piece, summed: list[int], target: Piece | None) -> Piece:
        batch = [m for m in a.modes if m in b.modes and m not in summed]
        rows = [m for m in a.modes if m not in b.modes]
        columns = [m for m in b.modes if m not in a.modes]
        if not self.conjugates:
            a, b = (self.copy(piece, _by_stride(piece)) if piece.conj else piece for piece in (a, b))
        moved, orders = self.best_orders(a, b, target, rows, columns, summed)
        looped: list[int] = []
        if moved and self.conjugates and rows and columns:
            moved, orders, looped = self.best_loop(a, b, target, rows, columns, summed, (moved, orders, looped))
        self.moved += moved
        m_order, n_order, k_order = orders
        a = self.as_matrix(a, [*batch, *looped], m_order, k_order)
        b = self.as_matrix(b, [*batch, *looped], k_order, n_order)
        if target is None or self.matrix(target, m_order, n_order) is None:
            target = self.new((*batch, *m_order, *n_order))
        self.emit(a, b, target, [*batch, *looped], orders)
        return target

    def emit(self, a: Piece, b: Piece, target: Piece, batch: list[int], orders: Orders) -> None:
        m_order, n_order, k_order = orders
        batch = sorted(batch, key=lambda mode: -abs(target.stride(mode)))
        matrices = []
        for piece, rows, columns in ((a, m_order, k_order), (b, k_order, n_order), (target, m_order, n_order)):
            found = self.matrix(piece, rows, columns)
            assert found is not None
            steps = tuple(piece.stride(mode) for mode in batch)
            matrices.append(Matrix(piece.buffer, found[0], found[1], steps, piece.conj))
        m, n, k = self.size(m_order), self.size(n_order), self.size(k_order)
        left, right, result = matrices
        if result.transposed:  # C = A B is C' = B' A'
            left, right, m, n = _transposed(right), _transposed(left), n, m
            result = Matrix(result.buffer, False, result.ld, result.batch)
        self.steps.append(Gemm(left, right, result, m, n, k, self.extents(batch)))

    def as_matrix(self, piece: Piece, batch: list[int], rows: Ints, columns: Ints) -> Piece:
        if self.matrix(piece, rows, columns) is not None:
            return piece
        fastest = _by_stride(piece)[-1]
        conj = piece.conj and self.conjugates
        order = (*batch, *columns, *rows) if fastest in rows else (*batch, *rows, *columns)
        copied = self.copy(Piece(piece.buffer, piece.modes, piece.strides), order)
        return Piece(copied.buffer, copied.modes, copied.strides, conj)

    def best_orders(
        self, a: Piece, b: Piece, target: Piece | None, rows: list[int], columns: list[int], summed: list[int]
    ) -> tuple[int, Orders]:
        """How much must be copied at least, and in which orders of the rows, the columns and the summed modes."""

        def in_order_of(modes: list[int], *pieces: Piece | None) -> list[Ints]:
            orders = (tuple(m for m in _by_stride(piece) if m in modes) for piece in pieces if piece is not None)
            return list(dict.fromkeys(orders))

        def cost(orders: Orders) -> int:
            m, n, k = orders
            total = self.copy_cost(a, m, k) + self.copy_cost(b, k, n)
            if target is not None and self.matrix(target, m, n) is None:
                total += 2 * self.size(target.modes)
            return total

        choices = product(in_order_of(rows, a, target), in_order_of(columns, b, target), in_order_of(summed, a, b))
        return min(((cost(orders), orders) for orders in choices), key=lambda choice: choice[0])

    def best_loop(
        self, a: Piece, b: Piece, target: Piece | None, rows: list[int], columns: list[int], summed: list[int], plain: Form
    ) -> Form:
        """Leave out copies by adding the products for each index of one summed mode, where to add costs less than to copy."""
        best, area = plain, self.size(rows) * self.size(columns)
        batch = self.size(mode for mode in a.modes if mode in b.modes and mode not in summed)
        for mode in summed:
            rest = [other for other in summed if other != mode]
            if area * self.size(rest) >= _LOOPED_FROM:
                moved, orders = self.best_orders(a, b, target, rows, columns, rest)
                moved += (self.problem.extents[mode] - 1) * area * batch
                best = min(best, (moved, orders, [mode]), key=lambda form: form[0])
        return best

    def copy_cost(self, piece: Piece, rows: Ints, columns: Ints) -> int:
        """What it costs to make a matrix of a piece: nothing, its size, or more where the copy must step through memory."""
        if self.matrix(piece, rows, columns) is not None:
            return 0
        fastest = _by_stride(piece)[-1]
        group = rows if fastest in rows else columns
        return self.size(piece.modes) * (1 if group[-1:] == (fastest,) else _STEPPING)

    def matrix(self, piece: Piece, rows: Ints, columns: Ints) -> tuple[bool, int] | None:
        """Return (transposed, leading dimension) if BLAS can read a piece as a matrix, else None."""
        row, column = self.merged(piece, rows), self.merged(piece, columns)
        if row is None or column is None:
            return None
        (m, row_stride), (n, column_stride) = row, column
        if n == 1 or column_stride == 1:
            ld = n if m == 1 else row_stride
            if ld >= n:
                return False, ld
        if m == 1 or row_stride == 1:
            ld = m if n == 1 else column_stride
            if ld >= m:
                return True, ld
        return None

    def merged(self, piece: Piece, modes: Ints) -> tuple[int, int] | None:
        """Return extent and stride of modes walked as one, the last the fastest, or None."""
        if not modes:
            return 1, 1
        extent, stride = 1, piece.stride(modes[-1])
        for mode in reversed(modes):
            if piece.stride(mode) != stride * extent:
                return None
            extent *= self.problem.extents[mode]
        return extent, stride


def _by_stride(piece: Piece) -> Ints:
    """The modes of a piece, the fastest last."""
    return tuple(mode for _, mode in sorted(zip(piece.strides, piece.modes, strict=True), key=lambda pair: -abs(pair[0])))


def _transposed(matrix: Matrix) -> Matrix:
    return Matrix(matrix.buffer, not matrix.transposed, matrix.ld, matrix.batch, matrix.conj)


def lower(problem: ContractionProblem, conjugates: bool) -> Program:
    """Turn a problem into a program.

    Parameters
    ----------
    problem : ContractionProblem
        What to compute; it has something to sum over and a result that is not empty.
    conjugates : bool
        Whether matrix products conjugate their operands without a copy.
    """
    turns = (False, True) if len(problem.inputs) == 3 else (False,)
    return min((_lowered(problem, conjugates, turned) for turned in turns), key=lambda program: program.moved)


def _lowered(problem: ContractionProblem, conjugates: bool, turned: bool) -> Program:
    """The program; of three operands, the product of the first two is made transposed if it is to be turned."""
    work = DTYPES[_WORK.get((problem.dtype.name, problem.compute), problem.dtype.name)]
    first = len(problem.inputs) + (problem.addend is not None)
    lowering = _Lowering(problem, conjugates, work, first)
    output = problem.output
    target = Piece(OUT, output.modes, output.strides) if work is problem.dtype else None
    pieces = [lowering.read(number, tensor) for number, tensor in enumerate(problem.inputs)]
    kept = set(output.modes)
    if len(pieces) == 1:
        result, wanted = lowering.reduce(pieces[0], kept), None
        result = lowering.copy(result, _by_stride(result)) if result.conj else result
    else:
        if len(pieces) == 3:
            x, y, z = _best_pair(lowering, pieces, kept)
            x, y = lowering.reduce(x, {*y.modes, *z.modes, *kept}), lowering.reduce(y, {*x.modes, *z.modes, *kept})
            x, y = (y, x) if turned else (x, y)
            pieces = [lowering.pair(x, y, {*z.modes, *kept}, None), z]
        # A sum of products goes to the result directly; an addend may be the result, so a plain product must not.
        wanted = target if problem.addend is None or _sums(pieces, kept) else None
        result = lowering.pair(pieces[0], pieces[1], kept, wanted)
    scaled = bool(lowering.steps) and isinstance(lowering.steps[-1], Gemm) and work.name == problem.scalar
    direct = result.buffer == OUT
    if not direct:
        lowering.steps.append(Finish(result.buffer, tuple(result.stride(mode) for mode in output.modes), scaled))
    elif not scaled:
        lowering.steps.append(Finish(OUT, output.strides, False))
    return Program(tuple(lowering.steps), tuple(lowering.scratch), first, work, direct and scaled, scaled, lowering.moved)


def _sums(pieces: list[Piece], kept: set[int]) -> bool:
    return any(mode in pieces[1].modes and mode not in kept for mode in pieces[0].modes)


def _best_pair(lowering: _Lowering, pieces: list[Piece], kept: set[int]) -> tuple[Piece, Piece, Piece]:
    """The two operands to contract first, and the third: the choice with the fewest multiplications."""

    def cost(order: tuple[int, int, int]) -> int:
        x, y, z = (set(pieces[i].modes) for i in order)
        x, y = x & (y | z | kept), y & (x | z | kept)
        between = (x | y) & (z | kept)
        return lowering.size(x | y) + lowering.size(between | (z & (between | kept)))

    first, second, last = min(((0, 1, 2), (0, 2, 1), (1, 2, 0)), key=cost)
    return pieces[first], pieces[second], pieces[last]
