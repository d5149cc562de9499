"""Lowering: any FFT as a short list of steps that a library can do.

A library transforms a few axes over one batch dimension in one call, and reads some layouts only. What it cannot do in one call is
done by several calls (more axes), by a loop of calls (more batch dimensions) or through a packed copy (other layouts). All of
this is decided here, once, on integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from .._core.dtypes import DTYPES, DType
from .._core.layout import Dim, Ints, dense, is_dense, merge, stride_order
from ._problem import FFTProblem

INPUT: Final = 0
OUTPUT: Final = 1
SCRATCH: Final = 2  # and above


@dataclass(frozen=True, slots=True)
class Columns:
    """Transform columns that lie beside each other, one element apart, `outer` times; strides in elements.

    The callbacks are part of it: they see offsets into `source` and `target`.
    """

    source: int
    target: int
    precision: DType
    length: int
    width: int
    outer: int
    in_row: int
    in_outer: int
    out_row: int
    out_outer: int
    prolog: bool = False
    epilog: bool = False


def _no_columns(step: Columns) -> bool:
    """Nothing is gained: there is no kernel of our own beside the library."""
    return False


@dataclass(frozen=True, slots=True)
class Capability:
    """What one call of a library can do."""

    max_rank: int
    nested: bool  # transformed axes must nest with positive strides, as in the "many" interface
    c2r_rank: int  # how many axes a C2R call may have; more are transformed by a C2C call before
    preserves_c2r: Callable[[int], bool]  # by number of axes: whether a C2R call leaves its input alone
    ignores_imaginary: bool  # whether C2R ignores the imaginary parts that the spectrum of a real signal cannot have
    paired: bool  # whether real data must lie at multiples of the complex size
    half: Callable[[FFTProblem], bool]  # whether half precision of this problem is native
    loop_limit: Callable[[int], int]  # by elements of one call: how many calls in a row are better than a copy
    negative: bool = True  # strides may be negative
    columns: Callable[[Columns], bool] = _no_columns  # whether a kernel of our own beats a call and a step for the callback


@dataclass(frozen=True, slots=True)
class Move:
    """Copy elements between two buffers, converting the dtype."""

    source: int
    target: int
    shape: Ints
    in_strides: Ints
    out_strides: Ints
    in_dtype: DType
    out_dtype: DType
    zero_nbytes: int = 0  # clear that much of the target first


@dataclass(frozen=True, slots=True)
class Transform:
    """One library call, or a loop of the same call over `loop`; strides in elements of the side that they belong to."""

    kind: str
    precision: DType
    source: int
    target: int
    dims: tuple[Dim, ...]  # (length, input stride, output stride), slowest first, the halved axis last
    embed: tuple[Ints, Ints]  # extents of the storage of `dims`, input and output (nested libraries only)
    batch: Dim
    loop: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """Apply a prolog to every element of one buffer, into another."""

    source: int
    target: int
    shape: Ints
    in_strides: Ints
    out_strides: Ints
    dtype: DType


@dataclass(frozen=True, slots=True)
class Store:
    """Apply an epilog to every element of a buffer, in place."""

    source: int
    target: int
    shape: Ints
    strides: Ints
    dtype: DType


@dataclass(frozen=True, slots=True)
class Clean:
    """Clear imaginary parts in a buffer."""

    source: int
    target: int
    shape: Ints
    strides: Ints
    dtype: DType


Step = Move | Transform | Columns | Load | Store | Clean


@dataclass(frozen=True, slots=True)
class Passes:
    """The steps of one FFT and the scratch memory that they need."""

    steps: tuple[Step, ...]
    scratch: tuple[int, ...]  # bytes of buffer SCRATCH, SCRATCH + 1, ...
    first_strides: Ints  # layout that the first transform reads
    scaled: bool

    @property
    def direct(self) -> bool:
        """Whether it is a single call on the operand and the result."""
        return (
            len(self.steps) == 1
            and isinstance(self.steps[0], Transform)
            and not self.steps[0].loop
            and not self.scratch
            and not self.scaled
        )

    @property
    def copies(self) -> int:
        """How many steps only move data."""
        return sum(isinstance(step, Move) for step in self.steps)

    @property
    def looped(self) -> bool:
        """Whether a library call is repeated."""
        return any(isinstance(step, Transform) and step.loop for step in self.steps)


@dataclass(frozen=True, slots=True)
class _Side:
    buffer: int
    shape: Ints
    strides: Ints


def lower(
    problem: FFTProblem, library: Capability, *, prolog: bool = False, epilog: bool = False, single: bool = False
) -> Passes:
    """Decide the steps of a problem for a library.

    Parameters
    ----------
    problem : FFTProblem
        What to compute.
    library : Capability
        What one call can do.
    prolog, epilog : bool
        Callbacks to be applied by steps of our own.
    single : bool
        Callbacks are inlined into the library's calls: they see flat offsets, so every transform must be one call.

    Raises
    ------
    ValueError
        `single` is asked and the problem needs a loop of calls.
    """
    scaled = problem.norm is not None and not problem.empty
    if problem.empty:
        return Passes((), (), problem.in_strides, scaled)
    if (prolog or epilog) and not single and (passes := _by_columns(problem, library, prolog, epilog)):
        return replace(passes, scaled=scaled)
    if prolog:
        return replace(_behind_prolog(problem, library, epilog, single), scaled=scaled)
    half = problem.precision.name == "float16" and not library.half(problem)
    precision = DTYPES["float32"] if half else problem.precision
    passes = _Lowering(problem, library, precision, converted=half, single=single).run()
    steps = passes.steps
    if epilog:
        steps = (*steps, Store(OUTPUT, OUTPUT, problem.out_shape, problem.out_strides, problem.out_dtype))
    return Passes(steps, passes.scratch, passes.first_strides, scaled)


def _by_columns(problem: FFTProblem, library: Capability, prolog: bool, epilog: bool) -> Passes | None:
    """Lower with the callbacks inside of a last pass along columns, unless that takes more copies or calls than without.

    The epilog belongs to the last pass. A prolog belongs to it only where it is the first one too, and reads the operand itself.
    """
    lengths = dict(zip(problem.axes, problem.lengths, strict=True))
    axes = [axis for axis in problem.axes if lengths[axis] != 1]
    if problem.kind == "R2C":
        axes = [axis for axis in axes if axis != problem.axes[-1]]
    if problem.kind == "C2R" or not axes:
        return None
    only = problem.kind == "C2C" and len(axes) == 1
    if prolog and not (only and problem.shape == problem.source_shape and not backwards(problem)):
        return None
    slowest = max(axes, key=lambda axis: abs(problem.out_strides[axis]))
    passes = _Lowering(problem, library, problem.precision, column=slowest).unpacked()
    if passes is None or passes.looped:
        return None
    copies = 0 if prolog else _Lowering(problem, library, problem.precision).run().copies
    if passes.copies > copies:
        return None
    *before, last = passes.steps
    assert isinstance(last, Columns)
    return replace(passes, steps=(*before, replace(last, prolog=prolog, epilog=epilog)))


def backwards(problem: FFTProblem) -> bool:
    """Whether the operand runs backwards along an axis: a prolog would see offsets below zero, and read its data there."""
    return any(stride < 0 and extent > 1 for stride, extent in zip(problem.source_strides, problem.source_shape, strict=True))


def _behind_prolog(problem: FFTProblem, library: Capability, epilog: bool, single: bool) -> Passes:
    """Lower the transform of what a prolog makes of the operand (cropped or padded before)."""
    layout = dense(problem.shape, stride_order(problem.shape, problem.in_strides))
    inner = replace(problem, source_shape=problem.shape, source_strides=layout, in_strides=layout, inplace=False)
    passes = lower(replace(inner, norm=None), library, epilog=epilog, single=single)
    nbytes = prod(problem.shape) * problem.in_dtype.itemsize
    made = SCRATCH + len(passes.scratch)
    steps: list[Step] = []
    scratch, source, strides = [*passes.scratch, nbytes], INPUT, problem.in_strides
    if problem.shape != problem.source_shape or backwards(problem):
        source, strides = made + 1, layout
        scratch.append(nbytes)
        steps.append(_resizing(problem, source, strides, problem.in_dtype))
    steps.append(Load(source, made, problem.shape, strides, layout, problem.in_dtype))
    for step in passes.steps:
        steps.append(replace(step, source=made) if step.source == INPUT else step)
    return Passes(tuple(steps), tuple(scratch), strides, scaled=False)


def _resizing(problem: FFTProblem, target: int, strides: Ints, dtype: DType) -> Move:
    """Copy the operand into a buffer of the cropped or padded shape."""
    common = tuple(map(min, problem.source_shape, problem.shape))
    zero_nbytes = prod(problem.shape) * dtype.itemsize if common != problem.shape else 0
    return Move(INPUT, target, common, problem.source_strides, strides, problem.in_dtype, dtype, zero_nbytes)


class _Lowering:
    def __init__(
        self,
        problem: FFTProblem,
        library: Capability,
        precision: DType,
        *,
        converted: bool = False,
        single: bool = False,
        column: int | None = None,
    ) -> None:
        self.problem, self.library, self.precision, self.converted, self.single = (
            problem, library, precision, converted, single
        )  # fmt: skip
        self.column = column  # the axis that is transformed last, by a kernel of our own
        self.in_dtype = precision if problem.kind == "R2C" else precision.complex
        self.out_dtype = precision if problem.kind == "C2R" else precision.complex
        self.chunks = _chunks(problem, library, column)

    def run(self) -> Passes:
        return self.unpacked() or self.through_packed()

    def unpacked(self) -> Passes | None:
        """The steps without a copy of the result, or nothing when it must be copied."""
        problem = self.problem
        source = _Side(INPUT, problem.source_shape, problem.source_strides)
        target = _Side(INPUT if problem.inplace else OUTPUT, problem.out_shape, problem.out_strides)
        resized = problem.shape != problem.source_shape
        overwritten = problem.kind == "C2R" and (
            len(self.chunks) > 1
            or not self.library.preserves_c2r(len(self.chunks[0]))
            or not self.library.ignores_imaginary
        )
        if not (resized or self.converted or overwritten) and (calls := self.calls(source, target)):
            return Passes(tuple(calls), (), problem.in_strides, scaled=False)
        if overwritten and len(self.chunks) > 1 and not (resized or self.converted):
            for strides in self.input_layouts():
                middle = _Side(SCRATCH, problem.shape, strides)
                if calls := self.calls(middle, target, origin=source):
                    return self.passes(calls, problem.in_strides, (middle,))
        if not self.converted:
            for strides in self.input_layouts():
                in_place = problem.kind == "C2C" and not problem.inplace and strides == problem.out_strides
                copy = _Side(OUTPUT if in_place else SCRATCH, problem.shape, strides)
                if calls := self.calls(copy, target):
                    return self.passes([self.move_in(copy), *calls], copy.strides, () if in_place else (copy,))
        return None

    def input_layouts(self) -> list[Ints]:
        """Dense layouts of a copy of the input that are worth trying, the most useful first."""
        problem = self.problem
        layouts = [dense(problem.shape, stride_order(problem.shape, problem.in_strides))]
        if problem.kind == "C2C" and is_dense(problem.out_shape, problem.out_strides):
            layouts.append(problem.out_strides)
        layouts.append(self.packed(problem.shape))
        return layouts

    def packed(self, shape: Ints) -> Ints:
        """Transformed axes fastest, the halved one first of all; batch axes in the order of the result."""
        problem = self.problem
        batch = [axis for axis in stride_order(problem.out_shape, problem.out_strides) if axis not in problem.axes]
        return dense(shape, (*problem.axes[::-1], *batch))

    def through_packed(self) -> Passes:
        problem = self.problem
        copy = _Side(SCRATCH, problem.shape, self.packed(problem.shape))
        same = problem.kind == "C2C"
        result = _Side(SCRATCH if same else SCRATCH + 1, problem.out_shape, self.packed(problem.out_shape))
        calls = self.calls(copy, result) or ([] if self.single else self.calls(copy, result, unlimited=True))
        if not calls:
            raise ValueError(
                f"Callbacks are not possible for {problem}: it needs a loop of library calls. Transform at most "
                f"{2 * self.library.max_rank} axes at a time."
            )
        unpack = Move(
            result.buffer, OUTPUT, problem.out_shape, result.strides, problem.out_strides, self.out_dtype, problem.out_dtype
        )  # fmt: skip
        return self.passes([self.move_in(copy), *calls, unpack], copy.strides, (copy,) if same else (copy, result))

    def move_in(self, copy: _Side) -> Move:
        return _resizing(self.problem, copy.buffer, copy.strides, self.in_dtype)

    def passes(self, steps: list[Step], first: Ints, scratch: Sequence[_Side]) -> Passes:
        itemsizes = (self.in_dtype.itemsize, self.out_dtype.itemsize)
        sizes = tuple(prod(side.shape) * itemsizes[side.buffer - SCRATCH] for side in scratch)
        return Passes(tuple(steps), sizes, first, scaled=False)

    def calls(
        self, source: _Side, target: _Side, *, origin: _Side | None = None, unlimited: bool = False
    ) -> list[Step]:
        """The transforms from one side to the other, or nothing when a call cannot read or write the layouts.

        A C2R transform by several calls works inside of `source`, unless the first one reads `origin`.
        """
        kind = self.problem.kind
        result: list[Step | None] = []
        if kind == "C2R":
            for chunk in self.chunks[:-1]:
                result.append(self.call("C2C", chunk, origin or source, source, unlimited))
                origin = None
            if not self.library.ignores_imaginary:
                result.append(self.clean(source))
            result.append(self.call("C2R", self.chunks[-1], source, target, unlimited))
        else:
            for chunk in reversed(self.chunks):
                if chunk == (self.column,):
                    result.append(self.columns(source, target))
                else:
                    result.append(self.call(kind, chunk, source, target, unlimited))
                kind, source = "C2C", target
        return [] if None in result else [call for call in result if call is not None]

    def clean(self, side: _Side) -> Clean:
        """Frequency 0 and, for an even length, the highest one are real along the halved axis."""
        axis, length = self.problem.axes[-1], self.problem.lengths[-1]
        even = length % 2 == 0
        shape = tuple(1 + even if k == axis else extent for k, extent in enumerate(side.shape))
        strides = tuple(stride * (length // 2) if k == axis else stride for k, stride in enumerate(side.strides))
        return Clean(side.buffer, side.buffer, shape, strides, self.in_dtype)

    def columns(self, source: _Side, target: _Side) -> Columns | None:
        """The pass along one axis by our own kernel, where it can walk the layouts and gains by it."""
        axis = self.column
        assert axis is not None
        rest = merge(dim for k, dim in enumerate(zip(source.shape, source.strides, target.strides, strict=True)) if k != axis)
        *outer, (width, *beside) = rest or [(1, 1, 1)]
        if beside != [1, 1] or len(outer) > 1:
            return None
        ((count, in_outer, out_outer),) = outer or [(1, 0, 0)]
        step = Columns(
            source.buffer, target.buffer, self.precision, source.shape[axis], width, count,
            source.strides[axis], in_outer, target.strides[axis], out_outer,
        )  # fmt: skip
        return step if self.library.columns(step) else None

    def call(self, kind: str, axes: Ints, source: _Side, target: _Side, unlimited: bool) -> Transform | None:
        problem = self.problem
        lengths = dict(zip(problem.axes, problem.lengths, strict=True))
        kept = [axis for axis in axes[:-1] if lengths[axis] != 1]
        if kind != "C2C" or lengths[axes[-1]] != 1 or not kept:
            kept.append(axes[-1])
        if kind == "C2C":
            kept.sort(key=lambda axis: (-abs(source.strides[axis]), -abs(target.strides[axis])))
        dims = tuple((lengths[axis], source.strides[axis], target.strides[axis]) for axis in kept)
        rest = [axis for axis in range(len(problem.shape)) if axis not in axes]
        batch = merge((source.shape[axis], source.strides[axis], target.strides[axis]) for axis in rest)
        embed: tuple[Ints, Ints] = ((), ())
        if self.library.nested:
            inner, outer = _embed(source, kept), _embed(target, kept)
            if inner is None or outer is None:
                return None
            embed = inner, outer
            usable = [dim for dim in batch if dim[1] > 0 and dim[2] > 0]
        else:
            if not all(map(self.readable, dims)):
                return None
            usable = [dim for dim in batch if self.readable(dim)]
        main = max(usable, key=lambda dim: (dim[0], -abs(dim[2])), default=(1, 0, 0))
        loop = tuple(dim for dim in batch if dim != main)
        if self.library.paired and kind != "C2C" and any(dim[1 if kind == "R2C" else 2] % 2 for dim in loop):
            return None
        count = prod(dim[0] for dim in loop)
        work = prod(dim[0] for dim in dims) * main[0]
        if loop and not unlimited and (self.single or count > self.library.loop_limit(work)):
            return None
        return Transform(kind, self.precision, source.buffer, target.buffer, dims, embed, main, loop)

    def readable(self, dim: Dim) -> bool:
        """Whether a library without nesting can walk a dimension; none reads one element as many points."""
        extent, *strides = dim
        return extent == 1 or (0 not in strides and (self.library.negative or min(strides) > 0))


def _embed(side: _Side, axes: list[int]) -> Ints | None:
    """Storage extents of nested axes, slowest first, or None when they do not nest."""
    if any(side.strides[axis] <= 0 for axis in axes):
        return None
    extents = [side.shape[axes[0]]]
    for slow, fast in zip(axes, axes[1:], strict=False):
        extent, rest = divmod(side.strides[slow], side.strides[fast])
        if rest or extent < side.shape[fast]:
            return None
        extents.append(extent)
    return tuple(extents)


def _chunks(problem: FFTProblem, library: Capability, column: int | None) -> list[Ints]:
    """Split the transformed axes into groups for one call each; the last one holds the halved axis, and `column` is the first one.

    Axes of length 1 do not count: transforming along them changes nothing.
    """
    *others, last = problem.axes
    lengths = dict(zip(problem.axes, problem.lengths, strict=True))
    long = [axis for axis in others if lengths[axis] != 1]
    if problem.kind == "C2C":
        strides = problem.in_strides
        ordered = sorted((*long, last), key=lambda axis: (-abs(strides[axis]), axis))
        if len(ordered) > 1 and lengths[last] == 1:
            ordered.remove(last)
    else:
        ordered = [*long, last]
    if column is not None:
        ordered.remove(column)
    chunks: list[Ints] = []
    rank = library.c2r_rank if problem.kind == "C2R" else library.max_rank
    while ordered:
        chunks.insert(0, tuple(ordered[-rank:]))
        ordered, rank = ordered[:-rank], library.max_rank
    return chunks if column is None else [(column,), *chunks]
