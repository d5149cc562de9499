"""A product of matrices, from the inside: what it answers to the life cycle, and how operands are arranged."""

from __future__ import annotations

from typing import Any

from ..._core.arrays import CONJ, UNTIDY, View
from ..._core.errors import InvalidStateError
from ..._core.layout import dense, normalise, stride_order
from ..._core.operation import Operation, overlap
from ..._core.place import Cuda
from ..._core.route import Launch, Result, Route, Runner
from .._matrix import Operand
from .._prepared import answered, prepare
from ._host import HostPlan  # now: a child forked during a later import would wait for ever
from ._problem import MatmulProblem, differences, specify
from ._scalars import Scalars


class InvalidMatmulState(InvalidStateError):
    """A Matmul object was used after it had been freed."""


class ProductOperation(Operation):
    """The machinery of :class:`~nvmath.linalg.Matmul`."""

    _invalid = InvalidMatmulState
    _reads = {"a": CONJ, "b": CONJ}  # noqa: RUF012, a ClassVar in the base

    _qualified: Any
    """For each factor: its structure, and whether it is conjugated."""
    _scalars: Scalars

    # --- answers to the life cycle ------------------------------------------------------------------------------------

    def _route_of(self, names: tuple[str, ...], views: tuple[View, ...]) -> Route:
        """In place, an operand that shares memory with C is read from a copy."""
        if self.options.inplace and "c" in names:
            target = views[names.index("c")]
            for name, view in zip(names, views, strict=True):
                if name != "c" and overlap(view, target, target.ptr):
                    view.flags |= UNTIDY
        return super()._route_of(names, views)

    def _specify(self, views: tuple[View, ...]) -> MatmulProblem:
        operands = [
            self._operand(name, view, self._route.across or untidy)
            for name, view, untidy in zip(self._names, views, self._route.untidy, strict=True)
        ]
        (of_a, _), (of_b, _) = self._qualified
        return specify(*operands, of_a=of_a, of_b=of_b, inplace=self.options.inplace)

    def _operand(self, name: str, view: View, copied: bool) -> Operand:
        shape, strides = view.shape, view.strides
        if copied:
            strides = dense(shape, stride_order(shape, normalise(shape, strides)))
        conj = name in self._reads and self._qualified[name == "b"][1] != bool(view.flags & CONJ)
        return Operand(shape, strides, view.dtype, conj)

    def _alignment(self, view: View) -> int:
        return view.dtype.itemsize if isinstance(self._place, Cuda) else 1

    def _make_plan(self) -> Any:
        problem: MatmulProblem = self._problem
        if isinstance(self._place, Cuda):
            from ._cublas import CublasPlan

            return CublasPlan(problem, self._names, self._scalars, self._place, self._adapter)
        return HostPlan(problem, self._names, self._scalars, self.execution_options.num_threads or 1)  # type: ignore[union-attr]

    def _result(self) -> Result:
        problem: MatmulProblem = self._problem
        return Result(problem.out_shape, problem.out_strides, problem.d.dtype, 2 if problem.inplace else None)

    def _launch(self, request: Any) -> Launch:
        return self._plan_object.launch()  # type: ignore[no-any-return]

    def _same(self, old: MatmulProblem, new: MatmulProblem) -> str:
        return differences(old, new, layouts=isinstance(self._device, int))

    def _runner(self, request: Any) -> Any:
        self._check_valid()
        if self._planned and not self._objs:
            raise ValueError(
                "The operands of this Matmul object have been released. Give it new ones with reset_operands() first."
            )
        known = self._runners.get(request)
        made = super()._runner(request)
        if made is not known:
            self._prepare()
        return made

    def _prepare(self) -> None:
        """Keep the whole product as one call, if it is no more than that."""
        whole = getattr(self._plan_object, "whole", None)
        prepare(self, None if whole is None else whole())

    def answered(self) -> int:
        return answered(self)

    # --- new operands and scalars -----------------------------------------------------------------------------------

    def _warn_of_beta(self) -> None:
        self.logger.warning("beta is ignored, since there is no operand c.")

    def _reset_scaled(self, objs: tuple[Any, ...], alpha: Any, beta: Any, stream: Any) -> None:
        """Replace scalars too: all arguments are checked before anything changes."""
        self._check_valid()
        if beta is not None and self._problem.c is None:
            self._warn_of_beta()
            beta = None
        scalars = self._scalars.read(alpha, beta)
        if not self._objs or any(obj is not None for obj in objs):
            self._reset_checked(objs, stream)
        self._scalars.store(scalars)

    def _arranged(self, a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """Return the operands in the order of the launch, None for those that are not given."""
        if len(self._names) == 3:
            return a, b, c
        if c is not None:
            self._check_valid()
            raise ValueError(
                "There was no operand c at construction, so none can be set. Make a new Matmul object with c."
            )
        return a, b

    # --- service for the one-call function ----------------------------------------------------------------------------

    _simple: bool
    _kept: Runner
    _rescaled = False

    def _rescale_once(self, alpha: Any, beta: Any) -> None:
        """Set the scalars of one call; what is not given has its default."""
        if beta is not None and self._problem.c is None:
            self._warn_of_beta()
            beta = None
        self._scalars.store(self._scalars.read(1.0 if alpha is None else alpha, 0.0 if beta is None else beta))
        self._rescaled = True

    def _serve(self, objs: tuple[Any, ...], stream: Any, out: Any) -> Any:
        """Multiply operands of the planned metadata the long way round, and forget them again."""
        if not self._objs:
            self._take_in(objs, stream)
        try:
            return self._run(self._runner(None), stream, True, out)
        finally:
            self._forget()

    def _take_in(self, objs: tuple[Any, ...], stream: Any) -> None:
        """Take operands of the planned metadata; only which of them share memory with a C that is overwritten can be new."""
        views = tuple(self._aligned(self._adapter.view(obj)) for obj in objs)
        if self._inplace and self._route_of(self._names, views).untidy != self._route.untidy:
            self._reset_checked(objs, stream)
        else:
            self._views = views
            if self._inplace:
                self._check_writable(views)
            self._hold(stream)
        self._warn_of_gradients()
