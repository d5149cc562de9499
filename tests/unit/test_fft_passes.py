"""Lowering: whatever a library can and cannot do, the steps compute the transform and spare the operand.

The libraries here are imitations over NumPy that do what their :class:`Capability` promises and nothing more: they check the layouts that
they are given, destroy what they may destroy, and read every argument as the interface that they imitate does.
"""

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import oracles
import pytest
from fft_cases import Case, cases, examples
from frameworks import BY_NAME, storage
from hypothesis import given
from hypothesis import strategies as st

from nvmath._core import kernels_host
from nvmath._core.dtypes import DTYPES, dtype
from nvmath.fft import FFTDirection, FFTOptions
from nvmath.fft._passes import Capability, Move, Transform, lower
from nvmath.fft._plan import launch_of
from nvmath.fft._problem import specify

NUMPY = BY_NAME["numpy"]


class HostMover:
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
    "two axes, C2R of two that destroys": lambda: capability(max_rank=2, c2r_rank=2, preserves_c2r=lambda rank: rank == 1),
    "no negative strides": lambda: capability(negative=False, max_rank=3, c2r_rank=3, preserves_c2r=lambda rank: rank == 1),
    "no loops": lambda: capability(loop_limit=lambda work: 0),
    "MKL": lambda: capability(max_rank=7, c2r_rank=1),
}


def problem_of(case: Case, *, inplace=False):
    options = FFTOptions(
        fft_type=case.kind, inplace=inplace, last_axis_parity=case.parity if case.kind == "C2R" else "even",
        result_layout=case.layout,
    )  # fmt: skip
    return specify(
        case.shape, case.strides, dtype(case.dtype), axes=case.axes, options=options, extents=case.extents, norm=case.norm
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
    assert [step for step in steps if isinstance(step, Move) and step.in_dtype is not step.out_dtype] == [steps[0], steps[-1]]


# --- what it costs ------------------------------------------------------------------------------------------------------------------

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
    problem = specify(shape, strides or oracles_strides(shape), operand, axes=axes, options=options)
    passes = lower(problem, cufft())
    assert passes.direct is direct
    assert direct or passes.steps


def oracles_strides(shape):
    from frameworks import row_major

    return row_major(shape)


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
    impossible = specify((2, 3, 2, 3, 2, 3, 2, 3), oracles_strides((2, 3) * 4), dtype("complex128"), axes=range(8), options=FFTOptions())
    with pytest.raises(ValueError, match="Callbacks are not possible"):
        lower(impossible, cufft(), single=True)


def test_scratch_is_as_large_as_what_lies_in_it():
    for shape, axes, kind in (((4, 6, 8), (1,), "C2C"), ((4, 6, 5), (2,), "C2R"), ((4, 6, 8), (2, 0), "R2C")):
        operand = dtype("float64" if kind == "R2C" else "complex128")
        problem = specify(shape, oracles_strides(shape), operand, axes=axes, options=FFTOptions(fft_type=kind))
        for nbytes in lower(problem, cufft()).scratch:
            assert nbytes in (prod(problem.shape) * operand.itemsize, prod(problem.out_shape) * problem.out_dtype.itemsize)
