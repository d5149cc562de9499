"""Sparse systems on the CPU through MKL PARDISO."""

from __future__ import annotations

from math import log2, log10
from typing import Any, Final

import numpy as np
from scipy import sparse

from ..._core.fork import children
from ..._core.lifetime import Closing
from ..._core.options import available_threads
from ...bindings import mkl_pardiso
from ...bindings._seam import pointer
from ._condition import rank_of_pattern
from ._config import HostConfig
from ._engine import DEFINITE, Engine
from ._options import DirectSolverMatchingAlg as Matching
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._options import DirectSolverReorderingAlg as Reordering
from ._options import PivotType
from ._pattern import Array, Assembly
from ._residual import SingularSystemError

_ENTRIES_FOR_THREADS: Final = 20_000
"""Below, waking threads costs more than they save."""
_ENTRIES_FOR_DISSECTION: Final = 50_000
"""Below, nested dissection takes longer than the factorization gains by it."""
_FEW_DIAGONALS: Final = 8
"""A stencil of nine points has 5 in a triangle, one of thirteen 7."""
_FAR: Final = 2
"""Times the root of n: from there on diagonals show a third dimension."""
_SHORT, _LONG = 2**31 - 1, 2**63 - 1
"""The largest integers of 32 and of 64 bits: of entries, and of elements of the right-hand sides of one call."""
_KIB_FOR_SHORT: Final = 4 * 2**20
"""Memory for factors that have fewer than 2**30 elements, whatever their type."""
_OVERFLOW: Final = -8
_IN_A_ROW_IN_SPACE: Final = 6
"""Meshes in the plane have up to so many entries in most of their rows; those in space have more, and factors that are much larger."""
_ANALYSE, _FACTORIZE, _SOLVE, _RELEASE = 11, 22, 33, -1
_TYPES: Final = {
    # (kind, complex): mtype
    (Kind.GENERAL, False): 11, (Kind.GENERAL, True): 13, (Kind.SYMMETRIC, False): -2, (Kind.SYMMETRIC, True): 6,
    (Kind.HERMITIAN, True): -4, (Kind.SPD, False): 2, (Kind.HPD, True): 4,
}  # fmt: skip
_MINIMUM_DEGREE, _DISSECTION = 0, 3  # nested dissection with all threads: as good as METIS alone (2), and never slower
_CLASSIC: Final = 0
"""How threads share the factorization. Two levels (1, 10) take half the time, but were seen to take indefinite matrices for definite ones,
to count no eigenvalues, and to lose digits where pivots matter."""
_ORDERINGS: Final = {
    Reordering.DEFAULT: _DISSECTION, Reordering.NESTED_DISSECTION: _DISSECTION, Reordering.AMD: _MINIMUM_DEGREE,
    Reordering.NONE: _MINIMUM_DEGREE,
}  # fmt: skip
_OPERATIONS: Final = {"N": 0, "H": 1, "T": 2}
_GIVEN, _RETURNED = 1, 2  # what the permutation is


def _is_flat_grid(pattern: Assembly) -> bool:
    """Whether an upper triangle has few diagonals, none far out: differences on a line or in a plane, numbered row by row.

    There the minimum degree leaves as little fill as dissection, and takes half the time of it or less. It does not where points are
    numbered at random, nor in three dimensions.
    """
    distances = pattern.indices - np.repeat(np.arange(pattern.n), np.diff(pattern.indptr))
    near = distances.max() <= _FAR * pattern.n**0.5
    return bool(near and np.count_nonzero(np.bincount(distances)) <= _FEW_DIAGONALS)


def _likely_elements(pattern: Assembly, halved: bool) -> float:
    """About how many elements the factors of a large mesh have after nested dissection; with differences within 20 % of what was seen."""
    n, entries = pattern.n, pattern.indices.size
    in_a_row = (2 * entries - n if halved else entries) / n
    elements: float = 13 * n ** (4 / 3) if in_a_row > _IN_A_ROW_IN_SPACE else 4 * n * log2(n)
    return elements / 2 if halved else elements


def _is_power_of_ten(value: float) -> bool:
    return value < 0 or (0 < value < 1 and abs(log10(value) - round(log10(value))) < 1e-9)


def config() -> HostConfig:
    """Return the settings that PARDISO knows."""
    return HostConfig(
        "MKL PARDISO",
        {
            "host_nthreads": lambda value: 0 < value < 2**31,
            "reordering_algorithm": tuple(_ORDERINGS),
            "matching_algorithm": (Matching.NONE, Matching.MAX_DIAG_PRODUCT, Matching.AUTO),
            "pivot_type": (PivotType.PIVOT_AUTO, PivotType.PIVOT_DIAGONAL, PivotType.PIVOT_BUNCH_KAUFMAN),
            "pivot_eps": _is_power_of_ten,
            "ir_num_steps": lambda value: 0 <= value < 2**31,
        },
    )


class PardisoEngine(Engine, Closing):
    """A matrix in MKL PARDISO.

    Parameters
    ----------
    kind, dtype, config, threads
        As of :class:`Engine`.
    matching : bool, optional
        Whether large elements are brought to the diagonal and the matrix is scaled; by default as the settings say.
    full : bool, default False
        Whether a matrix with symmetry is treated as a general one.
    """

    library = "MKL PARDISO"

    def __init__(
        self, kind: Kind, dtype: str, config: Any, threads: int, *, matching: bool | None = None, full: bool = False
    ) -> None:
        super().__init__(Kind.GENERAL if full else kind, dtype, config, threads)
        self.full = full
        self._matching = matching
        self._generation = children.generation
        self._open = False
        self._all_threads = available_threads()
        # Of a pattern: its arrays with integers of the size that is in use, their addresses, and how many columns a call may solve for.
        self._pardiso: Any = None
        self._arrays: tuple[Array, ...] = ()
        self._at = (0, 0)
        self._permutation: Array = np.empty(0, np.int64)
        self._columns = 1

    # --- phases ---------------------------------------------------------------------------------------------------------------------

    def analyse(self, pattern: Assembly, values: Array) -> None:
        """Order the matrix and plan its factorization.

        Integers of 32 bits take less time, as long as the factors are so small that none of them can overflow. Where they turn out to be
        larger the matrix is ordered once more. The first order is not handed on: with a given one PARDISO solves in one thread.
        """
        self.pattern = pattern
        if not (self._is_likely_short() and self._starts_short(values)):
            self._start(False, values)

    def _is_likely_short(self) -> bool:
        """Whether integers of 32 bits suffice for the pattern, and are likely to suffice for the factors."""
        pattern = self.pattern
        if not mkl_pardiso.has_short() or pattern.indices.size >= _SHORT // 2:
            return False
        elements = _likely_elements(pattern, self.kind is not Kind.GENERAL)
        return elements * np.dtype(self.dtype).itemsize <= 1024 * _KIB_FOR_SHORT

    def _starts_short(self, values: Array) -> bool:
        """Start with integers of 32 bits; tell whether they suffice."""
        try:
            self._start(True, values)
        except mkl_pardiso.PardisoError as error:
            if error.error != _OVERFLOW:
                raise
            return False
        return bool(self._pardiso.iparm[16] <= _KIB_FOR_SHORT)

    def _start(self, short: bool, values: Array) -> None:
        self.close()
        pattern, dtype = self.pattern, np.int32 if short else np.int64
        self._pardiso = mkl_pardiso.Pardiso(_TYPES[self.kind, self.dtype.startswith("complex")], pattern.n, short=short)
        self._arrays = tuple(array.astype(dtype, copy=False) for array in (pattern.indptr, pattern.indices))
        self._at = pointer(self._arrays[0]), pointer(self._arrays[1])
        self._permutation = np.arange(pattern.n, dtype=dtype)
        self._columns = max(1, (_SHORT if short else _LONG) // pattern.n)
        self._set_up(pattern)
        self._open = True
        try:
            self._order(values)
        except BaseException:
            self.close()
            raise
        self.nbytes = 1024 * (self._pardiso.iparm[15] + self._pardiso.iparm[16])

    def _order(self, values: Array) -> None:
        """Order the matrix; without matching where the present values, which may not be the final ones, do not allow it."""
        iparm = self._pardiso.iparm
        if iparm[12] and self.kind is Kind.GENERAL:
            pattern, shape = self.pattern, (self.pattern.n, self.pattern.n)
            if rank_of_pattern(sparse.csr_array((values, pattern.indices, pattern.indptr), shape=shape)) < pattern.n:
                iparm[10] = iparm[12] = 0  # PARDISO would write outside of its memory
        try:
            self._call(_ANALYSE, values)
        except SingularSystemError:
            if not iparm[12]:
                raise
            self.close()
            iparm[10] = iparm[12] = 0
            self._open = True
            self._call(_ANALYSE, values)

    def factorize(self, values: Array, *, anyway: bool = False) -> None:
        """Factorize. It replaces zero pivots in any case."""
        self._set_pivoting()
        try:
            self._call(_FACTORIZE, values)
        except mkl_pardiso.PardisoError as error:
            if error.error != _OVERFLOW or self._pardiso.iparm.itemsize == 8:
                raise
            self._start(False, values)
            self._call(_FACTORIZE, values)
        self.pivots = self._pardiso.iparm[13]

    def solve(self, values: Array, b: Array, x: Array, steps: int, op: str) -> None:
        """Solve."""
        self._pardiso.iparm[7] = steps
        self._pardiso.iparm[11] = _OPERATIONS[op if self.kind is Kind.GENERAL else "N"]
        for start in range(0, len(b), self._columns):
            some, made = b[start : start + self._columns], x[start : start + self._columns]
            self._call(_SOLVE, values, len(some), pointer(some), pointer(made))

    def _set_up(self, pattern: Assembly) -> None:
        iparm = self._pardiso.iparm
        ordering = self.config.get("reordering_algorithm")
        iparm[0] = 1  # no defaults
        iparm[1] = _ORDERINGS[ordering]
        iparm[23] = _CLASSIC
        iparm[4] = _GIVEN if ordering is Reordering.NONE else _RETURNED
        matching = self._matching
        if matching is None:
            asked = self.config.get("matching_algorithm")
            general = self.kind is Kind.GENERAL
            matching = (
                asked is not Matching.NONE and (general or asked is not Matching.AUTO) and self.kind not in DEFINITE
            )
        self.fitted = matching
        iparm[10] = iparm[12] = int(matching)
        if ordering is Reordering.DEFAULT:
            halved = self.kind is not Kind.GENERAL and not matching
            if pattern.indices.size < _ENTRIES_FOR_DISSECTION or (halved and _is_flat_grid(pattern)):
                iparm[1] = _MINIMUM_DEGREE
        iparm[17] = -1  # report the number of elements of the factors
        iparm[26] = 0  # the pattern has been checked
        iparm[27] = int(self.single)
        iparm[34] = 1  # indices from 0
        self._set_pivoting()

    def _set_pivoting(self) -> None:
        config, iparm = self.config, self._pardiso.iparm
        eps = config.get("pivot_eps")
        indefinite = self.kind in (Kind.SYMMETRIC, Kind.HERMITIAN)
        iparm[9] = round(-log10(eps)) if eps > 0 else 5 if self.single else 8 if indefinite else 13
        # Hermitian matrices with pivots of two rows make PARDISO write outside of its memory.
        pairs = config.get("pivot_type") is not PivotType.PIVOT_DIAGONAL and self.kind is not Kind.HERMITIAN
        iparm[20] = int(pairs)

    def _call(self, phase: int, values: Array | None, nrhs: int = 1, b: int = 0, x: int = 0) -> None:
        threads = self.config.get("host_nthreads")
        if threads < 1:
            threads = self.threads if self.pattern.indices.size >= _ENTRIES_FOR_THREADS else 1
        a = 0 if values is None else pointer(values)
        permutation = pointer(self._permutation) if phase == _ANALYSE else 0
        try:
            if threads == self._all_threads:
                self._pardiso(phase, a, *self._at, permutation, nrhs, b, x)
            else:
                with mkl_pardiso.AtMost(threads):
                    self._pardiso(phase, a, *self._at, permutation, nrhs, b, x)
        except mkl_pardiso.PardisoError as error:
            indefinite = self.kind in DEFINITE and error.error > 0
            if (indefinite or error.error in mkl_pardiso.SINGULAR) and phase != _RELEASE:
                what = "not positive definite, or singular" if self.kind in DEFINITE else "singular"
                raise SingularSystemError(f"The matrix a is {what}: {error}.") from error
            raise

    def close(self) -> None:
        """Release PARDISO's memory; that of a parent process is left alone."""
        if self._open and self._generation == children.generation:
            self._call(_RELEASE, None)
        self._open = False

    # --- what can be asked ------------------------------------------------------------------------------------------------------------

    def info(self, name: str) -> Any:
        """Return a piece of information, or raise that PARDISO does not give it."""
        iparm, n, kib = self._pardiso.iparm, self.pattern.n, 1024
        match name:
            case "memory":
                permanent = (iparm[15] + iparm[16]) * kib
                return {"peak_host_memory": max(iparm[14] * kib, permanent), "permanent_host_memory": permanent}
            case "info":
                return 0
            case "lu_nnz":
                return iparm[17]
            case "npivots":
                return iparm[13]
            case "inertia":
                return [n, 0] if self.kind in DEFINITE else [iparm[21], iparm[22]]
            case "row_permutation" | "col_permutation":
                return self._permutation.astype(np.int64)
        raise NotImplementedError(f"{name} is not available from MKL PARDISO. On a GPU cuDSS gives it.")


def inertia(matrix: Any, threads: int) -> list[int]:
    """Numbers of positive and negative eigenvalues of a symmetric or Hermitian matrix.

    PARDISO does not count them for complex matrices: these are seen as real ones of twice the size, with every eigenvalue twice.
    """
    twice = matrix.dtype.kind == "c"
    if twice:
        matrix = sparse.block_array([[matrix.real, -matrix.imag], [matrix.imag, matrix.real]], format="csr")
    n = matrix.shape[0]
    pattern = Assembly(matrix.indptr, matrix.indices, n, Kind.SYMMETRIC, Part.UPPER)
    engine = PardisoEngine(Kind.SYMMETRIC, matrix.dtype.name, config(), threads, matching=True)
    values = pattern.values(matrix.data)
    engine.analyse(pattern, values)
    try:
        engine.factorize(values)
        found: list[int] = engine.info("inertia")
    finally:
        engine.close()
    return [count // 2 for count in found] if twice else found
