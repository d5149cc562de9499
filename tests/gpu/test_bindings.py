"""The low-level bindings on a GPU: what examples/bindings do not show: array arguments, structures, errors, threads, streams."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from nvmath._core import place as places
from nvmath.bindings import _load, cublas, cublasLt, curand, cusolver, cusolverDn, cusparse, nccl

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not places.has_device(), reason="no CUDA device")]


def needs(*names: str) -> None:
    for name in names:
        if _load.find_library(name) is None:
            pytest.skip(f"{_load.LIBRARIES[name].title} is not installed")


@pytest.fixture
def blas() -> Any:
    needs("cublas")
    handle = cublas.create()
    yield handle
    cublas.destroy(handle)


@pytest.mark.parametrize("kind", ["f4", "f8", "c8", "c16"])
def test_scalars_are_buffers_or_addresses(cupy: Any, blas: int, kind: str) -> None:
    n = 37
    rng = cupy.random.default_rng(1)
    x, y = (rng.standard_normal(n).astype(kind) for _ in range(2))
    function = getattr(cublas, {"f4": "saxpy", "f8": "daxpy", "c8": "caxpy", "c16": "zaxpy"}[kind])
    alpha = np.array([1.5], dtype=kind)
    expected = y + alpha[0] * x
    for given in (alpha, alpha[0], alpha.ctypes.data, memoryview(alpha)):
        result = y.copy()
        function(blas, n, given, x.data.ptr, 1, result.data.ptr, 1)
        assert cupy.allclose(result, expected, rtol=1e-5)
    cublas.set_pointer_mode(blas, cublas.PointerMode.DEVICE)
    on_device, result = cupy.asarray(alpha), y.copy()
    function(blas, n, on_device.data.ptr, x.data.ptr, 1, result.data.ptr, 1)
    assert cupy.allclose(result, expected, rtol=1e-5)


def test_results_of_64_bit_functions_and_host_results(cupy: Any, blas: int) -> None:
    x = cupy.arange(1000, dtype=cupy.float32)
    cublas.set_pointer_mode(blas, cublas.PointerMode.HOST)
    narrow, wide = np.zeros(1, dtype="i4"), np.zeros(1, dtype="i8")
    cublas.isamax(blas, x.size, x.data.ptr, 1, narrow)
    cublas.isamax_64(blas, x.size, x.data.ptr, 1, wide)
    assert narrow[0] == wide[0] == 1000  # counted from 1
    assert cublas.get_pointer_mode(blas) == cublas.PointerMode.HOST
    assert cublas.get_version(blas) >= 12000


def test_vectors_go_from_and_to_numpy(cupy: Any) -> None:
    needs("cublas")
    host, device, back = np.arange(20, dtype="f8"), cupy.zeros(20), np.zeros(20)
    cublas.set_vector(20, 8, host, 1, device.data.ptr, 1)
    cublas.get_vector(20, 8, device.data.ptr, 1, back, 1)
    assert (back == host).all()


def test_grouped_products_take_sequences(cupy: Any, blas: int) -> None:
    """Two groups of products of different sizes; the arrays of sizes are on the host, those of addresses on the device."""
    if cublas.get_version(blas) < 120500:
        pytest.skip("cublasDgemmGroupedBatched came with 12.5")
    sizes, counts = [(8, 6, 4), (5, 7, 9)], [2, 3]
    rng = cupy.random.default_rng(0)
    triples = [
        tuple(cupy.asfortranarray(rng.standard_normal(shape)) for shape in ((m, k), (k, n), (m, n)))
        for (m, n, k), count in zip(sizes, counts, strict=True)
        for _ in range(count)
    ]
    pointers = [cupy.array([triple[at].data.ptr for triple in triples], dtype=cupy.uint64) for at in range(3)]
    ms, ns, ks = (list(column) for column in zip(*sizes, strict=True))
    expected = [2 * a @ b + c for a, b, c in triples]
    no, twos, ones = [cublas.Operation.N] * 2, [2.0, 2.0], [1.0, 1.0]
    cublas.dgemm_grouped_batched(
        blas, no, no, ms, ns, ks, np.array(twos), pointers[0].data.ptr, ms, pointers[1].data.ptr, ks, np.array(ones),
        pointers[2].data.ptr, ms, 2, counts,
    )  # fmt: skip
    assert all(cupy.allclose(c, e) for (_, _, c), e in zip(triples, expected, strict=True))


def test_errors_on_a_device(cupy: Any, blas: int) -> None:
    with pytest.raises(cublas.cuBLASError) as caught:
        cublas.sgemm(blas, 9, 0, 1, 1, 1, np.float32(1), 0, 1, 0, 1, np.float32(0), 0, 1)
    assert caught.value.function == "cublasSgemm_v2"
    assert caught.value.status == cublas.Status.INVALID_VALUE
    assert str(caught.value).startswith("CUBLAS_STATUS_INVALID_VALUE (7) from cublasSgemm_v2: ")


def test_an_algorithm_is_a_record_that_can_be_kept(cupy: Any) -> None:
    needs("cublasLt")
    handle = cublasLt.create()
    description = cublasLt.matmul_desc_create(cublas.ComputeType.COMPUTE_32F, 0)
    layout = cublasLt.matrix_layout_create(0, 64, 64, 64)
    preference = cublasLt.matmul_preference_create()
    found, count = cublasLt.MatmulHeuristicResult(4), np.zeros(1, "i4")
    cublasLt.matmul_algo_get_heuristic(handle, description, layout, layout, layout, layout, preference, 4, found, count)
    assert 1 <= count[0] <= 4
    assert (np.atleast_1d(found.state)[: count[0]] == 0).all()
    algorithm = cublasLt.MatmulAlgo.from_buffer(bytearray(found.algo[:1].tobytes()))  # as if read from a file
    ids = np.zeros(1, dtype=cublasLt.get_matmul_algo_config_attribute_dtype(cublasLt.MatmulAlgoConfigAttribute.ID))
    written = np.zeros(1, "u8")
    cublasLt.matmul_algo_config_get_attribute(
        algorithm.ptr, cublasLt.MatmulAlgoConfigAttribute.ID, ids, ids.nbytes, written
    )
    assert written[0] == ids.nbytes
    a = cupy.random.default_rng(0).standard_normal((64, 64), dtype=cupy.float32)
    d = cupy.zeros_like(a)
    cublasLt.matmul(
        handle, description, np.float32(1), a.data.ptr, layout, a.data.ptr, layout, np.float32(0), d.data.ptr, layout,
        d.data.ptr, layout, algorithm, 0, 0, cupy.cuda.get_current_stream().ptr,
    )  # fmt: skip
    assert cupy.allclose(d, a @ a, rtol=1e-3, atol=1e-3)
    cublasLt.matmul_preference_destroy(preference)
    cublasLt.matrix_layout_destroy(layout)
    cublasLt.matmul_desc_destroy(description)
    cublasLt.destroy(handle)


@pytest.mark.parametrize("kind", ["PSEUDO_XORWOW", "PSEUDO_PHILOX4_32_10", "PSEUDO_MRG32K3A"])
def test_random_numbers_are_those_of_the_host(cupy: Any, kind: str) -> None:
    """In the legacy order a device gives what the host gives."""
    needs("curand")
    n, drawn = 4096, []
    for make, where in ((curand.create_generator, "device"), (curand.create_generator_host, "host")):
        generator = make(curand.RngType[kind])
        curand.set_pseudo_random_generator_seed(generator, 99)
        curand.set_generator_ordering(generator, curand.Ordering.PSEUDO_LEGACY)
        array = cupy.zeros(n, dtype=cupy.uint32) if where == "device" else np.zeros(n, dtype="u4")
        curand.generate(generator, array.data.ptr if where == "device" else array, n)
        cupy.cuda.Device().synchronize()
        drawn.append(cupy.asnumpy(array))
        curand.destroy_generator(generator)
    assert (drawn[0] == drawn[1]).all()


def test_a_poisson_distribution_is_made_and_ended(cupy: Any) -> None:
    needs("curand")
    where = np.zeros(1, dtype="u8")
    curand.create_poisson_distribution(3.0, where.ctypes.data)
    assert where[0]
    curand.destroy_distribution(int(where[0]))


def test_dense_and_sparse_statuses(cupy: Any) -> None:
    needs("cusolver", "cusparse")
    handle = cusolverDn.create()
    with pytest.raises(
        cusolver.cuSOLVERError, match=r"CUSOLVER_STATUS_NOT_INITIALIZED \(1\) from cusolverDnDgetrf_bufferSize: "
    ):
        cusolverDn.dgetrf_buffer_size(0, 4, 4, 0, 4)
    cusolverDn.destroy(handle)
    handle = cusparse.create()
    assert cusparse.get_version(handle) >= 12000
    cusparse.set_pointer_mode(handle, cusparse.PointerMode.DEVICE)
    assert cusparse.get_pointer_mode(handle) == cusparse.PointerMode.DEVICE
    cusparse.destroy(handle)


def test_eight_threads_with_a_handle_each(cupy: Any) -> None:
    needs("cublas")
    rng = cupy.random.default_rng(0)
    a = rng.standard_normal((128, 128))
    expected, wrong = (a.T @ a.T).T, []  # columns: C = A A
    device = cupy.cuda.Device().id

    def work() -> None:
        with cupy.cuda.Device(device), cupy.cuda.Stream(non_blocking=True) as stream:
            handle = cublas.create()
            cublas.set_stream(handle, stream.ptr)
            result = cupy.zeros_like(a)
            for _ in range(20):
                one, zero = np.float64(1), np.float64(0)
                cublas.dgemm(
                    handle, 0, 0, 128, 128, 128, one, a.data.ptr, 128, a.data.ptr, 128, zero, result.data.ptr, 128
                )
            stream.synchronize()
            cublas.destroy(handle)
            if not cupy.allclose(result, expected):
                wrong.append(result)

    cupy.cuda.Device().synchronize()
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_communicator_of_one_rank(cupy: Any) -> None:
    needs("nccl")
    communicator = nccl.comm_init_rank(1, bytearray(nccl.get_unique_id()), 0)
    assert nccl.comm_cu_device(communicator) == cupy.cuda.Device().id
    nccl.comm_finalize(communicator)
    nccl.comm_destroy(communicator)
    for bad in (1, -1):
        with pytest.raises(nccl.NCCLError, match="from ncclCommInitRank: "):
            nccl.comm_init_rank(1, nccl.get_unique_id(), bad)
