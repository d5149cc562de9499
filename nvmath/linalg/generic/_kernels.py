"""Our own device kernels: structured matrices written out, and sums of matrices; twins of those in `_kernels_host`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, Final

from ..._core import kernels
from ..._core.dtypes import DType
from ..._core.layout import Ints
from ...bindings import _cuda as driver
from ...bindings import _nvrtc as nvrtc
from .._matrix import merge_batches
from ._kernels_host import first_of
from ._lowering import Load

_THREADS: Final = 256
_MAX_BLOCKS: Final = 1 << 20

# How elements are stored, what a one looks like, and in what sums are computed.
_TYPES: Final = {
    "float16": ("unsigned short", "0x3C00", "float"), "bfloat16": ("unsigned short", "0x3F80", "float"),
    "float32": ("float", "1.0f", "float"), "float64": ("double", "1.0", "double"),
    "complex64": ("float2", "make_float2(1.0f, 0.0f)", "float"), "complex128": ("double2", "make_double2(1.0, 0.0)", "double"),
}  # fmt: skip

_EXPAND: Final = """
__device__ inline void conjugate(unsigned short&) {}
__device__ inline void conjugate(float&) {}
__device__ inline void conjugate(double&) {}
__device__ inline void conjugate(float2& z) { z.y = -z.y; }
__device__ inline void conjugate(double2& z) { z.y = -z.y; }
__device__ inline void make_real(float& x) {}
__device__ inline void make_real(double& x) {}
__device__ inline void make_real(unsigned short& x) {}
__device__ inline void make_real(float2& z) { z.y = 0; }
__device__ inline void make_real(double2& z) { z.y = 0; }

// The last two dimensions of the layout are the rows and the columns, in the order in which the target has them.
extern "C" __global__ void run(const T* source, T* target, unsigned long long count, double, Layout layout) {
    const index step = (index)gridDim.x * blockDim.x;
    const long long row_step = layout.in[ROW], col_step = layout.in[COL];
    for (index i = (index)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        index rest = i, at[RANK];
        long long from = 0, to = 0;
        #pragma unroll
        for (int k = RANK - 1; k >= 0; --k) {
            index extent = (index)layout.extent[k], outer = rest / extent;
            at[k] = rest - outer * extent;
            rest = outer;
            to += at[k] * layout.out[k];
            if (k != ROW && k != COL) from += at[k] * layout.in[k];
        }
        const long long row = at[ROW], col = at[COL];
        T value;
        EXPRESSION
        target[to] = value;
    }
}
"""

_STORED: Final = "value = source[from + row * row_step + col * col_step];"
_MIRRORED: Final = "value = source[from + col * row_step + row * col_step];"
_EXPRESSIONS: Final = {
    "ge": _STORED,
    "sy": f"if (row INSIDE col) {_STORED} else {_MIRRORED}",
    "he": f"if (row INSIDE col) {_STORED} else {{ {_MIRRORED} conjugate(value); }} if (row == col) make_real(value);",
    "tr": f"value = T(); if (row == col && UNIT) value = ONE; else if (row INSIDE col) {_STORED}",
    "dg": f"value = T(); if (row == col) {_STORED}",
}

_COMBINE: Final = """
__device__ inline float widen_half(unsigned short h) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h)); return f; }
__device__ inline unsigned short narrow_half(float f) { unsigned short h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f)); return h; }
__device__ inline float widen_bfloat(unsigned short h) { return __uint_as_float((unsigned)h << 16); }
__device__ inline unsigned short narrow_bfloat(float f) {
    unsigned bits = __float_as_uint(f);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return (unsigned short)((bits >> 16) | 0x40);
    return (unsigned short)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
struct Number { WIDE x; WIDE y; };
__device__ inline Number number(WIDE x, WIDE y) { Number n; n.x = x; n.y = y; return n; }
__device__ inline Number times(Number a, Number b) {
#if COMPLEX
    return number(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
#else
    return number(a.x * b.x, 0);
#endif
}
__device__ inline Number load(const T* p, long long i, bool conj) {
#if COMPLEX
    T z = p[i];
    return number(z.x, conj ? -z.y : z.y);
#else
    return number(WIDEN(p[i]), 0);
#endif
}
__device__ inline Number scalar(const SCALAR& s) {
#if COMPLEX
    return number(s.x, s.y);
#else
    return number(s, 0);
#endif
}
struct Strides { long long extent[RANK], g[RANK], d[RANK], x[RANK], c[RANK]; };

// d = alpha * x * g + beta * c; nothing is read that is multiplied by zero.
extern "C" __global__ void run(const T* g, T* d, const T* x, const T* c, unsigned long long count, SCALAR alpha_, SCALAR beta_,
                               Strides layout) {
    const index step = (index)gridDim.x * blockDim.x;
    const Number alpha = scalar(alpha_), beta = scalar(beta_);
    const bool multiplies = HAS_G && (alpha.x != 0 || alpha.y != 0), adds = HAS_C && (beta.x != 0 || beta.y != 0);
    for (index i = (index)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        index rest = i;
        long long in_g = 0, in_d = 0, in_x = 0, in_c = 0;
        #pragma unroll
        for (int k = RANK - 1; k >= 0; --k) {
            index extent = (index)layout.extent[k], outer = rest / extent, at = rest - outer * extent;
            rest = outer;
            in_g += at * layout.g[k];
            in_d += at * layout.d[k];
            in_x += at * layout.x[k];
            in_c += at * layout.c[k];
        }
        Number value = number(0, 0);
        if (multiplies) {
            value = load(g, in_g, CONJ_G);
            if (HAS_X) value = times(load(x, in_x, CONJ_X), value);
            value = times(alpha, value);
        }
        if (adds) {
            Number added = times(beta, load(c, in_c, false));
            value = number(value.x + added.x, value.y + added.y);
        }
#if COMPLEX
        T result;
        result.x = value.x;
        result.y = value.y;
        d[in_d] = result;
#else
        d[in_d] = NARROW(value.x);
#endif
    }
}
"""


def _compiled(device: int, key: tuple[Any, ...], source: str) -> int:
    def build(capability: str) -> bytes:
        return nvrtc.compile(source, "nvmath_matrix.cu", (f"-arch=sm_{capability}",))

    return kernels.compiled(device, key, build)


def expand_source(name: str, rank: int, wide: bool, row: int, kind: str, upper: bool, unit: bool, conj: bool) -> str:
    """Return the kernel that writes a structured matrix out; its rows are dimension `row` of the layout, one of the last two."""
    storage, one, _ = _TYPES[name]
    words = {
        "ROW": row, "COL": 2 * rank - 3 - row, "ONE": one, "UNIT": int(unit), "INSIDE": "<=" if upper else ">=",
    }  # fmt: skip
    expression = _EXPRESSIONS[kind] + (" conjugate(value);" if conj else "")
    return _defined({"T": storage}, words, rank, wide) + _EXPAND.replace("EXPRESSION", expression)


def combine_source(name: str, rank: int, wide: bool, has: tuple[bool, bool, bool], conj: tuple[bool, bool]) -> str:
    """Return the kernel of a sum of which G, X and C are there or not, and G and X conjugated or not."""
    storage, _, accumulate = _TYPES[name]
    complex_ = name.startswith("complex")
    convert = {"float16": "{}_half", "bfloat16": "{}_bfloat"}.get(name, "")
    words = {
        "COMPLEX": int(complex_), "WIDEN": convert.format("widen"), "NARROW": convert.format("narrow"), "HAS_G": int(has[0]),
        "HAS_X": int(has[1]), "HAS_C": int(has[2]), "CONJ_G": int(conj[0]), "CONJ_X": int(conj[1]),
    }  # fmt: skip
    types = {"T": storage, "WIDE": accumulate, "SCALAR": storage if complex_ else accumulate}
    return _defined(types, words, rank, wide) + _COMBINE


def _defined(types: dict[str, str], words: dict[str, Any], rank: int, wide: bool) -> str:
    lines = [
        *(f"typedef {value} {word};" for word, value in types.items()),
        *(f"#define {word} {value}" for word, value in words.items()),
    ]
    return "\n".join(lines) + "\n" + kernels.definitions(rank, wide)


def loader(device: int, load: Load) -> Callable[[int, int, int], object]:
    """Return a function that copies from one address to another on a stream, as the load says."""
    if load.plain and load.same:
        nbytes, copy = load.nbytes, driver.memcpy_device_to_device_async
        return lambda source, target, stream: copy(target, source, nbytes, stream)
    if load.plain:
        return kernels.move(
            device, load.shape, load.in_strides, load.out_strides, load.source.dtype, load.target.dtype
        )  # fmt: skip
    structure, (*batch, rows, cols) = load.structure, load.shape
    (*in_batch, in_row, in_col), (*out_batch, out_row, out_col) = load.in_strides, load.out_strides
    if structure.kind == "dg":
        rows = cols = load.source.rows
        in_row, in_col = -in_row if structure.reverse else in_row, 0
    matrix = [(rows, in_row, out_row), (cols, in_col, out_col)]
    rank = len(batch) + 2
    row = rank - 1 if abs(out_row) < abs(out_col) else rank - 2
    dims = [*zip(batch, in_batch, out_batch, strict=True), *(matrix if row == rank - 2 else matrix[::-1])]
    shape = (structure.kind, structure.upper, structure.unit, load.conj)
    name = load.source.dtype.name
    start = first_of(load.source, structure) * load.source.dtype.itemsize

    def function(rank: int, wide: bool) -> int:
        return _compiled(
            device, ("expand", name, rank, wide, row, *shape), expand_source(name, rank, wide, row, *shape)
        )  # fmt: skip

    launcher = kernels.Elementwise(function, dims, ctypes.c_double(0))
    return lambda source, target, stream: launcher(source + start, target, stream)


@dataclass(frozen=True, slots=True)
class Term:
    """A matrix of a sum: its strides, and whether its conjugate is meant."""

    strides: Ints
    conj: bool = False


@cache
def _strides_type(rank: int) -> type[ctypes.Structure]:
    vector = ctypes.c_longlong * rank
    return type(
        "Strides", (ctypes.Structure,), {"_fields_": [(name, vector) for name in ("extent", "g", "d", "x", "c")]}
    )


class Combine:
    """The kernel ``D = alpha * X * G + beta * C``, element by element, with its arguments in place.

    Parameters
    ----------
    device : int
        The GPU.
    dtype : DType
        Of all matrices.
    shape : tuple of int
        Extents of D.
    d, g, x, c : Term
        The matrices; those that are None are left out: no X is a factor of one, no G gives a product of zero.
    alpha, beta : int
        Addresses of the scalars on the host, in the dtype of the arithmetic; they are read at every launch.
    """

    def __init__(
        self,
        device: int,
        dtype: DType,
        shape: Ints,
        d: Term,
        g: Term | None,
        x: Term | None,
        c: Term | None,
        alpha: int,
        beta: int,
    ) -> None:
        none = Term((0,) * len(shape))
        terms = [each or none for each in (d, g, x, c)]
        extents, (to, *strides) = merge_batches(shape, *(term.strides for term in terms))
        extents, (to, *strides) = (extents, (to, *strides)) if extents else ((1,), ((0,),) * 4)
        rank, self.count = len(extents), prod(extents)
        has, conj = (g is not None, x is not None, c is not None), (terms[1].conj, terms[2].conj)
        wide = self.count > 2**31
        self.function = _compiled(
            device, ("combine", dtype.name, rank, wide, has, conj), combine_source(dtype.name, rank, wide, has, conj)
        )  # fmt: skip
        self.layout = _strides_type(rank)(extents, strides[0], to, strides[1], strides[2])
        self.pointers = tuple(ctypes.c_void_p(0) for _ in range(4))
        self.size = ctypes.c_ulonglong(self.count)
        addresses = [ctypes.addressof(each) for each in (*self.pointers, self.size)]
        arguments = [*addresses, alpha, beta, ctypes.addressof(self.layout)]
        self.arguments = (ctypes.c_void_p * len(arguments))(*arguments)
        self.address = ctypes.addressof(self.arguments)
        self.blocks = min(_MAX_BLOCKS, -(-self.count // _THREADS))

    def __call__(self, g: int, d: int, x: int, c: int, stream: int) -> None:
        for cell, address in zip(self.pointers, (g, d, x, c), strict=True):
            cell.value = address
        driver.launch_kernel(self.function, self.blocks, 1, 1, _THREADS, 1, 1, 0, stream, self.address, None)
