"""What can be asked of a sparse direct solver."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from enum import Enum, IntEnum
from typing import Any, ClassVar, Final, Literal

import numpy as np

from ..._core import memory_limit, options
from ..._core.errors import join
from ..._core.keywords import explained_fields
from ...bindings import cudss

DirectSolverMatrixType = cudss.MatrixType
DirectSolverMatrixViewType = cudss.MatrixViewType
DirectSolverReorderingAlg = cudss.ReorderingAlg
DirectSolverFactorizationAlg = cudss.FactorizationAlg
DirectSolverSolveAlg = cudss.SolveAlg
DirectSolverPivotEpsilonAlg = cudss.PivotEpsilonAlg
DirectSolverMatchingAlg = cudss.MatchingAlg
PivotType = cudss.PivotType


ON_FAILURE: Final = ("retry", "raise", "warn")
_SCIPY_WORDS: Final[dict[str, IntEnum]] = {
    "gen": DirectSolverMatrixType.GENERAL, "sym": DirectSolverMatrixType.SYMMETRIC, "her": DirectSolverMatrixType.HERMITIAN,
    "pos": DirectSolverMatrixType.HPD, "positive definite": DirectSolverMatrixType.HPD,
}  # fmt: skip


def public_name(kind: type[Any]) -> str:
    """Return the name under which an enumeration of cuDSS is public here."""
    return "nvmath.bindings.cudss.PivotType" if kind is PivotType else f"DirectSolver{kind.__name__}"


def member(kind: type[IntEnum], value: Any, what: str) -> IntEnum:
    """Return a member of an enumeration, given as such, as its number, or as its name in any letter case.

    Raises
    ------
    ValueError
        There is none; the text names the nearest one that there is.
    """
    if not isinstance(value, str):
        try:
            if isinstance(value, Enum) and not isinstance(value, kind):
                raise ValueError
            return kind(value)
        except ValueError:
            raise ValueError(f"{what} must be a member of {public_name(kind)} or its name, not {value!r}.") from None
    names = {name.removeprefix("PIVOT_"): one for name, one in kind.__members__.items()}
    key = value.strip().upper().replace("-", "_").removeprefix("PIVOT_")
    if key not in names:
        near = get_close_matches(key, names, 1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"{what} must be a member of {public_name(kind)} or its name, not {value!r}.{meant} There are {join(names)}."
        )
    return names[key]


memory_estimates_dtype: Final = np.dtype(
    [
        ("permanent_device_memory", "<u8"),
        ("peak_device_memory", "<u8"),
        ("permanent_host_memory", "<u8"),
        ("peak_host_memory", "<u8"),
        ("hybrid_min_device_memory", "<u8"),
        ("hybrid_max_device_memory", "<u8"),
        ("reserved", "<u8", (10,)),
    ]
)


@explained_fields
@dataclass
class DirectSolverOptions:
    """Options of a sparse direct solver.

    Parameters
    ----------
    sparse_system_type : DirectSolverMatrixType or str, default GENERAL
        What is known of the matrix: general, symmetric, Hermitian, or positive definite (SPD real, HPD complex). The words of SciPy and
        of :class:`nvmath.linalg.DirectSolverOptions` will do as well: ``"gen"``, ``"sym"``, ``"her"``, and ``"pos"`` or
        ``"positive definite"`` for HPD, which is SPD where the matrix is real.
    sparse_system_view : DirectSolverMatrixViewType or str, default FULL
        Which part of a symmetric or Hermitian matrix is read: all of it, or one triangle.
    multithreading_lib : str, optional
        On a GPU: path of cuDSS's threading library; by default what ``CUDSS_THREADING_LIB`` names, or the one that lies next to cuDSS.
    logger : logging.Logger, optional
        By default the root logger.
    blocking : {"auto", True}, default "auto"
        ``"auto"`` returns as soon as the work is queued when operands and execution are both on a GPU.
    handle : int, optional
        A cuDSS handle to use. Every call sets its stream, and cuDSS cannot tell which one it was set to before: set it again afterwards. It
        must live as long as the solver, which sets it to the default stream when it is freed.
    on_failure : {"retry", "raise", "warn"}, default "retry"
        What happens when a solution is not as good as the arithmetic allows. ``"retry"`` refines it, then factorizes by stronger
        means (matching, then other pivoting, on the CPU another library), and raises :class:`SingularSystemError` if nothing helps.
        ``"raise"`` tries no stronger means than the first before it raises it; these are LU where a guess that the matrix is positive
        definite failed. ``"warn"`` tries the same as ``"retry"``, but returns the solution with a warning.

    Raises
    ------
    ValueError
        A field has a value that it may not have.

    Examples
    --------
    >>> import nvmath
    >>> kind = nvmath.sparse.advanced.DirectSolverMatrixType.SPD
    >>> nvmath.sparse.advanced.DirectSolverOptions(sparse_system_type=kind).blocking
    'auto'
    >>> nvmath.sparse.advanced.DirectSolverOptions(sparse_system_type="spd").sparse_system_type is kind
    True
    """

    sparse_system_type: IntEnum | int | str = DirectSolverMatrixType.GENERAL
    sparse_system_view: IntEnum | int | str = DirectSolverMatrixViewType.FULL
    multithreading_lib: str | None = None
    logger: logging.Logger | None = None
    blocking: Literal[True, "auto"] = "auto"
    handle: int | None = None
    on_failure: Literal["retry", "raise", "warn"] = "retry"

    def __post_init__(self) -> None:
        if isinstance(self.sparse_system_type, str):
            word = self.sparse_system_type.strip().lower()
            self.sparse_system_type = _SCIPY_WORDS.get(word, self.sparse_system_type)
        for name, kind in (
            ("sparse_system_type", DirectSolverMatrixType),
            ("sparse_system_view", DirectSolverMatrixViewType),
        ):
            setattr(self, name, member(kind, getattr(self, name), f"DirectSolverOptions.{name}"))
        if self.blocking is not True and self.blocking != "auto":
            raise ValueError(
                f"DirectSolverOptions.blocking must be one of {join((True, 'auto'))}, not {self.blocking!r}."
            )
        if self.on_failure not in ON_FAILURE:
            raise ValueError(
                f"DirectSolverOptions.on_failure must be one of {join(ON_FAILURE)}, not {self.on_failure!r}."
            )


@explained_fields
@dataclass
class HybridMemoryModeOptions:
    """Whether the factors are kept in host memory where they do not fit on the GPU.

    Parameters
    ----------
    hybrid_memory_mode : bool, default False
        Keep part of the factors in host memory.
    hybrid_device_memory_limit : int, float or str, optional
        Device memory that may be used: bytes, a fraction or percentage of the device's memory, or a size such as ``"2 GiB"``.
    register_cuda_memory : bool, default True
        Whether the host memory is page-locked.

    Raises
    ------
    ValueError
        The limit has none of the forms.
    """

    hybrid_memory_mode: bool = False
    hybrid_device_memory_limit: int | float | str | None = None
    register_cuda_memory: bool = True

    def __post_init__(self) -> None:
        if self.hybrid_device_memory_limit is not None:
            memory_limit.check(self.hybrid_device_memory_limit, "HybridMemoryModeOptions.hybrid_device_memory_limit")


@explained_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionCUDA(options.ExecutionCUDA):
    """Run on a GPU.

    Parameters
    ----------
    device_id : int, default 0
        The GPU for operands in host memory. Operands in GPU memory are always processed where they are.
    hybrid_memory_mode_options : HybridMemoryModeOptions or dict, optional
        Whether the factors may be kept in host memory.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.sparse.advanced.ExecutionCUDA(hybrid_memory_mode_options={"hybrid_memory_mode": True}).name
    'cuda'
    """

    hybrid_memory_mode_options: HybridMemoryModeOptions = field(default_factory=HybridMemoryModeOptions)

    def __post_init__(self) -> None:
        options.ExecutionCUDA.__post_init__(self)
        given = self.hybrid_memory_mode_options
        object.__setattr__(self, "hybrid_memory_mode_options", options.coerce_options(HybridMemoryModeOptions, given))


@explained_fields
@dataclass
class ExecutionHybrid:
    """Run on a GPU and the CPU together: cuDSS does small parts of the factorization on the CPU.

    Parameters
    ----------
    device_id : int, default 0
        The GPU for operands in host memory. Operands in GPU memory are always processed where they are.
    num_threads : int, optional
        Number of threads on the CPU; more than one needs cuDSS's threading library.

    Raises
    ------
    ValueError
        A number is no integer, or too small.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.sparse.advanced.ExecutionHybrid(num_threads=4).name
    'hybrid'
    """

    name: ClassVar[str] = "hybrid"
    device_id: int = 0
    num_threads: int | None = None

    def __post_init__(self) -> None:
        self.device_id = options.ExecutionCUDA(device_id=self.device_id).device_id
        self.num_threads = options.ExecutionCPU(num_threads=self.num_threads).num_threads


@explained_fields
@dataclass(slots=True, kw_only=True)
class DirectSolverPlanPreferences:
    """What :func:`direct_solver` sets before it plans; see :class:`DirectSolverPlanConfig` for the fields.

    Parameters
    ----------
    host_nthreads, reordering_algorithm, pivot_type, pivot_threshold, max_nnz, matching_algorithm, nd_min_levels, use_superpanels
        None leaves the library's default.
    """

    host_nthreads: int | None = None
    reordering_algorithm: IntEnum | int | str | None = None
    pivot_type: IntEnum | int | str | None = None
    pivot_threshold: float | None = None
    max_nnz: int | None = None
    matching_algorithm: IntEnum | int | str | None = None
    nd_min_levels: int | None = None
    use_superpanels: int | bool | None = None


@explained_fields
@dataclass(slots=True, kw_only=True)
class DirectSolverFactorizationPreferences:
    """What :func:`direct_solver` sets before it factorizes; see :class:`DirectSolverFactorizationConfig` for the fields.

    Parameters
    ----------
    factorization_algorithm, pivot_eps_algorithm, pivot_eps
        None leaves the library's default.
    """

    factorization_algorithm: IntEnum | int | str | None = None
    pivot_eps_algorithm: IntEnum | int | str | None = None
    pivot_eps: float | None = None


@explained_fields
@dataclass(slots=True, kw_only=True)
class DirectSolverSolutionPreferences:
    """What :func:`direct_solver` sets before it solves; see :class:`DirectSolverSolutionConfig` for the fields.

    Parameters
    ----------
    solution_algorithm, ir_num_steps
        None leaves the library's default.
    """

    solution_algorithm: IntEnum | int | str | None = None
    ir_num_steps: int | None = None


_EXECUTIONS: Final[dict[str, Any]] = {"cuda": ExecutionCUDA, "cpu": options.ExecutionCPU, "hybrid": ExecutionHybrid}


def coerce_execution(value: Any) -> Any:
    """Accept an execution object, a name, a dict, or None for the default.

    Raises
    ------
    ValueError
        The name or the kind of the object is unknown.
    TypeError
        A dict holds an entry that the execution class does not have.
    """
    if value is None or isinstance(value, options.ExecutionCUDA | options.ExecutionCPU | ExecutionHybrid):
        return value
    arguments: dict[str, Any] = {}
    if isinstance(value, Mapping):
        arguments = dict(value)
        value = arguments.pop("name", None)
        value = "cuda" if value is None else value
    kind = _EXECUTIONS.get(value.lower()) if isinstance(value, str) else None
    if kind is None:
        raise ValueError(
            f"The execution {value!r} is not one of {join(_EXECUTIONS)}. Pass one of these names, a dict like "
            '{"name": "cuda", "device_id": 1}, or an ExecutionCUDA, ExecutionHybrid or ExecutionCPU object.'
        )
    known = (one.name for one in fields(kind))
    return kind(**options.named(arguments, known, f"An execution on {value!r}"))
