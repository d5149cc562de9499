"""Contractions on the CPU: small ones, where the call is what costs, large ones, and chains of operands.

python -m benchmarks.cpu_tensor [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from nvmath.tensor import BinaryContraction, Einsum, binary_contraction, einsum

from .harness import Case, Contenders, arguments, measure, report, wall
from .peers import peer

# expression, extents of its modes, dtype
SMALL = (
    ("ij,jk->ik", {"ijk": 8}, "float64"), ("abcd,cdef->abef", {"abcdef": 4}, "float64"), ("ijk,jkl->il", {"ijkl": 6}, "float32"),
    ("bij,bjk->bik", {"bijk": 8}, "float64"),
)  # fmt: skip
LARGE = (
    ("abcd,cdef->abef", {"abcdef": 32}, "float64"), ("acbd,dfce->abef", {"abcdef": 32}, "float64"),
    ("acbd,dfce->abef", {"abcdef": 32}, "float32"), ("abc,bda->dc", {"abcd": 128}, "float64"),
    ("bij,bjk->bik", {"b": 64, "ijk": 128}, "float64"), ("ijab,kbmj->iakm", {"ijabkm": 28}, "float64"),
    ("pijkl,pjiab->lakbp", {"l": 6, "a": 6, "k": 8, "b": 6, "p": 64, "ij": 16}, "float64"),
)  # fmt: skip
CHAINS = (
    ("ij,jkl,lm->ikm", {"ijklm": 64}, "float64"), ("ij,jk,kl,lm->im", {"ijklm": 6}, "float64"),
    ("asb,bsc,ctd,dte,eua,uv->v", {"abcde": 24, "stuv": 4}, "float64"),
)  # fmt: skip


def operands(expression: str, extents: dict[str, int], dtype: str) -> list[np.ndarray[Any, Any]]:
    """Random operands of an expression."""
    extent = {label: number for labels, number in extents.items() for label in labels}
    rng = np.random.default_rng(0)
    terms = expression.partition("->")[0].split(",")
    return [rng.standard_normal([extent[label] for label in term]).astype(dtype) for term in terms]


def peers(expression: str, arrays: list[np.ndarray[Any, Any]]) -> Contenders:
    """What others offer, with the path given where they take one."""
    path, _ = np.einsum_path(expression, *arrays, optimize="optimal")
    found: Contenders = {"numpy.einsum(optimize=True)": lambda: np.einsum(expression, *arrays, optimize=path)}
    opt_einsum, torch = peer("opt_einsum"), peer("torch")
    if opt_einsum is not None:
        prepared = opt_einsum.contract_expression(expression, *(array.shape for array in arrays))
        found["opt_einsum expression"] = lambda: prepared(*arrays)
    if torch is not None:
        tensors = [torch.from_numpy(array) for array in arrays]
        found["torch.einsum"] = lambda: torch.einsum(expression, *tensors)
    return found


def case(expression: str, extents: dict[str, int], dtype: str, seconds: float) -> Case:
    """One contraction, by a kept plan and by a call, beside the peers."""
    arrays = operands(expression, extents, dtype)
    if len(arrays) == 2:
        planned: Any = BinaryContraction(expression, *arrays, execution="cpu")
        call: Any = binary_contraction
    else:
        planned, call = Einsum(expression, *arrays, execution="cpu"), einsum
    planned.plan()
    found = {"nvmath execute": planned.execute, "nvmath one call": lambda: call(expression, *arrays, execution="cpu")}
    found |= peers(expression, arrays)
    wanted = np.asarray(found["numpy.einsum(optimize=True)"]())
    for name, function in found.items():
        difference = np.linalg.norm(np.asarray(function()) - wanted) / np.linalg.norm(wanted)
        if not difference < (1e-4 if dtype == "float32" else 1e-12):
            raise AssertionError(f"{name} differs from NumPy by {difference:.1e}")
    sizes = ", ".join(f"{labels}={number}" for labels, number in extents.items())
    small = max(array.size for array in arrays) < 10_000
    clock, most = (wall, 1000) if small else (rested, 2)
    return measure(f"{expression} {sizes} {dtype}", found, "nvmath execute", seconds=seconds, clock=clock, most=most)


def rested(function: Callable[[], Any], count: int) -> float:
    """Time after a rest: the threads of the contender before may spin for some milliseconds, on the cores that this one needs."""
    time.sleep(0.03)
    function()
    return wall(function, count)


def cases(seconds: float) -> list[Case]:
    """Measure everything."""
    return [case(*row, seconds) for row in (*SMALL, *LARGE, *CHAINS)]


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Contractions on the CPU", cases(asked.seconds), asked)
