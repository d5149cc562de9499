"""What the user calls."""

from __future__ import annotations

from typing import Any

from .._core.options import ExecutionCPU, ExecutionCUDA
from ._contraction import BinaryContraction, InvalidContractionState, TernaryContraction
from ._once import call
from ._options import ContractionOptions

__all__ = ["BinaryContraction", "InvalidContractionState", "TernaryContraction", "binary_contraction", "ternary_contraction"]


def binary_contraction(
    expr: str,
    a: Any,
    b: Any,
    *,
    c: Any = None,
    alpha: Any = 1.0,
    beta: Any = None,
    out: Any = None,
    qualifiers: Any = None,
    stream: Any = None,
    options: ContractionOptions | dict[str, Any] | None = None,
    execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
) -> Any:
    """Contract two tensors: ``alpha * sum(a * b) + beta * c``.

    Parameters
    ----------
    expr : str
        Two terms in Einstein notation, such as ``"ijk,kl->ijl"``; see :class:`BinaryContraction`.
    a, b : array
        The operands.
    c : array, optional
        The addend, of the shape of the result.
    alpha : number, default 1
        Factor of the product.
    beta : number, optional
        Factor of the addend; required with `c`, not allowed without.
    out : array, optional
        Where to write the result; it may be `c`.
    qualifiers, stream, options, execution : optional
        As in :class:`BinaryContraction`.

    Returns
    -------
    array
        A new array of the operands' package on their device, or `out`. Its strides are not those of a C-ordered array unless the
        options say so: ``result_layout="C"``.

    Raises
    ------
    ValueError
        An argument does not fit; the text says which and what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    RuntimeError
        CUDA execution was asked for and cannot be had.

    See Also
    --------
    BinaryContraction : Keeps the plan, where the same contraction is done many times.

    Notes
    -----
    The plan is kept in :data:`nvmath.plan_cache` for the next call with the same metadata.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a, b = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    >>> nvmath.tensor.binary_contraction("ij,jk->ik", a, b)
    array([[ 3.,  3.],
           [12., 12.]])
    """
    return call(BinaryContraction, expr, (a, b), c, out, (alpha, beta), (qualifiers, options, execution), stream)


def ternary_contraction(
    expr: str,
    a: Any,
    b: Any,
    c: Any,
    *,
    d: Any = None,
    alpha: Any = 1.0,
    beta: Any = None,
    out: Any = None,
    qualifiers: Any = None,
    stream: Any = None,
    options: ContractionOptions | dict[str, Any] | None = None,
    execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
) -> Any:
    """Contract three tensors: ``alpha * sum(a * b * c) + beta * d``.

    Parameters
    ----------
    expr : str
        Three terms in Einstein notation, such as ``"ij,jk,kl->il"``; see :class:`BinaryContraction`.
    a, b, c : array
        The operands.
    d : array, optional
        The addend, of the shape of the result.
    alpha, beta, out, qualifiers, stream, options, execution : optional
        As in :func:`binary_contraction`; the result is row-major unless there is an addend or the options say otherwise.

    Returns
    -------
    array
        A new array of the operands' package on their device, or `out`.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As for :func:`binary_contraction`.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> x = np.array([1.0, 2.0])
    >>> nvmath.tensor.ternary_contraction("i,i,i->", x, x, x)
    array(9.)
    """
    return call(TernaryContraction, expr, (a, b, c), d, out, (alpha, beta), (qualifiers, options, execution), stream)
