"""Contractions of any number of operands on a GPU: one call where cuTENSOR has it, else a step for each pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._core.place import Cuda
from ..bindings import cutensor
from ._cutensor import CutensorPlan
from ._network import Network, NetworkPlan, split
from ._options import ContractionOptions
from ._path import Path, find
from ._preference import Preference
from ._problem import ContractionProblem
from ._scalars import Scalars

_ALIGNED: Final = 256
_NOT_SUPPORTED: Final = int(cutensor.Status.NOT_SUPPORTED)
_ANY_SIZE: Final = 1 << 62


class CutensorNetwork(NetworkPlan):
    """A contraction in steps on one GPU."""

    def __init__(self, network: Network, make: Callable[[ContractionProblem, bool], CutensorPlan]) -> None:
        parts: list[CutensorPlan] = []
        try:
            for step in network.steps:
                parts.append(make(step.problem, step is network.steps[-1]))
        except BaseException:
            for part in parts:
                part.close()
            raise
        super().__init__(network, parts)
        self.offset = -(-max(part.workspace_nbytes for part in parts) // _ALIGNED) * _ALIGNED
        self.workspace_nbytes = self.offset + network.nbytes
        self.base = 0

    def attach(self, workspace: int) -> None:
        """Use a work area from now on."""
        self.base = workspace + self.offset
        for part in self.parts:
            part.attach(workspace)

    def buffer(self) -> int:
        """Return the address of the buffer of the intermediate results: it follows the libraries' workspace."""
        return self.base


def plan_for(
    problem: ContractionProblem,
    place: Cuda,
    scalars: Scalars,
    options: ContractionOptions,
    preference: Preference,
    path: Path | None,
) -> Any:
    """Return a plan: along a path, or as the library sees fit."""

    def make(step: ContractionProblem, last: bool) -> CutensorPlan:
        return CutensorPlan(step, place, scalars if last else Scalars(step.scalar), options, preference)

    if path and len(problem.inputs) > 2:
        return CutensorNetwork(split(problem, path), make)
    try:
        return make(problem, True)
    except cutensor.cuTENSORError as error:
        if error.status != _NOT_SUPPORTED or len(problem.inputs) != 3:
            raise
    modes = [frozenset(tensor.modes) for tensor in problem.inputs]
    return CutensorNetwork(
        split(problem, find(modes, frozenset(problem.output.modes), problem.extents, "optimal", _ANY_SIZE)), make
    )
