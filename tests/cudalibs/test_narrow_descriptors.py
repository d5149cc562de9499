"""The descriptors of narrow products in the real cuBLASLt, without a GPU: what is set can be read back."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import pytest

from nvmath import CudaDataType
from nvmath._core.attributes import get
from nvmath._core.dtypes import DTYPES
from nvmath._core.layout import contiguous
from nvmath.bindings import _load, cublasLt
from nvmath.linalg._matrix import Operand
from nvmath.linalg.advanced import MatmulOptions
from nvmath.linalg.advanced._cublaslt import CAPABILITY
from nvmath.linalg.advanced._descriptors import Descriptors
from nvmath.linalg.advanced._epilogs import coerce_epilog
from nvmath.linalg.advanced._gemm import lower
from nvmath.linalg.advanced._preferences import MatmulEpilogPreferences
from nvmath.linalg.advanced._problem import MatmulProblem, specify

pytestmark = pytest.mark.skipif(
    _load.find_library("cublasLt") is None, reason="cuBLASLt is not installed (pip install nvidia-cublas)"
)

DESC, LAYOUT, MODE = cublasLt.MatmulDescAttribute, cublasLt.MatrixLayoutAttribute, cublasLt.MatmulMatrixScale
E4M3, FP4, F16, F32, U8 = (
    DTYPES[name] for name in ("float8_e4m3fn", "float4_e2m1fn_x2", "float16", "float32", "uint8")
)
M, N, K = 256, 128, 384


def operand(shape: tuple[int, ...], dtype: Any, column: bool = False) -> Operand:
    """Return a dense operand."""
    strides = contiguous(shape[::-1])[::-1] if column else contiguous(shape)
    return Operand(shape, strides, dtype)


def scales(mode: str) -> dict[str, Operand]:
    """Return the scales of A and B for (M, K) times (K, N)."""
    shapes = {"rows": ((M, 1), (1, N)), "vectors": ((M, 3), (3, N)), "blocks": ((2, 3), (3, N)), "one": ((1,), ())}
    if mode in shapes:
        kind, pair = F32, shapes[mode]
    else:
        kind, size = (U8, 32) if mode == "mxfp8" else (E4M3, 16)
        pair = (M * K // size,), (N * K // size,)
    return {f"{name}_scale": operand(shape, kind, column=True) for name, shape in zip("ab", pair, strict=True)}


@pytest.fixture
def described() -> Any:
    """Describe a problem; what was made is destroyed afterwards."""
    owned: list[tuple[Callable[[int], Any], int]] = []

    def describe(problem: MatmulProblem, options: MatmulOptions) -> Descriptors:
        return Descriptors(problem, lower(problem, CAPABILITY), options, owned)

    yield describe
    for destroy, number in reversed(owned):
        destroy(number)


def value(descriptors: Descriptors, attribute: int, letter: str) -> Any:
    """Read an attribute of the operation."""
    return get(cublasLt.matmul_desc_get_attribute, descriptors.desc, attribute, letter)


def layout(number: int) -> tuple[Any, ...]:
    """Return the type, the extents and the leading dimension of a layout."""
    letters = ((LAYOUT.TYPE, "I"), (LAYOUT.ROWS, "Q"), (LAYOUT.COLS, "Q"), (LAYOUT.LD, "q"))
    return tuple(get(cublasLt.matrix_layout_get_attribute, number, attribute, letter) for attribute, letter in letters)


@pytest.mark.parametrize("column", [False, True], ids=["row-major", "column-major"])
@pytest.mark.parametrize(
    ("mode", "code_a", "code_b"),
    [
        ("one", MODE.SCALAR_32F, MODE.SCALAR_32F),
        ("rows", MODE.OUTER_VEC_32F, MODE.OUTER_VEC_32F),
        ("vectors", MODE.VEC128_32F, MODE.VEC128_32F),
        ("blocks", MODE.BLK128x128_32F, MODE.VEC128_32F),
        ("mxfp8", MODE.VEC32_UE8M0, MODE.VEC32_UE8M0),
        ("nvfp4", MODE.VEC16_UE4M3, MODE.VEC16_UE4M3),
    ],
)
def test_modes_and_pointers_of_scales(described: Any, mode: str, code_a: int, code_b: int, column: bool) -> None:
    fp4 = mode == "nvfp4"
    kind, half = (FP4, 2) if fp4 else (E4M3, 1)
    a, b = operand((M, K // half), kind), operand((K // half, N), kind, column=True)
    c = operand((M, N), F32, column)
    options = MatmulOptions(block_scaling=mode in ("mxfp8", "nvfp4"))
    descriptors = described(specify(a, b, c, inputs=scales(mode), options=options), options)
    modes = [value(descriptors, attribute, "i") for attribute in (DESC.A_SCALE_MODE, DESC.B_SCALE_MODE)]
    assert modes == (
        [code_a, code_b] if column else [code_b, code_a]
    )  # a row-major result is computed as its transpose
    assert set(descriptors.cells) == {"a_scale", "b_scale"}
    for index, name in enumerate(("a_scale", "b_scale")):
        descriptors.cells[name].set(4096 * (index + 1))
    pointers = [value(descriptors, attribute, "Q") for attribute in (DESC.A_SCALE_POINTER, DESC.B_SCALE_POINTER)]
    assert pointers == ([4096, 8192] if column else [8192, 4096])
    transposed = [value(descriptors, attribute, "i") for attribute in (DESC.TRANSA, DESC.TRANSB)]
    assert transposed == [1, 0]
    first, second = (layout(number) for number in descriptors.factors)
    m, n = (M, N) if column else (N, M)
    assert first == (kind.code, K, m, K)  # counted in values, two of which are in a byte of FP4
    assert second == (kind.code, K, n, K)


@pytest.mark.parametrize("mode", ["mxfp8", "nvfp4"])
def test_a_result_with_block_scales(described: Any, mode: str) -> None:
    kind, half = (FP4, 2) if mode == "nvfp4" else (E4M3, 1)
    a, b = operand((M, K // half), kind), operand((K // half, N), kind, column=True)
    options = MatmulOptions(block_scaling=True)
    problem = specify(a, b, inputs=scales(mode), options=options)
    descriptors = described(problem, options)
    assert problem.out_shape == (M, N // half)
    ((name, out),) = problem.outputs
    assert (name, out.rows, out.dtype) == ("d_out_scale", M * N // (16 if half == 2 else 32), E4M3 if half == 2 else U8)
    assert value(descriptors, DESC.D_OUT_SCALE_MODE, "i") == (MODE.VEC16_UE4M3 if half == 2 else MODE.VEC32_UE8M0)
    descriptors.cells["d_out_scale"].set(12288)
    assert value(descriptors, DESC.D_OUT_SCALE_POINTER, "Q") == 12288
    addend, target = (layout(number) for number in descriptors.results)
    assert (addend, target) == ((F16.code, N, M, N), (kind.code, N, M, N))


def test_scales_and_magnitudes_of_fp8_results(described: Any) -> None:
    a, b = operand((M, K), E4M3), operand((K, N), E4M3, column=True)
    inputs = {**scales("one"), "d_scale": operand((1,), F32), "aux_quantization_scale": operand((), F32)}
    options = MatmulOptions(result_amax=True)
    wishes = MatmulEpilogPreferences(aux_type=CudaDataType.CUDA_R_8F_E4M3, aux_amax=True)
    problem = specify(a, b, inputs=inputs, options=options, epilog=coerce_epilog("GELU_AUX"), preferences=wishes)
    descriptors = described(problem, options)
    pointers = {
        "d_scale": DESC.D_SCALE_POINTER, "aux_quantization_scale": DESC.EPILOGUE_AUX_SCALE_POINTER, "result_amax": DESC.AMAX_D_POINTER,
        "gelu_aux_amax": DESC.EPILOGUE_AUX_AMAX_POINTER, "gelu_aux": DESC.EPILOGUE_AUX_POINTER,
    }  # fmt: skip
    for index, (name, attribute) in enumerate(pointers.items()):
        descriptors.cells[name].set(4096 * (index + 1))
        assert value(descriptors, attribute, "Q") == 4096 * (index + 1)
    assert value(descriptors, DESC.EPILOGUE_AUX_DATA_TYPE, "i") == CudaDataType.CUDA_R_8F_E4M3
    assert [name for name, _ in problem.outputs] == ["gelu_aux", "result_amax", "gelu_aux_amax"]
    assert prod(problem.out_shape) == M * N
