"""What the user calls."""

from __future__ import annotations

from typing import Any

from .._core.options import ExecutionCPU, ExecutionCUDA
from ._classes import BinaryContraction, TernaryContraction
from ._contraction import InvalidContractionState
from ._einsum import Einsum, EinsumInfo, way_of
from ._expression import written
from ._once import call
from ._options import ContractionOptions

__all__ = [
    "BinaryContraction", "Einsum", "EinsumInfo", "InvalidContractionState", "TernaryContraction", "binary_contraction", "einsum",
    "einsum_path", "ternary_contraction",
]  # fmt: skip


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


def einsum(
    expression: Any,
    *operands: Any,
    out: Any = None,
    optimize: Any = "auto",
    stream: Any = None,
    options: ContractionOptions | dict[str, Any] | None = None,
    execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
) -> Any:
    """Sum products of any number of tensors in Einstein notation, two at a time in the order that costs least.

    Parameters
    ----------
    expression : str
        As for :func:`numpy.einsum`, such as ``"ij,jk,kl->il"``; without ``->`` the labels that occur once make the result, in sorted
        order; ``...`` stands for any further dimensions. Or operands and lists of integers in turns: ``einsum(a, [0, 1], b, [1, 2])``.
    *operands : array
        One for each term.
    out : array, optional
        Where to write the result; it may overlap the operands.
    optimize : {"auto", "optimal", "greedy"} or list of tuple of int, default "auto"
        The order of the pairs; see :class:`Einsum`.
    stream, options, execution : optional
        As in :class:`BinaryContraction`; the result is row-major unless the options say otherwise.

    Returns
    -------
    array
        A new array of the operands' package on their device, or `out`. It never shares memory with an operand.

    Raises
    ------
    ValueError
        The expression, an operand, the path or an option does not fit, or no path keeps the memory limit; the text says what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    RuntimeError
        CUDA execution was asked for and cannot be had.

    See Also
    --------
    Einsum : Keeps the plan.
    einsum_path : Tells the order and what it costs.

    Notes
    -----
    The plan, and with it the order, is kept in :data:`nvmath.plan_cache` for the next call with the same metadata.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a, x = np.arange(4.0).reshape(2, 2), np.array([1.0, 2.0])
    >>> nvmath.tensor.einsum("i,ij,j->", x, a, x)
    array(18.)
    """
    text, arrays = written(expression, operands)
    way = optimize if type(optimize) is str else way_of(optimize)
    return call(Einsum, text, arrays, None, out, (1.0, None), (way, options, execution), stream)


def einsum_path(
    expression: Any,
    *operands: Any,
    optimize: Any = "auto",
    options: ContractionOptions | dict[str, Any] | None = None,
    execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
) -> EinsumInfo:
    """Tell in which order :func:`einsum` would contract, and what that costs; nothing is computed.

    Parameters
    ----------
    expression, *operands, optimize, options, execution : optional
        As for :func:`einsum`.

    Returns
    -------
    EinsumInfo
        The path, the steps, operations, and the memory of the intermediate results. Print it, or pass its `path` as `optimize`.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As for :func:`einsum`.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a = np.ones((3, 3))
    >>> nvmath.tensor.einsum_path("ij,jk,kl->il", a, a, a, execution="cpu").path
    [(0, 1), (0, 1)]
    """
    with Einsum(expression, *operands, optimize=optimize, options=options, execution=execution) as network:
        return network.info
