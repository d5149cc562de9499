"""Einstein summation over any number of operands, two at a time in the order that costs least."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any, Final

from .._core import memory_limit
from .._core.arrays import CONJ, View
from .._core.keywords import explained
from .._core.options import ExecutionCPU, ExecutionCUDA, coerce_options
from .._core.place import Cuda
from ..bindings import _cuda as driver
from ._contraction import Contraction
from ._expression import written
from ._host_network import copied
from ._network import Network, rounded, split
from ._options import ContractionOptions
from ._path import OPTIMAL_UP_TO, WAYS, MemoryLimitError, Path, find, to_positions
from ._path_memory import smaller
from ._problem import ContractionProblem, numbered

_ANY_SIZE: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class EinsumInfo:
    """In which order an einsum is computed, and what that costs.

    Parameters
    ----------
    path : list of tuple of int
        Positions in the shrinking list of arrays, as :func:`numpy.einsum_path` and opt_einsum write them.
    steps : tuple of str
        What each step computes, without modes of extent 1.
    flops : int
        Multiplications, and additions where something is summed, of all steps.
    naive_flops : int
        The same without intermediate results.
    largest_intermediate : int
        Elements of the largest intermediate result.
    buffer_nbytes : int
        Size of the buffer that all intermediate results share.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a, b, c = np.ones((9, 2)), np.ones((2, 9)), np.ones((9, 2))
    >>> print(nvmath.tensor.einsum_path("ij,jk,kl->il", a, b, c, execution="cpu"))
    path      [(1, 2), (0, 1)]
    steps     jk,kl->jl
              ij,jl->il
    flops     144, without intermediate results 972
    buffer    4 elements at most in one intermediate result, 256 bytes for all
    """

    path: list[tuple[int, ...]]
    steps: tuple[str, ...]
    flops: int
    naive_flops: int
    largest_intermediate: int
    buffer_nbytes: int

    def __str__(self) -> str:
        return (
            f"path      {self.path}\nsteps     {(chr(10) + ' ' * 10).join(self.steps)}\n"
            f"flops     {self.flops}, without intermediate results {self.naive_flops}\n"
            f"buffer    {self.largest_intermediate} elements at most in one intermediate result, {self.buffer_nbytes} bytes for all"
        )


@lru_cache(256)
def path_of(problem: ContractionProblem, way: Any, limit: int) -> Path:
    """Return the order of the pairs of a problem.

    Raises
    ------
    ValueError
        The way is none, or no order keeps the intermediate results within the limit, in bytes.
    """
    needed = []
    for path in _candidates(problem, way, limit):
        needed.append(_needed(problem, path))
        if needed[-1][0] <= limit:
            return path
    least, nbytes = min(needed + [_needed(problem, path) for path in _candidates(problem, way, _ANY_SIZE)])
    item = problem.dtype.itemsize
    raise MemoryLimitError(
        f"The intermediate results need {nbytes} bytes at a time, but the memory limit is {limit} bytes ({limit // item} elements of "
        f"{problem.dtype}). Raise options.memory_limit to {least} bytes or more"
        f"{'' if isinstance(way, str) else ', or give a path that needs less'}."
    )


def _needed(problem: ContractionProblem, path: Path) -> tuple[int, int]:
    """The smallest limit that a path keeps, and the bytes of its buffer."""
    if not path:
        return 0, 0
    network = split(problem, path)
    return max(network.largest * problem.dtype.itemsize, network.nbytes - rounded(1) + 1, 0), network.nbytes


def _candidates(problem: ContractionProblem, way: Any, limit: int) -> Iterator[Path]:
    """Yield the path that is wanted, then those that need less memory where the caller gave none."""
    item = problem.dtype.itemsize
    inputs, output = [frozenset(tensor.modes) for tensor in problem.inputs], frozenset(problem.output.modes)
    try:
        path = find(inputs, output, problem.extents, way, limit // item)
    except MemoryLimitError:
        if way == "optimal" or len(inputs) > OPTIMAL_UP_TO:
            return
        yield from _candidates(problem, "optimal", limit)
        return
    yield path
    if isinstance(way, str):
        yield from smaller(inputs, output, problem.extents, path, rounded(limit), lambda count: rounded(count * item))


def _host_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not told on this system
        return _ANY_SIZE


class Einsum(Contraction):
    """An Einstein summation that is planned once and executed many times.

    Parameters
    ----------
    expression : str
        As for :func:`numpy.einsum`: ``"ij,jk,kl->il"``, one term for each operand; see :class:`BinaryContraction` for the grammar.
        Or the operands and lists of integers in turns, as for :func:`numpy.einsum`.
    *operands : array
        One or more arrays of one package, device and dtype; see :class:`BinaryContraction`.
    out : array, optional
        Where results are written.
    optimize : {"auto", "optimal", "greedy"} or list of tuple of int, default "auto"
        The order of the pairs: the best of all (``"auto"`` does that for up to 8 operands), one found step by step, or a path as
        :func:`numpy.einsum_path`, opt_einsum and cotengra give it.
    stream, options, execution : optional
        As in :class:`BinaryContraction`. ``options.memory_limit`` bounds the intermediate results, ``result_layout="auto"`` is
        row-major.

    Raises
    ------
    ValueError
        The expression, an operand, the path or an option does not fit, or no path keeps the memory limit; the text says what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    RuntimeError
        CUDA execution was asked for and cannot be had.

    Notes
    -----
    Each step is what :class:`BinaryContraction` does. Intermediate results have the dtype of the operands and share one buffer. One
    object serves one thread at a time.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a, x = np.arange(4.0).reshape(2, 2), np.ones(2)
    >>> with nvmath.tensor.Einsum("i,ij,jk,k->", x, a, a, x, execution="cpu") as network:
    ...     network.plan()
    ...     print(network.execute(), network.info.path)
    22.0 [(0, 1), (0, 2), (0, 1)]
    """

    _what = "An einsum"

    @explained(options=ContractionOptions)
    def __init__(
        self,
        expression: Any,
        *operands: Any,
        out: Any = None,
        optimize: Any = "auto",
        stream: Any = None,
        options: ContractionOptions | dict[str, Any] | None = None,
        execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
    ) -> None:
        text, arrays = written(expression, operands)
        self._construct(text, arrays, None, out, way_of(optimize), stream, options, execution)

    def _construct(
        self, expr: Any, operands: tuple[Any, ...], addend: Any, out: Any, qualifiers: Any, stream: Any, options: Any, execution: Any
    ) -> None:
        self._count = len(operands)
        self._way = qualifiers  # one-call functions pass what a class asks for beside the options in this place
        self._reads = dict.fromkeys(self._operand_names(), CONJ) if self._count > 1 else {}  # type: ignore[misc]
        super()._construct(expr, operands, addend, out, None, stream, _row_major(options), execution)

    def _operand_names(self) -> tuple[str, ...]:
        return numbered(self._count)

    def _check_packages(self, named: dict[str, Any]) -> None:
        """The base class raises what is wrong."""

    def _specify(self, views: tuple[View, ...]) -> ContractionProblem:
        problem = super()._specify(views)
        self._path_of(problem)  # what is wrong with it is said before anything is taken
        return problem

    def _path_of(self, problem: ContractionProblem) -> Path:
        place = self._place
        total = driver.device_total_mem(driver.device_get(place.device_id)) if isinstance(place, Cuda) else _host_memory()
        return path_of(problem, self._way, memory_limit.bytes_of(self.options.memory_limit, total))

    @property
    def _path(self) -> Path:  # type: ignore[override]
        return self._path_of(self._problem)

    @property
    def info(self) -> EinsumInfo:
        """In which order the operands are contracted, and what that costs."""
        self._check_valid()
        problem, path = self._problem, self._path
        weighed = None if isinstance(self._place, Cuda) else copied
        network = split(problem, path, weighed) if path else Network((), 1, 0, 0)
        every = prod(problem.extents)
        return EinsumInfo(
            to_positions(path, self._count),
            tuple(map(str, network.steps)),
            network.flops,
            every * (self._count - 1 + (set(range(len(problem.extents))) != set(problem.output.modes))),
            network.largest,
            network.nbytes,
        )

    def execute(self, *, release_workspace: bool = False, stream: Any = None) -> Any:  # type: ignore[override]
        """Compute the sum over the present operands.

        Parameters
        ----------
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
            It is not planned, or the operands have been released.
        ValueError
            `out` has become an array that results cannot be written into.
        """
        return self._go(release_workspace, stream)

    def reset_operands(self, *operands: Any, out: Any = None, stream: Any = None) -> None:
        """Replace operands: one for each term, None for those that stay.

        Parameters
        ----------
        *operands : array or None
            Same package, device and dtype as before, and shapes that give every mode the extent that it had (1 fits any). None at
            all where only `out` is replaced.
        out : array, optional
            Only if the object was made with one.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        ValueError
            The number of operands is wrong, or one does not fit.
        """
        self._check_valid()
        self._reset(self._complete(operands), None, out, stream)

    def reset_operands_unchecked(self, *operands: Any, out: Any = None, stream: Any = None) -> None:
        """Replace operands without any check; an operand of another layout gives undefined results.

        Parameters
        ----------
        *operands : array or None
            Operands of exactly the package, device, dtype, shape, strides and alignment of the present ones.
        out : array, optional
            Only if the object was made with one.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        ValueError
            The operands have been released, and not all are given.
        """
        self._reset_fast(self._complete(operands), None, out, stream)

    def _complete(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        operands = operands or (None,) * self._count
        if len(operands) != self._count:
            raise ValueError(f"{self._count} operands are needed, one for each term (None for those that stay), not {len(operands)}.")
        return operands


def _row_major(options: Any) -> ContractionOptions:
    """Return the options with the layout that NumPy's users expect."""
    given = coerce_options(ContractionOptions, options)
    return replace(given, result_layout="C") if given.result_layout == "auto" else given


def way_of(optimize: Any) -> Any:
    """Return a name, or a path as tuples of integers: it may be an iterator, and 1.0 is equal to 1.

    Raises
    ------
    ValueError
        It is neither; whether the path fits the operands is seen later.
    """
    if isinstance(optimize, bool):
        return "auto"
    if isinstance(optimize, str):
        return optimize
    try:
        entries = list(optimize)
    except TypeError:
        raise ValueError(f"optimize must be one of {', '.join(map(repr, WAYS))} or a path, not {optimize!r}.") from None
    named = bool(entries) and isinstance(entries[0], str) and entries[0] == "einsum_path"
    return tuple(_positions(entry) for entry in entries[named:])


def _positions(entry: Any) -> tuple[int, ...]:
    try:
        return tuple(int(operator.index(position)) for position in entry)
    except TypeError:
        raise ValueError(f"{entry!r} in the path is no tuple of positions, which are integers.") from None
