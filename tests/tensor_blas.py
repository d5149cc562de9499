"""Contractions on either BLAS: what a module of tests imports to run twice."""

from collections.abc import Iterator

import pytest

import nvmath
from nvmath.bindings import _openblas


@pytest.fixture(params=["openblas", "numpy"], scope="module", autouse=True)
def blas(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the module twice: on NumPy's OpenBLAS, and on numpy.matmul alone."""
    if request.param == "openblas" and not _openblas.present():
        pytest.skip("this NumPy brings no OpenBLAS")
    nvmath.plan_cache.clear()
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(_openblas, "present", lambda: False)
        yield request.param
    nvmath.plan_cache.clear()
