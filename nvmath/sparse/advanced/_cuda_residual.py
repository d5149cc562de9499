"""The residual of a solution on a GPU: two kernels, since cuDSS does not say how good its solution is."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from ..._core import kernels
from ..._core.arrays import Adapter
from ..._core.place import Cuda
from ..._core.staging import download
from ...bindings import _cuda as driver
from ...bindings import _nvrtc as nvrtc
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverMatrixViewType as Part
from ._problem import SystemProblem
from ._residual import Judgement, Verdict, verdict_of

_THREADS: Final = 256
_MAX_BLOCKS: Final = 1 << 16

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
__device__ inline value mirrored(value a) {{ return {{a.x, HERMITIAN ? -a.y : a.y}}; }}
__device__ inline void add(value* to, value a) {{ atomicAdd(&to->x, a.x); atomicAdd(&to->y, a.y); }}
__device__ inline double size(value a) {{ return hypot((double)a.x, (double)a.y); }}
__device__ inline value minus(value a, value b) {{ return {{a.x - b.x, a.y - b.y}}; }}
#else
typedef real value;
__device__ inline value times(value a, value b) {{ return a * b; }}
__device__ inline value mirrored(value a) {{ return a; }}
__device__ inline void add(value* to, value a) {{ atomicAdd(to, a); }}
__device__ inline double size(value a) {{ return fabs((double)a); }}
__device__ inline value minus(value a, value b) {{ return a - b; }}
#endif
// Of numbers that are not negative, and NaN, the bits are ordered as the numbers, NaN last.
__device__ inline void greatest(double* to, double a) {{
    atomicMax((unsigned long long*)to, (unsigned long long)__double_as_longlong(fabs(a)));
}}
"""

_MULTIPLY: Final = """
extern "C" __global__ void run(
    long long n, const offset* starts, const index* columns, const value* data, const value* x, value* y, double* worst) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        value sum = value();
        double norm = 0;
        for (long long e = starts[i]; e < starts[i + 1]; ++e) {
            const long long c = columns[e];
            if ((PART == 1 && c > i) || (PART == 2 && c < i)) continue;
            const value a = data[e], product = times(a, x[c]);
#if COMPLEX
            sum = {sum.x + product.x, sum.y + product.y};
#else
            sum += product;
#endif
            norm += size(a) * (PART && c != i ? 2 : 1);
            if (PART && c != i) add(y + c, times(mirrored(a), x[i]));
        }
        add(y + i, sum);
        greatest(worst + 3, norm);
    }
}
"""

_COMPARE: Final = """
extern "C" __global__ void run(long long n, const value* x, const value* y, const value* b, double* worst) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        greatest(worst, size(minus(y[i], b[i])));
        greatest(worst + 1, size(b[i]));
        greatest(worst + 2, size(x[i]));
    }
}
"""


def source(problem: SystemProblem, kernel: str) -> str:
    """Return the CUDA C++ of a kernel for the types of a problem."""
    integers = {"int32": "int", "int64": "long long"}
    general = problem.kind is Kind.GENERAL
    return (
        _TYPES.format(
            complex=int(problem.dtype.kind == "c"),
            hermitian=int(problem.kind in (Kind.HERMITIAN, Kind.HPD)),
            part=0 if general or problem.part is Part.FULL else int(problem.part),
            real={"float32": "float", "float64": "double"}[problem.dtype.real.name],
            offset=integers[problem.offsets.name],
            index=integers[problem.indices.name],
        )
        + kernel
    )


class Residual:
    """Judges the solutions of one system on a GPU; a call blocks."""

    def __init__(self, problem: SystemProblem, place: Cuda, adapter: Adapter) -> None:
        self.problem, self.place, self.adapter = problem, place, adapter
        types = problem.dtype.name, problem.offsets.name, problem.indices.name, problem.kind, problem.part
        self.multiply = self._compiled("multiply", _MULTIPLY, types)
        self.compare = self._compiled("compare", _COMPARE, types)
        self.blocks = min(_MAX_BLOCKS, -(-problem.n // _THREADS))

    def _compiled(self, name: str, kernel: str, types: tuple[Any, ...]) -> int:
        def build(capability: str) -> bytes:
            return nvrtc.compile(source(self.problem, kernel), f"nvmath_residual_{name}.cu", (f"-arch=sm_{capability}",))

        return kernels.compiled(self.place.device_id, ("residual", name, *types), build)

    def _launch(self, function: int, stream: int, *arguments: Any) -> None:
        addresses = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
        driver.launch_kernel(function, self.blocks, 1, 1, _THREADS, 1, 1, 0, stream, ctypes.addressof(addresses), None)

    def __call__(self, ptrs: tuple[int, ...], x: int, x_ld: int, b: int, b_ld: int, stream: int) -> Judgement:
        """Judge columns at addresses, with their leading dimensions."""
        problem, item = self.problem, self.problem.dtype.itemsize
        nbytes = problem.n * item
        scratch, owner = self.adapter.allocate(nbytes + 64, self.place.device_id, stream)
        y, worst = scratch + 64, scratch
        numbers = (ctypes.c_double * 4)()
        n, address = ctypes.c_longlong(problem.n), ctypes.c_void_p
        found = Judgement(Verdict.GOOD, 0.0, 0.0)
        for column in range(problem.columns):
            driver.memset_d8_async(scratch, 0, nbytes + 64, stream)
            one, other = address(x + column * x_ld * item), address(b + column * b_ld * item)
            self._launch(
                self.multiply, stream, n, address(ptrs[0]), address(ptrs[1]), address(ptrs[2]), one, address(y), address(worst)
            )  # fmt: skip
            self._launch(self.compare, stream, n, one, address(y), other, address(worst))
            download(worst, ctypes.addressof(numbers), 32, stream)
            made = verdict_of(numbers[0], numbers[1], numbers[2], numbers[3], problem.n, problem.dtype.real.name)
            found = max(found, made, key=lambda judgement: (judgement.verdict, judgement.residual))
        del owner
        return found
