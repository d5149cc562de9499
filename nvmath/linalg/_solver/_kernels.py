"""Our own kernels around the libraries' on a GPU: norms, addresses, the missing triangle, conjugates."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from ..._core import kernels
from ..._core.dtypes import DType
from ..._core.layout import Ints, merge
from ...bindings import _cuda as driver
from ...bindings import _nvrtc as nvrtc

WHOLE, LOWER, UPPER = 0, 1, 2
_THREADS: Final = 128
_BLOCKS: Final = 528
"""Blocks that keep a GPU busy: four for each multiprocessor of a large one."""
_ALONE: Final = 4096
"""Elements of a matrix that are left to one block."""
_STORAGE: Final = {"float32": ("float", 0), "float64": ("double", 0), "complex64": ("float", 1), "complex128": ("double", 1)}

_TYPES: Final = """
typedef {real} real;
#define COMPLEX {complex}
#if COMPLEX
struct alignas(2 * sizeof(real)) value {{ real x, y; }};
__device__ inline double size(value a) {{ return hypot((double)a.x, (double)a.y); }}
__device__ inline value conjugate(value a) {{ return {{a.x, -a.y}}; }}
#else
typedef real value;
__device__ inline double size(value a) {{ return fabs((double)a); }}
__device__ inline value conjugate(value a) {{ return a; }}
#endif
"""

#: The largest sum of sizes of a column, of one matrix for each x of the grid: of the first `split` columns, and of the others. The bits of
#: numbers that are not negative are ordered as the numbers are, with NaN last, so one NaN makes the result NaN.
NORM: Final = """
extern "C" __global__ void run(
    const value* base, double* result, double* rest, long long step, int rows, int cols, long long ld, int part, int split) {
    __shared__ unsigned long long largest[2];
    const int thread = threadIdx.x, threads = blockDim.x, lanes = threads < 32 ? threads : 32;
    const int lane = thread % lanes, warp = blockIdx.y * (threads / lanes) + thread / lanes, warps = gridDim.y * (threads / lanes);
    for (int i = thread; i < 2; i += threads) largest[i] = 0;
    __syncthreads();
    const value* matrix = base + (long long)blockIdx.x * step;
    for (int c = warp; c < cols; c += warps) {
        const value* column = matrix + (long long)c * ld;
        const int last = part == 2 ? c + 1 : rows;
        int r = (part == 1 ? c : 0) + lane;
        double sum = 0, more[3] = {0, 0, 0};  // four loads under way
        for (; r + 3 * lanes < last; r += 4 * lanes) {
            sum += size(column[r]);
            for (int i = 0; i < 3; ++i) more[i] += size(column[r + (i + 1) * lanes]);
        }
        for (; r < last; r += lanes) sum += size(column[r]);
        sum += more[0] + more[1] + more[2];
        for (int distance = lanes / 2; distance; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
        if (lane == 0) atomicMax(&largest[c >= split], (unsigned long long)__double_as_longlong(fabs(sum)));
    }
    __syncthreads();
    if (thread) return;
    unsigned long long *to = (unsigned long long*)result + blockIdx.x, *and_to = (unsigned long long*)rest + blockIdx.x;
    if (gridDim.y > 1) {  // several blocks for a matrix: there are zeros
        atomicMax(to, largest[0]);
        if (split < cols) atomicMax(and_to, largest[1]);
    } else {
        *to = largest[0];
        if (split < cols) *and_to = largest[1];
    }
}
"""

#: Writes one triangle of each matrix as the (conjugate) transpose of the other.
_FILL: Final = """
extern "C" __global__ void run(value* base, long long step, int n, long long ld, int part, int conjugated) {
    value* matrix = base + (long long)blockIdx.y * step;
    const long long all = (long long)n * n;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < all; i += (long long)gridDim.x * blockDim.x) {
        const long long r = i % n, c = i / n;
        value* target = matrix + c * ld + r;
        if (r == c) {
#if COMPLEX
            if (conjugated) target->y = 0;
#endif
        } else if ((part == 1) == (r < c)) {
            const value other = matrix[r * ld + c];
            *target = conjugated ? conjugate(other) : other;
        }
    }
}
"""

_ADDRESSES: Final = """
extern "C" __global__ void run(unsigned long long* table, unsigned long long base, long long step, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) table[i] = base + (unsigned long long)(i * step);
}
"""

_CONJUGATE: Final = """
extern "C" __global__ void run(const value* source, value* target, unsigned long long count, double, Layout layout) {
    const index step = (index)gridDim.x * blockDim.x;
    for (index i = (index)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        long long from, to;
        locate(layout, i, from, to);
        target[to] = conjugate(source[from]);
    }
}
"""


def source(kernel: str, dtype: str) -> str:
    """Return the CUDA C++ of a kernel for a data type."""
    real, is_complex = _STORAGE[dtype]
    return _TYPES.format(real=real, complex=is_complex) + kernel


@cache
def _function(device: int, name: str, kernel: str, dtype: str) -> int:
    def build(capability: str) -> bytes:
        return nvrtc.compile(source(kernel, dtype), f"nvmath_solver_{name}.cu", (f"-arch=sm_{capability}",))

    return kernels.compiled(device, ("solver", name, dtype), build)


class _Launcher:
    """A kernel with its arguments in place; what changes from call to call is set before :meth:`launch`."""

    def __init__(self, function: int, grid: tuple[int, int], *arguments: Any) -> None:
        self.function, self.grid, self.arguments = function, grid, arguments
        self.table = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        self.address = ctypes.addressof(self.table)

    def launch(self, stream: int) -> None:
        """Queue the kernel."""
        driver.launch_kernel(self.function, *self.grid, 1, _THREADS, 1, 1, 0, stream, self.address, None)


class Norms(_Launcher):
    """1-norms of matrices, `step` elements apart, as float64 numbers; of a part of each if that is asked for.

    With `split` those of the first columns go to one place, those of the others to another.
    """

    def __init__(
        self, device: int, dtype: DType, step: int, count: int, shape: tuple[int, int], ld: int, part: int = WHOLE,
        split: int | None = None,
    ) -> None:  # fmt: skip
        integer, long = ctypes.c_int, ctypes.c_longlong
        self.base, self.result, self.rest = (ctypes.c_void_p(0) for _ in range(3))
        # One block reads what one multiprocessor can, so a large matrix is shared by many.
        warps = _THREADS // 32
        self.blocks = max(1, min(-(-shape[1] // warps), _BLOCKS // count)) if shape[0] * shape[1] > _ALONE else 1
        self.nbytes, self.splits = 8 * count, split is not None and split < shape[1]
        super().__init__(
            _function(device, "norm", NORM, dtype.name), (count, self.blocks), self.base, self.result, self.rest, long(step),
            integer(shape[0]), integer(shape[1]), long(ld), integer(part), integer(shape[1] if split is None else split),
        )  # fmt: skip

    def __call__(self, base: int, result: int, rest: int, stream: int) -> None:
        """Queue it for matrices at an address, and results at two others."""
        self.base.value, self.result.value, self.rest.value = base, result, rest
        if self.blocks > 1:
            driver.memset_d8_async(result, 0, self.nbytes, stream)
            if self.splits:
                driver.memset_d8_async(rest, 0, self.nbytes, stream)
        self.launch(stream)


class Addresses(_Launcher):
    """The addresses of matrices, `step` bytes apart, in a table as the batched functions want them."""

    def __init__(self, device: int, step: int, count: int) -> None:
        self.target, self.base = ctypes.c_void_p(0), ctypes.c_ulonglong(0)
        function = _function(device, "addresses", _ADDRESSES, "float32")
        super().__init__(function, (-(-count // _THREADS), 1), self.target, self.base, ctypes.c_longlong(step), ctypes.c_int(count))

    def __call__(self, table: int, base: int, stream: int) -> None:
        """Queue it for a table at an address, and matrices at another."""
        self.target.value, self.base.value = table, base
        self.launch(stream)


def fill(
    device: int, dtype: DType, base: int, step: int, count: int, n: int, ld: int, lower: bool, conjugated: bool, stream: int
) -> None:
    """Complete matrices of which the lower or the upper triangle is given."""
    integer, long = ctypes.c_int, ctypes.c_longlong
    function = _function(device, "fill", _FILL, dtype.name)
    blocks = min(4096, -(-n * n // _THREADS))
    for first in range(0, count, 65535):  # the limit of the grid's second extent
        at = ctypes.c_void_p(base + first * step * dtype.itemsize)
        arguments = at, long(step), integer(n), long(ld), integer(LOWER if lower else UPPER), integer(conjugated)
        _Launcher(function, (blocks, min(65535, count - first)), *arguments).launch(stream)


def conjugation(device: int, dtype: DType, shape: Ints, strides: Ints) -> Callable[[int, int], None]:
    """Return a function (address, stream) that conjugates elements where they are."""

    def function(rank: int, wide: bool) -> int:
        def build(capability: str) -> bytes:
            text = kernels.definitions(rank, wide) + source(_CONJUGATE, dtype.name)
            return nvrtc.compile(text, "nvmath_solver_conjugate.cu", (f"-arch=sm_{capability}",))

        return kernels.compiled(device, ("solver", "conjugate", dtype.name, rank, wide), build)

    dims = [(0, 0, 0)] if 0 in shape else merge(zip(shape, strides, strides, strict=True))
    run = kernels.Elementwise(function, dims, ctypes.c_double(0))
    return lambda address, stream: run(address, address, stream)
