"""The kernels of sparse systems on a GPU: NVRTC compiles them for every combination of types."""

from __future__ import annotations

import pytest

from nvmath._core.dtypes import dtype
from nvmath.bindings import _load, _nvrtc
from nvmath.sparse.advanced._config import PARAMETERS, CudssConfig
from nvmath.sparse.advanced._cuda_kernel import SOURCES, source

needs_nvrtc = pytest.mark.skipif(
    _load.find_library("nvrtc") is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)"
)


@needs_nvrtc
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("values", ["float32", "float64", "complex64", "complex128"])
def test_kernels_compile(name: str, values: str) -> None:
    for part in (0, 1, 2) if name == "multiply" else (0,):
        for index in ("int32", "int64"):
            text = source(name, dtype(values), index, "int32", hermitian=values.startswith("complex"), part=part)
            assert _nvrtc.compile(text, "kernel.cu", ("-arch=sm_90",))


@pytest.mark.skipif(
    _load.find_library("cudss") is None, reason="cuDSS is not installed (pip install nvidia-cudss-cu13)"
)
def test_settings_are_copied() -> None:
    first = CudssConfig(threading=True)
    try:
        first.set("ir_num_steps", 7)
        first.set("pivot_eps", 1e-9)
        first.go_hybrid(2)
        second = first.twin()
        try:
            assert {name: second.get(name) for name in PARAMETERS} == {name: first.get(name) for name in PARAMETERS}
            second.set("matching_algorithm", 5)
            assert first.get("matching_algorithm") != 5
        finally:
            second.close()
    finally:
        first.close()
