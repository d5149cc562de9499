"""Device kernels compiled by the C++ compiler and run on the host, thread by thread: their sources are what is tested."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nvmath._core import kernels
from nvmath._core import place as places
from nvmath.bindings import _cuda, _nvrtc

COMPILER = shutil.which("c++") or shutil.which("g++")

# Instructions of the GPU, and what does the same on the host.
CONVERSIONS = {
    'asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));': "f = half_to_float(h);",
    'asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));': "h = float_to_half(f);",
}

PRELUDE = """
#define __global__
#define __device__
typedef unsigned short ushort;
struct float2 { float x, y; };
struct double2 { double x, y; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
static float2 make_float2(float x, float y) { float2 z; z.x = x; z.y = y; return z; }
static double2 make_double2(double x, double y) { double2 z; z.x = x; z.y = y; return z; }
static float __uint_as_float(unsigned u) { union { unsigned u; float f; } v; v.u = u; return v.f; }
static unsigned __float_as_uint(float f) { union { unsigned u; float f; } v; v.f = f; return v.u; }
static float half_to_float(ushort h) {  // exact: the value times a power of 2
    unsigned sign = (unsigned)(h & 0x8000) << 16, rest = h & 0x7FFF;
    if (rest >= 0x7C00) return __uint_as_float(sign | 0x7F800000 | (rest & 0x3FF) << 13);
    float f = __uint_as_float(rest << 13) * __uint_as_float(0x77800000);  // 2^112
    return sign ? -f : f;
}
static ushort float_to_half(float f) {  // the nearest of all, even in a tie
    ushort best = 0;
    float distance = 1.0f / 0.0f, size = f < 0 ? -f : f;
    if (f != f) return 0x7E00;
    for (unsigned h = 0; h < 0x7C00; ++h) {
        float d = half_to_float((ushort)h) - size;
        d = d < 0 ? -d : d;
        if (d < distance || (d == distance && !(h & 1))) { distance = d; best = (ushort)h; }
    }
    if (size >= 65520.0f) best = 0x7C00;
    return f < 0 ? best | 0x8000 : best;
}
struct Dim { unsigned x; };
static Dim blockIdx, threadIdx, blockDim, gridDim;
"""
LAUNCH = """
template <unsigned... N> struct Numbers {};
template <unsigned C, unsigned... N> struct Count : Count<C - 1, C - 1, N...> {};
template <unsigned... N> struct Count<0, N...> { typedef Numbers<N...> type; };
template <typename... A, unsigned... N> void spread(void (*f)(A...), void** args, Numbers<N...>) { f(*(A*)args[N]...); }
template <typename... A> void all(void (*f)(A...), void** args) { spread(f, args, typename Count<sizeof...(A)>::type()); }
extern "C" void launch(unsigned blocks, unsigned threads, void** args) {
    gridDim.x = blocks; blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) all(&run, args);
}
"""


@contextmanager
def kernels_on_host(folder: Path) -> Iterator[dict[str, int]]:
    """Let kernels be compiled and launched on the host; gives the digests of those that were."""
    if COMPILER is None:
        pytest.skip("no C++ compiler is installed")
    functions: dict[int, Any] = {}
    numbers: dict[str, int] = {}

    def compiled(device: int, key: Any, build: Callable[[str], bytes]) -> int:
        source = build("90").decode()
        for instruction, function in CONVERSIONS.items():
            source = source.replace(instruction, function)
        name = hashlib.sha256(source.encode()).hexdigest()[:16]
        if name not in numbers:
            file = Path(folder, name + ".cpp")
            file.write_text(PRELUDE + source + LAUNCH)
            library = file.with_suffix(".so")
            subprocess.run([COMPILER, "-std=c++11", "-O0", "-w", "-shared", "-fPIC", file, "-o", library], check=True)
            numbers[name] = len(numbers) + 1
            functions[numbers[name]] = ctypes.CDLL(str(library)).launch
        return numbers[name]

    def launch(function: int, blocks: int, *rest: Any) -> None:
        threads, arguments = rest[2], rest[7]
        functions[function](ctypes.c_uint(blocks), ctypes.c_uint(threads), ctypes.c_void_p(arguments))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "compiled", compiled)
        patch.setattr(_nvrtc, "compile", lambda source, *rest: source.encode())
        patch.setattr(_cuda, "launch_kernel", launch)
        patch.setattr(
            _cuda,
            "memcpy_device_to_device_async",
            lambda to, source, nbytes, stream: ctypes.memmove(to, source, nbytes),
        )
        patch.setattr(places, "cuda", lambda device: SimpleNamespace(current=nullcontext))
        yield numbers
