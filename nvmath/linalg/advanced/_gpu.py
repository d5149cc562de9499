"""A product on a GPU: cuBLASLt, the kernel for what it cannot do, and those that autotuning found to be faster."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ..._core.arrays import Adapter
from ..._core.layout import size
from ..._core.place import Cuda
from ..._core.route import Launch
from ...bindings._errors import LibraryNotFoundError
from ...bindings._load import find_library
from ...bindings._nvrtc import NvrtcError
from ...bindings.cublasLt import cuBLASLtError
from .._buffers import Buffers
from . import _records as records
from ._algorithm import Algorithm
from ._cublaslt import CublasLtPlan, NoAlgorithmError
from ._finish import Finish
from ._narrow import AUX_SCALE, SCALES, is_narrow
from ._narrow_descriptors import check_place
from ._options import MatmulOptions
from ._preferences import MatmulPlanPreferences
from ._problem import MatmulProblem
from ._scalars import Scalars
from ._skinny import Skinny
from ._split import Rest, approximates, by_library, by_ourselves, loses_sums, needs_more_k, rounds_between
from ._types import check_version

_REFUSALS = (7, 15)  # invalid value, not supported


class GpuMatmulPlan:
    """A product by cuBLASLt, followed by a kernel of our own where something is left to do."""

    def __init__(
        self,
        problem: MatmulProblem,
        names: tuple[str, ...],
        scalars: Scalars,
        place: Cuda,
        adapter: Adapter,
        options: MatmulOptions,
        preferences: MatmulPlanPreferences,
        algorithms: tuple[Algorithm, ...] | None,
        logger: logging.Logger,
    ) -> None:
        self.problem, self.names, self.scalars, self.place, self.adapter = problem, names, scalars, place, adapter
        self.nbytes = 0
        check_place(problem, place)
        check_version(problem.compute_type)
        self.skinny = Skinny(problem, names, scalars, place, options.sm_count_target or 0)
        self.preferences = preferences
        self._check_own(algorithms or ())

        def make(product: MatmulProblem, chosen: tuple[Algorithm, ...] | None) -> CublasLtPlan:
            mine = tuple(name for name in names if _uses(product, name))
            return CublasLtPlan(product, mine, scalars, place, adapter, options, preferences, chosen)

        self.product, rest = self._divided(make, algorithms, options, preferences, logger)
        self._make = make
        self.output_ptrs = self.product.output_ptrs if rest is None else [0] * len(problem.outputs)
        self.idle: CublasLtPlan | None = None  # the product when alpha is 0 and the factors matter all the same
        self.rest = rest
        self.finish = None if rest is None else self._finish(rest)

    def _check_own(self, algorithms: tuple[Algorithm, ...]) -> None:
        """Compile those kernels of our own that are asked for, or say that one cannot be used."""
        for each in algorithms:
            if each.own is None:
                continue
            why = "It comes from another product or another version"
            try:
                if self.skinny.launch(each.own) is not None:
                    continue
            except (LibraryNotFoundError, NvrtcError) as error:
                why = f"It cannot be compiled here: {str(error).rstrip('.')}"
            raise NoAlgorithmError(
                f"{each!r} cannot compute this product: {self.problem}. {why}. Leave algorithms out and the library chooses."
            )

    def rivals(self) -> tuple[Algorithm, ...]:
        """Return kernels of our own that autotuning shall measure beside the algorithms of the library."""
        known = {each.own for each in self.algorithms}
        return tuple(each for each in self.skinny.rivals(self.preferences) if each.own not in known)

    def _finish(self, rest: Rest) -> Finish | None:
        """Make the kernel of what is left to do."""
        if self.problem.empty:
            return None
        try:
            with self.place.current():
                return Finish(rest, self.names, self.scalars, self.place, self.adapter, self.output_ptrs)
        except BaseException:
            self.close()
            raise

    def _divided(
        self,
        make: Callable[[MatmulProblem, tuple[Algorithm, ...] | None], CublasLtPlan],
        algorithms: tuple[Algorithm, ...] | None,
        options: MatmulOptions,
        preferences: MatmulPlanPreferences,
        logger: logging.Logger,
    ) -> tuple[CublasLtPlan, Rest | None]:
        """Give the library as much as it takes; return its plan and what is left to do."""
        problem = self.problem
        if algorithms is None:
            kept = records.find(problem, self.place, options, preferences)
            if kept is not None:
                try:
                    self._check_own(kept)
                    return self._divided(make, kept, options, preferences, logger)
                except (cuBLASLtError, NoAlgorithmError):
                    logger.info("What autotuning kept for this product cannot be used any more: %s.", problem)
        exact = rounds_between(problem) or approximates(problem)
        if exact and find_library("nvrtc") is None:
            what = "GELU is approximated" if approximates(problem) else "a sum is rounded before the bias is added"
            logger.warning("Since NVRTC is not installed, %s by cuBLASLt: %s.", what, problem)
            exact = False
        if not (exact or needs_more_k(problem) or loses_sums(problem)):
            product, rest = by_library(problem)
            try:
                return make(product, algorithms), rest
            except (cuBLASLtError, NoAlgorithmError) as error:
                if not _replaceable(problem) or getattr(error, "status", 15) not in _REFUSALS:
                    raise
                logger.info("cuBLASLt has no kernel for this epilog, so another one applies it: %s.", problem)
        product, rest = by_ourselves(problem)
        return make(product, algorithms), rest

    @property
    def algorithms(self) -> tuple[Algorithm, ...]:
        """The algorithms of the product."""
        return self.product.algorithms

    @algorithms.setter
    def algorithms(self, value: tuple[Algorithm, ...]) -> None:
        self.product.algorithms = value

    @property
    def workspace_nbytes(self) -> int:
        """Bytes of workspace of the most demanding algorithm."""
        return self.product.workspace_nbytes

    @property
    def on_edit(self) -> Callable[[], None] | None:
        """What is called when an algorithm was edited."""
        return self.product.on_edit

    @on_edit.setter
    def on_edit(self, value: Callable[[], None] | None) -> None:
        self.product.on_edit = value

    def check_again(self) -> None:
        """Ask the library about algorithms that were edited."""
        self.product.check_again()

    def need_of(self, algorithm: Algorithm) -> int:
        """Bytes of workspace that an algorithm needs."""
        return self.product.needs.get(id(algorithm), 0)

    def attach(self, workspace: int) -> None:
        """Use a workspace from now on."""
        self.product.attach(workspace)

    def launch(self, algorithm: Algorithm | None = None) -> Launch:
        """Return the function that computes everything on a stream."""
        first = algorithm or next(iter(self.algorithms), None)
        if first is not None and first.own is not None:
            return self._own_launch(first.own)
        product = self._launch(self.product, algorithm, self.rest, self.finish)
        if self.rest is not None or not self.problem.epilog.sums_factors:
            return product
        scalars = self.scalars
        idle: list[Launch] = []

        def run(*arguments: int) -> None:
            if not scalars.idle:
                product(*arguments)
                return
            if not idle:
                idle.append(self._idle_launch())
            idle[0](*arguments)

        return run

    def _own_launch(self, number: int) -> Launch:
        """A kernel of our own, which does the whole product."""
        made = self.skinny.launch(number)
        assert made is not None  # it was checked when it was given or proposed
        return made

    def _idle_launch(self) -> Launch:
        """The product when alpha is 0, for an epilog that sums the factors up all the same: by kernels of our own."""
        product, rest = by_ourselves(self.problem)
        self.idle = self._make(product, None)
        return self._launch(self.idle, None, rest, self._finish(rest))

    def _launch(
        self, plan: CublasLtPlan, algorithm: Algorithm | None, rest: Rest | None, finish: Finish | None
    ) -> Launch:
        product = plan.launch(algorithm)
        if finish is None or rest is None:
            return product
        positions = [index for index, name in enumerate(self.names) if name in plan.names]
        nbytes = size((*self.problem.batch, self.problem.m, self.problem.n)) * rest.source.dtype.itemsize

        def run(operands: list[int], target: int, result: int, stream: int) -> None:
            product(*(operands[position] for position in positions), target, stream)
            finish(operands, target, result, stream)

        def direct(*arguments: int) -> None:
            *operands, result, stream = arguments
            run(operands, result, result, stream)

        def through_scratch(*arguments: int) -> None:
            *operands, result, stream = arguments
            with buffers.lent(stream) as (target,):
                run(operands, target, result, stream)

        if not rest.scratch:
            return direct
        buffers = Buffers((nbytes,), self.place, self.adapter)
        return through_scratch

    def close(self) -> None:
        """Queue the descriptors for destruction."""
        self.product.close()
        if self.idle is not None:
            self.idle.close()


def _uses(product: MatmulProblem, name: str) -> bool:
    """Whether an operand is read by the product itself."""
    present: dict[str, Any] = {"c": product.c, "bias": product.bias, product.epilog.auxiliary: product.auxiliary}
    return name in ("a", "b", *SCALES.values(), AUX_SCALE) or present.get(name) is not None


def _replaceable(problem: MatmulProblem) -> bool:
    """Whether there is an epilog without which the library may do the product."""
    epilog = problem.epilog
    narrow = is_narrow(problem.d.dtype) or any(is_narrow(matrix.dtype) for _, matrix in problem.outputs)
    return not narrow and bool(epilog.inputs or epilog.outputs or epilog.activation)
