"""Copies, conversions, fills and scalings on host addresses."""

import numpy as np
import pytest
from fft_cases import shapes, strides
from frameworks import storage
from hypothesis import given, settings
from hypothesis import strategies as st

from nvmath._core import kernels_host
from nvmath._core.dtypes import dtype

PAIRS = [
    ("float32", "float32"), ("float64", "float64"), ("complex64", "complex64"), ("complex128", "complex128"), ("int8", "int8"),
    ("float16", "float32"), ("float32", "float16"), ("complex32", "complex64"), ("complex64", "complex32"),
    ("complex32", "complex32"), ("float64", "float32"),
]  # fmt: skip


def address(memory):
    return memory.flat.ctypes.data + memory.start * memory.flat[:1].nbytes


def read(memory, name):
    view = memory.view()
    return view[..., 0].astype(np.float32) + 1j * view[..., 1] if name == "complex32" else view


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=30)
@given(data=st.data())
def test_move(source, target, data):
    shape = data.draw(shapes(max_elements=300))
    layouts = [data.draw(strides(shape, negative=True, zero=zero)) for zero in (True, False)]
    values = np.random.default_rng(0).integers(-100, 100, shape) / (1 if source == "int8" else 4)
    if dtype(source).kind == "c":
        values = values + 1j * np.random.default_rng(1).integers(-100, 100, shape)
    if source == "int8":
        one, two = (np.ascontiguousarray(values.astype(np.int8)), np.empty(shape, np.int8))
        kernels_host.move(shape, *[tuple(s // 1 for s in a.strides) for a in (one, two)], dtype(source), dtype(target))(
            one.ctypes.data, two.ctypes.data
        )
        np.testing.assert_array_equal(one, two)
        return
    one, two = storage(values, source, layouts[0]), storage(np.zeros(shape), target, layouts[1])
    before = two.flat.copy()
    kernels_host.move(shape, layouts[0], layouts[1], dtype(source), dtype(target))(address(one), address(two))
    np.testing.assert_array_equal(read(two, target), read(one, source))
    gaps = np.isnan(before)
    np.testing.assert_array_equal(np.isnan(two.flat), gaps)  # nothing but the elements was written


def test_move_narrows_like_ieee():
    values = np.array([1e9, -1e9, np.nan, 1 + 2**-11, 1 + 3 * 2**-11, 2**-25, 65519, 65520], np.float32)
    result = np.empty(8, np.float16)
    kernels_host.move((8,), (1,), (1,), dtype("float32"), dtype("float16"))(values.ctypes.data, result.ctypes.data)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(result, values.astype(np.float16))


def test_move_clears_what_a_larger_target_has_beside():
    source, target = np.arange(6.0).reshape(2, 3), np.full((2, 5), np.nan)
    kernels_host.move((2, 3), (3, 1), (5, 1), dtype("float64"), dtype("float64"), 80)(
        source.ctypes.data, target.ctypes.data
    )
    np.testing.assert_array_equal(target, np.pad(source, ((0, 0), (0, 2))))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 0)])
def test_move_nothing(shape):
    kernels_host.move(shape, (1,) * len(shape), (1,) * len(shape), dtype("float32"), dtype("float32"))(0, 0)


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128", "float16", "complex32"])
@settings(max_examples=20)
@given(data=st.data())
def test_scale(name, data):
    shape = data.draw(shapes(max_elements=200))
    layout = data.draw(strides(shape, negative=True, zero=False))
    values = np.arange(int(np.prod(shape))).reshape(shape) % 64 * (1 + (0.5j if dtype(name).kind == "c" else 0))
    memory = storage(values, name, layout)
    gaps = np.isnan(memory.flat)
    kernels_host.scale(shape, layout, dtype(name), 0.25)(address(memory), address(memory))
    np.testing.assert_array_equal(read(memory, name), values * 0.25)
    np.testing.assert_array_equal(np.isnan(memory.flat), gaps)


def test_clean_clears_imaginary_parts_only():
    values = np.arange(12.0).reshape(3, 4) * (1 + 1j)
    kernels_host.clean((3, 2), (4, 3), dtype("complex128"))(values.ctypes.data, values.ctypes.data)
    assert not values[:, [0, 3]].imag.any()
    np.testing.assert_array_equal(values.real, np.arange(12.0).reshape(3, 4))
    np.testing.assert_array_equal(values[:, 1:3].imag, np.arange(12.0).reshape(3, 4)[:, 1:3])


@pytest.mark.parametrize("nbytes", [1, 63, 1 << 20])
def test_scratch_is_aligned(nbytes):
    ptr, owner = kernels_host.scratch(nbytes)
    assert ptr % 64 == 0
    assert owner.nbytes == nbytes


@settings(max_examples=60)
@given(data=st.data())
def test_array_at_is_the_memory_itself(data):
    shape = data.draw(shapes(max_elements=200))
    layout = data.draw(strides(shape, negative=True, zero=True))
    memory = storage(np.random.default_rng(0).random(shape), "float64", layout)
    seen = kernels_host.array_at(address(memory), shape, layout, dtype("float64"))
    np.testing.assert_array_equal(seen, memory.view())
    seen[...] = 5
    np.testing.assert_array_equal(memory.view(), 5)


def test_scale_by_parts():
    """A complex factor would make NaN of an infinity, and NumPy's own settings for errors are not for our arithmetic."""
    values = np.array([1e308 + 0j, np.inf + 1j, 1 + 2j])
    run = kernels_host.scale((3,), (1,), dtype("complex128"), 10.0)
    with np.errstate(all="raise"):
        run(values.ctypes.data, values.ctypes.data)
    np.testing.assert_array_equal(values, [complex(np.inf, 0), complex(np.inf, 10), 10 + 20j])


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1 + 2.0**-8 + 2.0**-40, 0x3F81), (1 + 2.0**-8, 0x3F80), (1 + 2.0**-8 - 2.0**-40, 0x3F80), (-1 - 2.0**-8 - 2.0**-40, 0xBF81),
        (1e300, 0x7F80), (-1e300, 0xFF80), (3.4e38, 0x7F80), (1e-300, 0x0000), (-1e-300, 0x8000), (np.inf, 0x7F80), (np.nan, 0x7FC0),
    ],
)  # fmt: skip
def test_move_rounds_doubles_to_bfloat16_once_and_quietly(value, bits):
    source, target = np.array([value]), np.zeros(1, np.uint16)
    kernels_host.move((1,), (1,), (1,), dtype("float64"), dtype("bfloat16"))(source.ctypes.data, target.ctypes.data)
    assert target[0] == bits
