"""Dense systems beside numpy.linalg.solve, scipy.linalg.solve, torch.linalg.solve and cupy.linalg.solve.

Every contender ends with a solution that the host may use: calls on a GPU are timed with a synchronisation after each, since ours
always wait.

    python -m benchmarks.dense_solver [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nvmath.linalg import DirectSolver, direct_solver

from .harness import Case, Contenders, arguments, measure, report
from .peers import gpu_cupy, gpu_torch, peer

SINGLE = (8, 64, 256, 1000)
BATCHES = ((1000, 8), (1000, 32), (1024, 64), (200, 128))
DTYPES = ("float64", "float32")


def system(shape: tuple[int, ...], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return well-conditioned matrices, and one right-hand side for each."""
    rng = np.random.default_rng(0)
    n = shape[-1]
    a = rng.standard_normal(shape) + n**0.5 * 2 * np.eye(n)
    b = rng.standard_normal((*shape[:-1], 1) if len(shape) > 2 else (n,))
    return a.astype(dtype), b.astype(dtype)


def ours(a: Any, b: Any, execution: str | None = None) -> Contenders:
    """Return one call, and the solution with factors that are there."""
    solver = DirectSolver(a, b, execution=execution)
    solver.plan()
    solver.factorize()
    return {
        "nvmath one call": lambda: direct_solver(a, b, execution=execution),
        "nvmath solve": solver.solve,
        "nvmath Cholesky": _cholesky(a, b, execution),
    }


def _cholesky(a: Any, b: Any, execution: str | None) -> Callable[[], Any]:
    positive = a @ (a.mT if hasattr(a, "mT") else a.swapaxes(-1, -2))
    return lambda: direct_solver(positive, b, options={"assume_a": "pos"}, execution=execution)


def then(function: Callable[[], Any], synchronize: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that also waits."""

    def both() -> Any:
        result = function()
        synchronize()
        return result

    return both


def host(seconds: float) -> list[Case]:
    """On the CPU."""
    scipy, torch, done = peer("scipy.linalg"), peer("torch"), []
    for shape in (*((n, n) for n in SINGLE), *((count, n, n) for count, n in BATCHES)):
        for dtype in DTYPES:
            a, b = system(shape, dtype)
            contenders = ours(a, b, "cpu") | {"numpy.linalg.solve": lambda a=a, b=b: np.linalg.solve(a, b)}
            if scipy is not None and len(shape) == 2:
                contenders["scipy.linalg.solve"] = lambda a=a, b=b: scipy.solve(a, b)
            if torch is not None:
                x, y = torch.from_numpy(a), torch.from_numpy(b)
                contenders["torch.linalg.solve"] = lambda x=x, y=y: torch.linalg.solve(x, y)
            name = f"{' x '.join(map(str, shape))} {dtype}, CPU"
            done.append(measure(name, contenders, "numpy.linalg.solve", seconds=seconds))
    return done


def device(seconds: float) -> list[Case]:
    """On a GPU."""
    torch, cupy, done = gpu_torch(), gpu_cupy(), []
    for shape in (*((n, n) for n in (*SINGLE, 4000)), *((count, n, n) for count, n in BATCHES)):
        for dtype in DTYPES:
            a, b = system(shape, dtype)
            name = f"{' x '.join(map(str, shape))} {dtype}"
            if cupy is not None:
                x, y = cupy.asarray(a), cupy.asarray(b)
                wait = cupy.cuda.get_current_stream().synchronize
                peers = {"cupy.linalg.solve": then(lambda x=x, y=y: cupy.linalg.solve(x, y), wait)}
                done.append(measure(f"{name}, CuPy", ours(x, y) | peers, "cupy.linalg.solve", seconds=seconds))
            if torch is not None:
                x, y = torch.tensor(a, device="cuda"), torch.tensor(b, device="cuda")
                peers = {"torch.linalg.solve": then(lambda x=x, y=y: torch.linalg.solve(x, y), torch.cuda.synchronize)}
                done.append(measure(f"{name}, PyTorch", ours(x, y) | peers, "torch.linalg.solve", seconds=seconds))
    return done


def cases(seconds: float) -> list[Case]:
    """Measure everything that can be measured here."""
    return host(seconds) + device(seconds)


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Dense systems", cases(asked.seconds), asked)
