"""Products on a GPU: what a call costs the host, the time on the device of epilogs and of tall matrices, and autotuning.

python -m benchmarks.gpu_matmul [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

from .harness import Case, Contenders, arguments, measure, report
from .host_overhead import queued
from .peer_worker import by_device
from .peers import gpu_cupy, gpu_torch


def host(torch: Any, seconds: float) -> list[Case]:
    """What a call of a 64 x 64 product costs the caller."""
    a, b, bias = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda"), torch.randn(64, device="cuda")
    done = []
    for name, epilog in (("64 x 64", None), ("64 x 64 RELU_BIAS", MatmulEpilog.RELU_BIAS)):
        inputs = None if epilog is None else {"bias": bias}
        product = Matmul(a, b)
        product.plan(epilog=epilog, epilog_inputs=inputs)

        def reset_and_execute(product: Matmul = product, inputs: Any = inputs) -> Any:
            product.reset_operands(a=b, b=a, epilog_inputs=inputs)
            return product.execute()

        def unchecked(product: Matmul = product, inputs: Any = inputs) -> Any:
            product.reset_operands_unchecked(a=b, b=a, epilog_inputs=inputs)
            return product.execute()

        contenders: Contenders = {
            "torch.matmul": lambda: torch.matmul(a, b),
            "execute": product.execute,
            "reset + execute": reset_and_execute,
            "unchecked reset + execute": unchecked,
            "one call": lambda epilog=epilog, inputs=inputs: matmul(a, b, epilog=epilog, epilog_inputs=inputs),
        }
        done.append(
            measure(name, contenders, "torch.matmul", seconds=seconds, clock=queued(torch.cuda.synchronize), most=100)
        )  # fmt: skip
    return done


def epilogs(torch: Any, seconds: float) -> list[Case]:
    """4096 x 4096 x 4096 with epilogs of the library, of ours, and of a user."""

    def leaky(value: Any, row: Any, column: Any) -> Any:
        return value if value > 0 else 0.1 * value

    done = []
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        a, b = (torch.randn(4096, 4096, device="cuda", dtype=dtype) for _ in range(2))
        bias = torch.randn(4096, device="cuda", dtype=dtype)

        def by_torch(column: Any = bias[:, None], a: Any = a, b: Any = b) -> Any:
            return torch.relu(torch.addmm(column, a, b))

        contenders: Contenders = {"torch.relu(addmm)": by_torch}
        for name, epilog, inputs in (
            ("none", None, None), ("RELU_BIAS", "relu_bias", {"bias": bias}), ("GELU_AUX_BIAS", "gelu_aux_bias", {"bias": bias}),
            ("SILU_BIAS", "silu_bias", {"bias": bias}), ("function", leaky, None),
        ):  # fmt: skip
            product = Matmul(a, b)
            product.plan(epilog=epilog, epilog_inputs=inputs)
            contenders[name] = product.execute
        clock = by_device
        done.append(
            measure(
                f"4096^3 {dtype}".replace("torch.", ""), contenders, "RELU_BIAS", seconds=seconds, clock=clock, most=20
            )
        )
    return done


def tall(torch: Any, seconds: float) -> list[Case]:
    """alpha A B + beta C with 10 million rows: bound by memory."""
    done, cupy = [], gpu_cupy()
    for rows, k, columns, dtype in (
        (10_000_000, 10, 40, "float32"),
        (10_000_000, 16, 16, "float16"),
        (5_000_000, 10, 40, "float64"),
    ):
        kind = getattr(torch, dtype)
        a, b, c = (torch.randn(*shape, device="cuda").to(kind) for shape in ((rows, k), (k, columns), (rows, columns)))
        nbytes = a.element_size() * (a.numel() + b.numel() + 2 * c.numel())
        half = torch.empty(nbytes // 2, dtype=torch.uint8, device="cuda")
        contenders: Contenders = {
            "a copy of as many bytes": half.clone,
            "torch.addmm": lambda a=a, b=b, c=c: torch.addmm(c, a, b, alpha=0.5, beta=0.25),
        }
        if cupy is not None:
            contenders["cupy"] = by_cupy(cupy, a, b, c)
        tuned = Matmul(a, b, c, alpha=0.5, beta=0.25)
        tuned.plan()
        report = tuned.autotune(iterations=5)
        for name, ours in (("cuBLASLt, best", False), ("our kernel, best", True)):
            found = next((each for each in report.algorithms if (each.own is not None) == ours), None)
            if found is not None:
                contenders[name] = lambda tuned=tuned, found=found: tuned.execute(algorithm=found)
        contenders["autotuned"] = tuned.execute
        name = f"({rows} x {k}) @ ({k} x {columns}) + C {dtype}; {nbytes / 4.3e12 * 1e6:.0f} us at 4.3 TB/s"
        done.append(measure(name, contenders, "torch.addmm", seconds=seconds, clock=by_device, most=10))
    return done


def by_cupy(cupy: Any, a: Any, b: Any, c: Any) -> Callable[[], Any]:
    """The same with CuPy, over the same memory and on the stream that PyTorch's events are recorded on."""
    x, y, z = (cupy.from_dlpack(each) for each in (a, b, c))

    def run() -> Any:
        with cupy.cuda.Stream.null:
            return 0.5 * (x @ y) + 0.25 * z

    return run


def cases(seconds: float) -> list[Case]:
    """All of them; none without a GPU."""
    torch = gpu_torch()
    return [] if torch is None else [*host(torch, seconds), *epilogs(torch, seconds), *tall(torch, seconds)]


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Products on a GPU", cases(asked.seconds), asked)
