"""CUDA C++ of our own kernel for products that the memory bounds."""

from __future__ import annotations

from typing import Final

from ._finish_source import ACTIVATIONS, CONVERSIONS, STORAGE, helpers
from ._skinny_form import Form
from ._skinny_shape import Recipe, Shape


def skinny_source(form: Form, recipe: Recipe, shape: Shape) -> str:
    """Return the text of the kernel."""
    real = not form.value.endswith("2")
    body = ACTIVATIONS[form.epilog.activation]
    c, bias = form.c, form.bias
    constants = {
        "K": form.k, "SHORT": form.short, "WIDTH": shape.width, "X_WIDTH": shape.x_width, "UNROLL": shape.unroll, "THREADS": shape.threads,
        "TILE": shape.tile, "PITCH": shape.pitch, "COLUMNS": 1 if shape.along else form.short // shape.width,
        "ROWS": 1 if shape.along else shape.tile // shape.unroll, "UNROLL_K": form.k if form.k <= 32 else 4,
    }  # fmt: skip
    switches = {
        "STAGED": recipe.staged, "X_LONG": shape.x_long, "HAS_C": c is not None, "C_PACKED": shape.c_packed,
        "HAS_BIAS": bias is not None,
    }  # fmt: skip
    return "\n".join(
        (
            CONVERSIONS,
            f"typedef {form.value} V;",
            f"typedef {'double' if 'double' in form.value else 'float'} P;",
            f"typedef {STORAGE[form.x.matrix.dtype.name]} X;",
            f"typedef {STORAGE[form.d.matrix.dtype.name]} D;",
            f"typedef {STORAGE[(form.d if c is None else c).matrix.dtype.name]} C;",
            f"typedef {STORAGE[(form.d if bias is None else bias).matrix.dtype.name]} B;",
            *(f"#define {name} {int(value)}" for name, value in switches.items()),
            "enum { " + ", ".join(f"{name} = {value}" for name, value in constants.items()) + " };",
            _REAL if real else _complex(form),
            helpers(body, form.d.matrix.dtype),
            _COMMON.replace("ACTIVATION", body),
            _ALONG if shape.along else _ACROSS,
        )
    )


def _complex(form: Form) -> str:
    flips = [
        f"#define CONJ_OF_{name} {'-' if conj else ''}"
        for name, conj in (("X", form.x.matrix.conj), ("Y", form.y.conj))
    ]
    return "\n".join((*flips, _COMPLEX))


_REAL: Final = """
#define CONJ_X(v) (v)
#define CONJ_Y(v) (v)
__device__ inline V scalar(const double* s) { return (V)s[0]; }
__device__ inline V times(V a, V b) { return a * b; }
__device__ inline V plus(V a, V b) { return a + b; }
__device__ inline void mad(V& sum, V a, V b) { sum += a * b; }
"""

_COMPLEX: Final = """
__device__ inline V made(P x, P y) { V v; v.x = x; v.y = y; return v; }
#define CONJ_X(v) made((v).x, CONJ_OF_X (v).y)
#define CONJ_Y(v) made((v).x, CONJ_OF_Y (v).y)
__device__ inline V scalar(const double* s) { return made((P)s[0], (P)s[1]); }
__device__ inline V times(V a, V b) { return made(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ inline V plus(V a, V b) { return made(a.x + b.x, a.y + b.y); }
__device__ inline void mad(V& sum, V a, V b) {
    sum.x += a.x * b.x;
    sum.x -= a.y * b.y;
    sum.y += a.x * b.y;
    sum.y += a.y * b.x;
}
"""

_COMMON: Final = """
template <class T, int n> struct alignas(sizeof(T) * n) Pack { T at[n]; };
template <int nbytes> struct Word;
template <> struct Word<1> { typedef unsigned char type; };
template <> struct Word<2> { typedef unsigned short type; };
template <> struct Word<4> { typedef unsigned int type; };
template <> struct Word<8> { typedef uint2 type; };
template <> struct Word<16> { typedef uint4 type; };

// What is used once passes by the caches; what neighbours use too stays there.
template <class P_> __device__ inline P_ pass(const void* from) {
    typedef typename Word<sizeof(P_)>::type W;
    union { W word; P_ pack; } both;
    both.word = __ldcs(reinterpret_cast<const W*>(from));
    return both.pack;
}
template <class P_> __device__ inline P_ keep(const void* from) {
    typedef typename Word<sizeof(P_)>::type W;
    union { W word; P_ pack; } both;
    both.word = *reinterpret_cast<const W*>(from);
    return both.pack;
}
template <class P_> __device__ inline void put(void* to, P_ pack) {
    typedef typename Word<sizeof(P_)>::type W;
    union { W word; P_ pack; } both;
    both.pack = pack;
    __stcs(reinterpret_cast<W*>(to), both.word);
}
template <class T> __device__ inline V value_of(T element) { V value; narrow(value, widen(element)); return value; }

typedef Pack<X, X_WIDTH> XPack;
typedef Pack<C, WIDTH> CPack;
typedef Pack<D, WIDTH> DPack;
typedef Pack<V, WIDTH> VPack;

struct Arguments {
    const X* x;
    const X* y;
    const C* c;
    const B* bias;
    D* d;
    long long length, x_long, x_k, y_k, y_short, c_long, c_short, bias_long, bias_short, d_long, d_short;
    double alpha[2], beta[2];
};

__device__ inline long long lesser(long long a, long long b) { return a < b ? a : b; }

__device__ inline V finished(V value) {
    ACTIVATION
    return value;
}

// C at one row and one column of the short side; its neighbours along the line lie `step` apart.
__device__ inline CPack addend_at(const Arguments& g, long long row, int column, long long step) {
#if C_PACKED
    return pass<CPack>(g.c + row * g.c_long + column * g.c_short);
#else
    CPack pack;
    #pragma unroll
    for (int w = 0; w < WIDTH; ++w) pack.at[w] = g.c[row * g.c_long + column * g.c_short + w * step];
    return pack;
#endif
}

#if STAGED
// Rows of X from `base` on, read as whole lines, into shared memory.
__device__ inline void stage(const Arguments& g, long long base, X* staged) {
    #pragma unroll 4
    for (int i = threadIdx.x; i < TILE * (K / X_WIDTH); i += THREADS) {
        const int row = i / (K / X_WIDTH), k = i % (K / X_WIDTH) * X_WIDTH;
        const XPack pack = pass<XPack>(g.x + lesser(base + row, g.length - 1) * g.x_long + k);
        #pragma unroll
        for (int j = 0; j < X_WIDTH; ++j) staged[row * PITCH + k + j] = pack.at[j];
    }
}
#endif
"""

_ACROSS: Final = """
extern "C" __global__ void __launch_bounds__(THREADS) run(const Arguments g) {
    const int column = (int)threadIdx.x % COLUMNS * WIDTH, first = (int)threadIdx.x / COLUMNS;
    const V alpha = scalar(g.alpha), beta = scalar(g.beta);
    const bool multiplies = g.alpha[0] != 0 || g.alpha[1] != 0, adds = g.beta[0] != 0 || g.beta[1] != 0;
    (void)beta; (void)adds;
#if STAGED
    __shared__ X staged[TILE * PITCH];
#endif
    alignas(32) __shared__ V small[K * SHORT];
    if (multiplies)
        for (int i = threadIdx.x; i < K * SHORT; i += THREADS)
            small[i] = CONJ_Y(value_of(g.y[i / SHORT * g.y_k + i % SHORT * g.y_short]));
    __syncthreads();
    for (long long base = (long long)blockIdx.x * TILE; base < g.length; base += (long long)gridDim.x * TILE) {
        long long row[UNROLL];
        #pragma unroll
        for (int u = 0; u < UNROLL; ++u) row[u] = lesser(base + u * ROWS + first, g.length - 1);
#if HAS_C
        CPack addend[UNROLL] = {};
        if (adds) {
            #pragma unroll
            for (int u = 0; u < UNROLL; ++u) addend[u] = addend_at(g, row[u], column, g.c_short);
        }
#endif
        V sum[UNROLL][WIDTH] = {};
        if (multiplies) {
#if STAGED
            stage(g, base, staged);
            __syncthreads();
#endif
            #pragma unroll UNROLL_K
            for (int k = 0; k < K; k += X_WIDTH) {
                XPack x[UNROLL];
                #pragma unroll
                for (int u = 0; u < UNROLL; ++u) {
#if STAGED
                    #pragma unroll
                    for (int j = 0; j < X_WIDTH; ++j) x[u].at[j] = staged[(u * ROWS + first) * PITCH + k + j];
#else
                    x[u] = keep<XPack>(g.x + row[u] * g.x_long + k * g.x_k);
#endif
                }
                #pragma unroll
                for (int j = 0; j < X_WIDTH; ++j) {
                    const VPack line = *reinterpret_cast<const VPack*>(small + (k + j) * SHORT + column);
                    #pragma unroll
                    for (int u = 0; u < UNROLL; ++u) {
                        const V factor = CONJ_X(value_of(x[u].at[j]));
                        #pragma unroll
                        for (int w = 0; w < WIDTH; ++w) mad(sum[u][w], factor, line.at[w]);
                    }
                }
            }
#if STAGED
            __syncthreads();
#endif
        }
        #pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            DPack result;
            #pragma unroll
            for (int w = 0; w < WIDTH; ++w) {
                V value = times(alpha, sum[u][w]);
#if HAS_C
                if (adds) mad(value, beta, value_of(addend[u].at[w]));
#endif
#if HAS_BIAS
                value = plus(value, value_of(g.bias[row[u] * g.bias_long + (column + w) * g.bias_short]));
#endif
                narrow(result.at[w], finished(value));
            }
            if (base + u * ROWS + first < g.length) put(g.d + row[u] * g.d_long + column * g.d_short, result);
        }
    }
}
"""

_ALONG: Final = """
extern "C" __global__ void __launch_bounds__(THREADS) run(const Arguments g) {
    const V alpha = scalar(g.alpha), beta = scalar(g.beta);
    const bool multiplies = g.alpha[0] != 0 || g.alpha[1] != 0, adds = g.beta[0] != 0 || g.beta[1] != 0;
    (void)beta; (void)adds;
#if STAGED
    __shared__ X staged[TILE * PITCH];
#endif
    alignas(16) __shared__ V small[SHORT * K];
    if (multiplies)
        for (int i = threadIdx.x; i < K * SHORT; i += THREADS)
            small[i] = CONJ_Y(value_of(g.y[i % K * g.y_k + i / K * g.y_short]));
    __syncthreads();
    for (long long base = (long long)blockIdx.x * TILE; base < g.length; base += (long long)gridDim.x * TILE) {
        const long long mine = base + (int)threadIdx.x * WIDTH, row = lesser(mine, g.length - WIDTH);
        V x[K][WIDTH] = {};
        if (multiplies) {
#if STAGED
            stage(g, base, staged);
            __syncthreads();
            #pragma unroll
            for (int k = 0; k < K; ++k) x[k][0] = CONJ_X(value_of(staged[threadIdx.x * PITCH + k]));
            __syncthreads();
#elif X_LONG
            #pragma unroll
            for (int k = 0; k < K; ++k) {
                const XPack pack = pass<XPack>(g.x + row * g.x_long + k * g.x_k);
                #pragma unroll
                for (int w = 0; w < WIDTH; ++w) x[k][w] = CONJ_X(value_of(pack.at[w]));
            }
#else
            #pragma unroll
            for (int w = 0; w < WIDTH; ++w) {
                #pragma unroll
                for (int k = 0; k < K; k += X_WIDTH) {
                    const XPack pack = keep<XPack>(g.x + (row + w) * g.x_long + k * g.x_k);
                    #pragma unroll
                    for (int j = 0; j < X_WIDTH; ++j) x[k + j][w] = CONJ_X(value_of(pack.at[j]));
                }
            }
#endif
        }
        #pragma unroll 1
        for (int column = 0; column < SHORT; column += UNROLL) {
#if HAS_C
            CPack addend[UNROLL] = {};
            if (adds) {
                #pragma unroll
                for (int u = 0; u < UNROLL; ++u) addend[u] = addend_at(g, row, column + u, g.c_long);
            }
#endif
            #pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                V sum[WIDTH] = {};
                if (multiplies) {
                    #pragma unroll
                    for (int k = 0; k < K; ++k) {
                        const V factor = small[(column + u) * K + k];
                        #pragma unroll
                        for (int w = 0; w < WIDTH; ++w) mad(sum[w], x[k][w], factor);
                    }
                }
                DPack result;
                #pragma unroll
                for (int w = 0; w < WIDTH; ++w) {
                    V value = times(alpha, sum[w]);
#if HAS_C
                    if (adds) mad(value, beta, value_of(addend[u].at[w]));
#endif
#if HAS_BIAS
                    value = plus(value, value_of(g.bias[(row + w) * g.bias_long + (column + u) * g.bias_short]));
#endif
                    narrow(result.at[w], finished(value));
                }
                if (mine < g.length) put(g.d + row * g.d_long + (column + u) * g.d_short, result);
            }
        }
    }
}
"""
