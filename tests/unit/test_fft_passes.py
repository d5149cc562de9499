"""Lowering: whatever a library can and cannot do, the steps compute the transform and spare the operand.

The libraries here are imitations over NumPy that do what their :class:`Capability` promises and nothing more: they check the
layouts that they are given, destroy what they may destroy, and read every argument as the interface that they imitate does.
"""

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import oracles
import pytest
from columns_on_host import Emulation
from fft_cases import Case, cases, examples
from frameworks import BY_NAME, row_major, storage
from hypothesis import given
from hypothesis import strategies as st

from nvmath._core import kernels_host
from nvmath._core.dtypes import DTYPES, dtype
from nvmath.fft import FFTDirection, FFTOptions
from nvmath.fft._columns import Limits, recipe_of
from nvmath.fft._passes import INPUT, OUTPUT, Capability, Columns, Load, Move, Store, Transform, lower
from nvmath.fft._plan import launch_of
from nvmath.fft._problem import specify

NUMPY = BY_NAME["numpy"]


class HostMover:
    columns = None
    move = staticmethod(
        lambda step: kernels_host.move(
            step.shape, step.in_strides, step.out_strides, step.in_dtype, step.out_dtype, step.zero_nbytes
        )
    )
    clean = staticmethod(lambda step: kernels_host.clean(step.shape, step.strides, step.dtype))
    scale = staticmethod(kernels_host.scale)

    @staticmethod
    def scratch(nbytes):
        block = np.full(nbytes // 4 + 4, np.nan, np.float32)  # what is not written must not be read
        start = -block.ctypes.data % 16
        return block.ctypes.data + start, block


def many_arguments(step):
    """What cuFFT is given: (rank, n, inembed, istride, idist, onembed, ostride, odist, batch)."""
    from nvmath.fft._cufft import _arguments

    rank, n, inembed, istride, idist, _, onembed, ostride, odist, _, batch, _ = _arguments(step)
    return rank, n, inembed, istride, idist, onembed, ostride, odist, batch


def embedded_strides(embed, stride):
    """The strides that storage extents mean in the "many" interface."""
    strides = [stride]
    for extent in embed[:0:-1]:
        strides.insert(0, strides[0] * extent)
    return tuple(strides)


class Imitation:
    """A library that does what its capability promises, on host memory."""

    def __init__(self, capability):
        self.capability = capability

    def call(self, step, direction):
        promised = self.capability
        assert 1 <= len(step.dims) <= (promised.c2r_rank if step.kind == "C2R" else promised.max_rank)
        count, *distances = step.batch
        if promised.nested:
            rank, lengths, inembed, istride, idist, onembed, ostride, odist, count = many_arguments(step)
            assert rank == len(lengths) == len(inembed) == len(onembed)
            strides = embedded_strides(inembed, istride), embedded_strides(onembed, ostride)
            distances = idist, odist
            assert min(istride, ostride, *inembed, *onembed, count) > 0
            assert count == 1 or min(distances) > 0
        else:
            lengths = tuple(dim[0] for dim in step.dims)
            strides = tuple(dim[1] for dim in step.dims), tuple(dim[2] for dim in step.dims)
            for side in strides:
                assert all(stride != 0 for stride, length in zip(side, lengths, strict=True) if length > 1)
            if not promised.negative:
                assert all(s > 0 for side in strides for s, n in zip(side, lengths, strict=True) if n > 1)
                assert count == 1 or min(distances) > 0
        assert count == 1 or 0 not in distances
        for extent, *_ in step.loop:
            assert extent > 1
        return self.runner(step, direction, lengths, strides, count, distances)

    def runner(self, step, direction, lengths, strides, count, distances):
        half = (*lengths[:-1], lengths[-1] // 2 + 1)
        real, complex_ = step.precision, DTYPES[step.precision.partner]
        in_dtype, out_dtype = real if step.kind == "R2C" else complex_, real if step.kind == "C2R" else complex_
        in_shape, out_shape = half if step.kind == "C2R" else lengths, half if step.kind == "R2C" else lengths
        axes = tuple(range(1, 1 + len(lengths)))

        def one(source, target):
            if self.capability.paired:
                for address, kind in ((source, in_dtype), (target, out_dtype)):
                    assert kind is complex_ or address % complex_.itemsize == 0
            values = kernels_host.array_at(source, (count, *in_shape), (distances[0], *strides[0]), in_dtype)
            result = kernels_host.array_at(target, (count, *out_shape), (distances[1], *strides[1]), out_dtype)
            if step.kind == "C2R":
                if not self.capability.ignores_imaginary:
                    assert not values[..., 0].imag.any()
                    assert lengths[-1] % 2 or not values[..., -1].imag.any()
                assert not np.shares_memory(values, result)
            got = oracles.fft(values, axes, step.kind, lengths, direction=int(direction))
            if step.kind == "C2R" and not self.capability.preserves_c2r(len(lengths)):
                values[...] = np.nan
            result[...] = got

        def run(source, target):
            assert (source == target) == (step.source == step.target)
            for index in product(*(range(extent) for extent, _, _ in step.loop)):
                moved = [sum(i * dim[side] for i, dim in zip(index, step.loop, strict=True)) for side in (1, 2)]
                one(source + moved[0] * in_dtype.itemsize, target + moved[1] * out_dtype.itemsize)

        return run


def capability(**changes):
    """By default: everything in one call."""
    everything = Capability(
        max_rank=32, nested=False, c2r_rank=32, preserves_c2r=lambda rank: True, ignores_imaginary=True, paired=False,
        half=lambda problem: False, loop_limit=lambda work: 8,
    )  # fmt: skip
    return replace(everything, **changes)


def cufft():
    from nvmath.fft._cufft import CAPABILITY

    return CAPABILITY


LIBRARIES = {
    "everything": capability,
    "cuFFT": cufft,
    "cuFFT that never loops": lambda: replace(cufft(), loop_limit=lambda work: 0),
    "cuFFT that always loops": lambda: replace(cufft(), loop_limit=lambda work: 1 << 30),
    "one axis at a time": lambda: capability(max_rank=1, c2r_rank=1, preserves_c2r=lambda rank: False),
    "nested, one axis at a time": lambda: replace(cufft(), max_rank=1, paired=False, ignores_imaginary=True),
    "two axes, C2R of two that destroys": lambda: capability(
        max_rank=2, c2r_rank=2, preserves_c2r=lambda rank: rank == 1
    ),
    "no negative strides": lambda: capability(
        negative=False, max_rank=3, c2r_rank=3, preserves_c2r=lambda rank: rank == 1
    ),
    "no loops": lambda: capability(loop_limit=lambda work: 0),
    "MKL": lambda: capability(max_rank=7, c2r_rank=1),
}


def problem_of(case: Case, *, inplace=False):
    options = FFTOptions(
        fft_type=case.kind, inplace=inplace, last_axis_parity=case.parity if case.kind == "C2R" else "even",
        result_layout=case.layout,
    )  # fmt: skip
    return specify(
        case.shape,
        case.strides,
        dtype(case.dtype),
        axes=case.axes,
        options=options,
        extents=case.extents,
        norm=case.norm,
    )


def aligned_storage(values, name, strides, offset):
    """Storage whose first element lies at a multiple of the complex size, as an operand of cuFFT does."""
    memory = storage(values, name, strides, offset)
    item = memory.flat[:1].nbytes
    flat = np.full(memory.flat.nbytes + 32, 0xFF, np.uint8)
    start = (-(flat.ctypes.data + memory.start * item)) % 16
    part = flat[start : start + memory.flat.nbytes].view(memory.flat.dtype).reshape(memory.flat.shape)
    part[...] = memory.flat
    return replace(memory, flat=part)


def compute(case, library, *, inplace=False):
    """Run the steps; return values, result, and whether anything else was written."""
    problem = problem_of(case, inplace=inplace)
    passes = lower(problem, library)
    values = case.values()
    memory = aligned_storage(values, case.dtype, case.strides, case.offset)
    before = memory.flat.tobytes()
    source = memory.flat.ctypes.data + memory.start * memory.flat[:1].nbytes
    call = launch_of(problem, passes, Imitation(library), HostMover, FFTDirection(case.direction))
    if inplace:
        call(source, source)
        return values, problem, memory.view()
    result = aligned_storage(np.full(problem.out_shape, np.nan), problem.out_dtype.name, problem.out_strides, 0)
    call(source, result.flat.ctypes.data)
    assert memory.flat.tobytes() == before, "the operand, or memory beside it, was written to"
    return values, problem, result.view()


@pytest.mark.parametrize("name", LIBRARIES)
@examples(120)
@given(data=st.data())
def test_the_steps_compute_the_transform(name, data):
    case = data.draw(cases(NUMPY, max_elements=1500))
    values, problem, got = compute(case, LIBRARIES[name]())
    assert problem.out_shape == case.result_shape
    oracles.assert_close(got, case.want(values), case.result_dtype, case.axes, case.points)


@pytest.mark.parametrize("name", LIBRARIES)
@examples(60)
@given(data=st.data())
def test_the_steps_compute_in_place(name, data):
    case = data.draw(cases(NUMPY, kinds=("C2C",), max_elements=1500, resized=False, zero_strides=False))
    values, _, got = compute(case, LIBRARIES[name](), inplace=True)
    oracles.assert_close(got, case.want(values), case.result_dtype, case.axes, case.points)


@pytest.mark.parametrize("name", ["everything", "cuFFT", "one axis at a time"])
@examples(60)
@given(data=st.data())
def test_half_precision_is_converted_once(name, data):
    framework = BY_NAME["torch-cpu"]
    case = data.draw(cases(framework, precisions=("complex32",), max_elements=500))
    values, problem, got = compute(case, LIBRARIES[name]())
    if problem.out_dtype.name == "complex32":
        got = got[..., 0].astype(np.float64) + 1j * got[..., 1]
    oracles.assert_close(got, case.want(values), case.result_dtype, case.axes, case.points)
    steps = lower(problem, LIBRARIES[name]()).steps
    assert [step for step in steps if isinstance(step, Move) and step.in_dtype is not step.out_dtype] == [
        steps[0],
        steps[-1],
    ]


# --- what it costs ----------------------------------------------------------------------------------------------------

# operand shape, strides or None, axes, kind -> is it one call of cuFFT on the operand and the result?
DIRECT = [
    ((8,), None, (0,), "C2C", True),
    ((4, 8), None, (1,), "C2C", True),
    ((4, 8), None, (0,), "C2C", True),
    ((4, 6, 8), None, (1, 2), "C2C", True),
    ((4, 6, 8), None, (2, 1), "C2C", True),
    ((4, 6, 8), None, (0, 1), "C2C", True),
    ((4, 6, 8), None, (0, 1, 2), "C2C", True),
    ((4, 6, 8), (1, 4, 24), (1, 2), "C2C", True),
    ((4, 6, 8), (96, 16, 2), (1, 2), "C2C", True),  # a[:, :, ::2]
    ((2, 4, 4), (72, 8, 1), (1, 2), "C2C", True),  # a[::2, 1:5, 2:6]: the slices are absorbed by the embedding
    ((4, 6, 8), None, (1, 2), "R2C", True),
    ((4, 6, 8), None, (2,), "R2C", True),
    ((4, 6, 8), None, (0,), "R2C", True),
    ((1, 6, 8), None, (1,), "C2C", True),
    ((4, 1, 8), None, (1, 2), "C2C", True),
    ((4, 6, 8), None, (2, 1), "R2C", False),  # the halved axis is not the fastest
    ((4, 6, 8), None, (0, 2), "C2C", True),  # the batch lies inside of the embedding
    ((4, 6, 8), None, (0, 2), "R2C", True),
    ((4, 6, 8), None, (1,), "C2C", False),
    ((4, 6, 8), (-48, 8, 1), (2,), "C2C", False),
    ((4, 6, 8), (0, 8, 1), (2,), "C2C", False),
    ((4, 8), (-8, -1), (1,), "C2C", False),
    ((4, 6, 8), None, (1, 2), "C2R", False),  # destroys its input
    ((2, 3, 4, 5), None, (0, 1, 2, 3), "C2C", False),
]


@pytest.mark.parametrize(("shape", "strides", "axes", "kind", "direct"), DIRECT)
def test_what_cufft_does_in_one_call(shape, strides, axes, kind, direct):
    operand = dtype("float64" if kind == "R2C" else "complex128")
    options = FFTOptions(fft_type=kind, result_layout="natural")
    problem = specify(shape, strides or row_major(shape), operand, axes=axes, options=options)
    passes = lower(problem, cufft())
    assert passes.direct is direct
    assert direct or passes.steps


def test_a_few_batches_are_a_loop_and_many_are_a_copy():
    def steps(middle):
        problem = specify((2, middle, 8), (100 * 8, 9, 1), dtype("complex128"), axes=(2,), options=FFTOptions())
        return lower(problem, cufft()).steps

    assert [type(step) for step in steps(3)] == [Transform]
    assert steps(3)[0].loop
    problem = specify((4, 99, 8), (1, 5, 600), dtype("complex128"), axes=(1,), options=FFTOptions())
    kinds = [type(step) for step in lower(problem, replace(cufft(), loop_limit=lambda work: 1)).steps]
    assert Move in kinds


def test_an_axis_of_one_costs_nothing():
    whole = specify((1, 1, 8, 1), (8, 8, 1, 1), dtype("complex128"), axes=(0, 1, 2, 3), options=FFTOptions())
    passes = lower(whole, capability(max_rank=1))
    assert len(passes.steps) == 1


def test_an_empty_batch_has_no_steps():
    problem = specify((0, 8), (8, 1), dtype("complex128"), axes=(1,), options=FFTOptions(), norm="ortho")
    assert lower(problem, cufft()).steps == ()
    call = launch_of(problem, lower(problem, cufft()), Imitation(cufft()), HostMover, FFTDirection.FORWARD)
    call(0, 0)


def test_callbacks_that_see_offsets_allow_no_loop():
    problem = specify((3, 5, 8), (100, 9, 1), dtype("complex128"), axes=(2,), options=FFTOptions())
    (step, *_) = [step for step in lower(problem, cufft(), single=True).steps if isinstance(step, Transform)]
    assert not step.loop
    impossible = specify(
        (2, 3, 2, 3, 2, 3, 2, 3), row_major((2, 3) * 4), dtype("complex128"), axes=range(8), options=FFTOptions()
    )
    with pytest.raises(ValueError, match="Callbacks are not possible"):
        lower(impossible, cufft(), single=True)


def test_scratch_is_as_large_as_what_lies_in_it():
    for shape, axes, kind in (((4, 6, 8), (1,), "C2C"), ((4, 6, 5), (2,), "C2R"), ((4, 6, 8), (2, 0), "R2C")):
        operand = dtype("float64" if kind == "R2C" else "complex128")
        problem = specify(shape, row_major(shape), operand, axes=axes, options=FFTOptions(fft_type=kind))
        for nbytes in lower(problem, cufft()).scratch:
            assert nbytes in (
                prod(problem.shape) * operand.itemsize,
                prod(problem.out_shape) * problem.out_dtype.itemsize,
            )


# --- callbacks --------------------------------------------------------------------------------------------------------

H200 = Limits((9, 0), 227 << 10)
KINDS = {"R2C": "float32", "C2C": "complex64", "C2R": "complex64"}


def offsets(shape, strides):
    """Of every element, from the first one."""
    return sum(
        np.arange(extent).reshape(-1, *[1] * (len(shape) - 1 - axis)) * stride
        for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True))
    )


def factors(shape, strides, phase=0.0):
    """What the callbacks multiply by: numbers that follow from the offsets."""
    return 1.5 + np.cos(phase + np.broadcast_to(offsets(shape, strides), shape))


class CallingMover(HostMover):
    """Callbacks that multiply, and the kernel for columns; a real recipe runs thread by thread."""

    def load(self, step):
        def run(source, target):
            values = kernels_host.array_at(source, step.shape, step.in_strides, step.dtype)
            result = kernels_host.array_at(target, step.shape, step.out_strides, step.dtype)
            result[...] = values * factors(step.shape, step.in_strides, 1.0)

        return run

    def store(self, step):
        def run(source, target):
            assert source == target
            values = kernels_host.array_at(target, step.shape, step.strides, step.dtype)
            values *= factors(step.shape, step.strides, 2.0)

        return run

    def columns(self, step, direction):
        shape, complex_ = (step.outer, step.length, step.width), DTYPES[step.precision.partner]
        in_strides, out_strides = (step.in_outer, step.in_row, 1), (step.out_outer, step.out_row, 1)
        inverse, recipe = direction is FFTDirection.INVERSE, recipe_of(step, H200)

        def run(source, target):
            assert (source == target) == (step.source == step.target)
            values = kernels_host.array_at(source, shape, in_strides, complex_)
            result = kernels_host.array_at(target, shape, out_strides, complex_)
            if step.prolog:
                values = values * factors(shape, in_strides, 1.0)
            if recipe:
                made = np.stack([Emulation(recipe, columns, inverse).run() for columns in values])
            else:
                made = oracles.fft(values, (1,), "C2C", (step.length,), direction=int(direction))
            result[...] = made * factors(shape, out_strides, 2.0) if step.epilog else made

        return run


def powers_of_two(step):
    """A capability that random cases meet."""
    return step.length & (step.length - 1) == 0 and step.width >= 2


def measured(step):
    """What is chosen on a GPU."""
    return recipe_of(step, H200) is not None


CALLED = {
    "everything": lambda: capability(columns=powers_of_two),
    "cuFFT": lambda: replace(cufft(), columns=powers_of_two),
    "cuFFT that never loops": lambda: replace(cufft(), columns=powers_of_two, loop_limit=lambda work: 0),
    "one axis at a time": lambda: capability(columns=powers_of_two, max_rank=1, c2r_rank=1),
    "no columns": cufft,
}


def check_called(case, library, prolog, epilog, *, inplace=False):
    """Run the steps with callbacks, compare, and return them."""
    problem = problem_of(case, inplace=inplace)
    passes = lower(problem, library, prolog=prolog, epilog=epilog)
    values = case.values()
    memory = aligned_storage(values, case.dtype, case.strides, case.offset)
    before = memory.flat.tobytes()
    source = memory.flat.ctypes.data + memory.start * memory.flat[:1].nbytes
    call = launch_of(problem, passes, Imitation(library), CallingMover(), FFTDirection(case.direction))
    if inplace:
        call(source, source)
        got = memory.view()
    else:
        result = aligned_storage(np.full(problem.out_shape, np.nan), problem.out_dtype.name, problem.out_strides, 0)
        call(source, result.flat.ctypes.data)
        assert memory.flat.tobytes() == before, "the operand, or memory beside it, was written to"
        got = result.view()
    if prolog:
        kept = tuple(slice(min(pair)) for pair in zip(problem.shape, problem.source_shape, strict=True))
        values = np.array(values)
        values[kept] *= factors(problem.shape, passes.first_strides, 1.0)[kept]
    want = case.want(values)
    if epilog:
        want = want * factors(problem.out_shape, problem.out_strides, 2.0)
    oracles.assert_close(got, want, case.result_dtype, case.axes, case.points, slack=2.0)
    return passes


@pytest.mark.parametrize("name", CALLED)
@examples(150)
@given(data=st.data(), prolog=st.booleans(), epilog=st.booleans())
def test_callbacks_are_applied_once_at_their_offsets(name, data, prolog, epilog):
    case = data.draw(cases(NUMPY, max_elements=1500))
    check_called(case, CALLED[name](), prolog, epilog)


@pytest.mark.parametrize("name", CALLED)
@examples(60)
@given(data=st.data(), prolog=st.booleans(), epilog=st.booleans())
def test_callbacks_are_applied_in_place(name, data, prolog, epilog):
    case = data.draw(cases(NUMPY, kinds=("C2C",), max_elements=1500, resized=False, zero_strides=False))
    check_called(case, CALLED[name](), prolog, epilog, inplace=True)


def case_of(kind, shape, axes, *, strides=None, layout="natural", extents=None, direction=-1, norm=None):
    """A case in single precision."""
    return Case(
        kind, KINDS[kind], shape, strides or row_major(shape), 0, axes, direction, "even", extents, norm, layout, seed=1
    )  # fmt: skip


R, C, L, S = Transform, Columns, Load, Store

# kind, shape, axes, other metadata, callbacks -> steps, and width, outer, in_row and out_row of the columns
STEPS = [
    ("R2C", (4096, 4096), (0, 1), {}, "e", [R, C], (2049, 1, 2049, 2049)),
    ("R2C", (4096, 4096), (0, 1), {"layout": "optimized"}, "e", [R, C], (2049, 1, 2049, 2049)),
    ("R2C", (4096, 4096), (0, 1), {}, "pe", [L, R, C], (2049, 1, 2049, 2049)),
    ("R2C", (4096, 4096), (0, 1), {}, "p", [L, R], None),
    ("R2C", (4096, 4096), (0, 1), {}, "", [R], None),
    ("R2C", (4096, 4095), (0, 1), {}, "e", [R, C], (2048, 1, 2048, 2048)),
    ("R2C", (4095, 4096), (0, 1), {}, "e", [R, S], None),
    ("R2C", (512, 100), (0, 1), {}, "e", [R, S], None),  # little data
    ("R2C", (4096, 512), (1, 0), {}, "e", [Move, R, Move, S], None),  # the halved axis is the slow one
    ("R2C", (4096, 512), (0,), {}, "e", [R, S], None),  # one pass, real to complex
    ("R2C", (8, 512, 1024), (1, 2), {}, "e", [R, C], (513, 8, 513, 513)),
    ("R2C", (512, 96, 64), (0, 1, 2), {}, "e", [R, C], (96 * 33, 1, 96 * 33, 96 * 33)),
    ("R2C", (512, 96, 64), (1, 0, 2), {}, "e", [R, C], (96 * 33, 1, 96 * 33, 96 * 33)),
    ("R2C", (96, 512, 1024), (0, 1, 2), {}, "e", [R, S], None),  # only the slowest axis
    ("R2C", (300, 4096), (0, 1), {"extents": (512, 4096)}, "e", [Move, R, C], (2049, 1, 2049, 2049)),
    ("C2C", (512, 2049), (0,), {}, "e", [C], (2049, 1, 2049, 2049)),
    ("C2C", (512, 2049), (0,), {}, "p", [C], (2049, 1, 2049, 2049)),
    ("C2C", (512, 2049), (0,), {}, "pe", [C], (2049, 1, 2049, 2049)),
    ("C2C", (512, 2049), (0,), {"layout": "optimized"}, "e", [R, S], None),  # the result is transposed
    ("C2C", (3, 512, 200), (1,), {"strides": (512 * 256, 256, 1)}, "pe", [C], (200, 3, 256, 200)),
    ("C2C", (300, 2049), (0,), {"extents": (512,)}, "pe", [Move, L, C], (2049, 1, 2049, 2049)),
    ("C2C", (512, 512), (0, 1), {}, "e", [R, C], (512, 1, 512, 512)),
    ("C2C", (512, 512), (0, 1), {"strides": (1, 512)}, "e", [R, C], (512, 1, 512, 512)),
    ("C2C", (512, 512), (0, 1), {}, "pe", [L, R, C], (512, 1, 512, 512)),
    ("C2C", (512, 512), (0, 1), {}, "p", [L, R], None),
    ("C2C", (512, 40, 32), (0, 1), {}, "e", [R, S], None),  # the first pass would need a loop
    ("C2R", (512, 513), (0, 1), {}, "pe", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "shape", "axes", "rest", "called", "kinds", "layout"), STEPS)
def test_where_columns_are_transformed_by_a_kernel_of_our_own(kind, shape, axes, rest, called, kinds, layout):
    problem = problem_of(case_of(kind, shape, axes, **rest))
    passes = lower(problem, replace(cufft(), columns=measured), prolog="p" in called, epilog="e" in called)
    if kinds is None:
        assert not any(isinstance(step, Columns) for step in passes.steps)
        return
    assert [type(step) for step in passes.steps] == kinds
    last = passes.steps[-1]
    if isinstance(last, Columns):
        assert (last.width, last.outer, last.in_row, last.out_row) == layout
        assert last.target == OUTPUT
        assert last.epilog is ("e" in called)
        assert last.prolog is ("p" in called and L not in kinds)
        assert last.source == (passes.steps[-2].target if len(kinds) > 1 else INPUT)
        assert len(passes.scratch) == sum(step.target not in (INPUT, OUTPUT) for step in passes.steps)


@pytest.mark.parametrize("shape", [(512, 200), (512, 512)])
def test_columns_in_place(shape):
    axes = (0,) if shape == (512, 200) else (0, 1)
    passes = lower(
        problem_of(case_of("C2C", shape, axes), inplace=True), replace(cufft(), columns=measured), epilog=True
    )
    assert {(step.source, step.target) for step in passes.steps} == {(INPUT, INPUT)}
    assert isinstance(passes.steps[-1], Columns)
    assert passes.scratch == ()


@pytest.mark.parametrize(
    ("case", "inplace"),
    [
        (case_of("R2C", (512, 300), (0, 1), norm="ortho"), False),
        (case_of("R2C", (2, 1024, 97), (1, 2)), False),
        (case_of("R2C", (512, 5, 50), (0, 1, 2)), False),
        (case_of("C2C", (2048, 33), (0,)), False),
        (case_of("C2C", (2048, 33), (0,), direction=1, norm="forward"), True),
        (case_of("C2C", (4096, 18), (0, 1), strides=(20, 1), direction=1), True),
        (case_of("C2C", (4096, 17), (0,)), False),
        (case_of("C2C", (300, 200), (0,), extents=(512,)), False),
    ],
    ids=str,
)
def test_the_kernel_for_columns_within_a_plan(case, inplace):
    """Thread by thread, with the recipes that a GPU would use."""
    passes = check_called(case, replace(cufft(), columns=measured), True, True, inplace=inplace)
    assert isinstance(passes.steps[-1], Columns)
