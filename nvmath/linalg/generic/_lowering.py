"""One problem as one column-major call of a library over a loop of batches, with the copies that make it readable.

A row-major result is computed as its transpose: ``D.T = B.T @ A.T``; what follows is said about matrices turned so. Pure functions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Final

from ..._core.layout import Ints, is_dense
from .._gemm import Capability
from .._matrix import COLUMN, ROW, Matrix, batch_order, leading_dimension, merge_batches, packed, readable
from ._problem import MatmulProblem
from ._qualifiers import GENERAL, Structure

ROUTINES: Final = {"ge": "gemm", "sy": "symm", "he": "hemm", "tr": "trmm", "dg": "diagonal"}
NOTHING: Final = "nothing"
"""The product when there is nothing to sum up: beta * C, or zeros."""


@dataclass(frozen=True, slots=True)
class Load:
    """A copy of a matrix into another layout, which may convert it, conjugate it, and write out what its structure implies."""

    name: str
    shape: Ints
    source: Matrix
    target: Matrix
    structure: Structure = GENERAL
    conj: bool = False

    @property
    def plain(self) -> bool:
        """Whether elements are copied as they are, or converted."""
        return self.structure.general and not self.conj

    @property
    def same(self) -> bool:
        """Whether source and target are one block of memory each, of the same layout."""
        alike = self.in_strides == self.out_strides and self.source.dtype is self.target.dtype
        return alike and is_dense(self.shape, self.in_strides)

    @property
    def nbytes(self) -> int:
        """Size of the dense copy."""
        return prod(self.shape) * self.target.dtype.itemsize

    @property
    def in_strides(self) -> Ints:
        """Strides that are read."""
        return (*self.source.batch_strides, self.source.row_stride, self.source.col_stride)

    @property
    def out_strides(self) -> Ints:
        """Strides that are written."""
        return (*self.target.batch_strides, self.target.row_stride, self.target.col_stride)


@dataclass(frozen=True, slots=True)
class Side:
    """A matrix as the library gets it.

    Attributes
    ----------
    name : str
        Which operand it is; "d" for the target.
    matrix : Matrix
        What it is, after turning and copying.
    transposed : bool
        Whether the library sees its transpose, in column-major order.
    ld : int
        Leading dimension.
    steps : tuple of int
        Elements from one batch entry to the next, for each loop.
    """

    name: str
    matrix: Matrix
    transposed: bool
    ld: int
    steps: Ints = ()


@dataclass(frozen=True, slots=True)
class Product:
    """``target = first @ second``, column-major, over loops of `extents`; of a structured product the first is the structured factor.

    `loads` replace operands by copies, one after the other; `seed` is then copied into the target: C, to which the product is
    added, or the factor that the product overwrites. `late` says that C is added after the product. `scratch` says that the target
    is not D; `store` copies it there.
    """

    routine: str
    m: int
    n: int
    k: int
    first: Side
    second: Side
    target: Side
    extents: Ints
    loads: tuple[Load, ...]
    seed: Load | None
    late: bool
    scratch: bool
    store: Load
    structure: Structure
    right: bool

    @property
    def alone(self) -> bool:
        """Whether the call of the library is all there is to do."""
        return not (self.loads or self.seed or self.late or self.scratch)


def lower(problem: MatmulProblem, capability: Capability) -> Product:
    """Turn a problem with a result that is not empty into one call, with copies of what the library cannot read.

    Parameters
    ----------
    problem : MatmulProblem
        What is to be computed.
    capability : Capability
        What the library can do.
    """
    return _Lowering(problem, capability).product()


class _Lowering:
    def __init__(self, problem: MatmulProblem, capability: Capability) -> None:
        self.problem, self.capability = problem, capability
        self.arithmetic = capability.arithmetic(problem.d.dtype)
        self.axes = batch_order(problem.batch, problem.d.batch_strides)
        self.loads: list[Load] = []
        self.matrices = {"a": problem.a, "b": problem.b}
        self.structures = {"a": problem.of_a, "b": problem.of_b}

    def product(self) -> Product:
        problem = self.problem
        if self.arithmetic is not problem.d.dtype and problem.k:
            for name, matrix in self.matrices.items():
                self._convert(name, matrix)
        self._write_out()
        special = next((name for name in "ab" if not self.structures[name].general), "")
        routine = ROUTINES[self.structures[special].kind if special else "ge"] if problem.k else NOTHING
        target = self._target(routine)
        if routine in (NOTHING, "diagonal") or self.capability.any_strides:
            return self._elementwise(routine, special, target)
        return self._columns(routine, special, target)

    # --- operands in another form ---------------------------------------------------------------------------------------

    def _convert(self, name: str, matrix: Matrix) -> None:
        copy = packed(matrix, matrix.order, self.problem.batch, self.axes, self.arithmetic)
        if self.structures[name].kind == "dg":
            copy = replace(copy, row_stride=1, col_stride=0, batch_strides=self._compact(matrix))
        self._load(name, matrix, copy)

    def _compact(self, matrix: Matrix) -> Ints:
        """Batch strides of dense vectors."""
        strides = [0] * len(self.problem.batch)
        step = matrix.rows
        for axis in self.axes if matrix.batched else ():
            strides[axis] = step
            step *= self.problem.batch[axis]
        return tuple(strides)

    def _write_out(self) -> None:
        """Make general matrices of structured ones for which the library has no function."""
        problem = self.problem
        special = [name for name in "ab" if not self.structures[name].general]
        if len(special) == 2:
            special = ["b" if self.structures["a"].kind == "dg" else "a"]
        elif special:
            (name,) = special
            if self.structures[name].kind == "dg" or self._offered(name):
                special = []
        for name in special if problem.k else ():
            matrix, structure = self.matrices[name], self.structures[name]
            order = problem.d.order if structure.kind == "dg" else matrix.order
            copy = packed(replace(matrix, conj=False), order, problem.batch, self.axes)
            self._load(name, matrix, copy, structure, conj=matrix.conj)
            self.structures[name] = GENERAL
            self._write_out()

    def _offered(self, name: str) -> bool:
        """Whether the library has a good function for a structured operand."""
        problem, capability, dtype = self.problem, self.capability, self.arithmetic.name
        small = prod(problem.batch) > 1 and self.matrices[name].rows < capability.loops_from
        vector = self.structures[name].kind == "tr" and (problem.n if name == "a" else problem.m) == 1
        return dtype in capability.structured and not small and not (vector and dtype in capability.weak_vectors)

    def _load(
        self,
        name: str,
        source: Matrix,
        target: Matrix,
        structure: Structure = GENERAL,
        conj: bool = False,
        turned: bool = False,
    ) -> None:
        """Copy an operand; `turned` says that the two matrices are the transposes of the operand's."""
        batch = self.problem.batch
        shape = (*(batch if source.batched else (1,) * len(batch)), *self._extents(name, target))
        self.loads.append(Load(name, shape, source, target, structure, conj))
        self.matrices[name] = target.transposed if turned else target

    def _extents(self, name: str, matrix: Matrix) -> tuple[int, int]:
        """The elements that there are: of a diagonal matrix its diagonal."""
        return (matrix.rows, 1 if matrix.col_stride == 0 and self.structures[name].kind == "dg" else matrix.cols)

    # --- the target -----------------------------------------------------------------------------------------------------

    def _target(self, routine: str) -> Matrix:
        """Return D, or a scratch layout where the library cannot write to D itself."""
        problem, d = self.problem, self.problem.d
        free = routine in (NOTHING, "diagonal") or self.capability.any_strides
        fits = self.arithmetic is d.dtype and (free or readable(d) is not None)
        if routine == "trmm" and problem.inplace:  # C is still needed when the product is there
            fits = False
        return d if fits else packed(d, d.order, problem.batch, self.axes, self.arithmetic)

    def _elementwise(self, routine: str, special: str, target: Matrix) -> Product:
        """Operands of any strides, in the order in which they were given; of a diagonal product the diagonal first."""
        problem = self.problem
        first, second = ("b", "a") if special == "b" else ("a", "b")
        sides = [Side(name, self.matrices[name], False, 0) for name in (first, second)]
        return Product(
            routine, problem.m, problem.n, problem.k, sides[0], sides[1], Side("d", target, False, 0), (), tuple(self.loads),
            None, self._late(target), target is not problem.d, self._store(target),
            self.structures[special] if special else GENERAL, special == "b",
        )  # fmt: skip

    def _late(self, target: Matrix) -> bool:
        """Whether C is added after the product: not where it is the target, since the product is added to it."""
        return self.problem.c is not None and not (self.problem.inplace and target is self.problem.d)

    def _store(self, target: Matrix) -> Load:
        problem = self.problem
        return Load("d", (*problem.batch, problem.m, problem.n), target, problem.d)

    # --- column-major calls ---------------------------------------------------------------------------------------------

    def _columns(self, routine: str, special: str, target: Matrix) -> Product:
        problem = self.problem
        swapped = self._swapped(routine, special, target)
        order = ("b", "a") if swapped else ("a", "b")
        right = bool(special) and special == order[1]
        first, second = order[::-1] if right else order
        structure = self.structures[special] if special else GENERAL
        structure = structure.turned if swapped else structure
        sides = [self._side(name, routine, name == special, swapped) for name in (first, second)]
        turned = target.transposed if swapped else target
        form = readable(target)
        assert form is not None
        sides.append(Side("d", turned, False, _ld(turned) or 1))
        extents, steps = merge_batches(problem.batch, *(side.matrix.batch_strides for side in sides[::-1]))
        sides = [replace(side, steps=step) for side, step in zip(sides, steps[::-1], strict=True)]
        if sides[0].transposed:  # the library sees the other triangle of the memory
            structure = structure.turned
        m, n = (problem.n, problem.m) if swapped else (problem.m, problem.n)
        late = routine == "trmm" and self._late(target)
        seed = self._seed(routine, target, second)
        return Product(
            routine, m, n, problem.k, sides[0], sides[1], sides[2], extents, tuple(self.loads), seed, late,
            target is not problem.d, self._store(target), structure, right,
        )  # fmt: skip

    def _swapped(self, routine: str, special: str, target: Matrix) -> bool:
        """Whether the transpose is computed: as the target wants it; if that is a vector, so that fewer operands are copied."""
        form = readable(target)
        assert form is not None
        if _ld(target) is None or _ld(target.transposed) is None:
            return form[0]
        copies = [
            sum(
                _fit(self._turn(name, way), self._role(routine, name == special), self.capability) is None
                for name in "ab"
            )
            for way in (form[0], not form[0])
        ]
        return form[0] if copies[0] <= copies[1] else not form[0]

    def _turn(self, name: str, swapped: bool) -> Matrix:
        return self.matrices[name].transposed if swapped else self.matrices[name]

    def _role(self, routine: str, special: bool) -> str:
        """How a library reads an operand."""
        if special or routine == "gemm":
            return routine
        return "any" if routine == "trmm" and self.capability.overwrites_factor else "straight"

    def _side(self, name: str, routine: str, special: bool, swapped: bool) -> Side:
        role = self._role(routine, special)
        matrix = self._turn(name, swapped)
        fit = _fit(matrix, role, self.capability)
        if fit is None:
            alone = role == "gemm"
            order = COLUMN if not alone else ROW if matrix.conj and not self.capability.lone_conj else matrix.order
            copy = packed(matrix if alone else replace(matrix, conj=False), order, self.problem.batch, self.axes)
            self._load(name, matrix, copy, conj=matrix.conj and not alone, turned=swapped)
            matrix, fit = copy, _fit(copy, role, self.capability)
            assert fit is not None
        return Side(name, matrix, *fit)

    def _seed(self, routine: str, target: Matrix, factor: str) -> Load | None:
        """What is in the target before the call."""
        problem = self.problem
        if routine == "trmm":
            if not self.capability.overwrites_factor:
                return None
            source = self.matrices[factor]
            return Load(factor, (*problem.batch, problem.m, problem.n), source, target, conj=source.conj)
        if problem.c is None or (problem.inplace and target is problem.d):
            return None
        return Load("c", (*problem.batch, problem.m, problem.n), problem.c, target)


def _ld(matrix: Matrix) -> int | None:
    """Return the leading dimension by which a column-major library reads a matrix as it is."""
    return leading_dimension(matrix.rows, matrix.cols, matrix.row_stride, matrix.col_stride)


def _fit(matrix: Matrix, role: str, capability: Capability) -> tuple[bool, int] | None:
    """Return whether a library must transpose an operand, and its leading dimension; None when it must be copied.

    The conjugate of a Hermitian matrix is its transpose, so memory in the other order is what a conjugated one needs.
    """
    straight, turned, conj = _ld(matrix), _ld(matrix.transposed), matrix.conj
    if role == "any":
        return False, 1
    if role == "straight":
        turned = None
    if role == "hemm":
        straight, turned = (None, turned) if conj else (straight, None)
    elif role == "symm":
        straight, turned = (None, None) if conj else (straight, turned)
    elif conj and not (role == "gemm" and capability.lone_conj):
        straight = None
    if straight is not None and (turned is None or matrix.order == COLUMN):
        return False, straight
    return None if turned is None else (True, turned)
