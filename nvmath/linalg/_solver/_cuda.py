"""Dense systems on a GPU: memory, copies and judgement around the calls of cuSOLVER and cuBLAS.

Every phase ends with one wait, in which the library's reports and a few norms come to the host; so all memory is idle between phases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import isfinite
from typing import Any, Final

import numpy as np

from ..._core import kernels
from ..._core.arrays import Adapter
from ..._core.memory import Allocate, from_user
from ..._core.place import Cuda
from ..._core.staging import download, upload
from ...bindings import _cuda as driver
from . import _condition, _kernels
from ._cuda_library import Factors, Library
from ._cuda_sides import Joint, Move
from ._forms import Copy, Form, between, copies, loop_over, matrix_form, operation, side_form
from ._fused import Fused, shared_of_block, strides
from ._options import DirectSolverOptions, Structure
from ._problem import SystemsProblem
from ._report import Report

Array = np.ndarray[Any, Any]

_ALIGNMENT: Final = 256
_LARGE: Final = 512
_FEW: Final = 8
_MEDIUM: Final = 64


def plan_on(
    problem: SystemsProblem, owned: bool, place: Cuda, adapter: Adapter, options: DirectSolverOptions
) -> CudaSolverPlan:
    """Return a plan with the library that suits the problem: cuBLAS for batches of small systems, cuSOLVER for others."""
    from ._cublas import BatchedLibrary
    from ._cusolver import LoopedLibrary

    n, count = problem.cols, problem.count
    batched = count > 1 and n < _LARGE and not (count <= _FEW and n >= _MEDIUM) and not problem.least_squares
    library: Library = BatchedLibrary(problem, place) if batched else LoopedLibrary(problem, place, options.handle)
    return CudaSolverPlan(problem, owned, place, adapter, options, library)


class CudaSolverPlan:
    """Systems on a GPU, all of one size.

    Parameters
    ----------
    problem : SystemsProblem
        The systems.
    owned : bool
        Whether the matrices may be overwritten where they are.
    place : Cuda
        The GPU.
    adapter : Adapter
        Of the package whose memory pool is used.
    options : DirectSolverOptions
        An allocator, perhaps.
    library : Library
        Who does the work.
    """

    workspace_nbytes = 0

    def __init__(
        self, problem: SystemsProblem, owned: bool, place: Cuda, adapter: Adapter, options: DirectSolverOptions, library: Library
    ) -> None:
        self.problem, self.place, self.adapter, self.library = problem, place, adapter, library
        self.device, self.dtype = place.device_id, problem.dtype
        self.report = Report(problem, library.title)
        form = matrix_form(problem, owned)
        loop = loop_over(form)
        if form.direct and len(loop.extents) > 1:  # one step from each matrix to the next is needed
            form = matrix_form(problem, False)
            loop = loop_over(form)
        self.form = form
        item = self.dtype.itemsize
        self.factors = Factors(problem, form, (loop.a[0] if loop.a else 0) * item)
        self.loads = [] if form.direct else [self.mover(each) for each in copies(problem.a, form)]
        self.allocate: Allocate = (
            from_user(options.allocator, self.device)
            if options.allocator is not None
            else lambda nbytes, stream: adapter.allocate(nbytes, self.device, stream)
        )
        self.triangular = problem.structure.triangular
        self.factorized = False
        self.owner: Any = None
        self.workspace: tuple[int, int, Any] = (0, 0, None)  # address, bytes, owner
        self.spread: Callable[[int, int, int], None] | None = None
        self.probe: tuple[int, Any] = (0, None)  # stays when the rest of the memory goes
        self.numbers = np.empty(problem.count * 28 + 8, np.uint8)
        self.numbers_at, self.numbers_nbytes, self.stretch = self.numbers.ctypes.data, self.numbers.nbytes, 8 * problem.count
        self.measured = tuple(self.numbers[i * self.stretch : (i + 1) * self.stretch].view(np.float64) for i in range(3))
        self.info = self.numbers[3 * self.stretch :][: 4 * problem.count].view(np.int32)
        self.measures: dict[tuple[Any, ...], _kernels.Norms] = {}
        self.alarm = _condition.alarm(self.dtype.name)
        self._lay_out()
        self.take(problem)

    @property
    def description(self) -> str:
        """Who computes, for the log."""
        return f"{self.library.title}, {'in place' if self.form.direct else 'on a copy of a'}"

    def _lay_out(self) -> None:
        """Give every part of our block of memory its offset."""
        problem, item, count = self.problem, self.dtype.itemsize, self.problem.count
        parts = {
            "numbers": self.numbers.nbytes,
            "factors": 0 if self.form.direct else self.form.nelements * item,
            "pivots": count * problem.cols * self.library.pivot_nbytes,
            "tau": count * problem.cols * item if problem.least_squares else 0,
            "table": count * 8,
            "side_table": count * 8,
            "alone": 16,
            "guesses": count * problem.cols * item,
        }
        self.offsets, at = {}, 0
        for name, nbytes in parts.items():
            self.offsets[name] = at
            at += -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        self.block_nbytes = self.nbytes = at

    def take(self, problem: SystemsProblem) -> None:
        """Serve other right-hand sides from now on; if that fails, the old ones."""
        side = side_form(problem)
        loop = loop_over(self.form, side)
        if side.direct and len(loop.extents) > 1:
            side = side_form(problem, packed=True)
            loop = loop_over(self.form, side)
        before: list[Move] = []
        after: list[Move] = []
        if not side.direct:
            before = [self.mover(each) for each in copies(problem.b, side)]
            after = [self.mover(each, back=True) for each in copies(problem.x, side, problem.cols)]
        elif not problem.inplace_b:
            before = [self.mover(between(problem.b, problem.x))]
        conjugate = self.conjugation(side, problem.columns)
        layout = strides(problem, shared_of_block(self.device)) if self.library.may_fuse else None
        # Nothing fails from here on.
        self.problem = self.report.problem = self.factors.problem = problem
        self.side, self.side_step = side, (loop.b[0] if loop.b else 0) * self.dtype.itemsize
        self.before, self.after, self.conjugate, self.layout = before, after, conjugate, layout
        self.idle = problem.empty or not problem.columns
        self.joint: Joint | None = None
        self.fused: Fused | None = None  # made when it is used: compiling takes a second

    def conjugation(self, side: Form, columns: int) -> Callable[[int, int], None] | None:
        """Return what conjugates right-hand sides, where some transposition needs that."""
        shape = (*side.extents, self.problem.rows, columns)
        return _kernels.conjugation(self.device, self.dtype, shape, (*side.steps, 1, side.ld)) if self._turns_around() else None

    def _turns_around(self) -> bool:
        """Whether some transposition is solved by conjugating right-hand sides and solutions."""
        return any(operation(self.problem, self.form.turned, letter)[1] for letter in "NTC")

    def mover(self, copy: Copy, back: bool = False) -> Move:
        """Return a copy as a function."""
        return Move(copy, self.device, self.dtype, back)

    def close(self) -> None:
        """Give the memory back; no work is under way."""
        self.release()

    def release(self) -> None:
        """Give the memory back, and the factors with it."""
        self.owner, self.workspace, self.factorized = None, (0, 0, None), False

    # --- phases ---------------------------------------------------------------------------------------------------------------------

    def factorize(self, ptrs: tuple[int, ...], stream: int) -> None:
        """Factorize the matrices at addresses, one for each array; waits.

        Raises
        ------
        SingularMatrixError
            Some cannot be, or are not finite.
        """
        self.factorized = False
        if not self.problem.empty:
            with self._phase(stream):
                self._start_factorization(ptrs, stream)
                self._start_guess(stream)
                self._read(stream)
                self._judge(stream)
        self.factorized = True

    def solve(self, b: tuple[int, ...], x: tuple[int, ...], trans: str, stream: int) -> None:
        """Solve for right-hand sides at addresses, one for each array, and put the solutions elsewhere, or in their place; waits.

        Raises
        ------
        SingularMatrixError
            A solution is not finite.
        """
        if self.idle:
            return
        with self._phase(stream):
            owner = self._start_solution(b, x, trans, stream)
            self._read(stream)
            del owner
            self._check()

    def once(self, a: tuple[int, ...], b: tuple[int, ...], x: tuple[int, ...], trans: str, stream: int) -> None:
        """Factorize and solve with one wait, and with one solve for the right-hand sides and the guess of the condition.

        The solutions are not in the memory of the right-hand sides.
        """
        if self.idle or self.problem.least_squares:
            self.factorize(a, stream)
            self.solve(b, x, trans, stream)
            return
        if self.layout is not None and self._fuse(a[0], b[0], x[0], stream):
            return
        if self.joint is None:
            self.joint = Joint(self)
        with self._phase(stream):
            self._start_factorization(a, stream)
            owner = self.joint.start(b, x, trans, stream)
            self._read(stream)
            del owner
            self._judge(stream)
            self._check()

    def _fuse(self, a: int, b: int, x: int, stream: int) -> bool:
        """Solve with our own kernel; return whether there is no doubt about any matrix."""
        if self.fused is None:
            assert self.layout is not None
            self.fused = Fused(self.problem, self.layout, self.place)
        self._take_probe(stream)
        base, owner = self.adapter.allocate(self.numbers_nbytes, self.device, stream)
        try:
            self.fused(a, b, x, self.probe[0], base, base + 3 * self.stretch, stream)
            download(base, self.numbers_at, self.numbers_nbytes, stream)
        except BaseException:
            with suppress(driver.CudaError):
                self.place.wait(stream)
            raise
        del owner
        norms, sums, _ = self.measured
        with np.errstate(all="ignore"):
            fine = norms * sums <= self.alarm
        if not fine.all():
            return False
        self._check()
        return True

    @contextmanager
    def _phase(self, stream: int) -> Iterator[None]:
        """Hold the library's handles; after a failure wait, since they and memory may be in use."""
        try:
            self.library.enter(stream)
            yield
        except BaseException:
            with suppress(driver.CudaError):
                self.place.wait(stream)
            raise
        finally:
            self.library.leave()

    # --- factorization --------------------------------------------------------------------------------------------------------------

    def _start_factorization(self, ptrs: tuple[int, ...], stream: int) -> None:
        self._take_memory(stream)
        factors, form, problem = self.factors, self.form, self.problem
        if form.direct:
            factors.at = ptrs[0]
        for move in self.loads:
            move(ptrs[move.array], factors.at, stream)
        steps = factors.step // self.dtype.itemsize
        if problem.structure.half:
            _kernels.fill(
                self.device, self.dtype, factors.at, steps, factors.count, problem.cols, factors.ld, factors.lower,
                problem.structure is not Structure.SYMMETRIC, stream,
            )  # fmt: skip
        part = _kernels.WHOLE
        if problem.structure.triangular:
            part = _kernels.LOWER if factors.lower else _kernels.UPPER
        self.norms((steps, problem.rows, problem.cols, factors.ld, part, None), factors.at, (0, 0), stream)
        self.library.factorize(factors, stream)

    def _take_memory(self, stream: int) -> None:
        if self.owner is None:
            base, self.owner = self.adapter.allocate(max(1, self.block_nbytes), self.device, stream)
            self.base = base
            factors, at = self.factors, self.offsets
            factors.at, factors.pivots, factors.tau = base + at["factors"], base + at["pivots"], base + at["tau"]
            factors.table, factors.side_table = base + at["table"], base + at["side_table"]
            factors.info = base + 3 * self.stretch  # the numbers are the first part
        self._take_probe(stream)
        self._take_workspace(self.library.work_nbytes(self.factors, max(1, self.problem.columns)), stream)

    def _take_probe(self, stream: int) -> None:
        if self.probe[1] is None:
            probe = _condition.probe(self.problem.cols, self.dtype.name)
            memory = self.adapter.allocate(max(1, probe.nbytes), self.device, stream)
            upload(probe.ctypes.data, memory[0], probe.nbytes, stream)
            self.probe = memory  # not before its numbers are there

    def _take_workspace(self, nbytes: int, stream: int) -> None:
        if nbytes > self.workspace[1]:
            self.workspace = (0, 0, None)
            ptr, owner = self.allocate(nbytes, stream)
            self.workspace = ptr, nbytes, owner
        self.factors.work = self.workspace[0]

    def _start_guess(self, stream: int) -> None:
        """Solve for the vector that tells of the condition."""
        n, count = self.problem.cols, self.factors.count
        guesses = self.base + self.offsets["guesses"]
        if self.spread is None:
            self.spread = kernels.move(self.device, (count, n), (0, 1), (n, 1), self.dtype, self.dtype)
        self.spread(self.probe[0], guesses, stream)
        letter = operation(self.problem, self.form.turned, "N")[0]
        self._solve_triangles(letter, guesses, n * self.dtype.itemsize, max(1, n), 1, stream)
        self.norms((n, n, 1, max(1, n), _kernels.WHOLE, None), guesses, (1, 1), stream)

    def _solve_triangles(self, letter: str, at: int, step: int, ld: int, columns: int, stream: int) -> None:
        """Solve with the factors alone: of least squares with the triangle R."""
        if self.problem.least_squares:
            self.library.solve_triangle(self.factors, letter, at, step, ld, columns, stream)
        else:
            self.library.solve(self.factors, letter, at, step, ld, columns, stream)

    def norms(self, kind: tuple[Any, ...], at: int, places: tuple[int, int], stream: int) -> None:
        """Queue the computation of norms of matrices into places of the numbers.

        `kind` is the step in elements, rows, columns, leading dimension, part, and the column from which on the second place counts.
        """
        run = self.measures.get(kind)
        if run is None:
            step, rows, cols, ld, part, split = kind
            run = _kernels.Norms(self.device, self.dtype, step, self.factors.count, (rows, cols), ld, part, split)
            self.measures[kind] = run
        first, second = places
        run(at, self.base + first * self.stretch, self.base + second * self.stretch, stream)

    def _read(self, stream: int) -> None:
        """Wait, and bring the numbers to the host."""
        download(self.base, self.numbers_at, self.numbers_nbytes, stream)

    def _judge(self, stream: int) -> None:
        problem = self.problem
        norms, sums, _ = self.measured
        if not self.triangular and self.info.any():
            self.report.refuse_info(self.info, lambda index: float(norms[index]))
        if self.factors.count == 1:
            if float(norms[0]) * float(sums[0]) <= self.alarm:  # False for NaN
                return
            fine = np.zeros(1, bool)
        else:
            with np.errstate(all="ignore"):
                fine = norms * sums <= self.alarm
            if fine.all():
                return
        conditions = {}
        for index in np.flatnonzero(~fine).tolist():
            norm = float(norms[index])
            if not isfinite(norm) or not isfinite(sums[index]):
                conditions[index] = float("nan") if not isfinite(norm) else float("inf")
            else:
                # the norm of the transpose goes with the adjoint's inverse
                solve, adjoint = (self._one(index, trans, stream) for trans in ("CN" if self.form.turned else "NC"))
                conditions[index] = norm * _condition.inverse_norm(problem.cols, self.dtype.name, solve, adjoint)
        self.report.judge(conditions)

    def _one(self, index: int, trans: str, stream: int) -> _condition.Solve:
        """Return the function that solves one of the systems, or its adjoint, for a vector of the host."""
        problem, n, all_ = self.problem, self.problem.cols, self.factors
        alone = Factors(problem, self.form, 0)
        alone.count = 1
        alone.at = all_.at + index * all_.step
        alone.pivots = all_.pivots + index * n * self.library.pivot_nbytes
        alone.tau = all_.tau + index * n * self.dtype.itemsize
        alone.table = self.base + self.offsets["alone"]
        alone.info, alone.side_table, alone.work = all_.info, alone.table + 8, all_.work
        letter, conjugate = operation(problem, self.form.turned, trans)
        vector = np.empty(n, self.dtype.name)
        at = self.base + self.offsets["guesses"]

        def solve(values: Array) -> Array:
            vector[...] = values.conj() if conjugate else values
            upload(vector.ctypes.data, at, vector.nbytes, stream)
            whole, self.factors = self.factors, alone
            try:
                self._solve_triangles(letter, at, 0, max(1, n), 1, stream)
            finally:
                self.factors = whole
            download(at, vector.ctypes.data, vector.nbytes, stream)
            return vector.conj() if conjugate else vector.copy()

        return solve

    # --- solution -------------------------------------------------------------------------------------------------------------------

    def _start_solution(self, b: tuple[int, ...], x: tuple[int, ...], trans: str, stream: int) -> Any:
        """Queue a solution; return what owns the memory that it uses."""
        problem, side, owner = self.problem, self.side, None
        at = x[0]
        if not side.direct:
            at, owner = self.adapter.allocate(side.nelements * self.dtype.itemsize, self.device, stream)
        for move in self.before:
            move(b[move.array], at, stream)
        self._take_workspace(self.library.work_nbytes(self.factors, problem.columns), stream)
        self.solve_at(at, side, self.side_step, problem.columns, trans, self.conjugate, stream)
        kind = self.side_step // self.dtype.itemsize, problem.cols, problem.columns, side.ld, _kernels.WHOLE, None
        self.norms(kind, at, (2, 2), stream)
        for move in self.after:
            move(at, x[move.array], stream)
        return owner

    def solve_at(
        self, at: int, side: Form, step: int, columns: int, trans: str, conjugate: Callable[[int, int], None] | None, stream: int
    ) -> None:
        """Queue a solution for columns at an address, `step` bytes from one system to the next."""
        letter, conjugates = operation(self.problem, self.form.turned, trans)
        around = conjugate if conjugates else None
        if around is not None:
            around(at, stream)
        self.library.solve(self.factors, letter, at, step, side.ld, columns, stream)
        if around is not None:
            around(at, stream)

    def _check(self) -> None:
        """Refuse solutions that are not finite."""
        finite = np.isfinite(self.measured[2])
        if not finite.all():
            self.report.refuse_solutions(np.flatnonzero(~finite).tolist())
