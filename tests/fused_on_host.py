"""The kernel for batches of small systems, compiled by a C++ compiler and run by one thread for each block."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nvmath.linalg._solver import _fused
from nvmath.linalg._solver._kernels import source

SHARED = 227 << 10
"""What a block may have, in bytes: as on a large GPU."""

BEFORE = """
#include <cmath>
#include <cstring>
using std::fabs; using std::hypot;
#define __device__
#define __global__ static
#define __shared__ static
#define __syncthreads()
#define __syncwarp()
#define __shfl_down_sync(mask, v, distance) (v)
struct Index { int x, y; };
static Index threadIdx = {0, 0}, blockIdx = {0, 0}, blockDim = {1, 1}, gridDim = {1, 1};
static unsigned long long atomicMax(unsigned long long* to, unsigned long long v) { if (v > *to) *to = v; return 0; }
static long long __double_as_longlong(double v) { long long w; memcpy(&w, &v, 8); return w; }
static double __longlong_as_double(long long w) { double v; memcpy(&v, &w, 8); return v; }
"""

_AFTER = """
extern "C" void blocks(
    int count, const value* a, const value* b, value* x, const value* probe, double* numbers, int* info, const Matrix* at,
    int n, int columns, int conjugated) {
    gridDim.x = count;
    for (blockIdx.x = 0; blockIdx.x < count; ++blockIdx.x)
        run(a, b, x, probe, numbers, info, at[0], at[1], at[2], n, columns, conjugated);
}
"""


@cache
def compiled(dtype: str) -> Any:
    """Return the function that runs all blocks."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler (g++ or c++)")
    text = source(_fused.SOURCE, dtype).replace('extern "C" __global__ void run', "__global__ void run")
    text = text.replace("extern __shared__ __align__(16) unsigned char memory[];", f"alignas(16) static unsigned char memory[{SHARED}];")
    text = BEFORE + text + _AFTER
    folder = Path(tempfile.mkdtemp(prefix="nvmath-fused-"))
    name = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    (folder / "fused.cpp").write_text(text)
    subprocess.run([compiler, "-O1", "-std=c++17", "-shared", "-fPIC", "-o", str(name), str(folder / "fused.cpp")], check=True)
    library = ctypes.CDLL(str(name))
    shutil.rmtree(folder)
    return library.blocks


class HostFused:
    """Stands for `_fused.Fused`."""

    def __init__(self, problem: Any, layout: Any, place: Any) -> None:
        a, b, x = layout
        a = a if problem.trans == "N" else (a[0], a[2], a[1])
        self.run, self.count = compiled(problem.dtype.name), problem.count
        self.at = (ctypes.c_longlong * 9)(*a, *b, *x)
        self.numbers = problem.cols, problem.columns, int(problem.trans == "C")
        self.calls = 0

    def __call__(self, a: int, b: int, x: int, probe: int, numbers: int, info: int, stream: int) -> None:
        self.calls += 1
        pointers = (ctypes.c_void_p(each) for each in (a, b, x, probe, numbers, info))
        self.run(self.count, *pointers, self.at, *self.numbers)
