"""What the user calls."""

from __future__ import annotations

from typing import Any

from ..._core import log
from ..._core.keywords import explained
from ..._core.options import ExecutionCPU, ExecutionCUDA, coerce_options
from ._carry import Carrier
from ._operation import SEQUENCES, SolverOperation, arrays_of, check_packages
from ._options import DirectSolverOptions


class DirectSolver(SolverOperation):
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

    @explained(options=DirectSolverOptions)
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
        check_packages(parts)
        operands = {
            f"{name}[{index}]" if explicit else name: array
            for (name, arrays), explicit in zip(parts.items(), self._explicit, strict=True)
            for index, array in enumerate(arrays)
        }
        self._begin(operands, made_options, execution)
        self._carrier = Carrier(self._adapter, self._device, self._gpu)
        self._makers = []
        self._made_for = None
        self._used = [False, False]
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place)
            self.logger.info(log.BLOCKING[True])

    # --- phases -------------------------------------------------------------------------------------------------------------------

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

    def solve(self, *, stream: Any = None, trans: str | None = None) -> Any:
        """Solve for the present right-hand sides.

        Parameters
        ----------
        stream : optional
            Stream of GPU work.
        trans : {"N", "T", "C", "H"}, optional
            Solve with the matrix, its transpose, or its conjugate transpose (``"C"`` or ``"H"``); by default what the options say.

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
            `trans` is none of these, or not ``"N"`` for least squares.
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

    # --- operands -----------------------------------------------------------------------------------------------------------------

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

    def release_operands(self) -> None:
        """Drop the references to the operands and their mirrors; the plan stays, and a reset brings new operands.

        Raises
        ------
        InvalidDirectSolverState
            The object has been freed.
        """
        self._release()

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
