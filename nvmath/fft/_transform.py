"""The stateful transform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import log
from .._core.arrays import View, adapter_of
from .._core.errors import InvalidStateError
from .._core.keywords import explained
from .._core.operation import Operation, ends, viewed
from .._core.options import coerce_options
from .._core.place import Cuda
from .._core.route import Launch, Result, Runner
from . import _backend
from ._callback_pair import CallbackPair
from ._keys import create_key, create_key_from_metadata, key_of
from ._options import FFTDirection, FFTOptions, coerce_direction, coerce_norm
from ._problem import FFTProblem, as_ints, differences, extents_of, plan_arguments, specify


class InvalidFFTState(InvalidStateError):
    """An FFT object was used after it had been freed."""


class FFT(Operation):
    """A Fourier transform that is planned once and executed many times.

    Parameters
    ----------
    operand : array
        NumPy or CuPy array, PyTorch tensor, or an array of any package that offers DLPack; at least 1-dimensional; float16, float32,
        float64, complex32, complex64 or complex128 (NumPy and CuPy have no complex32). Any strides.
    axes : sequence of int, optional
        The axes to transform, in any order; all of them by default. For R2C and C2R the last one listed is the halved one.
    options : FFTOptions or dict, optional
        What is asked of the transform.
    execution : ExecutionCPU, ExecutionCUDA, str or dict, optional
        Where to run: ``"cpu"`` or ``"cuda"``; by default where the operand is.
    stream : optional
        For GPU work: stream object of any package, or an integer ``cudaStream_t``; by default the current stream of the operand's
        package.
    n : int, optional
        Length of a transform along one axis: the operand is cropped or padded with zeros, as by :func:`numpy.fft.fft`.
    s : sequence of int, optional
        The same for several axes, as by :func:`numpy.fft.fftn`; -1 keeps the extent.
    norm : {None, "backward", "ortho", "forward"}, optional
        None multiplies by no factor in either direction; the names mean what they mean in NumPy.

    Raises
    ------
    ValueError
        Dtype, shape, axes or options do not make a transform; the text says which and what to do.
    TypeError
        An argument is of the wrong kind.
    RuntimeError
        CUDA execution was asked for and there is no device, or the library is missing.

    Notes
    -----
    On the CPU the transform is done by an FFTW3-style library (MKL, NVPL or FFTW: ``fftw_execute_dft``), or by :mod:`scipy.fft`
    where none is installed; on a GPU by cuFFT (``cufftXtExec``). One object serves one thread at a time.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a = np.ones((4, 8), dtype=np.complex64)
    >>> with nvmath.fft.FFT(a, axes=[1]) as transform:
    ...     transform.plan()
    ...     b = transform.execute()
    >>> b[0, 0]
    np.complex64(8+0j)
    """

    _names = ("operand",)
    _invalid = InvalidFFTState

    @explained(options=FFTOptions)
    def __init__(
        self,
        operand: Any,
        /,
        *,
        axes: Sequence[int] | None = None,
        options: FFTOptions | dict[str, Any] | None = None,
        execution: Any = None,
        stream: Any = None,
        n: int | None = None,
        s: Sequence[int] | None = None,
        norm: str | None = None,
    ) -> None:
        if n is not None and s is not None:
            raise ValueError("Pass n for one axis or s for several, not both.")
        self._asked_axes = None if axes is None else as_ints(axes, "axes")
        self._extents = extents_of(n, s)
        self._norm = coerce_norm(norm)
        self._callbacks: CallbackPair | None = None
        self._planned_direction: FFTDirection | None = None
        self._begin({"operand": operand}, coerce_options(FFTOptions, options), execution)
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Specified: %s, operand on %s, execution on %s.", self._problem, self._device, self._place)
            self.logger.info(log.BLOCKING[self.blocking])

    # --- answers to the life cycle ------------------------------------------------------------------------------------------------

    def _specify(self, views: tuple[View, ...]) -> FFTProblem:
        (view,) = views
        return specify(
            view.shape,
            view.strides,
            view.dtype,
            axes=self._asked_axes,
            options=self.options,
            package=self._adapter.name,
            extents=self._extents,
            norm=self._norm,
            copied=self._route.across or any(self._route.untidy),
        )

    def _alignment(self, view: View) -> int:
        return _backend.alignment(view.dtype, self._place)

    def _make_plan(self) -> Any:
        threads = None if isinstance(self._place, Cuda) else self.execution_options.num_threads  # type: ignore[union-attr]
        callbacks = self._callbacks or CallbackPair(self._problem)
        plan = _backend.make_plan(self._problem, self._place, threads, callbacks, self._adapter)
        if self._planned_direction is not None:
            plan.launch(self._planned_direction)
        return plan

    def _result(self) -> Result:
        problem = self._problem
        return Result(problem.out_shape, problem.out_strides, problem.out_dtype, 0 if problem.inplace else None)

    def _check_writable(self, views: tuple[View, ...]) -> None:
        super()._check_writable(views)
        self._check_apart(views[0], "the operand")

    def _into(self, runner: Runner, out: Any, stream: Any) -> Any:
        self._check_apart(viewed(adapter_of(out), "out", out), "out")
        return super()._into(runner, out, stream)

    def _check_apart(self, target: View, what: str) -> None:
        """Refuse callbacks whose data lies where the transform writes."""
        if self._callbacks:
            self._callbacks.refuse_overlap(*ends(target, target.ptr), what)

    def _launch(self, request: Any) -> Launch:
        problem: FFTProblem = self._problem
        direction = problem.default_direction if request is None else coerce_direction(request)
        if problem.kind != "C2C" and direction is not problem.default_direction:
            raise ValueError(
                f"The {problem.kind} transform has direction {problem.default_direction.name}, not {direction.name}. "
                f"For the opposite use {'irfft or fft_type=C2R' if problem.kind == 'R2C' else 'rfft or fft_type=R2C'} on the result."
            )
        if self._planned_direction not in (None, direction) and self._device == "cpu":
            from ..bindings.nvpl.fft import FFTWError

            raise FFTWError(
                f"plan() was asked for direction {self._planned_direction.name} only, so execute() cannot run {direction.name}. "
                "Leave the direction out of plan() to allow both."
            )
        return self._plan_object.launch(direction)  # type: ignore[no-any-return]

    def _same(self, old: FFTProblem, new: FFTProblem) -> str:
        if plan_arguments(old) == plan_arguments(new):
            return ""
        return f"It differs from the one that was planned: {differences(old, new)}."

    # --- phases -------------------------------------------------------------------------------------------------------------------

    @explained()
    def plan(
        self, *, prolog: Any = None, epilog: Any = None, stream: Any = None, direction: FFTDirection | None = None
    ) -> None:
        """Plan the transform; a second call does nothing, unless it brings callbacks: then the new plan replaces the one before.

        Parameters
        ----------
        prolog, epilog : optional
            Function applied to each element when it is loaded, or stored: a Python function, the result of
            :func:`compile_prolog` or :func:`compile_epilog`, a :class:`DeviceCallable`, or a dict of its fields or of
            ``function``, ``data`` and ``user_info_dtype``.
        stream : optional
            Stream of GPU work.
        direction : FFTDirection, optional
            On the CPU: plan only this direction.

        Raises
        ------
        InvalidFFTState
            The object has been freed.
        ValueError
            The direction or a callback does not fit the transform.
        """
        self._check_valid()
        if self._planned and prolog is epilog is None:
            self.logger.debug("The transform is already planned; this call of plan() changes nothing.")
            return
        if direction is not None:
            direction = coerce_direction(direction)
            if self._problem.kind != "C2C":
                self._launch_direction(direction)
        callbacks = CallbackPair(self._problem, prolog, epilog)
        callbacks.require_data()
        self._plan_with(callbacks, direction, stream)

    def _plan_with(self, callbacks: CallbackPair, direction: FFTDirection | None, stream: Any) -> None:
        before = self._callbacks, self._planned_direction
        plan, workspace = self._plan_object, self._workspace
        self._callbacks, self._planned_direction, self._workspace = callbacks, direction, None
        try:
            if self._inplace:
                self._check_apart(self._views[0], "the operand")
            self._do_plan(stream)
        except BaseException:
            self._callbacks, self._planned_direction = before
            self._workspace = workspace
            raise
        if plan is not None:
            self._runners.clear()
            self._for_graphs.clear()
            if workspace is not None:
                workspace.close()
            plan.close()

    def _launch_direction(self, direction: FFTDirection) -> None:
        if direction is not self._problem.default_direction:
            default = self._problem.default_direction.name
            raise ValueError(f"The {self._problem.kind} transform has direction {default}, not {direction.name}.")

    def execute(
        self,
        direction: FFTDirection | None = None,
        stream: Any = None,
        release_workspace: bool = False,
        *,
        out: Any = None,
    ) -> Any:
        """Compute the transform of the present operand.

        Parameters
        ----------
        direction : FFTDirection, int or str, optional
            C2C only; forward by default.
        stream : optional
            Stream of GPU work; by default the current stream of the operand's package at this call.
        release_workspace : bool, default False
            Give the workspace back when the call returns.
        out : array, optional
            Where to write the result; of the result's package, device, shape and dtype, any strides. It is returned.

        Returns
        -------
        array
            A new array of the operand's package on its device, or `out`, or the operand itself in place.

        Raises
        ------
        InvalidFFTState
            The object has been freed.
        RuntimeError
            The transform is not planned, or the operand has been released.
        ValueError
            The direction does not fit the kind of transform, or `out` does not fit the result.
        """
        objs = self._objs
        if objs:  # _now() without a call, as a transform of 64 points takes 300 ns
            unmoved = self._unmoved
            if self._pointer(objs[0]) != self._ptrs[0] if unmoved is None else not unmoved(objs, self._ptrs, self._shapes):
                self._now()
        try:
            runner = self._ready.get(direction)
        except TypeError:  # not hashable
            runner = self._runner(coerce_direction(direction))
        if runner is None or release_workspace or out is not None or self.logger.isEnabledFor(log.INFO):
            return self._run(runner or self._runner(direction), stream, release_workspace, out)
        return runner(objs, self._ptrs, stream, None)

    def reset_operand(self, operand: Any, *, stream: Any = None) -> None:
        """Replace the operand by another one that the plan fits.

        Parameters
        ----------
        operand : array
            Same package, device and dtype; a shape and strides for which :meth:`create_key` gives the same key.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidFFTState
            The object has been freed.
        TypeError
            The operand is of another package.
        ValueError
            The operand differs in dtype, device or layout; the text gives what was expected and what was given.
        """
        if not self._swap_one(operand):
            self._reset_checked((operand,), stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("The operand has been replaced: %s.", self._problem)

    def reset_operand_unchecked(self, operand: Any, *, stream: Any = None) -> None:
        """Replace the operand without any check; an operand of another layout gives undefined results.

        Parameters
        ----------
        operand : array
            An operand of exactly the package, device, dtype, shape and strides of the present one.
        stream : optional
            Stream of the copy, where one is needed.
        """
        self._reset_unchecked((operand,), stream)

    def release_operand(self) -> None:
        """Drop the reference to the operand, and its mirror; the plan stays, and a reset brings a new operand.

        Raises
        ------
        InvalidFFTState
            The object has been freed.
        """
        self._release()

    # --- what can be asked ----------------------------------------------------------------------------------------------------------

    def get_input_layout(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return shape and strides, in elements, of the array that the transform reads and a prolog sees."""
        self._check_valid()
        plan = self._plan_object
        strides = self._problem.in_strides if plan is None else plan.passes.first_strides
        return self._problem.shape, strides

    def get_output_layout(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return shape and strides, in elements, of the result, which an epilog sees."""
        self._check_valid()
        return self._problem.out_shape, self._problem.out_strides

    def get_key(self, *, prolog: Any = None, epilog: Any = None) -> tuple[Any, ...]:
        """Return the key of the planned transform, for a cache of the caller; see :meth:`create_key`.

        Raises
        ------
        InvalidFFTState
            The object has been freed.
        RuntimeError
            The transform is not planned.
        """
        self._check_valid()
        if not self._planned:
            raise RuntimeError("plan() must be called before get_key(). create_key() gives the same key without a plan.")
        return key_of(self._problem, self.execution_options, prolog, epilog)

    create_key = staticmethod(create_key)
    create_key_from_metadata = staticmethod(create_key_from_metadata)

    @property
    def axes(self) -> tuple[int, ...]:
        """The transformed axes, non-negative."""
        return self._problem.axes  # type: ignore[no-any-return]

    @property
    def fft_abstract_type(self) -> str:
        """``"C2C"``, ``"R2C"`` or ``"C2R"``."""
        return self._problem.kind  # type: ignore[no-any-return]

    @property
    def operand_data_type(self) -> str:
        """Name of the dtype of the operand."""
        return self._problem.in_dtype.name  # type: ignore[no-any-return]

    @property
    def result_data_type(self) -> str:
        """Name of the dtype of the result."""
        return self._problem.out_dtype.name  # type: ignore[no-any-return]

    @property
    def device_id(self) -> int | str:
        """The device of the operand: an index, or ``"cpu"``."""
        return self._device

    @property
    def memory_space(self) -> str:
        """Where the operand is: ``"cpu"`` or ``"cuda"``."""
        return "cpu" if self._device == "cpu" else "cuda"

    @property
    def execution_space(self) -> str:
        """Where the transform runs: ``"cpu"`` or ``"cuda"``."""
        return self._place.name

    @property
    def inplace(self) -> bool:
        """Whether the operand is overwritten."""
        return self._inplace

    @property
    def fft_planned(self) -> bool:
        """Whether the transform is planned."""
        return self._planned

    @property
    def handle(self) -> int | None:
        """The first cuFFT plan handle, or None."""
        return getattr(self._plan_object, "handle", None)

    @property
    def workspace(self) -> Any:
        """The workspace on the GPU, with its ``size`` in bytes, or None."""
        return self._workspace

    # --- service for the one-call functions -----------------------------------------------------------------------------------------

    _once: Runner
    _simple: bool

    def _serve(self, operand: Any, stream: Any, out: Any) -> Any:
        """Transform an operand of the planned metadata and forget it again."""
        if not self._objs:
            self._views = (self._aligned(self._adapter.view(operand)),)
            self._warn_of_gradients()
            if self._inplace:
                self._check_writable(self._views)
            self._hold(stream)
        try:
            return self._run(self._once, stream, True, out)
        finally:
            self._forget()
