"""CUDA C++ of the kernels that follow a product."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..._core.dtypes import DType
from ..._core.layout import Ints
from .._matrix import Matrix
from ._problem import MatmulProblem

THREADS: Final = 512
"""Of a block, for which the kernels are compiled: fewer take up to 10 % longer."""

STORAGE: Final = {
    "float16": "half_bits", "bfloat16": "bfloat_bits", "float32": "float", "float64": "double", "complex64": "float2",
    "complex128": "double2", "uint8": "unsigned char",
}  # fmt: skip
"""How an element lies in memory."""

VALUE: Final = {
    "float16": "float", "bfloat16": "float", "float32": "float", "float64": "double", "complex64": "float2", "complex128": "double2",
}  # fmt: skip
"""In which type it is computed with."""

CONVERSIONS: Final = """
struct half_bits { unsigned short bits; };
struct bfloat_bits { unsigned short bits; };
__device__ inline float widen(half_bits h) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits)); return f; }
__device__ inline float widen(bfloat_bits h) { return __uint_as_float((unsigned)h.bits << 16); }
__device__ inline float widen(float f) { return f; }
__device__ inline double widen(double d) { return d; }
__device__ inline float2 widen(float2 z) { return z; }
__device__ inline double2 widen(double2 z) { return z; }
__device__ inline void narrow(half_bits& h, float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f)); }
__device__ inline void narrow(half_bits& h, double d) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h.bits) : "d"(d)); }
__device__ inline void narrow(bfloat_bits& h, float f) {
    const unsigned bits = __float_as_uint(f);
    h.bits = f != f ? (unsigned short)(bits >> 16 | 0x40) : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
__device__ inline void narrow(bfloat_bits& h, double d) {
    float f = __double2float_rz(d);
    if ((double)f != d && f == f) f = __uint_as_float(__float_as_uint(f) | 1u);
    narrow(h, f);
}
__device__ inline void narrow(float& g, float f) { g = f; }
__device__ inline void narrow(float& g, double d) { g = (float)d; }
__device__ inline void narrow(double& e, float f) { e = f; }
__device__ inline void narrow(double& e, double d) { e = d; }
__device__ inline void narrow(float2& w, float2 z) { w = z; }
__device__ inline void narrow(float2& w, double2 z) { w.x = (float)z.x; w.y = (float)z.y; }
__device__ inline void narrow(double2& w, double2 z) { w = z; }
__device__ inline void narrow(double2& w, float2 z) { w.x = z.x; w.y = z.y; }
"""

_REAL: Final = """
__device__ inline V add(V a, double b) { return a + (V)b; }
__device__ inline V add_scaled(V a, const double* beta, double c) { return a + (V)beta[0] * (V)c; }
"""

_COMPLEX: Final = """
template <class Z> __device__ inline V add(V a, Z b) { a.x += (P)b.x; a.y += (P)b.y; return a; }
template <class Z> __device__ inline V add_scaled(V a, const double* beta, Z c) {
    a.x += (P)beta[0] * (P)c.x - (P)beta[1] * (P)c.y;
    a.y += (P)beta[0] * (P)c.y + (P)beta[1] * (P)c.x;
    return a;
}
"""

_TANH: Final = """
__device__ inline V bent(V x) { return tanh((V)0.7978845608028654 * (x + (V)0.044715 * x * x * x)); }
"""

ACTIVATIONS: Final = {
    "": "",
    "relu": "value = value < (V)0 ? (V)0 : value;",
    "gelu": "value = (V)0.5 * value * ((V)1 + bent(value));",
    "tanh": "value = tanh(value);",
    "sigmoid": "value = logistic((V)1, value);",
    "silu": "value = logistic(value, value);",
    "drelu": "value = (arguments.given[given] >> bit & 1) ? value : (V)0;",
    "dgelu": """{
            const V x = (V)widen(GIVEN), t = bent(x);
            value *= (V)0.5 * ((V)1 + t) + (V)0.5 * x * ((V)1 - t * t) * (V)0.7978845608028654 * ((V)1 + (V)0.134145 * x * x);
        }""",
    "function": "value = nvmath_matmul_epilog(value, row, column FUNCTION_ARGUMENTS);",
}
"""What is done to each value; the CPU has the same rows."""


class Grain(NamedTuple):
    """What one thread does: so many elements along rows or columns, perhaps moved as one word of 16 bytes."""

    elements: int
    along: str  # "row": from one row to the next, or "column"
    packed: bool


class Part(NamedTuple):
    """One matrix of the kernel: its name and its layout."""

    name: str
    matrix: Matrix

    def inner(self, n: int, grain: Grain) -> int:
        """Elements from one to the next of those that a thread does."""
        return self.matrix.row_stride if grain.along == "row" else self._column(n)

    def _column(self, n: int) -> int:
        """Elements from one column to the next; 0 where one column serves all."""
        return self.matrix.col_stride if self.matrix.cols == n and n != 1 else 0

    def steps(self, n: int, grain: Grain) -> Ints:
        """Elements from one index to the next, for each axis of (batch, row, column); a row of a mask is a byte for 8 rows."""
        row, column, count = (
            self.matrix.row_stride,
            self._column(n),
            1 if self.matrix.dtype.kind == "u" else grain.elements,
        )
        if grain.along == "row":
            return (*self.matrix.batch_strides, row * count, column)
        return (*self.matrix.batch_strides, row, column * count)


# factor / (1 + exp(-x))
_EXACT: Final = """
__device__ inline V logistic(V factor, V x) { return factor / ((V)1 + exp(-x)); }
"""

# Its error is below 2^-17 of the value; with the exact one the pass takes three times as long.
_FAST: Final = """
__device__ inline V logistic(V factor, V x) {
    const V e = __expf(-fabsf(x)), r = __fdividef((V)1, (V)1 + e);
    return factor * (x < (V)0 ? e * r : r);
}
"""


def helpers(body: str, d: DType) -> str:
    """Functions that the text of an activation calls; of 16-bit results no more digits are kept than fast ones have."""
    logistic = _FAST if d.bits == 16 else _EXACT
    return (logistic if "logistic(" in body else "") + (_TANH if "bent(" in body else "")


def finish_source(
    parts: list[Part], problem: MatmulProblem, activation: str, order: list[int], grain: Grain, wide: bool
) -> str:
    """Return the text of the pass over the elements."""
    rank, names, value = len(order), [part.name for part in parts], VALUE[problem.d.dtype.name]
    made = next((part for part in parts if part.name == "made"), None)
    mask_made = made is not None and made.matrix.dtype.kind == "u"
    body = ACTIVATIONS[activation or ("function" if problem.epilog.function is not None else "")]
    body = body.replace("FUNCTION_ARGUMENTS", "".join(_passed(index, rank) for index in range(len(problem.arrays))))
    steps = [f"            {name} += (long long)at * arguments.{name}_step[k];" for name in names]
    before, after = _PACKS if grain.packed else ("", "")
    counts = {axis: grain.elements if grain.along == axis else 1 for axis in ("row", "column")}
    first = [
        f"        const long long first_{axis} = at_{order.index(rank - 2 + number)} * {count}LL;"
        for number, (axis, count) in enumerate(counts.items())
    ]
    bits = {axis: " + bit" if grain.along == axis else "" for axis in ("row", "column")}
    declared = "" if problem.epilog.function is None else _declaration(len(problem.arrays))
    return f"""{CONVERSIONS}
typedef {value} V;
typedef {"double" if "double" in value else "float"} P;
typedef unsigned {"long long" if wide else "int"} index;
{_REAL if value in ("float", "double") else _COMPLEX}{helpers(body, problem.d.dtype)}{declared}
struct alignas(16) SourcePack {{ {STORAGE[parts[0].matrix.dtype.name]} at[{grain.elements}]; }};
struct alignas(16) TargetPack {{ {STORAGE[parts[1].matrix.dtype.name]} at[{grain.elements}]; }};
struct Arguments {{
{chr(10).join(_fields(parts, problem, rank))}
}};

extern "C" __global__ void __launch_bounds__({THREADS}) run(const Arguments arguments) {{
    const index stride = (index)gridDim.x * blockDim.x;
    for (index i = (index)blockIdx.x * blockDim.x + threadIdx.x; i < arguments.count; i += stride) {{
        long long {", ".join(f"{name} = 0" for name in names)};
        index left = i;
{chr(10).join(_locate(k, steps) for k in reversed(range(rank)))}
{chr(10).join(first)}
        {"unsigned char mask = 0;" if mask_made else ""}
        {before}
        #pragma unroll
        for (int bit = 0; bit < {grain.elements}; ++bit) {{
            const long long row = first_row{bits["row"]}, column = first_column{bits["column"]};
            (void)column;
            if (row >= arguments.rows) break;
            {_per_element(names, value, body, made is not None, mask_made, grain.packed)}
        }}
        {after}
        {"arguments.made[made] = mask;" if mask_made else ""}
    }}
}}
"""


_PACKS: Final = (
    "const SourcePack in = *reinterpret_cast<const SourcePack*>(arguments.source + source);\n        TargetPack out;",
    "*reinterpret_cast<TargetPack*>(arguments.target + target) = out;",
)


def _fields(parts: list[Part], problem: MatmulProblem, rank: int) -> list[str]:
    """The arguments, in the order in which `Finish` fills them."""
    names = [part.name for part in parts]
    return [
        *(
            f"    {'' if part.name in ('target', 'made') else 'const '}{STORAGE[part.matrix.dtype.name]}* {part.name};"
            for part in parts
        ),
        f"    long long extent[{rank}], {', '.join(f'{name}_step[{rank}]' for name in names)};",
        f"    long long {', '.join(f'{name}_inner' for name in names)};",
        "    unsigned long long count;\n    long long rows;\n    double beta[2];",
        *(
            f"    const char* array{index};\n    long long array{index}_extent[2], array{index}_step[{rank}];"
            for index in range(len(problem.arrays))
        ),
    ]


def _per_element(names: list[str], value: str, body: str, made: bool, mask_made: bool, packed: bool) -> str:
    """What is done for one element."""

    def at(name: str) -> str:
        return f"arguments.{name}[{name} + bit * arguments.{name}_inner]"

    source, target = ("in.at[bit]", "out.at[bit]") if packed else (at("source"), at("target"))
    real = value in ("float", "double")
    lines = (
        (f"V value = (V)widen({source});" if real else f"V value; narrow(value, widen({source}));", True),
        (f"if (arguments.beta[0] != 0 || arguments.beta[1] != 0) value = add_scaled(value, arguments.beta, widen({at('addend')}));",
         "addend" in names),
        (f"value = add(value, widen({at('bias')}));", "bias" in names),
        ("mask |= (unsigned char)((value >= (V)0) << bit);", mask_made),
        (f"narrow({at('made')}, value);", made and not mask_made),
        (body.replace("GIVEN", at("given")), bool(body)),
        (f"narrow({target}, value);", True),
    )  # fmt: skip
    return "\n            ".join(line for line, present in lines if present)


def _declaration(arrays: int) -> str:
    """Declare the user's function: an array is an address and two extents."""
    return f'\nextern "C" __device__ V nvmath_matmul_epilog(V, long long, long long{", const void*, long long, long long" * arrays});\n'


def _passed(index: int, rank: int) -> str:
    """What the user's function gets of an array: that of the batch entry."""
    name = f"arguments.array{index}"
    offset = "".join(f" + at_{k} * {name}_step[{k}]" for k in range(rank))
    return f", {name}{offset}, {name}_extent[0], {name}_extent[1]"


def _locate(k: int, steps: list[str]) -> str:
    """Take one coordinate off the running number, the fastest first."""
    moves = "\n".join(line.replace("[k]", f"[{k}]").replace("at *", f"at_{k} *") for line in steps)
    return (
        f"        const index extent_{k} = (index)arguments.extent[{k}], outer_{k} = left / extent_{k};\n"
        f"        const long long at_{k} = left - outer_{k} * extent_{k};\n        left = outer_{k};\n{moves}"
    )


def sum_source(source: DType, target: DType, rank: int) -> str:
    """Return the text of sums: one block for each."""
    return f"""{CONVERSIONS}
typedef double V;  // many terms of one sign: in single precision the sum would be off by more than its last digits
struct Arguments {{
    const {STORAGE[source.name]}* source;
    {STORAGE[target.name]}* target;
    long long extent[{rank}], source_step[{rank}], target_step[{rank}];
    unsigned long long count;
    long long terms, step;
}};

extern "C" __global__ void __launch_bounds__({THREADS}) run(const Arguments arguments) {{
    __shared__ V partial[32];
    for (unsigned long long i = blockIdx.x; i < arguments.count; i += gridDim.x) {{
        long long from = 0, to = 0;
        unsigned long long left = i;
        for (int k = {rank} - 1; k >= 0; --k) {{
            const unsigned long long outer = left / arguments.extent[k];
            const long long at = left - outer * arguments.extent[k];
            left = outer;
            from += at * arguments.source_step[k];
            to += at * arguments.target_step[k];
        }}
        V sum = 0;
        for (long long k = threadIdx.x; k < arguments.terms; k += blockDim.x) sum += widen(arguments.source[from + k * arguments.step]);
        for (int lane = 16; lane; lane /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lane);
        __syncthreads();
        if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {{
            for (int warp = 1; warp < blockDim.x / 32; ++warp) sum += partial[warp];
            narrow(arguments.target[to], sum);
        }}
    }}
}}
"""
