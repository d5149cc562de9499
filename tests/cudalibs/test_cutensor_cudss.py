"""cuTENSOR and cuDSS without a GPU: symbols, versions, headers, constants and configuration objects."""

from __future__ import annotations

import importlib
import importlib.util
from array import array

import pytest

from nvmath.bindings import _load, cudss, cutensor
from nvmath.sparse.advanced import DirectSolverMatchingAlg, DirectSolverReorderingAlg
from nvmath.sparse.advanced._config import _DEFAULTS, PARAMETERS, CudssConfig
from nvmath.tensor._options import COMPUTE, compute_name

NEWER = {"cutensor": set(), "cudss": {"cudssSetJitCacheDir", "cudssGetPinnedMemHandler", "cudssSetPinnedMemHandler"}}


def needs(name: str) -> None:
    if _load.find_library(name) is None:
        pytest.skip(f"{_load.LIBRARIES[name].title} is not installed")


@pytest.mark.parametrize("name", NEWER)
def test_every_row_is_exported(name: str) -> None:
    needs(name)
    library = importlib.import_module(f"nvmath.bindings.{name}")._library
    opened = library.opened()
    assert {row.c_name for row in library.rows() if opened.address(row.c_name) is None} <= NEWER[name]


@pytest.mark.parametrize("name", NEWER)
def test_rows_agree_with_the_headers(name: str) -> None:
    needs(name)
    if importlib.util.find_spec("clang") is None:
        pytest.skip("libclang is not installed")
    check = pytest.importorskip("tools.bindgen.check", reason="tools is not on the path: run from the repository")
    found = list(check.problems(name))
    assert [line for line in found if not line.startswith("note:")] == []
    if found:
        pytest.skip(found[0].removeprefix("note: "))


def test_cutensor_version_and_texts() -> None:
    needs("cutensor")
    version = cutensor.get_version()
    assert _load.open_library("cutensor").version == f"{version // 10000}.{version // 100 % 100}.{version % 100}"
    assert cutensor.get_error_string(15) == "CUTENSOR_STATUS_NOT_SUPPORTED" == str(cutensor.cuTENSORError(15))


def test_compute_descriptors_are_distinct_and_recognised() -> None:
    from nvmath._core.dtypes import dtype

    needs("cutensor")
    known = [name for name in COMPUTE if cutensor._library.has("CUTENSOR_COMPUTE_DESC_" + name)]  # 2.4 lacks 4X16F
    handles = {name: getattr(cutensor.ComputeDesc, "COMPUTE_" + name)() for name in known}
    assert len(known) >= len(COMPUTE) - 1
    assert len(set(handles.values())) == len(known)
    assert all(handles.values())
    for name in ("32F", "TF32", "16BF"):
        assert compute_name(handles[name], dtype("float32")) == name
    with pytest.raises(ValueError, match="COMPUTE_TF32 does not go with float64"):
        compute_name(handles["TF32"], dtype("float64"))


def test_cudss_version() -> None:
    needs("cudss")
    parts = tuple(cudss.get_property(part) for part in range(3))
    assert _load.open_library("cudss").version == ".".join(map(str, parts))
    assert parts >= (0, 8, 0)


def test_cudss_settings() -> None:
    needs("cudss")
    config = CudssConfig(threading=True)
    try:
        for name, value in _DEFAULTS.items():
            expected = DirectSolverMatchingAlg.NONE if name == "matching_algorithm" else value  # cuDSS 1.0 would match
            assert config.get(name) == expected, name
        for name in PARAMETERS:
            if config.get(name) >= 0:  # what means the library's own choice cannot be set
                config.set(name, config.get(name))
        config.set("reordering_algorithm", DirectSolverReorderingAlg.AMD)
        config.set("matching_algorithm", 3)
        config.set("pivot_threshold", 0.25)
        config.set("max_nnz", 2**40)
        config.set("ir_num_steps", 3)
        assert config.get("reordering_algorithm") is DirectSolverReorderingAlg.AMD
        assert config.get("matching_algorithm") is DirectSolverMatchingAlg.MAX_MIN_DIAG_ALT
        assert (config.get("pivot_threshold"), config.get("max_nnz"), config.get("ir_num_steps")) == (0.25, 2**40, 3)
        with pytest.raises(ValueError, match="must be a member"):
            config.set("reordering_algorithm", 77)
    finally:
        config.close()


def test_threads_need_the_threading_library() -> None:
    needs("cudss")
    config = CudssConfig(threading=False)
    with pytest.raises(ValueError, match="CUDSS_THREADING_LIB"):
        config.set("host_nthreads", 4)


def test_every_parameter_has_the_size_of_its_dtype() -> None:
    import numpy as np

    needs("cudss")
    config = cudss.config_create()
    try:
        since_one = cudss.ConfigParam.EMULATION_MANTISSA_BIT_COUNT  # and what follows it
        known = [p for p in cudss.ConfigParam if p < since_one or cudss.get_property(0) >= 1]
        for parameter in known:
            buffer, written = array("q", [0]), array("Q", [0])
            size = np.dtype(cudss.get_config_param_dtype(parameter)).itemsize
            cudss.config_get(config, parameter, buffer.buffer_info()[0], size, written)
            assert written[0] == size or parameter is cudss.ConfigParam.DEVICE_INDICES, parameter.name
    finally:
        cudss.config_destroy(config)


def test_cudss_matrices_are_described_without_a_device() -> None:
    needs("cudss")
    matrix = cudss.matrix_create_csr(3, 3, 5, 1024, 0, 2048, 4096, 10, 10, 1, 0, 0, 0)
    dense = cudss.matrix_create_dn(3, 2, 3, 4096, 1, 0)
    try:
        assert cudss.matrix_get_format(matrix) == cudss.MatrixFormat.CSR
        assert cudss.matrix_get_format(dense) == cudss.MatrixFormat.DENSE
        cudss.matrix_set_values(dense, 8192)
        with pytest.raises(cudss.cuDSSError, match="CUDSS_STATUS_INVALID_VALUE"):
            cudss.matrix_set_values(dense, 0)
    finally:
        cudss.matrix_destroy(dense)
        cudss.matrix_destroy(matrix)
