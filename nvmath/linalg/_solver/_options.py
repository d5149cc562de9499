"""What can be asked of a dense direct solver."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

import numpy as np

from ..._core import log
from ..._core.errors import join
from ..._core.keywords import explained_fields
from ...bindings.cublas import FillMode
from ...memory import BaseCUDAMemoryManager, BaseCUDAMemoryManagerAsync


class Structure(Enum):
    """What is known of a matrix; the values are SciPy's words."""

    GENERAL = "general"
    SYMMETRIC = "symmetric"
    HERMITIAN = "hermitian"
    POSITIVE_DEFINITE = "positive definite"
    UPPER_TRIANGULAR = "upper triangular"
    LOWER_TRIANGULAR = "lower triangular"

    @property
    def triangular(self) -> bool:
        """Whether the matrix needs no factorization."""
        return self in (Structure.UPPER_TRIANGULAR, Structure.LOWER_TRIANGULAR)

    @property
    def half(self) -> bool:
        """Whether one triangle says it all."""
        return self in (Structure.SYMMETRIC, Structure.HERMITIAN, Structure.POSITIVE_DEFINITE)


WORDS: Final = {
    **{structure.value: structure for structure in Structure},
    "gen": Structure.GENERAL, "sym": Structure.SYMMETRIC, "her": Structure.HERMITIAN, "pos": Structure.POSITIVE_DEFINITE,
}  # fmt: skip

_TRIANGLES: Final[dict[Any, int]] = {"lower": 0, "l": 0, "upper": 1, "u": 1, 0: 0, 1: 1}
TRANSPOSITIONS: Final = {"N": "N", "T": "T", "C": "C", "H": "C"}
"""What people write for the matrix, its transpose and its conjugate transpose, to what LAPACK writes."""


@explained_fields
@dataclass(frozen=True, kw_only=True)
class DirectSolverOptions:
    """Options of a dense direct solver.

    Parameters
    ----------
    allocator : optional
        On a GPU: where the workspace of the library comes from, an object with ``memalloc_async`` or ``memalloc``; see
        :class:`nvmath.BaseCUDAMemoryManagerAsync`. By default the memory pool of the operands' package.
    blocking : {"auto", True}, default "auto"
        Solvers always wait for the result, since only then it is known whether there is one; the option changes nothing.
    logger : logging.Logger, optional
        By default the root logger.
    handle : int, optional
        On a GPU, for one system: a cuSOLVER handle to use.
    inplace_a : bool, default False
        The factors may overwrite `a`.
    inplace_b : bool, default False
        The solution overwrites `b`, and is that array.
    assume_a : str, default "general"
        What is known of the matrix, in SciPy's words: ``"general"`` (``"gen"``), ``"symmetric"`` (``"sym"``), ``"hermitian"``
        (``"her"``), ``"positive definite"`` (``"pos"``), ``"upper triangular"`` or ``"lower triangular"``.
    uplo : FillMode or str, default FillMode.LOWER
        The triangle of a symmetric, Hermitian or positive definite matrix that is read: ``"lower"`` or ``"upper"``. The other one
        never is.
    trans : {"N", "T", "C", "H"}, default "N"
        Solve with the matrix, its transpose, or its conjugate transpose (``"C"`` or ``"H"``).
    least_squares : bool, default False
        Take matrices with at least as many rows as columns, and minimise the norm of ``a @ x - b`` through a QR factorization.

    Raises
    ------
    TypeError
        The allocator or the logger is of the wrong kind.
    ValueError
        A field has a value that it may not have, or two do not go together.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.linalg.DirectSolverOptions(assume_a="pos").assume_a
    'positive definite'
    """

    allocator: Any = None
    blocking: Literal[True, "auto"] = "auto"
    logger: logging.Logger = log.ROOT
    handle: int | None = None
    inplace_a: bool = False
    inplace_b: bool = False
    assume_a: str = "general"
    uplo: Any = FillMode.LOWER
    trans: str = "N"
    least_squares: bool = False

    def __post_init__(self) -> None:
        if self.blocking is not True and self.blocking != "auto":
            raise ValueError(
                f"DirectSolverOptions.blocking must be one of {join((True, 'auto'))}, not {self.blocking!r}: a solver always waits."
            )
        for name in ("inplace_a", "inplace_b", "least_squares"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool):
                raise ValueError(f"DirectSolverOptions.{name} must be True or False, not {value!r}.")
        if self.logger is None:
            object.__setattr__(self, "logger", log.ROOT)
        if not isinstance(self.logger, logging.Logger | logging.LoggerAdapter):
            raise TypeError(f"DirectSolverOptions.logger must be a logging.Logger, not {type(self.logger).__name__}.")
        if self.allocator is not None and not isinstance(
            self.allocator, BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync
        ):
            raise TypeError(
                f"DirectSolverOptions.allocator must have a method memalloc_async or memalloc, as nvmath.BaseCUDAMemoryManager has, "
                f"but {type(self.allocator).__name__} has none."
            )
        object.__setattr__(self, "assume_a", structure_named(self.assume_a).value)
        object.__setattr__(self, "uplo", _triangle(self.uplo))
        object.__setattr__(self, "trans", transposition(self.trans))
        if self.least_squares and self.assume_a != "general":
            raise ValueError(f"least_squares=True takes general matrices, but assume_a is {self.assume_a!r}. Leave one of them out.")
        if self.least_squares and self.trans != "N":
            raise ValueError(f"least_squares=True takes trans='N', not {self.trans!r}. Pass the transposed matrix instead.")

    @property
    def structure(self) -> Structure:
        """The member behind `assume_a`."""
        return WORDS[self.assume_a]

    def key(self) -> tuple[Any, ...]:
        """Return everything that a plan depends on."""
        return self.handle, self.inplace_a, self.inplace_b, self.assume_a, self.uplo, self.trans, self.least_squares


def structure_named(name: Any) -> Structure:
    """Return what SciPy's word means.

    Raises
    ------
    ValueError
        It is none of those known here.
    """
    structure = WORDS.get(name) if isinstance(name, str) else None
    if structure is None:
        raise ValueError(f"DirectSolverOptions.assume_a must be one of {join(WORDS)}, not {name!r}.")
    return structure


def _triangle(value: Any) -> FillMode:
    key = value.lower() if isinstance(value, str) else value
    try:
        return FillMode(_TRIANGLES[None if isinstance(key, bool) else key])
    except (KeyError, TypeError):
        raise ValueError(f"DirectSolverOptions.uplo must be 'lower' or 'upper', not {value!r}.") from None


def transposition(value: Any) -> str:
    """Return ``"N"``, ``"T"`` or ``"C"``.

    Raises
    ------
    ValueError
        The value is none of them.
    """
    known = TRANSPOSITIONS.get(value) if isinstance(value, str) else None
    if known is None:
        raise ValueError(f"trans must be one of {join(TRANSPOSITIONS)}, not {value!r}.")
    return known
