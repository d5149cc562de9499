"""Where the elements of operands may lie, and where those of results do lie."""

import itertools

import numpy as np
import oracles
import pytest
from fft_cases import cases, examples
from frameworks import BY_NAME, HOST, params, row_major
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import nvmath
from nvmath.fft import FFT, fft, irfft, rfft

pytestmark = pytest.mark.usefixtures("backend")

frameworks = pytest.mark.parametrize("framework", params(HOST))
NUMPY = BY_NAME["numpy"]


def z(*shape):
    rng = np.random.default_rng(7)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def element_strides(array):
    return tuple(stride // array.itemsize for stride in array.strides)


# --- results ----------------------------------------------------------------------------------------------------------

# (function, parity, axes, result shape, strides when optimized, strides when natural) of a C-ordered operand (4, 6, 8)
RESULTS = [
    ("fft", "even", (0,), (4, 6, 8), (1, 32, 4), (48, 8, 1)),
    ("fft", "even", (0, 1), (4, 6, 8), (6, 1, 24), (48, 8, 1)),
    ("fft", "even", (2,), (4, 6, 8), (48, 8, 1), (48, 8, 1)),
    ("fft", "even", (1, 2), (4, 6, 8), (48, 8, 1), (48, 8, 1)),
    ("fft", "even", (0, 1, 2), (4, 6, 8), (48, 8, 1), (48, 8, 1)),
    ("rfft", "even", (0,), (3, 6, 8), (1, 24, 3), (48, 8, 1)),
    ("rfft", "even", (0, 1), (4, 4, 8), (4, 1, 16), (32, 8, 1)),
    ("rfft", "even", (2,), (4, 6, 5), (30, 5, 1), (30, 5, 1)),
    ("rfft", "even", (1, 2), (4, 6, 5), (30, 5, 1), (30, 5, 1)),
    ("irfft", "even", (0,), (6, 6, 8), (1, 48, 6), (48, 8, 1)),
    ("irfft", "odd", (0,), (7, 6, 8), (1, 56, 7), (48, 8, 1)),
    ("irfft", "even", (0, 1), (4, 10, 8), (10, 1, 40), (80, 8, 1)),
    ("irfft", "odd", (0, 1), (4, 11, 8), (11, 1, 44), (88, 8, 1)),
    ("irfft", "even", (2,), (4, 6, 14), (84, 14, 1), (84, 14, 1)),
    ("irfft", "odd", (2,), (4, 6, 15), (90, 15, 1), (90, 15, 1)),
]


@pytest.mark.parametrize(("name", "parity", "axes", "shape", "optimized", "natural"), RESULTS)
def test_strides_of_results(name, parity, axes, shape, optimized, natural):
    operand = np.ones((4, 6, 8)) if name == "rfft" else np.ones((4, 6, 8), complex)
    for layout, strides in (("optimized", optimized), ("natural", natural)):
        result = getattr(nvmath.fft, name)(
            operand, axes=axes, options={"result_layout": layout, "last_axis_parity": parity}
        )
        assert (result.shape, element_strides(result)) == (shape, strides)


def test_strides_of_a_result_of_five_axes():
    assert element_strides(fft(np.ones((2, 3, 4, 5, 6), complex), axes=(0, 1, 2))) == (12, 4, 1, 144, 24)


def expected_strides(case, shape):
    """The rule of the specification: dense, in the order of the operand's strides, or the transformed axes first."""
    size = {axis: abs(stride) for axis, stride in enumerate(case.strides)}
    span = 1 + sum(step * (extent - 1) for step, extent in zip(size.values(), case.shape, strict=True))
    if case.kind == "C2R" and (min(case.strides) < 0 or span != np.prod(case.shape)):
        size = dict(enumerate(row_major(case.shape)))  # an operand that is not dense is read as if it were row-major
    order = sorted(range(len(shape)), key=lambda axis: (size[axis], case.shape[axis], axis))
    batch = [axis for axis in order if axis not in case.axes]
    interleaved = bool(batch) and size[batch[0]] <= max(size[axis] for axis in case.axes)
    if interleaved and case.layout == "optimized":
        order = [axis for axis in order if axis in case.axes] + batch
    strides, step = [0] * len(shape), 1
    for axis in order:
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


@frameworks
@examples(80)
@given(data=st.data())
def test_results_are_dense_and_keep_the_order_of_the_strides(framework, data):
    case = data.draw(cases(framework, resized=False, zero_strides=False, norms=False))
    if 1 in case.shape:  # the stride of an extent of 1 means nothing: nothing is promised about it either
        return
    with FFT(case.operand(framework, case.values()), **case.keywords()) as transform:
        shape, strides = transform.get_output_layout()
        transform.plan()
        assert transform.get_output_layout() == (shape, strides)
        result = transform.execute(case.direction)
    assert framework.numpy(result).shape == shape
    assert strides == framework.strides(result) == expected_strides(case, shape)


@frameworks
@examples(50)
@given(data=st.data())
def test_the_layout_option_changes_strides_only(framework, data):
    case = data.draw(cases(framework, norms=False))
    operand = case.operand(framework, case.values())
    results = []
    for layout in ("natural", "optimized"):
        with FFT(
            operand, **case.keywords() | {"options": {**case.keywords()["options"], "result_layout": layout}}
        ) as f:
            f.plan()
            results.append(framework.numpy(f.execute(case.direction)))
    oracles.assert_close(results[0], results[1].astype(np.clongdouble if case.kind != "C2R" else np.longdouble),
                         case.result_dtype, case.axes, case.points, slack=2.0)  # fmt: skip


def test_results_are_new_arrays_each_time():
    with FFT(z(4, 8), axes=[1]) as transform:
        transform.plan()
        first, second = transform.execute(), transform.execute()
        assert not np.shares_memory(first, second)
        first[...] = 0
        close(transform.execute(), second)


def test_large_results_are_aligned():
    for layout in ("natural", "optimized"):
        result = fft(np.ones((64, 128), complex), axes=[0], options={"result_layout": layout})
        assert result.ctypes.data % 64 == 0


# --- operands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [[0], [1], [0, 1], [1, 0]])
def test_negative_strides(axes):  # R02
    a = z(6, 8)
    for view in (a[::-1], a[:, ::-1], a[::-1, ::-1], a[::2, ::-2], a.T[::-1].T[::-1]):
        close(fft(view, axes=axes), np.fft.fftn(view.copy(), axes=axes))
        close(rfft(view.real, axes=axes), np.fft.rfftn(view.real.copy(), axes=axes))


@pytest.mark.parametrize("stride", [0, 16, 8, -16, 16 * 12345])
def test_the_stride_of_an_extent_of_one_means_nothing(stride):  # R04
    x = z(8)
    view = as_strided(x, (1, 8, 1), (stride, 16, stride))
    for axes in ([1], [0, 1], [2, 1, 0], [0], [2]):
        close(fft(view, axes=axes), np.fft.fftn(x.reshape(1, 8, 1), axes=axes))


@pytest.mark.parametrize("axes", [[0, 2, 4], [1, 3], [0, 1, 2, 3], [4, 0], None, [], [2], [1], [3, 1, 2]])
def test_any_number_of_axes_in_any_place(axes):  # R06, W8, W10
    a = z(2, 3, 4, 5, 3)
    close(fft(a, axes=axes), np.fft.fftn(a, axes=axes or None))
    close(rfft(a.real, axes=axes), np.fft.rfftn(a.real, axes=axes or range(5)))


def test_eight_axes():
    a = z(2, 3, 2, 2, 3, 2, 2, 2)
    close(fft(a), np.fft.fftn(a))
    close(rfft(a.real), np.fft.rfftn(a.real))
    close(irfft(np.fft.rfftn(a.real)), a.real * a.size)
    close(
        fft(a.transpose(3, 1, 7, 0, 5, 2, 6, 4), axes=(6, 0, 2, 7, 3, 5, 1, 4)),
        np.fft.fftn(a).transpose(3, 1, 7, 0, 5, 2, 6, 4),
    )


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1, 1), (4, 1, 8), (1, 6, 8), (4, 6, 1), (1, 6, 8, 1)])
def test_extents_of_one(shape):
    a = z(*shape)
    for count in range(1, len(shape) + 1):
        for axes in itertools.permutations(range(len(shape)), count):
            close(fft(a, axes=axes), np.fft.fftn(a, axes=axes))
            close(rfft(a.real, axes=axes), np.fft.rfftn(a.real, axes=axes))


def test_the_halved_axis_is_the_last_listed_one():  # R08, W11
    a = np.random.default_rng(0).random((4, 6))
    y = rfft(a, axes=[1, 0])
    assert y.shape == (3, 6)
    close(y, np.fft.rfftn(a, axes=(1, 0)))
    close(irfft(y, axes=[1, 0]), a * 24)
    b = np.random.default_rng(0).random((3, 4, 5, 6))
    for axes in itertools.permutations(range(4), 3):
        close(rfft(b, axes=axes), np.fft.rfftn(b, axes=axes))
        close(rfft(np.asfortranarray(b), axes=axes), np.fft.rfftn(b, axes=axes))


def test_broadcast_operands():
    row = z(8)
    view = np.broadcast_to(row, (5, 8))
    close(fft(view, axes=[1]), np.fft.fft(view, axis=1))
    close(fft(view, axes=[0]), np.fft.fft(view, axis=0))
    close(fft(view), np.fft.fft2(view))
    constant = np.broadcast_to(np.array(2 + 1j), (16,))
    close(fft(constant), np.fft.fft(constant))


def test_overlapping_windows():
    windows = sliding_window_view(z(20), 8)
    close(fft(windows, axes=[1]), np.fft.fft(windows, axis=1))
    close(fft(windows, axes=[0]), np.fft.fft(windows, axis=0))
    windows = sliding_window_view(z(9, 9).real, (4, 4))
    close(rfft(windows, axes=[2, 3]), np.fft.rfft2(windows))


@pytest.mark.parametrize("axes", [[0], [1], [2], [0, 2], [1, 2], [0, 1, 2]])
def test_slices(axes):
    a = z(9, 10, 11)
    for view in (a[::2, ::2], a[:, :, ::2], a[1:3, 1:5, 2:6], a[:, 1:5], a[3:, ::3, 1::2], a.transpose(2, 0, 1)[1:4]):
        close(fft(view, axes=axes), np.fft.fftn(view, axes=axes))
        close(rfft(view.real, axes=axes), np.fft.rfftn(view.real, axes=axes))
        close(irfft(view, axes=axes[-1:]), np.fft.irfft(view, axis=axes[-1], norm="forward"))


def test_real_operands_need_the_alignment_of_one_element_only():  # W18
    base = np.random.default_rng(0).random(65)
    for start in range(5):
        close(rfft(base[start : start + 16]), np.fft.rfft(base[start : start + 16]))
        x = base.astype(np.float32)[start : start + 16]
        np.testing.assert_allclose(rfft(x), np.fft.rfft(x), rtol=1e-5, atol=1e-5)


def test_bytes_that_are_not_aligned():
    memory = bytearray(8 * 16 + 1)
    odd = np.frombuffer(memory, complex, 8, offset=1)
    odd[...] = z(8)
    assert not odd.flags.aligned
    close(fft(odd), np.fft.fft(odd.copy()))


def test_byte_strides_that_are_no_multiple_of_the_item():  # W3
    records = np.zeros(8, dtype=[("pad", "i4"), ("value", "c8")])
    records["value"] = z(8)
    field = records["value"]
    assert field.strides == (12,)
    np.testing.assert_allclose(fft(field), np.fft.fft(field.copy()), rtol=1e-5, atol=1e-5)
    real = np.zeros(8, dtype=[("value", "f8"), ("pad", "i4")])
    real["value"] = np.arange(8)
    close(rfft(real["value"]), np.fft.rfft(np.arange(8.0)))


@pytest.mark.parametrize("dtype", [">c16", ">c8", "<c16"])
def test_any_byte_order(dtype):  # W2
    a = z(4, 8).astype(dtype)
    result = fft(a, axes=[1])
    assert result.dtype.isnative
    np.testing.assert_allclose(result, np.fft.fft(a.astype("=c16"), axis=1), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(a, z(4, 8).astype(dtype))


def test_any_byte_order_of_real_operands_and_half_spectra():
    x = np.random.default_rng(0).random(16)
    close(rfft(x.astype(">f8")), np.fft.rfft(x))
    close(irfft(np.fft.rfft(x).astype(">c16")), 16 * x)


def test_strides_beyond_two_to_the_31(tmp_path):  # R22
    with open(tmp_path / "hole", "wb") as file:
        file.truncate(8 * 2 * (2**31 + 8))  # no disk is used for a hole
    memory = np.memmap(tmp_path / "hole", dtype=np.complex64, mode="r+", shape=(2, 2**31 + 8))
    view = memory[:, :16]
    view[...] = z(2, 16)
    plain = np.array(view)
    np.testing.assert_allclose(fft(view, axes=[1]), np.fft.fft(plain, axis=1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(fft(view, axes=[0]), np.fft.fft(plain, axis=0), rtol=1e-4, atol=1e-4)


def test_subclasses_give_plain_arrays():
    class Sub(np.ndarray):
        pass

    a = z(4, 4)
    result = fft(a.view(Sub))
    assert type(result) is np.ndarray
    close(result, np.fft.fft2(a))


# --- empty batches ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "axes"), [((0, 8), [1]), ((3, 0, 4), [2]), ((0, 4, 5), [2, 1]), ((4, 0), [0])])
def test_an_empty_batch_gives_an_empty_result(shape, axes):
    assert fft(np.empty(shape, complex), axes=axes).shape == shape
    want = np.fft.rfftn(np.empty(shape), axes=axes)
    assert rfft(np.empty(shape), axes=axes).shape == want.shape
    assert irfft(np.empty(shape, complex), axes=axes).dtype == np.float64
    inplace = np.empty(shape, complex)
    assert fft(inplace, axes=axes, options={"inplace": True}) is inplace
    assert fft(np.empty(shape, complex), axes=axes, norm="ortho").shape == shape
    with FFT(np.empty(shape, complex), axes=axes) as transform:
        transform.plan()
        assert transform.execute().shape == shape


# --- in place ---------------------------------------------------------------------------------------------------------


def test_in_place_on_a_view_leaves_its_neighbours_alone():  # R32
    base = z(6, 8)
    keep = base.copy()
    view = base[:, ::2]
    for axes in ([0], [1], [0, 1]):
        base[...] = keep
        result = fft(view, axes=axes, options={"inplace": True})
        assert result is view
        close(view, np.fft.fftn(keep[:, ::2], axes=axes))
        np.testing.assert_array_equal(base[:, 1::2], keep[:, 1::2])


@examples(60)
@given(data=st.data())
def test_in_place_and_out_write_nothing_else(data):
    case = data.draw(cases(NUMPY, kinds=("C2C",), resized=False, zero_strides=False))
    from frameworks import storage

    memory = storage(case.values(), case.dtype, case.strides, case.offset)
    operand = memory.view()
    before = memory.flat.copy()
    touched = np.zeros(memory.flat.shape, bool)
    item = memory.flat.itemsize
    as_strided(touched[memory.start :], operand.shape, [s // item for s in operand.strides])[...] = True
    fft(operand, **case.keywords() | {"options": {"inplace": True}})
    np.testing.assert_array_equal(memory.flat[~touched], before[~touched])


def test_in_place_in_a_loop_sees_its_own_result():
    a = z(8)
    keep = a.copy()
    with FFT(a, options={"inplace": True}) as transform:
        transform.plan()
        assert transform.execute("forward") is a
        assert transform.execute("inverse") is a
    close(a, 8 * keep)


# --- out --------------------------------------------------------------------------------------------------------------


def test_out_may_overlap_the_operand():
    for shift in range(-3, 4):
        base = z(40)
        keep = base.copy()
        operand, out = base[8:24], base[8 + shift : 24 + shift]
        assert fft(operand, out=out) is out
        close(out, np.fft.fft(keep[8:24]))
    base = z(8, 8)
    keep = base.copy()
    assert fft(base, axes=[0], out=base.T).shape == (8, 8)
    close(base.T, np.fft.fft(keep, axis=0))


def test_out_may_be_the_real_part_of_the_operand():
    half = z(9)
    keep = half.copy()
    out = half.view(float)[:16]
    irfft(half, out=out)
    close(out, np.fft.irfft(keep, norm="forward"))


@frameworks
def test_out_is_what_is_returned(framework):
    values = z(3, 8)
    for strides in (row_major((3, 8)), (1, 3), (17, 2)):
        out = framework.empty((3, 8), "complex128", strides)
        assert fft(framework.array(values), axes=[1], out=out) is out
        close(framework.numpy(out), np.fft.fft(values, axis=1))
    with FFT(framework.array(values), axes=[1]) as transform:
        transform.plan()
        assert transform.execute(out=out) is out


# --- n and s ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 8, 11])
def test_n_crops_or_pads_as_in_numpy(n):
    a = z(3, 8)
    close(fft(a, axes=[1], n=n), np.fft.fft(a, n, axis=1))
    close(fft(a, axes=[-2], n=n), np.fft.fft(a, n, axis=0))
    close(rfft(a.real, axes=[1], n=n), np.fft.rfft(a.real, n, axis=1))
    close(irfft(a, axes=[1], n=n, norm="backward"), np.fft.irfft(a, n, axis=1))


def test_s_crops_or_pads_as_in_numpy():
    a = z(3, 6, 8)
    close(fft(a, s=(4, 5)), np.fft.fft2(a, (4, 5), axes=(-2, -1)))  # the last axes by default
    close(fft(a, s=(5, -1), axes=(0, 2)), np.fft.fftn(a, (5, 8), axes=(0, 2)))
    close(rfft(a.real, s=(2, 9), axes=(1, 2)), np.fft.rfftn(a.real, (2, 9), axes=(1, 2)))
    close(
        irfft(np.fft.rfftn(a.real), s=(3, 6, 7), norm="backward"),
        np.fft.irfftn(np.fft.rfftn(a.real), (3, 6, 7), axes=(0, 1, 2)),
    )


def test_padding_fills_an_axis_of_extent_zero():
    np.testing.assert_array_equal(fft(np.empty((2, 0), complex), axes=[1], n=4), np.zeros((2, 4)))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_norm_means_what_it_means_in_numpy(norm):
    a = z(4, 6)
    numpys = norm or "backward"
    close(fft(a, norm=norm), np.fft.fft2(a, norm=numpys))
    close(nvmath.fft.ifft(a, norm=norm), np.fft.ifft2(a, norm=norm or "forward"))
    close(rfft(a.real, norm=norm), np.fft.rfft2(a.real, norm=numpys))
    spectrum = np.fft.rfft2(a.real)
    close(irfft(spectrum, norm=norm), np.fft.irfft2(spectrum, norm=norm or "forward"))
