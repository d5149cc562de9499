"""What the user calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._keys import estimate_workspace_size
from ._once import C2C_FORWARD, C2C_INVERSE, C2R, R2C, call
from ._options import FFTDirection, FFTOptions
from ._transform import FFT, InvalidFFTState

__all__ = ["FFT", "InvalidFFTState", "estimate_workspace_size", "fft", "ifft", "irfft", "rfft"]


def fft(
    operand: Any,
    /,
    *,
    axes: Sequence[int] | None = None,
    direction: FFTDirection | None = None,
    options: FFTOptions | dict[str, Any] | None = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
    stream: Any = None,
    n: int | None = None,
    s: Sequence[int] | None = None,
    norm: str | None = None,
    out: Any = None,
) -> Any:
    """Complex-to-complex Fourier transform, forward by default, over all axes by default, not normalised by default.

    Parameters
    ----------
    operand : array
        Complex array of NumPy, CuPy, PyTorch or any package that offers DLPack; any strides.
    axes : sequence of int, optional
        The axes to transform; all of them by default, and where it is empty.
    direction : FFTDirection, int or str, optional
        Forward by default.
    options : FFTOptions or dict, optional
        What is asked of the transform.
    execution : ExecutionCPU, ExecutionCUDA, str or dict, optional
        Where to run; by default where the operand is.
    prolog, epilog : optional
        Functions applied to each element when it is loaded, or stored; see :meth:`FFT.plan`.
    stream : optional
        Stream of GPU work.
    n, s, norm : optional
        As in NumPy; see :class:`FFT`.
    out : array, optional
        Where to write the result.

    Returns
    -------
    array
        A new array of the operand's package, device and shape (unless `n` or `s` is given), or `out`.

    Raises
    ------
    ValueError
        The operand is real, or another argument does not fit; the text says what to do.
    TypeError
        An argument is of the wrong kind.
    RuntimeError
        CUDA execution was asked for and cannot be had.

    See Also
    --------
    FFT : Keeps the plan, where the same transform is done many times.

    Notes
    -----
    The plan is kept in :data:`nvmath.plan_cache` for the next call with the same metadata.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> nvmath.fft.fft(np.array([1, 2, 3, 4], dtype=complex))
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return call(C2C_FORWARD, operand, (axes, direction, options, execution, prolog, epilog, n, s, norm), stream, out)


def ifft(
    operand: Any,
    /,
    *,
    axes: Sequence[int] | None = None,
    direction: FFTDirection | None = None,
    options: FFTOptions | dict[str, Any] | None = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
    stream: Any = None,
    n: int | None = None,
    s: Sequence[int] | None = None,
    norm: str | None = None,
    out: Any = None,
) -> Any:
    """Inverse complex-to-complex Fourier transform; ``ifft(fft(x))`` is ``N * x`` unless `norm` is given.

    The parameters, results and errors are those of :func:`fft`; `direction` is inverse by default.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> nvmath.fft.ifft(np.array([10, -2 + 2j, -2, -2 - 2j]), norm="backward").real
    array([1., 2., 3., 4.])
    """
    return call(C2C_INVERSE, operand, (axes, direction, options, execution, prolog, epilog, n, s, norm), stream, out)


def rfft(
    operand: Any,
    /,
    *,
    axes: Sequence[int] | None = None,
    options: FFTOptions | dict[str, Any] | None = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
    stream: Any = None,
    n: int | None = None,
    s: Sequence[int] | None = None,
    norm: str | None = None,
    out: Any = None,
) -> Any:
    """Real-to-complex Fourier transform; along the last listed axis only the first ``n // 2 + 1`` frequencies are returned.

    The parameters are those of :func:`fft`, without `direction`; the operand is real.

    Raises
    ------
    RuntimeError
        The operand is complex.
    ValueError
        Another argument does not fit.
    TypeError
        An argument is of the wrong kind, or the operand is float16 and its package has no complex32.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> nvmath.fft.rfft(np.array([1.0, 2.0, 3.0, 4.0]))
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return call(R2C, operand, (axes, None, options, execution, prolog, epilog, n, s, norm), stream, out)


def irfft(
    operand: Any,
    /,
    *,
    axes: Sequence[int] | None = None,
    options: FFTOptions | dict[str, Any] | None = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
    stream: Any = None,
    n: int | None = None,
    s: Sequence[int] | None = None,
    norm: str | None = None,
    out: Any = None,
) -> Any:
    """Complex-to-real Fourier transform: the inverse of :func:`rfft`, times the number of points unless `norm` is given.

    The parameters are those of :func:`fft`, without `direction`. The length of the result along the last listed axis is even unless
    `options` say ``last_axis_parity="odd"``, or `n` or `s` gives it. The operand is never changed; it is taken to be Hermitian: the
    imaginary parts that a real signal cannot have (at frequency 0, and at n/2 when n is even) are ignored.

    Raises
    ------
    ValueError
        The operand is real, the result would be empty, or another argument does not fit.
    TypeError
        An argument is of the wrong kind.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> nvmath.fft.irfft(np.array([10, -2 + 2j, -2]), norm="backward")
    array([1., 2., 3., 4.])
    """
    return call(C2R, operand, (axes, None, options, execution, prolog, epilog, n, s, norm), stream, out)
