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

#: The largest sum of sizes of a column, of one matrix for each block: of the first `split` columns, and of the others. The bits of
#: numbers that are not negative are ordered as the numbers are, with NaN last, so one NaN makes the result NaN.
_NORM: Final = """
extern "C" __global__ void run(
    const value* base, double* result, double* rest, long long step, int rows, int cols, long long ld, int part, int split) {
    __shared__ unsigned long long largest[2];
    if (threadIdx.x < 2) largest[threadIdx.x] = 0;
    __syncthreads();
    const value* matrix = base + (long long)blockIdx.x * step;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int c = warp; c < cols; c += warps) {
        const int first = part == 1 ? c : 0, last = part == 2 ? c + 1 : rows;
        double sum = 0;
        for (int r = first + lane; r < last; r += 32) sum += size(matrix[(long long)c * ld + r]);
        for (int distance = 16; distance; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
        if (lane == 0) atomicMax(&largest[c >= split], (unsigned long long)__double_as_longlong(fabs(sum)));
    }
    __syncthreads();
    if (threadIdx.x == 0) result[blockIdx.x] = __longlong_as_double((long long)largest[0]);
    if (threadIdx.x == 0 && split < cols) rest[blockIdx.x] = __longlong_as_double((long long)largest[1]);
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
        super().__init__(
            _function(device, "norm", _NORM, dtype.name), (count, 1), self.base, self.result, self.rest, long(step), integer(shape[0]),
            integer(shape[1]), long(ld), integer(part), integer(shape[1] if split is None else split),
        )  # fmt: skip

    def __call__(self, base: int, result: int, rest: int, stream: int) -> None:
        """Queue it for matrices at an address, and results at two others."""
        self.base.value, self.result.value, self.rest.value = base, result, rest
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
