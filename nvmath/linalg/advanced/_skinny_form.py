"""Products that the memory bounds, as our own kernel sees them: one long side, a small factor that every thread block keeps.

A problem whose N is long is computed as its transpose. Pure functions on metadata: which products the kernel can do, and for which of
them it can be worth measuring.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from ..._core.layout import Ints
from .._matrix import Matrix, merge_batches
from ._epilogs import Epilog
from ._finish_source import VALUE
from ._options import MatmulComputeType
from ._preferences import MatmulNumericalImplFlags as Flags
from ._preferences import MatmulPlanPreferences
from ._problem import MatmulProblem

MOST_SHORT: Final = 128
MOST_K: Final = 64
_LEAST_NBYTES: Final = 16 << 20
"""Below, starting a kernel takes as long as what could be saved."""

_FLOPS_PER_BYTE: Final = {"float": 8, "double": 4, "float2": 8, "double2": 4}
"""Up to which the memory bounds a product that is not done by tensor cores: about half of what an H200 could do."""

_ACTIVATIONS: Final = ("", "relu", "gelu", "tanh", "sigmoid", "silu")
_NEEDED: Final = {
    "float16": Flags.OP_TYPE_FMA | Flags.ACCUMULATOR_32F | Flags.INPUT_TYPE_16F,
    "bfloat16": Flags.OP_TYPE_FMA | Flags.ACCUMULATOR_32F | Flags.INPUT_TYPE_16BF,
    "float32": Flags.OP_TYPE_FMA | Flags.ACCUMULATOR_32F | Flags.INPUT_TYPE_32F,
    "float64": Flags.OP_TYPE_FMA | Flags.ACCUMULATOR_64F | Flags.INPUT_TYPE_64F,
    "complex64": Flags.OP_TYPE_FMA | Flags.ACCUMULATOR_32F | Flags.INPUT_TYPE_32F,
    "complex128": Flags.OP_TYPE_FMA | Flags.ACCUMULATOR_64F | Flags.INPUT_TYPE_64F,
}
"""What the kernel is, in the words of ``numerical_impl_mask``."""

_ROUGH: Final = (MatmulComputeType.COMPUTE_16F, MatmulComputeType.COMPUTE_16F_PEDANTIC)


@dataclass(frozen=True, slots=True)
class Strip:
    """A matrix with a long side: elements from one to the next along the long and along the short side, 0 where one serves all."""

    matrix: Matrix
    long: int
    short: int


@dataclass(frozen=True, slots=True)
class Form:
    """``D[l, s] = F(alpha * sum over k of X[l, k] * Y[k, s] + beta * C[l, s] + bias)``.

    Attributes
    ----------
    length, short, k : int
        The extents.
    swapped : bool
        Whether X is the transpose of B, since N is the long side.
    x, d, c, bias : Strip
        The matrices with a long side; the short side of X is K.
    y : Matrix
        The small factor, K rows.
    epilog : Epilog
        Its row.
    """

    length: int
    short: int
    k: int
    swapped: bool
    x: Strip
    y: Matrix
    d: Strip
    c: Strip | None
    bias: Strip | None
    epilog: Epilog

    @property
    def value(self) -> str:
        """The type in CUDA C++ in which it is computed."""
        return VALUE[self.y.dtype.name]

    @property
    def nbytes(self) -> int:
        """Bytes that must be read and written, whoever computes it."""
        one = self.x.matrix.dtype.itemsize * self.k + self.d.matrix.dtype.itemsize * self.short
        if self.c is not None and self.c.long:
            one += self.c.matrix.dtype.itemsize * (self.short if self.c.short else 1)
        return self.length * one

    @property
    def flops(self) -> int:
        """Multiplications and additions of real numbers."""
        return 2 * self.length * self.short * self.k * (4 if self.value.endswith("2") else 1)


def form_of(problem: MatmulProblem) -> Form | None:
    """Return a product as the kernel computes it, or None when it cannot."""
    if not _possible(problem):
        return None
    for swapped in (problem.m < problem.n, problem.m >= problem.n):
        form = _form(problem, swapped)
        if form is not None:
            return form
    return None


def worth(form: Form, preferences: MatmulPlanPreferences) -> bool:
    """Whether the memory bounds a product, it takes long enough to matter, and the preferences allow for the kernel."""
    needed = _NEEDED[form.y.dtype.name]
    mask, waves = int(preferences.numerical_impl_mask or 0), preferences.max_waves_count or 0.0
    if mask & needed != needed or 0 < waves < 1:
        return False
    return form.nbytes >= _LEAST_NBYTES and form.flops <= _FLOPS_PER_BYTE[form.value] * form.nbytes


def _possible(problem: MatmulProblem) -> bool:
    """Whether dtypes and epilog are the kernel's."""
    epilog, kind = problem.epilog, problem.a.dtype
    if problem.narrow is not None or kind.name not in _NEEDED or problem.b.dtype is not kind:
        return False
    if (
        problem.outputs
        or problem.auxiliary is not None
        or epilog.function is not None
        or problem.compute_type in _ROUGH
    ):
        return False
    others = [each.dtype for each in (problem.c, problem.d, problem.bias) if each is not None]
    return (
        epilog.activation in _ACTIVATIONS and all(each.name in VALUE and each.kind == kind.kind for each in others)
        and not problem.empty and problem.k > 0
    )  # fmt: skip


def _form(problem: MatmulProblem, swapped: bool) -> Form | None:
    """The product, or its transpose, with the batch axes joined to the long side; None when that cannot be."""
    x, y, d = (problem.b, problem.a, problem.d) if swapped else (problem.a, problem.b, problem.d)
    if swapped:
        x, y, d = x.transposed, y.transposed, d.transposed
    if y.batched or x.cols > MOST_K or y.cols > MOST_SHORT:
        return None
    strips: list[tuple[Matrix, int, int]] = [(d, d.row_stride, d.col_stride), (x, x.row_stride, x.col_stride)]
    c, bias = problem.c, problem.bias
    if c is not None:
        row, column = c.row_stride, 0 if problem.addend_is_column else c.col_stride
        strips.append((c, column, row) if swapped else (c, row, column))
    if bias is not None:
        strips.append((bias, 0, bias.row_stride) if swapped else (bias, bias.row_stride, 0))
    joined = _joined((*problem.batch, x.rows), strips)
    if joined is None:
        return None
    length, found = joined
    if 1 not in (found[0].long, found[0].short):
        return None
    rest = iter(found[2:])
    addend, vector = (next(rest) if each is not None else None for each in (c, bias))
    return Form(length, y.cols, x.cols, swapped, found[1], y, found[0], addend, vector, problem.epilog)


def _joined(extents: Ints, strips: list[tuple[Matrix, int, int]]) -> tuple[int, list[Strip]] | None:
    """Join the long side and the batch axes to one, along which every matrix has one step."""
    merged, steps = merge_batches(extents, *((*matrix.batch_strides, long) for matrix, long, _ in strips))
    if len(merged) > 1:
        return None
    return prod(merged), [
        Strip(matrix, step[0] if merged else 1, short) for (matrix, _, short), step in zip(strips, steps, strict=True)
    ]
