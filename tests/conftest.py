"""Fixtures that every suite shares."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import nvmath

pytest.register_assert_rewrite("fake.machine")  # tests of several folders import it


def pytest_configure(config: pytest.Config) -> None:
    """PyTorch warns once per process when the first complex32 tensor is made; that is its own affair."""
    config.addinivalue_line("filterwarnings", "ignore:ComplexHalf support is experimental:UserWarning")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep a part of the tests: the second of three for ``NVMATH_TESTS_PART=2/3``."""
    part = os.environ.get("NVMATH_TESTS_PART")
    if part:
        number, parts = map(int, part.split("/"))
        kept = items[number - 1 :: parts]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("default")


@pytest.fixture
def fresh_cache() -> Iterator[None]:
    """An empty plan cache with its default bounds, before and after."""
    nvmath.plan_cache.clear(captured=True)  # no test replays the graph of another
    yield
    nvmath.plan_cache.configure(max_entries=256, max_nbytes=2**30, enabled=True)
    nvmath.plan_cache.clear(captured=True)
