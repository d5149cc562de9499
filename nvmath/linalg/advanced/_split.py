"""What of a product cuBLASLt does, and what is left to kernels of our own.

The library lacks some epilogs, and of those that it has it does some for some dtypes only; for others it rounds in between. What it
cannot do, or not exactly, is done afterwards in one more pass over the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..._core.dtypes import DTYPES
from .._matrix import Matrix, batch_order, packed
from ._epilogs import EPILOGS, NO_EPILOG, MatmulEpilog
from ._problem import MatmulProblem
from ._types import is_half_compute

_GROUP = 16


@dataclass(frozen=True, slots=True)
class Rest:
    """What is done to the values after the product.

    Attributes
    ----------
    problem : MatmulProblem
        The whole problem.
    source : Matrix
        Where the values are: D itself, or scratch memory of more precision.
    scratch : bool
        Whether it is scratch memory.
    adds_c, adds_bias : bool
        Whether beta * C, or the bias, is still to be added.
    activation : str
        What is done to each value.
    gives : bool
        Whether the auxiliary outputs are still to be made.
    """

    problem: MatmulProblem
    source: Matrix
    scratch: bool
    adds_c: bool
    adds_bias: bool
    activation: str
    gives: bool


def rounds_between(problem: MatmulProblem) -> bool:
    """Whether cuBLASLt rounds A B + C to 16 bits before it adds a bias.

    Seen with cuBLASLt 13.1: the sum of two numbers that cancel is then off by more than one rounding. It does so with C, and, depending on
    epilog and extents, where not everything comes in groups of 16 bytes.
    """
    concerned = problem.d.dtype.bits == 16 and problem.bias is not None
    return concerned and (problem.c is not None or not _in_groups(problem))


def _in_groups(problem: MatmulProblem) -> bool:
    """Whether every extent and stride is a whole number of groups of 16 bytes, and every matrix begins with one."""
    matrices = (problem.a, problem.b, problem.d)
    steps = (step for each in matrices for step in (each.row_stride, each.col_stride, *each.batch_strides) if step != 1)
    return (
        all(each.alignment >= _GROUP for each in matrices)
        and all(2 * count % _GROUP == 0 for count in (problem.m, problem.n, problem.k))
        and all(2 * step % _GROUP == 0 for step in steps)
    )


def approximates(problem: MatmulProblem) -> bool:
    """Whether cuBLASLt only approximates an epilog: its GELU of double precision was off by up to 8e-11 (13.1)."""
    return problem.d.dtype.name == "float64" and "gelu" in problem.epilog.activation.lower()


def needs_more_k(problem: MatmulProblem) -> bool:
    """Whether the library must not be asked for the epilog of a product of a column and a row."""
    return problem.k == 1 and problem.epilog.needs_k


def loses_sums(problem: MatmulProblem) -> bool:
    """Whether cuBLASLt may write only the first sum of a factor.

    Seen with cuBLASLt 13.1 where the product is one row of 16-bit numbers: its algorithm for vectors (13) then leaves the other sums of B
    as they were. It was never seen with sums of A, or in more precision; a product of one row or column is not worth the risk.
    """
    return problem.epilog.sums_factors and problem.d.dtype.bits == 16 and min(problem.m, problem.n) == 1


def by_library(problem: MatmulProblem) -> tuple[MatmulProblem, Rest | None]:
    """Give the library as much as it can do: an extra activation, or a user's function, remains."""
    epilog = problem.epilog
    if not epilog.extra and epilog.function is None:
        return problem, None
    product = replace(problem, epilog=EPILOGS[MatmulEpilog(epilog.code).name], arrays=())
    return product, Rest(problem, problem.d, False, False, False, epilog.activation, False)


def by_ourselves(problem: MatmulProblem) -> tuple[MatmulProblem, Rest]:
    """Give the library the bare product; 16-bit results are kept in single precision until everything is added."""
    epilog = problem.epilog
    scratch = problem.d.dtype.bits == 16 and not is_half_compute(problem.compute_type)
    source, c, inplace = problem.d, problem.c, problem.inplace
    if scratch:
        axes = batch_order(problem.batch, problem.d.batch_strides)
        frame = Matrix(problem.m, problem.n, 0, 0, (1,) * len(problem.batch), DTYPES["float32"])
        source, c, inplace = packed(frame, problem.d.order, problem.batch, axes), None, False
    product = replace(
        problem, c=c, d=source, bias=None, auxiliary=None, arrays=(), outputs=(), epilog=NO_EPILOG, inplace=inplace
    )  # fmt: skip
    adds_c = problem.c is not None and c is None
    return product, Rest(problem, source, scratch, adds_c, epilog.has_bias, epilog.activation, True)
