"""Our own kernels for sparse systems on a GPU: their sources, and how they are compiled and launched."""

from __future__ import annotations

import ctypes
import struct
from typing import Any, Final

from ..._core import kernels
from ..._core.dtypes import DType
from ...bindings import _cuda as driver
from ...bindings import _nvrtc as nvrtc

_THREADS: Final = 256
_MAX_BLOCKS: Final = 1 << 11
"""Enough for every multiprocessor, and few enough that the last step of a maximum costs nothing."""
_MAX_ROWS: Final = 65535
_INTEGERS: Final = {"int32": "int", "int64": "long long"}

_TYPES: Final = """
#define COMPLEX {complex}
#define HERMITIAN {hermitian}
#define PART {part}
typedef {real} real;
typedef {offset} offset;
typedef {index} index;
#if COMPLEX
struct alignas(2 * sizeof(real)) value {{ real x, y; }};
__device__ inline value times(value a, value b) {{ return {{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}}; }}
__device__ inline value conjugate(value a) {{ return {{a.x, -a.y}}; }}
__device__ inline void add(value* to, value a) {{ atomicAdd(&to->x, a.x); atomicAdd(&to->y, a.y); }}
__device__ inline double size(value a) {{ return hypot((double)a.x, (double)a.y); }}
__device__ inline value plus(value a, value b) {{ return {{a.x + b.x, a.y + b.y}}; }}
__device__ inline value minus(value a, value b) {{ return {{a.x - b.x, a.y - b.y}}; }}
#else
typedef real value;
__device__ inline value times(value a, value b) {{ return a * b; }}
__device__ inline value conjugate(value a) {{ return a; }}
__device__ inline void add(value* to, value a) {{ atomicAdd(to, a); }}
__device__ inline double size(value a) {{ return fabs((double)a); }}
__device__ inline value plus(value a, value b) {{ return a + b; }}
__device__ inline value minus(value a, value b) {{ return a - b; }}
#endif
__device__ inline value mirrored(value a) {{ return HERMITIAN ? conjugate(a) : a; }}
// Of numbers that are not negative, and NaN, the bits are ordered as the numbers, NaN last. All threads of a block call `greatest` with
// what each of them has found, at the end: one of them writes.
struct Greatest {{
    unsigned long long bits = 0;
    __device__ inline void operator()(double a) {{
        const unsigned long long other = (unsigned long long)__double_as_longlong(fabs(a));
        if (other > bits) bits = other;
    }}
}};
__device__ inline void greatest(double* to, Greatest found) {{
    __shared__ unsigned long long of_warps[32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    for (int step = 16; step; step /= 2) {{
        const unsigned long long other = __shfl_xor_sync(0xffffffffu, found.bits, step);
        if (other > found.bits) found.bits = other;
    }}
    __syncthreads();  // the one before has been read
    if (lane == 0) of_warps[warp] = found.bits;
    __syncthreads();
    if (threadIdx.x) return;
    for (unsigned i = 1; i < warps; ++i) if (of_warps[i] > found.bits) found.bits = of_warps[i];
    atomicMax((unsigned long long*)to, found.bits);
}}
// Of each column five cells, which are 0 before and after: its four numbers so far, and how many blocks are done with it. All blocks of
// a column end with `tell`: the last of them says where the host reads what the numbers are. So nothing need be cleared or copied.
#define CELLS 5
__device__ inline void tell(double* cells, double* told) {{
    if (threadIdx.x) return;  // the others have written nothing
    unsigned long long* words = (unsigned long long*)cells;
    __threadfence();  // what this block has found is there before it is counted
    if (atomicAdd(words + 4, 1ull) + 1 < gridDim.x) return;
    __threadfence();
    for (int i = 0; i < 4; ++i) told[i] = __longlong_as_double((long long)atomicExch(words + i, 0ull));
    words[4] = 0;
}}
#define EACH(i, n) long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x
#define EACH_COLUMN(c, n) long long c = blockIdx.y; c < n; c += gridDim.y
"""

SOURCES: Final = {
    # y += a x for each column, and the largest row sum of |a| into cell 3; y starts as 0. Columns take turns with `period` matrices,
    # whose values are `step` elements apart
    "multiply": """
extern "C" __global__ void run(long long n, long long count, const offset* starts, const index* columns, const value* values,
                               long long period, long long step, const value* xs, long long ld, value* ys, double* cells) {
    for (EACH_COLUMN(c, count)) {
        const value* data = values + c % period * step;
        const value* x = xs + c * ld;
        value* y = ys + c * n;
        Greatest found;
        for (EACH(i, n)) {
            value sum = value();
            double norm = 0;
            for (long long e = starts[i]; e < starts[i + 1]; ++e) {
                const long long j = columns[e];
                if ((PART == 1 && j > i) || (PART == 2 && j < i)) continue;
                const value a = data[e];
                sum = plus(sum, times(a, x[j]));
                norm += size(a) * (PART && j != i ? 2 : 1);
                if (PART && j != i) add(y + j, times(mirrored(a), x[i]));
            }
            add(y + i, sum);
            found(norm);
        }
        greatest(cells + CELLS * c + 3, found);
    }
}
""",
    # the largest elements of a x - b, of b and of x, and the largest row sum of |a|, told of each column: of matrices of which all entries
    # are there. Columns take turns with `period` matrices, whose values are `step` elements apart
    "judge": """
extern "C" __global__ void run(long long n, long long count, const offset* starts, const index* columns, const value* values,
                               long long period, long long step, const value* xs, long long x_ld, const value* bs, long long b_ld,
                               double* cells, double* told) {
    for (EACH_COLUMN(c, count)) {
        const value* data = values + c % period * step;
        const value* x = xs + c * x_ld;
        Greatest residual, of_b, of_x, norm;
        for (EACH(i, n)) {
            const value b = bs[c * b_ld + i];
            value sum = value();
            double row = 0;
            for (long long e = starts[i]; e < starts[i + 1]; ++e) {
                const value a = data[e];
                sum = plus(sum, times(a, x[columns[e]]));
                row += size(a);
            }
            residual(size(minus(sum, b)));
            of_b(size(b));
            of_x(size(x[i]));
            norm(row);
        }
        double* mine = cells + CELLS * c;
        greatest(mine, residual);
        greatest(mine + 1, of_b);
        greatest(mine + 2, of_x);
        greatest(mine + 3, norm);
        tell(mine, told + 4 * c);
    }
}
""",
    # y += a^T x for each column; the column sums of |a| are added up while it is done for the first one. All starts as 0
    "multiply_transposed": """
extern "C" __global__ void run(long long n, long long count, const offset* starts, const index* columns, const value* data,
                               const value* xs, long long ld, value* ys, double* sums) {
    for (EACH_COLUMN(c, count)) {
        for (EACH(i, n)) {
            const value x = xs[c * ld + i];
            for (long long e = starts[i]; e < starts[i + 1]; ++e) {
                add(ys + c * n + columns[e], times(data[e], x));
                if (c == 0) atomicAdd(sums + columns[e], size(data[e]));
            }
        }
    }
}
""",
    # the largest of some sums into cell 3, for each column
    "largest": """
extern "C" __global__ void run(long long n, long long count, const double* sums, double* cells) {
    for (EACH_COLUMN(c, count)) {
        Greatest found;
        for (EACH(i, n)) found(sums[i]);
        greatest(cells + CELLS * c + 3, found);
    }
}
""",
    # the largest elements of the residual, of b and of x, told of each column with what cell 3 holds
    "compare": """
extern "C" __global__ void run(long long n, long long count, const value* xs, long long x_ld, const value* ys, const value* bs,
                               long long b_ld, double* cells, double* told) {
    for (EACH_COLUMN(c, count)) {
        Greatest residual, of_b, of_x;
        for (EACH(i, n)) {
            const value b = bs[c * b_ld + i];
            residual(size(minus(ys[c * n + i], b)));
            of_b(size(b));
            of_x(size(xs[c * x_ld + i]));
        }
        double* mine = cells + CELLS * c;
        greatest(mine, residual);
        greatest(mine + 1, of_b);
        greatest(mine + 2, of_x);
        tell(mine, told + 4 * c);
    }
}
""",
    # values in the order of an assembled pattern: sums of some of the caller's, conjugated where marked; -1 stands for 0
    "assemble": """
extern "C" __global__ void run(long long n, const long long* starts, const long long* gather, const unsigned char* marks,
                               const value* data, value* result) {
    for (EACH(i, n)) {
        value sum = value();
        for (long long k = starts[i]; k < starts[i + 1]; ++k) {
            if (gather[k] < 0) continue;
            const value a = data[gather[k]];
            sum = plus(sum, marks[k] ? conjugate(a) : a);
        }
        result[i] = sum;
    }
}
""",
    # whether 32-bit words differ from others that are repeated
    "differ": """
extern "C" __global__ void run(long long n, long long period, const unsigned* one, const unsigned* other, unsigned* answer) {
    for (EACH(i, n)) if (one[i % period] != other[i]) *answer = 1;
}
""",
    "conjugate": """
extern "C" __global__ void run(long long n, value* values) {
    for (EACH(i, n)) values[i] = conjugate(values[i]);
}
""",
}


def source(
    name: str, dtype: DType, offsets: str = "int32", indices: str = "int32", *, hermitian: bool = False, part: int = 0
) -> str:
    """Return the CUDA C++ of a kernel for types; `part` is 0 for all entries, 1 for the lower and 2 for the upper triangle."""
    types = _TYPES.format(
        complex=int(dtype.kind == "c"), hermitian=int(hermitian), part=part,
        real={"float32": "float", "float64": "double"}[dtype.real.name], offset=_INTEGERS[offsets], index=_INTEGERS[indices],
    )  # fmt: skip
    return types + SOURCES[name]


class Kernel:
    """A compiled kernel with its arguments in place: 64-bit integers, addresses among them.

    Parameters
    ----------
    device : int
        The device.
    name : str
        A key of ``SOURCES``.
    count : int
        Number of arguments.
    types
        As of :func:`source`.
    """

    __slots__ = ("_addresses", "_function", "_pack", "_values")

    def __init__(self, device: int, name: str, count: int, *types: Any, **more: Any) -> None:
        def build(capability: str) -> bytes:
            return nvrtc.compile(source(name, *types, **more), f"nvmath_sparse_{name}.cu", (f"-arch=sm_{capability}",))

        key = ("sparse", name, *(getattr(one, "name", one) for one in types), *sorted(more.items()))
        self._function = kernels.compiled(device, key, build)
        self._values = (ctypes.c_ulonglong * count)()
        self._pack = struct.Struct(f"={count}Q").pack_into
        first = ctypes.addressof(self._values)
        self._addresses = (ctypes.c_void_p * count)(*(first + 8 * i for i in range(count)))

    def __call__(self, stream: int, n: int, rows: int, *arguments: int) -> None:
        """Launch for `n` elements and so many rows of blocks."""
        self._pack(self._values, 0, *arguments)
        blocks = max(1, min(_MAX_BLOCKS, -(-n // _THREADS)))
        driver.launch_kernel(
            self._function, blocks, max(1, min(rows, _MAX_ROWS)), 1, _THREADS, 1, 1, 0, stream, ctypes.addressof(self._addresses), None
        )  # fmt: skip
