"""Generic matrix products beside numpy.matmul, torch.matmul and cupy.matmul.

What one call costs the caller (8x8 to 64x64; on a GPU the time until the call returns), batches on the CPU, and structured products
beside the dense ones that a user would write instead.

    python -m benchmarks.generic_matmul [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nvmath.linalg import (
    DiagonalMatrixQualifier,
    GeneralMatrixQualifier,
    Matmul,
    SymmetricMatrixQualifier,
    TriangularMatrixQualifier,
    matmul,
    matrix_qualifiers_dtype,
)

from .harness import Case, Clock, Contenders, arguments, measure, report, wall
from .host_overhead import queued
from .peers import gpu_cupy, gpu_torch, peer

SIZES = (8, 16, 32, 64)
BATCHES = ((1000, 8), (1000, 32), (200, 128))


def ours(first: Any, second: Any) -> Contenders:
    """Return the three ways to call."""
    product = Matmul(first, second)
    product.plan()

    def reset_and_execute() -> Any:
        product.reset_operands(a=second, b=first)
        return product.execute()

    return {
        "nvmath one call": lambda: matmul(first, second),
        "nvmath reset + execute": reset_and_execute,
        "nvmath execute": product.execute,
    }


def small(seconds: float) -> list[Case]:
    """Square float32 products of small matrices, for every package that is here."""
    rng, done = np.random.default_rng(0), []
    host_torch, torch, cupy = peer("torch"), gpu_torch(), gpu_cupy()
    for size in SIZES:
        a, b = (rng.standard_normal((size, size)).astype("f") for _ in range(2))
        name = f"{size}x{size}"
        done.append(measure(f"{name}, NumPy", ours(a, b) | numpy_peers(a, b), "numpy.matmul", seconds=seconds))
        if host_torch is not None:
            done.append(torch_case(host_torch, f"{name}, PyTorch, CPU", a, b, "cpu", seconds, wall))
        if torch is not None:
            clock = queued(torch.cuda.synchronize)
            done.append(torch_case(torch, f"{name}, PyTorch, GPU", a, b, "cuda", seconds, clock))
        if cupy is not None:
            x, y = cupy.asarray(a), cupy.asarray(b)
            clock = queued(cupy.cuda.get_current_stream().synchronize)
            contenders = ours(x, y) | {"cupy.matmul": lambda x=x, y=y: cupy.matmul(x, y)}
            done.append(
                measure(f"{name}, CuPy, GPU", contenders, "cupy.matmul", seconds=seconds, clock=clock, most=100)
            )
    return done


def numpy_peers(a: Any, b: Any) -> Contenders:
    """Return what a user of NumPy calls."""
    return {"numpy.matmul": lambda: np.matmul(a, b)}


def torch_case(torch: Any, name: str, a: Any, b: Any, device: str, seconds: float, clock: Clock) -> Case:
    """Measure tensors of one device."""
    x, y = torch.from_numpy(a).to(device), torch.from_numpy(b).to(device)
    contenders = ours(x, y) | {"torch.matmul": lambda: torch.matmul(x, y)}
    most = 100 if device == "cuda" else 10_000
    return measure(name, contenders, "torch.matmul", seconds=seconds, clock=clock, most=most)


def batched(seconds: float) -> list[Case]:
    """Batches on the CPU."""
    rng, done = np.random.default_rng(1), []
    for count, size in BATCHES:
        a, b = (rng.standard_normal((count, size, size)).astype("f") for _ in range(2))
        contenders = ours(a, b) | numpy_peers(a, b)
        done.append(measure(f"{count} x ({size}x{size}), NumPy", contenders, "numpy.matmul", seconds=seconds))
    return done


def structured(seconds: float) -> list[Case]:
    """Structured products beside dense ones of the same numbers."""
    rng, done, size = np.random.default_rng(2), [], 1000
    a, b, diagonal = rng.standard_normal((size, size)), rng.standard_normal((size, size)), rng.standard_normal(size)
    lower, symmetric = np.tril(a), a + a.T
    cupy, general = gpu_cupy(), GeneralMatrixQualifier.create()
    for name, operand, full, kind in (
        ("symmetric", symmetric, symmetric, SymmetricMatrixQualifier),
        ("triangular", lower, lower, TriangularMatrixQualifier),
        ("diagonal", diagonal, None, DiagonalMatrixQualifier),
    ):
        qualifiers = np.array([kind.create(), general], matrix_qualifiers_dtype)
        for module, clock in (
            (np, wall),
            *(() if cupy is None else ((cupy, queued(cupy.cuda.get_current_stream().synchronize)),)),
        ):
            x, y, z = (None if each is None else module.asarray(each) for each in (operand, b, full))
            dense = (
                (lambda x=x, y=y: x[:, None] * y)
                if z is None
                else (lambda z=z, y=y, module=module: module.matmul(z, y))
            )
            contenders = {"nvmath one call": lambda x=x, y=y, q=qualifiers: matmul(x, y, qualifiers=q), "dense": dense}
            label = f"{name} {size}x{size}, {module.__name__}"
            done.append(measure(label, contenders, "dense", seconds=seconds, clock=clock, most=100))
    return done


def cases(seconds: float) -> list[Case]:
    """Measure everything that can be measured here."""
    return small(seconds) + batched(seconds) + structured(seconds)


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Generic matrix products", cases(asked.seconds), asked)
