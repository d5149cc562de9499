"""A batch of systems on a GPU: all at once where cuDSS can, and those by themselves that it did not do well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from ..._core.errors import IllConditionedWarning, warn
from ..._core.lifetime import Closing
from ...bindings import cudss
from ._cudss import CudssPlan
from ._cudss_handle import Lease
from ._cudss_together import Together
from ._order import Order
from ._problem import SystemProblem, reduced
from ._residual import Judgement, SingularSystemError, Verdict, doubt, explain, worst
from ._sides import Matrix
from ._systems import Answer, PatternChangedError, SystemsPlan

_ASKED_OF_EACH: Final = frozenset({"lu_nnz", "npivots", "num_superpanels", "inertia", "condition", "logdet"})
Pointers = tuple[int, ...]


class CudssBatch(SystemsPlan, Closing):
    """Plans of all systems of a batch.

    While cuDSS serves all of them at once, a system gets a plan of its own only when it needs one.

    Parameters
    ----------
    problem : SystemProblem
        The systems.
    order : Order
        The order of the calls.
    lease : Lease
        The handle of cuDSS; it is given back at the end.
    make : callable
        Makes the plan of one matrix.
    together : callable
        Returns what serves all systems at once, or None where that cannot be.
    on_failure : str
        As of the options.
    blocking : bool
        Whether calls wait.
    """

    def __init__(
        self, problem: SystemProblem, order: Order, lease: Lease, make: Callable[[Matrix], CudssPlan],
        together: Callable[[], Together | None], on_failure: str, *, blocking: bool,
    ) -> None:  # fmt: skip
        super().__init__(problem, [], order=order)
        self._problem, self._make, self._offer, self._on_failure = problem, make, together, on_failure
        self._blocking = blocking
        self._lease: Lease | None = lease
        self._together: Together | None = None
        self._alone: dict[int, CudssPlan] = {}
        """Plans of systems that are taken by themselves, by number."""
        self._weak: frozenset[int] = frozenset()  # systems that were not factorized well together
        self._ready = self._pending = self._stale = False
        self._last: tuple[list[Judgement], list[int]] = [], []  # of the last solution, and who solved by themselves

    # --- phases -----------------------------------------------------------------------------------------------------------------------

    @property
    def factorized(self) -> bool:
        """Whether every matrix is factorized."""
        return self._ready if self._together else bool(self.plans) and super().factorized

    @property
    def description(self) -> str:
        """Who solves what, for the log."""
        return f"cuDSS for {len(self._problem.matrices)} systems{' at once' if self._together else ''}"

    @property
    def nbytes(self) -> int:
        """Bytes that cuDSS holds."""
        return self._together.nbytes if self._together else super().nbytes

    def analyse(self, *arguments: Any) -> None:
        """Read the patterns and plan the factorizations."""
        self._forget()
        made = self._offer()
        try:
            with self._turn(arguments) as mine:
                served = made is not None and made.analyse(*mine)
        except BaseException:
            if made is not None:
                made.close()
            raise
        if served:
            self._together = made
            return
        if made is not None:
            made.close()
        for matrix in self._problem.matrices:
            self.plans.append(self._make(matrix))
        super().analyse(*arguments)

    def accepts(self, *arguments: Any) -> bool:
        """Whether the matrices still have the patterns that were planned."""
        if self._together is None:
            return super().accepts(*arguments)
        self._stale = True
        with self._turn(arguments) as mine:
            return self._together.accepts(*mine)

    def factorize(self, *arguments: Any) -> None:
        """Factorize the present values."""
        together = self._together
        if together is None:
            super().factorize(*arguments)
            return
        with self._turn(arguments) as mine:
            texts = [self._overdue(mine[1])]
            self._ready = False
            if not together.accepts(*mine):
                raise PatternChangedError
            self._drop_alone()
            self._weak = frozenset(together.factorize(*mine[:2]))
            self._stale = False
            texts += [self._factorize_alone(i, *mine) for i in sorted(self._weak)]
            self._ready = True
        self._warn(texts)

    def _factorize_alone(self, i: int, ptrs: Pointers, stream: int, host: Pointers | None = None) -> str:
        """Give a system a plan of its own, with the factors of the present values."""
        with self._named(i):
            plan = self._alone.get(i)
            if plan is None:
                plan = self._make(self._problem.matrices[i])
                try:
                    plan.analyse(ptrs, stream, host)
                except BaseException:
                    plan.close()
                    raise
                self._alone[i] = plan
            return plan._factorize(ptrs, stream)

    @staticmethod
    @contextmanager
    def _named(i: int) -> Iterator[None]:
        """An error says of which system it is."""
        try:
            yield
        except (SingularSystemError, ValueError) as error:
            raise type(error)(f"System {i} of the batch: {error}") from error

    def _overdue(self, stream: int) -> str:
        """What to say of an earlier solution that was not waited for."""
        for i, judgement in enumerate(self._judged(stream)) if self._pending else ():
            if judgement.refused and i not in self._last[1]:
                why = explain(judgement, 0, "cuDSS")
                return f"An earlier solution, which was not waited for, is not good. System {i} of the batch: {why}"
        return next((text for plan in self._alone.values() if (text := plan._overdue(stream))), "")

    @staticmethod
    def _warn(texts: Iterable[str]) -> None:
        for text in texts:
            if text:
                warn(text, IllConditionedWarning)

    # --- solutions --------------------------------------------------------------------------------------------------------------------

    def launch(self, problem: SystemProblem, op: str, notes: dict[int, Judgement]) -> Callable[..., None]:
        """Return the function that solves a problem with these matrices: addresses of operands and result, and the stream."""
        if self._together is None:
            return super().launch(problem, op, notes)
        sides, order = problem.sides, self._order
        assert order is not None
        shapes = {side.b.shape for side in sides}
        plain = reduced(problem.kind, problem.dtype.kind == "f", op) == ("N", False)
        at_once = self._together.solver(sides) if plain and len(shapes) == 1 and sides[0].b.count else None
        count = max(side.slot for side in sides) + 1
        known: dict[int, tuple[CudssPlan, Callable[..., Answer]]] = {}

        def alone(i: int, ptrs: Pointers, x_ptr: int, stream: int) -> str:
            """Solve one system by itself."""
            if i not in self._alone or not self._alone[i].factorized:
                self._factorize_alone(i, ptrs, stream)
            plan = self._alone[i]
            plan._stale |= self._stale  # then its solution is judged before the call returns
            if i not in known or known[i][0] is not plan:
                known[i] = plan, plan.solver(sides[i], op, partial(notes.__setitem__, i))
            with self._named(i):
                return known[i][1](ptrs, x_ptr, stream)[1]

        def run(*arguments: int) -> None:
            ptrs, x_ptr = arguments[:count], arguments[count]
            with order.on(arguments[-1]) as stream:
                texts = self._solve(at_once, alone, ptrs, x_ptr, stream)
            self._warn(texts)

        return run

    def _solve(
        self, at_once: Callable[..., None] | None, alone: Callable[..., str], ptrs: Pointers, x_ptr: int, stream: int
    ) -> list[str]:
        """Solve together, then by themselves what that did not do; return what to warn of."""
        if at_once is None or not self._try(at_once, ptrs, x_ptr, stream):
            everyone = list(range(len(self._problem.matrices)))
            self._pending, self._last = False, ([], everyone)
            return [alone(i, ptrs, x_ptr, stream) for i in everyone]
        self._pending, self._last = True, ([], sorted(self._weak))
        bad, texts = set(self._weak), []
        if self._blocking or self._stale:
            for i, judgement in enumerate(self._judged(stream)):
                if i in bad:
                    continue
                if judgement.refused:
                    self._refuse(i, judgement)
                    bad.add(i)
                elif judgement.verdict is Verdict.DOUBTFUL:
                    texts.append(f"System {i} of the batch: {doubt(judgement)}")
            self._last = self._last[0], sorted(bad)
        return texts + [alone(i, ptrs, x_ptr, stream) for i in sorted(bad)]

    @staticmethod
    def _try(at_once: Callable[..., None], *arguments: Any) -> bool:
        """Tell whether cuDSS does it."""
        try:
            at_once(*arguments)
        except cudss.cuDSSError:
            return False
        return True

    def _refuse(self, i: int, judgement: Judgement) -> None:
        """With on_failure="raise" new values are not factorized for a solution."""
        if self._stale and self._on_failure == "raise":
            with self._named(i):
                raise SingularSystemError(explain(judgement, 0, "cuDSS"))

    def _judged(self, stream: int) -> list[Judgement]:
        """How good the last solution of each system is; waits for one that is under way."""
        if self._pending:
            assert self._together is not None
            self._pending, self._last = False, (self._together.read(stream), self._last[1])
        return self._last[0]

    # --- what can be asked --------------------------------------------------------------------------------------------------------------

    def residual(self, notes: dict[int, Judgement]) -> float | None:
        """Of the worst of the last solutions; waits for one that is under way."""
        if self._together is None:
            return super().residual(notes)
        assert self._order is not None
        with self._order.now() as stream:
            found = [one for i, one in enumerate(self._judged(*stream)) if i not in self._last[1]]
            plans = [self._alone[i] for i in self._last[1] if i in self._alone]
            found += [one for plan in plans if (one := plan.judged(*stream)) is not None]
        return worst(found).residual if found else None

    def info(self, name: str, ptrs: Pointers) -> Any:
        """Return a piece of information about all systems; most are asked of each system by itself."""
        if self._together is None:
            return super().info(name, ptrs)
        if name == "info":
            return 0  # an error has been raised
        if name == "memory":
            with self._now():
                return self._together.memory()
        if name in _ASKED_OF_EACH:
            with self._now() as stream:
                for i in range(len(self._problem.matrices)):
                    if i not in self._alone:
                        self._factorize_alone(i, ptrs, stream[0])
            self.plans = [self._alone[i] for i in range(len(self._problem.matrices))]
        try:
            return super().info(name, ptrs)
        finally:
            self.plans = []

    # --- the end ----------------------------------------------------------------------------------------------------------------------

    def _drop_alone(self) -> None:
        while self._alone:
            self._alone.popitem()[1].close()

    def _forget(self) -> None:
        """Give up all plans."""
        self._drop_alone()
        together, self._together = self._together, None
        if together is not None:
            together.close()
        while self.plans:
            self.plans.pop().close()
        self._ready = self._pending = self._stale = False
        self._weak, self._last = frozenset(), ([], [])

    def close(self) -> None:
        """Queue everything for destruction."""
        super().close()
        self._end()

    def _end(self) -> None:
        self._forget()
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.close()
