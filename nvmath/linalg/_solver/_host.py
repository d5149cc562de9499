"""Dense systems on the CPU through LAPACK: factors and pivots in memory of our own, or where the caller has the matrix."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from math import isfinite
from typing import Any, Final

import numpy as np

from ..._core import kernels_host
from ..._core.layout import Ints, is_dense, size
from ..._core.options import available_threads
from ...bindings import _openblas
from . import _condition
from ._flat import flat
from ._forms import Copy, Form, Loop, between, copies, loop_over, lower, matrix_form, operation, side_form
from ._host_moves import Move
from ._lapack import Lapack, lapack, squares
from ._loops import Constants, Routine
from ._options import Structure
from ._problem import SystemsProblem
from ._report import Report

Array = np.ndarray[Any, Any]

_FACTORIZE: Final = {
    Structure.GENERAL: "getrf", Structure.SYMMETRIC: "sytrf", Structure.HERMITIAN: "hetrf", Structure.POSITIVE_DEFINITE: "potrf",
}  # fmt: skip
_SOLVE: Final = {
    Structure.GENERAL: "getrs", Structure.SYMMETRIC: "sytrs", Structure.HERMITIAN: "hetrs", Structure.POSITIVE_DEFINITE: "potrs",
}  # fmt: skip
_BLOCK: Final = 64
"""Columns per block that the workspaces allow for: at least what LAPACK's tables say."""


_ALONE: Final = 40_000
"""Elements of a matrix up to which OpenBLAS works in one thread."""
_SHARE: Final = 32_000_000
"""Operations that each thread of OpenBLAS has at least: with less, its threads wait for each other longer than they work, and where
another library's threads are busy, many times as long."""
_COLUMNS: Final = 16
_SHORT: Final = 128
"""Right-hand sides, and their length, up to which they are solved for one by one."""
_CALL: Final = 300
"""Operations that take as long as one call."""
_WORTH: Final = 1_000_000
"""Operations that are worth a thread of their own: many times what it costs to start them there, also when the machine is not idle."""


class HostSolverPlan:
    """Systems on the CPU, all of one size.

    Parameters
    ----------
    problem : SystemsProblem
        The systems.
    owned : bool
        Whether the matrices may be overwritten where they are.
    num_threads : int
        How many threads may work.
    """

    workspace_nbytes = 0

    def __init__(self, problem: SystemsProblem, owned: bool, num_threads: int) -> None:
        self.problem, self.owned, self.num_threads = problem, owned, num_threads
        self.dtype, self.real = np.dtype(problem.dtype.name), np.dtype(problem.dtype.real.name)
        self.library: Lapack = lapack(problem.dtype.name)
        self.report = Report(problem, self.library.title)
        self.squares = squares(problem.dtype.real.name)
        self.parts = 2 if problem.dtype.kind == "c" else 1
        self.alarm = _condition.alarm(problem.dtype.name) ** 2
        self.form: Form = matrix_form(problem, owned)
        self.factorized = False
        self.constants = Constants(self.library.integer)
        count = problem.count
        self.pivots = np.zeros((count, max(1, problem.cols)), self.library.integer)
        self.info = np.zeros(count, self.library.integer)
        self.tau = np.zeros((count, problem.cols if problem.least_squares else 0), self.dtype)
        self.factors = np.empty(0 if self.form.direct else self.form.nelements, self.dtype)
        self.guesses = np.empty((count, problem.cols), self.dtype)
        self.nbytes = self.factors.nbytes + self.pivots.nbytes + self.guesses.nbytes
        self.at = 0 if self.form.direct else self.factors.ctypes.data
        self.loads = [] if self.form.direct else [self.mover(each) for each in copies(problem.a, self.form)]
        self.work = np.empty(0, self.dtype)
        self.norms: Array | None = None
        self.limit = self.thread_limit(problem.cols)
        self.take(problem)

    @property
    def description(self) -> str:
        """Who computes, for the log."""
        return f"{self.library.title}, {'in place' if self.form.direct else 'on a copy of a'}"

    def take(self, problem: SystemsProblem) -> None:
        """Serve other right-hand sides from now on; if that fails, the old ones."""
        before = vars(self).copy()
        try:
            self._take(problem)
        except BaseException:
            vars(self).update(before)  # what is bound to old memory goes on with it
            self.report.problem = self.problem
            raise

    def _take(self, problem: SystemsProblem) -> None:
        self.problem = self.report.problem = problem
        self.side = side_form(problem)
        shape = (*self.side.extents, problem.cols, problem.columns)
        self.dense = size(shape) * self.parts if is_dense(shape, (*self.side.steps, 1, self.side.ld)) else 0
        self.scratch = np.empty(0 if self.side.direct else self.side.nelements, self.dtype)
        self.before, self.after = self._side_copies(problem)
        self.solvers: dict[str, tuple[Callable[[int], None], bool]] = {}
        self.solve_limit = self.thread_limit(problem.columns)
        self.idle = problem.empty or not problem.columns
        self.ready = self._prepare() if not problem.empty else None

    def _side_copies(self, problem: SystemsProblem) -> tuple[list[Move], list[Move]]:
        """The copies of right-hand sides to where they are solved for, and of the solutions from there."""
        if not self.side.direct:
            before = [self.mover(each) for each in copies(problem.b, self.side)]
            return before, [self.mover(each, back=True) for each in copies(problem.x, self.side, problem.cols)]
        if problem.inplace_b:
            return [], []
        return [self.mover(between(problem.b, problem.x))], []

    def mover(self, copy: Copy, back: bool = False) -> Move:
        """Return a copy as a function."""
        return Move(copy, self.problem.dtype, back)

    def close(self) -> None:
        """Nothing is owned that is not memory."""

    # --- phases ---------------------------------------------------------------------------------------------------------------------

    def once(self, a: tuple[int, ...], b: tuple[int, ...], x: tuple[int, ...], trans: str) -> None:
        """Factorize and solve."""
        self.factorize(a)
        self.solve(b, x, trans)

    def flat(self) -> Callable[[int, int, int], None] | None:
        """Return the function that does both for single arrays in one go, or None."""
        return flat(self)

    def release(self) -> None:
        """Keep the memory: it is small, or the plan is not kept."""

    # --- factorization --------------------------------------------------------------------------------------------------------------

    def factorize(self, ptrs: tuple[int, ...], stream: int = 0) -> None:
        """Factorize the matrices at addresses, one for each array.

        Raises
        ------
        SingularMatrixError
            Some cannot be, or are not finite.
        """
        self.factorized = False
        if self.problem.empty:
            self.factorized = True
            return
        with nullcontext() if self.limit is None else _openblas.at_most(self.limit):
            self._load(ptrs)
            self._factorize(ptrs)
            self._judge(ptrs)
        self.factorized = True

    def thread_limit(self, columns: int) -> int | None:
        """How many threads OpenBLAS may use for so many columns, factorized or solved for; None where it does right by itself."""
        rows, threads = self.problem.rows, self.num_threads
        if rows * columns >= _ALONE:
            threads = max(1, min(threads, rows * self.problem.cols * columns // _SHARE))
        return threads if threads < available_threads() and self.library.where.numpys else None

    def _load(self, ptrs: tuple[int, ...]) -> None:
        if self.form.direct:
            if self.at != ptrs[0]:
                self.at = ptrs[0]
                self.ready = self._prepare()
        else:
            for move in self.loads:
                move(ptrs[move.array], self.at)
        self.norms = None
        self.bounds = self._bounds()

    def _prepare(self) -> Callable[[], None]:
        """Bind the functions to the address of the factors; return the factorization."""
        self.solvers.clear()
        problem, form = self.problem, self.form
        loop = loop_over(form)
        named = self.named(loop)
        if problem.structure.triangular:
            factorize: Callable[[], None] = lambda: None  # noqa: E731
        else:
            name = "geqrf" if problem.least_squares else _FACTORIZE[problem.structure]
            factorize = Routine(self.library.function(name), name, named, loop.extents, self.parallel(loop, problem.cols)).bound()
        self.guess = self._solver("N", self._guess_loop(), 1, max(1, problem.cols))
        self.guess_at = self.guesses.ctypes.data
        return factorize

    def named(self, loop: Loop) -> dict[str, tuple[int, Any]]:
        """Addresses and steps, in bytes, of what the functions take, by the names of their arguments."""
        problem, form, constants = self.problem, self.form, self.constants
        item, index = self.dtype.itemsize, loop.members
        integer = self.library.integer.itemsize
        work = self._work()
        return {
            "a": (self.at, _times(loop.a, item)),
            "ipiv": (self.pivots.ctypes.data, _times(index, integer * self.pivots.shape[1])),
            "info": (self.info.ctypes.data, _times(index, integer)),
            "tau": (self.tau.ctypes.data, _times(index, item * self.tau.shape[1])),
            "uplo": (constants.text("L" if lower(problem, form.turned) else "U"), None),
            "m": (constants.number(problem.rows), None),
            "n": (constants.number(problem.cols), None),
            "lda": (constants.number(form.ld), None),
            "work": (work.ctypes.data, work.nbytes // max(1, self.num_threads)),
            "lwork": (constants.number(work.size // max(1, self.num_threads)), None),
            "len": (1, None), "len1": (1, None), "len2": (1, None), "len3": (1, None),
        }  # fmt: skip

    def _work(self) -> Array:
        """Scratch memory of the functions that want some, one part for each thread."""
        problem = self.problem
        needs = problem.least_squares or problem.structure in (Structure.SYMMETRIC, Structure.HERMITIAN)
        wide = max(problem.rows, problem.columns, 1) * _BLOCK + 4200 if needs else 0
        if self.work.size < wide * self.num_threads:
            self.work = np.empty(wide * self.num_threads, self.dtype)
        return self.work

    def parallel(self, loop: Loop, columns: int) -> int:
        """How many threads take systems: several where each system is too small for several."""
        problem = self.problem
        work = problem.count * (float(problem.rows) * problem.cols * columns + _CALL)
        small = problem.rows * problem.cols < _ALONE and self.library.where.numpys
        if len(loop.extents) != 1 or not small:
            return 1
        return max(1, min(self.num_threads, problem.count, int(work / _WORTH)))

    def _factorize(self, ptrs: tuple[int, ...]) -> None:
        assert self.ready is not None
        self.ready()
        if self.problem.structure.triangular or self.problem.least_squares:
            zero = np.diagonal(self._factor_view(), axis1=-2, axis2=-1) == 0
            self.info[...] = np.where(zero.any(axis=-1), zero.argmax(axis=-1) + 1, 0).reshape(-1)
        if self.info.any():
            self.refuse(ptrs)

    def refuse(self, ptrs: tuple[int, ...]) -> None:
        """Raise what LAPACK said of the matrices."""
        self.report.refuse_info(self.info, lambda index: float(self._norm_at(index, ptrs)))

    def _factor_view(self) -> Array:
        """The factors as arrays (*batch, rows, cols) in the orientation of `a`."""
        form, problem = self.form, self.problem
        inner = (form.ld, 1) if form.turned else (1, form.ld)
        return kernels_host.array_at(
            self.at, (*form.extents, problem.rows, problem.cols), (*form.steps, *inner), problem.dtype
        )

    # --- judgement ------------------------------------------------------------------------------------------------------------------

    def _bounds(self) -> Any:
        """Bounds of the squares of the 1-norms, before the matrices are overwritten; of half a matrix the norm itself."""
        problem = self.problem
        if self.owned or problem.structure is not Structure.GENERAL:
            self.norms = self._norms(self._factor_view())
            with np.errstate(over="ignore"):
                return np.square(self.norms)
        if problem.count == 1:
            return problem.rows * self.squares(self.factors.size * self.parts, self.at)
        with np.errstate(over="ignore"):
            return problem.rows * self.squares_of(self.factors.reshape(problem.count, -1))

    def squares_of(self, rows: Array) -> Array:
        """Sum the squares along each row."""
        values = rows if rows.dtype == self.real else rows.view(self.real)
        with np.errstate(all="ignore"):
            result: Array = np.einsum("ij,ij->i", values, values)
        return result

    def _norms(self, matrices: Array) -> Array:
        """The 1-norms of matrices, of which only the part is read that counts."""
        problem = self.problem
        stack = matrices.reshape(-1, problem.rows, problem.cols)
        if problem.structure.half:
            stack = _condition.half_as_whole(stack, problem.lower)
        elif problem.structure.triangular:
            stack = np.tril(stack) if problem.structure is Structure.LOWER_TRIANGULAR else np.triu(stack)
        return _condition.norms_of(stack)

    def _judge(self, ptrs: tuple[int, ...]) -> None:
        """Guess the condition of each matrix, and estimate it where the guess is alarming."""
        problem = self.problem
        self.guesses[...] = _condition.probe(problem.cols, problem.dtype.name)
        self.guess(self.guess_at)
        with np.errstate(all="ignore"):
            products = problem.cols * self.bounds * self.squares_of(self.guesses)
        if not (fine := products <= self.alarm).all():  # False for NaN
            self.examine(np.flatnonzero(~fine).tolist(), ptrs)

    def examine(self, doubtful: list[int], ptrs: tuple[int, ...]) -> None:
        problem = self.problem
        conditions = {}
        for index in doubtful:
            norm = float(self._norm_at(index, ptrs))
            with np.errstate(all="ignore"):
                guess = norm * float(np.abs(self.guesses[index]).sum())
            if guess * guess <= self.alarm and not problem.least_squares:  # the norms themselves, not bounds of them
                continue
            if not isfinite(norm) or not np.isfinite(self.guesses[index]).all():
                conditions[index] = float("nan") if not isfinite(norm) else float("inf")
                continue
            solve, adjoint = (self._one(index, trans) for trans in ("N", "C"))
            conditions[index] = norm * _condition.inverse_norm(problem.cols, problem.dtype.name, solve, adjoint)
        self.report.judge(conditions)

    def _norm_at(self, index: int, ptrs: tuple[int, ...]) -> Any:
        """The 1-norm of one matrix; of the caller's, if it has not been kept."""
        if self.norms is not None:
            return self.norms[index]
        stack = self.problem.a
        number = index if stack.explicit else 0
        matrix = stack.arrays[number]
        batch = () if stack.explicit else stack.batch
        whole = kernels_host.array_at(
            ptrs[number], (*batch, matrix.rows, matrix.cols), (*matrix.batch_strides, matrix.row_stride, matrix.col_stride),
            self.problem.dtype,
        )  # fmt: skip
        one = whole if not batch else whole[np.unravel_index(index, batch)]
        return self._norms(one)[0]

    def _one(self, index: int, trans: str) -> _condition.Solve:
        """Return the function that solves one of the systems, or its adjoint, for a vector."""
        problem, n = self.problem, self.problem.cols
        loop = loop_over(self.form)
        at = np.unravel_index(index, loop.extents) if loop.extents else ()
        vector = np.empty(n, self.dtype)
        alone = Loop((), (), (), ())
        moved = {
            name: (address + sum(int(i) * s for i, s in zip(at, steps or (0,) * len(at), strict=True)), None)
            for name, (address, steps) in self.named(loop).items()
            if name not in ("work",)
        }
        letter, conjugate = operation(problem, self.form.turned, trans)
        run = self.routine(letter, alone, moved, 1, max(1, n)).of("b")

        def solve(values: Array) -> Array:
            vector[...] = values.conj() if conjugate else values
            run(vector.ctypes.data)
            return vector.conj() if conjugate else vector.copy()

        return solve

    # --- solution -------------------------------------------------------------------------------------------------------------------

    def _guess_loop(self) -> Loop:
        loop = loop_over(self.form)
        return loop._replace(b=tuple(step * self.problem.cols for step in loop.members))

    def _solver(self, letter: str, loop: Loop, columns: int, ld: int) -> Callable[[int], None]:
        """Return the function that solves for right-hand sides at an address, with the present factors."""
        letter = operation(self.problem, self.form.turned, letter)[0]
        return self.routine(letter, loop, self.named(loop), columns, ld, self.parallel(loop, columns)).of("b")

    def routine(
        self, letter: str, loop: Loop, named: dict[str, tuple[int, Any]], columns: int, ld: int, parallel: int = 1
    ) -> Routine:
        """Return the solution with the present factors, as a function of the address ``b``."""
        problem, constants = self.problem, self.constants
        half = lower(problem, self.form.turned) and not problem.least_squares
        extents, steps = loop.extents, _times(loop.b, self.dtype.itemsize)
        if columns == 2 or (1 < columns <= _COLUMNS and problem.cols <= _SHORT):  # else OpenBLAS wakes its threads for next to nothing
            extents, steps, columns = (*extents, columns), (*steps, ld * self.dtype.itemsize), 1
            named = {name: (first, (*by, 0) if isinstance(by, tuple) else by) for name, (first, by) in named.items()}
        named = {
            **named,
            "b": (0, steps),
            "nrhs": (constants.number(columns), None),
            "ldb": (constants.number(ld), None),
            "trans": (constants.text(letter), None),
            "diag": (constants.text("N"), None),
            "uplo": (constants.text("L" if half else "U"), None),
        }
        triangular = problem.structure.triangular or problem.least_squares
        name = "trtrs" if triangular else _SOLVE[problem.structure]
        return Routine(self.library.function(name), name, named, extents, parallel)

    def _solution(self, trans: str) -> Callable[[int], None]:
        """Return the function that turns right-hand sides at an address into solutions."""
        problem = self.problem
        loop = loop_over(self.form, self.side)
        solve = self._solver(trans, loop, problem.columns, self.side.ld)
        if not problem.least_squares:
            return solve
        constants, named = self.constants, self.named(loop)
        named |= {
            "c": (0, _times(loop.b, self.dtype.itemsize)),
            "ldc": (constants.number(self.side.ld), None),
            "side": (constants.text("L"), None),
            "trans": (constants.text("C" if problem.dtype.kind == "c" else "T"), None),
            "n": (constants.number(problem.columns), None),
            "k": (constants.number(problem.cols), None),
        }
        parallel = self.parallel(loop, problem.columns)
        project = Routine(self.library.function("ormqr"), "ormqr", named, loop.extents, parallel).of("c")

        def both(address: int) -> None:
            project(address)
            solve(address)

        return both

    def solve(self, b: tuple[int, ...], x: tuple[int, ...], trans: str, stream: int = 0) -> None:
        """Solve for right-hand sides at addresses, one for each array, and put the solutions elsewhere, or in their place.

        Raises
        ------
        SingularMatrixError
            A solution is not finite.
        """
        problem = self.problem
        if self.idle:
            return
        found = self.solvers.get(trans)
        if found is None:
            found = self.solvers[trans] = self._solution(trans), operation(problem, self.form.turned, trans)[1]
        run, conjugates = found
        at = x[0] if self.side.direct else self.scratch.ctypes.data
        for move in self.before:
            move(b[move.array], at)
        if conjugates:
            self._conjugate(at)
        if self.solve_limit is None:
            run(at)
        else:
            with _openblas.at_most(self.solve_limit):
                run(at)
        if conjugates:
            self._conjugate(at)
        self._check(at)
        for move in self.after:
            move(at, x[move.array])

    def _side_view(self, at: int) -> Array:
        side, problem = self.side, self.problem
        return kernels_host.array_at(
            at, (*side.extents, problem.cols, problem.columns), (*side.steps, 1, side.ld), problem.dtype
        )

    def _conjugate(self, at: int) -> None:
        values = self._side_view(at)
        np.conjugate(values, out=values)

    def _check(self, at: int) -> None:
        """Refuse solutions that are not finite."""
        if self.dense and isfinite(self.squares(self.dense, at)):
            return
        finite = np.isfinite(self._side_view(at)).all(axis=(-2, -1))
        if not finite.all():
            self.report.refuse_solutions(np.flatnonzero(~finite.reshape(-1)).tolist())


def _times(steps: Ints, factor: int) -> Ints:
    return tuple(step * factor for step in steps)
