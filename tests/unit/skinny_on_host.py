"""The kernel for products that the memory bounds, compiled for the host: its own CUDA C++, a block of real threads at a time."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

from finish_on_host import HALVES, compiler, plain

_SHIM = """
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>
using std::tanh; using std::exp;
#define __device__
#define __global__
#define __launch_bounds__(threads)
#define __shared__ static
struct Dim { unsigned x; };
static Dim gridDim, blockDim, blockIdx;
static thread_local Dim threadIdx;
struct float2 { float x, y; };
struct double2 { double x, y; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
static std::barrier<>* together;
static bool misaligned;
static void __syncthreads() { together->arrive_and_wait(); }
template <class W> static const W* checked(const W* p) { if ((std::uintptr_t)p % sizeof(W)) misaligned = true; return p; }
template <class W> static W __ldcs(const W* p) { W w; std::memcpy(&w, checked(p), sizeof w); return w; }
template <class W> static void __stcs(W* p, W w) { std::memcpy((void*)checked(p), &w, sizeof w); }
static inline float __uint_as_float(unsigned u) { float f; memcpy(&f, &u, 4); return f; }
static inline unsigned __float_as_uint(float f) { unsigned u; memcpy(&u, &f, 4); return u; }
static inline float __double2float_rz(double d) { float f = (float)d; return std::fabs(f) > std::fabs(d) ? std::nextafterf(f, 0) : f; }
"""
_ENTRY = """
extern "C" int call(const Arguments* arguments, unsigned blocks, unsigned threads) {
    gridDim = {blocks}; blockDim = {threads}; misaligned = threads != THREADS;
    for (unsigned block = 0; block < blocks; ++block) {
        blockIdx = {block};
        std::barrier<> all(threads);
        together = &all;
        std::vector<std::thread> running;
        for (unsigned i = 0; i < threads; ++i)
            running.emplace_back([=] { threadIdx = {i}; run(*arguments); });
        for (auto& each : running) each.join();
    }
    return misaligned;
}
"""
_READ = "both.word = *reinterpret_cast<const W*>(from);"


def on_host(source: str) -> str:
    """The text as C++ of the host."""
    assert _READ in source
    return (
        _SHIM + HALVES + plain(source).replace(_READ, "both.word = __ldcs(reinterpret_cast<const W*>(from));") + _ENTRY
    )


class SkinnyKernels:
    """Stands for `nvmath._core.kernels.compiled` and for the launch of what it gives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.functions: list[Any] = [None]
        self.launched: list[tuple[int, int]] = []

    def compiled(self, device: int, key: tuple[Any, ...], build: Any) -> int:
        """Compile the text that a key holds."""
        number = len(self.functions)
        text, made = self.folder / f"skinny{number}.cpp", self.folder / f"skinny{number}.so"
        text.write_text(on_host(key[1]))
        command = [
            str(compiler()),
            "-std=c++20",
            "-O1",
            "-pthread",
            "-shared",
            "-fPIC",
            "-w",
            "-o",
            str(made),
            str(text),
        ]
        subprocess.run(command, check=True, capture_output=True, text=True)
        self.functions.append(ctypes.CDLL(str(made)).call)
        return number

    def launch(self, function: int, blocks: int, *rest: Any) -> None:
        """Run a kernel, which must read and write whole words only where they may lie."""
        threads, parameters = rest[2], rest[-2]
        self.launched.append((blocks, threads))
        arguments = ctypes.c_void_p(ctypes.c_void_p.from_address(parameters).value)
        assert self.functions[function](arguments, blocks, threads) == 0, (
            "a word was read or written at a wrong address"
        )
