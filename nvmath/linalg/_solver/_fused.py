"""Small general systems on a GPU, one or a batch, in one kernel of our own: a block holds a system in shared memory.

It reads the operands with any strides, eliminates with partial pivoting, takes the right-hand sides and one vector for the guess of the
condition along, and writes the solutions where they belong, and four numbers for each system. Factors are not kept: where a guess is
alarming the libraries do it all again.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Final

from ..._core import kernels
from ..._core.dtypes import DType
from ..._core.layout import Ints
from ..._core.place import Cuda
from ...bindings import _cuda as driver
from ...bindings import _nvrtc as nvrtc
from .._matrix import merge_batches
from ._kernels import source
from ._options import Structure
from ._problem import SystemsProblem

_PLAIN: Final = (48 << 10) - 64
"""Shared memory that a block may have without asking for more, less what the kernel has besides."""
_SHARED_OF_BLOCK: Final = 97  # device attribute: what it may have when asked for
_DYNAMIC_SHARED: Final = 8  # function attribute
_LARGEST: Final = 128
_FEW: Final = 132
"""Systems that have a multiprocessor each, so that more threads for each cost nothing."""

SOURCE: Final = """
#if COMPLEX
__device__ inline value minus(value a, value b) { return {a.x - b.x, a.y - b.y}; }
__device__ inline value times(value a, value b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
__device__ inline value over(value a, value b) {  // Smith's method: no square overflows
    if (fabs(b.x) >= fabs(b.y)) {
        const real q = b.y / b.x, d = b.x + b.y * q;
        return {(a.x + a.y * q) / d, (a.y - a.x * q) / d};
    }
    const real q = b.x / b.y, d = b.x * q + b.y;
    return {(a.x * q + a.y) / d, (a.y * q - a.x) / d};
}
__device__ inline bool is_zero(value a) { return a.x == 0 && a.y == 0; }
__device__ inline double rough(value a) { return fabs((double)a.x) + fabs((double)a.y); }
#else
__device__ inline value minus(value a, value b) { return a - b; }
__device__ inline value times(value a, value b) { return a * b; }
__device__ inline value over(value a, value b) { return a / b; }
__device__ inline bool is_zero(value a) { return a == 0; }
__device__ inline double rough(value a) { return fabs((double)a); }
#endif

struct Matrix { long long step, row, col; };

__device__ inline void greatest(unsigned long long* to, double a) {
    atomicMax(to, (unsigned long long)__double_as_longlong(fabs(a)));
}

extern "C" __global__ void run(
    const value* a, const value* b, value* x, const value* probe, double* numbers, int* info, Matrix at_a, Matrix at_b, Matrix at_x,
    int n, int columns, int conjugated) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ unsigned long long largest[3];
    __shared__ int pivot, failed;
    const int thread = threadIdx.x, threads = blockDim.x, lanes = threads < 32 ? threads : 32;
    const int lane = thread % lanes, warp = thread / lanes, warps = threads / lanes;
    const int ld = n + 1;  // so that neither rows nor columns meet in a bank
    value *m = (value*)memory, *s = m + (long long)n * ld;
    a += blockIdx.x * at_a.step; b += blockIdx.x * at_b.step; x += blockIdx.x * at_x.step;

    for (int i = thread; i < n * n; i += threads) {  // along what is contiguous
        const int one = i % n, other = i / n, r = at_a.col == 1 ? other : one, c = at_a.col == 1 ? one : other;
        const value v = a[r * at_a.row + c * at_a.col];
        m[c * ld + r] = conjugated ? conjugate(v) : v;
    }
    for (int i = thread; i < n * (columns + 1); i += threads) {
        const int r = i % n, c = i / n;
        s[c * ld + r] = c < columns ? b[r * at_b.row + c * at_b.col] : probe[r];
    }
    for (int i = thread; i < 3; i += threads) largest[i] = 0;
    if (thread == 0) failed = 0;
    __syncthreads();
    for (int c = thread; c < n; c += threads) {
        double sum = 0;
        for (int r = 0; r < n; ++r) sum += size(m[c * ld + r]);
        greatest(&largest[0], sum);
    }
    __syncthreads();

    for (int k = 0; k < n; ++k) {
        if (warp == 0) {
            double best = -1;
            int where = k;
            for (int r = k + lane; r < n; r += lanes) {
                const double v = rough(m[k * ld + r]);
                if (!(v <= best)) { best = v; where = r; }  // NaN is taken
            }
            for (int distance = lanes / 2; distance; distance /= 2) {
                const double v = __shfl_down_sync(0xffffffffu, best, distance);
                const int w = __shfl_down_sync(0xffffffffu, where, distance);
                if (!(v <= best)) { best = v; where = w; }
            }
            if (lane == 0) pivot = where;
        }
        __syncthreads();
        const int p = pivot;
        if (p != k) {
            for (int j = k + thread; j < n + columns + 1; j += threads) {
                value* column = m + j * ld;
                const value v = column[k];
                column[k] = column[p];
                column[p] = v;
            }
            __syncthreads();
        }
        const value diagonal = m[k * ld + k];
        if (thread == 0 && failed == 0 && is_zero(diagonal)) failed = k + 1;
        for (int r = k + 1 + thread; r < n; r += threads) m[k * ld + r] = over(m[k * ld + r], diagonal);
        __syncthreads();
        const int end = n + columns + 1;  // the right-hand sides follow the matrix, so they are more columns of it
        for (int r = k + 1 + lane; r < n; r += lanes) {
            const value l = m[k * ld + r];
            int j = k + 1 + warp;
            for (; j + 3 * warps < end; j += 4 * warps) {  // four at a time, or each waits for the memory that the last one wrote
                value *p0 = m + j * ld, *p1 = p0 + warps * ld, *p2 = p1 + warps * ld, *p3 = p2 + warps * ld;
                const value u0 = p0[k], u1 = p1[k], u2 = p2[k], u3 = p3[k], c0 = p0[r], c1 = p1[r], c2 = p2[r], c3 = p3[r];
                p0[r] = minus(c0, times(l, u0));
                p1[r] = minus(c1, times(l, u1));
                p2[r] = minus(c2, times(l, u2));
                p3[r] = minus(c3, times(l, u3));
            }
            for (; j < end; j += warps) m[j * ld + r] = minus(m[j * ld + r], times(l, m[j * ld + k]));
        }
        __syncthreads();
    }

    for (int c = warp; c < columns + 1; c += warps) {  // a warp has its columns to itself
        value* column = s + c * ld;
        for (int k = n - 1; k >= 0; --k) {
            const value v = over(column[k], m[k * ld + k]);
            __syncwarp();
            if (lane == 0) column[k] = v;
            for (int r = lane; r < k; r += lanes) column[r] = minus(column[r], times(m[k * ld + r], v));
            __syncwarp();
        }
    }
    __syncthreads();
    for (int c = thread; c < columns + 1; c += threads) {
        double sum = 0;
        for (int r = 0; r < n; ++r) sum += size(s[c * ld + r]);
        greatest(&largest[c < columns ? 2 : 1], sum);
    }
    for (int i = thread; i < n * columns; i += threads) {
        const int one = at_x.col == 1 ? i % columns : i % n, other = at_x.col == 1 ? i / columns : i / n;
        const int r = at_x.col == 1 ? other : one, c = at_x.col == 1 ? one : other;
        x[r * at_x.row + c * at_x.col] = s[c * ld + r];
    }
    __syncthreads();
    for (int i = thread; i < 3; i += threads) numbers[i * gridDim.x + blockIdx.x] = __longlong_as_double((long long)largest[i]);
    if (thread == 0) info[blockIdx.x] = failed;
}
"""


class _Matrix(ctypes.Structure):
    """The strides of the matrices of an operand, in elements."""

    _fields_ = (("step", ctypes.c_longlong), ("row", ctypes.c_longlong), ("col", ctypes.c_longlong))


def shared_nbytes(n: int, columns: int, itemsize: int) -> int:
    """Return the shared memory of one block."""
    return (n + 1) * (n + columns + 1) * itemsize


@lru_cache(maxsize=16)
def shared_of_block(device: int) -> int:
    """Return how much shared memory a block may have on a device."""
    return max(_PLAIN, int(driver.device_get_attribute(_SHARED_OF_BLOCK, device)) - 64)


def strides(problem: SystemsProblem, shared: int) -> tuple[Ints, Ints, Ints] | None:
    """Return step, row and column stride of the matrices, the right-hand sides and the solutions; None for what the kernel cannot do.

    `shared` is how much shared memory a block may have.
    """
    plain = problem.structure is Structure.GENERAL and not (problem.least_squares or problem.inplace_a or problem.inplace_b)
    if not plain or problem.a.explicit or problem.b.explicit or not 0 < problem.cols <= _LARGEST or not problem.columns:
        return None
    most = shared if problem.columns <= problem.cols else _PLAIN  # many right-hand sides are work for many blocks
    if shared_nbytes(problem.cols, problem.columns, problem.dtype.itemsize) > most:
        return None
    stacks = [stack.arrays[0] for stack in (problem.x, problem.a, problem.b)]
    extents, steps = merge_batches(problem.x.batch, *(matrix.batch_strides for matrix in stacks))
    if len(extents) > 1:
        return None
    x, a, b = ((sum(by), matrix.row_stride, matrix.col_stride) for by, matrix in zip(steps, stacks, strict=True))
    return a, b, x


class Fused:
    """The kernel for one problem, with its arguments in place."""

    def __init__(self, problem: SystemsProblem, layout: tuple[Ints, Ints, Ints], place: Cuda) -> None:
        n, columns, dtype = problem.cols, problem.columns, problem.dtype
        a, b, x = layout
        if problem.trans != "N":
            a = a[0], a[2], a[1]
        self.count = problem.count
        self.threads = 32 if n <= 16 else 256 if n > 64 or (n > 32 and problem.count <= _FEW) else 128
        self.shared = shared_nbytes(n, columns, dtype.itemsize)
        self.pointers = tuple(ctypes.c_void_p(0) for _ in range(6))
        self.rest = (
            _Matrix(*a), _Matrix(*b), _Matrix(*x), ctypes.c_int(n), ctypes.c_int(columns), ctypes.c_int(problem.trans == "C")
        )  # fmt: skip
        arguments = (*self.pointers, *self.rest)
        self.table = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        self.address = ctypes.addressof(self.table)
        self.function = _compiled(place.device_id, dtype)
        if self.shared > _PLAIN:
            driver.func_set_attribute(self.function, _DYNAMIC_SHARED, shared_of_block(place.device_id))

    def __call__(self, a: int, b: int, x: int, probe: int, numbers: int, info: int, stream: int) -> None:
        """Queue it for operands, and places of the results, at addresses."""
        for pointer, value in zip(self.pointers, (a, b, x, probe, numbers, info), strict=True):
            pointer.value = value
        driver.launch_kernel(self.function, self.count, 1, 1, self.threads, 1, 1, self.shared, stream, self.address, None)


def _compiled(device: int, dtype: DType) -> int:
    def build(capability: str) -> bytes:
        return nvrtc.compile(source(SOURCE, dtype.name), "nvmath_solver_fused.cu", (f"-arch=sm_{capability}",))

    return kernels.compiled(device, ("solver", "fused", dtype.name), build)


