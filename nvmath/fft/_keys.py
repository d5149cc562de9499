"""Keys for plan caches that callers keep themselves, and the workspace that a key will need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .._core.arrays import NEEDS_COPY, adapter_of
from .._core.dtypes import dtype as dtype_named
from .._core.layout import Ints, contiguous
from .._core.operation import resolved
from .._core.options import Execution, ExecutionCPU, coerce_execution, coerce_options
from ._callback_pair import CallbackPair
from ._options import FFTOptions
from ._problem import FFTProblem, as_ints, plan_arguments, specify

Key = tuple[tuple[Any, ...], tuple[Any, Any] | None, tuple[str, int]]


def key_of(problem: FFTProblem, execution: Execution, prolog: Any, epilog: Any) -> Key:
    """Return the key of a problem."""
    callbacks = CallbackPair(problem, prolog, epilog)
    pairs = tuple(None if callback is None else callback.key_pair() for callback in callbacks.pair)
    where = (
        ("cpu", execution.num_threads or 1) if isinstance(execution, ExecutionCPU) else ("cuda", execution.device_id)
    )  # fmt: skip
    return plan_arguments(problem), pairs if callbacks else None, where  # type: ignore[return-value]


def create_key(
    operand: Any,
    *,
    axes: Sequence[int] | None = None,
    options: FFTOptions | dict[str, Any] | None = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
) -> Key:
    """Return a key that is equal for transforms which one plan can serve.

    Parameters
    ----------
    operand : array
        The operand; its values are not read.
    axes, options, execution, prolog, epilog : optional
        As for :class:`FFT` and :meth:`FFT.plan`.

    Returns
    -------
    tuple
        Plan arguments, callbacks and execution. What it does not hold, and a cache must add where it matters: stream, array package,
        device of the operand, memory space, in-placeness, blocking, allocator, logger, shape.

    Raises
    ------
    ValueError
        The operand and the options do not make a transform.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> create_key = nvmath.fft.FFT.create_key
    >>> create_key(np.ones((2, 3, 4), complex), axes=[2]) == create_key(np.ones((3, 2, 4), complex), axes=[2])
    True
    """
    adapter = adapter_of(operand)
    view = adapter.view(operand)
    default = "cpu" if view.device == "cpu" else "cuda"
    where = resolved(coerce_execution(execution, default), view.device)
    settings = coerce_options(FFTOptions, options)
    across = (view.device == "cpu") != isinstance(where, ExecutionCPU)
    problem = specify(
        view.shape, view.strides, view.dtype, axes=axes, options=settings, package=adapter.name,
        copied=across or bool(view.flags & NEEDS_COPY),
    )  # fmt: skip
    return key_of(problem, where, prolog, epilog)


def create_key_from_metadata(
    shape: Sequence[int],
    dtype: str,
    memory_space: Literal["cpu", "cuda"],
    *,
    strides: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    options: FFTOptions | None = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
) -> Key:
    """Return the key of :meth:`FFT.create_key` for an operand that need not exist.

    Parameters
    ----------
    shape : sequence of int
        Extents.
    dtype : str
        Name of the dtype, such as ``"complex64"``.
    memory_space : {"cpu", "cuda"}
        Where the operand would be.
    strides : sequence of int, optional
        In elements; row-major by default.
    axes, options, execution, prolog, epilog : optional
        As for :class:`FFT` and :meth:`FFT.plan`.

    Raises
    ------
    ValueError
        An argument has a value that it may not have.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.fft.FFT.create_key_from_metadata((4, 8), "complex64", "cpu", axes=[1])[0][:2]
    (1, (8,))
    """
    if memory_space not in ("cpu", "cuda"):
        raise ValueError(f"memory_space must be 'cpu' or 'cuda', not {memory_space!r}.")
    extents = as_ints(shape, "shape")
    if any(extent < 0 for extent in extents):
        raise ValueError(f"shape = {extents} has a negative extent.")
    steps: Ints = contiguous(extents) if strides is None else as_ints(strides, "strides")
    if len(steps) != len(extents):
        raise ValueError(f"strides = {steps} has {len(steps)} entries, but shape = {extents} has {len(extents)}.")
    where = resolved(coerce_execution(execution, memory_space), "cpu" if memory_space == "cpu" else 0)
    across = (memory_space == "cpu") != isinstance(where, ExecutionCPU)
    problem = specify(
        extents, steps, dtype_named(dtype), axes=axes, options=coerce_options(FFTOptions, options), copied=across
    )  # fmt: skip
    return key_of(problem, where, prolog, epilog)


def estimate_workspace_size(key: Key, *, technique: str = "default", handle: int | None = None) -> int:
    """Return how many bytes of workspace a transform will need at most, before it is planned.

    Parameters
    ----------
    key : tuple
        A key of :meth:`FFT.create_key` or :meth:`FFT.get_key`.
    technique : {"default", "refined"}, default "default"
        ``"default"`` asks ``cufftEstimateMany``; ``"refined"`` asks ``cufftXtGetSizeMany``.
    handle : int, optional
        For ``"refined"``: a handle from ``nvmath.bindings.cufft.create()``, which the caller destroys.

    Returns
    -------
    int
        Bytes; 0 for a transform on the CPU.

    Raises
    ------
    ValueError
        The key is malformed, the technique unknown, or the handle missing.
    cuFFTError
        cuFFT refuses the arguments.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> nvmath.fft.estimate_workspace_size(nvmath.fft.FFT.create_key(np.ones(8, complex)))
    0
    """
    if technique not in ("default", "refined"):
        raise ValueError(f"technique must be 'default' or 'refined', not {technique!r}.")
    if not isinstance(key, tuple) or len(key) != 3:
        raise ValueError("key must be a tuple of three parts, as FFT.create_key() and FFT.get_key() return it.")
    arguments, _, execution = key
    if not isinstance(arguments, tuple) or len(arguments) != 12:
        raise ValueError("The first part of the key must be a tuple of twelve plan arguments.")
    if not isinstance(execution, tuple) or len(execution) != 2 or execution[0] not in ("cpu", "cuda"):
        raise ValueError("The last part of the key must be ('cpu', num_threads) or ('cuda', device_id).")
    if execution[0] == "cpu":
        return 0
    from ._cufft import estimate

    return estimate(arguments, technique, handle, int(execution[1]))
