"""Any transform of any array that a package can express is right on a GPU; the same cases as on the CPU."""

import numpy as np
import oracles
import pytest
from fft_cases import cases, examples, one_call, strides
from hypothesis import given
from hypothesis import strategies as st

from nvmath._core import place
from nvmath.fft import FFT, fft, irfft, rfft

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device")]


@examples(100)
@given(data=st.data())
def test_one_call(route, data):
    framework, execution = route
    case = data.draw(cases(framework))
    values = case.values()
    operand = case.operand(framework, values)
    got = one_call(case, operand, execution=execution)
    case.check(framework, got, case.want(values))
    np.testing.assert_array_equal(framework.numpy(operand), values)  # the caller's operand is never changed


@examples(50)
@given(data=st.data())
def test_stateful_twice(route, data):
    framework, execution = route
    case = data.draw(cases(framework))
    values = case.values()
    operand = case.operand(framework, values)
    with FFT(operand, **case.keywords(), execution=execution) as transform:
        transform.plan()
        first, second = transform.execute(case.direction), transform.execute(case.direction)
    want = case.want(values)
    case.check(framework, first, want)
    case.check(framework, second, want)
    np.testing.assert_array_equal(framework.numpy(operand), values)


@examples(50)
@given(data=st.data())
def test_reset(route, data):
    framework, execution = route
    case = data.draw(cases(framework))
    values = case.values()
    with FFT(case.operand(framework, values), **case.keywords(), execution=execution) as transform:
        transform.plan()
        transform.execute(case.direction)
        other = case.operand(framework, -values)
        transform.reset_operand(other)
        case.check(framework, transform.execute(case.direction), -case.want(values))
        transform.release_operand()
        transform.reset_operand(case.operand(framework, values))
        case.check(framework, transform.execute(case.direction), case.want(values))


@examples(50)
@given(data=st.data())
def test_in_place(route, data):
    framework, execution = route
    case = data.draw(cases(framework, kinds=("C2C",), resized=False, zero_strides=False))
    values = case.values()
    operand = case.operand(framework, values)
    keywords = case.keywords() | {"options": {"inplace": True}}
    assert fft(operand, **keywords, direction=case.direction, execution=execution) is operand
    case.check(framework, operand, case.want(values))


@examples(50)
@given(data=st.data())
def test_into_an_array_of_any_layout(route, data):
    framework, execution = route
    case = data.draw(cases(framework))
    values = case.values()
    layout = data.draw(strides(case.result_shape, negative=framework.negative, zero=False))
    out = framework.empty(case.result_shape, case.result_dtype, layout)
    assert one_call(case, case.operand(framework, values), out=out, execution=execution) is out
    case.check(framework, out, case.want(values))


@examples(20)
@given(data=st.data())
def test_empty_batch(route, data):
    framework, execution = route
    case = data.draw(cases(framework, empty=True))
    values = case.values()
    got = one_call(case, case.operand(framework, values), execution=execution)
    case.check(framework, got, case.want(values))


@examples(40)
@given(data=st.data())
def test_strides_of_results_are_those_of_the_cpu(route, data):
    framework, execution = route
    case = data.draw(cases(framework, resized=False))
    with FFT(case.operand(framework, case.values()), **case.keywords(), execution=execution) as transform:
        shape, layout = transform.get_output_layout()
        transform.plan()
        result = transform.execute(case.direction)
    found = framework.strides(result)
    assert framework.numpy(result).shape == shape
    assert all(a == b for a, b, extent in zip(found, layout, shape, strict=True) if extent != 1)


LARGE = [((1 << 20,), (0,)), ((2048, 2048), (0, 1)), ((128, 128, 128), (0, 1, 2)), ((100000, 16), (1,)), ((16, 100000), (0,)),
         ((64, 10007), (1,)), ((3, 65537), (1,)), ((100, 100, 100), (0, 2)), ((8, 8, 8, 8, 8, 8), (0, 1, 2, 3, 4, 5))]  # fmt: skip


@pytest.mark.parametrize(("shape", "axes"), LARGE)
@pytest.mark.parametrize("precision", ["complex64", "complex128"])
def test_large_transforms(torch, shape, axes, precision):
    rng = np.random.default_rng(0)
    values = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(precision)
    points = int(np.prod([shape[axis] for axis in axes]))
    want = np.fft.fftn(values.astype(complex), axes=axes)
    oracles.assert_close(fft(torch.from_numpy(values).cuda(), axes=axes).cpu().numpy(), want, precision, axes, points)
    x = values.real.copy()
    half = rfft(torch.from_numpy(x).cuda(), axes=axes)
    oracles.assert_close(half.cpu().numpy(), np.fft.rfftn(x.astype(float), axes=axes), precision, axes, points)
    parity = "odd" if shape[axes[-1]] % 2 else "even"
    back = irfft(half, axes=axes, options={"last_axis_parity": parity}, norm="backward").cpu().numpy()
    oracles.assert_close(back, x.astype(float), str(x.dtype), axes, points, slack=3.0)


@pytest.mark.alone
def test_strides_beyond_two_to_the_31(torch):  # R22
    row = 2**31 + 8
    free, _ = torch.cuda.mem_get_info()
    if free < 8 * (row + 16) * 1.2:
        pytest.skip("this needs 20 GiB of GPU memory")
    memory = torch.empty(row + 16, dtype=torch.complex64, device="cuda")
    view = memory.as_strided((2, 16), (row, 1))
    view.copy_(torch.randn(2, 16, dtype=torch.complex64))
    plain = view.cpu().numpy().astype(complex)
    for axes in ([0], [1], [0, 1]):
        np.testing.assert_allclose(
            fft(view, axes=axes).cpu().numpy(), np.fft.fftn(plain, axes=axes), rtol=1e-4, atol=1e-4
        )
    del memory, view
    torch.cuda.empty_cache()


@pytest.mark.alone
def test_more_elements_than_two_to_the_31(torch):  # R22
    count = 2**27 + 1
    free, _ = torch.cuda.mem_get_info()
    if free < 8 * 16 * count * 3:
        pytest.skip("this needs 55 GiB of GPU memory")
    x = torch.ones(count, 16, dtype=torch.complex64, device="cuda")
    x[-1] = torch.arange(16)
    y = fft(x, axes=[1], norm="ortho")
    np.testing.assert_allclose(y[-1].cpu().numpy(), np.fft.fft(np.arange(16)) / 4, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(y[0].cpu().numpy(), np.fft.fft(np.ones(16)) / 4, rtol=1e-5, atol=1e-5)
    del x, y
    torch.cuda.empty_cache()


@pytest.mark.parametrize("start", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_real_operands_that_begin_at_an_odd_element(torch, start, dtype):
    base = torch.randn(4, 65, dtype=getattr(torch, dtype), device="cuda")
    view = base[:, start : start + 16]
    torch.testing.assert_close(rfft(view, axes=[1]), torch.fft.rfft(view), rtol=1e-4, atol=1e-4)
    with FFT(base[:, :16].contiguous(), axes=[1]) as transform:
        transform.plan()
        transform.reset_operand(base.flatten()[start : start + 64].view(4, 16))
        want = torch.fft.rfft(base.flatten()[start : start + 64].view(4, 16))
        torch.testing.assert_close(transform.execute(), want, rtol=1e-4, atol=1e-4)


def test_lazy_views_of_torch(torch):  # W4
    x = torch.randn(4, 8, dtype=torch.complex128, device="cuda")
    for view in (x.conj(), x.conj()[:, ::2], x.mT.conj()):
        torch.testing.assert_close(fft(view, axes=[1]), torch.fft.fft(view))
    negative = x.conj().imag
    assert negative.is_neg()
    torch.testing.assert_close(rfft(negative, axes=[1]), torch.fft.rfft(negative))
    with pytest.raises(ValueError, match="lazy conjugation"):
        fft(x.conj(), options={"inplace": True})


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_norms(torch, norm):
    x = torch.randn(5, 6, 7, dtype=torch.complex128, device="cuda")
    torch.testing.assert_close(fft(x, norm=norm), torch.fft.fftn(x, norm=norm or "backward"))
    half = torch.fft.rfftn(x.real)
    got = irfft(half, norm=norm, options={"last_axis_parity": "odd"})
    torch.testing.assert_close(got, torch.fft.irfftn(half, s=(5, 6, 7), norm=norm or "forward"))


# --- half precision ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 12, 16, 127, 1000, 4096])
def test_half_precision_of_any_length(torch, length):  # R18
    x = torch.randn(4, length, dtype=torch.half, device="cuda")
    half = rfft(x, axes=[1])
    assert half.dtype is torch.complex32
    wide = torch.empty(half.shape, dtype=torch.complex64, device="cuda").copy_(half)
    want = torch.fft.rfft(x.float())
    torch.testing.assert_close(wide, want, rtol=2**-9, atol=float(want.abs().max()) * 2**-10)
    back = irfft(half, axes=[1], norm="backward", options={"last_axis_parity": "odd" if length % 2 else "even"})
    torch.testing.assert_close(back, x, rtol=1e-2, atol=1e-2)


def test_half_precision_overflows_where_it_must_only(torch):  # R20
    y = rfft(torch.ones(64, 64, 64, device="cuda", dtype=torch.half))
    flat = torch.view_as_real(y).flatten(0, -2)
    assert torch.isinf(flat[0, 0])
    assert not flat.isnan().any()
    assert (flat[1:] == 0).all()
    mean = torch.view_as_real(rfft(torch.ones(64, 64, 64, device="cuda", dtype=torch.half), norm="forward"))
    assert mean.flatten()[0] == 1


# --- real spectra -----------------------------------------------------------------------------------------------------


SHAPES = [(1,), (2,), (7,), (8,), (2048,), (4096,), (6000,), (1 << 17,), (8, 6), (5, 5), (8, 1), (16, 4096), (4, 6, 8), (3, 5, 7),
          (2, 3, 4, 6)]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_imaginary_parts_that_no_real_signal_has_are_ignored(torch, shape, dtype):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((3, *shape))
    axes = tuple(range(1, x.ndim))
    half = np.fft.rfftn(x, axes=axes)
    for index in np.ndindex(*(2 - n % 2 for n in shape)):
        at = tuple(i * (n // 2) for i, n in zip(index, shape, strict=True))
        half[(slice(None), *at)] += 5j * rng.standard_normal(3)
    points = int(np.prod(shape))
    operand = torch.from_numpy(half.astype(dtype)).cuda()
    got = irfft(operand, axes=axes, options={"last_axis_parity": "odd" if shape[-1] % 2 else "even"})
    oracles.assert_close(got.cpu().numpy(), x * points, dtype, axes, points, slack=4.0)
    np.testing.assert_array_equal(operand.cpu().numpy(), half.astype(dtype))


@pytest.mark.parametrize(("shape", "axes"), [((3, 4, 5), (0, 2)), ((3, 4, 5), (0, 1, 2)), ((4, 4), (1, 0)),
                                             ((2, 3, 4, 5), (3, 1, 0)),
                                             ((3, 2049), (1,)), ((8, 4097), (0, 1))])  # fmt: skip
def test_a_spectrum_that_no_real_signal_has_gives_what_numpy_gives(torch, shape, axes):
    rng = np.random.default_rng(3)
    operand = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    got = irfft(torch.from_numpy(operand).cuda(), axes=axes).cpu().numpy()
    want = np.fft.irfftn(operand, axes=axes, norm="forward")
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10 * np.abs(want).max())


@pytest.mark.parametrize("shape", [(5, 9), (5, 4, 9), (4, 4, 5), (64, 513), (3, 4, 5, 6)])
def test_c2r_leaves_its_operand_alone(torch, shape):  # R16
    operand = torch.randn(*shape, dtype=torch.complex128, device="cuda")
    keep = operand.clone()
    for count in range(1, len(shape) + 1):
        irfft(operand, axes=range(len(shape) - count, len(shape)))
        assert torch.equal(operand, keep)
    with FFT(operand, options={"fft_type": "C2R"}) as transform:
        transform.plan()
        first, second = transform.execute(), transform.execute()
        assert torch.equal(first, second)
        assert torch.equal(operand, keep)


# --- keys and the workspace -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1000,), (10007,), (64, 64, 64), (3, 65537), (1 << 22,)])
def test_the_estimate_covers_the_workspace(torch, shape):
    from nvmath.bindings import cufft
    from nvmath.fft import estimate_workspace_size

    x = torch.randn(*shape, dtype=torch.complex64, device="cuda")
    with FFT(x) as transform:
        transform.plan()
        needed = 0 if transform.workspace is None else transform.workspace.size
        key = transform.get_key()
    assert key == FFT.create_key(x) == FFT.create_key_from_metadata(shape, "complex64", "cuda")
    assert estimate_workspace_size(key) >= needed
    handle = cufft.create()
    try:
        assert estimate_workspace_size(key, technique="refined", handle=handle) >= needed
    finally:
        cufft.destroy(handle)
