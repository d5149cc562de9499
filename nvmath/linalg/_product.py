"""What the products of matrices with and without epilogs have in common, from the inside."""

from __future__ import annotations

from typing import Any

from .._core.arrays import UNTIDY, View
from .._core.operation import Operation, overlap
from .._core.route import Route, Runner
from ._prepared import answered, prepare

NO_C = "There was no operand c at construction, so none can be set. Make a new Matmul object with c."


class Product(Operation):
    """A product with scalars alpha and beta, and perhaps an operand C."""

    _scalars: Any
    _warned_of_beta = False

    # the service for the one-call function
    _simple: bool
    _kept: Runner
    _rescaled = False

    def _route_of(self, names: tuple[str, ...], views: tuple[View, ...]) -> Route:
        """In place, an operand that shares memory with C is read from a copy."""
        if self.options.inplace and "c" in names:
            target = views[names.index("c")]
            for name, view in zip(names, views, strict=True):
                if name != "c" and overlap(view, target, target.ptr):
                    view.flags |= UNTIDY
        return super()._route_of(names, views)

    def _prepare(self) -> None:
        """Keep the whole product as one call, if it is no more than that."""
        whole = getattr(self._plan_object, "whole", None)
        prepare(self, None if whole is None else whole())

    def _answered(self) -> int:
        return answered(self)

    def _used_beta(self, beta: Any) -> Any:
        """Return beta where there is a C; else say once that it is ignored, since a loop of calls would fill the log."""
        if beta is None or self._problem.c is not None:
            return beta
        if not self._warned_of_beta:
            self._warned_of_beta = True
            self.logger.warning("beta is ignored, since there is no operand c.")
        return None

    def _reset_scaled(self, objs: tuple[Any, ...], alpha: Any, beta: Any, stream: Any) -> None:
        """Replace scalars too: all arguments are checked before anything changes."""
        self._check_valid()
        scalars = self._scalars.read(alpha, self._used_beta(beta))
        if not self._objs or any(obj is not None for obj in objs):
            self._reset_checked(objs, stream)
        self._scalars.store(scalars)

    def _rescale_once(self, alpha: Any, beta: Any) -> None:
        """Set the scalars of one call; what is not given has its default."""
        beta = self._used_beta(beta)
        self._scalars.store(self._scalars.read(1.0 if alpha is None else alpha, 0.0 if beta is None else beta))
        self._rescaled = True
