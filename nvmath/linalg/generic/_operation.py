"""A product of matrices, from the inside: what it answers to the life cycle, and how operands are arranged."""

from __future__ import annotations

from typing import Any

from ..._core.arrays import CONJ, View
from ..._core.errors import InvalidStateError
from ..._core.layout import dense, normalise, stride_order
from ..._core.place import Cuda
from ..._core.route import Launch, Result
from .._matrix import Operand
from .._product import NO_C, Product
from ._host import HostPlan  # now: a child forked during a later import would wait for ever
from ._problem import MatmulProblem, differences, specify
from ._scalars import Scalars


class InvalidMatmulState(InvalidStateError):
    """A Matmul object was used after it had been freed."""


class ProductOperation(Product):
    """The machinery of :class:`~nvmath.linalg.Matmul`."""

    _invalid = InvalidMatmulState
    _reads = {"a": CONJ, "b": CONJ}  # noqa: RUF012, a ClassVar in the base

    _qualified: Any
    """For each factor: its structure, and whether it is conjugated."""
    _scalars: Scalars

    # --- answers to the life cycle ------------------------------------------------------------------------------------

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

    # --- new operands and scalars -----------------------------------------------------------------------------------

    def _arranged(self, a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """Return the operands in the order of the launch, None for those that are not given."""
        if len(self._names) == 3:
            return a, b, c
        if c is not None:
            self._check_valid()
            raise ValueError(NO_C)
        return a, b

    # --- service for the one-call function ----------------------------------------------------------------------------

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
