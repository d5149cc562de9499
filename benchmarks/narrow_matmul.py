"""Products in FP8: beside torch._scaled_mm and bfloat16 on a GPU, beside float32 on the CPU.

Large products are timed by device events, small ones by what a call costs the caller.

    python -m benchmarks.narrow_matmul [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

from typing import Any

from nvmath import CudaDataType
from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

from .harness import Case, Contenders, arguments, measure, report
from .host_overhead import queued
from .peer_worker import by_device
from .peers import gpu_torch, peer

SIZES = (1024, 4096, 8192)
BF16 = {"result_type": CudaDataType.CUDA_R_16BF}


def pair(torch: Any, size: int, device: str) -> Any:
    """Return two square FP8 operands with K innermost."""
    a, b = (torch.randn(size, size, device=device).to(torch.float8_e4m3fn) for _ in range(2))
    return a, b.T


def large(torch: Any, size: int, seconds: float) -> list[Case]:
    """Square products on a GPU, with and without RELU_BIAS."""
    a, b = pair(torch, size, "cuda")
    one = torch.ones((), device="cuda")
    bias = torch.randn(size, device="cuda").to(torch.bfloat16)
    half_a, half_b = a.to(torch.bfloat16), b.to(torch.bfloat16)
    clock, done = by_device, []
    plain = Matmul(a, b, quantization_scales={"a": one, "b": one}, options=BF16)
    plain.plan()
    contenders: Contenders = {
        "nvmath execute": plain.execute,
        "torch._scaled_mm": lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16),
        "torch.matmul, bfloat16": lambda: torch.matmul(half_a, half_b),
    }
    done.append(measure(f"{size}^3, FP8 to bfloat16", contenders, "torch._scaled_mm", seconds=seconds, clock=clock))
    fused = Matmul(a, b, quantization_scales={"a": one, "b": one}, options=BF16)
    fused.plan(epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": bias})
    contenders = {
        "nvmath execute": fused.execute,
        "torch._scaled_mm, add, relu": lambda: torch.relu(
            torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16) + bias[:, None]
        ),
    }
    name = f"{size}^3, FP8 to bfloat16, RELU_BIAS"
    done.append(measure(name, contenders, "torch._scaled_mm, add, relu", seconds=seconds, clock=clock))
    scale_a, scale_b = torch.ones(size, 1, device="cuda"), torch.ones(1, size, device="cuda")
    by_rows = Matmul(a, b, quantization_scales={"a": scale_a, "b": scale_b}, options=BF16)
    by_rows.plan()
    contenders = {
        "nvmath execute": by_rows.execute,
        "torch._scaled_mm": lambda: torch._scaled_mm(a, b, scale_a, scale_b, out_dtype=torch.bfloat16),
    }
    name = f"{size}^3, FP8 to bfloat16, scales of rows and columns"
    done.append(measure(name, contenders, "torch._scaled_mm", seconds=seconds, clock=clock))
    return done


def small(torch: Any, seconds: float) -> Case:
    """What a call costs the caller on a GPU."""
    a, b = pair(torch, 64, "cuda")
    one = torch.ones((), device="cuda")
    scales = {"a": one, "b": one}
    product = Matmul(a, b, quantization_scales=scales, options=BF16)
    product.plan()

    def reset_and_execute() -> Any:
        product.reset_operands(a=a, b=b, quantization_scales=scales)
        return product.execute()

    contenders: Contenders = {
        "nvmath one call": lambda: matmul(a, b, quantization_scales=scales, options=BF16),
        "nvmath one call, numbers": lambda: matmul(a, b, quantization_scales={"a": 1.0, "b": 1.0}, options=BF16),
        "nvmath reset + execute": reset_and_execute,
        "nvmath execute": product.execute,
        "torch._scaled_mm": lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16),
    }
    return measure(
        "64x64, FP8, GPU, host time", contenders, "torch._scaled_mm", seconds=seconds, clock=queued(torch.cuda.synchronize), most=100
    )  # fmt: skip


def on_host(torch: Any, size: int, seconds: float) -> Case:
    """What decoding and rounding cost beside the product itself."""
    a, b = pair(torch, size, "cpu")
    wide_a, wide_b = a.float(), b.float()
    scales = {"a": 1.0, "b": 1.0}
    narrow = Matmul(a, b, quantization_scales={**scales, "d": 1.0}, execution="cpu")
    wide = Matmul(a, b, quantization_scales=scales, options={"result_type": CudaDataType.CUDA_R_32F}, execution="cpu")
    plain = Matmul(wide_a, wide_b, execution="cpu")
    for each in (narrow, wide, plain):
        each.plan()
    contenders: Contenders = {
        "FP8 to FP8": narrow.execute,
        "FP8 to float32": wide.execute,
        "float32": plain.execute,
    }
    return measure(f"{size}^3, CPU", contenders, "float32", seconds=seconds)


def cases(seconds: float) -> list[Case]:
    """Measure everything that can be measured here."""
    done: list[Case] = []
    torch = gpu_torch()
    if torch is not None and torch.cuda.get_device_capability() >= (8, 9):
        for size in SIZES:
            done += large(torch, size, seconds)
        done.append(small(torch, seconds))
    host = peer("torch")
    if host is not None:
        done += [on_host(host, size, seconds) for size in (256, 1024)]
    return done


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Products in FP8", cases(asked.seconds), asked)
