"""The kernel for norms of matrices, compiled by a C++ compiler and run by one thread for each block."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fused_on_host import BEFORE

from nvmath.linalg._solver._kernels import NORM, source

_AFTER = """
extern "C" void blocks(
    int count, int slices, const value* base, double* result, double* rest, long long step, int rows, int cols, long long ld, int part,
    int split) {
    gridDim.x = count;
    gridDim.y = slices;
    for (blockIdx.x = 0; blockIdx.x < count; ++blockIdx.x)
        for (blockIdx.y = 0; blockIdx.y < slices; ++blockIdx.y)
            run(base, result, rest, step, rows, cols, ld, part, split);
}
"""


@cache
def compiled(dtype: str) -> Any:
    """Return the function that runs all blocks."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler (g++ or c++)")
    text = source(NORM, dtype).replace('extern "C" __global__ void run', "__global__ void run")
    with tempfile.TemporaryDirectory(prefix="nvmath-norms-") as folder:
        code, made = Path(folder, "norms.cpp"), Path(folder, "norms.so")
        code.write_text(BEFORE + text + _AFTER)
        subprocess.run([compiler, "-O1", "-std=c++17", "-shared", "-fPIC", "-o", str(made), str(code)], check=True)
        return ctypes.CDLL(str(made)).blocks
