"""What the user calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..._core import log
from ..._core.arrays import NEEDS_COPY, READONLY, View, adapter_of
from ..._core.fork import children
from ..._core.operation import Operation
from ..._core.options import ExecutionCPU, ExecutionCUDA, coerce_options
from ..._core.place import Cuda, cuda
from ..._core.route import Result, Route
from ._carry import Carrier, makers
from ._errors import InvalidDirectSolverState
from ._options import DirectSolverOptions, transposition
from ._problem import FORMS, Given, SystemsProblem, differences, specify

SEQUENCES: Final = (list, tuple)


class DirectSolver(Operation):
    """A solver of ``a @ x = b``: planned once, factorized for each set of matrices, solved for each set of right-hand sides.

    Parameters
    ----------
    a : array or sequence of arrays
        The matrix (n, n), a batch of them (\\*batch, n, n), or a sequence of matrices; float32, float64, complex64 or complex128, of
        NumPy, CuPy, PyTorch or any package with DLPack, with any strides. Row-major matrices are solved for as their transposes, so
        that they are not transposed.
    b : array or sequence of arrays
        One right-hand side (n,) or several (n, k); for a batch (\\*batch, n, k), or a sequence of (n,) or (n, k). Also (\\*batch, n)
        where it cannot be meant as (n, k). Of the package, device and dtype of `a`.
    options : DirectSolverOptions or dict, optional
        What is known of the matrix, and what may be overwritten.
    execution : ExecutionCUDA, ExecutionCPU, str or dict, optional
        Where to run: ``"cuda"`` or ``"cpu"``. By default operands on a GPU are processed there; operands in host memory are processed
        on a GPU if there is one and cuSOLVER is installed, else on the CPU.
    stream : optional
        For GPU work: stream object of any package, or an integer ``cudaStream_t``; by default the current stream of the package.

    Raises
    ------
    ValueError
        The operands do not fit each other in shape, dtype, package or device, or an option does not fit them.
    TypeError
        An argument is of the wrong kind.
    RuntimeError
        CUDA execution was asked for and there is no device, or a library is missing.

    Notes
    -----
    On the CPU LAPACK does the work (``getrf``, ``getrs`` and so on, of the OpenBLAS in NumPy, of MKL, or of SciPy), for a batch once per
    system, spread over threads. On a GPU it is cuSOLVER (``cusolverDnXgetrf``, ``cusolverDnXpotrf``, ``cusolverDnXgeqrf``), and for
    batches of small systems cuBLAS (``cublasDgetrfBatched`` and so on) or, in :func:`direct_solver`, a kernel of our own. The condition
    of every matrix is guessed by one more solve, and estimated where that is alarming. Calls return when the work is done. One object
    serves one thread at a time.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> with nvmath.linalg.DirectSolver(a, np.array([6.0, 7.0]), execution="cpu") as solver:
    ...     solver.plan()
    ...     solver.factorize()
    ...     x = solver.solve()
    ...     solver.reset_operands(b=np.array([5.0, 4.0]))
    ...     x, solver.solve()
    (array([1., 2.]), array([1., 1.]))
    """

    _invalid = InvalidDirectSolverState
    _gpu_library = "cusolver"

    def __init__(
        self,
        a: Any,
        b: Any,
        options: DirectSolverOptions | dict[str, Any] | None = None,
        execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
        stream: Any = None,
    ) -> None:
        made_options = coerce_options(DirectSolverOptions, options)
        parts = {"a": arrays_of("a", a), "b": arrays_of("b", b)}
        self._explicit = isinstance(a, SEQUENCES), isinstance(b, SEQUENCES)
        self._count = len(parts["a"])
        _check_packages(parts)
        operands = {
            f"{name}[{index}]" if explicit else name: array
            for (name, arrays), explicit in zip(parts.items(), self._explicit, strict=True)
            for index, array in enumerate(arrays)
        }
        self._begin(operands, made_options, execution)
        self._carrier = Carrier(self._adapter, self._device, self._gpu)
        self._makers: list[Callable[[], Any]] = []
        self._made_for: SystemsProblem | None = None
        self._used = [False, False]  # whether the mirrors of a and b have been overwritten or may be out of date
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place)
            self.logger.info(log.BLOCKING[True])

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
        from ._host import HostSolverPlan

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

    # --- phases -------------------------------------------------------------------------------------------------------------------

    def _check_operands(self) -> None:
        self._check_valid()
        if not self._objs:
            raise RuntimeError("The operands of this DirectSolver have been released. Give it new ones with reset_operands() first.")
        if self._gpu is not None and self._planned and self._generation != children.generation:
            cuda(self._gpu.device_id)  # says why it cannot be used in a forked child

    def plan(self, stream: Any = None) -> None:
        """Plan the factorization; a second call does nothing.

        Parameters
        ----------
        stream : optional
            Stream of GPU work.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        RuntimeError
            The operands have been released, or a library is missing.
        """
        self._check_operands()
        if self._planned:
            self.logger.debug("The solver is already planned; this call of plan() changes nothing.")
            return
        self._do_plan(stream)

    def factorize(self, *, stream: Any = None) -> None:
        """Factorize the present matrices; again after their values have changed.

        Parameters
        ----------
        stream : optional
            Stream of GPU work.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        RuntimeError
            The solver is not planned, or the operands have been released. As :class:`SingularMatrixError`: a matrix is singular, not
            finite, not positive definite as was said, or of deficient rank; of a batch the text lists which, and `indices` has them.

        Warns
        -----
        IllConditionedWarning
            A matrix has an estimated condition number beyond the reciprocal of the precision.
        """
        self._check_operands()
        plan = self._plan_object
        if plan is None:
            raise RuntimeError("plan() must be called before factorize().")
        with log.timed(self.logger, "The factorization"):
            self._refresh(0, stream)
            with self._carrier.call(stream, self._route.across) as handle:
                self._factorize(handle)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Factorized: %s.", self._problem)

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

    def solve(self, *, stream: Any = None, trans: str | None = None) -> Any:
        """Solve for the present right-hand sides.

        Parameters
        ----------
        stream : optional
            Stream of GPU work.
        trans : {"N", "T", "C"}, optional
            Solve with the matrix, its transpose, or its conjugate transpose; by default what the options say.

        Returns
        -------
        array or list of arrays
            New arrays of the package, device and axis order of `b`, a list if `b` is a sequence; with ``inplace_b`` those of `b`.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        RuntimeError
            The solver is not planned and factorized, or the operands have been released. As :class:`SingularMatrixError`: a solution
            is not finite; of a batch the text lists which.
        ValueError
            `trans` is none of the three, or not ``"N"`` for least squares.
        """
        self._check_operands()
        plan = self._plan_object
        if plan is None or not plan.factorized:
            missing = "plan() and factorize()" if plan is None else "factorize()"
            raise RuntimeError(f"{missing} must be called before solve().")
        asked = self._trans(trans)
        if self._gpu is None and not self.logger.isEnabledFor(log.INFO):
            return self._solve(asked, 0)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Solving: %s. %s", self._problem, log.BLOCKING[True])
        with log.timed(self.logger, "The solution"):
            self._refresh(1, stream)
            with self._carrier.call(stream, self._route.across) as handle:
                return self._solve(asked, handle)

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

    # --- operands -----------------------------------------------------------------------------------------------------------------

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

    def reset_operands(self, *, a: Any = None, b: Any = None, stream: Any = None) -> None:
        """Replace operands; those that are not given stay. New matrices have to be factorized, new right-hand sides need nothing.

        Parameters
        ----------
        a : array or sequence of arrays, optional
            Of the package, device, dtype, shape and batch of the present one; any strides.
        b : array or sequence of arrays, optional
            Of the package, device, dtype, shape and batch of the present one; any strides.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        ValueError
            Nothing is given, one is missing after :meth:`release_operands`, or one does not fit; the text says how.
        """
        self._check_valid()
        objs = self._flat(a, b)
        if not self._swap(objs):
            self._check_alike(objs)
            self._reset_checked(objs, stream)
        self._replaced(a, b)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Operands have been replaced: %s.", self._problem)

    def reset_operands_unchecked(self, *, a: Any = None, b: Any = None, stream: Any = None) -> None:
        """Replace operands without checking them; other metadata than those of the present ones give undefined results.

        Parameters
        ----------
        a, b : array or sequence of arrays, optional
            As for :meth:`reset_operands`, with exactly the metadata of the present ones.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        ValueError
            Nothing is given, or one is missing after :meth:`release_operands`.
        """
        self._reset_unchecked(self._flat(a, b), stream)
        self._replaced(a, b)

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
            view = adapter.view(obj)
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

    def release_operands(self) -> None:
        """Drop the references to the operands and their mirrors; the plan stays, and a reset brings new operands.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        """
        self._release()


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
        self.nbytes = self._plan_object.nbytes
        self._simple = True
        self._forget()

    def _serve(self, objs: tuple[Any, ...], stream: Any) -> Any:
        """Solve for operands of the planned metadata, checked, and forget them again."""
        if not self._objs:
            self._reset_checked(objs, stream)
            self._warn_of_gradients()
            self._used = [False, False]
        try:
            self.factorize(stream=stream)
            return self.solve(stream=stream)
        finally:
            self._forget()
            if self._gpu is not None and self._plan_object is not None:
                self._plan_object.release()


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


def _check_packages(parts: dict[str, tuple[Any, ...]]) -> None:
    packages = {name: sorted({adapter_of(array).name for array in arrays}) for name, arrays in parts.items()}
    if len({package for names in packages.values() for package in names}) > 1:
        given = ", ".join(f"{name}: {' and '.join(names)}" for name, names in packages.items())
        raise ValueError(f"Library package mismatch: a and b must come from one array package, but got {given}. Convert them first.")
