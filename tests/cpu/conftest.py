"""The libraries that work on the CPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import nvmath
from nvmath.bindings import mkl_pardiso
from nvmath.fft import _fftw


@pytest.fixture(params=["library", "pocketfft"], scope="module")
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a module twice: on the FFTW-style library that is installed, and on scipy.fft alone."""
    found = _fftw.flavour()
    if request.param == "library" and found is None:
        pytest.skip("no library with the FFTW3 interface is installed (pip install mkl, or nvpl-fft on Arm)")
    nvmath.plan_cache.clear()
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "pocketfft":
            patch.setattr(_fftw, "flavour", lambda: None)
        yield request.param if found is None or request.param == "pocketfft" else found.flavour
    nvmath.plan_cache.clear()


@pytest.fixture(params=["pardiso", "superlu"], scope="module")
def sparse_library(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a module of sparse solvers twice: on MKL, and on SciPy's SuperLU alone."""
    if request.param == "pardiso" and not mkl_pardiso.present():
        pytest.skip("MKL is not installed (pip install mkl)")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "superlu":
            patch.setattr(mkl_pardiso, "present", lambda: False)
        yield request.param
    nvmath.plan_cache.clear()
