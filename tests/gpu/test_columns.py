"""The kernel for columns on a GPU, against NumPy: numbers, layouts, and that nothing beside the columns is touched."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from nvmath._core import place as places
from nvmath.bindings import _cuda as driver
from nvmath.bindings import _nvrtc as nvrtc
from nvmath.fft._callbacks import Callback, DeviceCallable, normalise
from nvmath.fft._columns import Columns, ColumnTransform, recipe_of
from nvmath.fft._columns_source import Recipe

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not places.has_device(), reason="no CUDA device")]

LENGTHS = [(n, d) for n in (64, 128, 256, 512, 1024, 2048, 4096, 8192) for d in (False, True) if recipe_of(n, d)]
NAMES = {False: "complex64", True: "complex128"}

_MULTIPLY = """
typedef {vector} T;
__device__ inline T product(T a, T b) {{ return {{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}}; }}
__device__ T cufftJITCallbackLoad{middle}(void* in, unsigned long long at, void* info, void*) {{
    return product(((T*)in)[at], ((T*)info)[at]);
}}
__device__ void cufftJITCallbackStore{middle}(void* out, unsigned long long at, T value, void* info, void*) {{
    ((T*)out)[at] = product(value, ((T*)info)[at]);
}}
"""


def multiply(phase: str, double: bool) -> Callback:
    """A callback that multiplies by its data, compiled from C++; it defines both functions and one of them is used."""
    vector, middle = ("double2", "DoubleComplex") if double else ("float2", "Complex")
    text = _MULTIPLY.format(vector=vector, middle=middle)
    begin, end = text.index("__device__ T cufft"), text.index("__device__ void cufft")
    text = text[:end] if phase == "prolog" else text[:begin] + text[end:]
    capability = "{}{}".format(*places.cuda(0).capability)
    code = nvrtc.compile(text, options=(f"-arch=sm_{capability}", "-rdc=true"), kind="ltoir")
    callback = normalise(DeviceCallable(code, len(code)), phase, NAMES[double])  # type: ignore[arg-type]
    assert callback is not None
    return callback


@contextmanager
def on_device(*arrays: np.ndarray) -> Iterator[list[int]]:
    """Copies of arrays in device memory, copied back at the end."""
    with places.cuda(0).current():
        addresses = [driver.mem_alloc(array.nbytes) for array in arrays]
        try:
            for address, array in zip(addresses, arrays, strict=True):
                driver.memcpy_host_to_device(address, array.ctypes.data, array.nbytes)
            yield addresses
            driver.ctx_synchronize()
            for address, array in zip(addresses, arrays, strict=True):
                driver.memcpy_device_to_host(array.ctypes.data, address, array.nbytes)
        finally:
            for address in addresses:
                driver.mem_free(address)


def random(shape: tuple[int, ...], double: bool, seed: int) -> np.ndarray:
    """Complex values."""
    generator = np.random.default_rng(seed)
    return (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype(NAMES[double])


def check(
    recipe: Recipe, inverse: bool, width: int, outer: int = 1, *, inplace: bool = True, called: str = "", gap: int = 1
) -> None:
    """Transform `width` of `width + gap` columns."""
    n, double = recipe.length, recipe.double
    source = random((outer, n, width + gap), double, seed=n)
    target = source if inplace else np.full((outer, n, width + 2 * gap), np.nan, source.dtype)
    before, beside = source.copy(), target[:, :, width:].copy()
    factors = random(source.shape, double, seed=1), random(target.shape, double, seed=2)
    callbacks = [multiply(phase, double) if phase in called else None for phase in ("prolog", "epilog")]
    columns = Columns(n, width, outer, source.shape[2], n * source.shape[2], target.shape[2], n * target.shape[2])
    transform = ColumnTransform(0, recipe, columns, inverse, *callbacks)
    arrays = [source, *factors] if inplace else [source, *factors, target]
    with on_device(*arrays) as addresses:
        infos = [address if callback else 0 for address, callback in zip(addresses[1:3], callbacks, strict=True)]
        transform(addresses[0], addresses[0] if inplace else addresses[3], *infos, 0)
    want = before[:, :, :width].astype(np.complex128)
    if callbacks[0]:
        want = want * factors[0][:, :, :width]
    want = np.fft.ifft(want, axis=1) * n if inverse else np.fft.fft(want, axis=1)
    if callbacks[1]:
        want = want * factors[1][:, :, :width]
    error = np.linalg.norm(target[:, :, :width] - want) / np.linalg.norm(want)
    assert error < (4e-16 if double else 1e-7) * np.log2(n)
    np.testing.assert_array_equal(target[:, :, width:], beside)
    if not inplace:
        np.testing.assert_array_equal(source, before)


def chosen(n: int, double: bool) -> Recipe:
    """The recipe of a length."""
    recipe = recipe_of(n, double)
    assert recipe is not None
    return recipe


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize(("n", "double"), LENGTHS)
def test_in_place(n: int, double: bool, inverse: bool) -> None:
    check(chosen(n, double), inverse, width=37)


@pytest.mark.parametrize(("n", "double"), LENGTHS)
def test_out_of_place_outer_batch_both_callbacks(n: int, double: bool) -> None:
    check(chosen(n, double), False, width=17, outer=3, inplace=False, called="prolog epilog")


@pytest.mark.parametrize("called", ["prolog", "epilog", "prolog epilog"])
@pytest.mark.parametrize("double", [False, True])
def test_callbacks_in_place(double: bool, called: str) -> None:
    check(chosen(4096, double), True, width=21, outer=2, called=called)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 16, 33])
def test_ragged(width: int) -> None:
    check(chosen(512, False), False, width=width, outer=2, gap=3)


def test_more_tiles_than_the_device_holds() -> None:
    check(chosen(1024, False), False, width=4099, called="epilog")
    check(chosen(64, False), False, width=7, outer=9001)


@pytest.mark.parametrize("recipe", [
    Recipe(4096, 4, (16, 16, 16), cluster=2),
    Recipe(4096, 8, (16, 16, 16), points=32, cluster=2),
    Recipe(8192, 4, (16, 8, 8, 8), cluster=2),
    Recipe(4096, 8, (16, 16, 16), cluster=4),
])  # fmt: skip
def test_clusters(recipe: Recipe) -> None:
    if places.cuda(0).capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    check(recipe, False, width=1101, called="epilog")
    check(replace(recipe, double=True, columns=recipe.columns // 2), True, width=35, outer=2)


def test_layout_of_the_arguments() -> None:
    from nvmath.fft._columns import _Geometry

    assert ctypes.sizeof(_Geometry) == 48
