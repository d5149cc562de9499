"""All systems of a problem: a plan for each, one after the other, or several at once on the CPU."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from ..._core.errors import IllConditionedWarning, warn
from ._order import Order
from ._problem import SystemProblem
from ._residual import Judgement, SingularSystemError, worst
from ._sides import Side

_SUMS: Final = frozenset({"lu_nnz", "npivots", "num_superpanels"})
_ROWS: Final = frozenset({"inertia", "condition"})
_TOLD: Final = 4
"""How many systems that failed an error tells of one by one."""
_OF_BATCHES: Final = _SUMS | _ROWS | {"info", "memory", "logdet"}
Answer = tuple[Judgement | None, str]
"""How good a solution is, if that is known already, and what to warn of."""


class PatternChangedError(RuntimeError):
    """The pattern of the matrix is not the one that was planned."""

    def __init__(self) -> None:
        super().__init__("The pattern of the matrix a has changed since plan(). Call plan() again.")


class Plan(Protocol):
    """One system in a library."""

    library: str
    factorized: bool
    shared: bool
    nbytes: int

    def factorize(self, ptrs: tuple[int, ...], *stream: int) -> str: ...

    def solver(self, side: Side, op: str, note: Callable[[Judgement], None]) -> Callable[..., Answer]: ...

    def info(self, name: str, ptrs: tuple[int, ...], *stream: int) -> Any: ...

    def close(self) -> None: ...


class SystemsPlan:
    """Plans of all systems of a problem.

    Parameters
    ----------
    problem : SystemProblem
        The systems.
    plans : sequence of Plan
        One for each matrix.
    threads : int
        Number of systems that may be under way at once.
    order : Order, optional
        On a GPU, the order of the calls.
    """

    workspace_nbytes = 0

    def __init__(self, problem: SystemProblem, plans: list[Any], threads: int = 1, order: Order | None = None) -> None:
        self.plans, self._batched, self._order = plans, problem.batched, order
        self._users, self._lock = 1, threading.Lock()
        self._pool = ThreadPoolExecutor(threads, "nvmath-systems") if threads > 1 and len(plans) > 1 else None

    # --- phases -----------------------------------------------------------------------------------------------------------------------

    @property
    def factorized(self) -> bool:
        """Whether every matrix is factorized."""
        plans = self.plans
        return plans[0].factorized if len(plans) == 1 else all(plan.factorized for plan in plans)

    @property
    def description(self) -> str:
        """Who solves what, for the log."""
        count = len(self.plans)
        return f"{self.plans[0].library} for {count} system{'s' if count > 1 else ''}"

    @property
    def nbytes(self) -> int:
        """Bytes that the libraries hold."""
        return sum(plan.nbytes for plan in self.plans)

    def analyse(self, *arguments: Any) -> None:
        """Read the patterns and plan the factorizations."""
        with self._turn(arguments) as mine:
            self._each(lambda plan: plan.analyse(*mine))

    def accepts(self, *arguments: Any) -> bool:
        """Whether the matrices still have the patterns that were planned."""
        with self._turn(arguments) as mine:
            return all(plan.accepts(*mine) for plan in self.plans)

    def factorize(self, *arguments: Any) -> None:
        """Factorize the present values."""
        with self._turn(arguments) as mine:
            texts = self._each(lambda plan: plan.factorize(*mine))
        for text in texts:
            if text:
                warn(text, IllConditionedWarning)

    def launch(self, problem: SystemProblem, op: str, notes: dict[int, Judgement]) -> Callable[..., None]:
        """Return the function that solves a problem with these matrices: addresses of operands and result, on a GPU the stream.

        How good the solution for each right-hand side is it writes to `notes`, which is read by :meth:`residual`.
        """
        solvers = [
            self.plans[side.matrix].solver(side, op, partial(notes.__setitem__, index))
            for index, side in enumerate(problem.sides)
        ]
        count = max(side.slot for side in problem.sides) + 1

        def run_one(*ptrs: int) -> None:
            _, text = only(ptrs[:count], *ptrs[count:])
            if text:
                warn(text, IllConditionedWarning)

        def run(*ptrs: int) -> None:
            operands, rest = ptrs[:count], ptrs[count:]
            for _, text in self._over(lambda solver: solver(operands, *rest), solvers):
                if text:
                    warn(text, IllConditionedWarning)

        if len(solvers) == 1:
            only = solvers[0]
        order = self._order
        if order is None:
            return run_one if len(solvers) == 1 else run

        def run_one_in_order(*ptrs: int) -> None:
            with order.on(ptrs[-1]) as stream:
                _, text = only(ptrs, ptrs[count], stream)  # of the addresses the first count are read
            if text:
                warn(text, IllConditionedWarning)

        def run_repeatable(*ptrs: int) -> None:
            answer = repeatable.again(ptrs, ptrs[count], ptrs[-1])
            if answer is None:
                with order.on(ptrs[-1]) as stream:
                    answer = repeatable(ptrs, ptrs[count], stream)
                    repeatable.keep(ptrs, ptrs[count], answer)
            if answer[1]:
                warn(answer[1], IllConditionedWarning)

        def run_in_order(*ptrs: int) -> None:
            with order.on(ptrs[-1]) as stream:
                run(*ptrs[:-1], stream)

        if len(solvers) == 1 and hasattr(solvers[0], "again"):
            repeatable: Any = solvers[0]
            return run_repeatable
        return run_one_in_order if len(solvers) == 1 else run_in_order

    @contextmanager
    def _turn(self, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """A phase on a GPU comes behind the one before; gives its arguments, of which the second is the stream of the solver now."""
        if self._order is None:
            yield arguments
            return
        with self._order.on(arguments[1]) as stream:
            yield arguments[0], stream, *arguments[2:]

    def _now(self) -> AbstractContextManager[tuple[int, ...]]:
        """Like a phase, on the current stream; gives the further arguments of plans."""
        return nullcontext(()) if self._order is None else self._order.now()

    def _each(self, work: Callable[[Any], Any]) -> list[Any]:
        return [work(self.plans[0])] if len(self.plans) == 1 else self._over(work, self.plans)

    def _over(self, work: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
        """Do some work for each system; one error says for which it failed, and why."""

        def do(thing: Any) -> tuple[Any, Exception | None]:
            try:
                return work(thing), None
            except (SingularSystemError, ValueError) as error:
                return None, error

        done = list(map(do, things) if self._pool is None else self._pool.map(do, things))
        failed = {index: error for index, (_, error) in enumerate(done) if error is not None}
        if failed:
            raise _one_of(failed) from next(iter(failed.values()))
        return [result for result, _ in done]

    # --- several users ----------------------------------------------------------------------------------------------------------------

    @property
    def shared(self) -> bool:
        """Whether clones use the factors as well, so that they must not change."""
        return self._users > 1

    def share(self) -> SystemsPlan:
        """Add a user."""
        with self._lock:
            self._users += 1
            self._tell()
        return self

    def close(self) -> None:
        """Give up what the libraries hold, when nobody uses it any more."""
        with self._lock:
            self._users -= 1
            self._tell()
            if self._users > 0:
                return
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        for plan in self.plans:
            plan.close()

    def _tell(self) -> None:
        for plan in self.plans:
            plan.shared = self._users > 1

    # --- what can be asked ------------------------------------------------------------------------------------------------------------

    def residual(self, notes: dict[int, Judgement]) -> float | None:
        """Of the worst of the last solutions that were noted; on a GPU it waits for one that is under way."""
        if self._order is None:
            known = list(notes.values())
        else:
            with self._order.now() as stream:
                found = [plan.judged(*stream) for plan in self.plans]
            known = [judgement for judgement in found if judgement is not None]
        return worst(known).residual if known else None

    def info(self, name: str, ptrs: tuple[int, ...]) -> Any:
        """Return a piece of information about all systems.

        Raises
        ------
        RuntimeError
            It is one that a batch does not have.
        """
        if self._batched and name not in _OF_BATCHES:
            raise RuntimeError(
                f"{name} is not available for a batch of systems. Solve the system of interest by itself."
            )
        with self._now() as stream:
            found = [plan.info(name, ptrs, *stream) for plan in self.plans]
        if not self._batched:
            return found[0]
        if name in _SUMS:
            return sum(found)
        if name in _ROWS:
            return np.array(found)
        if name == "info":
            return max(found, key=abs)
        if name == "memory":
            return {key: sum(one.get(key, 0) for one in found) for one in found for key in one}
        return tuple(map(np.array, zip(*found, strict=True)))


def _one_of(failed: dict[int, Exception]) -> Exception:
    """One error for all systems that failed, of the kind of the first."""
    texts = [f"System {index} of the batch: {error}" for index, error in failed.items()]
    more = f" {len(texts) - _TOLD} more systems of the batch failed." if len(texts) > _TOLD else ""
    return type(next(iter(failed.values())))(" ".join(texts[:_TOLD]) + more)
