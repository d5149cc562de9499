"""Half precision on the CPU: any length, through single precision, rounded once."""

import numpy as np
import pytest

import nvmath
from nvmath.fft import FFT, fft, ifft, irfft, rfft

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.usefixtures("backend")

SHAPES = [
    ((12,), (0,)),
    ((1,), (0,)),
    ((4, 12), (1,)),
    ((4, 12), (0,)),
    ((3, 5, 7), (0, 2)),
    ((3, 5, 7), (2, 0, 1)),
    ((2, 127), (1,)),
]


def halves(*shape, complex_=False):
    rng = np.random.default_rng(5)
    if complex_:
        parts = torch.from_numpy(rng.standard_normal((*shape, 2)).astype(np.float16))
        return torch.view_as_complex(parts)
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float16))


def wide(tensor):
    """The values in single precision (PyTorch converts complex32 with copy_ only)."""
    return torch.empty(tensor.shape, dtype=torch.complex64 if tensor.is_complex() else torch.float32).copy_(tensor)


def close(got, want):
    scale = float(want.abs().max())
    np.testing.assert_allclose(wide(got).numpy(), want.numpy(), rtol=2**-10, atol=2**-10 * scale)


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_any_length(shape, axes):  # R18
    x = halves(*shape, complex_=True)
    assert fft(x, axes=axes).dtype is torch.complex32
    close(fft(x, axes=axes), torch.fft.fftn(wide(x), dim=axes))
    close(ifft(x, axes=axes), torch.fft.ifftn(wide(x), dim=axes, norm="forward"))


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_any_length_of_real_signals(shape, axes):
    x = halves(*shape)
    half = rfft(x, axes=axes)
    assert half.dtype is torch.complex32
    close(half, torch.fft.rfftn(wide(x), dim=axes))
    parity = "odd" if shape[axes[-1]] % 2 else "even"
    back = irfft(half, axes=axes, options={"last_axis_parity": parity}, norm="backward")
    assert back.dtype is torch.float16
    np.testing.assert_allclose(back.float().numpy(), x.float().numpy(), atol=2e-2)


def test_in_place():
    x = halves(4, 12, complex_=True)
    want = torch.fft.fft(wide(x))
    assert fft(x, axes=[1], options={"inplace": True}) is x
    close(x, want)


def test_overflow_stays_where_it_is():  # R20
    y = rfft(torch.ones(64, 64, 64, dtype=torch.half), axes=[0, 1, 2])
    flat = torch.view_as_real(y).flatten(0, -2)
    assert torch.isinf(flat[0, 0])  # 262144 is more than half precision holds
    assert not flat.isnan().any()
    assert (flat[1:] == 0).all()


@pytest.mark.parametrize(("norm", "mean"), [("forward", 1.0), ("ortho", 512.0)])
def test_a_norm_is_applied_before_rounding(norm, mean):
    y = rfft(torch.ones(64, 64, 64, dtype=torch.half), norm=norm)
    assert torch.view_as_real(y).flatten()[0] == mean
    x = torch.view_as_complex(torch.full((300, 300, 2), 100.0, dtype=torch.half))
    z = torch.view_as_real(fft(x, norm=norm))
    np.testing.assert_allclose(z[0, 0].float().numpy(), 100 if norm == "forward" else 30000, rtol=2**-9)


def test_numpy_has_no_half_spectra():
    with pytest.raises(TypeError, match="complex32"):
        rfft(np.ones(8, np.float16))
    with pytest.raises(TypeError, match="complex32"):
        FFT(np.ones(8, np.float16))


def test_keys_of_half_precision():
    x = halves(4, 8, complex_=True)
    key = FFT.create_key(x, axes=[1])
    half = nvmath.CudaDataType.CUDA_C_16F
    assert key[0][5] == key[0][9] == half
    assert key == FFT.create_key_from_metadata((4, 8), "complex32", "cpu", axes=[1])
