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


Step = Move | Transform | Load | Store | Clean


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
        Callbacks to be applied by steps of their own.
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
    if prolog:
        passes = _behind_prolog(problem, library, single)
    else:
        half = problem.precision.name == "float16" and not library.half(problem)
        precision = DTYPES["float32"] if half else problem.precision
        passes = _Lowering(problem, library, precision, converted=half, single=single).run()
    steps = passes.steps
    if epilog:
        steps = (*steps, Store(OUTPUT, OUTPUT, problem.out_shape, problem.out_strides, problem.out_dtype))
    return Passes(steps, passes.scratch, passes.first_strides, scaled)


def _behind_prolog(problem: FFTProblem, library: Capability, single: bool) -> Passes:
    """Lower the transform of what a prolog makes of the operand (cropped or padded before)."""
    layout = dense(problem.shape, stride_order(problem.shape, problem.in_strides))
    inner = replace(problem, source_shape=problem.shape, source_strides=layout, in_strides=layout, inplace=False)
    passes = lower(replace(inner, norm=None), library, single=single)
    nbytes = prod(problem.shape) * problem.in_dtype.itemsize
    made = SCRATCH + len(passes.scratch)
    steps: list[Step] = []
    scratch, source = [*passes.scratch, nbytes], INPUT
    if problem.shape != problem.source_shape:
        source = made + 1
        scratch.append(nbytes)
        steps.append(_resizing(problem, source, problem.in_strides, problem.in_dtype))
    steps.append(Load(source, made, problem.shape, problem.in_strides, layout, problem.in_dtype))
    for step in passes.steps:
        steps.append(replace(step, source=made) if step.source == INPUT else step)
    return Passes(tuple(steps), tuple(scratch), problem.in_strides, scaled=False)


def _resizing(problem: FFTProblem, target: int, strides: Ints, dtype: DType) -> Move:
    """Copy the operand into a buffer of the cropped or padded shape."""
    common = tuple(map(min, problem.source_shape, problem.shape))
    zero_nbytes = prod(problem.shape) * dtype.itemsize if common != problem.shape else 0
    return Move(INPUT, target, common, problem.source_strides, strides, problem.in_dtype, dtype, zero_nbytes)


class _Lowering:
    def __init__(
        self, problem: FFTProblem, library: Capability, precision: DType, *, converted: bool, single: bool
    ) -> None:
        self.problem, self.library, self.precision, self.converted, self.single = (
            problem, library, precision, converted, single
        )  # fmt: skip
        self.in_dtype = precision if problem.kind == "R2C" else precision.complex
        self.out_dtype = precision if problem.kind == "C2R" else precision.complex
        self.chunks = _chunks(problem, library)

    def run(self) -> Passes:
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
        return self.through_packed(target)

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

    def through_packed(self, target: _Side) -> Passes:
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
            result.buffer, OUTPUT, problem.out_shape, result.strides, target.strides, self.out_dtype, problem.out_dtype
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
            result.append(self.call(kind, self.chunks[-1], source, target, unlimited))
            for chunk in self.chunks[-2::-1]:
                result.append(self.call("C2C", chunk, target, target, unlimited))
        return [] if None in result else [call for call in result if call is not None]

    def clean(self, side: _Side) -> Clean:
        """Frequency 0 and, for an even length, the highest one are real along the halved axis."""
        axis, length = self.problem.axes[-1], self.problem.lengths[-1]
        even = length % 2 == 0
        shape = tuple(1 + even if k == axis else extent for k, extent in enumerate(side.shape))
        strides = tuple(stride * (length // 2) if k == axis else stride for k, stride in enumerate(side.strides))
        return Clean(side.buffer, side.buffer, shape, strides, self.in_dtype)

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


def _chunks(problem: FFTProblem, library: Capability) -> list[Ints]:
    """Split the transformed axes into groups for one call each; the last one holds the halved axis.

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
    chunks: list[Ints] = []
    rank = library.c2r_rank if problem.kind == "C2R" else library.max_rank
    while ordered:
        chunks.insert(0, tuple(ordered[-rank:]))
        ordered, rank = ordered[:-rank], library.max_rank
    return chunks
