"""Large products are computed some rows at a time: the result is the same, whatever is returned besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nvmath import CudaDataType
from nvmath.linalg.advanced import MatmulEpilog, matmul
from nvmath.linalg.advanced import _narrow_panels as panels
from nvmath.linalg.advanced.helpers.matmul import quantize_to_fp4, to_block_scale

torch = pytest.importorskip("torch")

M, N, K = 384, 128, 128
E = MatmulEpilog
FP8 = {"a": 1.5, "b": 0.5, "d": 2.0}
WIDE = {"a": 1.5, "b": 0.5}
F16 = {"result_type": CudaDataType.CUDA_R_16F}
AUX = {"epilog": {"aux_type": CudaDataType.CUDA_R_8F_E4M3, "aux_amax": True}}


def pair(batch: tuple[int, ...] = ()) -> Any:
    rng = torch.Generator().manual_seed(0)
    a = torch.randn(*batch, M, K, generator=rng).to(torch.float8_e4m3fn)
    return a, torch.randn(*batch, N, K, generator=rng).to(torch.float8_e4m3fn).mT


def addend(dtype: Any, batch: tuple[int, ...] = ()) -> Any:
    return torch.randn(*batch, M, N, generator=torch.Generator().manual_seed(1)).to(dtype)


def block_scales(rows: int, axis: int) -> Any:
    rng = torch.Generator().manual_seed(rows)
    natural = torch.randint(124, 130, (rows, K // 32), generator=rng, dtype=torch.uint8)
    shape = (rows, K) if axis == -1 else (K, rows)
    return to_block_scale(natural if axis == -1 else natural.T, shape, "MXFP8", axis=axis)


def fp4() -> Any:
    a, b = pair()
    ones = {name: torch.ones(rows * K // 16).to(torch.float8_e4m3fn) for name, rows in (("a", M), ("b", N))}
    return matmul(
        quantize_to_fp4(a.float(), -1), quantize_to_fp4(b.float(), -2), quantization_scales=ones, options={"block_scaling": True},
        execution="cpu",
    )  # fmt: skip


def bias() -> Any:
    return {"bias": torch.randn(M, generator=torch.Generator().manual_seed(2)).to(torch.float16)}


def mask() -> Any:
    return {"relu_aux": torch.randint(0, 256, (48, N), generator=torch.Generator().manual_seed(3), dtype=torch.uint8).T.contiguous().T}


CASES: dict[str, Callable[[], Any]] = {
    "result and magnitude": lambda: matmul(*pair(), quantization_scales=FP8, options={"result_amax": True}, execution="cpu"),
    "addend": lambda: matmul(*pair(), addend(torch.float16), beta=1, quantization_scales=WIDE, execution="cpu"),
    "in place": lambda: matmul(
        *pair(), addend(torch.float32), beta=1, quantization_scales=WIDE, options={"inplace": True}, execution="cpu"
    ),
    "column": lambda: matmul(*pair(), addend(torch.float16)[:, :1], beta=1, quantization_scales=WIDE, execution="cpu"),
    "mask and bias": lambda: matmul(
        *pair(), epilog=E.RELU_AUX_BIAS, epilog_inputs=bias(), quantization_scales=FP8, execution="cpu"
    ),
    "mask that is read": lambda: matmul(
        *pair(), epilog=E.DRELU_BGRAD, epilog_inputs=mask(), quantization_scales=WIDE, options=F16, execution="cpu"
    ),
    "narrow auxiliary": lambda: matmul(
        *pair((2,)), epilog=E.GELU_AUX, epilog_inputs={"aux_quantization_scale": 0.5}, preferences=AUX, quantization_scales=FP8,
        execution="cpu",
    ),
    "sums of b": lambda: matmul(*pair(), epilog=E.BGRADB, quantization_scales=WIDE, options=F16, execution="cpu"),
    "batches": lambda: matmul(*pair((2,)), addend(torch.float16, (2,)), beta=1, quantization_scales=WIDE, execution="cpu"),
    "vectors": lambda: matmul(
        *pair(), quantization_scales={"a": torch.rand(M, 1) * 0 + 3, "b": torch.full((1, N), 2.0)}, options=F16, execution="cpu"
    ),
    "blocks": lambda: matmul(
        *pair(), quantization_scales={"a": torch.tensor([[1.0], [2.0], [3.0]]), "b": torch.full((1, N), 2.0)}, options=F16,
        execution="cpu",
    ),
    "mxfp8": lambda: matmul(
        *pair(), quantization_scales={"a": block_scales(M, -1), "b": block_scales(N, -2)},
        options={"block_scaling": True, "result_amax": True}, execution="cpu",
    ),
    "mxfp8 in columns": lambda: matmul(
        *pair(), epilog=E.BIAS, epilog_inputs=bias(), quantization_scales={"a": block_scales(M, -1), "b": block_scales(N, -2)},
        options={"block_scaling": True}, execution="cpu",
    ),
    "nvfp4": fp4,
    "a function of the row": lambda: matmul(
        *pair(), epilog=lambda value, row, column: value + row, quantization_scales=WIDE, options=F16, execution="cpu"
    ),
}  # fmt: skip


def bytes_of(outcome: Any) -> list[Any]:
    """Return all arrays of an outcome as bytes, by name."""
    result, more = outcome if isinstance(outcome, tuple) else (outcome, {})
    return [(name, each.shape, each.stride(), each.reshape(-1).contiguous().view(torch.uint8).tolist()) for name, each in
            (("result", result), *more.items())]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_panels_give_what_the_whole_gives(case, monkeypatch):
    import nvmath

    nvmath.plan_cache.clear()
    whole = bytes_of(CASES[case]())
    nvmath.plan_cache.clear()
    monkeypatch.setattr(panels, "_NBYTES", 1)
    monkeypatch.setattr(panels, "_FEWEST", 128)
    seen: list[int] = []
    cut = panels.rows_of
    monkeypatch.setattr("nvmath.linalg.advanced._narrow_host.rows_of", lambda problem, rows: seen.append(rows) or cut(problem, rows))
    split = bytes_of(CASES[case]())
    nvmath.plan_cache.clear()
    assert seen == ([M] if case == "a function of the row" else [128])
    for one, other in zip(whole, split, strict=True):
        assert one == other, one[0]
