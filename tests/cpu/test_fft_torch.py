"""What only PyTorch tensors have: lazy conjugation and negation, gradients, subclasses, layouts."""

import warnings

import numpy as np
import pytest
from fft_cases import cases, examples
from frameworks import BY_NAME
from hypothesis import given
from hypothesis import strategies as st

import nvmath
from nvmath._core.errors import UngradedWarning
from nvmath.fft import FFT, fft, irfft, rfft

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.usefixtures("backend")

TORCH = BY_NAME["torch-cpu"]


def z(*shape, dtype=torch.complex128):
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).to(dtype)


def close(got, want):
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_conjugate_views():  # W4
    x = z(3, 8)
    assert x.conj().is_conj()
    for view in (x.conj(), x.T.conj().T, x.conj()[:, ::2], x.conj()[1]):
        close(fft(view, axes=[-1]), torch.fft.fft(view.resolve_conj()))
    close(irfft(x.conj(), axes=[1]), torch.fft.irfft(x.conj(), norm="forward"))


def test_negative_views():  # W4
    x = z(3, 8)
    view = x.conj().imag
    assert view.is_neg()
    close(rfft(view, axes=[1]), torch.fft.rfft(view.resolve_neg()))
    close(rfft(view, axes=[0]), torch.fft.rfft(view.resolve_neg(), dim=0))


def test_lazy_views_after_plain_ones_and_back():
    x = z(3, 8)
    for _ in range(2):
        close(fft(x, axes=[1]), torch.fft.fft(x))
        close(fft(x.conj(), axes=[1]), torch.fft.fft(x.conj()))


def test_lazy_views_in_a_stateful_object():
    x, y = z(3, 8), z(3, 8) * 2
    with FFT(x.conj(), axes=[1]) as transform:
        transform.plan()
        close(transform.execute(), torch.fft.fft(x.conj()))
        transform.reset_operand(y.conj())
        close(transform.execute(), torch.fft.fft(y.conj()))
        transform.reset_operand(y)
        close(transform.execute(), torch.fft.fft(y))
        transform.reset_operand(y.conj())
        close(transform.execute(), torch.fft.fft(y.conj()))


def test_edits_under_a_lazy_view_are_seen():
    x = z(8)
    with FFT(x.conj()) as transform:
        transform.plan()
        transform.execute()
        x *= 3
        close(transform.execute(), torch.fft.fft(x.conj()))


@pytest.mark.parametrize("make", [lambda x: x.conj(), lambda x: x.conj().T])
def test_a_lazy_view_cannot_be_overwritten(make):
    x = z(4, 4)
    keep = x.clone()
    with pytest.raises(ValueError, match="lazy conjugation"):
        fft(make(x), options={"inplace": True})
    with pytest.raises(ValueError, match="lazy conjugation"):
        fft(x, out=z(4, 4).conj())
    close(x, keep)


@examples(50)
@given(data=st.data())
def test_conjugate_views_of_any_layout(data):
    case = data.draw(cases(TORCH, kinds=("C2C", "C2R"), precisions=("complex64", "complex128")))
    values = case.values()
    operand = case.operand(TORCH, values.conj()).conj()
    with FFT(operand, **case.keywords()) as transform:
        transform.plan()
        case.check(TORCH, transform.execute(case.direction), case.want(values))


# --- gradients --------------------------------------------------------------------------------------------------------


def test_a_tensor_that_requires_a_gradient_warns_where_the_user_is():
    x = z(8).requires_grad_()
    with pytest.warns(UngradedWarning, match="detach") as caught:
        y = fft(x)
    assert {warning.filename for warning in caught} == {__file__}
    assert not y.requires_grad
    with pytest.warns(UngradedWarning):
        fft(x)
    with pytest.warns(UngradedWarning):
        FFT(x).free()


def test_no_warning_where_no_gradient_is_lost():
    x = z(8).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fft(x.detach())
        with torch.no_grad():
            close(fft(x), torch.fft.fft(x))
        with torch.inference_mode():
            close(fft(z(8)), torch.fft.fft(z(8)))


# --- subclasses and layouts -------------------------------------------------------------------------------------------


def test_parameters_and_subclasses():
    class Sub(torch.Tensor):
        pass

    x = z(4, 4)
    close(fft(torch.nn.Parameter(x, requires_grad=False)), torch.fft.fft2(x))
    got = fft(x.as_subclass(Sub))
    close(got.as_subclass(torch.Tensor), torch.fft.fft2(x))


def test_channels_last():
    x = z(2, 3, 4, 5).to(memory_format=torch.channels_last)
    for axes in ([2, 3], [1], [0, 2], [3, 1, 0]):
        for layout in ("natural", "optimized"):
            got = fft(x, axes=axes, options={"result_layout": layout})
            close(got, torch.fft.fftn(x, dim=axes))


def test_expanded_and_unfolded_tensors():
    x = z(8)
    close(fft(x.expand(5, 8), axes=[1]), torch.fft.fft(x.expand(5, 8)))
    close(fft(x.expand(5, 8), axes=[0]), torch.fft.fft(x.expand(5, 8), dim=0))
    windows = z(20).unfold(0, 8, 3)
    close(fft(windows, axes=[1]), torch.fft.fft(windows))


def test_flipped_tensors_and_flipped_arrays():  # R104
    for view in (np.arange(6.0)[::-1], np.arange(12.0).reshape(3, 4)[:, ::-1]):
        np.testing.assert_allclose(rfft(view), np.fft.rfftn(view.copy()), atol=1e-10)
    close(
        rfft(torch.arange(6.0, dtype=torch.double).flip(0)),
        torch.fft.rfft(torch.arange(6.0, dtype=torch.double).flip(0)),
    )


def test_real_and_imaginary_parts_of_a_tensor():
    x = z(3, 8)
    close(rfft(x.real, axes=[1]), torch.fft.rfft(x.real))
    close(rfft(x.imag, axes=[0, 1]), torch.fft.rfftn(x.imag, dim=(0, 1)))


def test_a_tensor_and_an_array_with_the_same_memory():
    x = z(4, 8)
    array = x.numpy()
    for _ in range(2):
        assert isinstance(fft(x), torch.Tensor)
        assert type(fft(array)) is np.ndarray
    assert fft(x, options={"inplace": True}) is x
    np.testing.assert_array_equal(array, x.numpy())


def test_a_result_is_resizable_memory_of_torch():
    y = fft(z(4, 8), axes=[0])
    assert y.device.type == "cpu"
    y += 1
    assert nvmath.fft.ifft(y).shape == (4, 8)


def test_the_storage_of_an_operand_may_be_exchanged():
    x = torch.ones(8, dtype=torch.complex64)
    with FFT(x) as transform:
        transform.plan()
        x.data = torch.full((8,), 5, dtype=torch.complex64)
        assert transform.execute()[0] == 40
        x.data = torch.full((9,), 5, dtype=torch.complex64)
        with pytest.raises(ValueError, match=r"\(8,\).*\(9,\)"):
            transform.execute()


def test_an_operand_whose_storage_is_gone():
    x = torch.ones(8, dtype=torch.complex64)
    with FFT(x) as transform:
        transform.plan()
        x.untyped_storage().resize_(0)
        with pytest.raises(ValueError, match="no memory"):
            transform.execute()


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # of torch itself, the first time
def test_forward_mode_tangents_are_not_dropped_in_silence():
    import torch.autograd.forward_ad as forward

    x = torch.ones(8, dtype=torch.complex64)
    fft(x)
    with forward.dual_level(), pytest.warns(UngradedWarning):
        fft(forward.make_dual(x, x))


def test_tensors_that_require_a_gradient_are_not_overwritten():
    x = torch.ones(8, dtype=torch.complex64, requires_grad=True)
    with pytest.warns(UngradedWarning), pytest.raises(ValueError, match="operand requires a gradient"):
        fft(x, options={"inplace": True})
    with pytest.raises(ValueError, match="out requires a gradient"):
        fft(x.detach(), out=x)
