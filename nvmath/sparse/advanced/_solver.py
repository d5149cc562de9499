"""The stateful solver."""

from __future__ import annotations

from typing import Any, Final, Literal, Self

from ..._core import log
from ..._core.errors import InvalidStateError, join
from ..._core.fork import children
from ..._core.keywords import explained
from ..._core.options import ExecutionCPU, coerce_options
from ..._core.place import Cuda
from ._config import DirectSolverFactorizationConfig, DirectSolverPlanConfig, DirectSolverSolutionConfig, HostConfig
from ._info import DirectSolverFactorizationInfo, DirectSolverPlanInfo
from ._libraries import make_config
from ._life import Life
from ._operands import Stored, cut, like, sides_like, take_all
from ._options import DirectSolverOptions, ExecutionCUDA, ExecutionHybrid, coerce_execution

_OPERATIONS: Final = {"N": "N", "T": "T", "H": "H", "C": "H"}


class InvalidDirectSolverState(InvalidStateError):
    """A solver was used after it had been freed."""


class DirectSolver(Life):
    """A solver of ``a @ x = b`` for a sparse matrix: planned once, factorized for each set of values, solved for each `b`.

    Parameters
    ----------
    a : sparse matrix, stack of matrices, or sequence of matrices
        Square, of SciPy, CuPy (``cupyx.scipy.sparse``) or PyTorch, in format CSR, CSC, COO or BSR; float32, float64, complex64 or
        complex128, with int32 or int64 indices. Its entries may be unsorted or doubled; they are never changed. A stack is a PyTorch
        tensor of shape (..., n, n); the matrices of a sequence may have different sizes.
    b : array, or sequence of arrays
        One right-hand side (n,), or several (n, k), of NumPy, CuPy or PyTorch as `a`, of its dtype and device, with any strides. `b`
        may be complex where `a` is real. For one matrix (..., n, k) means still more right-hand sides; for a batch of matrices there
        is one right-hand side for each, in a sequence or as (..., n, k).
    options : DirectSolverOptions or dict, optional
        What is known of the matrix, and what is asked of the solver.
    execution : ExecutionCUDA, ExecutionHybrid, ExecutionCPU, str or dict, optional
        Where to run: ``"cuda"``, ``"hybrid"`` or ``"cpu"``. By default operands on a GPU are processed there; operands in host memory
        are processed on a GPU if there is one and cuDSS is installed, else on the CPU.
    stream : optional
        For GPU work: stream object of any package, or an integer ``cudaStream_t``; by default the current stream of the package.

    Raises
    ------
    TypeError
        The operands are of the wrong kind, or do not fit each other.
    ValueError
        An option does not fit, or the matrices of a sequence differ in dtype; the text says which and what to do.
    RuntimeError
        CUDA execution was asked for and there is no device, or cuDSS is missing.

    Notes
    -----
    On the CPU the solver is MKL PARDISO (``pardiso_64``) or, where MKL is not installed, SciPy's SuperLU; on a GPU it is cuDSS
    (``cudssExecute``). A factorization whose pivots had to be replaced is tried on a right-hand side of random numbers, and solutions
    are checked: if the residual is not as small as the arithmetic allows, the option `on_failure` says what happens. On a GPU with
    ``blocking="auto"`` the residual stays there, since fetching it has to wait: read it from ``factorization_info.residual``; the next
    call that blocks warns of one that was too large. One object serves one thread at a time; see :meth:`clone_solver`. Calls may be on
    different streams: each waits on the GPU for the one before. None can be captured in a CUDA graph.

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

    @explained(options=DirectSolverOptions, executions=(ExecutionCPU, ExecutionCUDA, ExecutionHybrid))
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
        asked = coerce_execution(execution)
        stored, many = take_all(a)
        sides = tuple(b) if isinstance(b, list | tuple) else (b,)
        if not sides:
            raise TypeError("b is an empty sequence: pass at least one right-hand side.")
        self._set_up(stored, sides, (many, isinstance(b, list | tuple)), made_options, asked)
        self._config = make_config(self._place, self.options, self._asked)
        self._start(stream)

    # --- phases -------------------------------------------------------------------------------------------------------------------

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
            The operands have been released, cuDSS is too old, or a CUDA graph is being captured on the stream.
        ValueError
            The index arrays of a matrix are not valid.
        """
        self._check_operands()
        self._refuse_capture(stream)
        self._drop_plan()
        self._do_plan(stream)
        plan = self._plan_object
        try:
            self._in_place(stream, plan.analyse)
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
            The solver is not planned for this pattern, the operands have been released, or a CUDA graph is being captured on the stream.
        SingularSystemError
            The matrix is singular, or not positive definite as was said.
        """
        self._check_operands()
        if self._plan_object is None:
            raise RuntimeError(
                "plan() must be called before factorize(), and again when the pattern of the matrix has changed."
            )
        # The factors of clones stay as they are; a forked child has none of the threads of its parent.
        if self._plan_object.shared or self._generation != children.generation:
            self.plan(stream=stream)
        with log.timed(self.logger, "The factorization"):
            self._in_place(stream, self._plan_object.factorize)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("The matrix has been factorized: %s.", self._problem)
        return DirectSolverFactorizationInfo(self)

    def solve(self, *, trans: Literal["N", "T", "H", "C"] = "N", stream: Any = None) -> Any:
        """Solve for the present right-hand sides.

        Parameters
        ----------
        trans : {"N", "T", "H", "C"}, default "N"
            Solve with the matrix, with its transpose, or with its conjugate transpose (H, or C as in LAPACK). With cuDSS 0.8, which
            solves with the matrix only, the first transposed solution with a general matrix factorizes the transpose as well.
        stream : optional
            Stream of GPU work.

        Returns
        -------
        array, or tuple of arrays
            A new array of the package, device, shape and axis order of `b`; for a sequence one of each, all in one piece of memory.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        ValueError
            `trans` is none of the four.
        RuntimeError
            The matrix is not planned and factorized, the operands have been released, or a CUDA graph is being captured on the stream.
        SingularSystemError
            The solution is not as good as the arithmetic allows: the matrix is singular or nearly so, or its values have changed too
            much since it was factorized.
        """
        self._check_operands()
        op = _OPERATIONS.get(trans) if isinstance(trans, str) else None
        if op is None:
            raise ValueError(f"trans must be one of {join(_OPERATIONS)}, not {trans!r}.")
        plan = self._plan_object
        if plan is None or not plan.factorized:
            missing = "plan() and factorize()" if plan is None else "factorize()"
            raise RuntimeError(f"{missing} must be called before solve().")
        if isinstance(self._place, Cuda):
            self._refresh(stream)
        runner = self._ready.get(op) or self._runner(op)
        if self.logger.isEnabledFor(log.INFO):
            made = self._run(runner, stream, False, None)
        else:
            made = runner(self._objs, self._ptrs, stream, None)
        pieces = self._problem.pieces
        return tuple(cut(made, piece) for piece in pieces) if pieces else made

    def clone_solver(self) -> Self:
        """Return a solver with the same operands and settings that shares the plan and the factors, for another thread. CPU only.

        The factors are shared as long as neither solver plans or factorizes anew; then that one gets its own. Solutions of solvers that
        share factors wait for each other.

        Returns
        -------
        DirectSolver
            Free it as well, or use it in a ``with`` statement.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        RuntimeError
            The operands have been released, or nothing is planned.
        NotImplementedError
            The solver runs on a GPU.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, nvmath
        >>> a, b = scipy.sparse.csr_array(np.eye(2)), np.ones(2)
        >>> with nvmath.sparse.advanced.DirectSolver(a, b, execution="cpu") as solver:
        ...     _ = solver.plan()
        ...     _ = solver.factorize()
        ...     with solver.clone_solver() as clone:
        ...         clone.reset_operands(b=np.array([3.0, 4.0]))
        ...         clone.solve()
        array([3., 4.])
        """
        self._check_operands()
        if isinstance(self._place, Cuda):
            raise NotImplementedError(
                "A solver on a GPU cannot be cloned: a cuDSS object serves one thread. Make another DirectSolver."
            )
        if self._plan_object is None:
            raise RuntimeError("plan() must be called before clone_solver().")
        made = type(self).__new__(type(self))
        stored = tuple(
            Stored(self._package, form, shape, self._objs[3 * i : 3 * i + 3]) for i, (form, shape) in enumerate(self._metas)
        )  # fmt: skip
        made._set_up(stored, self._objs[self._count :], self._sequences, self.options, self._asked)
        assert isinstance(self._config, HostConfig)
        made._config = self._config.copy()
        made._start(None)
        made._plan_object, made._generation = self._plan_object.share(), self._generation
        children.inherited.add(made)
        return made

    # --- operands -----------------------------------------------------------------------------------------------------------------

    def reset_operands(self, *, a: Any = None, b: Any = None, stream: Any = None) -> None:
        """Replace operands; those that are not given stay.

        Parameters
        ----------
        a : sparse matrix, stack or sequence, optional
            Matrices of the same package, format, device, dtypes and shapes, as many as before. If their patterns are those of the
            present ones the plan stays, and :meth:`factorize` is called next; otherwise :meth:`plan` is.
        b : array or sequence of arrays, optional
            Right-hand sides of the same package, device and dtype, with any number of columns and any strides.
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
        RuntimeError
            `a` is given, and a CUDA graph is being captured on the stream: patterns could not be compared.
        """
        self._check_valid()
        if a is None and b is None:
            raise ValueError("Pass a, b or both; to give up the operands use release_operands().")
        if not self._objs and (a is None or b is None):
            raise ValueError(
                f"The operands have been released, so both must be given; {'a' if a is None else 'b'} is missing."
            )
        if a is not None:
            self._refuse_capture(stream)  # patterns are compared
        arrays = (
            (None,) * self._count if a is None else like(take_all(a), self._package, self._metas, self._sequences[0])
        )
        count = len(self._names) - self._count
        objs = (*arrays, *((None,) * count if b is None else sides_like(b, self._package, count, self._sequences[1])))
        if not self._swap(objs):
            self._check_replacements(objs)
            try:
                self._reset_checked(objs, stream)
            except ValueError as error:
                raise TypeError(str(error)) from None
        if a is not None:
            self._check_pattern(stream)

    def reset_operands_unchecked(self, *, a: Any = None, b: Any = None, stream: Any = None) -> None:
        """Replace operands without any check; another pattern, layout or dtype gives undefined results.

        Parameters
        ----------
        a : sparse matrix, stack or sequence, optional
            Of exactly the metadata and pattern of the present one.
        b : array or sequence of arrays, optional
            Of exactly the metadata of the present one.
        stream : optional
            Stream of the copy, where one is needed.
        """
        arrays = (None,) * self._count if a is None else tuple(array for one in take_all(a)[0] for array in one.arrays)
        sides = (
            (None,) * (len(self._names) - self._count)
            if b is None
            else tuple(b)
            if isinstance(b, list | tuple)
            else (b,)
        )
        self._reset_unchecked((*arrays, *sides), stream)

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

    # --- settings and information -------------------------------------------------------------------------------------------------

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
        """What is known of the factorization, and of the last solution."""
        return DirectSolverFactorizationInfo(self)
