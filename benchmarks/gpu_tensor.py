"""Contractions on a GPU: what a call costs the caller, and the time on the device.

python -m benchmarks.gpu_tensor [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

import sys
from typing import Any

from nvmath.tensor import BinaryContraction, ContractionAlgo, Einsum, binary_contraction, einsum

from .harness import Case, Contenders, arguments, measure, report
from .host_overhead import queued
from .peer_worker import by_device
from .peers import gpu_cupy, gpu_torch

# expression, extents of its modes, dtype
HOST = (
    ("ijk,jkl->il", {"ijkl": 64}, "float32"), ("ij,jk->ik", {"ijk": 64}, "float64"), ("ij,jk,kl,lm->im", {"ijklm": 64}, "float32"),
)  # fmt: skip
DEVICE = (
    ("abcd,cdef->abef", {"abcdef": 64}, "float32"), ("abcd,cdef->abef", {"abcdef": 64}, "float64"),
    ("acbd,dfce->abef", {"abcdef": 64}, "float32"), ("acbd,dfce->abef", {"abcdef": 64}, "float64"),
    ("abc,bda->dc", {"abcd": 512}, "float32"), ("bij,bjk->bik", {"b": 512, "ijk": 256}, "float32"),
    ("bij,bjk->bik", {"b": 1_000_000, "ijk": 4}, "float32"), ("ijk,kl->i", {"ijkl": 384}, "float32"),
    ("abcd,cdef->abef", {"abcdef": 64}, "bfloat16"),
)  # fmt: skip


def operands(torch: Any, expression: str, extents: dict[str, int], dtype: str) -> list[Any]:
    """Random operands of an expression on the GPU."""
    extent = {label: number for labels, number in extents.items() for label in labels}
    terms = expression.partition("->")[0].split(",")
    return [torch.randn([extent[label] for label in term], device="cuda").to(getattr(torch, dtype)) for term in terms]


def contenders(torch: Any, expression: str, arrays: list[Any]) -> Contenders:
    """A kept plan and a call of ours, and what others offer."""
    binary = len(arrays) == 2
    planned: Any = (BinaryContraction if binary else Einsum)(expression, *arrays)
    planned.plan()
    found: Contenders = {
        "nvmath execute": planned.execute,
        "nvmath one call": lambda: (binary_contraction if binary else einsum)(expression, *arrays),
        "torch.einsum": lambda: torch.einsum(expression, *arrays),
    }
    patient: Any = (BinaryContraction if binary else Einsum)(expression, *arrays)
    patient.plan_preference.algo = ContractionAlgo.DEFAULT_PATIENT
    patient.plan()
    found["nvmath execute, patient plan"] = patient.execute
    cupy = gpu_cupy()
    if cupy is not None and arrays[0].dtype is not torch.bfloat16:
        views = [cupy.from_dlpack(array) for array in arrays]
        found["cupy.einsum"] = lambda: cupy.einsum(expression, *views, optimize=True)
    wanted = torch.einsum(expression, *(array.double() for array in arrays))
    for name, function in found.items():
        got = torch.as_tensor(function(), device="cuda").double()
        difference = float(torch.linalg.norm(got - wanted) / torch.linalg.norm(wanted))
        if not difference < (2e-2 if arrays[0].dtype is torch.bfloat16 else 1e-3):
            raise AssertionError(f"{name} differs from double precision by {difference:.1e}")
    return found


def cases(seconds: float) -> list[Case]:
    """Measure everything; needs PyTorch, and takes CuPy along."""
    torch = gpu_torch()
    if torch is None:
        sys.exit("This benchmark needs a GPU and PyTorch.")
    torch.backends.cuda.matmul.allow_tf32 = False
    done = []
    for place, rows in (("until the call returns", HOST), ("on the device", DEVICE)):
        for expression, extents, dtype in rows:
            found = contenders(torch, expression, operands(torch, expression, extents, dtype))
            sizes = ", ".join(f"{labels}={number}" for labels, number in extents.items())
            name = f"{expression} {sizes} {dtype}, {place}"
            if rows is HOST:
                clock = queued(torch.cuda.synchronize)
                done.append(measure(name, found, "torch.einsum", seconds=seconds, clock=clock, most=100))
            else:
                done.append(measure(name, found, "nvmath execute", seconds=seconds, clock=by_device, most=10))
            torch.cuda.empty_cache()
    return done


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Contractions on a GPU", cases(asked.seconds), asked)
