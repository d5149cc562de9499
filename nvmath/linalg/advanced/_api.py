"""The stateful class that users call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..._core.keywords import explained
from ..._core.log import BLOCKING, INFO
from ..._core.options import ExecutionCPU, ExecutionCUDA
from ..._core.place import Cuda
from ..._core.untraced import untraced
from .._prepared import PREPARED
from ._algorithm import Algorithm, coerce_algorithms
from ._coerce import coerce, coerce_qualifiers, natural
from ._epilogs import NO_EPILOG, check_epilog_inputs, coerce_epilog, require_arrays, require_mapping
from ._narrow_operands import none_if_empty, split_inputs
from ._operation import InvalidMatmulState, MatmulOperation, scales_of
from ._options import MatmulOptions
from ._preferences import MatmulPlanPreferences, MatmulQuantizationScales
from ._scalars import Scalars

if TYPE_CHECKING:
    from ._autotune import AutotuneReport

__all__ = ["InvalidMatmulState", "Matmul"]

_BIASED: Final = ("a", "b", "bias")
_BIAS: Final = {"bias"}
BETA: Final = "A value for beta must be provided with c: beta * c is added. Pass beta=1.0 to add c as it is."


class Matmul(MatmulOperation):
    """A product of matrices, ``F(alpha * A @ B + beta * C)``, that is planned once and executed many times.

    Parameters
    ----------
    a, b : array
        NumPy or CuPy arrays, PyTorch tensors, or arrays of any package that offers DLPack, all of one package, device and dtype:
        float16, bfloat16, float32, float64, complex64 or complex128; or float8_e4m3fn and float8_e5m2 (one of them at least
        e4m3), or two of float4_e2m1fn_x2. The last two axes are the matrices, ``(..., M, K)`` and
        ``(..., K, N)``; a 1-dimensional `a` is a row, a 1-dimensional `b` a column. Leading axes are batches: equal extents, or 1
        or no axis where one matrix serves all. Any strides; what the library cannot read is copied at each execution.
    c : array, optional
        What is added: ``(..., M, N)``, or ``(..., M, 1)`` for one column that serves all; at least 2-dimensional.
    alpha : number, optional
        1 by default.
    beta : number, optional
        Needed with `c`. Without `c` it is ignored, with a warning in the log: once for each object.
    qualifiers : array, optional
        One entry of ``matrix_qualifiers_dtype`` for each of A, B and C; ``is_conjugate`` conjugates A or B.
    quantization_scales : MatmulQuantizationScales or dict, optional
        Scales of narrow operands, which need them: of `a`, `b`, and of the result `d` where that is FP8. Numbers, or tensors of the
        operands' package and place, which are read at each execution. Ignored, with a warning in the log, for other operands.
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
    ...     algorithms = product.plan()
    ...     d = product.execute()
    >>> d[2]
    array([ 8., 10.])
    """

    @untraced
    @explained(options=MatmulOptions, quantization_scales=MatmulQuantizationScales)
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
        quantization_scales: MatmulQuantizationScales | dict[str, Any] | None = None,
        options: MatmulOptions | dict[str, Any] | None = None,
        stream: Any = None,
        execution: ExecutionCPU | ExecutionCUDA | str | dict[str, Any] | None = None,
    ) -> None:
        settings = coerce(MatmulOptions, options, "options")
        if c is not None and beta is None:
            raise ValueError(BETA)
        self._start(coerce_qualifiers(qualifiers))
        operands = {"a": a, "b": b} if c is None else {"a": a, "b": b, "c": c}
        operands |= scales_of(quantization_scales, a, b, settings, stream)
        self._own = len(operands)  # operands of the constructor, scales among them; those of the epilog follow
        self._begin(operands, settings, execution)
        self._scalars = Scalars(self._problem.scale_type)
        self._scalars.store(self._scalars.read(alpha, self._used_beta(beta)))
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(INFO):
            self.logger.info(
                "Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place
            )
            self.logger.info(BLOCKING[self.blocking])

    def __repr__(self) -> str:
        if not self.valid_state:
            return "<Matmul, freed>"
        state = "not planned" if not self._planned else f"planned with {len(self._algorithms or ())} algorithms"
        return f"<Matmul: {self._problem}; on {self._place}, {state}>"

    # --- phases -------------------------------------------------------------------------------------------------------

    @untraced
    @explained(preferences=MatmulPlanPreferences)
    def plan(
        self,
        *,
        preferences: MatmulPlanPreferences | dict[str, Any] | None = None,
        algorithms: Sequence[Algorithm] | Algorithm | None = None,
        epilog: int | str | Callable[..., Any] | None = None,
        epilog_inputs: Mapping[str, Any] | None = None,
        stream: Any = None,
    ) -> tuple[Algorithm, ...]:
        """Plan the product; another call plans it anew, with another epilog or other preferences.

        Parameters
        ----------
        preferences : MatmulPlanPreferences or dict, optional
            For the choice of an algorithm on a GPU.
        algorithms : sequence of Algorithm, optional
            Use these, of an earlier plan or from a file, in place of those that the library proposes; the first is used by `execute`.
            The library is asked whether it can. On the CPU there is only one, and what is given here does not matter.
        epilog : MatmulEpilog, MatmulExtraEpilog, str or function, optional
            What is done to the product Z before it is stored; see the table in the notes. A Python function is called as
            ``f(value, row, column, *arrays)`` for each element and returns the new value; numba compiles it. `value` may already be
            rounded to the dtype of the result.
        epilog_inputs : dict, optional
            The arrays that the epilog needs, by name; those of a function by the names of its parameters after the third. An FP8
            auxiliary output (``aux_type``) needs a scale too, a number or one float32 value: ``"aux_quantization_scale"``.
        stream : optional
            Stream of GPU work.

        Returns
        -------
        tuple of Algorithm
            The candidates, best first, up to ``preferences.limit``; one on the CPU.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        ValueError
            The epilog or its inputs do not fit, or `algorithms` is empty.
        AssertionError
            `algorithms` holds something else.
        TypeError
            An input is from another package.
        RuntimeError
            The operands have been released, or the library has no algorithm.
        cuBLASLtError
            The library does not support the product, or cannot use an algorithm; the note says which.

        Notes
        -----
        ================  ==============  =================================  ==================================================
        epilog            inputs          auxiliary outputs                  result
        ================  ==============  =================================  ==================================================
        DEFAULT                                                              Z
        BIAS              bias                                               Z + bias, one number for each row
        RELU, GELU        bias (_BIAS)    relu_aux, gelu_aux (_AUX)          max(Z, 0); GELU approximated by tanh
        TANH, SIGMOID,    bias (_BIAS)                                       tanh(Z), 1 / (1 + exp(-Z)), Z / (1 + exp(-Z))
        SILU
        DRELU             relu_aux        drelu_bgrad (_BGRAD)               Z where the mask is set, else 0
        DGELU             gelu_aux        dgelu_bgrad (_BGRAD)               Z * GELU'(gelu_aux)
        BGRADA, BGRADB                    bgrada, bgradb                     Z; sums of A, or of B, over K
        function          its parameters                                     f(Z, row, column, ...)
        ================  ==============  =================================  ==================================================

        ``relu_aux`` has a bit for each element, ``(..., 16 * ceil(M / 128), N)`` bytes, column-major; bit ``i % 8`` of byte ``i // 8``
        of a column says whether row i was positive. ``gelu_aux`` holds Z (with the bias), ``(..., 8 * ceil(M / 8), N)``,
        column-major. The sums have shape ``(M,)``, or ``(..., M, 1)`` when there are batches (N for ``bgradb``). All epilogs but RELU,
        GELU, the extra ones without BIAS, and functions give a column-major result.

        What cuBLASLt does not have, or not for the dtypes at hand, is done by a kernel of our own after the product.
        """
        self._check_valid()
        given = None if algorithms is None else coerce_algorithms(algorithms)
        chosen = coerce(MatmulPlanPreferences, preferences, "preferences")
        row = coerce_epilog(epilog)
        require_mapping(epilog_inputs)
        if epilog is None and epilog_inputs:
            self.logger.warning("epilog_inputs are ignored, since there is no epilog.")
            epilog_inputs = None
        epilog_inputs, aux_scale = split_inputs(epilog_inputs, self._adapter, self._device, stream)
        inputs = check_epilog_inputs(row, epilog_inputs)
        require_arrays(inputs)
        inputs |= aux_scale
        if not self._objs:
            raise RuntimeError("The operands have been released. Give new ones with reset_operands() before plan().")
        self._drop_plan()
        before = self._epilog, self._preferences
        self._epilog, self._preferences, self._keep, self._given = row, chosen, None, given
        self._algorithms = None
        try:
            self._attach(self._own, inputs, stream)
        except BaseException:
            self._epilog, self._preferences = NO_EPILOG, before[1]
            self._attach(self._own, {}, stream)
            raise
        self._warn_of_inputs()
        self._do_plan(stream)
        self._keep = None if self._inplace else self._problem.d
        assert self._algorithms is not None
        return self._algorithms

    @untraced
    def execute(
        self, *, algorithm: Algorithm | None = None, release_workspace: bool = False, stream: Any = None, out: Any = None
    ) -> Any:
        """Compute the product of the present operands.

        Parameters
        ----------
        algorithm : Algorithm, optional
            One of :attr:`algorithms`; by default the first.
        release_workspace : bool, default False
            Give the workspace back when the call returns.
        stream : optional
            Stream of GPU work; by default the current stream of the operands' package at this call.
        out : array, optional
            Where to write the result; of the result's package, device, shape and dtype, any strides. It is returned.

        Returns
        -------
        array, or tuple of array and dict
            A new array of the operands' package on their device, or `out`, or C itself in place. If there are auxiliary outputs: a pair
            of that and a dict of them by name. Those are the epilog's and, of narrow results, ``"result_amax"`` (``result_amax=True``),
            ``"gelu_aux_amax"`` (``aux_amax=True``) and the scales ``"d_out_scale"`` (``block_scaling=True``).

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        RuntimeError
            The product is not planned, or the operands have been released.
        ValueError
            `out` does not fit the result, or `algorithm` is none of :attr:`algorithms`.
        """
        ready = self._ready
        if PREPARED in ready and algorithm is None and out is None and not self.logger.isEnabledFor(INFO):
            result = ready[PREPARED](*self._objs)
            if result is not NotImplemented:
                return result
            if not self._swap(self._objs):  # an array can be resized or reshaped where it is
                self._reset_checked(self._objs, None)
            self._prepare()  # for the operands and scalars as they are now
        ptrs = self._now()
        runner = self._ready.get(None)
        if (
            runner is None or release_workspace or out is not None or algorithm is not None or self.logger.isEnabledFor(INFO)
        ):  # fmt: skip
            return self._run(self._runner(self._request(algorithm)), stream, release_workspace, out)
        return runner(self._objs, ptrs, stream, None)

    @untraced
    def reset_operands(
        self,
        *,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        alpha: Any = None,
        beta: Any = None,
        quantization_scales: MatmulQuantizationScales | dict[str, Any] | None = None,
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
        quantization_scales : MatmulQuantizationScales or dict, optional
            Some of the scales that there were at construction, of narrow operands.
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
        names = self._names
        if quantization_scales is not None:
            quantization_scales = none_if_empty(quantization_scales)
        if c is None and epilog_inputs is None and quantization_scales is None and len(names) == 2:
            objs: tuple[Any, ...] = (a, b)
        elif (
            names == _BIASED
            and type(epilog_inputs) is dict
            and epilog_inputs.keys() == _BIAS
            and c is quantization_scales is None
        ):
            objs = (a, b, epilog_inputs["bias"])
        else:
            objs = self._arranged(a, b, c, epilog_inputs, quantization_scales, stream)
        scaled = alpha is not None or beta is not None or quantization_scales is not None
        if scaled:
            self._reset_scaled(objs, alpha, beta, stream)
        elif not self._swap(objs):
            self._reset_checked(objs, stream)
        if self.logger.isEnabledFor(INFO):
            self.logger.info("Operands or scalars have been replaced: %s.", self._problem)

    @untraced
    def reset_operands_unchecked(
        self,
        *,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        alpha: Any = None,
        beta: Any = None,
        quantization_scales: MatmulQuantizationScales | dict[str, Any] | None = None,
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
        self._reset_unchecked(self._arranged(a, b, c, epilog_inputs, quantization_scales, stream), stream)

    def release_operands(self) -> None:
        """Drop the references to all operands, and their mirrors; the plan stays, and a reset brings new operands.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        """
        self._release()

    # --- algorithms -----------------------------------------------------------------------------------------------------------------

    @property
    def algorithms(self) -> tuple[Algorithm, ...] | None:
        """The algorithms of the plan, best first; None before the first plan."""
        return self._algorithms

    def applicable_algorithm_ids(self, limit: int = 8) -> tuple[int, ...]:
        """Return identifiers of algorithms that exist for the types of the operands, in no particular order.

        Parameters
        ----------
        limit : int, default 8
            How many at most.

        Returns
        -------
        tuple of int
            What ``cublasLtMatmulAlgoGetIds`` gives; ``(0,)`` on the CPU. No plan is needed.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        ValueError
            `limit` is not positive.
        """
        self._check_valid()
        natural(limit, "limit", least=1)
        if not isinstance(self._place, Cuda):
            return (0,)
        from ._candidates import identifiers

        return identifiers(self._problem, self.options, self._place, limit)

    @untraced
    def autotune(
        self,
        iterations: int = 10,
        prune: int | None = None,
        release_workspace: bool = False,
        stream: Any = None,
        *,
        progress: bool = False,
    ) -> AutotuneReport:
        """Measure the candidates and put the fastest first.

        Each round runs every candidate once, in a new random order, with the L2 cache of the GPU flushed before; the time is that of
        device events, and the score the median of the rounds. What the caller owns is not touched: results go to scratch memory, and
        a C that would be overwritten is replaced by a copy. On the CPU there is one candidate, which is timed.

        Where the memory bounds the product (one side of the result is long, the other at most 128, K at most 64), kernels of our own
        compete with cuBLASLt's algorithms, unless those were given to :meth:`plan` or the preferences exclude them; the winners are in
        :attr:`algorithms`, and ``algorithm.own`` tells which they are. They round like the library's: once, after sums in float32
        (float64 for float64).

        Parameters
        ----------
        iterations : int, default 10
            Number of rounds, after one to warm up. A candidate that is twice as slow as the best after three rounds is left out of
            the others.
        prune : int, optional
            How many of the best candidates to keep; by default all, which may be more than ``preferences.limit``.
        release_workspace : bool, default False
            Give the workspace back when the call returns.
        stream : optional
            Stream of GPU work.
        progress : bool, default False
            Show a line of progress on the standard error stream.

        Returns
        -------
        AutotuneReport
            The scores; ``print(report)`` shows a table.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        RuntimeError
            The product is not planned, or the operands have been released.
        ValueError
            `iterations` or `prune` is not positive.

        Notes
        -----
        With the environment variable ``NVMATH_AUTOTUNE_DIR`` set to a folder, the winners are kept there, and :meth:`plan` uses them
        for the same problem on the same kind of GPU with the same driver and library.
        """
        self._runner(None)
        from ._autotune import autotune

        report = autotune(self, iterations, prune, stream, progress)
        if release_workspace and self._workspace is not None:
            self._workspace.release()
        return report
