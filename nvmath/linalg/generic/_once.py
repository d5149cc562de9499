"""One-call products: a planned product is leased from the plan cache, or made and then kept there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..._core import log
from ..._core.arrays import TRACKED, adapter_of
from ..._core.cache import plan_cache
from ..._core.options import coerce_options
from .._prepared import Tables
from ._api import NO_BETA, Matmul, check_single
from ._options import MatmulOptions
from ._qualifiers import read

_PLAIN: Final = "linalg.matmul"  # the first part of the keys of plans
_WITH_C: Final = "linalg.matmul with c"
_TABLES: Final = Tables()


def matmul(
    a: Any,
    b: Any,
    /,
    c: Any = None,
    *,
    alpha: Any = None,
    beta: Any = None,
    qualifiers: Any = None,
    options: MatmulOptions | dict[str, Any] | None = None,
    execution: Any = None,
    stream: Any = None,
    out: Any = None,
) -> Any:
    """Multiply matrices: ``alpha * A @ B + beta * C``.

    The plan is kept for the next call with operands of the same metadata. For many calls with the same shapes :class:`Matmul` saves
    even more.

    Parameters
    ----------
    a, b, c, alpha, beta, qualifiers, options, execution, stream
        As for :class:`Matmul`.
    out : array, optional
        Where to write the result; as for :meth:`Matmul.execute`.

    Returns
    -------
    array, or list of arrays
        A new array of the operands' package on their device, or `out`, or C itself in place.

    Raises
    ------
    ValueError
        Dtypes, shapes, qualifiers or options do not fit each other; the text says which and what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    NotImplementedError
        The qualifier of C says that it is not general.
    RuntimeError
        CUDA execution was asked for and there is no device, or the library is missing.

    Examples
    --------
    A symmetric matrix, of which the lower triangle is stored:

    >>> import numpy as np
    >>> from nvmath.linalg import GeneralMatrixQualifier, SymmetricMatrixQualifier, matmul, matrix_qualifiers_dtype
    >>> qualifiers = np.array([SymmetricMatrixQualifier.create(), GeneralMatrixQualifier.create()], matrix_qualifiers_dtype)
    >>> a = np.array([[1.0, np.nan], [2.0, 3.0]])
    >>> matmul(a, np.eye(2), qualifiers=qualifiers)
    array([[1., 2.],
           [2., 3.]])
    """
    if (
        c is alpha is beta is qualifiers is options is stream is out is None
        and type(a) is np.ndarray and (execution is None or type(execution) is str)
    ):  # fmt: skip
        table = _TABLES.of.get(execution)
        if table is not None and not log.ROOT.isEnabledFor(log.INFO) and (result := table(a, b)) is not NotImplemented:
            plan_cache._hits += 1
            return result
    try:
        look = adapter_of(a).look
        ptr_a, look_a = look(a)
        ptr_b, look_b = look(b) if type(b) is type(a) else adapter_of(b).look(b)
        key: Any = (
            _PLAIN, qualifiers, options, execution, type(a), look_a, ptr_a & 15, type(b), look_b, ptr_b & 15,
        )  # fmt: skip
        objs: tuple[Any, ...] = a, b
        ptrs: tuple[int, ...] = ptr_a, ptr_b
        if c is not None:
            ptr_c, look_c = adapter_of(c).look(c)
            key = (_WITH_C, *key[1:], type(c), look_c, ptr_c & 15)
            objs, ptrs = (a, b, c), (ptr_a, ptr_b, ptr_c)
    except ValueError:
        if any(isinstance(each, list | tuple) for each in (a, b, c)):
            return _several(a, b, c, alpha, beta, qualifiers, options, execution, stream, out)
        raise
    if c is not None and beta is None:
        raise ValueError(NO_BETA)
    if stream is not None:
        check_single(stream=stream)
    if options is None:
        key, product = plan_cache.lease(key, _settled)
    else:  # they hold a logger and an allocator, whatever their hash says
        check_single(options=options)
        key = _settled(key)
        product = None if key is None else plan_cache.take(key)
    if product is None:
        product = _open(objs, qualifiers, options, execution, stream)
        if qualifiers is options is None and product._simple:
            _TABLES.enter(execution, product)
    try:
        if alpha is not None or beta is not None or product._rescaled:
            product._rescale_once(alpha, beta)
        if product._simple and out is None and not product.logger.isEnabledFor(log.INFO):
            result = product._kept(objs, ptrs, stream, None)
        else:
            result = product._serve(objs, stream, out)
    except BaseException:
        plan_cache.discard(product)
        raise
    if product._gpu is not None:
        product._pin_if_captured(stream)
    plan_cache.give(key, product)
    return result


def _several(
    a: Any, b: Any, c: Any, alpha: Any, beta: Any, qualifiers: Any, options: Any, execution: Any, stream: Any, out: Any
) -> Any:
    """Multiply the entries of sequences."""
    with Matmul(
        a, b, c, alpha=alpha, beta=beta, qualifiers=qualifiers, options=options, execution=execution, stream=stream
    ) as products:
        products.plan(stream=stream)
        return products.execute(stream=stream, out=out)


def _settled(key: Any) -> Any:
    """Return the key with every argument in a form that can be hashed, or None when the call must not be cached."""
    name, qualifiers, options, execution, *looks = key
    if options is not None:
        options = coerce_options(MatmulOptions, options)
        if options.logger not in (None, log.ROOT) or options.allocator is not None:
            return None
        options = options.key()
    if isinstance(execution, Mapping):
        execution = tuple(sorted(execution.items(), key=repr))
    settled = (name, read(qualifiers, name is _WITH_C), options, execution, *looks)
    try:
        hash(settled)
    except TypeError:  # construction will say what is wrong
        return None
    return settled


def _open(objs: tuple[Any, ...], qualifiers: Any, options: Any, execution: Any, stream: Any) -> Matmul:
    """Make and plan the product of a one-call function."""
    product = Matmul(
        *objs, beta=0.0 if len(objs) == 3 else None, qualifiers=qualifiers, options=options, execution=execution, stream=stream
    )  # fmt: skip
    try:
        product._transient = True
        product.plan(stream=stream)
        product._kept = product._runner(None)
        tracked = any(view.flags & TRACKED for view in product._views)  # then every call warns
        product._simple = not (product._inplace or product._route.across or tracked)
        if product._simple:
            product._forget()
    except BaseException:
        product.free()
        raise
    return product
