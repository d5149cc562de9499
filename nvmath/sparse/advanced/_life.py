"""The life of a solver: what it answers to :class:`Operation`, and how a phase is done where the systems are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..._core import log
from ..._core.arrays import NEEDS_COPY, View, adapter_of
from ..._core.operation import Operation, stream_handle, viewed
from ..._core.place import Cuda
from ..._core.route import Launch, Result, Route
from ._config import Config
from ._libraries import make_plan
from ._operands import Stored, is_packed, named
from ._options import ExecutionCUDA, ExecutionHybrid
from ._order import refuse_capture
from ._problem import SystemProblem, differences, specify
from ._residual import Judgement


class Life(Operation):
    """What a solver of sparse systems does besides what it is called for."""

    _gpu_library = "cudss"
    _config: Config

    # --- the beginning ------------------------------------------------------------------------------------------------------------

    def _set_up(
        self, stored: tuple[Stored, ...], sides: tuple[Any, ...], sequences: tuple[bool, bool], options: Any, asked: Any
    ) -> None:
        """Look at the operands, and specify the problem."""
        self._asked = asked  # what was said of the execution
        self._notes: dict[int, Judgement] = {}  # of the last solutions
        self._package, self._sequences = stored[0].package, sequences
        self._metas, self._count = tuple(one.meta for one in stored), 3 * len(stored)
        operands = named(stored, sides, sequences)
        if isinstance(asked, ExecutionHybrid):
            asked = ExecutionCUDA(device_id=asked.device_id)
        self._begin(operands, options, asked)

    def _start(self, stream: Any) -> None:
        """Take the operands in."""
        self.valid_state = True
        try:
            self._hold(stream)
        except BaseException:
            self.valid_state = False
            self._config.close()
            raise
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info(
                "Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place
            )
            self.logger.info(log.BLOCKING[self.blocking])

    # --- answers to the life cycle ------------------------------------------------------------------------------------------------

    def _specify(self, views: tuple[View, ...]) -> SystemProblem:
        for name, view in zip(self._names[: self._count], views, strict=False):
            if view.flags & NEEDS_COPY or not is_packed(view):
                raise ValueError(
                    f"The array {name} must be contiguous, aligned, of native byte order and without lazy conjugation. Pass a copy of a."
                )
        copied = tuple(self._route.across or untidy for untidy in self._route.untidy)
        return specify(self._metas, self._sequences, views, copied, self.options)

    def _make_plan(self) -> Any:
        return make_plan(self)

    def _result(self) -> Result:
        return self._problem.result  # type: ignore[no-any-return]

    def _launch(self, request: Any) -> Launch:
        # Other right-hand sides need no new plan. It may be shared with clones in other threads, so it does not keep them.
        return self._plan_object.launch(self._problem, request, self._notes)  # type: ignore[no-any-return]

    def _drop_plan(self) -> None:
        super()._drop_plan()
        self._notes.clear()

    def _same(self, old: SystemProblem, new: SystemProblem) -> str:
        return differences(old, new)

    def _replan(self, views: tuple[View, ...], problem: Any, route: Route, stream: Any = None) -> None:
        """A new right-hand side needs no new plan; a new matrix gets one when the caller asks for it."""
        if self._problem.matrix == problem.matrix:
            self._runners.clear()
        else:
            self._drop_plan()

    # --- phases -------------------------------------------------------------------------------------------------------------------

    def _check_operands(self) -> None:
        self._check_valid()
        if not self._objs:
            raise RuntimeError(
                "The operands of this DirectSolver have been released. Give it new ones with reset_operands() first."
            )
        self._now()

    def _refuse_capture(self, stream: Any) -> None:
        """Before anything is changed."""
        if self._gpu is not None:
            refuse_capture(self._gpu, stream_handle(self, stream))

    def _now(self) -> tuple[int, ...]:
        """Where the arrays of the matrix have got other memory, it may hold another pattern."""
        before = self._ptrs[: self._count]
        ptrs = super()._now()
        if ptrs[: self._count] != before:
            self._check_pattern(None)
        return ptrs

    def _host_ptrs(self) -> tuple[int, ...] | None:
        """Addresses of the caller's operands, where they are in host memory."""
        return tuple(self._look(obj)[0] for obj in self._objs) if self._device == "cpu" else None

    def _in_place(self, stream: Any, work: Callable[..., Any]) -> Any:
        """Do a phase: on the CPU, or on the GPU of the solver on the stream of the call."""
        if not isinstance(self._place, Cuda):
            return work(self._ptrs)
        with self._place.current():
            handle = stream_handle(self, stream)
            refuse_capture(self._place, handle)
            with self._adapter.on_stream(self._place.device_id, handle):
                try:
                    self._refresh(stream)
                    found = work(self._ptrs, handle, self._host_ptrs())
                except BaseException:
                    with suppress(RuntimeError):  # memory must not go back while the GPU may still use it
                        self._place.wait(handle)
                    raise
                if self.blocking:
                    self._place.wait(handle)
        return found

    def _refresh(self, stream: Any) -> None:
        """In hybrid execution the caller may have edited operands in host memory: copy them again."""
        if isinstance(self._asked, ExecutionHybrid) and self._route.across:
            for view, obj in zip(self._views, self._objs, strict=True):
                view.obj = obj
            self._hold(stream)

    def _plan_again(self) -> None:
        """In a forked child: plan and factorize as the parent had."""
        factorized = self._plan_object.factorized
        super()._plan_again()
        self._plan_object.analyse(self._ptrs)
        if factorized:
            self._plan_object.factorize(self._ptrs)

    # --- new operands -------------------------------------------------------------------------------------------------------------

    def _check_replacements(self, objs: tuple[Any, ...]) -> None:
        for name, obj, old in zip(self._names, objs, self._views, strict=True):
            if obj is not None:
                view = viewed(adapter_of(obj), name, obj)
                if (view.device, view.dtype) != (old.device, old.dtype):
                    raise TypeError(
                        f"{name} was {old.dtype} on device {old.device}, so it cannot be replaced by {view.dtype} on {view.device}."
                    )

    def _check_pattern(self, stream: Any) -> None:
        """After the matrix has been replaced: keep the plan only if it was made for this pattern."""
        if self._plan_object is not None and not self._in_place(stream, self._plan_object.accepts):
            self._drop_plan()
            self.logger.warning(
                "The pattern of the matrix differs from the one that was planned: call plan() and factorize() again."
            )
