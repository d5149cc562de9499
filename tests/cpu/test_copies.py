"""Planned objects own library handles: they cannot be copied, nor sent to another process."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse

from nvmath.fft import FFT
from nvmath.linalg.advanced import Matmul
from nvmath.sparse.advanced import DirectSolver
from nvmath.tensor import BinaryContraction

MAKERS = {
    "FFT": lambda: FFT(np.ones(8, complex)),
    "Matmul": lambda: Matmul(np.eye(2), np.eye(2)),
    "BinaryContraction": lambda: BinaryContraction("ij,jk->ik", np.eye(2), np.eye(2)),
    "DirectSolver": lambda: DirectSolver(scipy.sparse.csr_array(np.eye(3)), np.ones(3)),
}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("name", MAKERS)
def test_copies_are_refused(name, copied):
    with MAKERS[name]() as planned:
        planned.plan()
        with pytest.raises(TypeError, match=f"A {name} object cannot be copied or pickled"):
            copied(planned)


def torch_or_skip():
    return pytest.importorskip("torch", reason="torch is not installed")


def test_a_tensor_without_memory_is_refused():
    torch = torch_or_skip()
    freed = torch.ones(4, 3)
    FFT(freed).free()
    freed.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="no memory"):
        FFT(freed)
    with pytest.raises(ValueError, match="no memory"):
        FFT(torch._efficientzerotensor(4, dtype=torch.complex64))


def test_an_empty_tensor_has_no_memory_and_needs_none():
    torch = torch_or_skip()
    with FFT(torch.ones(0, 8, dtype=torch.complex64), axes=[1]) as transform:
        transform.plan()
        assert transform.execute().shape == (0, 8)


@pytest.mark.parametrize("how", ["inplace", "out", "out of another layout"])
def test_writing_into_a_tensor_is_seen_by_autograd(how):
    torch = torch_or_skip()
    import nvmath

    w, z = torch.ones(4, 4, dtype=torch.complex64, requires_grad=True), torch.ones(4, 4, dtype=torch.complex64)
    y = (w * z).sum().abs()
    if how == "inplace":
        nvmath.fft.fft(z, options={"inplace": True})
    else:
        nvmath.fft.fft(torch.ones(4, 4, dtype=torch.complex64), out=z if how == "out" else z.T)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.filterwarnings("ignore:.*torch.jit.trace.*:DeprecationWarning")
def test_tracing_is_refused():
    torch = torch_or_skip()
    import nvmath

    with pytest.raises(ValueError, match=r"torch\.jit\.trace"):
        torch.jit.trace(nvmath.fft.fft, torch.randn(4, 6, dtype=torch.complex128), check_trace=False)
