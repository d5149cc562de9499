"""One-call solutions: a planned solver is leased from the plan cache, or made and then kept there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..._core import log
from ..._core.arrays import TRACKED, adapter_of
from ..._core.cache import plan_cache
from ..._core.options import ExecutionCPU, ExecutionCUDA, coerce_options
from ._api import DirectSolver
from ._operation import SEQUENCES, arrays_of
from ._options import DirectSolverOptions

_UNKEPT: Final = frozenset(("allocator", "handle", "logger"))
"""Options with which nothing is kept."""
_KEPT_NBYTES: Final = 64 << 20
"""Plans with more memory are not kept. To take 32 MiB again, page by page, takes half as long as to solve 1024 systems in them."""


def direct_solver(
    a: Any,
    b: Any,
    *,
    options: DirectSolverOptions | dict[str, Any] | None = None,
    execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
    stream: Any = None,
) -> Any:
    """Solve ``a @ x = b``.

    Parameters
    ----------
    a : array or sequence of arrays
        The matrix (n, n), a batch of them (\\*batch, n, n), or a sequence of matrices; see :class:`DirectSolver`.
    b : array or sequence of arrays
        One right-hand side (n,) or several (n, k); for a batch (\\*batch, n, k), or a sequence.
    options : DirectSolverOptions or dict, optional
        What is known of the matrix, and what may be overwritten.
    execution, stream : optional
        As in :class:`DirectSolver`.

    Returns
    -------
    array or list of arrays
        New arrays of the package, device and axis order of `b`, a list if `b` is a sequence; with ``inplace_b`` those of `b`.

    Raises
    ------
    RuntimeError
        As :class:`SingularMatrixError`: a matrix is singular, not finite, or not as the options say, or a solution is not finite. Of a
        batch the text lists which, and the attribute `indices` has them; nothing is returned then.
    ValueError, TypeError
        As for :class:`DirectSolver`.

    Warns
    -----
    IllConditionedWarning
        A matrix has an estimated condition number beyond the reciprocal of the precision.

    See Also
    --------
    DirectSolver : Keeps the factorization, for several right-hand sides.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> nvmath.linalg.direct_solver(a, np.array([6.0, 7.0]), execution="cpu")
    array([1., 2.])

    A matrix that is known to be positive definite takes half the work:

    >>> nvmath.linalg.direct_solver(a, np.array([6.0, 7.0]), options={"assume_a": "pos"}, execution="cpu")
    array([1., 2.])

    More equations than unknowns:

    >>> tall = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> nvmath.linalg.direct_solver(tall, np.array([1.0, 3.0, 5.0]), options={"least_squares": True}, execution="cpu").round(12)
    array([1., 2.])
    """
    if isinstance(a, SEQUENCES) or isinstance(b, SEQUENCES):
        objs, ptrs, key = _look_at_many(a, b)
    else:
        a_ptr, a_look = adapter_of(a).look(a)
        b_ptr, b_look = adapter_of(b).look(b)
        objs, ptrs = (a, b), (a_ptr, b_ptr)
        key = (DirectSolver, type(a), a_look, a_ptr & 15, type(b), b_look, b_ptr & 15)
    whole: Any = (*key, options, execution)
    # Options may hold what must not be kept, whatever their hash says.
    whole, solver = plan_cache.lease(whole, _settled) if options is None else _lease(_settled(whole))
    if solver is None:
        solver = _open(a, b, options, execution, stream)
    try:
        if log.ROOT.isEnabledFor(log.INFO) or not solver._simple:
            result = solver._serve(objs, stream)
        elif solver._short is not None:
            result = solver._makers[0]()
            solver._short(ptrs[0], ptrs[1], solver._adapter.pointer(result))
        else:
            result = solver._once(objs, ptrs, stream)
    except BaseException:
        plan_cache.discard(solver)
        raise
    if solver._nbytes > _KEPT_NBYTES:
        plan_cache.discard(solver)
    else:
        plan_cache.give(whole, solver)
    return result


def _lease(key: Any) -> tuple[Any, Any]:
    return key, None if key is None else plan_cache.take(key)


def _look_at_many(a: Any, b: Any) -> tuple[tuple[Any, ...], tuple[int, ...], tuple[Any, ...]]:
    """Look at sequences of arrays."""
    parts = arrays_of("a", a), arrays_of("b", b)
    objs = (*parts[0], *parts[1])
    looks = [adapter_of(obj).look(obj) for obj in objs]
    known = tuple((type(obj), look, ptr & 15) for obj, (ptr, look) in zip(objs, looks, strict=True))
    kinds = isinstance(a, SEQUENCES), isinstance(b, SEQUENCES), len(parts[0])
    return objs, tuple(ptr for ptr, _ in looks), (DirectSolver, kinds, known)


def _settled(key: tuple[Any, ...]) -> Any:
    """Return the key with every argument in a form that can be hashed, or None when the call must not be cached."""
    *rest, options, execution = key
    if type(options) is dict and _UNKEPT.isdisjoint(options):
        asked = tuple(options.items())
    else:
        made = coerce_options(DirectSolverOptions, options)
        if made.logger is not log.ROOT or made.allocator is not None or made.handle is not None:
            return None
        asked = made.key()
    if not isinstance(execution, str) and isinstance(execution, Mapping):
        execution = tuple(sorted(execution.items(), key=repr))
    settled = (*rest, asked, execution)
    try:
        hash(settled)
    except TypeError:  # construction will say what is wrong
        return None
    return settled


def _open(a: Any, b: Any, options: Any, execution: Any, stream: Any) -> DirectSolver:
    """Make and plan the solver of a one-call function."""
    solver = DirectSolver(a, b, options, execution, stream)
    try:
        solver.plan(stream)
        tracked = any(view.flags & TRACKED for view in solver._views)  # then every call warns
        plain = not (solver._inplace or solver._route.across or any(solver._route.untidy) or tracked)
        if plain and solver.logger is log.ROOT:
            solver._prepare_once()
    except BaseException:
        solver.free()
        raise
    return solver
