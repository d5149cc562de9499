"""One system on the CPU: the matrix in host memory, columns in the order that libraries want, and the judgement of solutions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isfinite
from typing import Any, Final

import numpy as np

from ..._core.kernels_host import viewer
from ...bindings import mkl_pardiso
from ._condition import SUSPICIOUS, disproof, estimate, random_row, structural_text
from ._determinant import slogdet
from ._dominance import Dominance
from ._engine import DEFINITE, Engine
from ._host_judge import HostJudge
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._options import DirectSolverOptions
from ._pattern import Array, Assembly
from ._problem import SystemProblem, reduced
from ._residual import EPS, PERFECT, Judgement, SingularSystemError, Verdict, doubt, explain
from ._sides import Matrix, Side
from ._systems import PatternChangedError

_STEPS: Final = 10
"""Steps of refinement when a solution is not good enough."""
_ELEMENTS_FOR_SUPERLU: Final = 5_000_000
"""With more elements in the factors SuperLU would take too long as the last resort."""
_ENTRIES_FOR_A_GUESS: Final = 20_000
"""Below, it takes about as long to look for a definite matrix as it saves."""
_GUESS: Final = -1
"""The rung before the first: a matrix of which nothing was said is factorized as a positive definite one, which it turned out to be."""
Rung = Callable[[], Engine]


class HostPlan:
    """One system on the CPU.

    Where solutions are not good enough they are refined, then the matrix is factorized by stronger means: the rungs of a ladder.

    Parameters
    ----------
    problem : SystemProblem
        All systems.
    matrix : Matrix
        The one of this plan.
    rungs : sequence of callable
        Each makes an engine, the stronger ones later.
    options : DirectSolverOptions
        What was asked.
    guess : callable, optional
        Makes an engine for positive definite matrices, for those that turn out to be so.
    """

    def __init__(
        self, problem: SystemProblem, matrix: Matrix, rungs: list[Rung], options: DirectSolverOptions, guess: Rung | None = None
    ) -> None:  # fmt: skip
        self.problem, self.matrix, self.options = problem, matrix, options
        self.factorized = False
        self.shared = False
        self._factorized: Any = None
        self._random: Array | None = None
        self._rungs, self._guess = rungs, guess
        self._rung = 0
        self._planned = False  # whether the engine is, for the present pattern
        # Of a pattern: what is factorized, what judges solutions, and what tells whether a guess is right.
        self._source: Assembly
        self._judge: HostJudge
        self._dominance: Dominance
        self._lock = threading.RLock()  # a clone may be at work in another thread
        self._engine = rungs[0]()
        types = problem.offsets, problem.indices, problem.dtype
        views = (viewer((count,), (1,), dtype) for count, dtype in zip(matrix.counts, types, strict=True))
        self._first_at, self._second_at, self._data_at = views
        sizes = (dtype.itemsize for dtype in types)
        self._begins = tuple(start * size for start, size in zip(matrix.starts, sizes, strict=True))
        self._real = problem.dtype.kind == "f"

    # --- the matrix -------------------------------------------------------------------------------------------------------------------

    def _pattern_at(self, ptrs: tuple[int, ...]) -> tuple[Array, Array]:
        slot, begins = self.matrix.slot, self._begins
        return self._first_at(ptrs[slot] + begins[0]), self._second_at(ptrs[slot + 1] + begins[1])

    def _values(self, ptrs: tuple[int, ...]) -> Array:
        """The caller's values, as they are stored."""
        return self._data_at(ptrs[self.matrix.slot + 2] + self._begins[2])

    def _assemble(self, first: Array, second: Array, kind: Kind, full: bool) -> Assembly:
        matrix = self.matrix
        if full and self.problem.part is Part.FULL and kind not in DEFINITE:  # all entries are there
            kind = Kind.GENERAL
        return Assembly(
            first, second, matrix.n, kind, self.problem.part, full=full, form=matrix.format, block=matrix.block
        )  # fmt: skip

    # --- phases -----------------------------------------------------------------------------------------------------------------------

    @property
    def library(self) -> str:
        """Name of the library that is used."""
        return self._engine.library

    @property
    def nbytes(self) -> int:
        """Bytes that the library holds."""
        return self._engine.nbytes

    def analyse(self, ptrs: tuple[int, ...]) -> None:
        """Read the pattern and plan the factorization."""
        problem, (first, second) = self.problem, self._pattern_at(ptrs)
        self.factorized = self._planned = False
        self._engine.close()
        self._rung, self._engine = 0, self._rungs[0]()
        if not second.size:
            raise SingularSystemError("The matrix a has no entries, so it is singular.")
        self._source = self._assemble(first, second, problem.kind, self._engine.full)
        judged = self._source
        if problem.kind is not Kind.GENERAL and problem.part is Part.FULL:  # all entries show what is not symmetric
            judged = self._assemble(first, second, Kind.GENERAL, False)
        self._judge = HostJudge(
            judged, problem.dtype.name, threads=self._engine.threads, hermitian=problem.kind in (Kind.HERMITIAN, Kind.HPD),
            half=problem.kind is not Kind.GENERAL and judged is self._source and not self._engine.full,
        )  # fmt: skip
        data = self._values(ptrs)
        if self._guess is not None and judged.indices.size >= _ENTRIES_FOR_A_GUESS:
            dominance = Dominance(judged)
            if self._is_definite(dominance, data):
                self._rung, self._engine, self._dominance = _GUESS, self._guess(), dominance
                self._source = self._assemble(first, second, Kind.SPD, False)
        self._engine.analyse(self._source, self._source.values(data))
        self._planned = True

    def _is_definite(self, dominance: Dominance, data: Array) -> bool:
        """Whether a matrix of which nothing was said is positive definite, and no setting asks for pivots or matching."""
        asked = not self._engine.config.is_default("matching_algorithm", "pivot_type", "pivot_eps")
        return not asked and dominance(self._judge.pattern.values(data))

    def accepts(self, ptrs: tuple[int, ...]) -> bool:
        """Whether the matrix still has the pattern that was planned."""
        return self._source.accepts(*self._pattern_at(ptrs))

    def factorize(self, ptrs: tuple[int, ...]) -> str:
        """Factorize the present values; return what to warn of, if anything."""
        self.factorized = False
        if not self.accepts(ptrs):
            raise PatternChangedError
        data = self._values(ptrs)
        self._judge.look_at(data)
        guessed = self._rung == _GUESS and self._is_definite(self._dominance, data)
        if not (self._planned and (self._rung == 0 or guessed)):
            # A change failed; or these values may do without stronger means, or do not have what was guessed.
            self._change(0, data)
        reason, cause = "", None
        for found in self._attempts(data):
            reason, cause = found
            if not reason:
                self.factorized = True
                return ""
        if "structurally" not in reason:
            reason += structural_text(self._judge.whole(data))
        if self.options.on_failure == "warn" and self._makes_do(data):
            return reason
        raise SingularSystemError(reason) from cause

    def _makes_do(self, data: Array) -> bool:
        """Factorize by the first means, however bad that may be; tell whether there are factors."""
        try:
            self._change(0, data)
            self._factorize_values(data, anyway=True)
        except SingularSystemError:
            return False
        self.factorized = True
        return True

    def _attempts(self, data: Array) -> Iterator[tuple[str, SingularSystemError | None]]:
        """Factorize, by stronger means each time; yield why that failed, if it did.

        What has failed once must be proven from then on: a singular matrix may come through without any replaced pivot.
        """
        suspect, rung = self._judge.uneven, self._rung
        again = planned = False  # whether to plan for these values, and whether that has been done
        while True:
            try:
                if again or rung != self._rung:
                    planned = True
                    self._change(rung, data)
                self._factorize_values(data)
            except SingularSystemError as error:
                yield str(error), error
            else:
                suspect = suspect or self._engine.pivots > 0 or self._may_be_singular(data)
                yield self._disproof(data) if suspect else "", None
            suspect, again = True, False
            if self._may_climb(rung + 1):
                rung += 1
            elif self._engine.fitted and not planned:  # to values that may have been others
                again = True
            else:
                return

    def _factorize_values(self, data: Array, *, anyway: bool = False) -> None:
        self.factorized = False
        values = self._source.values(data)
        self._engine.factorize(values, anyway=anyway)
        # A library that does not refine asks for values and does not read them: these, if they had to be put in order, are at hand.
        self._factorized = None if self._source.trivial else values

    def _may_be_singular(self, data: Array) -> bool:
        """Whether a solution for random numbers is as large as one with a matrix that is singular but for rounding.

        Its norm comes near to the Frobenius norm of the inverse, and is a hundred times smaller in one of a hundred cases.
        """
        if self._random is None:
            self._random = random_row(self.matrix.n, self.problem.dtype.name)
        x = np.empty_like(self._random)
        values = self._source.values(data) if self._factorized is None else self._factorized
        self._engine.solve(values, self._judge.largest * self._random, x, 0, "N")
        return not EPS[x.dtype.char] * abs(np.vdot(x, x)) ** 0.5 <= SUSPICIOUS  # NaN as well

    def _disproof(self, data: Array) -> str:
        """Why the factors may be those of a singular matrix, if they may."""
        steps = 0 if self.options.on_failure == "raise" else _STEPS
        solve = self._vector_solver(data, steps)
        return disproof(self._judge.whole(data), self._engine.library, self._engine.pivots, solve)

    def _vector_solver(self, data: Array, steps: int) -> Callable[[Array, str], Array]:
        """Return the function that solves with the engine for one vector, with the matrix (N) or its conjugate transpose (H)."""
        values = self._source.values(data)

        def solve(b: Array, op: str) -> Array:
            op, conjugated = reduced(self.problem.kind, self._real, op)
            row = np.ascontiguousarray(b.conj() if conjugated else b, self.problem.dtype.name)[None]
            x = np.empty_like(row)
            with self._lock:
                self._engine.solve(values, row, x, steps, op)
            found: Array = x[0]
            return found.conj() if conjugated else found

        return solve

    def _may_climb(self, rung: int) -> bool:
        """Whether there is a next rung of the ladder, and it may be used; always after a guess."""
        if rung == 0:
            return True
        if self.options.on_failure == "raise" or rung >= len(self._rungs):
            return False
        large = self._engine.library != "SuperLU" and self._engine.info("lu_nnz") > _ELEMENTS_FOR_SUPERLU
        return not (large and self._rungs[rung]().library == "SuperLU")

    def _change(self, rung: int, data: Array) -> None:
        """Plan with the engine of a rung. If there is no memory for it the present one remains, or the next factorization begins anew."""
        made = self._rungs[rung]()
        source = self._judge.pattern if self._rung == _GUESS else self._source
        if made.full != self._engine.full:
            source = self._assemble(*source.source, self.problem.kind, made.full)
        self.factorized = self._planned = False
        self._engine.close()
        self._rung, self._engine, self._source = rung, made, source
        made.analyse(source, source.values(data))
        self._planned = True

    # --- solutions --------------------------------------------------------------------------------------------------------------------

    def solver(
        self, side: Side, op: str, note: Callable[[Judgement], None]
    ) -> Callable[[tuple[int, ...], int], tuple[Judgement, str]]:
        """Return the function that solves for one right-hand side: addresses of the operands and of the result.

        How good the solution is it notes for the solver that asked, since clones use this plan as well.
        """
        dtype, item = self.problem.dtype, self.problem.dtype.itemsize
        b_at, x_at = viewer(side.b.shape, side.b.strides, dtype), viewer(side.x.shape, side.x.strides, dtype)
        slot, b_begin, x_begin = side.slot, side.b.start * item, side.x.start * item
        shape, count = (side.b.count, self.matrix.n), side.b.count
        in_place, turned = side.x.leading == self.matrix.n, side.x.shape[::-1]
        op, conjugated = reduced(self.problem.kind, self._real, op)

        def run(ptrs: tuple[int, ...], x_ptr: int) -> tuple[Judgement, str]:
            if count == 0:
                return PERFECT, ""
            b = np.ascontiguousarray(b_at(ptrs[slot] + b_begin).T).reshape(shape)
            x = x_at(x_ptr + x_begin).T
            made = x.reshape(shape) if in_place else np.empty(shape, b.dtype)
            with self._lock:
                if conjugated:
                    b = b.conj()
                found = self._answer(self._values(ptrs), b, made, op, note)
            if conjugated:
                np.conj(made, made)
            if not in_place:
                x[...] = made.reshape(turned)
            return found

        return run

    def _answer(
        self, data: Array, b: Array, x: Array, op: str, note: Callable[[Judgement], None]
    ) -> tuple[Judgement, str]:
        """Solve as well as it can be done; return the judgement and what to warn of."""
        retry = self.options.on_failure != "raise"
        judgement = self._solve(data, b, x, op, retry)
        if judgement.refused and retry and not self.shared and np.isfinite(b).all():  # else no factors would help
            self._judge.look_at(data)  # the values may have changed since they were factorized
            for reason, _ in self._attempts(data):
                self.factorized = not reason
                if not reason:
                    judgement = self._solve(data, b, x, op, retry)
                    if not judgement.refused:
                        break
        note(judgement)
        if not judgement.refused:
            return judgement, doubt(judgement) if judgement.verdict is Verdict.DOUBTFUL else ""
        reason = explain(judgement, self._engine.pivots, self._engine.library)
        if self.options.on_failure == "warn":
            return judgement, reason
        raise SingularSystemError(reason)

    def _solve(self, data: Array, b: Array, x: Array, op: str, refine: bool) -> Judgement:
        """Solve and judge; refine a solution that could be better."""
        steps = self._engine.config.get("ir_num_steps")
        needed = steps > 0 or self._engine.pivots > 0 or self._factorized is None
        values = self._source.values(data) if needed else self._factorized
        self._engine.solve(values, b, x, steps, op)
        judgement = self._judge.judge(data, b, x, op)
        poor = judgement.improvable or self._engine.pivots > 0  # what replaced pivots spoil a norm may not show
        if not (refine and isfinite(judgement.backward)):
            return judgement
        values, judge = self._source.values(data), self._judge

        def solve_again(b: Array, x: Array) -> None:
            self._engine.solve(values, b, x, 0, op)

        if poor:
            judgement = judge.refine(solve_again, data, b, x, op, judgement)
        if judgement.verdict is Verdict.DOUBTFUL and judge.is_settled(solve_again, data, b, x, op):
            judgement = replace(judgement, verdict=Verdict.GOOD)
        return judgement

    # --- what can be asked --------------------------------------------------------------------------------------------------------------

    def info(self, name: str, ptrs: tuple[int, ...]) -> Any:
        """Return a piece of information."""
        if name == "condition":
            return self._condition(self._values(ptrs))
        if name == "logdet":
            return slogdet(self._judge.whole(self._values(ptrs)))
        if name == "inertia" and self._counts_for_itself:
            if not ptrs:
                raise RuntimeError(
                    "inertia needs the matrix, but the operands have been released. Call reset_operands() first."
                )
            from ._pardiso import inertia

            return inertia(self._judge.whole(self._values(ptrs)), self._engine.threads)
        return self._engine.info(name)

    @property
    def _counts_for_itself(self) -> bool:
        """Whether the eigenvalues have signs that the engine does not count."""
        kind, engine = self.problem.kind, self._engine
        counted = engine.kind is kind and (self._real or engine.library == "SuperLU")
        signed = kind is Kind.HERMITIAN or (kind is Kind.SYMMETRIC and self._real)
        return signed and not counted and mkl_pardiso.present()

    def _condition(self, data: Array) -> float:
        norm = float(abs(self._judge.whole(data)).sum(axis=0).max())
        return estimate(norm, self.matrix.n, self.problem.dtype.name, self._vector_solver(data, 0))

    def close(self) -> None:
        """Give up what the library holds."""
        self._engine.close()
        self.factorized = False
