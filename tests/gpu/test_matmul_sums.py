"""Sums of factors (BGRADA, BGRADB) are written, whatever the library was asked before and whatever its workspace holds.

cuBLASLt 13.1 leaves all sums but the first unwritten where the product is one row of 16-bit numbers.
"""

from __future__ import annotations

from typing import Any

import pytest

import nvmath
from nvmath._core import place as places
from nvmath.bindings import _load
from nvmath.linalg.advanced import Matmul, matmul

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not places.has_device(), reason="no CUDA device"),
    pytest.mark.skipif(_load.find_library("cublasLt") is None, reason="cuBLASLt is not installed"),
]

DTYPES = ("float16", "bfloat16", "float32", "float64")
EXTENTS = (
    (1, 1, 2),
    (1, 17, 5),
    (17, 1, 5),
    (1, 64, 64),
    (64, 1, 64),
    (2, 3, 4),
    (5, 7, 3),
    (16, 16, 8),
    (16, 8, 16),
    (33, 17, 9),
    (64, 64, 64),
    (128, 128, 4096),
    (1000, 24, 5000),
)
SUMS = ("BGRADA", "BGRADB")
BEFORE = (
    None,
    "RELU",
    "GELU",
    "BIAS",
    "RELU_BIAS",
    "GELU_BIAS",
    "RELU_AUX",
    "GELU_AUX",
    "RELU_AUX_BIAS",
    "GELU_AUX_BIAS",
    *SUMS,
)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


def dirty(torch: Any) -> None:
    """Leave NaN in the memory that torch gives again next."""
    kept = [
        torch.full((nbytes,), 255, dtype=torch.uint8, device="cuda")
        for nbytes in (512, 1024, 2048, 4096, 8192)
        for _ in range(16)
    ]
    del kept


def factors(torch: Any, dtype: str, batch: tuple[int, ...], m: int, n: int, k: int, row_major: bool) -> tuple[Any, Any]:
    """Matrices of numbers of one sign, so that sums have few errors."""
    kind = getattr(torch, dtype)
    made = [torch.rand((*batch, *extents), device="cuda", dtype=torch.float32).to(kind) for extents in ((m, k), (k, n))]
    if not row_major:
        made = [one.mT.contiguous().mT for one in made]
    return made[0], made[1]


def assert_summed(sums: Any, epilog: str, a: Any, b: Any) -> None:
    matrix = a.double() if epilog == "BGRADA" else b.double().mT
    exact = matrix.sum(-1)
    got = sums[epilog.lower()].double().reshape(exact.shape)
    eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 1e-5, "float64": 1e-12}[
        str(a.dtype).removeprefix("torch.")
    ]
    assert bool(((got - exact).abs() <= 4 * eps * exact.abs()).all()), (got.flatten()[:8], exact.flatten()[:8])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("row_major", [False, True])
def test_sums_after_other_epilogs_of_the_same_extents(
    torch: Any, dtype: str, batch: tuple[int, ...], row_major: bool
) -> None:
    """The library remembers what it proposed."""
    for m, n, k in EXTENTS:
        a, b = factors(torch, dtype, batch, m, n, k, row_major)
        bias = torch.zeros(m, device="cuda", dtype=a.dtype)
        for before in BEFORE:
            for epilog in SUMS:
                nvmath.plan_cache.clear()
                matmul(a, b, epilog=before, epilog_inputs={"bias": bias} if before and "BIAS" in before else None)
                for alpha in (None, 0.0, 2.0):
                    dirty(torch)
                    _, sums = matmul(a, b, alpha=alpha, epilog=epilog)
                    assert_summed(sums, epilog, a, b)


class Filled:
    """Gives workspaces that can be filled with bytes again."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.blocks: list[Any] = []

    def memalloc(self, size: int) -> Any:
        block = self.torch.zeros(size, dtype=self.torch.uint8, device="cuda")
        self.blocks.append(block)
        pointer = nvmath.MemoryPointer(block.data_ptr(), size, None)
        pointer.block = block
        return pointer

    def fill(self, byte: int) -> None:
        for block in self.blocks:
            block.fill_(byte)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("epilog", SUMS)
@pytest.mark.parametrize("row_major", [False, True])
def test_sums_whatever_the_workspace_holds(torch: Any, dtype: str, epilog: str, row_major: bool) -> None:
    for m, n, k in EXTENTS:
        allocator = Filled(torch)
        a, b = factors(torch, dtype, (), m, n, k, row_major)
        with Matmul(a, b, options={"allocator": allocator}) as product:
            for algorithm in product.plan(epilog=epilog, preferences={"limit": 8}):
                product.execute(algorithm=algorithm)  # takes the workspace
                for byte in (0x00, 0x01, 0x7F, 0xFF):
                    allocator.fill(byte)
                    dirty(torch)
                    _, sums = product.execute(algorithm=algorithm)
                    assert_summed(sums, epilog, a, b)
