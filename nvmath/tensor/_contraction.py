"""Contractions that keep their plan."""

from __future__ import annotations

from typing import Any, ClassVar, Final, NoReturn

import numpy as np

from .._core import log
from .._core.arrays import CONJ, READONLY, UNTIDY, View, adapter_of
from .._core.errors import InvalidStateError
from .._core.layout import Ints, dense, is_dense, may_overlap, normalise, stride_order
from .._core.operation import Operation, overlap
from .._core.options import ExecutionCPU, ExecutionCUDA, coerce_options
from .._core.place import Cuda
from .._core.route import Launch, Result, Runner, context
from .._core.stream import handle_of
from ._expression import parse
from ._options import ContractionOptions, coerce_qualifiers
from ._preference import ContractionPlanPreference, Preference
from ._problem import ADDEND, NAMES, ContractionProblem, Metadata, differences, specify
from ._scalars import Scalars

_LARGEST_ALIGNMENT: Final = 256


class InvalidContractionState(InvalidStateError):
    """A contraction object was used after it had been freed."""


class _Out:
    """The array that results are written into."""

    __slots__ = ("adapter", "direct", "obj", "view")

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self.adapter = adapter_of(obj)
        self.view = self.adapter.view(obj)
        self.view.obj = None
        self.direct = False


class Contraction(Operation):
    """What binary and ternary contractions share."""

    _invalid = InvalidContractionState
    _gpu_library = "cutensor"
    _reads: ClassVar[dict[str, int]] = {"a": CONJ, "b": CONJ}
    _count: ClassVar[int]

    _once: Runner
    _simple = False

    def _construct(
        self, expr: Any, operands: tuple[Any, ...], addend: Any, out: Any, qualifiers: Any, stream: Any, options: Any, execution: Any
    ) -> None:
        self._expression = parse(expr, self._count)
        self._qualifiers = _kept(qualifiers)
        self._addend_name = ADDEND[self._count]
        self._adds = addend is not None
        self._out = None if out is None else _Out(out)
        self._has_out = out is not None
        self._preference = Preference()
        named = dict(zip(NAMES[self._count], operands, strict=True))
        if self._adds:
            named[self._addend_name] = addend
        self._begin(named, coerce_options(ContractionOptions, options), execution)
        if isinstance(self._place, Cuda):
            self._alignment_mask = _LARGEST_ALIGNMENT - 1
        self._scalars = Scalars(self._problem.scalar)
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place)
            self.logger.info(log.BLOCKING[self.blocking])

    # --- answers to the life cycle ------------------------------------------------------------------------------------------------

    def _alignment(self, view: View) -> int:
        return view.dtype.itemsize if isinstance(self._place, Cuda) else 1

    def _aligned(self, view: View) -> View:
        if isinstance(self._place, Cuda) and _unreadable(view.shape, view.strides):
            view.flags |= UNTIDY
        return super()._aligned(view)

    def _specify(self, views: tuple[View, ...]) -> ContractionProblem:
        route, count = self._route, self._count
        flags = [
            bool(view.flags & CONJ) and not route.untidy[i] and (not route.across or is_dense(view.shape, view.strides))
            for i, view in enumerate(views[:count])
        ]
        conj = coerce_qualifiers(self._qualifiers, (*NAMES[count], self._addend_name), views[0].dtype)
        arrays = [self._metadata(view, route.across or route.untidy[i]) for i, view in enumerate(views)]
        out = self._out
        target = None
        if out is not None:
            self._check_out(out, views)
            out.direct = self._is_direct(out, views)
            target = self._metadata(out.view, not out.direct)
        return specify(
            self._expression,
            tuple(arrays[:count]),
            arrays[count] if self._adds else None,
            target,
            tuple(asked != lazy for asked, lazy in zip(conj, flags, strict=True)),
            self.options,
        )

    def _metadata(self, view: View, copied: bool) -> Metadata:
        strides = normalise(view.shape, view.strides)
        if copied:
            strides = dense(view.shape, stride_order(view.shape, strides))
        alignment = 0
        if isinstance(self._place, Cuda):
            ptr = 0 if copied else view.ptr
            alignment = min(_LARGEST_ALIGNMENT, ptr & -ptr) if ptr else _LARGEST_ALIGNMENT
        return Metadata(view.shape, strides, view.dtype, alignment)

    def _check_out(self, out: _Out, views: tuple[View, ...]) -> None:
        view = out.view
        if out.adapter is not self._adapter:
            raise ValueError(
                f"out must be a {self._adapter.name} array as the operands are, but it is one of {out.adapter.name}. Allocate it there."
            )
        if view.device != self._device:
            raise ValueError(f"out must be on device {self._device} as the operands are, but it is on {view.device}.")
        if view.dtype is not views[0].dtype:
            raise ValueError(f"out must have dtype {views[0].dtype} as the operands have, but it has {view.dtype}.")
        if view.flags & READONLY:
            raise ValueError("out is read-only. Pass a writable array.")
        if may_overlap(view.shape, view.strides):
            raise ValueError(
                f"out must not have elements that share memory; its strides {view.strides} of shape {view.shape} may make them overlap."
            )

    def _is_direct(self, out: _Out, views: tuple[View, ...]) -> bool:
        """Whether the library can write into `out`: else the result is made beside it and copied."""
        view = out.view
        if view.flags & ~READONLY or (self._route.across and not is_dense(view.shape, view.strides)):
            return False
        if isinstance(self._place, Cuda) and _unreadable(view.shape, view.strides):
            return False
        if self._route.across:
            return True
        addend = views[self._count] if self._adds else None
        if addend is not None and (addend.ptr, addend.shape, addend.strides) == (view.ptr, view.shape, view.strides):
            views = views[: self._count]
        return not any(overlap(view, other, other.ptr) for other in views)

    def _make_plan(self) -> Any:
        if isinstance(self._place, Cuda):
            from ._cutensor import CutensorPlan

            return CutensorPlan(self._problem, self._place, self._scalars, self.options, self._preference)
        from ._host import HostPlan

        if self._preference.changed:
            self.logger.info("The CPU has one algorithm for contractions; the plan preference has no effect.")
        threads = self.execution_options.num_threads  # type: ignore[union-attr]
        return HostPlan(self._problem, threads or 1, self._scalars)

    def _result(self) -> Result:
        problem = self._problem
        return Result(problem.out_shape, problem.out_strides, problem.dtype)

    def _launch(self, request: Any) -> Launch:
        return self._plan_object.launch()  # type: ignore[no-any-return]

    def _same(self, old: ContractionProblem, new: ContractionProblem) -> str:
        return differences(old, new)

    # --- phases -------------------------------------------------------------------------------------------------------------------

    def plan(self, *, stream: Any = None) -> None:
        """Plan the contraction; a later call makes a new plan, with the plan preference of that time.

        Parameters
        ----------
        stream : optional
            Accepted for GPU work; planning queues none.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        RuntimeError
            cuTENSOR is not installed.
        cuTENSORError
            cuTENSOR refuses the contraction.
        """
        self._check_valid()
        if self._planned:
            self._replan(self._views, self._problem, self._route)
            if self._objs:
                self._ready = self._runners
        else:
            self._do_plan()

    def execute(
        self, *, alpha: Any = 1.0, beta: Any = None, release_workspace: bool = False, stream: Any = None
    ) -> Any:
        """Compute the contraction of the present operands.

        Parameters
        ----------
        alpha : number, default 1
            Factor of the product; complex only for complex operands.
        beta : number, optional
            Factor of the addend; required if there is one, not allowed otherwise. With 0 the addend is not read.
        release_workspace : bool, default False
            Give the workspace back when the call returns.
        stream : optional
            Stream of GPU work; by default the current stream of the operands' package at this call.

        Returns
        -------
        array
            A new array of the operands' package on their device, or `out` of the constructor.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        RuntimeError
            The contraction is not planned, or the operands have been released.
        ValueError
            `beta` is missing, or given without an addend.
        TypeError
            A factor is no number, or complex for real operands.
        """
        runner = self._ready.get(None)
        if runner is None:
            runner = self._runner(None)
        if (beta is None) is self._adds:
            refuse_beta(self._addend_name, beta)
        self._scalars.set(alpha, 0.0 if beta is None else beta)
        if self._out is not None or release_workspace or self.logger.isEnabledFor(log.INFO):
            return self._run_into(runner, stream, release_workspace)
        return runner(self._objs, self._ptrs, stream, None)

    def _run_into(self, runner: Runner, stream: Any, release_workspace: bool) -> Any:
        out = self._out
        if out is None:
            return self._run(runner, stream, release_workspace, None)
        if out.direct:
            return self._run(_Into(runner, out.obj), stream, release_workspace, None)
        value = self._run(runner, stream, release_workspace, None)
        with context(self._adapter, self._device, stream):
            result = self._adapter.assign(out.obj, value)
        if self.blocking and self._gpu is not None and self._device != "cpu":
            self._gpu.wait(self._adapter.current_stream(self._gpu.device_id) if stream is None else handle_of(stream))
        return result

    def _reset(self, objs: tuple[Any, ...], addend: Any, out: Any, stream: Any) -> None:
        self._check_valid()
        if addend is not None and not self._adds:
            raise ValueError(f"{self._addend_name} cannot be given, since the contraction was made without an addend. Make a new one.")
        if out is not None and not self._has_out:
            raise ValueError("out cannot be given, since the contraction was made without it. Make a new one.")
        every = (*objs, addend) if self._adds else objs
        if out is None and self._has_out and self._out is None:
            raise ValueError("The operands have been released, so all of them must be given again, and out is missing.")
        if out is None and self._out is None and self._swap(every):
            return
        if out is not None and all(obj is None for obj in every):
            if not self._objs:
                self._check_complete(every)
            every = self._objs
        self._reset_slowly(every, out, stream)

    def _reset_slowly(self, every: tuple[Any, ...], out: Any, stream: Any) -> None:
        if not self._route.across:  # the fast half of a reset leaves the addresses in the views alone
            for view, ptr in zip(self._views, self._ptrs, strict=False):
                view.ptr = ptr
        old, direct = self._out, None if self._out is None else self._out.direct
        if out is not None:
            self._out = _Out(out)
        try:
            self._reset_checked(every, stream)
        except BaseException:
            self._out = old
            if old is not None and direct is not None:
                old.direct = direct
            raise
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Operands have been replaced: %s.", self._problem)

    def _reset_fast(self, objs: tuple[Any, ...], addend: Any, out: Any, stream: Any) -> None:
        if out is not None:
            made = _Out(out)
            made.direct = self._out.direct if self._out is not None else self._is_direct(made, ())
            self._out = made
        self._reset_unchecked((*objs, addend) if self._adds else objs, stream)

    def release_operands(self) -> None:
        """Drop the references to all operands, `out` included, and their mirrors; the plan stays.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        """
        self._release()

    def _forget(self) -> None:
        super()._forget()
        self._out = None

    @property
    def plan_preference(self) -> ContractionPlanPreference:
        """How the kernels are chosen on a GPU; what is set counts from the next :meth:`plan` on."""
        if not self.valid_state:
            raise RuntimeError(f"This {type(self).__name__} object has been freed, and so has its plan preference.")
        return ContractionPlanPreference(self)

    # --- service for the one-call functions -----------------------------------------------------------------------------------------

    def _serve(self, objs: tuple[Any, ...], out: Any, stream: Any) -> Any:
        """Contract operands of the planned metadata and forget them again."""
        if not self._objs:
            self._views = tuple(self._aligned(self._adapter.view(obj)) for obj in objs)
            self._warn_of_gradients()
            if out is not None:
                self._out = _Out(out)
                self._check_out(self._out, self._views)
                self._out.direct = self._is_direct(self._out, self._views)
            self._hold(stream)
        try:
            return self._run_into(self._once, stream, True)
        finally:
            self._forget()


class _Into:
    """A runner whose results go into one array."""

    __slots__ = ("inner", "out")

    def __init__(self, inner: Runner, out: Any) -> None:
        self.inner, self.out = inner, out

    def __call__(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        return self.inner(objs, ptrs, stream, self.out)


def _kept(qualifiers: Any) -> Any:
    """Return a copy, since the caller may edit the original."""
    try:
        return None if qualifiers is None else np.array(qualifiers)
    except (TypeError, ValueError):  # what is wrong is said when the operands are known
        return qualifiers


def refuse_beta(name: str, beta: Any) -> NoReturn:
    """Raise that beta and the addend do not go together."""
    if beta is None:
        raise ValueError(f"beta must be set, since there is the addend {name}.")
    raise ValueError(f"beta = {beta!r} can only be set together with an addend; pass {name}, or leave beta out.")


def _unreadable(shape: Ints, strides: Ints) -> bool:
    """Whether cuTENSOR refuses a layout: it wants positive strides, and no two elements in one place."""
    return any(stride < 0 and extent > 1 for stride, extent in zip(strides, shape, strict=True)) or (
        0 not in shape and may_overlap(shape, strides)
    )


class BinaryContraction(Contraction):
    """A contraction of two tensors that is planned once and executed many times.

    It computes ``out = alpha * sum(a * b) + beta * c``, where the expression says which modes are summed.

    Parameters
    ----------
    expr : str
        Two terms in Einstein notation, such as ``"ijk,kl->ijl"``; a label is any character but white space and ``. - > ,``. Without
        ``->`` the labels that occur once make the result, in sorted order. ``...`` stands for any further dimensions.
    a, b : array
        NumPy or CuPy arrays, or PyTorch tensors; of one package, device and dtype: float16, bfloat16, float32, float64, complex64 or
        complex128. Any strides. An extent of 1 fits any; a label may occur twice in a term (the diagonal).
    c : array, optional
        The addend, of the shape of the result.
    out : array, optional
        Where results are written, of the shape of the result; it may be the addend.
    qualifiers : array of int, optional
        Three members of :class:`Operator`, for a, b and the addend: ``OP_IDENTITY`` or, for complex a and b, ``OP_CONJ``.
    stream : optional
        For GPU work: stream object of any package, or an integer ``cudaStream_t``; by default the current stream of the operands'
        package.
    options : ContractionOptions or dict, optional
        What is asked of the contraction.
    execution : ExecutionCUDA, ExecutionCPU, str or dict, optional
        Where to run: ``"cuda"`` or ``"cpu"``. By default operands on a GPU are processed there; operands in host memory are
        processed on a GPU if there is one and cuTENSOR is installed, else on the CPU.

    Raises
    ------
    ValueError
        The expression, a shape, dtype, layout or option does not make a contraction; the text says which and what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    RuntimeError
        CUDA execution was asked for and there is no device, or cuTENSOR is missing.

    Notes
    -----
    On the CPU the contraction is a matrix product (``cblas_?gemm`` of NumPy's OpenBLAS, else :func:`numpy.matmul`), with transposed
    copies only where the layout needs them; on a GPU it is ``cutensorContract``. One object serves one thread at a time.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a, b = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    >>> with nvmath.tensor.BinaryContraction("ij,jk->ik", a, b, execution="cpu") as contraction:
    ...     contraction.plan()
    ...     contraction.execute(alpha=2)
    array([[ 6.,  6.],
           [24., 24.]])
    """

    _count = 2

    def __init__(
        self,
        expr: str,
        a: Any,
        b: Any,
        *,
        c: Any = None,
        out: Any = None,
        qualifiers: Any = None,
        stream: Any = None,
        options: ContractionOptions | dict[str, Any] | None = None,
        execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
    ) -> None:
        self._construct(expr, (a, b), c, out, qualifiers, stream, options, execution)

    def reset_operands(self, *, a: Any = None, b: Any = None, c: Any = None, out: Any = None, stream: Any = None) -> None:
        """Replace operands; those that are not given stay.

        Parameters
        ----------
        a, b, c, out : array, optional
            Same package, device, dtype and shape as before; other strides or another alignment make a new plan. `c` and `out` only if
            the contraction was made with them. After :meth:`release_operands` all of them are needed.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        TypeError
            An operand is of another package.
        ValueError
            Nothing is given, an operand is missing or does not fit; the text gives what was expected and what was given.
        """
        self._reset((a, b), c, out, stream)

    def reset_operands_unchecked(
        self, *, a: Any = None, b: Any = None, c: Any = None, out: Any = None, stream: Any = None
    ) -> None:
        """Replace operands without any check; an operand of another layout gives undefined results.

        Parameters
        ----------
        a, b, c, out : array, optional
            Operands of exactly the package, device, dtype, shape, strides and alignment of the present ones.
        stream : optional
            Stream of the copy, where one is needed.
        """
        self._reset_fast((a, b), c, out, stream)


class TernaryContraction(Contraction):
    """A contraction of three tensors that is planned once and executed many times.

    It computes ``out = alpha * sum(a * b * c) + beta * d``, where the expression says which modes are summed.

    Parameters
    ----------
    expr : str
        Three terms in Einstein notation, such as ``"ij,jk,kl->il"``; see :class:`BinaryContraction`.
    a, b, c : array
        The operands; see :class:`BinaryContraction`.
    d : array, optional
        The addend, of the shape of the result.
    out : array, optional
        Where results are written, of the shape of the result; it may be the addend.
    qualifiers : array of int, optional
        Four members of :class:`Operator`, for a, b, c and the addend.
    stream, options, execution : optional
        As in :class:`BinaryContraction`.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As in :class:`BinaryContraction`.

    Notes
    -----
    On the CPU the pair whose product costs least is contracted first; on a GPU it is ``cutensorContractTrinary``.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a = np.arange(4.0).reshape(2, 2)
    >>> with nvmath.tensor.TernaryContraction("ij,jk,kl->il", a, a, a, execution="cpu") as contraction:
    ...     contraction.plan()
    ...     contraction.execute()
    array([[ 6., 11.],
           [22., 39.]])
    """

    _count = 3
    _reads: ClassVar[dict[str, int]] = {"a": CONJ, "b": CONJ, "c": CONJ}

    def __init__(
        self,
        expr: str,
        a: Any,
        b: Any,
        c: Any,
        *,
        d: Any = None,
        out: Any = None,
        qualifiers: Any = None,
        stream: Any = None,
        options: ContractionOptions | dict[str, Any] | None = None,
        execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
    ) -> None:
        self._construct(expr, (a, b, c), d, out, qualifiers, stream, options, execution)

    def reset_operands(
        self, *, a: Any = None, b: Any = None, c: Any = None, d: Any = None, out: Any = None, stream: Any = None
    ) -> None:
        """Replace operands; those that are not given stay.

        Parameters
        ----------
        a, b, c, d, out : array, optional
            See :meth:`BinaryContraction.reset_operands`.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidContractionState, TypeError, ValueError
            As for :meth:`BinaryContraction.reset_operands`.
        """
        self._reset((a, b, c), d, out, stream)

    def reset_operands_unchecked(
        self, *, a: Any = None, b: Any = None, c: Any = None, d: Any = None, out: Any = None, stream: Any = None
    ) -> None:
        """Replace operands without any check; an operand of another layout gives undefined results.

        Parameters
        ----------
        a, b, c, d, out : array, optional
            Operands of exactly the package, device, dtype, shape, strides and alignment of the present ones.
        stream : optional
            Stream of the copy, where one is needed.
        """
        self._reset_fast((a, b, c), d, out, stream)
