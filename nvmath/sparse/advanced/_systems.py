"""All systems of a problem: a plan for each, one after the other, or several at once on the CPU."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol

import numpy as np

from ..._core.errors import warn
from ._problem import SystemProblem
from ._residual import IllConditionedWarning, Judgement, SingularSystemError, worst
from ._sides import Side

_SUMS: Final = frozenset({"lu_nnz", "npivots", "num_superpanels"})
_ROWS: Final = frozenset({"inertia", "condition"})
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
    judgement: Judgement | None
    shared: bool
    nbytes: int

    def factorize(self, ptrs: tuple[int, ...], *stream: int) -> str: ...

    def solver(self, side: Side, op: str) -> Callable[..., Answer]: ...

    def info(self, name: str, ptrs: tuple[int, ...]) -> Any: ...

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
    """

    workspace_nbytes = 0

    def __init__(self, problem: SystemProblem, plans: list[Any], threads: int = 1) -> None:
        self.problem, self.plans = problem, plans
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
        self._each(lambda plan: plan.analyse(*arguments))

    def accepts(self, *arguments: Any) -> bool:
        """Whether the matrices still have the patterns that were planned."""
        return all(plan.accepts(*arguments) for plan in self.plans)

    def factorize(self, *arguments: Any) -> None:
        """Factorize the present values."""
        for text in self._each(lambda plan: plan.factorize(*arguments)):
            if text:
                warn(text, IllConditionedWarning)

    def launch(self, op: str) -> Callable[..., None]:
        """Return the function that solves: addresses of the operands and of the result, and on a GPU the stream."""
        problem = self.problem
        solvers = [self.plans[side.matrix].solver(side, op) for side in problem.sides]
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
            return run_one
        return run

    def _each(self, work: Callable[[Any], Any]) -> list[Any]:
        return [work(self.plans[0])] if len(self.plans) == 1 else self._over(work, self.plans)

    def _over(self, work: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
        """Do some work for each system; an error says for which it failed."""

        def do(pair: tuple[int, Any]) -> Any:
            try:
                return work(pair[1])
            except (SingularSystemError, ValueError) as error:
                raise type(error)(f"System {pair[0]} of the batch: {error}") from error

        pairs = enumerate(things)
        return list(map(do, pairs) if self._pool is None else self._pool.map(do, pairs))

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

    @property
    def residual(self) -> float | None:
        """Of the worst of the last solutions; waits for one that is under way."""
        found = [plan.judgement for plan in self.plans]
        known = [judgement for judgement in found if judgement is not None]
        return worst(known).residual if known else None

    def info(self, name: str, ptrs: tuple[int, ...]) -> Any:
        """Return a piece of information about all systems.

        Raises
        ------
        RuntimeError
            It is one that a batch does not have.
        """
        if not self.problem.batched:
            return self.plans[0].info(name, ptrs)
        if name not in _OF_BATCHES:
            raise RuntimeError(
                f"{name} is not available for a batch of systems. Solve the system of interest by itself."
            )
        found = [plan.info(name, ptrs) for plan in self.plans]
        if name in _SUMS:
            return sum(found)
        if name in _ROWS:
            return np.array(found)
        if name == "info":
            return max(found, key=abs)
        if name == "memory":
            return {key: sum(one.get(key, 0) for one in found) for one in found for key in one}
        return tuple(map(np.array, zip(*found, strict=True)))
