"""Products on the CPU: what a call costs, relu(A @ B + bias) at five shapes, and batches.

Contenders use the same number of threads.

    python -m benchmarks.cpu_matmul [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nvmath.linalg.advanced import Matmul, MatmulEpilog, matmul

from .harness import Case, arguments, measure, report
from .peers import peer

ON_CPU = {"execution": "cpu"}


def small(n: int, seconds: float) -> Case:
    """A product of small matrices."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    product = Matmul(a, b, **ON_CPU)
    product.plan()

    def reset_and_execute() -> Any:
        product.reset_operands(a=b, b=a)
        return product.execute()

    contenders = {
        "numpy.matmul": lambda: np.matmul(a, b),
        "one call": lambda: matmul(a, b, **ON_CPU),
        "execute": product.execute,
        "reset + execute": reset_and_execute,
    }
    return measure(f"{n} x {n} float64", contenders, "numpy.matmul", seconds=seconds)


def fused(m: int, n: int, k: int, dtype: str, seconds: float) -> Case:
    """relu(A @ B + bias)."""
    rng = np.random.default_rng(0)
    a, b, bias = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n), (m,)))
    product = Matmul(a, b, **ON_CPU)
    product.plan(epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": bias})
    column, target = bias[:, None], np.empty((m, n), dtype, order="F")

    def by_numpy() -> Any:
        np.matmul(a, b, out=target)
        np.add(target, column, out=target)
        return np.maximum(target, 0, out=target)

    contenders = {"numpy": by_numpy, "execute": product.execute}
    torch = peer("torch")
    if torch is not None:
        ta, tb, tc = (torch.from_numpy(each) for each in (a, b, column))
        contenders["torch"] = lambda: torch.relu_(torch.addmm(tc, ta, tb))
    return measure(f"relu(A B + bias) {m} x {n} x {k} {dtype}", contenders, "numpy", seconds=seconds)


def batched(count: int, n: int, seconds: float) -> Case:
    """Many small products."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((count, n, n)), rng.standard_normal((count, n, n))
    product = Matmul(a, b, **ON_CPU)
    product.plan()
    contenders = {"numpy.matmul": lambda: np.matmul(a, b), "execute": product.execute}
    return measure(f"{count} x ({n} x {n}) float64", contenders, "numpy.matmul", seconds=seconds)


def cases(seconds: float) -> list[Case]:
    """All of them."""
    done = [small(n, seconds) for n in (8, 16, 32, 64)]
    shapes = ((64, 64, 64), (512, 512, 64), (2048, 64, 2048), (1024, 1024, 1024), (100_000, 16, 16))
    done += [fused(*shape, dtype, seconds) for dtype in ("float32", "float64") for shape in shapes]
    return done + [batched(count, n, seconds) for count, n in ((1000, 8), (1000, 32), (200, 128))]


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Products on the CPU", cases(asked.seconds), asked)
