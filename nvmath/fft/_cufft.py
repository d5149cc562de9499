"""Transforms on a GPU through cuFFT."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final

from .._core import kernels
from .._core.arrays import Adapter
from .._core.dtypes import DType
from .._core.layout import Ints
from .._core.lifetime import Closing
from .._core.log import readable
from .._core.place import Cuda, cuda, discard
from ..bindings import _seam, cufft
from ._callback_pair import CallbackPair
from ._callback_rules import FIRST_WITH_LTO_CALLBACKS, refuse_wrong_results, require_callback_support
from ._options import FFTDirection
from ._passes import Capability, Clean, Columns, Load, Move, Passes, Store, Transform, backwards, lower
from ._plan import Call, launch_of
from ._primes import lengths_with_large_primes
from ._problem import FFTProblem

_NOT_SUPPORTED: Final = 16
_LOOP_LIMIT: Final = 8

# Half precision is computed in single: cuFFT's own has powers of two only, and overflows inside of a transform.
CAPABILITY: Final = Capability(
    max_rank=3,
    nested=True,
    c2r_rank=1,
    preserves_c2r=lambda rank: False,
    ignores_imaginary=False,  # from about 2048 points on it does not
    paired=True,
    half=lambda problem: False,
    loop_limit=lambda work: _LOOP_LIMIT,
)


def capability_of(place: Cuda) -> Capability:
    """What cuFFT can do in one call, and what our own kernel does on this GPU where there are callbacks."""
    from ._columns import pays  # most transforms have no callbacks

    return replace(CAPABILITY, columns=lambda step: pays(place.device_id, step))


class CudaMover:
    """Copies, scalings, callbacks, scratch memory and transforms along columns on a GPU."""

    def __init__(self, place: Cuda, adapter: Adapter, callbacks: CallbackPair) -> None:
        self.place, self.device, self.adapter, self.callbacks = place, place.device_id, adapter, callbacks
        self.kept: list[Any] = []

    def move(self, step: Move) -> Call:
        """Return the function that runs a copy."""
        return kernels.move(
            self.device, step.shape, step.in_strides, step.out_strides, step.in_dtype, step.out_dtype, step.zero_nbytes
        )  # fmt: skip

    def load(self, step: Load) -> Call:
        """Return the function that applies the prolog."""
        from ._device_callbacks import load

        data = self.callbacks.data
        run = load(self.callbacks.pair[0], self.device, step.shape, step.in_strides, step.out_strides)
        return lambda source, target, stream: run(source, target, data[0], stream)

    def store(self, step: Store) -> Call:
        """Return the function that applies the epilog."""
        from ._device_callbacks import store

        data = self.callbacks.data
        run = store(self.callbacks.pair[1], self.device, step.shape, step.strides)
        return lambda source, target, stream: run(target, data[1], stream)

    def columns(self, step: Columns, direction: FFTDirection) -> Call:
        """Return the function that transforms columns, callbacks included."""
        from . import _columns

        recipe = _columns.recipe_of(step, _columns.limits_of(self.device))
        assert recipe is not None
        data = self.callbacks.data
        inverse = direction is FFTDirection.INVERSE
        run = _columns.ColumnTransform(self.device, recipe, step, inverse, self.callbacks.pair)
        return lambda source, target, stream: run(source, target, data[0], data[1], stream)

    def clean(self, step: Clean) -> Call:
        """Return the function that clears imaginary parts."""
        return kernels.clean(self.device, step.shape, step.strides, step.dtype)

    def scale(self, shape: Ints, strides: Ints, dtype: DType, factor: float) -> Call:
        """Return the function that scales a result."""
        return kernels.scale(self.device, shape, strides, dtype, factor)

    def scratch(self, nbytes: int, *stream: int) -> tuple[int, Any]:
        """Take memory in the order of a stream; a graph that is being captured will use it whenever it is replayed."""
        block = self.adapter.allocate(nbytes, self.device, *stream)
        if self.place.capturing(*stream):
            self.kept.append(block)
        return block


@dataclass(slots=True)
class _Handle:
    """One cuFFT plan, and the stream that it is set to."""

    number: int
    stream: int = -1


class CufftPlan(Closing):
    """The cuFFT plans of one problem, both directions; they share one work area."""

    def __init__(self, problem: FFTProblem, place: Cuda, callbacks: CallbackPair, adapter: Adapter) -> None:
        callbacks.require_place("cuda")
        self.problem, self.place, self.callbacks = problem, place, callbacks
        self.mover = CudaMover(place, adapter, callbacks)
        self.inlined = inlines(problem, callbacks)
        if any(self.inlined):
            _check_inlining(problem, self.inlined)
        self.passes: Passes = lower(
            problem, capability_of(place) if callbacks else CAPABILITY,
            prolog=callbacks.prolog and not self.inlined[0], epilog=callbacks.epilog and not self.inlined[1],
            single=any(self.inlined),
        )  # fmt: skip
        self.baked = list(callbacks.data)
        self.handles: dict[int, _Handle] = {}  # by the position of the step
        self.workspace_nbytes = self.nbytes = 0
        transforms = [i for i, step in enumerate(self.passes.steps) if isinstance(step, Transform)]
        try:
            with place.current():
                for i in transforms:
                    prolog = callbacks.pair[0] if self.inlined[0] and i == transforms[0] else None
                    epilog = callbacks.pair[1] if self.inlined[1] and i == transforms[-1] else None
                    step = self.passes.steps[i]
                    assert isinstance(step, Transform)
                    self._open(i, step, prolog, epilog)
        except BaseException:
            self.close()
            raise
        self.positions = {id(self.passes.steps[i]): i for i in transforms}

    def rebind(self, callbacks: CallbackPair) -> bool:
        """Use the data of other callbacks of the same code, unless cuFFT has compiled the old addresses in."""
        for inlined, old, new in zip(self.inlined, self.baked, callbacks.data, strict=True):
            if inlined and old != new:
                return False
        self.callbacks.take_data(callbacks)
        return True

    @property
    def description(self) -> str:
        """Who computes, for the log."""
        return f"cuFFT {cufft.get_version()}, {len(self.passes.steps)} step(s), workspace {readable(self.workspace_nbytes)}"

    @property
    def handle(self) -> int | None:
        """The first cuFFT handle."""
        return next((handle.number for handle in self.handles.values()), None)

    def _open(self, position: int, step: Transform, prolog: Any, epilog: Any) -> None:
        number = cufft.create()
        self.handles[position] = _Handle(number)
        cufft.set_auto_allocation(number, 0)
        capability = "".join(map(str, self.place.capability))
        for callback in (prolog, epilog):
            if callback is not None:
                code = callback.ltoir(capability)
                cufft.xt_set_jit_callback(number, None, code, len(code), callback.cufft_type, [callback.data])
        try:
            workspace_nbytes = cufft.xt_make_plan_many(number, *_arguments(step))
        except cufft.cuFFTError as error:
            if error.status == _NOT_SUPPORTED and (prolog or epilog):
                primes = lengths_with_large_primes(tuple(dim[0] for dim in step.dims))
                error.add_note(f"cuFFT does not support callbacks here; lengths with a prime factor above 127: {primes or 'none'}.")
            raise
        self.workspace_nbytes = max(self.workspace_nbytes, workspace_nbytes)
        self.nbytes += _table_nbytes(step)

    def attach(self, workspace: int) -> None:
        """Use a work area from now on."""
        for handle in self.handles.values():
            cufft.set_work_area(handle.number, workspace)

    def launch(self, direction: FFTDirection) -> Call:
        """Return the function that computes the problem in one direction."""
        with self.place.current():
            return launch_of(self.problem, self.passes, self, self.mover, direction)

    def call(self, step: Transform, direction: FFTDirection) -> Call:
        """Return the function that runs one transform."""
        handle = self.handles[self.positions[id(step)]]
        number, sign = handle.number, int(direction)
        execute, set_stream = cufft.xt_exec, cufft.set_stream

        def run(source: int, target: int, stream: int) -> None:
            if stream != handle.stream:
                set_stream(number, stream)
                handle.stream = stream
            execute(number, source, target, sign)

        if not step.loop:
            return run
        extents = tuple(dim[0] for dim in step.loop)
        sizes = _itemsizes(step)
        none = (0,) * len(step.loop)
        offsets = none, tuple(dim[1] * sizes[0] for dim in step.loop), tuple(dim[2] * sizes[1] for dim in step.loop), none

        def run_loop(source: int, target: int, stream: int) -> None:
            if stream != handle.stream:
                set_stream(number, stream)
                handle.stream = stream
            _seam.repeat(execute, extents, offsets, (number, source, target, sign))

        return run_loop

    def close(self) -> None:
        """Queue the handles for destruction."""
        handles, self.handles = self.handles, {}
        for handle in handles.values():
            discard(cufft.destroy, handle.number)


def _table_nbytes(step: Transform) -> int:
    """What a plan of cuFFT owns: next to nothing, but where it convolves, tables of 4 n elements (measured with cuFFT 12.0)."""
    return sum(4 * n * step.precision.complex.itemsize for n in lengths_with_large_primes(tuple(dim[0] for dim in step.dims)))


def _itemsizes(step: Transform) -> tuple[int, int]:
    real = step.precision.itemsize
    return (real if step.kind == "R2C" else 2 * real), (real if step.kind == "C2R" else 2 * real)


def _arguments(step: Transform) -> tuple[Any, ...]:
    """The arguments of ``cufftXtMakePlanMany`` behind the handle."""
    real, complex_ = step.precision.code, step.precision.complex.code
    in_type, out_type = (real if step.kind == "R2C" else complex_), (real if step.kind == "C2R" else complex_)
    lengths = tuple(dim[0] for dim in step.dims)
    inembed, onembed = step.embed
    count, idist, odist = step.batch
    _, istride, ostride = step.dims[-1]
    idist, odist = idist or prod(inembed) * istride, odist or prod(onembed) * ostride
    return (
        len(lengths), lengths, inembed, istride, idist, in_type, onembed, ostride, odist, out_type, count, in_type
    )  # fmt: skip


_INLINED_POINTS: Final = 4096
_INLINED_ELEMENTS: Final = 1 << 16


def inlines(problem: FFTProblem, callbacks: CallbackPair) -> tuple[bool, bool]:
    """Decide which callbacks cuFFT shall inline into its own kernels.

    There are three ways, and callbacks go the first that fits:

    - into a kernel of cuFFT, decided here. With callbacks cuFFT uses other kernels than its ordinary ones. Measured on an H200 with
      cuFFT 12.0, they are faster than an ordinary one and a kernel for the callback together (0.6 to 0.75 of the time) where rows
      of up to 4096 points are contiguous, and slower (up to 2.5 times) elsewhere;
    - into our own kernel for the last pass along columns, where :mod:`._columns` has measured that it is faster (0.63 to 0.8 of the
      time of both kernels, 0.75 for a whole R2C transform of 4096 x 4096 with a filter);
    - into a kernel of their own, before or after cuFFT's: :mod:`._device_callbacks`.

    Linking takes about a second, which small transforms do not earn back. The spectrum that a C2R transform reads must be cleaned
    behind its prolog. cuFFT compiles the addresses of the data in; the other two take them at every launch.
    """
    rows = (
        len(problem.axes) == 1
        and problem.points <= _INLINED_POINTS
        and prod(problem.shape) >= _INLINED_ELEMENTS
        and not lengths_with_large_primes(problem.lengths)
        and problem.in_strides[problem.axes[0]] == problem.out_strides[problem.axes[0]] == 1
        and problem.shape == problem.source_shape
        and not (callbacks.prolog and backwards(problem))
        and problem.precision.name != "float16"
        and cufft.get_version() >= FIRST_WITH_LTO_CALLBACKS
    )
    return callbacks.prolog and rows and problem.kind != "C2R", callbacks.epilog and rows


def _check_inlining(problem: FFTProblem, inlined: tuple[bool, bool]) -> None:
    version = cufft.get_version()
    require_callback_support(version)
    real_side = (problem.kind == "R2C" and inlined[0]) or (problem.kind == "C2R" and inlined[1])
    refuse_wrong_results(version, problem.kind, problem.lengths, problem.precision.name, real_side)


def estimate(arguments: tuple[Any, ...], technique: str, handle: int | None, device: int) -> int:
    """Return the workspace that cuFFT estimates for the plan arguments of a key."""
    rank, n, inembed, istride, idist, in_type, onembed, ostride, odist, out_type, batch, exec_type = arguments
    if technique == "refined":
        if handle is None:
            raise ValueError(
                "technique='refined' needs a handle: make one with nvmath.bindings.cufft.create() on the device, and destroy it "
                "afterwards with nvmath.bindings.cufft.destroy()."
            )
        return int(
            cufft.xt_get_size_many(
                handle, rank, n, inembed, istride, idist, in_type, onembed, ostride, odist, out_type, batch, exec_type
            )
        )
    kinds = {(4, 4): 41, (0, 4): 42, (4, 0): 44, (5, 5): 105, (1, 5): 106, (5, 1): 108}
    kind = kinds.get((int(in_type), int(out_type)))
    if kind is None:
        raise ValueError("cuFFT estimates single and double precision only; pass technique='refined' and a handle.")
    with cuda(device).current():
        return int(cufft.estimate_many(rank, n, inembed, istride, idist, onembed, ostride, odist, kind, batch))
