"""What the user calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ..._core import log
from ..._core.arrays import CONJ, UNTIDY, View, adapter_of
from ..._core.cache import plan_cache
from ..._core.errors import InvalidStateError
from ..._core.layout import dense, normalise, stride_order
from ..._core.operation import Operation, overlap
from ..._core.place import Cuda
from ..._core.route import Launch, Result, Route, Runner
from .._matrix import Matrix, Operand
from ._options import (
    NO_EPILOG,
    Epilog,
    MatmulOptions,
    MatmulPlanPreferences,
    MatmulQuantizationScales,
    check_epilog_inputs,
    coerce,
    coerce_epilog,
    coerce_qualifiers,
    not_yet,
)
from ._problem import MatmulProblem, differences, specify
from ._scalars import Scalars

__all__ = ["InvalidMatmulState", "Matmul", "matmul"]

_PLAIN: Final = "advanced.matmul"  # the first part of the keys of plans
_WITH_C: Final = "advanced.matmul with c"
_BETA: Final = "A value for beta must be provided with c: beta * c is added. Pass beta=1.0 to add c as it is."


class InvalidMatmulState(InvalidStateError):
    """A Matmul object was used after it had been freed."""


class Matmul(Operation):
    """A product of matrices, ``F(alpha * A @ B + beta * C)``, that is planned once and executed many times.

    Parameters
    ----------
    a, b : array
        NumPy or CuPy arrays, PyTorch tensors, or arrays of any package that offers DLPack, all of one package, device and dtype:
        float16, bfloat16, float32, float64, complex64 or complex128. The last two axes are the matrices, ``(..., M, K)`` and
        ``(..., K, N)``; a 1-dimensional `a` is a row, a 1-dimensional `b` a column. Leading axes are batches: equal extents, or 1
        or no axis where one matrix serves all. Any strides; what the library cannot read is copied at each execution.
    c : array, optional
        What is added: ``(..., M, N)``, or ``(..., M, 1)`` for one column that serves all; at least 2-dimensional.
    alpha : number, optional
        1 by default.
    beta : number, optional
        Needed with `c`.
    qualifiers : array, optional
        One entry of ``matrix_qualifiers_dtype`` for each of A, B and C; ``is_conjugate`` conjugates A or B.
    quantization_scales : optional
        Scales of narrow precision; ignored, with a warning in the log.
    options : MatmulOptions or dict, optional
        What is asked of the product.
    stream : optional
        For GPU work: stream object of any package, or an integer ``cudaStream_t``; by default the current stream of the operands'
        package.
    execution : ExecutionCPU, ExecutionCUDA, str or dict, optional
        Where to run: ``"cpu"`` or ``"cuda"``; by default on the GPU of the operands, and for operands in host memory on a GPU if
        there is one with cuBLASLt, else on the CPU.

    Raises
    ------
    ValueError
        Dtypes, shapes or options do not fit each other; the text says which and what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    NotImplementedError
        Something is asked for that is not there yet; the text names it.
    RuntimeError
        CUDA execution was asked for and there is no device, or the library is missing.

    Notes
    -----
    On a GPU the product is done by cuBLASLt (``cublasLtMatmul``), on the CPU by the OpenBLAS of NumPy (``cblas_?gemm``), or by
    :func:`numpy.matmul` where there is none. Float32 products are exact to float32: TF32 is used only if ``compute_type`` says so.
    One object serves one thread at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced import Matmul
    >>> a, b = np.eye(3), np.arange(6.0).reshape(3, 2)
    >>> with Matmul(a, b, alpha=2.0) as product:
    ...     product.plan()
    ...     d = product.execute()
    >>> d[2]
    array([ 8., 10.])
    """

    _invalid = InvalidMatmulState
    _gpu_library = "cublasLt"
    _reads = {"a": CONJ, "b": CONJ}  # noqa: RUF012, a ClassVar in the base

    def __init__(
        self,
        a: Any,
        b: Any,
        /,
        c: Any = None,
        *,
        alpha: Any = None,
        beta: Any = None,
        qualifiers: Any = None,
        quantization_scales: Any = None,
        options: MatmulOptions | dict[str, Any] | None = None,
        stream: Any = None,
        execution: Any = None,
    ) -> None:
        settings = coerce(MatmulOptions, options, "options")
        if c is not None and beta is None:
            raise ValueError(_BETA)
        self._conjugate = coerce_qualifiers(qualifiers)
        self._epilog: Epilog = NO_EPILOG
        self._keep: Matrix | None = None
        operands = {"a": a, "b": b} if c is None else {"a": a, "b": b, "c": c}
        self._own = len(operands)  # operands of the constructor; those of the epilog follow
        self._begin(operands, settings, execution)
        if c is None and beta is not None:
            self._warn_of_beta()
            beta = None
        self._scalars = Scalars(self._problem.scale_type)
        self._scalars.store(self._scalars.read(alpha, beta))
        self._ignore_scales(quantization_scales)
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info(
                "Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place
            )
            self.logger.info(log.BLOCKING[self.blocking])

    def _warn_of_beta(self) -> None:
        self.logger.warning("beta is ignored, since there is no operand c.")

    def _ignore_scales(self, scales: Any) -> None:
        if scales is not None:
            coerce(MatmulQuantizationScales, scales, "quantization_scales")
            self.logger.warning("quantization_scales are ignored: they are for narrow-precision operands only.")

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
        operands = {
            name: self._operand(name, view, self._route.across or untidy)
            for name, view, untidy in zip(self._names, views, self._route.untidy, strict=True)
        }
        return specify(**operands, options=self.options, epilog=self._epilog, keep=self._keep)

    def _operand(self, name: str, view: View, copied: bool) -> Operand:
        shape, strides = view.shape, view.strides
        if copied:
            strides = dense(shape, stride_order(shape, normalise(shape, strides)))
        conj = (
            name in self._reads and view.dtype.kind == "c" and (self._conjugate[name == "b"] != bool(view.flags & CONJ))
        )
        exact = isinstance(self._place, Cuda) and not copied
        return Operand(shape, strides, view.dtype, conj, min(16, view.ptr & -view.ptr or 16) if exact else 16)

    def _make_plan(self) -> Any:
        problem: MatmulProblem = self._problem
        if isinstance(self._place, Cuda):
            from ._cublaslt import CublasLtPlan

            return CublasLtPlan(
                problem, self._names, self._scalars, self._place, self._adapter, self.options, self._preferences
            )  # fmt: skip
        from ._blas import HostMatmulPlan

        return HostMatmulPlan(problem, self._names, self._scalars, self.execution_options.num_threads or 1)  # type: ignore[union-attr]

    def _result(self) -> Result:
        problem: MatmulProblem = self._problem
        return Result(problem.out_shape, problem.out_strides, problem.d.dtype, 2 if problem.inplace else None)

    def _launch(self, request: Any) -> Launch:
        return self._plan_object.launch()  # type: ignore[no-any-return]

    def _same(self, old: MatmulProblem, new: MatmulProblem) -> str:
        return differences(old, new, layouts=isinstance(self._device, int))

    # --- phases -------------------------------------------------------------------------------------------------------

    _preferences: MatmulPlanPreferences

    def plan(
        self,
        *,
        preferences: MatmulPlanPreferences | dict[str, Any] | None = None,
        algorithms: Any = None,
        epilog: Any = None,
        epilog_inputs: Mapping[str, Any] | None = None,
        stream: Any = None,
    ) -> None:
        """Plan the product; another call plans it anew, with another epilog or other preferences.

        Parameters
        ----------
        preferences : MatmulPlanPreferences or dict, optional
            For the choice of an algorithm on a GPU.
        algorithms : optional
            Not supported yet.
        epilog : MatmulEpilog, optional
            What is done to the product before it is stored: RELU, GELU (approximated by tanh), BIAS, RELU_BIAS or GELU_BIAS.
        epilog_inputs : dict, optional
            The arrays that the epilog needs: ``{"bias": array}`` of shape ``(M,)``, ``(M, 1)`` or ``(..., M, 1)``, which is added
            to every column.
        stream : optional
            Stream of GPU work.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        ValueError
            The epilog or its inputs do not fit.
        TypeError
            An input is from another package.
        NotImplementedError
            The epilog, or `algorithms`, is not there yet.
        cuBLASLtError
            The library does not support the product; the note says which.
        """
        self._check_valid()
        if algorithms is not None:
            raise not_yet("plan(algorithms=...)", "Leave it out; the library's first choice is used.")
        chosen = coerce(MatmulPlanPreferences, preferences, "preferences")
        row = coerce_epilog(epilog)
        if epilog is None and epilog_inputs:
            self.logger.warning("epilog_inputs are ignored, since there is no epilog.")
            epilog_inputs = None
        inputs = check_epilog_inputs(row, epilog_inputs)
        if not self._objs:
            raise RuntimeError("The operands have been released. Give new ones with reset_operands() before plan().")
        self._drop_plan()
        self._epilog, self._preferences, self._keep = row, chosen, None
        try:
            self._attach(self._own, inputs, stream)
        except BaseException:
            self._epilog = NO_EPILOG
            self._attach(self._own, {}, stream)
            raise
        self._do_plan()
        self._keep = None if self._inplace else self._problem.d

    def execute(
        self, *, algorithm: Any = None, release_workspace: bool = False, stream: Any = None, out: Any = None
    ) -> Any:
        """Compute the product of the present operands.

        Parameters
        ----------
        algorithm : optional
            Not supported yet.
        release_workspace : bool, default False
            Give the workspace back when the call returns.
        stream : optional
            Stream of GPU work; by default the current stream of the operands' package at this call.
        out : array, optional
            Where to write the result; of the result's package, device, shape and dtype, any strides. It is returned.

        Returns
        -------
        array
            A new array of the operands' package on their device, or `out`, or C itself in place.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        RuntimeError
            The product is not planned, or the operands have been released.
        ValueError
            `out` does not fit the result.
        """
        runner = self._ready.get(None)
        if (
            runner is None or release_workspace or out is not None or algorithm is not None or self.logger.isEnabledFor(log.INFO)
        ):  # fmt: skip
            if algorithm is not None:
                raise not_yet("execute(algorithm=...)", "Leave it out; the library's first choice is used.")
            return self._run(runner or self._runner(None), stream, release_workspace, out)
        return runner(self._objs, self._ptrs, stream, None)

    def reset_operands(
        self,
        *,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        alpha: Any = None,
        beta: Any = None,
        quantization_scales: Any = None,
        epilog_inputs: Mapping[str, Any] | None = None,
        stream: Any = None,
    ) -> None:
        """Replace operands and scalars; what is not given stays.

        Parameters
        ----------
        a, b, c : array, optional
            Same package, device, dtype, shape and, on a GPU, strides as before.
        alpha, beta : number, optional
            New scalars.
        quantization_scales : optional
            Ignored, with a warning in the log.
        epilog_inputs : dict, optional
            New inputs of the epilog, by name.
        stream : optional
            Stream of the copies, where some are needed.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        TypeError
            An operand is of another package.
        ValueError
            Nothing is given, or an operand differs; the text gives what was expected and what was given. After
            :meth:`release_operands` every operand has to be given.
        """
        plain = c is None and epilog_inputs is None and len(self._names) == 2
        objs = (a, b) if plain else self._arranged(a, b, c, epilog_inputs)
        scaled = alpha is not None or beta is not None or quantization_scales is not None
        if scaled:
            self._reset_scaled(objs, alpha, beta, quantization_scales, stream)
        elif not self._swap(objs):
            self._reset_checked(objs, stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Operands or scalars have been replaced: %s.", self._problem)

    def reset_operands_unchecked(
        self,
        *,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        alpha: Any = None,
        beta: Any = None,
        quantization_scales: Any = None,
        epilog_inputs: Mapping[str, Any] | None = None,
        stream: Any = None,
    ) -> None:
        """Replace operands and scalars without any check; operands of another layout give undefined results.

        Parameters
        ----------
        a, b, c, alpha, beta, quantization_scales, epilog_inputs, stream : optional
            As for :meth:`reset_operands`; arrays of exactly the package, device, dtype, shape and strides of the present ones.
        """
        if alpha is not None or beta is not None:
            self._scalars.store(self._scalars.read(alpha, None if self._problem.c is None else beta))
        self._reset_unchecked(self._arranged(a, b, c, epilog_inputs), stream)

    def _reset_scaled(self, objs: tuple[Any, ...], alpha: Any, beta: Any, scales: Any, stream: Any) -> None:
        """Replace scalars too: all arguments are checked before anything changes."""
        self._check_valid()
        if beta is not None and self._problem.c is None:
            self._warn_of_beta()
            beta = None
        scalars = self._scalars.read(alpha, beta)
        if not self._objs or any(obj is not None for obj in objs):
            self._reset_checked(objs, stream)
        self._scalars.store(scalars)
        self._ignore_scales(scales)

    def _arranged(self, a: Any, b: Any, c: Any, inputs: Mapping[str, Any] | None) -> tuple[Any, ...]:
        """Return the operands in the order of the launch, None for those that are not given."""
        extra = self._names[self._own :]
        if c is not None and self._own == 2:
            raise ValueError(
                "There was no operand c at construction, so none can be set. Make a new Matmul object with c."
            )
        for name in inputs or ():
            if name not in extra:
                raise ValueError(
                    f"epilog_inputs has the unknown name {name!r}; the epilog that was planned has "
                    f"{', '.join(map(repr, extra)) or 'none'}."
                )
        own = (a, b) if self._own == 2 else (a, b, c)
        return (*own, *map((inputs or {}).get, extra)) if extra else own

    def release_operands(self) -> None:
        """Drop the references to all operands, and their mirrors; the plan stays, and a reset brings new operands.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        """
        self._release()

    # --- what is not there yet ----------------------------------------------------------------------------------------

    def autotune(
        self, iterations: int = 10, prune: int | None = None, release_workspace: bool = False, stream: Any = None
    ) -> None:
        """Measure the candidates and keep the fastest: not supported yet.

        Raises
        ------
        NotImplementedError
            Always.
        """
        self._check_valid()
        raise not_yet("autotune()", "The library's first choice is used.")

    def applicable_algorithm_ids(self, limit: int = 8) -> tuple[int, ...]:
        """Return identifiers of algorithms: not supported yet.

        Raises
        ------
        NotImplementedError
            Always.
        """
        self._check_valid()
        raise not_yet("applicable_algorithm_ids()", "nvmath.bindings.cublasLt.matmul_algo_get_ids() gives them.")

    @property
    def algorithms(self) -> Any:
        """The algorithms of the plan: not supported yet."""
        raise not_yet("Matmul.algorithms", "The library's first choice is used.")

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

    def _serve(self, objs: tuple[Any, ...], stream: Any) -> Any:
        """Multiply operands of the planned metadata the long way round, and forget them again."""
        if not self._objs:
            self._reset_checked(objs, stream)
        try:
            return self._run(self._runner(None), stream, True, None)
        finally:
            self._forget()


def matmul(
    a: Any,
    b: Any,
    /,
    c: Any = None,
    *,
    alpha: Any = None,
    beta: Any = None,
    epilog: Any = None,
    epilog_inputs: Mapping[str, Any] | None = None,
    qualifiers: Any = None,
    quantization_scales: Any = None,
    options: MatmulOptions | dict[str, Any] | None = None,
    preferences: MatmulPlanPreferences | dict[str, Any] | None = None,
    algorithm: Any = None,
    stream: Any = None,
    execution: Any = None,
) -> Any:
    """Multiply matrices: ``F(alpha * A @ B + beta * C)``.

    The plan is kept for the next call with operands of the same metadata. For many calls with the same shapes :class:`Matmul` saves
    even more.

    Parameters
    ----------
    a, b, c, alpha, beta, qualifiers, quantization_scales, options, stream, execution
        As for :class:`Matmul`.
    epilog, epilog_inputs, preferences
        As for :meth:`Matmul.plan`; one candidate is asked for.
    algorithm : optional
        Not supported yet.

    Returns
    -------
    array
        A new array of the operands' package on their device, or C itself in place.

    Raises
    ------
    ValueError
        Dtypes, shapes or options do not fit each other; the text says which and what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    NotImplementedError
        Something is asked for that is not there yet; the text names it.
    RuntimeError
        CUDA execution was asked for and there is no device, or the library is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced import MatmulEpilog, matmul
    >>> a, b = np.eye(2), np.array([[1.0, -2.0], [-3.0, 4.0]])
    >>> matmul(a, b, epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": np.array([1.0, 0.0])})
    array([[2., 0.],
           [0., 4.]])
    """
    if algorithm is not None:
        raise not_yet("matmul(algorithm=...)", "Leave it out; the library's first choice is used.")
    if c is None and epilog_inputs is None:
        objs: tuple[Any, ...] = (a, b)
        look = adapter_of(a).look
        ptr_a, look_a = look(a)
        ptr_b, look_b = look(b) if type(b) is type(a) else adapter_of(b).look(b)
        ptrs: tuple[int, ...] = (ptr_a, ptr_b)
        key: Any = (
            _PLAIN, epilog, qualifiers, options, preferences, execution,
            type(a), look_a, ptr_a & 15, type(b), look_b, ptr_b & 15,
        )  # fmt: skip
    else:
        objs, epilog_inputs = _listed(a, b, c, beta, epilog, epilog_inputs)
        ptrs, seen = (), [_PLAIN if c is None else _WITH_C, epilog, qualifiers, options, preferences, execution]
        for obj in objs:
            ptr, look_obj = adapter_of(obj).look(obj)
            ptrs += (ptr,)
            seen += type(obj), look_obj, ptr & 15
        key = tuple(seen)
    key, product = plan_cache.lease(key, _settled)
    if product is None:
        product = _open(objs, c is None, epilog, epilog_inputs, qualifiers, options, preferences, stream, execution)
    try:
        if alpha is not None or beta is not None or product._rescaled:
            product._rescale_once(alpha, beta)
        if quantization_scales is not None:
            product._ignore_scales(quantization_scales)
        if product._simple and not log.ROOT.isEnabledFor(log.INFO):
            result = product._kept(objs, ptrs, stream, None)
        else:
            result = product._serve(objs, stream)
    except BaseException:
        plan_cache.discard(product)
        raise
    if product._gpu is not None:
        product._pin_if_captured(stream)
    plan_cache.give(key, product)
    return result


def _listed(
    a: Any, b: Any, c: Any, beta: Any, epilog: Any, inputs: Mapping[str, Any] | None
) -> tuple[tuple[Any, ...], Mapping[str, Any] | None]:
    """Return all operands in the order of the launch, and the inputs of the epilog."""
    if c is not None and beta is None:
        raise ValueError(_BETA)
    if inputs is None:
        return (a, b, c), None
    if epilog is None:
        log.ROOT.warning("epilog_inputs are ignored, since there is no epilog.")
        return ((a, b) if c is None else (a, b, c)), None
    if len(inputs) != 1 or "bias" not in inputs:
        inputs = check_epilog_inputs(coerce_epilog(epilog), inputs)
    extra = inputs.values()
    return ((a, b, *extra) if c is None else (a, b, c, *extra)), inputs


def _settled(key: Any) -> Any:
    """Return the key with every argument in a form that can be hashed, or None when the call must not be cached."""
    name, epilog, qualifiers, options, preferences, execution, *looks = key
    if options is not None:
        options = coerce(MatmulOptions, options, "options")
        if options.logger is not None or options.allocator is not None:
            return None
        options = options.key()
    if preferences is not None:
        preferences = coerce(MatmulPlanPreferences, preferences, "preferences").key()
    if isinstance(execution, Mapping):
        execution = tuple(sorted(execution.items(), key=repr))
    settled = (name, epilog, coerce_qualifiers(qualifiers), options, preferences, execution, *looks)
    try:
        hash(settled)
    except TypeError:
        return None
    return settled


def _open(
    objs: tuple[Any, ...], plain: bool, epilog: Any, inputs: Mapping[str, Any] | None, qualifiers: Any, options: Any,
    preferences: Any, stream: Any, execution: Any,
) -> Matmul:  # fmt: skip
    """Make and plan the product of a one-call function."""
    c = None if plain else objs[2]
    chosen = replace(coerce(MatmulPlanPreferences, preferences, "preferences"), limit=1)
    product = Matmul(
        objs[0], objs[1], c, beta=None if plain else 0.0, qualifiers=qualifiers, options=options, stream=stream, execution=execution
    )  # fmt: skip
    try:
        product._transient = True
        product.plan(preferences=chosen, epilog=epilog, epilog_inputs=inputs, stream=stream)
        product._kept = product._runner(None)
        product._simple = not (product._inplace or product._route.across)
        if product._simple:
            product._forget()
    except BaseException:
        product.free()
        raise
    return product
