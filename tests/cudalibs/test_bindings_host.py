"""What the real libraries do without a GPU, through the bindings: values, descriptors, statuses, tables, numbers, logs."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from nvmath.bindings import (
    FunctionNotFoundError,
    _cuda,
    _load,
    cublas,
    cublasLt,
    cudss,
    curand,
    cusolver,
    cusolverDn,
    cusparse,
    cusparseLt,
    cutensor,
    mathdx,
    nccl,
    nvshmem,
)


def needs(*names: str) -> None:
    for name in names:
        if _load.find_library(name) is None:
            pytest.skip(f"{_load.LIBRARIES[name].title} is not installed")


# ------------------------------------------------------------------------------------------------ versions and statuses


@pytest.mark.parametrize(
    ("library", "module"),
    [("cublas", cublas), ("cublasLt", cublasLt), ("curand", curand), ("cusolver", cusolver), ("cusparse", cusparse),
     ("cusparseLt", cusparseLt), ("cudss", cudss)],
)  # fmt: skip
def test_properties_are_the_version(library: str, module: Any) -> None:
    needs(library)
    version = ".".join(str(module.get_property(kind)) for kind in range(3))
    stated = _load.open_library(library).version
    assert stated in ("", version)


def test_versions_of_one_number() -> None:
    needs("cusolver", "curand")
    assert cusolver.get_version() // 1000 == cusolver.get_property(0)
    assert curand.get_version() >= 10000


NO_DEVICE: list[tuple[str, Callable[[], object], str, str, str]] = [
    ("cublas", lambda: cublas.create(), "cuBLASError", "CUBLAS_STATUS_NOT_INITIALIZED", "cublasCreate_v2"),
    ("cusolver", lambda: cusolverDn.create(), "cuSOLVERError", "CUSOLVER_STATUS_NOT_INITIALIZED", "cusolverDnCreate"),
    ("cusparse", lambda: cusparse.create(), "cuSPARSEError", "CUSPARSE_STATUS_NOT_INITIALIZED", "cusparseCreate"),
    ("cusparseLt", lambda: cusparseLt.init(), "cuSPARSELtError", "CUSPARSE_STATUS_NOT_INITIALIZED", "cusparseLtInit"),
    ("curand", lambda: curand.create_generator(100), "cuRANDError", "CURAND_STATUS_INITIALIZATION_FAILED",
     "curandCreateGenerator"),
    ("cudss", lambda: cudss.create(), "cuDSSError", "CUDSS_STATUS_", "cudssCreate"),
    ("cutensor", lambda: cutensor.create(), "cuTENSORError", "CUTENSOR_STATUS_", "cutensorCreate"),
    ("nccl", lambda: nccl.comm_init_rank(1, nccl.get_unique_id(), 0), "NCCLError", "nccl", "ncclCommInitRank"),
]  # fmt: skip


@pytest.mark.parametrize(("library", "call", "kind", "name", "function"), NO_DEVICE, ids=[row[4] for row in NO_DEVICE])
def test_a_status_without_a_device_is_an_error_that_says_all(
    library: str, call: Callable[[], object], kind: str, name: str, function: str
) -> None:
    needs(library)
    if _cuda.device_count():
        pytest.skip("there is a CUDA device")
    with pytest.raises(Exception, match=function) as caught:
        call()
    error: Any = caught.value
    assert type(error).__name__ == kind
    assert error.function == function
    assert str(error).startswith(name)
    assert f"({error.status})" in str(error)


def test_explanations_are_the_librarys() -> None:
    needs("cusparse", "cublas")
    assert cusparse.get_error_string(3) == "invalid value"
    with pytest.raises(
        cusparse.cuSPARSEError, match=r"^CUSPARSE_STATUS_INVALID_VALUE \(3\) from cusparse\w+: invalid value$"
    ):
        cusparse.sp_mat_get_format(0)


# ------------------------------------------------------------------------------------------------ descriptors


def test_cusparse_descriptors_without_a_device() -> None:
    needs("cusparse")
    vector = cusparse.create_dn_vec(4, 4096, 0)
    assert cusparse.dn_vec_get(vector) == (4, 4096, 0)
    cusparse.dn_vec_set_values(vector, 8192)
    assert cusparse.dn_vec_get_values(vector) == 8192
    cusparse.destroy_dn_vec(vector)
    matrix = cusparse.create_csr(2, 3, 5, 256, 512, 1024, 2, 2, 0, 1)
    assert cusparse.csr_get(matrix) == (2, 3, 5, 256, 512, 1024, 2, 2, 0, 1)
    assert cusparse.sp_mat_get_format(matrix) == cusparse.Format.CSR
    fill = np.array([cusparse.FillMode.UPPER], dtype=cusparse.get_sp_mat_attribute_dtype(0))
    cusparse.sp_mat_set_attribute(matrix, cusparse.SpMatAttribute.FILL_MODE, fill, fill.nbytes)
    fill[0] = 7
    cusparse.sp_mat_get_attribute(matrix, cusparse.SpMatAttribute.FILL_MODE, fill, fill.nbytes)
    assert fill[0] == cusparse.FillMode.UPPER
    cusparse.destroy_sp_mat(matrix)


def test_cusolver_parameters_without_a_device() -> None:
    needs("cusolver")
    parameters = cusolverDn.irs_params_create()
    cusolverDn.irs_params_set_max_iters(parameters, 17)
    assert cusolverDn.irs_params_get_max_iters(parameters) == 17
    cusolverDn.irs_params_destroy(parameters)
    jacobi = cusolverDn.create_syevj_info()
    cusolverDn.xsyevj_set_tolerance(jacobi, 1e-7)
    cusolverDn.destroy_syevj_info(jacobi)


def test_cudss_configurations_without_a_device() -> None:
    needs("cudss")
    configuration = cudss.config_create()
    steps = np.array([3], dtype=cudss.get_config_param_dtype(cudss.ConfigParam.IR_N_STEPS))
    written = np.zeros(1, dtype="u8")
    cudss.config_set(configuration, cudss.ConfigParam.IR_N_STEPS, steps, steps.nbytes)
    steps[0] = 0
    cudss.config_get(configuration, cudss.ConfigParam.IR_N_STEPS, steps, steps.nbytes, written)
    assert (steps[0], written[0]) == (3, 4)
    cudss.config_destroy(configuration)


# ------------------------------------------------------------------------------------------------ random numbers


@pytest.fixture
def generator() -> Iterator[int]:
    needs("curand")
    made = curand.create_generator_host(curand.RngType.PSEUDO_PHILOX4_32_10)
    curand.set_pseudo_random_generator_seed(made, 2026)
    yield made
    curand.destroy_generator(made)


def test_host_generators_fill_numpy_arrays(generator: int) -> None:
    n = 100_000
    uniform, normal, counts = np.zeros(n, "f4"), np.zeros(n), np.zeros(n, "u4")
    curand.generate_uniform(generator, uniform, n)
    curand.generate_normal_double(generator, normal, n, 3.0, 0.5)
    curand.generate_poisson(generator, counts, n, 4.0)
    assert uniform.min() > 0
    assert uniform.max() <= 1
    # the mean of n numbers lies within 6 standard errors
    assert abs(uniform.mean(dtype="f8") - 0.5) < 6 * np.sqrt(1 / 12 / n)
    assert abs(normal.mean() - 3.0) < 6 * 0.5 / np.sqrt(n)
    assert abs(normal.std() - 0.5) < 6 * 0.5 / np.sqrt(2 * n)
    assert abs(counts.mean() - 4.0) < 6 * 2 / np.sqrt(n)
    logarithms = np.zeros(n, "f4")
    curand.generate_log_normal(generator, logarithms, n, 0.0, 1.0)
    assert abs(np.log(logarithms).mean(dtype="f8")) < 6 / np.sqrt(n)


@pytest.mark.parametrize(
    "kind", ["PSEUDO_XORWOW", "PSEUDO_MRG32K3A", "PSEUDO_MTGP32", "PSEUDO_MT19937", "PSEUDO_PHILOX4_32_10"]
)
def test_a_seed_and_an_offset_repeat_the_numbers(kind: str) -> None:
    needs("curand")

    def numbers(n: int) -> np.ndarray:
        made = curand.create_generator_host(curand.RngType[kind])
        curand.set_pseudo_random_generator_seed(made, 7)
        drawn = np.zeros(n, "u4")
        curand.generate(made, drawn, n)
        curand.destroy_generator(made)
        return drawn

    first = numbers(1000)
    assert (first == numbers(1000)).all()
    assert np.unique(first).size > 990


def test_quasirandom_numbers_are_the_tables(generator: int) -> None:
    """The first points of Sobol's sequence by its definition: an exclusive or of direction vectors, in Gray code."""
    dimensions, n = 3, 64
    vectors = curand.get_direction_vectors32(curand.DirectionVectorSet.DIRECTION_VECTORS_32_JOEKUO6, dimensions)
    assert vectors.shape == (dimensions, 32)
    assert curand.get_direction_vectors64(103, 2).shape == (2, 64)
    made = curand.create_generator_host(curand.RngType.QUASI_SOBOL32)
    curand.set_quasi_random_generator_dimensions(made, dimensions)
    drawn = np.zeros((dimensions, n), "u4")
    curand.generate(made, drawn, drawn.size)
    curand.destroy_generator(made)
    for dimension in range(dimensions):
        point = np.uint32(0)
        for k in range(n):
            assert drawn[dimension, k] == point
            point ^= vectors[dimension, (~k & (k + 1)).bit_length() - 1]
    constants = curand.get_scramble_constants32(5)
    assert (constants.shape, constants.dtype) == ((5,), np.dtype("u4"))
    with pytest.raises(ValueError, match="size must be from 0 to 20000"):
        curand.get_scramble_constants64(20001)


def test_wrong_requests_are_statuses(generator: int) -> None:
    xorwow = curand.create_generator_host(curand.RngType.PSEUDO_XORWOW)
    with pytest.raises(
        curand.cuRANDError, match=r"CURAND_STATUS_LENGTH_NOT_MULTIPLE \(105\) from curandGenerateNormal: "
    ):
        curand.generate_normal(xorwow, np.zeros(5, "f4"), 5, 0.0, 1.0)
    curand.destroy_generator(xorwow)
    sobol = curand.create_generator_host(curand.RngType.QUASI_SOBOL64)
    with pytest.raises(curand.cuRANDError, match="CURAND_STATUS_TYPE_ERROR"):
        curand.generate(sobol, np.zeros(4, "u4"), 4)  # it makes numbers of 64 bits: generate_long_long
    curand.destroy_generator(sobol)
    frozen = np.zeros(4, "f4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="output_ptr"):
        curand.generate_uniform(generator, frozen, 4)
    with pytest.raises(FunctionNotFoundError, match="curandGenerateBinomial is not in cuRAND"):
        curand.generate_binomial(generator, np.zeros(4, "u4"), 4, 10, 0.5)


def test_eight_threads_with_a_generator_each() -> None:
    needs("curand")
    results: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        made = curand.create_generator_host(curand.RngType.PSEUDO_XORWOW)
        curand.set_pseudo_random_generator_seed(made, number % 2)
        results[number] = np.zeros(50_000, "f4")
        for _ in range(5):
            curand.generate_uniform(made, results[number], 50_000)
        curand.destroy_generator(made)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((results[number] == results[number % 2]).all() for number in range(8))
    assert (results[0] != results[1]).any()


# ------------------------------------------------------------------------------------------------ libmathdx


def test_mathdx_describes_a_transform() -> None:
    needs("mathdx")
    handle = mathdx.cufftdx_create_descriptor()
    operators = mathdx.CufftdxOperatorType
    values = {
        "SIZE": 128,
        "DIRECTION": 0,
        "TYPE": 0,
        "PRECISION": mathdx.CommondxPrecision.F32,
        "SM": 900,
        "EXECUTION": 1,
    }
    for name, value in values.items():
        mathdx.cufftdx_set_operator_int64(handle, operators[name], value)
    assert mathdx.cufftdx_get_trait_int64(handle, mathdx.CufftdxTraitType.SHARED_MEMORY_SIZE) > 0
    block = np.zeros(3, "i8")
    mathdx.cufftdx_get_trait_int64s(handle, mathdx.CufftdxTraitType.BLOCK_DIM, 3, block)
    assert block.min() >= 1
    with pytest.raises(TypeError, match="buffer that can be written"):  # a list would lose what C writes
        mathdx.cufftdx_get_trait_int64s(handle, mathdx.CufftdxTraitType.BLOCK_DIM, 3, [0, 0, 0])
    size = mathdx.cufftdx_get_trait_str_size(handle, mathdx.CufftdxTraitType.SYMBOL_NAME)
    name = bytearray(size)
    mathdx.cufftdx_get_trait_str(handle, mathdx.CufftdxTraitType.SYMBOL_NAME, size, name)
    assert name.rstrip(b"\0").decode().isidentifier()
    with pytest.raises(mathdx.LibMathDxError) as caught:
        mathdx.cufftdx_set_operator_int64(handle, 9999, 1)
    assert caught.value.function == "cufftdxSetOperatorInt64"
    mathdx.cufftdx_destroy_descriptor(handle)


def test_mathdx_versions() -> None:
    needs("mathdx")
    major, minor, patch = mathdx.get_version_ex()
    assert mathdx.get_version() == 10000 * major + 100 * minor + patch


# ------------------------------------------------------------------------------------------------ NCCL, NVSHMEM


def test_nccl_identifiers() -> None:
    needs("nccl")
    assert nccl.get_version() > 20000
    one, other = nccl.get_unique_id(), nccl.get_unique_id()
    assert len(one) == 128
    assert one != other
    with pytest.raises(ValueError, match="comm_id must have 128 bytes, got 3"):
        nccl.comm_init_rank(1, b"abc", 0)


def test_nvshmem_identifiers() -> None:
    needs("nvshmem")
    assert nvshmem.init_status() == 0
    unique = nvshmem.UniqueId()
    nvshmem.get_uniqueid(unique.ptr)
    assert unique.internal.any()
    attributes = nvshmem.InitAttr()
    nvshmem.set_attr_uniqueid_args(1, 4, unique.ptr, attributes.ptr)
    arguments = attributes.args.uid_args
    assert (arguments.myrank, arguments.nranks, arguments.id) == (1, 4, unique.ptr)


# ------------------------------------------------------------------------------------------------ logs


def test_logs_go_to_a_function(capfd: pytest.CaptureFixture[str]) -> None:
    needs("cublasLt")
    seen: list[tuple[int, str, str]] = []
    cublasLt.logger_set_callback(lambda *message: seen.append(message))
    cublasLt.logger_set_level(5)
    cublasLt.matmul_desc_destroy(cublasLt.matmul_desc_create(cublas.ComputeType.COMPUTE_32F, 0))
    assert {"cublasLtMatmulDescCreate", "cublasLtMatmulDescDestroy"} <= {function for _, function, _ in seen}
    assert all(level > 0 and text for level, _, text in seen)

    caught = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda raised: caught.append(raised.exc_type)
    try:
        cublasLt.logger_set_callback(lambda level, function, text: 1 / 0)
        description = cublasLt.matmul_desc_create(cublas.ComputeType.COMPUTE_32F, 0)  # goes on
        cublasLt.logger_set_callback(None)
        cublasLt.logger_set_level(0)
    finally:
        sys.unraisablehook = hook
    assert ZeroDivisionError in caught
    count = len(seen)
    cublasLt.matmul_desc_destroy(description)
    assert len(seen) == count
    capfd.readouterr()


def test_a_c_function_can_be_the_callback() -> None:
    needs("cublasLt")
    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)(lambda *m: seen.append(m))
    address = ctypes.cast(function, ctypes.c_void_p).value
    cublasLt.logger_set_callback(address)
    cublasLt.logger_set_level(5)
    cublasLt.matmul_desc_destroy(cublasLt.matmul_desc_create(cublas.ComputeType.COMPUTE_32F, 0))
    cublasLt.logger_set_callback(None)
    cublasLt.logger_set_level(0)
    assert seen
