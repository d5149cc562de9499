"""The kernels that follow a product, compiled for the host: their own CUDA C++, with one thread, by the C++ compiler that is there."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

_SHIM = """
#include <cmath>
#include <cstring>
using std::tanh; using std::exp;
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)
struct Dim { unsigned x; };
static const Dim gridDim = {1}, blockDim = {1}, blockIdx = {0}, threadIdx = {0};
struct float2 { float x, y; };
struct double2 { double x, y; };
static inline void __syncthreads() {}
template <class V> static inline V __shfl_down_sync(unsigned, V, int) { return 0; }
static inline float __uint_as_float(unsigned u) { float f; memcpy(&f, &u, 4); return f; }
static inline unsigned __float_as_uint(float f) { unsigned u; memcpy(&u, &f, 4); return u; }
#define __expf(x) std::exp(x)
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __double2float_rz(double d) { float f = (float)d; return std::fabs(f) > std::fabs(d) ? std::nextafterf(f, 0) : f; }
"""
HALVES = """
static inline float from_half(unsigned short bits) { _Float16 h; memcpy(&h, &bits, 2); return h; }
template <class F> static inline unsigned short to_half(F f) { _Float16 h = f; unsigned short bits; memcpy(&bits, &h, 2); return bits; }
"""
_ENTRY = """
extern "C" void call(const Arguments* arguments) { run(*arguments); }
"""


def compiler() -> str | None:
    """The C++ compiler, if there is one."""
    return shutil.which("g++") or shutil.which("c++")


def plain(source: str) -> str:
    """The text with PTX replaced."""
    for ptx, host in (
        ('float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits)); return f;', "return from_half(h.bits);"),
        ('asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));', "h.bits = to_half(f);"),
        ('asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h.bits) : "d"(d));', "h.bits = to_half(d);"),
    ):
        assert ptx in source
        source = source.replace(ptx, host)
    return source


def on_host(source: str) -> str:
    """The text as C++ of the host."""
    return _SHIM + HALVES + re.sub(r"\bindex\b", "Index", plain(source)) + _ENTRY  # the C library has a function index


class Kernels:
    """Stands for `nvmath._core.kernels.compiled` and for the launch of what it gives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.functions: list[Any] = [None]
        self.compile = cache(self._compile)

    def compiled(self, device: int, key: tuple[Any, ...], build: Any) -> int:
        return self.compile(key[1])

    def _compile(self, source: str) -> int:
        number = len(self.functions)
        text, made = self.folder / f"kernel{number}.cpp", self.folder / f"kernel{number}.so"
        text.write_text(on_host(source))
        command = [str(compiler()), "-std=c++17", "-O1", "-shared", "-fPIC", "-w", "-o", str(made), str(text)]
        subprocess.run(command, check=True, capture_output=True, text=True)
        self.functions.append(ctypes.CDLL(str(made)).call)
        return number

    def launch(self, function: int, *rest: Any) -> None:
        """Run a kernel: the address of its one argument is the first of those that it was launched with."""
        parameters = rest[-2]
        self.functions[function](ctypes.c_void_p(ctypes.c_void_p.from_address(parameters).value))
