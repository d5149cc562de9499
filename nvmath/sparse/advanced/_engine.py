"""What a library on the CPU must offer to solve one system."""

from __future__ import annotations

from typing import Any

from ._options import DirectSolverMatrixType as Kind
from ._pattern import Array, Assembly

DEFINITE = frozenset({Kind.SPD, Kind.HPD})


class Engine:
    """One matrix in a library; it knows numbers only.

    Parameters
    ----------
    kind : DirectSolverMatrixType
        As what the matrix is factorized.
    dtype : str
        Of the values.
    config : HostConfig
        Settings of the phases.
    threads : int
        Number of threads that may be used.
    """

    library = ""
    full = False
    """Whether the library wants both triangles of a symmetric matrix."""
    pattern: Assembly
    pivots = 0
    """Number of pivots that were replaced, or are so small that the matrix may be singular."""
    nbytes = 0
    fitted = False
    """Whether the plan is made for values as well as for their pattern."""

    def __init__(self, kind: Kind, dtype: str, config: Any, threads: int) -> None:
        self.kind, self.dtype, self.config, self.threads = kind, dtype, config, threads

    @property
    def single(self) -> bool:
        """Whether the values have single precision."""
        return self.dtype in ("float32", "complex64")

    def analyse(self, pattern: Assembly, values: Array) -> None:
        """Plan the factorization of a pattern."""
        raise AssertionError

    def factorize(self, values: Array, *, anyway: bool = False) -> None:
        """Factorize values, or raise that the matrix is singular; with `anyway` only if nothing comes near to factors."""
        raise AssertionError

    def solve(self, values: Array, b: Array, x: Array, steps: int, op: str) -> None:
        """Solve ``op(a) x = b`` with so many steps of refinement; columns are the rows of contiguous arrays (k, n)."""
        raise AssertionError

    def close(self) -> None:
        """Give up what the library holds."""

    def info(self, name: str) -> Any:
        """Return a piece of information, or raise that the library does not give it."""
        raise AssertionError
