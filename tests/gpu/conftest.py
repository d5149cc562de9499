"""What the tests on a GPU share: routes to it, and work that keeps a stream busy."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import oracles
import pytest
from frameworks import BY_NAME

import nvmath
from nvmath._core import place

# name of the framework, execution
ROUTES = [
    ("cupy", None), ("torch-cuda", None), ("numpy", "cuda"), ("torch-cpu", "cuda"), ("dlpack", "cuda"), ("cupy", "cpu"),
    ("torch-cuda", "cpu"),
]  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `route` runs for every package and place of operands, with the work on a GPU or from one."""
    if "route" in metafunc.fixturenames:
        rows = []
        for name, execution in ROUTES:
            why = BY_NAME[name].missing()
            marks = [pytest.mark.skipif(bool(why), reason=why)] if why else []
            rows.append(pytest.param((BY_NAME[name], execution), id=f"{name}-{execution or 'there'}", marks=marks))
        metafunc.parametrize("route", rows)


@pytest.fixture
def nothing_stays_behind() -> Iterator[None]:
    """The cache is emptied, and what it gave up is destroyed, while the GPU is still there."""
    yield
    nvmath.plan_cache.clear()
    gc.collect()
    place.reap()


@pytest.fixture
def torch() -> Any:
    """PyTorch with a GPU."""
    why = BY_NAME["torch-cuda"].missing()
    if why:
        pytest.skip(why)
    import torch

    return torch


@pytest.fixture
def cupy() -> Any:
    """CuPy."""
    return pytest.importorskip("cupy", reason="cupy is not installed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """numba-cuda 0.30 uses what NumPy 2.5 deprecates, while it is imported; not ours to mend."""
    for item in items:
        if "gpu" in item.path.parts:
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning:numba"))


@pytest.fixture(autouse=True, scope="module")
def _bounds_of_cufft() -> Iterator[None]:
    """For lengths with large prime factors cuFFT convolves: 1.7e-5 was seen for 509 equal numbers in single precision."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracles, "MULTIPLE", 5 * oracles.MULTIPLE)
        yield
