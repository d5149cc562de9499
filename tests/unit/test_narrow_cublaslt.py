"""Narrow precision through cuBLASLt, over a stand-in that reads descriptors, layouts, scales and modes on the host."""
# ruff: noqa: N802, the names of the C functions

from __future__ import annotations

import ctypes
import logging
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nvmath import CudaDataType
from nvmath._core import kernels, kernels_host, place
from nvmath._core.dtypes import DTYPES
from nvmath._core.layout import contiguous
from nvmath.bindings._bind import substitute
from nvmath.bindings.cublasLt import cuBLASLtError
from nvmath.linalg._matrix import Operand
from nvmath.linalg.advanced import MatmulEpilog, MatmulOptions, MatmulPlanPreferences, _handles
from nvmath.linalg.advanced._auxiliary import outer
from nvmath.linalg.advanced._epilogs import coerce_epilog
from nvmath.linalg.advanced._gpu import GpuMatmulPlan
from nvmath.linalg.advanced._narrow_formats import FORMATS, decoded, encode
from nvmath.linalg.advanced._preferences import MatmulEpilogPreferences
from nvmath.linalg.advanced._problem import specify
from nvmath.linalg.advanced._scalars import Scalars
from nvmath.linalg.advanced.helpers.matmul import expand_block_scale, to_block_scale

sys.path.insert(0, str(Path(__file__).parent))
from cublaslt_on_host import Driver, HostCublasLt

NAMES = {28: "float8_e4m3fn", 29: "float8_e5m2"}
WIDE = {0: np.float32, 2: np.float16}
A_SCALE, B_SCALE, D_SCALE, AMAX, A_MODE, B_MODE, OUT_SCALE, OUT_MODE = 17, 18, 20, 21, 31, 32, 36, 37
TRANSA, TRANSB = 3, 4


class NarrowOnHost(HostCublasLt):
    """Multiplies 8-bit operands as the library does: K innermost in both, scales by pointers and modes."""

    def _codes(self, layout: int, address: int, kind: Any) -> np.ndarray:
        made = self.made[layout]
        rows, cols, ld, item = made["rows"], made["cols"], made["ld"], np.dtype(kind).itemsize
        count, stride = self._get(layout, 5, "i", 1), self._get(layout, 6, "q", 0)
        span = 1 + (count - 1) * stride + (cols - 1) * ld + rows - 1
        memory = (ctypes.c_char * (span * item)).from_address(address)
        return np.ndarray((count, rows, cols), kind, memory, 0, (stride * item, item, ld * item))

    def _scale(self, desc: int, pointer: int, mode: int, m: int, k: int) -> np.ndarray:
        """The scale of every element of a matrix of m vectors of length k."""
        kind, address = self._get(desc, mode, "i", 0), self._get(desc, pointer, "Q", 0)
        groups = (k + 127) // 128
        padded = (groups + 3) // 4 * 4
        if kind == 2:
            flat = np.frombuffer(ctypes.string_at(address, m * k // 32), np.uint8)
            return expand_block_scale(flat, (m, k), "MXFP8", axis=-1, output_dtype=np.float64)
        counts = {0: 1, 3: m, 4: m * groups, 5: padded * -(-m // 128)}
        numbers = np.frombuffer(ctypes.string_at(address, 4 * counts[kind]), np.float32).astype(np.float64)
        if kind == 0:
            return np.full((m, k), numbers[0])
        if kind == 3:
            return np.repeat(numbers[:, None], k, 1)
        if kind == 4:
            return np.repeat(numbers.reshape(groups, m).T, 128, 1)[:, :k]
        return np.repeat(np.repeat(numbers.reshape(-1, padded)[:, :groups], 128, 0)[:m], 128, 1)[:, :k]

    def cublasLtMatmul(
        self, handle: int, desc: int, alpha: int, a: int, la: int, b: int, lb: int, beta: int, c: int, lc: int, d: int,
        ld: int, algorithm: int, workspace: int, nbytes: int, stream: int,
    ) -> None:  # fmt: skip
        one, other = (ctypes.c_float.from_address(at).value for at in (alpha, beta))
        assert one != 0, "the library may take the work for done"
        assert (self._get(desc, TRANSA, "i", 0), self._get(desc, TRANSB, "i", 0)) == (1, 0), "K must be innermost"
        assert a % 16 == b % 16 == d % 16 == 0
        assert self.made[la]["ld"] % 16 == self.made[lb]["ld"] % 16 == 0
        assert self.made[lc]["code"] in (0, 2, 14)
        assert c == 0 or c != d or self.made[lc] == self.made[ld], "one matrix has one layout"
        first, second = (
            decoded(NAMES[self.made[layout]["code"]])[self._codes(layout, address, np.uint8)].swapaxes(1, 2)
            for layout, address in ((la, a), (lb, b))
        )
        m, k, n = first.shape[1], first.shape[2], second.shape[1]
        first = first * self._scale(desc, A_SCALE, A_MODE, m, k)
        second = second * self._scale(desc, B_SCALE, B_MODE, n, k)
        value = one * first @ second.swapaxes(1, 2)
        if other:
            value = value + other * self._codes(lc, c, WIDE[self.made[lc]["code"]]).astype(np.float64)
        code = self.made[ld]["code"]
        amax = self._get(desc, AMAX, "Q", 0)
        if amax:
            assert ctypes.c_uint32.from_address(amax).value == 0, "the library raises what is there"
            ctypes.c_float.from_address(amax).value = float(np.abs(value).max())
        if code not in NAMES:
            self._codes(ld, d, WIDE[code])[...] = value
            return
        out, top = self._codes(ld, d, np.uint8), FORMATS[NAMES[code]].largest
        if self._get(desc, OUT_MODE, "i", 0):
            assert self._get(desc, OUT_MODE, "i", 0) == 2
            scales = np.full(value.size // 32, 127 + int(np.ceil(np.log2(np.abs(value).max() / top))), np.uint8)
            ctypes.memmove(self._get(desc, OUT_SCALE, "Q", 0), scales.tobytes(), scales.size)
            factor = 2.0 ** (127.0 - scales[0])
        else:
            factor = ctypes.c_float.from_address(self._get(desc, D_SCALE, "Q", 0)).value
        encode((value * factor).astype(np.float32), NAMES[code], out)


@pytest.fixture(scope="module")
def library() -> Iterator[NarrowOnHost]:
    fake = NarrowOnHost()
    with pytest.MonkeyPatch.context() as patch, substitute("cublasLt", fake), substitute("cuda", Driver()):

        def move(device: int, *layout: Any) -> Any:
            shape, in_strides, out_strides, kind, other = layout
            if kind.name.startswith("float8"):
                kind = other = DTYPES["uint8"]  # the bytes
            run = kernels_host.move(shape, in_strides, out_strides, kind, other)
            return lambda source, target, stream: run(source, target)

        patch.setattr(kernels, "move", move)
        _handles._handles.clear()
        yield fake
        _handles._handles.clear()
        place.reap()


class Product:
    """Operands in aligned memory, planned for a GPU that has `capability`."""

    def __init__(
        self, extents: tuple[int, int, int] = (32, 48, 64), kinds: tuple[str, str] = ("float8_e4m3fn",) * 2, **more: Any
    ) -> None:
        m, n, k = extents
        rng = np.random.default_rng(7)
        self.capability: tuple[int, int] = more.pop("capability", (9, 0))
        self.scales: dict[str, np.ndarray] = more.pop(
            "scales", {"a": np.full(1, 2, np.float32), "b": np.full(1, 0.5, np.float32)}
        )
        self.column_a: bool = more.pop("column_a", False)
        self.epilog, self.wishes, self.c = more.pop("epilog", None), more.pop("wishes", None), more.pop("c", None)
        self.alpha: float = more.pop("alpha", 1.0)
        self.options = MatmulOptions(**more)
        self.kinds, self.extents = kinds, extents
        self.values: dict[str, np.ndarray] = {}
        self.held: list[Any] = []
        self.pointers: dict[str, int] = {}
        self.operands: dict[str, Operand] = {}
        for name, shape, kind in (("a", (m, k), kinds[0]), ("b", (k, n), kinds[1])):
            codes = np.empty(shape, np.uint8)
            encode(rng.standard_normal(shape).astype(np.float32), kind, codes)
            self.values[name] = decoded(kind)[codes]
            self._add(name, codes, kind, column=(name == "b") != self.column_a)
        if self.c is not None:
            self._add("c", self.c, self.c.dtype.name)
        for name, scale in self.scales.items():
            self._add(f"{name}_scale", scale, scale.dtype.name, packed=False)

    def _add(self, name: str, array: np.ndarray, kind: str, *, column: bool = False, packed: bool = True) -> None:
        if packed:
            address, owner = kernels_host.scratch(array.nbytes)
            strides = contiguous(array.shape[::-1])[::-1] if column else contiguous(array.shape)
            kernels_host.array_at(address, array.shape, strides, DTYPES["uint8" if array.itemsize == 1 else kind])[
                ...
            ] = array
        else:
            address, owner, strides = array.ctypes.data, array, tuple(step // array.itemsize for step in array.strides)
        self.held.append(owner)
        self.pointers[name] = address
        self.operands[name] = Operand(array.shape, strides, DTYPES[kind])

    def run(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return the values of the result (not scaled back) and what is returned besides."""
        inputs = dict(self.operands)
        own = {name: inputs.pop(name) for name in "abc" if name in inputs}
        problem = specify(
            **own, inputs=inputs, options=self.options, epilog=coerce_epilog(self.epilog), preferences=self.wishes
        )  # fmt: skip
        scalars = Scalars(problem.scale_type)
        scalars.store(scalars.read(self.alpha, 0.0 if self.c is None else 1.0))
        gpu: Any = SimpleNamespace(device_id=0, current=nullcontext, capability=self.capability)
        adapter: Any = SimpleNamespace(allocate=lambda nbytes, device, stream: kernels_host.scratch(nbytes))
        plan = GpuMatmulPlan(
            problem, tuple(self.pointers), scalars, gpu, adapter, self.options, MatmulPlanPreferences(limit=1), None,
            logging.getLogger(),
        )  # fmt: skip
        made = {}
        for index, (name, matrix) in enumerate(problem.outputs):
            shape, _ = outer(name, matrix, problem.batch)
            made[name] = np.full(shape, 77, matrix.dtype.name)
            plan.output_ptrs[index] = made[name].ctypes.data
        kind = problem.d.dtype
        address, owner = kernels_host.scratch(8 * problem.m * problem.n)
        self.held.append(owner)
        plan.launch()(*self.pointers.values(), address, 0)
        plan.close()
        raw = kernels_host.array_at(
            address, problem.out_shape, problem.out_strides, DTYPES["uint8"] if kind.bits == 8 else kind
        )
        return (decoded(kind.name)[raw] if kind.bits == 8 else raw.astype(np.float64)), made


@pytest.mark.parametrize("row_major", [True, False])
@pytest.mark.parametrize("kinds", [("float8_e4m3fn", "float8_e4m3fn"), ("float8_e5m2", "float8_e4m3fn")])
def test_one_scale_for_each_matrix(library, kinds, row_major):
    made = Product(kinds=kinds, result_type=CudaDataType.CUDA_R_32F, column_a=not row_major)
    got, more = made.run()
    assert more == {}
    np.testing.assert_allclose(got, made.values["a"] @ made.values["b"], rtol=1e-6, atol=1e-6)


def test_a_narrow_result_with_its_scale_and_largest_magnitude(library):
    scales = {"a": np.full(1, 2, np.float32), "b": np.full((), 4, np.float32), "d": np.full(1, 0.125, np.float32)}
    made = Product(scales=scales, result_amax=True)
    got, more = made.run()
    want = 8 * made.values["a"] @ made.values["b"]
    codes = np.empty(want.shape, np.uint8)
    encode((want / 8).astype(np.float32), "float8_e4m3fn", codes)
    np.testing.assert_array_equal(got, decoded("float8_e4m3fn")[codes])
    np.testing.assert_allclose(more["result_amax"], [np.abs(want).max()], rtol=1e-6)


def test_an_addend_of_16_bits(library):
    c = np.random.default_rng(1).standard_normal((32, 48)).astype(np.float16)
    made = Product(c=c)
    got, _ = made.run()
    np.testing.assert_allclose(got, made.values["a"] @ made.values["b"] + c, rtol=2e-3, atol=2e-3)


def test_a_product_of_nothing_keeps_the_addend(library):
    c = np.random.default_rng(1).standard_normal((32, 48)).astype(np.float32)
    got, _ = Product(c=c, alpha=0.0).run()
    np.testing.assert_array_equal(got, c)


def per_block(shape: tuple[int, int], turned: bool) -> np.ndarray:
    """Random scales, in either layout."""
    made = np.random.default_rng(shape[0]).uniform(0.5, 2, shape).astype(np.float32)
    return np.asfortranarray(made) if turned else made


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("column_a", [False, True])
@pytest.mark.parametrize(
    ("shape_a", "shape_b"),
    [((160, 1), (1, 144)), ((160, 3), (3, 144)), ((160, 3), (3, 2)), ((2, 3), (3, 144))],
    ids=["rows and columns", "vectors", "vectors and blocks", "blocks and vectors"],
)
def test_scales_of_rows_columns_and_blocks(library, shape_a, shape_b, column_a, turned):
    scales = {"a": per_block(shape_a, turned), "b": per_block(shape_b, turned)}
    made = Product((160, 144, 320), scales=scales, result_type=CudaDataType.CUDA_R_32F, column_a=column_a)
    got, _ = made.run()

    def wide(scale: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        for axis in (0, 1):
            size = 1 if scale.shape[axis] == shape[axis] else shape[axis] if scale.shape[axis] == 1 else 128
            scale = np.repeat(scale, size, axis)
        return scale[: shape[0], : shape[1]].astype(np.float64)

    want = (made.values["a"] * wide(scales["a"], (160, 320))) @ (made.values["b"] * wide(scales["b"], (320, 144)))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("column_a", [False, True])
def test_mxfp8(library, column_a):
    rng = np.random.default_rng(2)
    natural = rng.integers(120, 134, (128, 4)).astype(np.uint8), rng.integers(120, 134, (4, 256)).astype(np.uint8)
    scales = {
        "a": to_block_scale(natural[0], (128, 128), "MXFP8", axis=-1),
        "b": to_block_scale(natural[1], (128, 256), "MXFP8", axis=-2),
    }
    arguments: dict[str, Any] = {"block_scaling": True, "scales": scales, "capability": (10, 0), "column_a": column_a}
    made = Product((128, 256, 128), result_type=CudaDataType.CUDA_R_32F, **arguments)
    got, more = made.run()
    wide = [
        np.repeat(2.0 ** (each.astype(np.float64) - 127), 32, axis) for each, axis in zip(natural, (1, 0), strict=True)
    ]
    want = (made.values["a"] * wide[0]) @ (made.values["b"] * wide[1])
    assert more == {}
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
    got, more = Product((128, 256, 128), **arguments).run()
    assert (more["d_out_scale"].dtype, more["d_out_scale"].shape) == (np.uint8, (128 * 256 // 32,))
    step = 2.0 ** (more["d_out_scale"][0] - 127.0)
    assert (np.abs(got * step - want) <= np.abs(want) / 15 + step * 2.0**-9).all()


@pytest.mark.parametrize(
    ("capability", "more", "words"),
    [
        ((8, 0), {}, "FP8 needs a GPU of compute capability 8.9 or newer; GPU 0 has 8.0"),
        (
            (10, 0),
            {"scales": {"a": np.ones((32, 1), np.float32), "b": np.ones((1, 48), np.float32)}},
            "capability 9.0; GPU 0 has 10.0",
        ),
        (
            (9, 0),
            {
                "extents": (128, 128, 128),
                "block_scaling": True,
                "scales": dict.fromkeys("ab", np.full(512, 127, np.uint8)),
            },
            "MXFP8 needs a GPU of compute capability 10.0 or newer; GPU 0 has 9.0",
        ),
    ],
)
def test_what_a_gpu_does_not_have_is_said(library, capability, more, words):
    with pytest.raises(cuBLASLtError, match=words) as caught:
        Product(capability=capability, result_type=CudaDataType.CUDA_R_32F, **more).run()
    assert caught.value.status == 15


def test_a_bias_has_the_dtype_of_an_addend(library):
    scales = dict.fromkeys("abd", np.ones(1, np.float32))
    made = Product(scales=scales, epilog=MatmulEpilog.BIAS)
    made._add("bias", np.zeros(32, np.float32), "float32")
    with pytest.raises(ValueError, match="The bias must be float16 on a GPU"):
        made.run()
    inputs = {f"{name}_scale": Operand((1,), (1,), DTYPES["float32"]) for name in "abd"}
    for kind in ("float16", "bfloat16"):
        bias = Operand((32,), (1,), DTYPES[kind])
        problem = specify(
            made.operands["a"], made.operands["b"], inputs={**inputs, "bias": bias}, options=MatmulOptions(), epilog=coerce_epilog("BIAS")
        )  # fmt: skip
        assert problem.narrow is not None
        assert problem.narrow.addend is DTYPES[kind]


def test_epilogs_of_our_own_need_a_wide_result(library):
    scales = dict.fromkeys("abd", np.ones(1, np.float32))
    with pytest.raises(ValueError, match="SILU is not supported for a result of float8_e4m3fn on a GPU"):
        Product(scales=scales, epilog="SILU").run()


def test_the_scale_of_an_auxiliary_output_reaches_the_descriptor(library):
    scales = {**dict.fromkeys("abd", np.ones(1, np.float32))}
    wishes = MatmulEpilogPreferences(aux_type=CudaDataType.CUDA_R_8F_E4M3, aux_amax=True)
    made = Product(scales=scales, epilog=MatmulEpilog.GELU_AUX, wishes=wishes)
    made._add("aux_quantization_scale", np.full(1, 0.5, np.float32), "float32", packed=False)
    before = set(library.made)
    made.values.clear()
    inputs = {name: operand for name, operand in made.operands.items() if name not in "ab"}
    problem = specify(
        made.operands["a"], made.operands["b"], inputs=inputs, options=made.options, epilog=coerce_epilog(MatmulEpilog.GELU_AUX),
        preferences=wishes,
    )  # fmt: skip
    assert [name for name, _ in problem.outputs] == ["gelu_aux", "gelu_aux_amax"]
    gpu: Any = SimpleNamespace(device_id=0, current=nullcontext, capability=(9, 0))
    adapter: Any = SimpleNamespace(allocate=lambda nbytes, device, stream: kernels_host.scratch(nbytes))
    plan = GpuMatmulPlan(
        problem, tuple(made.pointers), Scalars(problem.scale_type), gpu, adapter, made.options, MatmulPlanPreferences(limit=1), None,
        logging.getLogger(),
    )  # fmt: skip
    desc = next(number for number in set(library.made) - before if "compute" in library.made[number])
    assert set(library.made[desc]["attributes"]) >= {
        17,
        18,
        20,
        22,
        23,
        24,
    }  # scales of A, B, D; type, scale, amax of the aux
    assert library._get(desc, 22, "i", 0) == CudaDataType.CUDA_R_8F_E4M3
    plan.close()
