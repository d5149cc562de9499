"""Contractions of any number of operands on the CPU: up to three in one program, more in a step for each pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._core.kernels_host import scratch
from ..bindings import _openblas
from ._host import HostPlan
from ._network import Network, NetworkPlan, split
from ._path import Path
from ._problem import ContractionProblem
from ._scalars import Scalars
from ._ttgt import lower

_KEPT_NBYTES: Final = 1 << 20


class HostNetwork(NetworkPlan):
    """A contraction in steps on the CPU."""

    workspace_nbytes = 0

    def __init__(self, network: Network, num_threads: int, scalars: Scalars) -> None:
        last = network.steps[-1]
        super().__init__(
            network,
            [
                HostPlan(step.problem, num_threads, scalars if step is last else Scalars(step.problem.scalar))
                for step in network.steps
            ],
        )
        self.block: tuple[int, Any] | None = None
        self.kept = network.nbytes <= _KEPT_NBYTES
        self.nbytes += network.nbytes if self.kept else 0

    def buffer(self) -> int:
        """Return the address of the buffer of the intermediate results."""
        if self.block is None:
            self.block = scratch(max(1, self.network.nbytes))
        return self.block[0]

    def launch(self) -> Callable[..., None]:
        """Return the function that runs all steps; a large buffer is given up after each run."""
        run = super().launch()
        if self.kept:
            return run

        def run_and_let_go(*ptrs: int) -> None:
            try:
                run(*ptrs)
            finally:
                self.block = None

        return run_and_let_go

    def close(self) -> None:
        """Give up all plans and the buffer."""
        super().close()
        self.block = None


def copied(step: ContractionProblem) -> int:
    """How much a step copies."""
    return 0 if step.empty or step.vanishing else lower(step, _openblas.present()).moved


def plan_for(problem: ContractionProblem, num_threads: int, scalars: Scalars, path: Path | None) -> Any:
    """Return a plan: along a path, or in one program."""
    if path and len(problem.inputs) > 2:
        return HostNetwork(split(problem, path, copied), num_threads, scalars)
    return HostPlan(problem, num_threads, scalars)
