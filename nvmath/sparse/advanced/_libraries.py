"""Which library solves: cuDSS on a GPU, MKL PARDISO or SciPy's SuperLU on the CPU."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..._core.options import ExecutionCPU, available_threads
from ..._core.place import Cuda, Place
from ...bindings import mkl_pardiso
from . import _pardiso, _superlu  # now: a child forked during a later import would wait for ever
from ._config import Config
from ._engine import DEFINITE
from ._host import HostPlan
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverOptions, ExecutionHybrid, HybridMemoryModeOptions
from ._systems import SystemsPlan


def make_config(place: Place, options: DirectSolverOptions, asked: Any) -> Config:
    """Return the settings of the library that will solve there."""
    if isinstance(place, Cuda):
        from ._config import CudssConfig
        from ._threading import threading_library

        config = CudssConfig(bool(threading_library(options)))
        if isinstance(asked, ExecutionHybrid):
            try:
                config.go_hybrid(asked.num_threads)
            except BaseException:
                config.close()
                raise
        return config
    if mkl_pardiso.present():
        return _pardiso.config()
    return _superlu.config()


def make_plan(solver: Any) -> SystemsPlan:
    """Return a plan of all systems of a solver."""
    return _on_a_gpu(solver, solver._place) if isinstance(solver._place, Cuda) else _on_the_cpu(solver)


def _on_a_gpu(solver: Any, place: Cuda) -> SystemsPlan:
    from ._cudss_systems import plan_systems
    from ._threading import threading_library

    memory = getattr(solver._asked, "hybrid_memory_mode_options", None) or HybridMemoryModeOptions()
    with place.current():
        return plan_systems(
            solver._problem, place, solver._adapter, solver._config, solver.options, threading_library(solver.options), memory,
            hybrid=isinstance(solver._asked, ExecutionHybrid), blocking=solver.blocking,
        )  # fmt: skip


def _on_the_cpu(solver: Any) -> SystemsPlan:
    problem, config = solver._problem, solver._config
    execution = solver.execution_options
    threads = (execution.num_threads if isinstance(execution, ExecutionCPU) else None) or available_threads()
    count = len(problem.matrices)
    each = 1 if count > 1 else threads  # several small systems at once are faster than threads within each
    rungs = _rungs(problem.kind, problem.dtype.name, config, each)
    if not mkl_pardiso.present():
        solver.logger.info(
            "MKL is not installed: SciPy's SuperLU solves, in one thread. pip install mkl makes it faster."
        )
    guess = _guess(problem.kind, problem.dtype.name, config, each)
    plans = [HostPlan(problem, matrix, rungs, solver.options, guess) for matrix in problem.matrices]
    return SystemsPlan(problem, plans, min(threads, count))


def _guess(kind: Kind, dtype: str, config: Any, threads: int) -> Any:
    """With what to factorize matrices of which nothing was said, if they turn out to be positive definite."""
    if kind is not Kind.GENERAL or dtype not in ("float32", "float64") or not mkl_pardiso.present():
        return None
    return partial(_pardiso.PardisoEngine, Kind.SPD, dtype, config, threads)


def _rungs(kind: Kind, dtype: str, config: Any, threads: int) -> list[Any]:
    """What to factorize with, the stronger means later."""
    first: Any
    if not mkl_pardiso.present():
        first = partial(_superlu.SuperluEngine, kind, dtype, config, threads)
        return [first] if kind in DEFINITE else [first, partial(first, scaled=True)]
    first = partial(_pardiso.PardisoEngine, kind, dtype, config, threads)
    last = partial(_superlu.SuperluEngine, Kind.GENERAL, dtype, _superlu.config(), threads, scaled=True)
    if kind in DEFINITE:
        return [first]
    general = [] if kind is Kind.GENERAL else [partial(first, full=True, matching=True)]
    return [first, partial(first, matching=True), *general, last]
