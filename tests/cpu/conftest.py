"""The libraries that transform on the CPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import nvmath
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
