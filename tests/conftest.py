"""Fixtures that every suite shares."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import nvmath

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def fresh_cache() -> Iterator[None]:
    """An empty plan cache with its default bounds, before and after."""
    nvmath.plan_cache.clear()
    yield
    nvmath.plan_cache.configure(max_entries=256, max_nbytes=2**30, enabled=True)
    nvmath.plan_cache.clear()
