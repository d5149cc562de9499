"""Prime factors of lengths: beyond the largest that a library has a kernel for, it convolves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LARGEST_DIRECT_PRIME: Final = 127
"""The largest prime factor that cuFFT transforms directly."""


def largest_prime_factor(length: int) -> int:
    """Return the largest prime factor of a positive integer."""
    largest, factor = 1, 2
    while factor * factor <= length:
        while length % factor == 0:
            largest, length = factor, length // factor
        factor += 1
    return max(largest, length)


def lengths_with_large_primes(lengths: Sequence[int]) -> tuple[int, ...]:
    """Those lengths for which cuFFT convolves; it may refuse callbacks there (``CUFFT_NOT_SUPPORTED``)."""
    return tuple(length for length in lengths if largest_prime_factor(length) > LARGEST_DIRECT_PRIME)
