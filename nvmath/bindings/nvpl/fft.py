"""The FFTW3 interface (``fftw3.h``): Fourier transforms on the CPU, served by NVPL, MKL or FFTW.

The functions whose names end in ``_float`` or ``_double`` are the C functions. The others take a precision or a `Plan`.
Planning and destroying go through one lock, because FFTW's planner has global state; executing needs none, and one plan
may be executed by several threads at once. Flags are those of `PlannerFlags` and are translated for the library.

`plan_guru`, `destroy_guru` and the functions called ``execute_...`` are what `nvmath.fft` uses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nvmath.bindings._bind import Bindings
from nvmath.bindings._fork import held_at_fork
from nvmath.bindings._functions import forwarding_function

_ROWS = """
init_threads_{double,float} = fftw{,f}_init_threads() -> i32
plan_with_nthreads_{double,float} = fftw{,f}_plan_with_nthreads(nthreads: i32) -> void
planner_nthreads_{double,float} = fftw{,f}_planner_nthreads() -> i32
cleanup_threads_{double,float} = fftw{,f}_cleanup_threads() -> void
_plan_many_c2c_{double,float} = fftw{,f}_plan_many_dft(rank: i32, n: i32[], batch: i32, in_: ptr, inembed: i32[],
    istride: i32, idist: i32, out: ptr, onembed: i32[], ostride: i32, odist: i32, sign: i32, flags: u32) -> ptr
_plan_many_r2c_{double,float} = fftw{,f}_plan_many_dft_r2c(rank: i32, n: i32[], batch: i32, in_: ptr, inembed: i32[],
    istride: i32, idist: i32, out: ptr, onembed: i32[], ostride: i32, odist: i32, flags: u32) -> ptr
_plan_many_c2r_{double,float} = fftw{,f}_plan_many_dft_c2r(rank: i32, n: i32[], batch: i32, in_: ptr, inembed: i32[],
    istride: i32, idist: i32, out: ptr, onembed: i32[], ostride: i32, odist: i32, flags: u32) -> ptr
_plan_guru_c2c_{double,float} = fftw{,f}_plan_guru64_dft(rank: i32, dims: i64[], howmany_rank: i32,
    howmany_dims: i64[], in_: ptr, out: ptr, sign: i32, flags: u32) -> ptr
_plan_guru_r2c_{double,float} = fftw{,f}_plan_guru64_dft_r2c(rank: i32, dims: i64[], howmany_rank: i32,
    howmany_dims: i64[], in_: ptr, out: ptr, flags: u32) -> ptr
_plan_guru_c2r_{double,float} = fftw{,f}_plan_guru64_dft_c2r(rank: i32, dims: i64[], howmany_rank: i32,
    howmany_dims: i64[], in_: ptr, out: ptr, flags: u32) -> ptr
execute_c2c_{double,float} = fftw{,f}_execute_dft(plan: ptr, idata: ptr, odata: ptr) -> void
execute_r2c_{double,float} = fftw{,f}_execute_dft_r2c(plan: ptr, idata: ptr, odata: ptr) -> void
execute_c2r_{double,float} = fftw{,f}_execute_dft_c2r(plan: ptr, idata: ptr, odata: ptr) -> void
_destroy_plan_{double,float} = fftw{,f}_destroy_plan(plan: ptr) -> void
alignment_of_{double,float} = fftw{,f}_alignment_of(data: ptr) -> i32
_nvpl_version = nvpl_fft_get_version() -> i32
"""

_ENUMS = """
IntFlag Precision: FLOAT=32 DOUBLE=64
IntFlag Kind: C2C=1 C2R=2 R2C=3
IntFlag Sign: UNSPECIFIED=0 FORWARD=-1 INVERSE=1
IntFlag PlannerFlags: ESTIMATE=1 MEASURE=2 PATIENT=3 EXHAUSTIVE=4 WISDOM_ONLY=5
"""

#: FFTW3's own bits (``fftw3.h``), which MKL and NVPL share.
UNALIGNED = 1 << 1
DESTROY_INPUT = 1 << 0
PRESERVE_INPUT = 1 << 4
_ESTIMATE = 1 << 6
#: `PlannerFlags` -> bits.
_PLANNER_BITS = {1: _ESTIMATE, 2: 0, 3: 1 << 5, 4: 1 << 3, 5: 1 << 21}

_PRECISIONS = {32: "float", 64: "double"}
_KINDS = {1: "c2c", 2: "c2r", 3: "r2c"}

_library = Bindings("fftw", globals(), prefix="fftw_", error="FFTWError")
__getattr__, __dir__ = _library.resolve, _library.names
_planner = held_at_fork(threading.RLock())


class FFTWError(Exception):
    """The FFT library could not make a plan, or a plan cannot do what it is asked for."""


class FFTWUnaligned(FFTWError):
    """Data does not lie at a multiple of the complex element size."""


class LibraryInfo(NamedTuple):
    """Which library serves: ``flavour`` is ``"nvpl"``, ``"mkl"`` or ``"fftw"``."""

    flavour: str
    version: str
    path: str


def fftw_library() -> LibraryInfo:
    """Which library serves the FFTW3 interface (opened now if it is not open).

    Returns
    -------
    LibraryInfo
        Flavour, version and path.

    Raises
    ------
    LibraryNotFoundError
        None of them is installed.
    """
    known: LibraryInfo | None = _library.state.get("info")
    if known is None:
        known = LibraryInfo("fftw", "", "") if _library.substituted is not None else _identify()
        _library.state["info"] = known
    return known


def _identify() -> LibraryInfo:
    library = _library.opened()
    flavour = "nvpl" if library.address("nvpl_fft_get_version") else "fftw"
    if library.address("fftw3_mkl") or library.address("MKL_Get_Version_String"):
        flavour = "mkl"
    for name in ("fftw_plan_many_dft", "fftwf_plan_many_dft"):
        if library.address(name) is None:
            raise library.missing(name)
    return LibraryInfo(flavour, library.version, library.path)


def get_version() -> int:
    """The version of the serving library as one number, such as 600 for NVPL 0.6.0 or 30310 for FFTW 3.3.10.

    Returns
    -------
    int
        What ``nvpl_fft_get_version`` returns; for MKL and FFTW ``10000 * major + 100 * minor + patch``.
    """
    info = fftw_library()
    if info.flavour == "nvpl":
        return int(_library._nvpl_version())
    numbers = [int(part) if part.isdigit() else 0 for part in info.version.split(".")]
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return major * 10000 + minor * 100 + patch


# ---------------------------------------------------------------------------------------------------------- threads


def _named(stem: str, precision: int) -> Any:
    try:
        return _library.resolve(f"{stem}_{_PRECISIONS[int(precision)]}")
    except KeyError:
        raise ValueError(f"precision must be Precision.FLOAT or Precision.DOUBLE, got {precision!r}") from None


def _ready(precision: int) -> None:
    """Makes the threaded planner ready, once per precision; NVPL needs no call, and FFTW may lack its threads part."""
    state = _library.state
    key = f"threads {precision}"
    if key in state:
        return
    flavour = fftw_library().flavour
    prefix = "fftw_" if int(precision) == 64 else "fftwf_"
    state[key] = _library.has(f"{prefix}plan_with_nthreads")
    if flavour != "nvpl" and _library.has(f"{prefix}init_threads"):
        _named("init_threads", precision)()


def init_threads(precision: int) -> int:
    """Calls ``fftw_init_threads`` or ``fftwf_init_threads``.

    Parameters
    ----------
    precision : int
        A value of ``Precision``.

    Returns
    -------
    int
        0 is failure.
    """
    with _planner:
        return int(_named("init_threads", precision)())


def plan_with_nthreads(precision: int, num_threads: int) -> None:
    """Sets the number of threads of plans made from now on, for the whole process: ``fftw_plan_with_nthreads``.

    Parameters
    ----------
    precision : int
        A value of ``Precision``.
    num_threads : int
        At least 1.
    """
    with _planner:
        _ready(precision)
        _named("plan_with_nthreads", precision)(num_threads)
        _library.state[f"nthreads {int(precision)}"] = num_threads


def planner_nthreads(precision: int) -> int:
    """The number of threads that plans made now will use: ``fftw_planner_nthreads``.

    Parameters
    ----------
    precision : int
        A value of ``Precision``.

    Returns
    -------
    int
        Number of threads; where the library has no such function, what was set here last (1 if nothing was).
    """
    prefix = "fftw_" if int(precision) == 64 else "fftwf_"
    if _library.has(f"{prefix}planner_nthreads"):
        return int(_named("planner_nthreads", precision)())
    return int(_library.state.get(f"nthreads {int(precision)}", 1))


def cleanup_threads(precision: int) -> None:
    """Calls ``fftw_cleanup_threads`` or ``fftwf_cleanup_threads``: existing plans become invalid.

    Parameters
    ----------
    precision : int
        A value of ``Precision``.
    """
    with _planner:
        _named("cleanup_threads", precision)()
        _library.state.pop(f"threads {int(precision)}", None)


# ---------------------------------------------------------------------------------------------------------- planning


def planner_bits(flags: int) -> int:
    """The library's bits for a value of ``PlannerFlags``; larger bits (`UNALIGNED`, ...) are not for this function."""
    try:
        return _PLANNER_BITS[int(flags)]
    except KeyError:
        raise ValueError(f"flags must be a value of PlannerFlags (1 to 5), got {flags!r}") from None


def _planned(handle: int, what: str) -> int:
    if not handle:
        raise FFTWError(f"{fftw_library().flavour} made no plan for {what}")
    return handle


def _set_threads(precision: int, num_threads: int | None) -> None:
    _ready(precision)
    if num_threads is None or not _library.state[f"threads {precision}"]:
        return
    key = f"nthreads {precision}"
    if _library.state.get(key) != num_threads:
        _named("plan_with_nthreads", precision)(num_threads)
        _library.state[key] = num_threads


def plan_guru(
    precision: int,
    kind: int,
    sign: int,
    dims: Sequence[tuple[int, int, int]],
    howmany: Sequence[tuple[int, int, int]],
    in_: int,
    out: int,
    *,
    flags: int = _ESTIMATE,
    num_threads: int | None = None,
) -> int:
    """Makes a plan with the guru interface: ``fftw_plan_guru64_dft``, ``..._r2c`` or ``..._c2r``.

    Parameters
    ----------
    precision, kind, sign : int
        Values of ``Precision``, ``Kind`` and ``Sign`` (the sign matters for C2C only).
    dims, howmany : sequence of (int, int, int)
        Extent, input stride and output stride of each transformed and each batch dimension; strides in elements, of
        the real type on the real side. MKL takes at most one batch dimension.
    in_, out : int
        Addresses. With ``flags`` as by default they are not touched.
    flags : int
        FFTW3's bits (not ``PlannerFlags``): by default estimate. With FFTW, plan `UNALIGNED` unless every execution
        has the alignment of these addresses.
    num_threads : int, optional
        Threads of the plan.

    Returns
    -------
    int
        The plan's address, for the ``execute_...`` functions of the same precision and kind; `destroy_guru` ends it.

    Raises
    ------
    FFTWError
        The library made no plan.
    """
    flat_dims = tuple(number for dim in dims for number in dim)
    flat_howmany = tuple(number for dim in howmany for number in dim)
    signs = (sign,) if kind == 1 else ()
    with _planner:
        _set_threads(precision, num_threads)
        make = _named(f"_plan_guru_{_KINDS[int(kind)]}", precision)
        handle = make(len(dims), flat_dims, len(howmany), flat_howmany, in_, out, *signs, flags)
    return _planned(handle, f"dims {tuple(dims)} and batch {tuple(howmany)}")


def destroy_guru(precision: int, handle: int) -> None:
    """Ends a plan: ``fftw_destroy_plan`` or ``fftwf_destroy_plan``."""
    with _planner:
        _named("_destroy_plan", precision)(handle)


class Plan:
    """One or two plans of the library (a C2C plan of unspecified sign has both directions).

    Attributes
    ----------
    precision, kind : int
        Values of ``Precision`` and ``Kind``.
    handles : dict
        Sign -> address; empty once the plan is destroyed. The plan itself can be passed where a function wants the
        address, if there is only one.
    """

    __slots__ = ("handles", "kind", "precision")

    def __init__(self, precision: int, kind: int, handles: dict[int, int]) -> None:
        self.precision = precision
        self.kind = kind
        self.handles = handles

    def handle(self, sign: int) -> int:
        """The address for a direction."""
        if not self.handles:
            raise FFTWError("the plan was destroyed")
        if sign == 0 and len(self.handles) == 1:
            return next(iter(self.handles.values()))
        try:
            return self.handles[int(sign)]
        except KeyError:
            planned = ", ".join(str(planned) for planned in self.handles)
            raise FFTWError(f"the plan has the sign {planned}, not {int(sign)}") from None

    def __index__(self) -> int:
        return self.handle(0)


def plan_many(
    precision: int,
    kind: int,
    sign: int,
    rank: int,
    n: int | Sequence[int],
    batch: int,
    in_: int,
    inembed: int | Sequence[int] | None,
    istride: int,
    idist: int,
    out: int,
    onembed: int | Sequence[int] | None,
    ostride: int,
    odist: int,
    flags: int,
) -> Plan:
    """Makes a plan with the advanced interface: ``fftw_plan_many_dft``, ``..._r2c`` or ``..._c2r``.

    Parameters
    ----------
    precision, kind, sign : int
        Values of ``Precision``, ``Kind`` and ``Sign``; C2C with ``Sign.UNSPECIFIED`` plans both directions.
    rank, n, batch, in_, inembed, istride, idist, out, onembed, ostride, odist
        As in FFTW; arrays are sequences or addresses.
    flags : int
        A value of ``PlannerFlags``. Estimating leaves the arrays alone, measuring overwrites them.

    Returns
    -------
    Plan
        To be ended with `destroy`.

    Raises
    ------
    FFTWError
        The library made no plan, or the sign does not suit the kind.
    """
    layout = (rank, n, batch, in_, inembed, istride, idist, out, onembed, ostride, odist)
    handles: dict[int, int] = {}
    try:
        for direction in _directions(kind, sign):
            signs = (direction,) if kind == 1 else ()
            handles[direction] = _plan_many(_KINDS[int(kind)], _PRECISIONS[int(precision)], (*layout, *signs), flags)
    except BaseException:
        destroy(Plan(int(precision), int(kind), handles))
        raise
    return Plan(int(precision), int(kind), handles)


def _directions(kind: int, sign: int) -> tuple[int, ...]:
    if int(kind) not in _KINDS:
        raise ValueError(f"kind must be a value of Kind, got {kind!r}")
    natural = {1: (-1, 1), 2: (1,), 3: (-1,)}[int(kind)]
    if int(sign) == 0:
        return natural
    if int(sign) not in natural:
        raise FFTWError(f"a {_KINDS[int(kind)]} transform has no plan of sign {int(sign)}")
    return (int(sign),)


def _plan_many(kind: str, precision: str, arguments: tuple[Any, ...], flags: int) -> int:
    # Plans must not depend on the alignment of these addresses; only FFTW plans for alignment.
    bits = planner_bits(flags) | UNALIGNED
    with _planner:
        _ready(64 if precision == "double" else 32)
        return _planned(_library.resolve(f"_plan_many_{kind}_{precision}")(*arguments, bits), f"n = {arguments[1]}")


def _plan_many_function(kind: str, precision: str) -> Callable[..., int]:
    names = ["rank", "n", "batch", "in_", "inembed", "istride", "idist", "out", "onembed", "ostride", "odist"]
    names += ["sign", "flags"] if kind == "c2c" else ["flags"]
    doc = (
        f"Makes a {kind} plan of {precision} precision and returns its address; `plan_many` explains the arguments.\n\n"
        "Raises\n------\nFFTWError\n    The library made no plan.\n"
    )

    def body(*arguments: Any) -> int:
        return _plan_many(kind, precision, arguments[:-1], arguments[-1])

    return forwarding_function(f"plan_many_{kind}_{precision}", names, body, doc, __name__)  # type: ignore[no-any-return]


plan_many_c2c_double = _plan_many_function("c2c", "double")
plan_many_c2c_float = _plan_many_function("c2c", "float")
plan_many_c2r_double = _plan_many_function("c2r", "double")
plan_many_c2r_float = _plan_many_function("c2r", "float")
plan_many_r2c_double = _plan_many_function("r2c", "double")
plan_many_r2c_float = _plan_many_function("r2c", "float")


def destroy_plan_double(plan: int | Plan) -> None:
    """Ends a plan of double precision: ``fftw_destroy_plan``."""
    destroy_guru(64, int(plan))


def destroy_plan_float(plan: int | Plan) -> None:
    """Ends a plan of single precision: ``fftwf_destroy_plan``."""
    destroy_guru(32, int(plan))


def _check_plan(plan: object, function: str) -> None:
    if not isinstance(plan, Plan):
        raise TypeError(f"{__name__}.{function}(): 'plan' must be what plan_many() returned, got {plan!r}")


def destroy(plan: Plan) -> None:
    """Ends a plan; a second call does nothing.

    Parameters
    ----------
    plan : Plan
        What `plan_many` returned.

    Raises
    ------
    TypeError
        It is something else.
    """
    _check_plan(plan, "destroy")
    handles, plan.handles = plan.handles, {}
    for handle in handles.values():
        destroy_guru(plan.precision, handle)


def execute(plan: Plan, idata: int, odata: int, sign: int) -> None:
    """Executes a plan on new arrays: ``fftw_execute_dft``, ``..._r2c`` or ``..._c2r``.

    Parameters
    ----------
    plan : Plan
        What `plan_many` returned.
    idata, odata : int
        Addresses; multiples of the complex element size. A C2R transform of several dimensions destroys its input.
    sign : int
        A value of ``Sign``; ``UNSPECIFIED`` means the plan's own.

    Raises
    ------
    FFTWUnaligned
        An address is not such a multiple.
    FFTWError
        The plan has another sign, or was destroyed.
    TypeError
        It is no `Plan`.
    """
    _check_plan(plan, "execute")
    size = plan.precision // 4
    if idata % size or odata % size:
        raise FFTWUnaligned(f"addresses must be multiples of {size} bytes, got {idata:#x} and {odata:#x}")
    _library.resolve(f"execute_{_KINDS[plan.kind]}_{_PRECISIONS[plan.precision]}")(plan.handle(sign), idata, odata)
