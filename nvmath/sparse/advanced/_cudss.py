"""One sparse system on a GPU through cuDSS."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from ..._core import kernels
from ..._core.arrays import Adapter
from ..._core.layout import dense
from ..._core.lifetime import Closing
from ..._core.options import available_threads
from ..._core.place import Cuda
from ...bindings import cudss, mkl_pardiso
from ._condition import estimate
from ._config import CudssConfig
from ._cuda_kernel import Kernel
from ._cuda_matrix import Pointers
from ._cudss_factors import STEPS, CudssFactors
from ._cudss_graph import Graphs, Repeatable
from ._cudss_handle import Lease
from ._cudss_system import CudssSystem
from ._determinant import slogdet
from ._engine import DEFINITE
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverOptions, HybridMemoryModeOptions
from ._pattern import Array
from ._problem import SystemProblem, reduced
from ._residual import PERFECT, Judgement, SingularSystemError, Verdict, doubt, explain
from ._sides import Matrix, Side
from ._systems import Answer, PatternChangedError


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

    _factors: Any = None

    def __init__(
        self, problem: SystemProblem, matrix: Matrix, place: Cuda, adapter: Adapter, config: CudssConfig, options: DirectSolverOptions,
        lease: Lease, *, memory: HybridMemoryModeOptions, hybrid: bool = False, blocking: bool = True, transposed: bool = False,
    ) -> None:  # fmt: skip
        self.problem, self.n, self.place, self.adapter = problem, matrix.n, place, adapter
        self.options, self.hybrid, self.blocking = options, hybrid, blocking
        self.factorized = self.shared = False
        self._count = 0  # of factorizations
        self._judgement: Judgement | None = None
        self._pending = False
        self._stale = False
        self._child: CudssPlan | None = None
        self._turns = not hybrid and problem.kind is Kind.GENERAL and CudssSystem.may_transpose()
        self._factors = CudssFactors(
            problem, matrix, place, adapter, config, options, lease, memory=memory, hybrid=hybrid, transposed=transposed
        )
        self.graphs = Graphs(lease.order)

    # --- phases -----------------------------------------------------------------------------------------------------------------------

    def analyse(self, ptrs: Pointers, stream: int, host: Pointers | None) -> None:
        """Read the pattern and plan the factorization."""
        self._drop_child()
        self.factorized = self._pending = False
        self._factors.analyse(ptrs, stream, host)

    @property
    def nbytes(self) -> int:
        """Bytes that cuDSS holds."""
        return self._factors.nbytes  # type: ignore[no-any-return]

    def accepts(self, ptrs: Pointers, stream: int, host: Pointers | None) -> bool:
        """Whether the matrix still has the pattern that was planned."""
        self._stale = True
        accepted: bool = self._factors.matrix.accepts(ptrs, stream, host)
        return accepted

    def factorize(self, ptrs: Pointers, stream: int, host: Pointers | None) -> str:
        """Factorize the present values; blocks, since whether it succeeded is known only then. Return what to warn of."""
        overdue = self._overdue(stream)
        self.factorized = False
        if not self._factors.matrix.accepts(ptrs, stream, host):
            raise PatternChangedError
        return self._factorize(ptrs, stream) or overdue

    def _factorize(self, ptrs: Pointers, stream: int) -> str:
        reason, cause = "", None
        for found in self._factors.attempts(ptrs, stream):
            reason, cause = found
            if not reason:
                break
        if reason and (cause is not None or self.options.on_failure != "warn"):
            raise SingularSystemError(reason) from cause
        self._succeed()
        return reason

    def _succeed(self) -> None:
        self._stale, self.factorized = False, True
        self._count += 1

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

        if op != "N" or conjugated or pack is not None or unpack is not None or self.hybrid or not self._factors.system.repeats:
            return run

        def queue(ptrs: Pointers, x_ptr: int) -> None:
            self._factors.run(ptrs, ptrs[slot] + b_begin, b_ld, x_ptr + x_begin, x_ld, count, self._factors.matrix.order.stream)

        return Repeatable(self, self._factors, run, queue, slot + 1, (count, b_ld, x_ld))

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
        self._factors.run(ptrs, b, b_ld, x, x_ld, count, stream, turned=turned)
        answer = self.judged_now(count, stream)
        if answer is not None:
            return answer
        retry, judgement = self.options.on_failure != "raise", self._judgement
        assert judgement is not None
        if retry:
            judgement = self._solve(ptrs, b, b_ld, x, x_ld, count, stream, turned=turned)
        if judgement.refused and retry:  # the values may have changed since they were factorized
            attempts = self._factors.attempts(ptrs, stream)
            for reason, cause in islice(attempts, 1) if turned else attempts:  # the transpose by itself is what comes next then
                self.factorized = cause is None and (not reason or self.options.on_failure == "warn")
                if not reason:
                    self._succeed()
                    judgement = self._solve(ptrs, b, b_ld, x, x_ld, count, stream, turned=turned)
                    if not judgement.refused:
                        break
        if not judgement.refused:
            return judgement, doubt(judgement) if judgement.verdict is Verdict.DOUBTFUL else ""
        reason = explain(judgement, self._factors.replaced, "cuDSS")
        if self.options.on_failure == "warn":
            return judgement, reason
        raise SingularSystemError(reason)

    def judged_now(self, count: int, stream: int) -> Answer | None:
        """Judge columns whose solution has been queued, if that is waited for; None: they are not good enough."""
        residual = self._factors.residual
        assert residual is not None
        residual.count = count
        self._judgement, self._pending = None, True
        if not (self.blocking or self._factors.replaced or self._stale):
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
        steps = self._factors.system.settings.get("ir_num_steps")
        steps = max(steps, STEPS) if refines else steps
        self._factors.run(ptrs, b, b_ld, x, x_ld, count, stream, steps, turned=turned)
        return self._read(stream)

    def _read(self, stream: int) -> Judgement:
        assert self._factors.residual is not None
        self._judgement, self._pending = self._factors.residual.read(stream), False
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
                return f"An earlier solution, which was not waited for, is not good. {explain(judgement, plan._factors.replaced, 'cuDSS')}"
        return ""

    def _transposed(self, ptrs: Pointers, stream: int) -> CudssPlan:
        """The plan of the transpose, factorized for the present factorization."""
        child = self._child
        if child is None:
            system, problem = self._factors.system, self.problem
            child = CudssPlan(
                problem, self._factors.matrix.matrix, self.place, self.adapter, system.settings, self.options, system.lease,
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

    # --- what can be asked ------------------------------------------------------------------------------------------------------------

    def info(self, name: str, ptrs: Pointers, stream: int) -> Any:
        """Return a piece of information."""
        if name == "condition":
            return self._condition(ptrs, stream)
        if name == "logdet":
            return slogdet(self._factors.whole(ptrs, stream))
        if name == "inertia":
            return self._inertia(ptrs, stream)
        return self._factors.system.info(name, self.problem.dtype)

    def _inertia(self, ptrs: Pointers, stream: int) -> Any:
        """What cuDSS counts; it was seen to answer (0, 0) where there was matching, and then the CPU counts."""
        if self.problem.kind in DEFINITE:
            return [self.n, 0]
        found = self._factors.system.info("inertia", self.problem.dtype)
        if found.sum() == self.n:
            return found
        if not mkl_pardiso.present():
            raise NotImplementedError("cuDSS does not tell the inertia of this matrix. Install MKL (pip install mkl).")
        from ._pardiso import inertia

        return inertia(self._factors.whole(ptrs, stream), available_threads())

    def _condition(self, ptrs: Pointers, stream: int) -> float:
        norm, kept = float(abs(self._factors.whole(ptrs, stream)).sum(axis=0).max()), self.judged(stream)
        found = estimate(norm, self.n, self.problem.dtype.name, lambda b, op: self._solve_on_host(ptrs, b, op, stream))
        self._judgement = kept
        return found

    def _solve_on_host(self, ptrs: Pointers, b: Array, op: str, stream: int) -> Array:
        """Solve for a vector in host memory, with refinement."""
        op, conjugated = self._reduced(op)
        row = np.ascontiguousarray(b.conj() if conjugated else b, self.problem.dtype.name)[None]
        turned = op != "N" and self._turns
        plan = self if op == "N" or turned else self._transposed(ptrs, stream)
        x: Array = plan._factors.solve_rows(ptrs, row, stream, turned=turned)[0]
        return x.conj() if conjugated else x

    # --- the end ----------------------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Queue everything for destruction, and give the handle back."""
        if self._factors is None:
            return
        self.graphs.clear()
        self._drop_child()
        self._factors.close()
