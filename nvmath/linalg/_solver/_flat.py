"""General and positive definite systems on the CPU in one go: one factorization, and with it the guess of the condition.

It is one Python function around three foreign calls, since a small system takes no longer than ten Python functions do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._core import kernels_host
from ...bindings import _openblas
from . import _condition
from ._forms import Form, copies, joint_form, loop_over, operation
from ._lapack import SERIAL, dot_of
from ._loops import Routine
from ._options import Structure

if TYPE_CHECKING:
    from ._host import HostSolverPlan

_NAMES: Final = {Structure.GENERAL: "getrf", Structure.POSITIVE_DEFINITE: "potrf"}

Array = np.ndarray[Any, Any]
Run = Callable[[int, int, int], None]
"""Called with the addresses of the matrices, the right-hand sides and the solutions."""


def flat(plan: HostSolverPlan) -> Run | None:
    """Return the function that factorizes and solves for single arrays, or None where the phases have to do it."""
    problem = plan.problem
    plain = problem.structure in _NAMES and not (problem.least_squares or problem.empty or not problem.columns)
    alone = not (problem.a.explicit or problem.b.explicit or problem.inplace_a or problem.inplace_b or plan.owned)
    if not (plain and alone) or operation(problem, plan.form.turned, problem.trans)[1]:
        return None
    run = _Flat(plan).one() if problem.count == 1 else _Flat(plan).many()
    limit = plan.thread_limit(max(problem.cols, problem.columns))
    if limit is None:
        return run

    def limited(a: int, b: int, x: int) -> None:
        with _openblas.at_most(limit):
            run(a, b, x)

    return limited


class _Flat:
    """The pieces: copies to and from packed memory, and the functions bound to their arguments."""

    def __init__(self, plan: HostSolverPlan) -> None:
        self.plan = plan
        problem = plan.problem
        n, columns = problem.cols, problem.columns
        self.form: Form = joint_form(problem)
        self.sides = np.empty((problem.count, columns + 1, n), plan.dtype)
        plan.nbytes += self.sides.nbytes
        self.at = self.sides.ctypes.data
        self.load = plan.loads[0]
        self.before = plan.mover(copies(problem.b, self.form)[0])
        self.after = plan.mover(copies(problem.x, self.form, n)[0], back=True)
        loop = loop_over(plan.form, self.form)
        letter = operation(problem, plan.form.turned, problem.trans)[0]
        named = plan.named(loop)
        parallel = plan.parallel(loop, columns + 1)
        name = _NAMES[problem.structure]
        self.factorize = Routine(plan.library.function(name), name, named, loop.extents, plan.parallel(loop, n))
        self.solve = plan.routine(letter, loop, named, columns + 1, max(1, n), parallel).of("b")
        self.single = plan.routine(letter, loop, named, 1, max(1, n)).around("b")
        self.probe = _condition.probe(n, problem.dtype.name)
        # The 1-norm is at most the root of n times that of Frobenius, which of a positive definite matrix is at most its trace.
        self.traced = problem.structure is Structure.POSITIVE_DEFINITE
        self.scale = float(n**3 if self.traced else n**2)

    def one(self) -> Run:
        """One system."""
        plan = self.plan
        blocks = self.load.nbytes and self.before.nbytes and self.after.nbytes
        if plan.problem.columns == 1 and blocks and plan.factors.size * plan.parts <= SERIAL:
            dot = dot_of(plan.problem.dtype.real.name)
            if dot is not None:
                return self._vector(dot)
        at, squares = self.at, plan.squares
        n, columns = plan.problem.cols, plan.problem.columns
        factorize, solve = self.factorize.bound(), self.solve
        factors, all_, some, few = plan.at, plan.factors.size * plan.parts, columns * n * plan.parts, n * plan.parts
        probe, probe_nbytes = self.probe.ctypes.data, self.probe.nbytes
        guess = at + columns * n * plan.dtype.itemsize
        scale, alarm, info = self.scale, plan.alarm, plan.info
        diagonal = plan.factors.view(plan.problem.dtype.real.name)[:: plan.parts * (n + 1)] if self.traced else None

        def run(a: int, b: int, x: int) -> None:
            self.load(a, factors)
            norm = squares(all_, factors) if diagonal is None else _square_of(diagonal)
            factorize()
            if info[0]:
                plan.refuse((a,))
            self.before(b, at)
            ctypes.memmove(guess, probe, probe_nbytes)
            solve(at)
            if not scale * norm * squares(few, guess) <= alarm:  # so that NaN is caught
                self.examine([0], (a,))
            if not isfinite(squares(some, at)):
                self.check()
            self.after(at, x)

        return run

    def _vector(self, dot: Callable[..., float]) -> Run:
        """One small system with one right-hand side, and nothing but foreign calls."""
        plan, copy = self.plan, ctypes.memmove
        n = plan.problem.cols
        factorize, arguments = self.factorize.function, self.factorize.arguments
        solve, before, after = self.single
        factors, nbytes, all_, step = plan.at, self.load.nbytes, plan.factors.size * plan.parts, 1
        if self.traced:
            all_, step = n, plan.parts * (n + 1)
        probe, few, few_nbytes = self.probe.ctypes.data, n * plan.parts, self.probe.nbytes
        guess = self.at + few_nbytes
        scale, alarm, info = self.scale, plan.alarm, plan.info

        def run(a: int, b: int, x: int) -> None:
            copy(factors, a, nbytes)
            norm = dot(all_, factors, step, factors, step)
            factorize(*arguments)
            if info[0]:
                plan.refuse((a,))
            copy(guess, probe, few_nbytes)
            solve(*before, guess, *after)
            if not scale * norm * dot(few, guess, 1, guess, 1) <= alarm:  # so that NaN is caught
                self.examine([0], (a,))
            copy(x, b, few_nbytes)
            solve(*before, x, *after)
            if not isfinite(dot(few, x, 1, x, 1)):
                copy(self.at, x, few_nbytes)
                self.check()

        return run

    def many(self) -> Run:
        """A batch."""
        plan, at, sides = self.plan, self.at, self.sides
        n, columns = plan.problem.cols, plan.problem.columns
        factorize, factors = self.factorize.bound(), plan.factors.reshape(plan.problem.count, -1)
        guesses = sides[:, columns]
        counted = factors
        if self.traced:
            counted = factors.view(plan.problem.dtype.real.name)[:, :: plan.parts * (n + 1)]

        limit = plan.alarm / self.scale
        everything = sides.reshape(1, -1)

        def run(a: int, b: int, x: int) -> None:
            self.load(a, plan.at)
            norms = plan.squares_of(counted)
            factorize()
            if plan.info.any():
                plan.refuse((a,))
            self.before(b, at)
            guesses[...] = self.probe
            self.solve(at)
            with np.errstate(all="ignore"):
                # No guess is larger than all of them together; and where the sum is finite, each number is.
                if not norms.max() * plan.squares_of(everything)[0] <= limit:
                    self._look_at_each(norms, guesses, limit, a)
            self.after(at, x)

        return run

    def _look_at_each(self, norms: Array, guesses: Array, limit: float, a: int) -> None:
        """Look at the members of a batch one by one."""
        fine = norms * self.plan.squares_of(guesses) <= limit
        if not fine.all():
            self.examine(np.flatnonzero(~fine).tolist(), (a,))
        self.check()

    def examine(self, doubtful: list[int], ptrs: tuple[int, ...]) -> None:
        """Look at alarming guesses."""
        plan = self.plan
        plan.norms = None
        plan.guesses[...] = self.sides[:, plan.problem.columns]
        if self.traced:
            doubtful = self._still_doubtful(doubtful, ptrs[0])
        if doubtful:
            plan.examine(doubtful, ptrs)

    def _still_doubtful(self, doubtful: list[int], a: int) -> list[int]:
        """Look closer at positive definite matrices: no element is larger than the root of the two on the diagonal that it belongs to."""
        problem = self.plan.problem
        matrix, n = problem.a.arrays[0], problem.cols
        steps = (*matrix.batch_strides, matrix.row_stride + matrix.col_stride)
        diagonals = kernels_host.array_at(a, (*problem.a.batch, n), steps, problem.dtype).reshape(-1, n)[doubtful]
        with np.errstate(all="ignore"):
            roots = np.sqrt(diagonals.real)
            norms = roots.sum(axis=-1) * roots.max(axis=-1) * np.abs(self.plan.guesses[doubtful]).sum(axis=-1)
            fine = np.square(norms) <= self.plan.alarm
        return [index for index, good in zip(doubtful, fine, strict=True) if not good]

    def check(self) -> None:
        """Refuse solutions that are not finite; the sum may also have overflowed."""
        plan = self.plan
        finite = np.isfinite(self.sides[:, : plan.problem.columns]).all(axis=(1, 2))
        if not finite.all():
            plan.report.refuse_solutions(np.flatnonzero(~finite).tolist())


def _square_of(values: Array) -> float:
    with np.errstate(over="ignore"):
        return float(np.dot(values, values))
