"""Mistakes that newcomers made: each is told what to do instead."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import nvmath
from nvmath.bindings import FunctionNotFoundError, LibraryNotFoundError, _load, cublas
from nvmath.bindings.nvpl import blas, fft
from nvmath.linalg._solver._lapack import source
from nvmath.sparse.advanced import direct_solver


@pytest.mark.parametrize("named", ["nope", "/nowhere/liblapack.so"])
def test_a_lapack_that_is_not_there_is_not_replaced_silently(named: str) -> None:
    script = "import numpy as np, nvmath; print(nvmath.linalg.direct_solver(np.eye(3), np.ones(3)))"
    environment = {"NVMATH_LAPACK_CPU_LIBRARY": named}
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False, env=os.environ | environment
    )  # fmt: skip
    assert run.returncode == 1
    assert LibraryNotFoundError.__name__ in run.stderr
    assert named in run.stderr
    told = subprocess.run(
        [sys.executable, "-m", "nvmath", "info"], capture_output=True, text=True, timeout=100, check=False, env=os.environ | environment
    ).stdout  # fmt: skip
    (line,) = (line for line in told.splitlines() if line.strip().startswith("dense solver on the CPU  "))
    assert "OpenBLAS" not in line


def test_the_lapack_in_use_has_its_functions() -> None:
    assert source().address("dgetrf") is not None


def test_a_function_that_is_there_for_other_integers_is_named() -> None:
    library = _load.find_library("numpy_openblas")
    if library is None:
        pytest.skip("NumPy brings no OpenBLAS")
    error = _load.open_library("numpy_openblas").missing("cblas_dgemm")
    assert isinstance(error, FunctionNotFoundError)
    assert "cblas_dgemm_64 is, the same function for integers of 64 bits" in str(error)


@pytest.mark.parametrize("arguments", [(np.ones((30, 30)), np.ones((30, 30))), (np.ones((2, 2)), np.ones((2, 2)), "ij,jk")])
def test_an_expression_that_does_not_come_first(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="An expression comes first") as caught:
        nvmath.tensor.einsum(*arguments)
    assert len(str(caught.value)) < 300


def test_a_list_is_no_right_hand_side() -> None:
    with pytest.raises(ValueError, match=r"numpy\.asarray"):
        direct_solver(sp.csr_array(np.eye(3)), [1.0, 2.0, 3.0], execution="cpu")


def test_one_length_for_two_axes() -> None:
    with pytest.raises(ValueError, match="n = 4"):
        nvmath.fft.fft(np.ones((2, 3, 4), complex), n=4, axes=(1, 2))


def test_names_of_dtypes_are_strings() -> None:
    with pytest.raises(ValueError, match="given as a string"):
        nvmath.fft.compile_prolog(lambda data, offset, info, smem: data[offset], np.float64, "float64")


def test_no_axes_are_all() -> None:
    a = np.arange(12.0).reshape(3, 4) + 0j
    np.testing.assert_allclose(nvmath.fft.fft(a, axes=()), np.fft.fft2(a))


@pytest.mark.parametrize("module", [nvmath.bindings, cublas, fft, blas])
def test_modules_list_their_own_names(module: object) -> None:
    listed = dir(module)
    assert not {"Any", "annotations", "importlib", "Callable", "NamedTuple", "threading", "Bindings"} & set(listed)
    assert {"cublas"} <= set(listed) or {"Type", "create", "Kind", "dgemm", "PlannerFlags"} & set(listed) or module is cublas
    assert all(hasattr(module, name) for name in listed)
