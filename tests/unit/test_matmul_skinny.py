"""Our own kernel for products that the memory bounds: which products it takes, its text, and its values on the host."""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from frameworks import row_major
from hypothesis import given, settings
from hypothesis import strategies as st

import nvmath
from nvmath._core import kernels, kernels_host, memory, place, staging
from nvmath._core.dtypes import DTYPES
from nvmath.bindings import _cuda as driver
from nvmath.bindings import _load
from nvmath.bindings import _nvrtc as nvrtc
from nvmath.bindings._bind import substitute
from nvmath.linalg._matrix import Operand
from nvmath.linalg.advanced import (
    Matmul,
    MatmulComputeType,
    MatmulNumericalImplFlags,
    MatmulOptions,
    MatmulPlanPreferences,
    _gpu,
    _handles,
    _skinny_form,
)
from nvmath.linalg.advanced import _skinny as skinny
from nvmath.linalg.advanced._epilogs import coerce_epilog
from nvmath.linalg.advanced._problem import MatmulProblem, specify
from nvmath.linalg.advanced._scalars import Scalars
from nvmath.linalg.advanced._skinny_form import Form, form_of, worth
from nvmath.linalg.advanced._skinny_shape import RECIPES, Recipe, shape_of
from nvmath.linalg.advanced._skinny_source import skinny_source

sys.path.insert(0, str(Path(__file__).parent))
from cublaslt_on_host import HostCublasLt
from cuda_on_host import HostCuda
from finish_on_host import Kernels, compiler
from skinny_on_host import SkinnyKernels

MILLION = 1_000_000
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")


def column_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*row_major((*shape[:-2], shape[-1], shape[-2]))[:-2], 1, shape[-2])


def operand(shape: tuple[int, ...], dtype: str, order: str = "C", alignment: int = 16) -> Operand:
    strides = (row_major if order == "C" else column_major)(shape)
    return Operand(shape, strides, DTYPES[dtype], False, alignment)


def problem(
    m: int, n: int, k: int, dtype: str = "float32", *, orders: str = "CCC", c: bool = True, epilog: Any = None,
    batch: tuple[int, ...] = (), alignment: int = 16, **options: Any,
) -> MatmulProblem:  # fmt: skip
    row = coerce_epilog(epilog)
    inputs = {"bias": operand((m, 1), dtype)} if row.has_bias else {}
    addend = operand((*batch, m, n), dtype, orders[2]) if c else None
    a, b = operand((*batch, m, k), dtype, orders[0], alignment), operand((k, n), dtype, orders[1])
    return specify(a, b, addend, inputs=inputs, epilog=row, options=MatmulOptions(**options))


def form(*arguments: Any, **more: Any) -> Form:
    made = form_of(problem(*arguments, **more))
    assert made is not None
    return made


# --- which products --------------------------------------------------------------------------------------------------


def test_the_bytes_of_the_product_of_the_issue() -> None:
    made = form(10 * MILLION, 40, 10)
    assert (made.length, made.short, made.k, made.swapped) == (10 * MILLION, 40, 10, False)
    assert made.nbytes == 4 * 10 * MILLION * (10 + 40 + 40)
    assert made.flops == 2 * 10 * MILLION * 40 * 10
    assert worth(made, MatmulPlanPreferences())


def test_a_long_n_is_the_transposed_product() -> None:
    made = form(40, MILLION, 10, orders="FFF", epilog="bias")
    assert (made.length, made.short, made.swapped) == (MILLION, 40, True)
    assert (made.d.long, made.d.short) == (40, 1)  # D is column-major, so its columns are the rows of the transpose
    assert made.bias is not None
    assert (made.bias.long, made.bias.short) == (0, 1)


def test_a_column_c_and_a_bias_stand_still_along_one_side() -> None:
    a, b, c = operand((MILLION, 10), "float32"), operand((10, 40), "float32"), operand((MILLION, 1), "float32")
    made = form_of(specify(a, b, c, options=MatmulOptions()))
    assert made is not None
    assert made.c is not None
    assert (made.c.long, made.c.short) == (1, 0)
    assert made.nbytes == 4 * MILLION * (10 + 40 + 1)


def test_batches_that_lie_in_one_line_are_one_long_side() -> None:
    made = form(1000, 40, 10, batch=(30, 50))
    assert made.length == 1500 * 1000
    a, b = operand((50, 1000, 10), "float32"), operand((50, 10, 40), "float32")
    assert form_of(specify(a, b, options=MatmulOptions())) is None  # a small factor for each entry
    assert form_of(problem(1000, 40, 10, batch=(50,), orders="FCC")) is None  # the entries do not continue each other


@pytest.mark.parametrize(
    "changes",
    [
        {"k": 65}, {"n": 129}, {"epilog": "relu_aux"}, {"epilog": "bgrada"}, {"epilog": lambda value, row, column: value},
        {"dtype": "float16", "compute_type": MatmulComputeType.COMPUTE_16F},
    ],
    ids=["long K", "wide N", "mask", "sums", "function", "half compute"],
)  # fmt: skip
def test_what_is_left_to_the_library(changes: dict[str, Any]) -> None:
    given: dict[str, Any] = {"m": MILLION, "n": 40, "k": 10, "c": False} | changes
    assert form_of(problem(given.pop("m"), given.pop("n"), given.pop("k"), **given)) is None


def test_what_is_not_worth_measuring() -> None:
    assert not worth(form(10_000, 40, 10), MatmulPlanPreferences())  # soon done anyhow
    assert not worth(form(MILLION, 128, 64, c=False), MatmulPlanPreferences())  # bound by arithmetic
    assert worth(form(MILLION, 16, 64), MatmulPlanPreferences())


def test_the_preferences_may_exclude_the_kernel() -> None:
    made, flags = form(MILLION, 40, 10), MatmulNumericalImplFlags
    assert worth(made, MatmulPlanPreferences(max_waves_count=1))
    assert not worth(made, MatmulPlanPreferences(max_waves_count=0.5))
    assert not worth(made, MatmulPlanPreferences(numerical_impl_mask=flags.ALL & ~flags.OP_TYPE_FMA))
    assert not worth(made, MatmulPlanPreferences(numerical_impl_mask=flags.ALL & ~flags.INPUT_TYPE_32F))


# --- the numbers that a kernel is compiled for ------------------------------------------------------------------------


@settings(max_examples=300)
@given(
    m=st.integers(1000, 4000), n=st.integers(1, 128), k=st.integers(1, 64), dtype=st.sampled_from(FLOATS + COMPLEX), c=st.booleans(),
    orders=st.tuples(*[st.sampled_from("CF")] * 3).map("".join), recipe=st.sampled_from(RECIPES), alignment=st.sampled_from([16, 8, 4, 2]),
)  # fmt: skip
def test_the_numbers_fit(
    m: int, n: int, k: int, dtype: str, c: bool, orders: str, recipe: Recipe, alignment: int
) -> None:
    made = form(m, n, k, dtype=dtype, orders=orders, c=c, alignment=alignment)
    shape = shape_of(made, recipe)
    if shape is None:
        return
    inner, outer = (made.length, made.d.short) if shape.along else (made.short, made.d.long)
    size = made.d.matrix.dtype.itemsize
    assert inner % shape.width == 0
    assert outer % shape.width == 0
    assert shape.width * size <= 16
    assert shape.x_width * size <= max(16, size)
    assert alignment % (shape.x_width * size) == 0 or shape.x_width == 1
    assert (made.length if shape.x_long else k) % shape.x_width == 0
    assert shape.threads <= 512
    assert n % shape.unroll == 0 or not shape.along
    assert shape.threads % (1 if shape.along else n // shape.width) == 0
    assert shape.tile >= 1


def test_every_product_has_a_recipe() -> None:
    for dtype in FLOATS:
        for n, k in ((1, 1), (3, 5), (40, 10), (128, 40), (7, 64)):
            for orders in ("CCC", "FFF", "CFF", "FCC"):
                made = form(4096, n, k, dtype=dtype, orders=orders)
                assert any(shape_of(made, recipe) for recipe in RECIPES), (dtype, n, k, orders)


def test_a_long_row_of_x_goes_through_shared_memory_in_smaller_blocks() -> None:
    made = form(100_000, 4, 64, c=False)
    for recipe in RECIPES:
        shape = shape_of(made, recipe)
        if recipe.staged:
            assert shape is not None
            assert shape.tile * shape.pitch * 4 <= 48 << 10


# --- the text ---------------------------------------------------------------------------------------------------------

CASES = [
    (dtype, m, n, k, orders, epilog)
    for dtype in FLOATS
    for m, n, k, orders, epilog in (
        (2048, 40, 10, "CCC", None), (2048, 1, 7, "CCC", "relu"), (2047, 13, 10, "FFF", "bias"), (24, 2048, 33, "CCC", "relu_bias"),
        (2048, 8, 64, "CFF", "gelu"), (2048, 40, 10, "FCC", "silu_bias"),
    )
] + [(dtype, 2048, n, 6, orders, "bias") for dtype in COMPLEX for n, orders in ((8, "CCC"), (5, "FFF"))]  # fmt: skip


@pytest.mark.skipif(
    _load.find_library("nvrtc") is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)"
)
@pytest.mark.parametrize(("dtype", "m", "n", "k", "orders", "epilog"), CASES)
def test_every_recipe_compiles(dtype: str, m: int, n: int, k: int, orders: str, epilog: str | None) -> None:
    made = form(m, n, k, dtype=dtype, orders=orders, epilog=epilog)
    shapes = {recipe: shape_of(made, recipe) for recipe in RECIPES}
    found = [
        nvrtc.compile(skinny_source(made, recipe, shape), "skinny.cu", ("-arch=sm_90",))
        for recipe, shape in shapes.items() if shape is not None
    ]  # fmt: skip
    assert found
    assert all(code[:4] == b"\x7fELF" for code in found)


# --- values, by threads of the host -----------------------------------------------------------------------------------

PLACE: Any = SimpleNamespace(device_id=0)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SkinnyKernels]:
    if compiler() is None:
        pytest.skip("no C++ compiler is installed")
    made = SkinnyKernels(tmp_path)
    monkeypatch.setattr(kernels, "compiled", made.compiled)
    monkeypatch.setattr(skinny, "_resident", lambda place, function, threads, multiprocessors: 2)
    monkeypatch.setattr(driver, "launch_kernel", made.launch, raising=False)
    yield made
    assert made.launched


def array(rng: Any, shape: tuple[int, ...], dtype: str, order: str, padding: int = 0) -> Any:
    """Numbers in one order, in lines that are perhaps longer than they need to be, at a multiple of 16 bytes."""
    rows, cols = shape if order == "C" else shape[::-1]
    whole = np.empty(rows * (cols + padding) + 16, dtype)
    start = -whole.ctypes.data % 16 // whole.itemsize
    lines = whole[start : start + rows * (cols + padding)].reshape(rows, cols + padding)
    lines[:] = rng.standard_normal(lines.shape) + (
        1j * rng.standard_normal(lines.shape) if dtype.startswith("c") else 0
    )
    found = lines[:, :cols]
    return found if order == "C" else found.T


def as_operand(given: Any, conj: bool = False) -> Operand:
    address = given.ctypes.data
    return Operand(
        given.shape, tuple(step // given.itemsize for step in given.strides), DTYPES[given.dtype.name], conj,
        min(16, address & -address),
    )  # fmt: skip


def run(
    recipe: Recipe, a: Any, b: Any, c: Any = None, bias: Any = None, *, alpha: Any = 1.0, beta: Any = 0.0, epilog: str | None = None,
    conj: bool = False, inplace: bool = False,
) -> Any:  # fmt: skip
    """Compute a product by one recipe; the result is the array that was written."""
    inputs = {} if bias is None else {"bias": as_operand(bias)}
    made = specify(
        as_operand(a, conj), as_operand(b, conj), None if c is None else as_operand(c), inputs=inputs, epilog=coerce_epilog(epilog),
        options=MatmulOptions(inplace=inplace),
    )  # fmt: skip
    scalars = Scalars(made.scale_type)
    scalars.store(scalars.read(alpha, beta))
    planned = form_of(made)
    assert planned is not None
    shape = shape_of(planned, recipe)
    if shape is None:
        return None
    names = ("a", "b", *(() if c is None else ("c",)), *inputs)
    launch = skinny.SkinnyLaunch(planned, recipe, shape, names, scalars, PLACE)
    d = (
        c
        if inplace
        else array(np.random.default_rng(0), made.out_shape, a.dtype.name, "C" if made.d.col_stride == 1 else "F")
    )
    if not inplace:
        assert tuple(step // d.itemsize for step in d.strides) == made.out_strides
        d[...] = np.nan
    launch(*(each.ctypes.data for each in (a, b, c, bias) if each is not None), d.ctypes.data, 0)
    return d


def wanted(a: Any, b: Any, c: Any, bias: Any, alpha: Any, beta: Any, epilog: str | None) -> tuple[Any, Any]:
    """The product in double precision, and the size of what was added up."""
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    z, size = (
        alpha * (a.astype(wide) @ b.astype(wide)),
        abs(alpha) * (np.abs(a).astype(float) @ np.abs(b).astype(float)),
    )
    if c is not None:
        z, size = z + beta * c.astype(wide), size + abs(beta) * np.abs(c).astype(float)
    if bias is not None:
        z, size = z + bias.astype(wide)[:, None], size + np.abs(bias).astype(float)[:, None]
    if epilog and "relu" in epilog:
        z = np.maximum(z, 0)
    return z, size


SMALL = [recipe._replace(threads=48) for recipe in RECIPES]
KINDS = SMALL[:3]
"""Every kind of kernel: the long factor read as it is, in more rows at a time, or in whole lines."""


@pytest.mark.parametrize("recipe", KINDS, ids=str)
@pytest.mark.parametrize(
    ("dtype", "m", "n", "k", "orders", "padding", "epilog"),
    [
        ("float32", 203, 40, 10, "CCC", 0, None), ("float32", 204, 12, 7, "FFF", 4, "relu"),
        ("float64", 101, 5, 3, "CCF", 1, None),
        ("float16", 200, 16, 8, "CFC", 0, "relu"), ("float32", 204, 8, 10, "CCC", 0, "relu_bias"),
        ("float32", 12, 300, 6, "CCC", 0, "bias"),
        ("complex64", 90, 6, 5, "CFC", 0, None), ("float32", 160, 1, 9, "CCC", 0, None),
    ],
)  # fmt: skip
def test_values(
    host: SkinnyKernels,
    recipe: Recipe,
    dtype: str,
    m: int,
    n: int,
    k: int,
    orders: str,
    padding: int,
    epilog: str | None,
) -> None:
    rng = np.random.default_rng(m + n + k)
    a, b, c = (
        array(rng, shape, dtype, order, padding) for shape, order in zip(((m, k), (k, n), (m, n)), orders, strict=True)
    )
    bias = rng.standard_normal(m).astype(dtype) if epilog and "bias" in epilog else None
    got = run(recipe, a, b, c, bias, alpha=0.5, beta=-2.0, epilog=epilog)
    if got is None:
        host.launched.append((0, 0))  # the recipe is not for this layout
        return
    want, size = wanted(a, b, c, bias, 0.5, -2.0, epilog)
    eps = np.finfo(dtype).eps
    assert (
        np.abs(got - want) <= eps * (np.abs(want) + 4 * np.finfo(np.float32 if eps > 1e-5 else dtype).eps / eps * size)
    ).all()


@pytest.mark.parametrize("orders", ["CCC", "FFF"])
def test_conjugated_factors(host: SkinnyKernels, orders: str) -> None:
    rng = np.random.default_rng(5)
    a, b = array(rng, (96, 4), "complex64", orders[0]), array(rng, (4, 6), "complex64", orders[1])
    for recipe in KINDS:
        got = run(recipe, a, b, alpha=1 - 2j, conj=True)
        if got is not None:
            np.testing.assert_allclose(got, (1 - 2j) * (a.conj() @ b.conj()), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("orders", ["CCC", "FFF"])
@pytest.mark.parametrize("recipe", KINDS, ids=str)
@pytest.mark.parametrize("zero", [0.0, 1e-50])  # the second is 0 in float32
def test_what_is_multiplied_by_0_is_not_read(host: SkinnyKernels, recipe: Recipe, orders: str, zero: float) -> None:
    rng = np.random.default_rng(6)
    a, b, c = (
        array(rng, (100, 6), "float32", orders[0]),
        array(rng, (6, 8), "float32", orders[1]),
        array(rng, (100, 8), "float32", orders[2]),
    )
    full = np.full_like(c, np.nan)
    got = run(recipe, a, b, full, alpha=2.0, beta=zero)
    if got is None:
        host.launched.append((0, 0))
        return
    np.testing.assert_allclose(got, 2 * (a @ b), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(run(recipe, np.full_like(a, np.nan), b, c, alpha=zero, beta=3.0), 3 * c)
    assert np.isnan(run(recipe, a, b, c, alpha=1.0, beta=np.nan)).all()
    a[0] = np.nan
    assert np.isnan(run(recipe, a, b, epilog="relu")[0]).all()


@pytest.mark.parametrize("orders", ["CCC", "FFF"])
@pytest.mark.parametrize("recipe", KINDS, ids=str)
def test_in_place_what_lies_between_the_lines_stays(host: SkinnyKernels, recipe: Recipe, orders: str) -> None:
    rng = np.random.default_rng(7)
    a, b = array(rng, (100, 6), "float32", orders[0]), array(rng, (6, 8), "float32", orders[1])
    c = array(rng, (100, 8), "float32", orders[2], padding=3)
    whole = c.base if c.base.shape[-1] != 8 else c
    before, lines = whole.copy(), np.array(c)
    got = run(recipe, a, b, c, alpha=1.0, beta=0.5, inplace=True)
    if got is None:
        host.launched.append((0, 0))
        return
    want, _ = wanted(a, b, lines, None, 1.0, 0.5, None)
    np.testing.assert_allclose(c, want, rtol=1e-5, atol=1e-5)
    c[...] = lines
    np.testing.assert_array_equal(whole, before)


@pytest.mark.parametrize("offset", [1, 2])
def test_operands_that_lie_at_any_address(host: SkinnyKernels, offset: int) -> None:
    rng = np.random.default_rng(8)
    a, b, c = (np.empty(n + offset, np.float32)[offset:] for n in (100 * 8, 8 * 12, 100 * 12))
    for each in (a, b, c):
        each[:] = rng.standard_normal(len(each))
    a, b, c = a.reshape(100, 8), b.reshape(8, 12), c.reshape(100, 12)
    want, _ = wanted(a, b, c, None, 1.0, 1.0, None)
    for recipe in (SMALL[0], SMALL[2]):
        np.testing.assert_allclose(run(recipe, a, b, c, beta=1.0), want, rtol=1e-5, atol=1e-5)
        mine = np.copy(c)
        np.testing.assert_allclose(run(recipe, a, b, mine, beta=1.0, inplace=True), want, rtol=1e-5, atol=1e-5)


# --- whole calls ------------------------------------------------------------------------------------------------------


class Either:
    """Kernels that follow a product and ours beside it, by what they are compiled for."""

    def __init__(self, folder: Path) -> None:
        self.skinny, self.finish = SkinnyKernels(folder), Kernels(folder)

    def compiled(self, device: int, key: tuple[Any, ...], build: Any) -> int:
        if key[0] == "matmul skinny":
            return -self.skinny.compiled(device, key, build)
        return self.finish.compiled(device, key, build)

    def launch(self, function: int, *rest: Any) -> None:
        if function < 0:
            self.skinny.launch(-function, *rest)
        else:
            self.finish.launch(function, *rest)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Either]:
    """A GPU that computes on the host, on which every product is worth measuring."""
    if compiler() is None:
        pytest.skip("no C++ compiler is installed")
    made = Either(tmp_path)
    cuda, library = HostCuda(made.launch), HostCublasLt()
    nvmath.plan_cache.clear()
    with substitute("cuda", cuda), substitute("cublasLt", library), monkeypatch.context() as patch:
        for module, name, value in (
            (place, "_cuda", {}), (place, "_garbage", deque()), (place, "_forked", False), (memory, "_pools", {}),
            (staging, "_rings", {}), (kernels, "_functions", {}), (kernels, "compiled", made.compiled), (_handles, "_handles", {}),
            (skinny, "_resident", lambda *arguments: 2), (skinny, "find_library", lambda name: name),
            (_gpu, "find_library", lambda name: name),
            (_skinny_form, "_LEAST_NBYTES", 0), (skinny, "RECIPES", (SMALL[0], SMALL[2])),
        ):  # fmt: skip
            patch.setattr(module, name, value)

        def move(device: int, *layout: Any) -> Any:
            run = kernels_host.move(*layout)
            return lambda source, target, stream: run(source, target)

        patch.setattr(kernels, "move", move)
        place.thread.bound = False
        yield made
        nvmath.plan_cache.clear()
        gc.collect()
        place.reap()
        place.thread.bound = False
        assert library.alive() == 0
        assert cuda.memory == {}


@pytest.mark.parametrize(
    ("shapes", "dtype", "epilog", "inplace"),
    [
        (((300, 6), (6, 8), (300, 8)), "f4", None, False), (((300, 6), (6, 8), (300, 8)), "f4", "relu", True),
        (((8, 6), (6, 300), (8, 300)), "f4", "bias", False), (((300, 6), (6, 8), (300, 8)), "f2", "relu_bias", False),
        (((4, 50, 6), (6, 8), (4, 50, 8)), "f8", None, False), (((300, 6), (6,), None), "f8", None, False),
    ],
)  # fmt: skip
def test_whole_calls(machine: Either, shapes: tuple[Any, ...], dtype: str, epilog: str | None, inplace: bool) -> None:
    rng = np.random.default_rng(9)
    a, b, c = (None if shape is None else rng.standard_normal(shape).astype(dtype) for shape in shapes)
    bias = rng.standard_normal(a.shape[-2]).astype(dtype) if epilog and "bias" in epilog else None
    wide = a.astype("f8") @ b.astype("f8")
    want = wide if c is None else 2 * wide - c.astype("f8")
    want = want if bias is None else want + bias.astype("f8")[:, None]
    want = np.maximum(want, 0) if epilog and "relu" in epilog else want
    more = {} if c is None else {"alpha": 2.0, "beta": -1.0}
    operands = (a, b) if c is None else (a, b, np.copy(c))
    with Matmul(*operands, options={"inplace": inplace}, execution="cuda", **more) as product:
        product.plan(epilog=epilog, epilog_inputs=None if bias is None else {"bias": bias})
        report = product.autotune(iterations=1)
        assert any(each.own is not None for each in report.algorithms)
        for each in product.algorithms or ():
            if inplace:
                product.reset_operands(c=np.copy(c))
            before = len(machine.skinny.launched)
            got = product.execute(algorithm=each)
            assert len(machine.skinny.launched) - before == (each.own is not None)
            tolerance = {"f2": 4e-3, "f4": 1e-5, "f8": 1e-12}[dtype]
            np.testing.assert_allclose(got.astype("f8"), want, rtol=tolerance, atol=tolerance)
