"""The kernel for columns on a GPU, against NumPy: numbers, layouts, and that nothing beside the columns is touched; then whole
transforms that use it for their callbacks.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from columns_on_host import UNUSED, name

import nvmath
from nvmath._core import place as places
from nvmath._core.dtypes import DTYPES
from nvmath.bindings import _cuda as driver
from nvmath.bindings import _nvrtc as nvrtc
from nvmath.fft._callbacks import Callback, DeviceCallable, normalise
from nvmath.fft._columns import RECIPES, ColumnTransform, limits_of, toolkit_fault
from nvmath.fft._columns_source import Recipe
from nvmath.fft._passes import INPUT, OUTPUT, Columns

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not places.has_device(), reason="no CUDA device")]

ALL = [*(recipe for recipes in RECIPES.values() for recipe in recipes), *UNUSED]
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


@cache
def multiplication(phase: str, double: bool) -> bytes:
    """LTO-IR of a callback that multiplies by its data, compiled from C++."""
    vector, middle = ("double2", "DoubleComplex") if double else ("float2", "Complex")
    text = _MULTIPLY.format(vector=vector, middle=middle)
    begin, end = text.index("__device__ T cufft"), text.index("__device__ void cufft")
    text = text[:end] if phase == "prolog" else text[:begin] + text[end:]
    capability = "{}{}".format(*places.cuda(0).capability)
    return nvrtc.compile(text, options=(f"-arch=sm_{capability}", "-rdc=true"), kind="ltoir")


def multiply(phase: str, double: bool) -> Callback:
    """The callback as transforms have it."""
    code = multiplication(phase, double)
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
    if not limits_of(0).allow(recipe):
        pytest.skip("this device has no clusters, or not enough shared memory")
    n, double = recipe.length, recipe.double
    source = random((outer, n, width + gap), double, seed=n)
    target = source if inplace else np.full((outer, n, width + 2 * gap), np.nan, source.dtype)
    before, beside = source.copy(), target[:, :, width:].copy()
    factors = random(source.shape, double, seed=1), random(target.shape, double, seed=2)
    callbacks = tuple(multiply(phase, double) if phase in called else None for phase in ("prolog", "epilog"))
    layout = source.shape[2], n * source.shape[2], target.shape[2], n * target.shape[2]
    buffers = (OUTPUT, OUTPUT) if inplace else (INPUT, OUTPUT)
    precision = DTYPES["float64" if double else "float32"]
    columns = Columns(*buffers, precision, n, width, outer, *layout, "prolog" in called, "epilog" in called)
    transform = ColumnTransform(0, recipe, columns, inverse, callbacks)
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
    """The last recipe of a length, which most devices can run."""
    return [recipe for recipe in ALL if (recipe.length, recipe.double) == (n, double)][-1]


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("recipe", ALL, ids=name)
def test_in_place(recipe: Recipe, inverse: bool) -> None:
    check(recipe, inverse, width=37)


@pytest.mark.parametrize("recipe", ALL, ids=name)
def test_out_of_place_outer_batch_both_callbacks(recipe: Recipe) -> None:
    check(recipe, False, width=17, outer=3, inplace=False, called="prolog epilog")


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
    check(recipe, False, width=1101, called="epilog")
    check(replace(recipe, double=True, columns=recipe.columns // 2), True, width=35, outer=2)


def test_layout_of_the_arguments() -> None:
    from nvmath.fft._columns import _Geometry

    assert ctypes.sizeof(_Geometry) == 48


# --- whole transforms -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def torch() -> Any:
    """The package of the operands."""
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("torch has no CUDA device")
    if fault := toolkit_fault(places.cuda(0).capability):
        pytest.skip(fault)
    return found


def strided(torch: Any, shape: tuple[int, ...], strides: tuple[int, ...], seed: int) -> tuple[Any, np.ndarray]:
    """Factors in device memory, and an array that has them where the offsets of a layout point."""
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    flat = random((span,), False, seed)
    view = np.lib.stride_tricks.as_strided(flat, shape, [8 * stride for stride in strides])
    return torch.from_numpy(flat).cuda(), view


def check_transform(
    torch: Any,
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    *,
    real: bool = False,
    called: str = "epilog",
    inverse: bool = False,
    norm: str | None = None,
    by_columns: bool = True,
    gap: int = 0,
    **options: Any,
) -> None:
    """Transform with callbacks that multiply, and compare."""
    whole = random((*shape[:-1], shape[-1] + gap), False, seed=3)
    whole = whole.real.copy() if real else whole
    values = whole[..., : shape[-1]]
    operand = torch.from_numpy(whole).cuda()[..., : shape[-1]]
    with nvmath.fft.FFT(operand, axes=axes, options=options, norm=norm) as transform:
        data = [strided(torch, *transform.get_input_layout(), seed=4), strided(torch, *transform.get_output_layout(), seed=5)]
        callbacks = {}
        for phase, (factors, _) in zip(("prolog", "epilog"), data, strict=True):
            if phase in called:
                code = multiplication(phase, False)
                callbacks[phase] = nvmath.fft.DeviceCallable(code, len(code), factors.data_ptr())
        transform.plan(**callbacks)
        last = transform._plan_object.passes.steps[-1]
        fitting = any(limits_of(0).allow(recipe) for recipe in RECIPES.get(("float32", shape[min(axes)]), ()))
        assert isinstance(last, Columns) is (by_columns and fitting)
        result = transform.execute(direction="inverse" if inverse else "forward")
        got = result.cpu().numpy()
        assert result is operand or not options.get("inplace")
    want = values.astype(np.float64 if real else np.complex128)
    if "prolog" in called:
        want = want * data[0][1]
    points = np.prod([shape[axis] for axis in axes])
    transform = np.fft.rfftn if real else np.fft.ifftn if inverse else np.fft.fftn
    want = transform(want, axes=axes) * (points if inverse and not real else 1)
    if "epilog" in called:
        want = want * data[1][1]
    want = want / (points if norm == "forward" else 1)
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    assert error < 1e-6


@pytest.mark.parametrize("n", [512, 1024, 2048, 4096])
@pytest.mark.parametrize("width", [2049, 1024, 33])
def test_rfft_with_a_filter(torch: Any, n: int, width: int) -> None:
    check_transform(torch, (n, 2 * width - 2), (0, 1), real=True, by_columns=n * width >= 1 << 16)


@pytest.mark.parametrize("called", ["prolog", "epilog", "prolog epilog"])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("inplace", [False, True])
def test_one_axis(torch: Any, called: str, inverse: bool, inplace: bool) -> None:
    check_transform(
        torch, (4096, 1025), (0,), called=called, inverse=inverse, inplace=inplace, result_layout="natural"
    )  # fmt: skip


@pytest.mark.parametrize("n", [512, 1024, 2048])
def test_one_axis_of_other_lengths(torch: Any, n: int) -> None:
    check_transform(torch, (n, 257), (0,), called="prolog epilog", result_layout="natural")


@pytest.mark.parametrize("layout", ["natural", "optimized"])
@pytest.mark.parametrize(
    ("shape", "axes", "rest"),
    [
        ((1024, 300), (0, 1), {"real": True}),
        ((1024, 301), (0, 1), {"real": True, "norm": "forward"}),
        ((512, 12, 40), (0, 1, 2), {"real": True}),
        ((512, 12, 40), (1, 0, 2), {"real": True}),
        ((3, 1024, 100), (1, 2), {"real": True}),
        ((2, 3, 512, 64), (2, 3), {"real": True}),
        ((1024, 300), (0, 1), {}),
        ((1024, 300), (0, 1), {"called": "prolog epilog", "inverse": True}),
        ((512, 12, 40), (0, 1, 2), {"norm": "forward"}),
        ((3, 512, 64), (1, 2), {"called": "prolog epilog"}),
        ((2048, 100), (0, 1), {"gap": 28}),
        ((1000, 300), (0, 1), {"real": True, "by_columns": False}),
    ],
)
def test_several_axes(torch: Any, layout: str, shape: tuple[int, ...], axes: tuple[int, ...], rest: dict[str, Any]) -> None:
    check_transform(torch, shape, axes, result_layout=layout, **rest)


def test_two_axes_in_place_beside_others(torch: Any) -> None:
    check_transform(torch, (2048, 100), (0, 1), inplace=True, gap=28)


def test_a_transposed_result_has_an_epilog_of_its_own(torch: Any) -> None:
    check_transform(torch, (1024, 300), (0,), result_layout="optimized", by_columns=False)


def test_other_data_without_linking_again(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    operand = torch.randn(1024, 512, device="cuda")
    plain = torch.fft.rfft2(operand.double())
    code = multiplication("epilog", False)
    nvmath.plan_cache.clear()
    for seed in range(3):
        factors = torch.from_numpy(random((1024, 257), False, seed)).cuda()
        epilog = nvmath.fft.DeviceCallable(code, len(code), factors.data_ptr())
        got = nvmath.fft.rfft(operand, epilog=epilog)
        want = plain * factors
        assert float((got - want).norm() / want.norm()) < 1e-6
        monkeypatch.setattr("nvmath.fft._columns.build", None)  # from now on nothing is compiled
    assert nvmath.plan_cache.info().hits == 2
