"""A planned product, from the inside: what it answers to the life cycle, its algorithms, and how operands are arranged."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from ..._core import log
from ..._core.arrays import CONJ, TRACKED, View, adapter_of
from ..._core.errors import InvalidStateError
from ..._core.layout import dense, normalise, stride_order
from ..._core.memory import Workspace
from ..._core.place import Cuda
from ..._core.route import Launch, Result, Runner
from .._matrix import Matrix, Operand
from .._product import NO_C, Product
from . import _auxiliary as auxiliary
from ._algorithm import Algorithm
from ._coerce import coerce
from ._epilogs import NO_EPILOG, Epilog, require_mapping
from ._narrow import AUX_SCALE
from ._narrow_host import host_plan  # now: a child forked during a later import would wait for ever
from ._narrow_operands import any_narrow, scale_operands, split_inputs
from ._narrow_rules import check_extents
from ._options import MatmulOptions
from ._outputs import Output, Outputs, OutputsRunner
from ._preferences import MatmulPlanPreferences
from ._problem import MatmulProblem, differences, specify
from ._scalars import Scalars


class InvalidMatmulState(InvalidStateError):
    """A Matmul object was used after it had been freed."""


class MatmulOperation(Product):
    """The machinery of :class:`~nvmath.linalg.advanced.Matmul`."""

    _invalid = InvalidMatmulState
    _gpu_library = "cublasLt"
    _reads = {"a": CONJ, "b": CONJ}  # noqa: RUF012, a ClassVar in the base

    _conjugate: tuple[bool, bool]
    _own: int
    """Number of operands of the constructor, scales among them; those of the epilog follow."""
    _scalars: Scalars

    def _start(self, conjugate: tuple[bool, bool]) -> None:
        """Begin without a plan."""
        self._conjugate = conjugate
        self._epilog: Epilog = NO_EPILOG
        self._preferences = MatmulPlanPreferences()
        self._keep: Matrix | None = None
        self._given: tuple[Algorithm, ...] | None = None
        self._outputs: Outputs | None = None
        self._algorithms: tuple[Algorithm, ...] | None = None
        self._edited = False

    # --- answers to the life cycle -----------------------------------------------------------------------------------------------

    def _specify(self, views: tuple[View, ...]) -> MatmulProblem:
        operands = {
            name: self._operand(name, view, self._route.across or untidy)
            for name, view, untidy in zip(self._names, views, self._route.untidy, strict=True)
        }
        own = {name: operands.pop(name) for name in ("a", "b", "c") if name in operands}
        return specify(
            **own, inputs=operands, options=self.options, epilog=self._epilog, preferences=self._preferences.epilog, keep=self._keep
        )  # fmt: skip

    def _operand(self, name: str, view: View, copied: bool) -> Operand:
        shape, strides = view.shape, view.strides
        if copied:
            strides = dense(shape, stride_order(shape, normalise(shape, strides)))
        conj = (
            name in self._reads and view.dtype.kind == "c" and (self._conjugate[name == "b"] != bool(view.flags & CONJ))
        )
        exact = isinstance(self._place, Cuda) and not copied
        return Operand(shape, strides, view.dtype, conj, min(16, view.ptr & -view.ptr or 16) if exact else 16)

    def _make_plan(self) -> Any:
        problem: MatmulProblem = self._problem
        if problem.narrow is not None:
            check_extents(problem.m, problem.n, problem.k, problem.narrow)
        if isinstance(self._place, Cuda):
            from ._gpu import GpuMatmulPlan

            plan: Any = GpuMatmulPlan(
                problem, self._names, self._scalars, self._place, self._adapter, self.options, self._preferences, self._given, self.logger
            )  # fmt: skip
        else:
            plan = host_plan(problem, self._names, self._scalars, self.execution_options.num_threads or 1)  # type: ignore[union-attr]
        note = weakref.WeakMethod(self._note_edit)  # a plan does not keep its product alive

        def on_edit() -> None:
            if (noting := note()) is not None:
                noting()

        plan.on_edit = on_edit
        self._outputs = self._outputs_of(problem, plan.output_ptrs)
        self._algorithms, self._edited = plan.algorithms, False
        return plan

    def _outputs_of(self, problem: MatmulProblem, addresses: list[int]) -> Outputs | None:
        """Return the auxiliary outputs of the planned product."""
        table = tuple(
            Output(name, *auxiliary.outer(name, matrix, problem.batch), matrix.dtype) for name, matrix in problem.outputs
        )  # fmt: skip
        if not table:
            return None
        return Outputs(table, addresses, self._adapter, self._device, self._gpu, self._route.across)

    def _result(self) -> Result:
        problem: MatmulProblem = self._problem
        return Result(problem.out_shape, problem.out_strides, problem.d.dtype, 2 if problem.inplace else None)

    def _launch(self, request: Any) -> Launch:
        return self._plan_object.launch(request)  # type: ignore[no-any-return]

    def _workspace_of(self, request: Any) -> Workspace | None:
        algorithm = request or (self._algorithms or (None,))[0]
        return self._workspace if algorithm is not None and self._plan_object.need_of(algorithm) else None

    def _runner(self, request: Any) -> Runner:
        """Return the runner of the first algorithm (None) or of another; with auxiliary outputs it returns a pair."""
        if self._edited and self._planned and self._objs:
            self._take_edits()
        known = self._runners.get(request)
        made = super()._runner(request)
        if self._outputs is not None and made is not known:
            made = self._runners[request] = OutputsRunner(made, self._outputs)
        if request is None and made is not known:
            self._prepare()
        return made

    def _writes_to(self, view: View) -> bool:
        """Kernels were chosen for a result that begins at a multiple of 16 bytes, as new ones do."""
        return not isinstance(self._place, Cuda) or view.ptr % 16 == 0

    def _into(self, runner: Runner, out: Any, stream: Any) -> Any:
        if not isinstance(runner, OutputsRunner):
            return super()._into(runner, out, stream)
        held: dict[str, Any] = {}
        return super()._into(runner.alone(held), out, stream), held

    def _warn_of_inputs(self) -> None:
        """Warn of gradients that inputs of the epilog need, unless construction has warned of the operands."""
        if not any(view.flags & TRACKED for view in self._views[: self._own]):
            self._warn_of_gradients()

    def _same(self, old: MatmulProblem, new: MatmulProblem) -> str:
        return differences(old, new, layouts=isinstance(self._device, int))

    # --- algorithms --------------------------------------------------------------------------------------------------------------

    def _request(self, algorithm: Any) -> Algorithm | None:
        """Return what an algorithm of a call is kept under: None for the first."""
        if algorithm is None:
            return None
        self._check_valid()
        for index, each in enumerate(self._algorithms or ()):
            if each is algorithm:
                return each if index else None
        raise ValueError(
            f"The algorithm {algorithm!r} has to be included in the plan() algorithms: pass one of the objects in Matmul.algorithms, or "
            "plan(algorithms=[...]) with it."
        )

    def _prefer(self, algorithms: tuple[Algorithm, ...]) -> None:
        """Use these algorithms from now on, the first one by default."""
        self._algorithms = self._plan_object.algorithms = algorithms
        self._runners.clear()

    def _note_edit(self) -> None:
        self._edited = True
        self._runners.clear()

    def _take_edits(self) -> None:
        """Ask the library about algorithms that were edited; more workspace may be needed."""
        plan = self._plan_object
        plan.check_again()
        self._edited = False
        nbytes = plan.workspace_nbytes
        if nbytes > (self._workspace.size if self._workspace is not None else 0):
            assert isinstance(self._place, Cuda)
            if self._workspace is not None:
                self._workspace.close()
            self._workspace = Workspace(nbytes, self._place, self._allocator(), plan.attach, self.logger)
            self._workspace.transient = self._transient

    # --- new operands and scalars ------------------------------------------------------------------------------------------------

    def _arranged(
        self, a: Any, b: Any, c: Any, inputs: Mapping[str, Any] | None, scales: Any, stream: Any
    ) -> tuple[Any, ...]:
        """Return the operands in the order of the launch, None for those that are not given."""
        require_mapping(inputs)
        extra = self._names[self._own :]
        with_c = "c" in self._names
        if c is not None and not with_c:
            raise ValueError(NO_C)
        for name in inputs or ():
            if name not in extra:
                raise ValueError(
                    f"epilog_inputs has the unknown name {name!r}; the epilog that was planned has "
                    f"{', '.join(map(repr, extra)) or 'none'}."
                )
        own = (a, b, c) if with_c else (a, b)
        scaled = self._names[len(own) : self._own]
        if scales is not None or scaled:
            own += self._new_scales(scaled, scales, stream)
        if inputs and AUX_SCALE in inputs:
            given, aux_scale = split_inputs(inputs, self._adapter, self._device, stream)
            inputs = given | aux_scale
        return (*own, *map((inputs or {}).get, extra)) if extra else own

    def _new_scales(self, names: tuple[str, ...], scales: Any, stream: Any) -> tuple[Any, ...]:
        """Return new scales in the order of the launch, None for those that are not given."""
        narrow = self._problem.narrow is not None
        given = scale_operands(scales, narrow, self._adapter, self._device, self.options, stream, self.logger)
        for name in given:
            if name not in names:
                raise ValueError(
                    f"There was no scale of {name[0]} at construction, so none can be set. Make a new Matmul object with it."
                )
        return tuple(map(given.get, names))

    # --- service for the one-call function ---------------------------------------------------------------------------------------

    def _serve(self, objs: tuple[Any, ...], stream: Any, out: Any = None) -> Any:
        """Multiply operands of the planned metadata the long way round, and forget them again."""
        if not self._objs:
            self._reset_checked(objs, stream)
            self._warn_of_gradients()
        try:
            return self._run(self._runner(None), stream, True, out)
        finally:
            self._forget()


def scales_of(scales: Any, a: Any, b: Any, options: Any, stream: Any) -> dict[str, Any]:
    """Return the scales of new operands, as operands."""
    if scales is None:
        return {}
    settings, adapter = coerce(MatmulOptions, options, "options"), adapter_of(a)
    logger = settings.logger if settings.logger is not None else log.ROOT
    return scale_operands(scales, any_narrow(a, b), adapter, adapter.view(a).device, settings, stream, logger)
