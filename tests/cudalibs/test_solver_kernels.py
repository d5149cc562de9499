"""The kernels of dense systems on a GPU: NVRTC compiles them for every type."""

from __future__ import annotations

import pytest

from nvmath.bindings import _load, _nvrtc
from nvmath.linalg._solver._fused import SOURCE
from nvmath.linalg._solver._kernels import NORM, source

pytestmark = pytest.mark.skipif(
    _load.find_library("nvrtc") is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)"
)


@pytest.mark.parametrize("kernel", [NORM, SOURCE], ids=["norm", "fused"])
@pytest.mark.parametrize("values", ["float32", "float64", "complex64", "complex128"])
def test_kernels_compile(kernel: str, values: str) -> None:
    assert _nvrtc.compile(source(kernel, values), "kernel.cu", ("-arch=sm_90",))
