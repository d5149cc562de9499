"""Narrow formats: every code, every border between two codes, and whatever is drawn, against other implementations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvmath.linalg.advanced._narrow_formats import FORMATS, decode, decoded, encode, pack

EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2")
FP4 = "float4_e2m1fn_x2"
FP4_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def by_ml_dtypes(name: str) -> tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]:
    """Return (codes -> float64, float32 -> codes)."""
    package = pytest.importorskip("ml_dtypes")
    kind = getattr(package, name)
    return lambda codes: codes.view(kind).astype(np.float64), lambda values: values.astype(kind).view(np.uint8)


def by_torch(name: str) -> tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]:
    """Return (codes -> float64, float32 -> codes)."""
    torch = pytest.importorskip("torch")
    kind = getattr(torch, name)
    return (
        lambda codes: torch.from_numpy(codes.copy()).view(kind).double().numpy(),
        lambda values: torch.from_numpy(values.copy()).to(kind).view(torch.uint8).numpy(),
    )


ORACLES: tuple[Any, ...] = (by_ml_dtypes, by_torch)


def encoded(values: Any, name: str, factor: float = 1.0) -> np.ndarray:
    """Encode a list or an array."""
    array = np.asarray(values, np.float32)
    codes = np.empty(array.shape, np.uint8)
    encode(array, name, codes, factor)
    return codes


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("name", EIGHT_BITS)
def test_every_code_means_what_it_does_elsewhere(name: str, oracle: Any) -> None:
    codes = np.arange(256, dtype=np.uint8)
    want = oracle(name)[0](codes)
    np.testing.assert_array_equal(decoded(name), want)
    real = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(decoded(name))[real], np.signbit(want)[real])


def test_every_pair_of_fp4_codes() -> None:
    values = np.array([*FP4_VALUES, *(-value for value in FP4_VALUES)])
    for byte in range(256):
        np.testing.assert_array_equal(decoded(FP4)[byte], values[[byte & 15, byte >> 4]])


def test_scales_of_blocks() -> None:
    np.testing.assert_array_equal(decoded("ue8m0")[:255], 2.0 ** (np.arange(255) - 127.0))
    assert np.isnan(decoded("ue8m0")[255])
    np.testing.assert_array_equal(decoded("ue4m3")[:128], decoded("float8_e4m3fn")[:128])
    np.testing.assert_array_equal(decoded("ue4m3")[128:], decoded("ue4m3")[:128])  # the sign is ignored


@pytest.mark.parametrize("name", [*EIGHT_BITS, FP4])
def test_what_is_decoded_is_encoded_to_the_same_code(name: str) -> None:
    codes = np.arange(16 if name == FP4 else 256, dtype=np.uint8)
    values = decoded(name)[codes, 0] if name == FP4 else decoded(name)
    real = np.isfinite(values)
    np.testing.assert_array_equal(encoded(values, name)[real], codes[real])


def borders(name: str) -> np.ndarray:
    """Every value, everything half way between two, and the float32 numbers next to those."""
    grid = FORMATS[name].magnitudes()
    grid = grid[np.isfinite(grid)]
    points = np.concatenate([grid, (grid[1:] + grid[:-1]) / 2]).astype(np.float32)
    near = [points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(-np.inf))]
    positive = np.concatenate(near)
    positive = positive[positive <= FORMATS[name].largest]
    return np.concatenate([positive, -positive])


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("name", EIGHT_BITS)
def test_every_border_between_two_codes(name: str, oracle: Any) -> None:
    values = borders(name)
    np.testing.assert_array_equal(encoded(values, name), oracle(name)[1](values))


def test_every_border_between_two_fp4_codes() -> None:
    values = borders(FP4)
    grid = np.array(FP4_VALUES)
    distance = np.abs(np.abs(values.astype(np.float64))[:, None] - grid)
    nearest = distance == distance.min(1, keepdims=True)
    want = [next((code for code in np.flatnonzero(row) if code % 2 == 0), np.flatnonzero(row)[0]) for row in nearest]
    np.testing.assert_array_equal(encoded(values, FP4), np.array(want) | np.signbit(values) << 3)


@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20),
    st.sampled_from(EIGHT_BITS),
)
def test_any_finite_number(values: list[float], name: str) -> None:
    limit = FORMATS[name].largest
    got = encoded(values, name)
    want = by_ml_dtypes(name)[1](np.clip(np.array(values, np.float32), -limit, limit))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("name", "top"), [("float8_e4m3fn", 448.0), ("float8_e5m2", 57344.0), (FP4, 6.0)])
def test_what_is_too_large_becomes_the_largest(name: str, top: float) -> None:
    assert FORMATS[name].largest == top
    codes = encoded([np.inf, -np.inf, 3e38, -3e38, top * 1.25], name)
    values = decoded(name)[codes, 0] if name == FP4 else decoded(name)[codes]
    np.testing.assert_array_equal(values, [top, -top, top, -top, top])


def test_nan_stays_nan_where_the_format_has_it() -> None:
    for name in EIGHT_BITS:
        assert np.isnan(decoded(name)[encoded([np.nan, -np.nan], name)]).all()
    assert encoded([np.nan], FP4)[0] & 7 == 7


def test_a_factor_is_applied_before_rounding() -> None:
    np.testing.assert_array_equal(
        decoded("float8_e4m3fn")[encoded([1.0, 3.0, 600.0], "float8_e4m3fn", 0.5)], [0.5, 1.5, 288.0]
    )
    values = np.empty(2, np.float32)
    decode(np.array([0x38, 0xB8], np.uint8), "float8_e4m3fn", values, 3.0)
    np.testing.assert_array_equal(values, [3.0, -3.0])


@pytest.mark.parametrize("shape", [(), (3,), (0, 4), (70000,), (3, 5, 70000), (1000, 999)])
def test_any_shape_and_layout_goes_panel_by_panel(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 0x7F, shape, np.uint8)
    values = np.empty(shape[::-1], np.float32).T
    decode(codes, "float8_e4m3fn", values)
    np.testing.assert_array_equal(values, decoded("float8_e4m3fn")[codes])
    back = np.empty(shape, np.uint8)
    encode(values, "float8_e4m3fn", back)
    np.testing.assert_array_equal(back, codes)


def test_the_even_element_is_the_low_half() -> None:
    np.testing.assert_array_equal(pack(np.array([[1, 2, 15, 8]], np.uint8)), [[0x21, 0x8F]])
