"""The settings of the phases: live views of what the library will use next."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Collection
from enum import IntEnum
from typing import Any, Final, Protocol

from ..._core.lifetime import Closing
from ...bindings import cudss
from ._options import (
    DirectSolverFactorizationAlg,
    DirectSolverMatchingAlg,
    DirectSolverPivotEpsilonAlg,
    DirectSolverReorderingAlg,
    DirectSolverSolveAlg,
    PivotType,
    member,
)

_ENUMS: Final[dict[str, type[IntEnum]]] = {
    "reordering_algorithm": DirectSolverReorderingAlg,
    "matching_algorithm": DirectSolverMatchingAlg,
    "pivot_type": PivotType,
    "factorization_algorithm": DirectSolverFactorizationAlg,
    "pivot_eps_algorithm": DirectSolverPivotEpsilonAlg,
    "solution_algorithm": DirectSolverSolveAlg,
}
_FLOATS: Final = frozenset({"pivot_threshold", "pivot_eps"})
#: name -> cudssConfigParam_t
PARAMETERS: Final = {
    "host_nthreads": 14, "reordering_algorithm": 0, "matching_algorithm": 3, "pivot_type": 7, "pivot_threshold": 8, "max_nnz": 10,
    "nd_min_levels": 17, "use_superpanels": 20, "factorization_algorithm": 1, "pivot_eps_algorithm": 16, "pivot_eps": 9,
    "solution_algorithm": 2, "ir_num_steps": 5,
}  # fmt: skip
_EXECUTE_MODE: Final = (15, "i", 4)
_DEFAULTS: Final[dict[str, Any]] = {
    "host_nthreads": -1, "reordering_algorithm": 0, "matching_algorithm": 6, "pivot_type": 0, "pivot_threshold": 1.0, "max_nnz": -1,
    "nd_min_levels": 10, "use_superpanels": 1, "factorization_algorithm": 0, "pivot_eps_algorithm": 0, "pivot_eps": -1.0,
    "solution_algorithm": 0, "ir_num_steps": 0,
}  # fmt: skip


class Config(Protocol):
    """Where settings are kept."""

    def get(self, name: str) -> Any:
        """Return the present value."""

    def set(self, name: str, value: Any) -> None:
        """Change a value, or raise why it cannot be."""

    def close(self) -> None:
        """Give up what is owned."""


def coerce(name: str, value: Any) -> Any:
    """Return a setting as an enumeration member, a float or an int.

    Raises
    ------
    ValueError
        It is none.
    """
    kind = _ENUMS.get(name)
    if kind is not None:
        return member(kind, value, name)
    try:
        return float(value) if name in _FLOATS else operator.index(value)
    except (TypeError, ValueError):
        what = "a number" if name in _FLOATS else "an integer"
        raise ValueError(f"{name} must be {what}, not {value!r}.") from None


_START: Final = {name: coerce(name, value) for name, value in _DEFAULTS.items()}


class HostConfig:
    """Settings of a library on the CPU, which knows some of them only."""

    def __init__(self, library: str, allowed: dict[str, Collection[Any] | Callable[[Any], bool]]) -> None:
        self._library, self._allowed = library, allowed
        self._values = dict(_START)

    def get(self, name: str) -> Any:
        """Return the present value."""
        return self._values[name]

    def set(self, name: str, value: Any) -> None:
        """Change a value, or raise that this library does not know it."""
        made = coerce(name, value)
        allowed = self._allowed.get(name, ())
        fits = allowed(made) if callable(allowed) else made in allowed
        if not fits and made != _START[name]:
            names = [] if callable(allowed) else [getattr(choice, "name", str(choice)) for choice in allowed]
            known = f" It knows {', '.join(names)}." if names else ""
            raise ValueError(
                f"{name} = {getattr(made, 'name', made)!s} is not supported on the CPU by {self._library}.{known}"
            )
        self._values[name] = made

    def is_default(self, *names: str) -> bool:
        """Whether these settings have their first values."""
        return all(self._values[name] == _START[name] for name in names)

    def copy(self) -> HostConfig:
        """Return settings of the same values, to be changed independently."""
        made = HostConfig(self._library, self._allowed)
        made._values = dict(self._values)
        return made

    def close(self) -> None:
        """Nothing is owned."""


class CudssConfig(Closing):
    """The settings in a configuration object of cuDSS."""

    handle = 0
    version = 0
    """How many settings have been changed."""

    def __init__(self, threading: bool) -> None:
        self.handle = cudss.config_create()
        self._threading = threading
        # cuDSS 1.0 starts with AUTO, 0.8 without: then pivots that are replaced tell of singular matrices, and batches are solved at once.
        self.set("matching_algorithm", DirectSolverMatchingAlg.NONE)

    def get(self, name: str) -> Any:
        """Return the present value."""
        number, code, size = self._storage(name)
        buffer, written = array(code, [0]), array("Q", [0])
        cudss.config_get(self.handle, number, buffer.buffer_info()[0], size, written)
        return coerce(name, buffer[0])

    def set(self, name: str, value: Any) -> None:
        """Change a value."""
        if name == "host_nthreads" and not self._threading:
            raise ValueError(
                "host_nthreads needs cuDSS's threading library. Name its file in options.multithreading_lib, or in the environment "
                "variable CUDSS_THREADING_LIB."
            )
        self.put(self._storage(name), coerce(name, value))

    def put(self, storage: tuple[int, str, int], value: Any) -> None:
        """Write a parameter: (number, type code of array, bytes)."""
        number, code, size = storage
        buffer = array(code, [value])
        self.version += 1
        cudss.config_set(self.handle, number, buffer.buffer_info()[0], size)

    def go_hybrid(self, num_threads: int | None) -> None:
        """Let the CPU help, with so many threads.

        Raises
        ------
        ValueError
            More than one thread is asked for, and there is no threading library.
        """
        self.put(_EXECUTE_MODE, 1)
        if num_threads is not None and (self._threading or num_threads > 1):
            self.set("host_nthreads", num_threads)

    def twin(self) -> CudssConfig:
        """Return settings of the same values."""
        made = CudssConfig(self._threading)
        for storage in (*map(self._storage, PARAMETERS), _EXECUTE_MODE):
            number, code, size = storage
            buffer, written = array(code, [0]), array("Q", [0])
            cudss.config_get(self.handle, number, buffer.buffer_info()[0], size, written)
            if buffer[0] >= 0:  # negative numbers mean the library's own choice, and cannot be set
                made.put(storage, buffer[0])
        return made

    @staticmethod
    def _storage(name: str) -> tuple[int, str, int]:
        number = PARAMETERS[name]
        code = "d" if name in _FLOATS else "q" if name == "max_nnz" else "i"
        return number, code, array(code).itemsize

    def close(self) -> None:
        """Destroy the object."""
        handle, self.handle = self.handle, 0
        if handle:
            cudss.config_destroy(handle)


def _setting(name: str, text: str) -> property:
    def get(self: Any) -> Any:
        return self._config.get(name)

    def put(self: Any, value: Any) -> None:
        self._config.set(name, value)

    return property(get, put, doc=text)


class _View:
    """Settings of one solver."""

    __slots__ = ("_solver",)

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    @property
    def _config(self) -> Config:
        if not self._solver.valid_state:
            raise RuntimeError("The solver of this configuration has been freed.")
        return self._solver._config  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        if not self._solver.valid_state:
            return f"<{type(self).__name__} of a solver that has been freed>"
        names = [name for name, value in vars(type(self)).items() if isinstance(value, property)]
        values = [self._config.get(name) for name in names]
        told = (f"{name}={getattr(value, 'name', value)}" for name, value in zip(names, values, strict=True))
        return f"{type(self).__name__}({', '.join(told)})"


class DirectSolverPlanConfig(_View):
    """Settings of the plan; get it from :attr:`DirectSolver.plan_config`. They count from the next ``plan()`` on.

    On the CPU, MKL PARDISO knows the orderings NESTED_DISSECTION and AMD (the default is the one that suits the matrix) and NONE, matching
    or none, and the pivot types DIAGONAL and BUNCH_KAUFMAN; SuperLU the orderings COLAMD (the default), AMD and NONE, and the threshold.
    What a library does not know raises ``ValueError``.
    """

    __slots__ = ()

    host_nthreads = _setting("host_nthreads", "Number of threads on the CPU; -1 for the library's choice.")
    reordering_algorithm = _setting(
        "reordering_algorithm", "The ordering that limits fill-in, a DirectSolverReorderingAlg."
    )
    matching_algorithm = _setting(
        "matching_algorithm", "What brings large elements to the diagonal, a DirectSolverMatchingAlg."
    )
    pivot_type = _setting("pivot_type", "How pivots are searched, a ``nvmath.bindings.cudss.PivotType``.")
    pivot_threshold = _setting(
        "pivot_threshold", "From which ratio a diagonal element is good enough as a pivot, from 0 to 1."
    )
    max_nnz = _setting(
        "max_nnz", "Largest number of elements of the factors, for the COLAMD orderings; -1 for no limit."
    )
    nd_min_levels = _setting("nd_min_levels", "Least number of levels of nested dissection.")
    use_superpanels = _setting("use_superpanels", "Whether superpanels are used, 0 or 1.")


class DirectSolverFactorizationConfig(_View):
    """Settings of the factorization; get it from :attr:`DirectSolver.factorization_config`.

    They count from the next ``factorize()`` on. On the CPU, MKL PARDISO knows ``pivot_eps`` as a power of ten; other values raise
    ``ValueError``.
    """

    __slots__ = ()

    factorization_algorithm = _setting("factorization_algorithm", "The algorithm, a DirectSolverFactorizationAlg.")
    pivot_eps_algorithm = _setting(
        "pivot_eps_algorithm", "How a tiny pivot is replaced, a DirectSolverPivotEpsilonAlg."
    )
    pivot_eps = _setting("pivot_eps", "The size below which a pivot is replaced; negative for the library's default.")


class DirectSolverSolutionConfig(_View):
    """Settings of the solution; get it from :attr:`DirectSolver.solution_config`. They count from the next ``solve()`` on."""

    __slots__ = ()

    solution_algorithm = _setting("solution_algorithm", "The algorithm, a DirectSolverSolveAlg.")
    ir_num_steps = _setting("ir_num_steps", "Number of steps of iterative refinement.")
