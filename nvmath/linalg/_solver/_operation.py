"""A solver of dense systems, from the inside: what it answers to the life cycle, its phases, and its operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..._core.arrays import NEEDS_COPY, READONLY, View, adapter_of
from ..._core.fork import children
from ..._core.operation import Operation, viewed
from ..._core.place import Cuda, cuda
from ..._core.route import Result, Route
from ._carry import Carrier, makers
from ._errors import InvalidDirectSolverState
from ._host import HostSolverPlan  # now: a child forked during a later import would wait for ever
from ._options import transposition
from ._problem import FORMS, Given, SystemsProblem, differences, specify

SEQUENCES: Final = (list, tuple)


class SolverOperation(Operation):
    """The machinery of :class:`~nvmath.linalg.DirectSolver`."""

    _invalid = InvalidDirectSolverState
    _gpu_library = "cusolver"

    _explicit: tuple[bool, bool]
    """Whether `a` and `b` are sequences."""
    _count: int
    """How many arrays `a` is."""
    _carrier: Carrier
    _makers: list[Callable[[], Any]]
    _made_for: SystemsProblem | None
    _used: list[bool]
    """Whether the mirrors of `a` and `b` have been overwritten or may be out of date."""

    # --- answers to the life cycle ------------------------------------------------------------------------------------------------

    def _specify(self, views: tuple[View, ...]) -> SystemsProblem:
        copied = tuple(self._route.across or untidy for untidy in self._route.untidy)
        count = self._count
        return specify(
            Given("a", views[:count], self._explicit[0], copied[:count]),
            Given("b", views[count:], self._explicit[1], copied[count:]),
            self.options,
        )

    def _result(self) -> Result:
        problem: SystemsProblem = self._problem
        overwrites = self._count if problem.inplace_b else 0 if problem.inplace_a else None
        return Result(problem.x.shapes[0], problem.x.strides[0], problem.dtype, overwrites)

    def _check_writable(self, views: tuple[View, ...]) -> None:
        written = (self.options.inplace_a,) * self._count + (self.options.inplace_b,) * (len(views) - self._count)
        for name, view, touched in zip(self._names, views, written, strict=True):
            if not touched:
                continue
            option = f"inplace_{name[0]}"
            if view.flags & READONLY:
                raise ValueError(f"{name} is read-only, so it cannot be overwritten. Pass a writable copy, or {option}=False.")
            if view.flags & NEEDS_COPY:
                raise ValueError(
                    f"{name} cannot be overwritten: its byte order, alignment or lazy conjugation needs a copy. Pass a plain copy, or "
                    f"{option}=False."
                )

    def _make_plan(self) -> Any:
        problem: SystemsProblem = self._problem
        owned = problem.inplace_a or self._route.across
        if isinstance(self._place, Cuda):
            from ._cuda import plan_on

            return plan_on(problem, owned, self._place, self._adapter, self.options)
        return HostSolverPlan(problem, owned, self.execution_options.num_threads or 1)  # type: ignore[union-attr]

    def _same(self, old: SystemsProblem, new: SystemsProblem) -> str:
        return differences(old, new)

    def _replan(self, views: tuple[View, ...], problem: Any, route: Route, stream: Any = None) -> None:
        """Other right-hand sides need no new factorization."""
        if self._problem.matrix != problem.matrix:
            super()._replan(views, problem, route, stream)
        elif self._problem != problem:
            try:
                self._plan_object.take(self._problem)
            except BaseException:
                self._views, self._problem, self._route = views, problem, route
                raise

    # --- phases -------------------------------------------------------------------------------------------------------------------------

    def _check_operands(self) -> None:
        self._check_valid()
        if not self._objs:
            raise RuntimeError("The operands of this DirectSolver have been released. Give it new ones with reset_operands() first.")
        if self._gpu is not None and self._planned and self._generation != children.generation:
            cuda(self._gpu.device_id)  # says why it cannot be used in a forked child

    def _factorize(self, handle: int) -> None:
        plan, problem, carrier, count = self._plan_object, self._problem, self._carrier, self._count
        objs = self._objs[:count]
        ptrs, copies = self._addresses(0)
        self._used[0] = True
        try:
            plan.factorize(ptrs, handle)
        finally:
            if problem.inplace_a:
                self._note(objs)
        if problem.inplace_a and self._route.across:
            carrier.put(problem.a, problem, ptrs, objs, handle)
        del copies

    def _trans(self, trans: str | None) -> str:
        problem: SystemsProblem = self._problem
        if trans is None:
            return problem.trans
        trans = transposition(trans)
        if trans != "N" and problem.least_squares:
            raise ValueError(f"Least squares take trans='N', not {trans!r}. Make a solver for the transposed matrix.")
        return "T" if trans == "C" and problem.dtype.kind == "f" else trans

    def _solve(self, trans: str, handle: int) -> Any:
        plan, problem, carrier, count = self._plan_object, self._problem, self._carrier, self._count
        objs, across = self._objs[count:], self._route.across
        ptrs, copies = self._addresses(1)
        self._used[1] = True
        if problem.inplace_b:
            try:
                plan.solve(ptrs, ptrs, trans, handle)
            finally:
                self._note(objs)
            if across:
                carrier.put(problem.b, problem, ptrs, objs, handle)
            results = list(objs)
        elif across:
            targets, owners = carrier.buffers(problem.x, problem, handle)
            plan.solve(ptrs, targets, trans, handle)
            results = carrier.new(problem.x, problem)
            carrier.fetch(problem.x, problem, targets, results, handle)
            del owners
        else:
            results = self._new()
            plan.solve(ptrs, tuple(map(self._adapter.pointer, results)), trans, handle)
        del copies
        return results if problem.b.explicit else results[0]

    # --- operands -----------------------------------------------------------------------------------------------------------------------

    def _new(self) -> list[Any]:
        """Make the arrays of the solution."""
        if self._made_for is not self._problem:
            self._makers = makers(self._adapter, self._device, self._problem)
            self._made_for = self._problem
        return [make() for make in self._makers]

    def _positions(self, which: int) -> range:
        return range(self._count) if which == 0 else range(self._count, len(self._views))

    def _addresses(self, which: int) -> tuple[tuple[int, ...], Any]:
        """Return where an operand can be read, and the copies that were made of arrays that no library reads as they are."""
        part = slice(self._count) if which == 0 else slice(self._count, None)
        ptrs, untidy = self._now()[part], self._route.untidy[part]
        if self._route.across or True not in untidy:  # mirrors are always readable
            return ptrs, None
        return self._carrier.addresses(self._objs[part], ptrs, untidy)

    def _refresh(self, which: int, stream: Any) -> None:
        """Fill the mirrors of an operand again: they have been overwritten, or the caller may have changed the values."""
        if not (self._route.across and self._used[which]):
            return
        positions = self._positions(which)
        for index in positions:
            self._views[index].obj = self._objs[index]
        self._hold(stream, positions)
        self._used[which] = False

    def _note(self, objs: Sequence[Any]) -> None:
        for obj in objs:
            self._adapter.touched(obj)

    def _flat(self, a: Any, b: Any) -> tuple[Any, ...]:
        """Return the arrays of both operands, None for those that stay."""
        if a is None and b is None:
            raise ValueError("Pass at least one operand to reset_operands(); to give up both use release_operands().")
        if not self._objs and (a is None or b is None):
            raise ValueError(
                "The operands have been released, so all required operands must be provided; "
                f"{'a' if a is None else 'b'} is missing. Pass it to reset_operands() together with the other."
            )
        objs: list[Any] = []
        for which, (name, given) in enumerate((("a", a), ("b", b))):
            positions = self._positions(which)
            arrays: tuple[Any, ...] = (None,) * len(positions)
            if given is not None:
                arrays = arrays_of(name, given)
                if isinstance(given, SEQUENCES) != self._explicit[which] or len(arrays) != len(positions):
                    raise ValueError(
                        f"The batching metadata for {name} must match: it was "
                        f"{f'a sequence of {len(positions)}' if self._explicit[which] else 'one array'}, but is now "
                        f"{f'a sequence of {len(arrays)}' if isinstance(given, SEQUENCES) else 'one array'}."
                    )
            objs += arrays
        return tuple(objs)

    def _check_alike(self, objs: tuple[Any, ...]) -> None:
        problem: SystemsProblem = self._problem
        for index, (name, obj, old) in enumerate(zip(self._names, objs, self._views, strict=True)):
            if obj is None:
                continue
            adapter = adapter_of(obj)
            if adapter is not self._adapter:
                raise ValueError(
                    f"The package for {name} must match: it was {self._adapter.name}, but is now {adapter.name}. Convert the array."
                )
            view = viewed(adapter, name, obj)
            rows: list[tuple[str, Any, Any]] = [("dtype", old.dtype, view.dtype), ("device id", old.device, view.device)]
            if index < self._count:
                rows.append(("number of columns", problem.cols, view.shape[-1] if view.shape else None))
            for what, one, other in rows:
                if one != other:
                    raise ValueError(f"The {what} for {name} must match: it was {one}, but is now {other}.")

    def _replaced(self, a: Any, b: Any) -> None:
        if a is not None:
            self._used[0] = False
            if self._plan_object is not None:
                self._plan_object.factorized = False
        if b is not None:
            self._used[1] = False

    # --- service for the one-call function ------------------------------------------------------------------------------------------

    _simple = False
    _short: Callable[[int, int, int], None] | None = None

    def _once(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any) -> Any:
        """Solve for operands of the planned metadata, in the place where they are."""
        plan, problem, count = self._plan_object, self._problem, self._count
        if self._gpu is None:
            results = self._new()
            plan.once(ptrs[:count], ptrs[count:], tuple(map(self._adapter.pointer, results)), problem.trans)
        else:
            with self._carrier.call(stream, False) as handle:
                results = self._new()
                plan.once(ptrs[:count], ptrs[count:], tuple(map(self._adapter.pointer, results)), problem.trans, handle)
            plan.release()
        return results if problem.b.explicit else results[0]

    def _prepare_once(self) -> None:
        """Keep what every call of the one-call function needs."""
        self._new()
        self._short = self._plan_object.flat() if self._gpu is None else None
        # On a GPU the memory goes back after each call; what stays is the right-hand side of the guess.
        self._nbytes = self._plan_object.nbytes if self._gpu is None else self._problem.cols * self._problem.dtype.itemsize
        self._simple = True
        self._forget()


def arrays_of(name: str, operand: Any) -> tuple[Any, ...]:
    """Return the arrays of an operand.

    Raises
    ------
    ValueError
        It is an empty sequence, or holds something that is no array.
    """
    if not isinstance(operand, SEQUENCES):
        return (operand,)
    if not operand:
        raise ValueError(f"{name} is an empty sequence. Pass {FORMS}.")
    for index, each in enumerate(operand):
        if isinstance(each, SEQUENCES) or not hasattr(each, "shape"):
            raise ValueError(
                f"{name}[{index}] is of type {type(each).__name__}, which is no array. A sequence holds one matrix for each system; "
                "turn nested lists of numbers into an array with numpy.asarray first."
            )
    return tuple(operand)


def check_packages(parts: dict[str, tuple[Any, ...]]) -> None:
    packages = {name: sorted({adapter_of(array).name for array in arrays}) for name, arrays in parts.items()}
    if len({package for names in packages.values() for package in names}) > 1:
        given = ", ".join(f"{name}: {' and '.join(names)}" for name, names in packages.items())
        raise ValueError(f"Library package mismatch: a and b must come from one array package, but got {given}. Convert them first.")
