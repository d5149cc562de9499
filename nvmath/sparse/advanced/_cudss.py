"""One sparse system on a GPU through cuDSS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

import numpy as np

from ..._core import kernels
from ..._core.arrays import Adapter
from ..._core.layout import dense
from ..._core.lifetime import Closing
from ..._core.options import available_threads
from ..._core.place import Cuda
from ..._core.staging import upload
from ...bindings import cudss, mkl_pardiso
from ._condition import disproof, estimate, whole
from ._config import CudssConfig
from ._cuda_kernel import Kernel
from ._cuda_matrix import DeviceMatrix, Pointers, fetch
from ._cuda_residual import Residual
from ._cudss_graph import Graphs, Repeatable
from ._cudss_handle import Lease
from ._cudss_system import ANALYSIS, FACTORIZATION, CudssSystem
from ._determinant import slogdet
from ._engine import DEFINITE
from ._host import SUSPICIOUS, random_row, reduced
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._options import DirectSolverOptions, HybridMemoryModeOptions
from ._pattern import Array
from ._problem import SystemProblem
from ._residual import EPS, PERFECT, Judgement, SingularSystemError, Verdict, doubt, explain
from ._sides import Matrix, Side
from ._systems import Answer, PatternChangedError

_STEPS: Final = 10
"""Steps of refinement when a solution is not good enough."""


class CudssPlan(Closing):
    """One system on one GPU.

    Parameters
    ----------
    problem : SystemProblem
        All systems.
    matrix : Matrix
        The one of this plan.
    place, adapter
        The GPU, and the package that gives memory.
    config : CudssConfig
        Settings of the phases.
    options : DirectSolverOptions
        What was asked.
    lease : Lease
        The handle of cuDSS, and the order of the calls of the solver.
    memory : HybridMemoryModeOptions
        Whether factors may be kept in host memory.
    hybrid : bool
        Whether the CPU helps; then cuDSS takes one column at a time.
    blocking : bool
        Whether calls wait.
    transposed : bool
        Whether the transpose is solved with.
    """

    library = "cuDSS"

    _system: Any = None

    def __init__(
        self, problem: SystemProblem, matrix: Matrix, place: Cuda, adapter: Adapter, config: CudssConfig, options: DirectSolverOptions,
        lease: Lease, *, memory: HybridMemoryModeOptions, hybrid: bool = False, blocking: bool = True, transposed: bool = False,
    ) -> None:  # fmt: skip
        self.problem, self.n, self.place, self.adapter = problem, matrix.n, place, adapter
        self.options, self.hybrid, self.blocking = options, hybrid, blocking
        self.factorized = self.shared = False
        self.nbytes = 0
        self.replaced = 0
        """Number of pivots that the factorization replaced."""
        self._count = 0  # of factorizations
        self._matrix = DeviceMatrix(problem, matrix, place, adapter, lease.order, transposed)
        self._residual: Residual | None = None
        self._judgement: Judgement | None = None
        self._pending = False
        self._stale = False
        self._child: CudssPlan | None = None
        self._random: Array | None = None
        self._turns = not hybrid and problem.kind is Kind.GENERAL and CudssSystem.may_transpose()
        self._system = CudssSystem(matrix.n, problem.dtype.code, place, config, lease, memory)
        self.graphs = Graphs(lease.order)

    # --- phases -----------------------------------------------------------------------------------------------------------------------

    def analyse(self, ptrs: Pointers, stream: int, host: Pointers | None) -> None:
        """Read the pattern and plan the factorization."""
        system, matrix = self._system, self._matrix
        system.unmatch()
        self._drop_child()
        self.factorized = self._pending = False
        matrix.analyse(ptrs, stream, host)
        if not matrix.nnz:
            raise SingularSystemError("The matrix a has no entries, so it is singular.")
        self._plan(ptrs, stream)

    def _plan(self, ptrs: Pointers, stream: int) -> None:
        """Plan the factorization of what the matrix is now."""
        system, matrix = self._system, self._matrix
        self._drop_residual()
        system.describe(matrix, matrix.pointers(ptrs, stream))
        (types, part), hermitian = matrix.judged_as, self.problem.kind in (Kind.HERMITIAN, Kind.HPD)
        self._residual = Residual(
            self.n, self.problem.dtype, types, hermitian, part, self.place, self.adapter, matrix.order
        )
        self._prepare(ANALYSIS, ptrs)
        self.nbytes = system.data.memory().get("permanent_device_memory", 0)

    def _prepare(self, phase: int, ptrs: Pointers) -> None:
        self._system.prepare(phase, ptrs[self.problem.sides[0].slot])

    def accepts(self, ptrs: Pointers, stream: int, host: Pointers | None) -> bool:
        """Whether the matrix still has the pattern that was planned."""
        self._stale = True
        return self._matrix.accepts(ptrs, stream, host)

    def factorize(self, ptrs: Pointers, stream: int, host: Pointers | None) -> str:
        """Factorize the present values; blocks, since whether it succeeded is known only then. Return what to warn of."""
        overdue = self._overdue(stream)
        self.factorized = False
        if not self._matrix.accepts(ptrs, stream, host):
            raise PatternChangedError
        return self._factorize(ptrs, stream) or overdue

    def _factorize(self, ptrs: Pointers, stream: int) -> str:
        reason, cause = "", None
        for found in self._attempts(ptrs, stream):
            reason, cause = found
            if not reason:
                break
        if reason and (cause is not None or self.options.on_failure != "warn"):
            raise SingularSystemError(reason) from cause
        self._succeed()
        return reason

    def _attempts(self, ptrs: Pointers, stream: int) -> Iterator[tuple[str, Exception | None]]:
        """Factorize, by stronger means each time; yield why that failed, if it did. After an error there are no factors."""
        yield self._attempt(ptrs, stream)
        for climb in (self._match, self._generalize):
            if self.options.on_failure != "raise" and climb(ptrs, stream):
                yield self._attempt(ptrs, stream, suspect=True)

    def _succeed(self) -> None:
        self._stale, self.factorized = False, True
        self._count += 1

    def _attempt(self, ptrs: Pointers, stream: int, *, suspect: bool = False) -> tuple[str, Exception | None]:
        """Factorize; where pivots were replaced, or that failed before, or a solution is large, the factors must prove themselves.

        Return why that failed, if it did.
        """
        self._system.point(self._matrix.pointers(ptrs, stream))
        self._prepare(FACTORIZATION, ptrs)
        self.place.wait(stream)
        error = self._system.data.scalar("info")
        if error:
            what = "not positive definite, or singular" if self.problem.kind in DEFINITE else "singular"
            reason = f"The matrix a is {what}: cuDSS reports error {error} of the factorization."
            return reason, SingularSystemError(reason)
        self.replaced = self._system.data.scalar("npivots")
        if not (self.replaced or suspect or self._may_be_singular(ptrs, stream)):
            return "", None

        def solve(b: Array, op: str) -> Array:
            return self._solve_on_host(ptrs, b[:, None], op, stream)[:, 0]

        # The factors of the transpose, which the condition needs, may be those of values before.
        return disproof(self._whole(ptrs, stream), "cuDSS", self.replaced, solve, conditioned=False), None

    def _may_be_singular(self, ptrs: Pointers, stream: int) -> bool:
        """Whether a solution for random numbers is as large as one with a matrix that is singular but for rounding."""
        assert self._residual is not None
        if self._random is None:
            self._random = random_row(self.n, self.problem.dtype.name)
        target, owners = self._queue(ptrs, self._random, "N", stream, 0)
        _, right, size, norm = self._residual.numbers(stream)[0]
        self._pending = False
        unit = EPS[self.problem.dtype.name] * norm
        if unit * size * self.n**0.5 <= SUSPICIOUS * right:  # then the solution need not be fetched
            return False
        x = fetch(target, self.n, self.problem.dtype, stream)
        owners.clear()
        return not unit * abs(np.vdot(x, x)) ** 0.5 <= SUSPICIOUS * right  # NaN as well

    def _whole(self, ptrs: Pointers, stream: int) -> Any:
        """The matrix in host memory, with all its entries."""
        pattern, data = self._matrix.on_host(ptrs, stream)
        half = self.problem.kind is not Kind.GENERAL and self.problem.part is not Part.FULL
        return whole(pattern, data, half, self.problem.kind in (Kind.HERMITIAN, Kind.HPD))

    def _match(self, ptrs: Pointers, stream: int) -> bool:
        """Plan anew with large elements on the diagonal; tell whether that could be done, and had not been done yet."""
        system = self._system
        if not system.may_match:
            return False
        try:
            system.match()
            self._prepare(ANALYSIS, ptrs)
        except cudss.cuDSSError:  # not for this kind of matrix
            system.unmatch()
            for phase in (ANALYSIS, FACTORIZATION):
                self._prepare(phase, ptrs)
            return False
        return True

    def _generalize(self, ptrs: Pointers, stream: int) -> bool:
        """Plan anew as for a general matrix, whose pivots are better; tell whether that could be done, and had not been done yet."""
        if self.problem.kind in DEFINITE or not self._matrix.generalize(ptrs, stream):
            return False
        self._plan(ptrs, stream)
        return True

    # --- solutions --------------------------------------------------------------------------------------------------------------------

    def solver(self, side: Side, op: str, note: Callable[[Judgement], None]) -> Callable[[Pointers, int, int], Answer]:
        """Return the function that solves for one right-hand side: addresses of the operands, the result and the stream.

        It notes nothing: how good a solution is may be known later, see :meth:`judged`.
        """
        count, n, dtype, device = side.b.count, self.n, self.problem.dtype, self.place.device_id
        if count == 0:
            return lambda *_: (PERFECT, "")
        op, conjugated = self._reduced(op)
        # cuDSS wants columns one behind the other: others go through a copy
        packed = dense(side.b.shape, range(len(side.b.shape)))
        nbytes, item = n * count * dtype.itemsize, dtype.itemsize
        b_ld, x_ld = (0, 0) if conjugated else (side.b.leading, side.x.leading)
        pack = None if b_ld else kernels.move(device, side.b.shape, side.b.strides, packed, dtype, dtype)
        unpack = None if x_ld else kernels.move(device, side.x.shape, packed, side.x.strides, dtype, dtype)
        conjugate = Kernel(device, "conjugate", 2, dtype) if conjugated else None
        slot, b_begin, x_begin = side.slot, side.b.start * item, side.x.start * item

        def run(ptrs: Pointers, x_ptr: int, stream: int) -> Answer:
            owners = []
            source, target = ptrs[slot] + b_begin, x_ptr + x_begin
            if pack is not None:
                source, owner = self.adapter.allocate(nbytes, device, stream)
                owners.append(owner)
                pack(ptrs[slot] + b_begin, source, stream)
            if unpack is not None:
                target, owner = self.adapter.allocate(nbytes, device, stream)
                owners.append(owner)
            if conjugate is not None:
                conjugate(stream, n * count, 1, n * count, source)
            where = source, b_ld or n, target, x_ld or n, count, stream
            answer = self._answer(ptrs, *where) if op == "N" else self._answer_transposed(ptrs, *where)
            if conjugate is not None:
                conjugate(stream, n * count, 1, n * count, target)
            if unpack is not None:
                unpack(target, x_ptr + x_begin, stream)
            return answer

        if op != "N" or conjugated or pack is not None or unpack is not None or self.hybrid or not self._system.repeats:
            return run

        def queue(ptrs: Pointers, x_ptr: int) -> None:
            self._run(ptrs, ptrs[slot] + b_begin, b_ld, x_ptr + x_begin, x_ld, count, self._matrix.order.stream)

        return Repeatable(self, run, queue, slot + 1, count)

    @property
    def state(self) -> Any:
        """Compares equal as long as a solution that was captured may be done again; None if none may be captured."""
        made, residual = self._system.state, self._residual
        return None if made is None or residual is None else (*made, residual.cells, residual.told, residual.scratch)

    def _answer_transposed(self, ptrs: Pointers, *where: int) -> Answer:
        """Solve with the transpose: with the factors that there are, if cuDSS can and does it well, else with its own.

        Its own are one of the stronger means, which ``on_failure="raise"`` skips where cuDSS can do without.
        """
        if self._turns:
            try:
                answer = self._answer(ptrs, *where, turned=True)
                if answer[0] is None or not answer[0].refused:
                    return answer
            except SingularSystemError:
                if self.options.on_failure == "raise":
                    raise
            except cudss.cuDSSError:  # not for this matrix
                pass
            self._turns = False
        plan = self._transposed(ptrs, where[-1])
        answer = plan._answer(ptrs, *where)
        self._judgement, self._pending = plan._judgement, False
        return answer

    def _reduced(self, op: str) -> tuple[str, bool]:
        """Say whether to solve with the transpose, and whether with the conjugates of all numbers."""
        op, conjugated = reduced(self.problem.kind, self.problem.dtype.kind == "f", op)
        return ("T", not conjugated) if op == "H" else (op, conjugated)

    def _answer(
        self, ptrs: Pointers, b: int, b_ld: int, x: int, x_ld: int, count: int, stream: int, *, turned: bool = False
    ) -> Answer:
        """Solve as well as it can be done; return the judgement, if it could be waited for, and what to warn of."""
        self._run(ptrs, b, b_ld, x, x_ld, count, stream, turned=turned)
        answer = self.judged_now(count, stream)
        if answer is not None:
            return answer
        retry, judgement = self.options.on_failure != "raise", self._judgement
        assert judgement is not None
        if retry:
            judgement = self._solve(ptrs, b, b_ld, x, x_ld, count, stream, turned=turned)
        if judgement.refused and retry:  # the values may have changed since they were factorized
            attempts = self._attempts(ptrs, stream)
            for reason, cause in islice(attempts, 1) if turned else attempts:  # the transpose by itself is what comes next then
                self.factorized = cause is None and (not reason or self.options.on_failure == "warn")
                if not reason:
                    self._succeed()
                    judgement = self._solve(ptrs, b, b_ld, x, x_ld, count, stream, turned=turned)
                    if not judgement.refused:
                        break
        if not judgement.refused:
            return judgement, doubt(judgement) if judgement.verdict is Verdict.DOUBTFUL else ""
        reason = explain(judgement, self.replaced, "cuDSS")
        if self.options.on_failure == "warn":
            return judgement, reason
        raise SingularSystemError(reason)

    def judged_now(self, count: int, stream: int) -> Answer | None:
        """Judge columns whose solution has been queued, if that is waited for; None: they are not good enough."""
        residual = self._residual
        assert residual is not None
        residual.count = count
        self._judgement, self._pending = None, True
        if not (self.blocking or self.replaced or self._stale):
            return None, ""
        judgement = self._read(stream)
        if judgement.refused or (judgement.improvable and self.options.on_failure != "raise"):
            return None
        return judgement, doubt(judgement) if judgement.verdict is Verdict.DOUBTFUL else ""

    def _solve(
        self, ptrs: Pointers, b: int, b_ld: int, x: int, x_ld: int, count: int, stream: int, *, turned: bool
    ) -> Judgement:
        """Solve with refinement, and judge. Blocks."""
        refines = self.options.on_failure != "raise"
        steps = self._system.settings.get("ir_num_steps")
        steps = max(steps, _STEPS) if refines else steps
        self._run(ptrs, b, b_ld, x, x_ld, count, stream, steps, turned=turned)
        return self._read(stream)

    def _run(
        self, ptrs: Pointers, b: int, b_ld: int, x: int, x_ld: int, count: int, stream: int, steps: int | None = None,
        *, turned: bool = False,
    ) -> None:  # fmt: skip
        """Solve and compute the residual, without waiting; `turned` with the transpose."""
        read = self._matrix.pointers(ptrs, stream)
        self._system.point(read)
        each = self.problem.dtype.itemsize if self.hybrid else 0
        residual = self._residual
        assert residual is not None
        if turned:
            with self._system.transposing():
                self._system.solve((x, x_ld), (b, b_ld), count, each=each, steps=steps)
            residual.launch_transposed(self._matrix.judged(ptrs, read), x, x_ld, b, b_ld, count, stream)
        else:
            self._system.solve((x, x_ld), (b, b_ld), count, each=each, steps=steps)
            residual.launch(self._matrix.judged(ptrs, read), x, x_ld, b, b_ld, count, stream)

    def _read(self, stream: int) -> Judgement:
        assert self._residual is not None
        self._judgement, self._pending = self._residual.read(stream), False
        return self._judgement

    def judged(self, stream: int) -> Judgement | None:
        """How good the last solution is; waits for one that is under way."""
        if self._child is not None and self._child._pending:
            self._judgement = self._child.judged(stream)
        return self._read(stream) if self._pending else self._judgement

    def _overdue(self, stream: int) -> str:
        """What to say of an earlier solution that was not waited for."""
        children = [] if self._child is None else [self._child]
        for plan in (self, *children):
            if plan._pending and (judgement := plan._read(stream)).refused:
                return f"An earlier solution, which was not waited for, is not good. {explain(judgement, plan.replaced, 'cuDSS')}"
        return ""

    def _transposed(self, ptrs: Pointers, stream: int) -> CudssPlan:
        """The plan of the transpose, factorized for the present factorization."""
        child = self._child
        if child is None:
            system, problem = self._system, self.problem
            child = CudssPlan(
                problem, self._matrix.matrix, self.place, self.adapter, system.settings, self.options, system.lease,
                memory=system.memory, hybrid=self.hybrid, blocking=self.blocking, transposed=True,
            )  # fmt: skip
            try:
                child.analyse(ptrs, stream, None)
            except BaseException:
                child.close()
                raise
            self._child, child._count = child, -1
        if child._count != self._count:
            child._factorize(ptrs, stream)
            child._count = self._count
        child._stale = self._stale
        return child

    def _drop_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _drop_residual(self) -> None:
        residual, self._residual = self._residual, None
        if residual is not None:
            residual.close()

    # --- what can be asked ------------------------------------------------------------------------------------------------------------

    def info(self, name: str, ptrs: Pointers, stream: int) -> Any:
        """Return a piece of information."""
        if name == "condition":
            return self._condition(ptrs, stream)
        if name == "logdet":
            return slogdet(self._whole(ptrs, stream))
        if name == "inertia":
            return self._inertia(ptrs, stream)
        return self._system.info(name, self.problem.dtype)

    def _inertia(self, ptrs: Pointers, stream: int) -> Any:
        """What cuDSS counts; it was seen to answer (0, 0) where there was matching, and then the CPU counts."""
        if self.problem.kind in DEFINITE:
            return [self.n, 0]
        found = self._system.info("inertia", self.problem.dtype)
        if found.sum() == self.n:
            return found
        if not mkl_pardiso.present():
            raise NotImplementedError("cuDSS does not tell the inertia of this matrix. Install MKL (pip install mkl).")
        from ._pardiso import inertia

        return inertia(self._whole(ptrs, stream), available_threads())

    def _condition(self, ptrs: Pointers, stream: int) -> float:
        norm, kept = float(abs(self._whole(ptrs, stream)).sum(axis=0).max()), self.judged(stream)
        found = estimate(norm, self.n, self.problem.dtype.name, lambda b, op: self._solve_on_host(ptrs, b, op, stream))
        self._judgement = kept
        return found

    def _solve_on_host(self, ptrs: Pointers, b: Array, op: str, stream: int) -> Array:
        """Solve for columns in host memory, with refinement."""
        op, conjugated = self._reduced(op)
        rows = np.ascontiguousarray(b.T.conj() if conjugated else b.T, self.problem.dtype.name).reshape(-1, self.n)
        target, owners = self._queue(ptrs, rows, op, stream, 0 if self.options.on_failure == "raise" else _STEPS)
        x = fetch(target, rows.size, self.problem.dtype, stream).reshape(rows.shape)
        owners.clear()
        return (x.conj() if conjugated else x).T.reshape(b.shape)

    def _queue(self, ptrs: Pointers, rows: Array, op: str, stream: int, steps: int) -> tuple[int, list[Any]]:
        """Solve for columns that are rows of an array in host memory; return where the solution will be, and the owners of the memory."""
        memory = [self.adapter.allocate(max(1, rows.nbytes), self.place.device_id, stream) for _ in range(2)]
        (source, _), (target, _) = memory
        upload(rows.ctypes.data, source, rows.nbytes, stream)
        turned = op != "N" and self._turns
        plan = self if op == "N" or turned else self._transposed(ptrs, stream)
        plan._run(ptrs, source, self.n, target, self.n, len(rows), stream, steps, turned=turned)
        plan._pending = False
        return target, memory

    # --- the end ----------------------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Queue everything for destruction, and give the handle back."""
        if self._system is None:
            return
        self.graphs.clear()
        self._drop_child()
        self._matrix.close()
        self._drop_residual()
        self._system.close()
