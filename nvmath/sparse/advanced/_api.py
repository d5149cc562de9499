"""What the user calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ..._core import log
from ..._core.arrays import NEEDS_COPY, View, adapter_of
from ..._core.errors import InvalidStateError
from ..._core.kernels_host import array_at
from ..._core.operation import Operation, stream_handle
from ..._core.options import ExecutionCPU, coerce_options
from ..._core.place import Cuda
from ..._core.route import Launch, Result, Route
from ...bindings import mkl_pardiso
from ._config import Config, DirectSolverFactorizationConfig, DirectSolverPlanConfig, DirectSolverSolutionConfig
from ._csr import Csr, check_pair, take_apart
from ._info import DirectSolverFactorizationInfo, DirectSolverPlanInfo
from ._options import (
    DirectSolverFactorizationPreferences,
    DirectSolverOptions,
    DirectSolverPlanPreferences,
    DirectSolverSolutionPreferences,
    ExecutionCUDA,
    ExecutionHybrid,
    coerce_execution,
)
from ._problem import SystemProblem, differences, specify


class InvalidDirectSolverState(InvalidStateError):
    """A solver was used after it had been freed."""


_MATRIX = ("a.indptr", "a.indices", "a.data")


class DirectSolver(Operation):
    """A solver of ``a @ x = b`` for a sparse matrix: planned once, factorized for each set of values, solved for each `b`.

    Parameters
    ----------
    a : CSR matrix
        Square, of SciPy (``csr_array``, ``csr_matrix``), CuPy (``cupyx.scipy.sparse.csr_matrix``) or PyTorch (layout ``sparse_csr``);
        float32, float64, complex64 or complex128, with int32 or int64 indices. On the CPU its entries may be unsorted or doubled.
    b : array
        One right-hand side (n,), or several (n, k); of NumPy, CuPy or PyTorch as `a`, of its dtype and device, with any strides.
    options : DirectSolverOptions or dict, optional
        What is known of the matrix, and what is asked of the solver.
    execution : ExecutionCUDA, ExecutionCPU, str or dict, optional
        Where to run: ``"cuda"`` or ``"cpu"``. By default operands on a GPU are processed there; operands in host memory are processed
        on a GPU if there is one and cuDSS is installed, else on the CPU.
    stream : optional
        For GPU work: stream object of any package, or an integer ``cudaStream_t``; by default the current stream of the package.

    Raises
    ------
    TypeError
        The operands are of the wrong kind, or do not fit each other.
    ValueError
        An option does not fit; the text says which and what to do.
    NotImplementedError
        A batch of systems is given, or hybrid execution is asked for.
    RuntimeError
        CUDA execution was asked for and there is no device, or cuDSS is missing.

    Notes
    -----
    On the CPU the solver is MKL PARDISO (``pardiso_64``) or, where MKL is not installed, SciPy's SuperLU; on a GPU it is cuDSS
    (``cudssExecute``). Solutions are checked: if the residual is not as small as the arithmetic allows they are refined, and if that does
    not help :class:`SingularSystemError` is raised. On a GPU with ``blocking="auto"`` the check is left out, since it has to wait, unless
    pivots had to be replaced or the matrix was reset after the factorization. One object serves one thread at a time.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, nvmath
    >>> a = scipy.sparse.csr_array(np.array([[4.0, 1.0], [1.0, 3.0]]))
    >>> with nvmath.sparse.advanced.DirectSolver(a, np.array([6.0, 7.0]), execution="cpu") as solver:
    ...     _ = solver.plan()
    ...     _ = solver.factorize()
    ...     solver.solve()
    array([1., 2.])
    """

    _invalid = InvalidDirectSolverState
    _gpu_library = "cudss"

    def __init__(
        self,
        a: Any,
        b: Any,
        *,
        options: DirectSolverOptions | dict[str, Any] | None = None,
        execution: ExecutionCUDA | ExecutionHybrid | ExecutionCPU | str | dict[str, Any] | None = None,
        stream: Any = None,
    ) -> None:
        made_options = coerce_options(DirectSolverOptions, options)
        made_execution = coerce_execution(execution)
        self._hybrid = getattr(made_execution, "hybrid_memory_mode_options", None)
        csr = self._take(a, b)
        self._package, self._shape = csr.package, csr.shape
        self._config: Config
        self._begin({**dict(zip(_MATRIX, csr.arrays, strict=True)), "b": b}, made_options, made_execution)
        self._config = self._make_config()
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place)
            self.logger.info(log.BLOCKING[self.blocking])

    @staticmethod
    def _take(a: Any, b: Any) -> Csr:
        csr = take_apart(a)
        if isinstance(b, list | tuple):
            raise NotImplementedError("Batches of systems are not implemented yet: b is a sequence. Solve the systems one by one.")
        check_pair(csr.package, adapter_of(b).name)
        one, other = (adapter_of(array).view(array).device for array in (csr.data, b))
        if one != other:
            raise TypeError(f"a and b must be on one device, but a is on {one} and b on {other}. Move one of them.")
        return csr

    # --- answers to the life cycle ------------------------------------------------------------------------------------------------

    def _specify(self, views: tuple[View, ...]) -> SystemProblem:
        for name, view in zip(_MATRIX, views, strict=False):
            packed = view.shape[0] <= 1 or len(view.shape) != 1 or view.strides[0] == 1
            if view.flags & NEEDS_COPY or not packed:
                raise ValueError(
                    f"The array {name} must be contiguous, aligned, of native byte order and without lazy conjugation. Pass a copy of a."
                )
        copied = tuple(self._route.across or untidy for untidy in self._route.untidy)
        return specify(self._shape, views, copied, self.options)

    def _make_config(self) -> Config:
        if isinstance(self._place, Cuda):
            from ._config import CudssConfig
            from ._cudss import threading_library

            return CudssConfig(bool(threading_library(self.options)))
        if mkl_pardiso.present():
            from . import _pardiso

            return _pardiso.config()
        from . import _superlu

        self.logger.info("MKL is not installed: SciPy's SuperLU solves, in one thread. pip install mkl makes it faster.")
        return _superlu.config()

    def _make_plan(self) -> Any:
        if isinstance(self._place, Cuda):
            from ._cudss import CudssPlan

            config: Any = self._config
            return CudssPlan(self._problem, self._place, config, self.options, self._hybrid, self._adapter, self.blocking)
        threads = self.execution_options.num_threads or 1  # type: ignore[union-attr]
        if mkl_pardiso.present():
            from ._pardiso import PardisoPlan

            return PardisoPlan(self._problem, self._config, threads)
        from ._superlu import SuperluPlan

        return SuperluPlan(self._problem, self._config, threads)

    def _result(self) -> Result:
        problem = self._problem
        return Result(problem.shape, problem.x_strides, problem.dtype)

    def _launch(self, request: Any) -> Launch:
        self._plan_object.problem = self._problem  # another number of right-hand sides needs no new plan
        return self._plan_object.launch()  # type: ignore[no-any-return]

    def _same(self, old: SystemProblem, new: SystemProblem) -> str:
        return differences(old, new)

    def _replan(self, views: tuple[View, ...], problem: Any, route: Route) -> None:
        """A new right-hand side needs no new plan; a new matrix gets one when the caller asks for it."""
        if self._problem.matrix == problem.matrix:
            self._runners.clear()
        else:
            self._drop_plan()

    # --- phases -------------------------------------------------------------------------------------------------------------------

    def _pattern(self) -> tuple[Any, Any] | None:
        """The pattern of the present matrix where it is in host memory."""
        if self._device != "cpu":
            return None
        problem = self._problem
        ptrs = [self._look(obj)[0] for obj in self._objs[:2]]
        return (
            array_at(ptrs[0], (problem.n + 1,), (1,), problem.offsets), array_at(ptrs[1], (problem.nnz,), (1,), problem.indices)
        )  # fmt: skip

    def _check_operands(self) -> None:
        self._check_valid()
        if not self._objs:
            raise RuntimeError("The operands of this DirectSolver have been released. Give it new ones with reset_operands() first.")

    def _on_stream(self, stream: Any, work: Callable[[int], None]) -> None:
        """Do a phase on the GPU of the solver, on the stream of the call."""
        assert isinstance(self._place, Cuda)
        with self._place.current():
            handle = stream_handle(self, stream)
            with self._adapter.on_stream(self._place.device_id, handle):
                work(handle)
            if self.blocking:
                self._place.wait(handle)

    def plan(self, *, stream: Any = None) -> DirectSolverPlanInfo:
        """Plan the factorization: order the matrix to limit fill-in. A later call plans anew, with the settings of that time.

        Parameters
        ----------
        stream : optional
            Stream of GPU work.

        Returns
        -------
        DirectSolverPlanInfo
            What is known of the plan.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        RuntimeError
            The operands have been released, or cuDSS is too old.
        ValueError
            The matrix is no valid CSR matrix; on a GPU also if its column indices are not sorted.
        """
        self._check_operands()
        self._drop_plan()
        self._do_plan()
        plan = self._plan_object
        try:
            if isinstance(self._place, Cuda):
                self._on_stream(stream, lambda handle: plan.analyse(self._ptrs, handle, self._pattern()))
            else:
                plan.analyse(self._ptrs)
        except BaseException:
            self._drop_plan()
            raise
        return DirectSolverPlanInfo(self)

    def factorize(self, *, stream: Any = None) -> DirectSolverFactorizationInfo:
        """Factorize the present matrix; again after its values have changed.

        Parameters
        ----------
        stream : optional
            Stream of GPU work; the call returns when the factorization is done.

        Returns
        -------
        DirectSolverFactorizationInfo
            What is known of the factorization.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        RuntimeError
            The solver is not planned for this pattern, or the operands have been released.
        SingularSystemError
            The matrix is singular, or not positive definite as was said.
        """
        self._check_operands()
        plan = self._plan_object
        if plan is None:
            raise RuntimeError("plan() must be called before factorize(), and again when the pattern of the matrix has changed.")
        with log.timed(self.logger, "The factorization"):
            if isinstance(self._place, Cuda):
                self._on_stream(stream, lambda handle: plan.factorize(self._ptrs, handle))
            else:
                plan.factorize(self._ptrs)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("The matrix has been factorized: %s.", self._problem)
        return DirectSolverFactorizationInfo(self)

    def solve(self, *, stream: Any = None) -> Any:
        """Solve for the present right-hand side.

        Parameters
        ----------
        stream : optional
            Stream of GPU work.

        Returns
        -------
        array
            A new array of the package, device, shape and axis order of `b`.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        RuntimeError
            The matrix is not planned and factorized, or the operands have been released.
        SingularSystemError
            The solution is not as good as the arithmetic allows: the matrix is singular or nearly so, or its values have changed too
            much since it was factorized.
        """
        self._check_operands()
        plan = self._plan_object
        if plan is None or not plan.factorized:
            missing = "plan() and factorize()" if plan is None else "factorize()"
            raise RuntimeError(f"{missing} must be called before solve().")
        return self._run(self._ready.get(None) or self._runner(None), stream, False, None)

    def _plan_again(self) -> None:
        """In a forked child: plan and factorize as the parent had."""
        super()._plan_again()
        self._plan_object.analyse(self._ptrs)
        self._plan_object.factorize(self._ptrs)

    def reset_operands(self, *, a: Any = None, b: Any = None, stream: Any = None) -> None:
        """Replace operands; those that are not given stay.

        Parameters
        ----------
        a : CSR matrix, optional
            A matrix of the same package, device, dtypes and shape. If its pattern is that of the present one the plan stays, and
            :meth:`factorize` is called next; otherwise :meth:`plan` is. Patterns in GPU memory are compared by address.
        b : array, optional
            A right-hand side of the same package, device and dtype, with any number of columns.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        TypeError
            An operand does not fit; the text gives what was expected and what was given.
        ValueError
            Nothing is given, or an operand is missing after :meth:`release_operands`.
        """
        self._check_valid()
        if a is None and b is None:
            raise ValueError("Pass a, b or both; to give up the operands use release_operands().")
        if not self._objs and (a is None or b is None):
            raise ValueError(
                f"The operands have been released, so both must be given; {'a' if a is None else 'b'} is missing."
            )
        arrays: tuple[Any, ...] = (None, None, None)
        if a is not None:
            csr = take_apart(a)
            if csr.package != self._package:
                raise TypeError(f"a was a matrix of {self._package}, so it cannot be replaced by one of {csr.package}.")
            if csr.shape != self._shape:
                raise TypeError(f"a had shape {self._shape}, so it cannot be replaced by a matrix of shape {csr.shape}.")
            arrays = csr.arrays
        if b is not None:
            check_pair(self._package, adapter_of(b).name)
        objs = (*arrays, b)
        if not self._swap(objs):
            self._check_replacements(objs)
            try:
                self._reset_checked(objs, stream)
            except ValueError as error:
                raise TypeError(str(error)) from None
        if a is not None:
            self._check_pattern()
            if isinstance(self._place, Cuda) and self._plan_object is not None:
                self._plan_object.stale = True

    def _check_replacements(self, objs: tuple[Any, ...]) -> None:
        for name, obj, old in zip(self._names, objs, self._views, strict=True):
            if obj is not None:
                view = adapter_of(obj).view(obj)
                if (view.device, view.dtype) != (old.device, old.dtype):
                    raise TypeError(
                        f"{name} was {old.dtype} on device {old.device}, so it cannot be replaced by {view.dtype} on {view.device}."
                    )

    def _check_pattern(self) -> None:
        """After the matrix has been replaced: keep the plan only if it was made for this pattern."""
        plan = self._plan_object
        if plan is None:
            return
        fits = plan.accepts(self._ptrs, self._pattern()) if isinstance(self._place, Cuda) else plan.accepts(self._ptrs)
        if not fits:
            self._drop_plan()
            self.logger.warning("The pattern of the matrix differs from the one that was planned: call plan() and factorize() again.")

    def reset_operands_unchecked(self, *, a: Any = None, b: Any = None, stream: Any = None) -> None:
        """Replace operands without any check; another pattern, layout or dtype gives undefined results.

        Parameters
        ----------
        a : CSR matrix, optional
            A matrix of exactly the metadata and pattern of the present one.
        b : array, optional
            A right-hand side of exactly the metadata of the present one.
        stream : optional
            Stream of the copy, where one is needed.
        """
        self._reset_unchecked((*(take_apart(a).arrays if a is not None else (None, None, None)), b), stream)

    def release_operands(self) -> None:
        """Drop the references to the operands and their mirrors; plan and factorization stay.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        """
        self._release()

    def free(self) -> None:
        """Give up the plan, the factorization and the operands; calling it again does nothing."""
        if self.valid_state:
            super().free()
            self._config.close()

    # --- settings and information -----------------------------------------------------------------------------------------------------

    @property
    def plan_config(self) -> DirectSolverPlanConfig:
        """Settings of the next :meth:`plan`."""
        return DirectSolverPlanConfig(self)

    @property
    def factorization_config(self) -> DirectSolverFactorizationConfig:
        """Settings of the next :meth:`factorize`."""
        return DirectSolverFactorizationConfig(self)

    @property
    def solution_config(self) -> DirectSolverSolutionConfig:
        """Settings of the next :meth:`solve`."""
        return DirectSolverSolutionConfig(self)

    @property
    def plan_info(self) -> DirectSolverPlanInfo:
        """What is known of the plan."""
        return DirectSolverPlanInfo(self)

    @property
    def factorization_info(self) -> DirectSolverFactorizationInfo:
        """What is known of the factorization."""
        return DirectSolverFactorizationInfo(self)


def direct_solver(
    a: Any,
    b: Any,
    /,
    *,
    options: DirectSolverOptions | dict[str, Any] | None = None,
    plan_preferences: DirectSolverPlanPreferences | dict[str, Any] | None = None,
    factorization_preferences: DirectSolverFactorizationPreferences | dict[str, Any] | None = None,
    solution_preferences: DirectSolverSolutionPreferences | dict[str, Any] | None = None,
    execution: ExecutionCUDA | ExecutionHybrid | ExecutionCPU | str | dict[str, Any] | None = None,
    stream: Any = None,
) -> Any:
    """Solve ``a @ x = b`` for a sparse matrix.

    Parameters
    ----------
    a : CSR matrix
        Square, of SciPy, CuPy or PyTorch; see :class:`DirectSolver`.
    b : array
        One right-hand side (n,), or several (n, k).
    options : DirectSolverOptions or dict, optional
        What is known of the matrix, and what is asked of the solver.
    plan_preferences, factorization_preferences, solution_preferences : optional
        Settings of the phases, as objects or dicts of their fields.
    execution, stream : optional
        As in :class:`DirectSolver`.

    Returns
    -------
    array
        A new array of the package, device, shape and axis order of `b`.

    Raises
    ------
    SingularSystemError
        The matrix is singular or nearly so, or not of the type and view that the options say.
    TypeError, ValueError, NotImplementedError, RuntimeError
        As for :class:`DirectSolver`.

    See Also
    --------
    DirectSolver : Keeps plan and factorization, for several right-hand sides or values.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, nvmath
    >>> a = scipy.sparse.csr_array(np.array([[4.0, 1.0], [1.0, 3.0]]))
    >>> nvmath.sparse.advanced.direct_solver(a, np.array([6.0, 7.0]), execution="cpu")
    array([1., 2.])
    """
    asked = (
        _preferences(DirectSolverPlanPreferences, plan_preferences, "plan_preferences"),
        _preferences(DirectSolverFactorizationPreferences, factorization_preferences, "factorization_preferences"),
        _preferences(DirectSolverSolutionPreferences, solution_preferences, "solution_preferences"),
    )
    with DirectSolver(a, b, options=options, execution=execution, stream=stream) as solver:
        for name, value in (item for group in asked for item in group.items()):
            solver._config.set(name, value)
        solver.plan(stream=stream)
        solver.factorize(stream=stream)
        return solver.solve(stream=stream)


def _preferences(cls: type[Any], value: Any, name: str) -> dict[str, Any]:
    """Return the settings that are given."""
    if value is not None and not isinstance(value, cls | dict):
        raise TypeError(f"{name} must be None, a {cls.__name__} object or a dict of its fields, not {type(value).__name__}.")
    made = coerce_options(cls, value)
    return {field.name: given for field in fields(cls) if (given := getattr(made, field.name)) is not None}
