"""Contractions that keep their plan."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from .._core import log
from .._core.arrays import CONJ, View, adapter_of
from .._core.errors import InvalidStateError
from .._core.layout import dense, is_dense, normalise, stride_order
from .._core.operation import Operation
from .._core.options import coerce_options
from .._core.place import Cuda
from .._core.route import Launch, Result, Runner, context, keep_if_captured
from .._core.stream import handle_of
from . import _host_network  # now: a child forked during a later import would wait for ever
from ._expression import parse
from ._options import ContractionOptions, coerce_qualifiers, kept
from ._out import Into, Out
from ._path import Path
from ._preference import ContractionPlanPreference, Preference
from ._problem import ADDEND, ContractionProblem, Metadata, differences, names_of, refuse_none, specify
from ._scalars import Scalars, refuse_beta

_LARGEST_ALIGNMENT: Final = 256


class InvalidContractionState(InvalidStateError):
    """A contraction object was used after it had been freed."""


class Contraction(Operation):
    """What contractions of any number of operands share."""

    _invalid = InvalidContractionState
    _gpu_library = "cutensor"
    _reads: ClassVar[dict[str, int]] = {"a": CONJ, "b": CONJ}
    _count: int
    _what: ClassVar[str]  # what it is called in errors of the expression
    _path: Path | None = None  # in which order pairs are contracted; None: as the library sees fit

    _once: Runner
    _simple = False
    _direct = False  # whether the plan writes into `out`

    def _construct(
        self, expr: Any, operands: tuple[Any, ...], addend: Any, out: Any, qualifiers: Any, stream: Any, options: Any, execution: Any
    ) -> None:
        self._expression = parse(expr, self._count, self._what)
        self._qualifiers = kept(qualifiers)
        self._addend_name = ADDEND.get(self._count, "the addend")
        self._adds = addend is not None
        self._out = None if out is None else Out(out)
        self._has_out = out is not None
        self._preference = Preference()
        named = dict(zip(self._operand_names(), operands, strict=True))
        if self._adds:
            named[self._addend_name] = addend
        refuse_none(named)
        self._check_packages(named)
        self._begin(named, coerce_options(ContractionOptions, options), execution)
        if isinstance(self._place, Cuda):
            self._alignment_mask = _LARGEST_ALIGNMENT - 1
        self._scalars = Scalars(self._problem.scalar)
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place)
            self.logger.info(log.BLOCKING[self.blocking])

    def _check_packages(self, named: dict[str, Any]) -> None:
        """A mix of a and b is a TypeError, which the base class raises; one behind them is a ValueError, as in the original."""
        (first, a), (_, b), *others = named.items()
        adapter = adapter_of(a)
        if adapter_of(b) is adapter:
            for name, obj in others:
                if adapter_of(obj) is not adapter:
                    raise ValueError(
                        f"{name} must be a {adapter.name} array as {first} is, but it is one of {adapter_of(obj).name}. Convert it first."
                    )

    # --- answers to the life cycle ------------------------------------------------------------------------------------------------

    def _operand_names(self) -> tuple[str, ...]:
        return names_of(self._count)

    def _alignment(self, view: View) -> int:
        return view.dtype.itemsize if isinstance(self._place, Cuda) else 1

    def _specify(self, views: tuple[View, ...]) -> ContractionProblem:
        route, count = self._route, self._count
        flags = [
            bool(view.flags & CONJ) and not route.untidy[i] and (not route.across or is_dense(view.shape, view.strides))
            for i, view in enumerate(views[:count])
        ]
        conj = coerce_qualifiers(self._qualifiers, (*self._operand_names(), self._addend_name), views[0].dtype)
        arrays = [self._metadata(view, route.across or route.untidy[i]) for i, view in enumerate(views)]
        out = self._out
        target = None
        if out is not None:
            self._judge(out, views)
            target = self._metadata(out.view, not out.direct)
        return specify(
            self._expression,
            tuple(arrays[:count]),
            arrays[count] if self._adds else None,
            target,
            tuple(asked != lazy for asked, lazy in zip(conj, flags, strict=True)),
            self.options,
            self._operand_names(),
        )

    def _metadata(self, view: View, copied: bool) -> Metadata:
        strides = normalise(view.shape, view.strides)
        if copied:
            strides = dense(view.shape, stride_order(view.shape, strides))
        alignment = 0
        if isinstance(self._place, Cuda):
            ptr = 0 if copied else view.ptr
            alignment = min(_LARGEST_ALIGNMENT, ptr & -ptr) if ptr else _LARGEST_ALIGNMENT
        return Metadata(view.shape, strides, view.dtype, alignment)

    def _judge(self, out: Out, views: tuple[View, ...]) -> None:
        """Refuse an `out` that cannot be written, and decide whether the library writes into it."""
        out.check(self._adapter, self._device, views[0].dtype)
        out.direct = out.can_be_written(self._place, self._route.across) and (
            self._route.across or not out.meets(views, self._count if self._adds else None)
        )
        self._direct = out.direct

    def _make_plan(self) -> Any:
        if isinstance(self._place, Cuda):
            from . import _cutensor_network

            return _cutensor_network.plan_for(
                self._problem, self._place, self._scalars, self.options, self._preference, self._path
            )
        if self._preference.changed:
            self.logger.info("The CPU has one algorithm for contractions; the plan preference has no effect.")
        threads = self.execution_options.num_threads  # type: ignore[union-attr]
        return _host_network.plan_for(self._problem, threads or 1, self._scalars, self._path)

    def _result(self) -> Result:
        problem = self._problem
        return Result(problem.out_shape, problem.out_strides, problem.dtype)

    def _launch(self, request: Any) -> Launch:
        return self._plan_object.launch()  # type: ignore[no-any-return]

    def _same(self, old: ContractionProblem, new: ContractionProblem) -> str:
        return differences(old, new)

    # --- phases -------------------------------------------------------------------------------------------------------------------

    def plan(self, *, stream: Any = None) -> None:
        """Plan the contraction; a later call makes a new plan, with the plan preference of that time.

        Parameters
        ----------
        stream : optional
            For GPU work; planning queues none, but is refused while this stream is captured.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        RuntimeError
            cuTENSOR is not installed.
        cuTENSORError
            cuTENSOR refuses the contraction.
        """
        self._check_valid()
        if self._planned:
            self._replan(self._views, self._problem, self._route, stream)
            if self._objs:
                self._ready = self._runners
        else:
            self._do_plan(stream)

    def execute(
        self, *, alpha: Any = 1.0, beta: Any = None, release_workspace: bool = False, stream: Any = None
    ) -> Any:
        """Compute the contraction of the present operands.

        Parameters
        ----------
        alpha : number, default 1
            Factor of the product; complex only for complex operands.
        beta : number, optional
            Factor of the addend; required if there is one, not allowed otherwise. With 0 the addend is not read.
        release_workspace : bool, default False
            Give the workspace back when the call returns.
        stream : optional
            Stream of GPU work; by default the current stream of the operands' package at this call.

        Returns
        -------
        array
            A new array of the operands' package on their device, or `out` of the constructor.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        RuntimeError
            The contraction is not planned, or the operands have been released.
        ValueError
            `beta` is missing, or given without an addend; or `out` has become an array that results cannot be written into.
        TypeError
            A factor is no number, or complex for real operands.
        """
        if (beta is None) is self._adds:
            self._check_valid()
            refuse_beta(self._addend_name, beta)
        self._scalars.set(alpha, 0.0 if beta is None else beta)
        return self._go(release_workspace, stream)

    def _go(self, release_workspace: bool, stream: Any) -> Any:
        out = self._out
        if out is not None and self._objs and out.changed():
            self._reset_slowly(self._objs, out.obj, stream)
        ptrs = self._now()
        runner = self._ready.get(None)
        if runner is None:
            runner = self._runner(None)
        if self._out is not None or release_workspace or self.logger.isEnabledFor(log.INFO):
            return self._run_into(runner, stream, release_workspace)
        return runner(self._objs, ptrs, stream, None)

    def _run_into(self, runner: Runner, stream: Any, release_workspace: bool) -> Any:
        out = self._out
        if out is None:
            return self._run(runner, stream, release_workspace, None)
        if out.direct:
            result = self._run(Into(runner, out.obj), stream, release_workspace, None)
            self._adapter.touched(out.obj)
            return result
        value = self._run(runner, stream, release_workspace, None)
        keep_if_captured(self._for_graphs, self._adapter, self._device, stream, value)
        with context(self._adapter, self._device, stream):
            result = self._adapter.assign(out.obj, value)
        if self.blocking and self._gpu is not None and self._device != "cpu":
            self._gpu.wait(self._adapter.current_stream(self._gpu.device_id) if stream is None else handle_of(stream))
        return result

    def _reset(self, objs: tuple[Any, ...], addend: Any, out: Any, stream: Any) -> None:
        self._check_valid()
        if addend is not None and not self._adds:
            raise ValueError(f"{self._addend_name} cannot be given, since the contraction was made without an addend. Make a new one.")
        if out is not None and not self._has_out:
            raise ValueError("out cannot be given, since the contraction was made without it. Make a new one.")
        every = (*objs, addend) if self._adds else objs
        self._check_out(out)
        if out is None and self._out is None and self._swap(every):
            return
        if out is not None and all(obj is None for obj in every):
            if not self._objs:
                self._check_complete(every)
            every = self._objs
        self._reset_slowly(every, out, stream)

    def _check_out(self, out: Any) -> None:
        if out is None and self._has_out and self._out is None:
            raise ValueError("The operands have been released, so all of them must be given again, and out is missing.")

    def _reset_slowly(self, every: tuple[Any, ...], out: Any, stream: Any) -> None:
        if not self._route.across:  # the fast half of a reset leaves the addresses in the views alone
            for view, ptr in zip(self._views, self._ptrs, strict=False):
                view.ptr = ptr
        for name, obj in zip(self._names, every, strict=True):
            if obj is not None and adapter_of(obj) is not self._adapter:
                raise ValueError(
                    f"{name} was a {self._adapter.name} array, so it cannot be replaced by one of {adapter_of(obj).name}. Convert it first."
                )
        old = self._out
        if out is not None:
            self._out = Out(out)
        try:
            self._reset_checked(every, stream)
        except BaseException:
            self._out = old
            raise
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Operands have been replaced: %s.", self._problem)

    def _reset_checked(self, objs: tuple[Any, ...], stream: Any) -> None:
        out, direct = self._out, self._direct
        try:
            super()._reset_checked(objs, stream)
        except BaseException:  # the plan is still that of the old arrays
            self._direct = direct
            if out is not None:
                out.direct = direct
            raise

    def _reset_fast(self, objs: tuple[Any, ...], addend: Any, out: Any, stream: Any) -> None:
        every = (*objs, addend) if self._adds else objs
        self._check_valid()
        if not self._objs:
            self._check_complete(every)
            self._check_out(out)
        if out is not None:
            made = Out(out)
            made.direct = self._direct
            self._out = made
        self._reset_unchecked(every, stream)

    def release_operands(self) -> None:
        """Drop the references to all operands, `out` included, and their mirrors; the plan stays.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        """
        self._release()

    def _forget(self) -> None:
        super()._forget()
        self._out = None

    @property
    def plan_preference(self) -> ContractionPlanPreference:
        """How the kernels are chosen on a GPU; what is set counts from the next :meth:`plan` on."""
        if not self.valid_state:
            raise RuntimeError(f"This {type(self).__name__} object has been freed, and so has its plan preference.")
        return ContractionPlanPreference(self)

    # --- service for the one-call functions -----------------------------------------------------------------------------------------

    def _serve(self, objs: tuple[Any, ...], out: Any, stream: Any) -> Any:
        """Contract operands of the planned metadata and forget them again."""
        if not self._objs:
            self._views = tuple(self._aligned(self._adapter.view(obj)) for obj in objs)
            self._warn_of_gradients()
            if out is not None:
                self._out = Out(out)
                self._judge(self._out, self._views)
            self._hold(stream)
        try:
            return self._run_into(self._once, stream, True)
        finally:
            self._forget()
