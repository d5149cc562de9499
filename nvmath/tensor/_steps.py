"""The steps of which a contraction on the CPU consists, over numbered buffers: inputs, addend, scratch, and the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .._core.dtypes import DType
from .._core.layout import Ints

OUT: Final = -1
"""The number of the result's buffer."""


@dataclass(frozen=True, slots=True)
class Copy:
    """target = source, conjugated, converted or rounded to the values of a narrower format; strides in elements."""

    source: int
    target: int
    extents: Ints
    source_strides: Ints
    target_strides: Ints
    source_dtype: DType
    target_dtype: DType
    conj: bool = False
    rounding: str = ""


@dataclass(frozen=True, slots=True)
class Sum:
    """target = sum of source over its last `count` modes."""

    source: int
    target: int
    extents: Ints
    source_strides: Ints
    target_strides: Ints
    count: int


@dataclass(frozen=True, slots=True)
class Product:
    """target = a * b, element by element; strides of 0 broadcast."""

    a: int
    b: int
    target: int
    extents: Ints
    a_strides: Ints
    b_strides: Ints
    target_strides: Ints


@dataclass(frozen=True, slots=True)
class Matrix:
    """How BLAS reads an operand: row-major, or the transpose of a row-major matrix; its leading dimension; strides of the batch."""

    buffer: int
    transposed: bool
    ld: int
    batch: Ints
    conj: bool = False


@dataclass(frozen=True, slots=True)
class Gemm:
    """target = a @ b for every index of the batch; the target is row-major, and the last mode of the batch is summed if it lacks that."""

    a: Matrix
    b: Matrix
    target: Matrix
    m: int
    n: int
    k: int
    batch: Ints

    @property
    def sums(self) -> bool:
        """Whether the products of the last mode of the batch are added."""
        return bool(self.batch) and self.target.batch[-1] == 0


@dataclass(frozen=True, slots=True)
class Finish:
    """result = alpha * source + beta * addend, where alpha may have been applied already."""

    source: int
    source_strides: Ints
    scaled: bool


Step = Copy | Sum | Product | Gemm | Finish


@dataclass(frozen=True, slots=True)
class Program:
    """What computes a problem; `direct` says that the last product writes the result itself."""

    steps: tuple[Step, ...]
    scratch: Ints  # elements of each scratch buffer; the first has number `first`
    first: int
    work: DType
    direct: bool
    scaled: bool  # the last product applies alpha
    moved: int  # elements copied, each weighted with how far the copy must step

    @property
    def scratch_nbytes(self) -> int:
        """Bytes of all scratch buffers."""
        return sum(self.scratch) * self.work.itemsize


@dataclass(frozen=True, slots=True)
class Piece:
    """An operand, or a product of some, in a buffer."""

    buffer: int
    modes: Ints
    strides: Ints
    conj: bool = False

    def stride(self, mode: int) -> int:
        """Return the stride of a mode, 0 where the operand does not have it."""
        return self.strides[self.modes.index(mode)] if mode in self.modes else 0
