"""Limits on memory: every spelling, and what is refused."""

import numpy as np
import pytest

from nvmath._core.memory_limit import bytes_of, check


@pytest.mark.parametrize(
    ("value", "nbytes"),
    [
        (5, 5), (0, 0), (0.5, 500), (1.0, 1000), (2048.0, 2048), ("80%", 800), ("1 kiB", 1024), ("2 kB", 2000), ("1e3 B", 1000),
        (np.int64(5), 5), (np.float32(0.5), 500), (10**18, 10**18),
    ],
)  # fmt: skip
def test_what_a_limit_means(value, nbytes):
    assert bytes_of(value, 1000) == nbytes


@pytest.mark.parametrize(
    "value", [-1, float("nan"), float("inf"), 10**400, "1e400 B", "1e308 GB", "101%", "0%", "5", True, None, [5], 1j]
)
def test_what_is_no_limit(value):
    with pytest.raises(ValueError, match="memory_limit"):
        check(value)
