"""What the tests of sparse solvers on a GPU need."""

from __future__ import annotations

import pytest

from nvmath._core import place
from nvmath.bindings import _load

NEEDS_CUDSS = [
    pytest.mark.gpu,
    pytest.mark.usefixtures("nothing_stays_behind"),
    pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device"),
    pytest.mark.skipif(
        _load.find_library("cudss") is None, reason="cuDSS is not installed (pip install nvidia-cudss-cu13)"
    ),
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state"),
    pytest.mark.filterwarnings("ignore:Sparse invariant checks are implicitly disabled"),
]
