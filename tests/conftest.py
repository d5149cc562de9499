"""Fixtures that every suite shares."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import nvmath


def pytest_configure(config: pytest.Config) -> None:
    """PyTorch warns once per process when the first complex32 tensor is made; that is its own affair."""
    config.addinivalue_line("filterwarnings", "ignore:ComplexHalf support is experimental:UserWarning")


settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("default")


@pytest.fixture
def fresh_cache() -> Iterator[None]:
    """An empty plan cache with its default bounds, before and after."""
    nvmath.plan_cache.clear(captured=True)  # no test replays the graph of another
    yield
    nvmath.plan_cache.configure(max_entries=256, max_nbytes=2**30, enabled=True)
    nvmath.plan_cache.clear(captured=True)
