"""Whole calls as on a GPU, over a driver, a cuBLASLt and kernels that compute on the host: NumPy operands, ``execution="cuda"``."""

from __future__ import annotations

import functools
import gc
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frameworks import HOST
from hypothesis import given, settings
from matmul_cases import AUXILIARY, EPILOGS, EXTRA, Case, assert_outputs, assert_right, cases, check_shared, shared

import nvmath
from nvmath._core import kernels, kernels_host, memory, place, staging
from nvmath.bindings._bind import substitute
from nvmath.linalg.advanced import Matmul, _handles, matmul

sys.path.insert(0, str(Path(__file__).parent))
from cublaslt_on_host import HostCublasLt
from cuda_on_host import HostCuda
from finish_on_host import Kernels, compiler

BY_NUMPY = HOST[0]
THERE = {"execution": "cuda"}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HostCuda, HostCublasLt]]:
    if compiler() is None:
        pytest.skip("no C++ compiler is installed")
    made = Kernels(tmp_path_factory.mktemp("kernels"))
    cuda, library = HostCuda(made.launch), HostCublasLt()
    nvmath.plan_cache.clear()
    with pytest.MonkeyPatch.context() as patch, substitute("cuda", cuda), substitute("cublasLt", library):
        for module, name, value in (
            (place, "_cuda", {}), (place, "_garbage", deque()), (place, "_forked", False), (memory, "_pools", {}),
            (staging, "_rings", {}), (kernels, "_functions", {}), (kernels, "compiled", made.compiled), (_handles, "_handles", {}),
        ):  # fmt: skip
            patch.setattr(module, name, value)

        def move(device: int, *layout: Any) -> Any:
            run = kernels_host.move(*layout)
            return lambda source, target, stream: run(source, target)

        patch.setattr(kernels, "move", move)
        place.thread.bound = False
        yield cuda, library
        nvmath.plan_cache.clear()
        gc.collect()
        place.reap()
        place.thread.bound = False
        assert library.alive() == 0
        assert cuda.memory == {}
        assert cuda.events == set()


def check(case: Case) -> None:
    given = case.make(BY_NUMPY)
    result = matmul(given["a"], given["b"], given.get("c"), **case.arguments(given), **THERE)
    if isinstance(result, tuple):
        result, outputs = result
        assert_outputs(outputs, case)
    assert_right(result, case)
    for name, each in case.operands.items():
        if case.inplace and name == "c":
            assert result is given["c"]
        else:
            np.testing.assert_array_equal(given[name], each.values.astype(case.dtype_of(name)))


@pytest.mark.parametrize("refused", [False, True])
@settings(max_examples=150)
@given(case=cases(("float32", "float64", "float16", "complex64"), epilogs=(*EPILOGS, *AUXILIARY, *EXTRA)))
def test_any_product(machine: tuple[HostCuda, HostCublasLt], refused: bool, case: Case) -> None:
    machine[1].refuses_epilogs = refused
    nvmath.plan_cache.clear()
    try:
        check(case)
    finally:
        machine[1].refuses_epilogs = False


@settings(max_examples=200)
@given(drawn=shared())
def test_operands_that_share_memory(machine: tuple[HostCuda, HostCublasLt], drawn: Any) -> None:
    nvmath.plan_cache.clear()
    check_shared(*drawn, functools.partial(matmul, **THERE))


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("epilog", ["relu", "gelu_aux", "silu", "bgradb"])
def test_autotune_and_algorithms(machine: tuple[HostCuda, HostCublasLt], epilog: str, inplace: bool) -> None:
    library = machine[1]
    rng = np.random.default_rng(3)
    a, b, c = rng.standard_normal((24, 16)), rng.standard_normal((16, 40)), rng.standard_normal((24, 40))
    keep, want = c.copy(), {"relu": lambda z: np.maximum(z, 0), "silu": lambda z: z / (1 + np.exp(-z))}
    library.candidates, library.workspaces = 3, (0, 512, 4096)
    try:
        with Matmul(a, b, c, beta=0.5, options={"inplace": inplace}, **THERE) as product:
            algorithms = product.plan(epilog=epilog)
            assert len(algorithms) == 3
            report = product.autotune(iterations=2)
            np.testing.assert_array_equal(c, keep)
            assert len(report.rows) == 3
            for algorithm in product.algorithms or ():
                product.reset_operands(c=keep.copy())
                library.used.clear()
                result = product.execute(algorithm=algorithm)
                result = result[0] if isinstance(result, tuple) else result
                assert {words[0] for words in library.used} == {algorithm.algorithm_id}
                if epilog in want:
                    np.testing.assert_allclose(result, want[epilog](a @ b + 0.5 * keep), atol=1e-10)
            algorithms[0].split_k = 7
            product.reset_operands(c=keep.copy())
            product.execute()
    finally:
        library.candidates, library.workspaces = 1, (0,)


def test_out_and_auxiliary_outputs(machine: tuple[HostCuda, HostCublasLt]) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((9, 6)), rng.standard_normal((6, 5))
    out = np.empty((18, 10))[::2, ::2]
    result, outputs = matmul(a, b, epilog="relu_aux", out=out, **THERE)
    assert result is out
    np.testing.assert_allclose(out, np.maximum(a @ b, 0))
    there = outputs["relu_aux"]
    here = matmul(a, b, epilog="relu_aux", execution="cpu")[1]["relu_aux"]
    np.testing.assert_array_equal(there[:2], here[:2])
    gradient = matmul(a, b, epilog="drelu", epilog_inputs={"relu_aux": there}, execution="cpu")
    np.testing.assert_allclose(gradient, np.maximum(a @ b, 0))


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("with_c", [False, True])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
@pytest.mark.parametrize("k", [0, 1, 5, 8])
@pytest.mark.parametrize("epilog", ["bgrada", "bgradb", "drelu_bgrad"])
def test_sums_are_written_whatever_alpha_was_before(
    machine: tuple[HostCuda, HostCublasLt], epilog: str, k: int, batch: tuple[int, ...], with_c: bool, refused: bool
) -> None:
    """One plan for products with alpha = 0, which the library never sees, and with others; memory holds what is not written."""
    rng = np.random.default_rng(k)
    a, b, c = (rng.standard_normal((*batch, *extents)) for extents in ((16, k), (k, 8), (16, 8)))
    inputs = {"relu_aux": matmul(a, b, epilog="relu_aux", execution="cpu")[1]["relu_aux"]} if "relu" in epilog else None
    machine[1].refuses_epilogs = refused
    nvmath.plan_cache.clear()
    try:
        for alpha in (0.0, 2.0, 0.0, 0.0, None, 0.5, 0.0, -1.0):
            given = {"alpha": alpha, "epilog": epilog, "epilog_inputs": inputs} | ({"beta": 2.0} if with_c else {})
            operands = (a, b, c) if with_c else (a, b)
            there, sums = matmul(*operands, **given, **THERE)
            here, expected = matmul(*operands, **given, execution="cpu")
            np.testing.assert_allclose(there, here, atol=1e-12)
            np.testing.assert_allclose(sums[epilog], expected[epilog], atol=1e-12)
        assert nvmath.plan_cache.info().hits >= 7
    finally:
        machine[1].refuses_epilogs = False
