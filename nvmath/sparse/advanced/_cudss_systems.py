"""The systems of a problem on a GPU: which plan they get."""

from __future__ import annotations

from ..._core.arrays import Adapter
from ..._core.place import Cuda
from ._config import CudssConfig
from ._cudss import CudssPlan
from ._cudss_batch import CudssBatch
from ._cudss_handle import Lease
from ._cudss_together import Together, serves
from ._options import DirectSolverOptions, HybridMemoryModeOptions
from ._order import Order
from ._problem import SystemProblem
from ._sides import Matrix
from ._systems import SystemsPlan


def plan_systems(
    problem: SystemProblem, place: Cuda, adapter: Adapter, config: CudssConfig, options: DirectSolverOptions, library: str,
    memory: HybridMemoryModeOptions, *, hybrid: bool = False, blocking: bool = True,
) -> SystemsPlan:  # fmt: skip
    """Return the plan of all systems of a problem on a GPU, which is current.

    Parameters
    ----------
    problem, place, adapter, config, options, memory, hybrid, blocking
        As of :class:`CudssPlan`.
    library : str
        Path of the threading library, or an empty text.
    """
    order = Order(place, adapter)
    lease = Lease(order, library, options.handle)

    def alone(matrix: Matrix) -> CudssPlan:
        return CudssPlan(
            problem, matrix, place, adapter, config, options, lease, memory=memory, hybrid=hybrid, blocking=blocking
        )  # fmt: skip

    def together() -> Together | None:
        return Together(problem, place, adapter, config, lease) if serves(problem, config, memory, hybrid) else None

    if len(problem.matrices) > 1:
        return CudssBatch(problem, order, lease, alone, together, options.on_failure, blocking=blocking)
    try:
        return SystemsPlan(problem, [alone(problem.matrices[0])], order=order)
    finally:
        lease.close()
