"""Our own device kernels: strided copies with conversion, and scalings, compiled by NVRTC at first use.

They are the only pack, cast and scale kernels of this package; :mod:`._core.kernels_host` holds their host twins. Layouts are
arguments, so one compilation serves every layout of a rank.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any, Final

from ..bindings import _cuda as driver
from ..bindings import _nvrtc as nvrtc
from . import place as places
from .dtypes import DType
from .layout import Dim, Ints, merge

_THREADS: Final = 256
_MAX_BLOCKS: Final = 1 << 20
_RAW: Final = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "uint2", 16: "uint4"}

# CUDA C++ spelling of the storage, and the number of parts, of the types that are converted or scaled.
_STORAGE: Final = {
    "float16": ("unsigned short", 1), "bfloat16": ("bfloat", 1), "float32": ("float", 1), "float64": ("double", 1),
    "complex32": ("ushort2", 2), "complex64": ("float2", 2), "complex128": ("double2", 2),
}  # fmt: skip

_LAYOUT: Final = """
struct Layout { long long extent[RANK], in[RANK], out[RANK]; };

__device__ inline void locate(const Layout& layout, index i, long long& from, long long& to) {
    from = to = 0;
    #pragma unroll
    for (int k = RANK - 1; k >= 0; --k) {
        index extent = (index)layout.extent[k], outer = i / extent, at = i - outer * extent;
        i = outer;
        from += at * layout.in[k];
        to += at * layout.out[k];
    }
}
"""

_SOURCE: Final = """
struct bfloat { unsigned short bits; };
__device__ inline float widen(bfloat h) { return __uint_as_float((unsigned)h.bits << 16); }
__device__ inline void narrow(bfloat& h, float f) {
    const unsigned bits = __float_as_uint(f);
    h.bits = f != f ? (unsigned short)(bits >> 16 | 0x40) : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
__device__ inline float widen(unsigned short h) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h)); return f; }
__device__ inline float widen(float f) { return f; }
__device__ inline double widen(double d) { return d; }
__device__ inline void narrow(unsigned short& h, float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f)); }
__device__ inline void narrow(float& g, float f) { g = f; }
__device__ inline void narrow(double& e, double d) { e = d; }

extern "C" __global__ void run(const IN* source, OUT* target, unsigned long long count, double factor, Layout layout) {
    const index step = (index)gridDim.x * blockDim.x;
    for (index i = (index)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        long long from, to;
        locate(layout, i, from, to);
        const IN value = source[from];
        OUT& result = target[to];
        BODY
    }
}
"""

_BODIES: Final = {
    ("copy", 1): "result = value;",
    ("cast", 1): "narrow(result, widen(value));",
    ("cast", 2): "OUT made; narrow(made.x, widen(value.x)); narrow(made.y, widen(value.y)); result = made;",
    ("clean", 2): "result.y = 0; (void)value;",
    ("scale", 1): "narrow(result, widen(value) * (WIDE)factor);",
    ("scale", 2): "OUT made; narrow(made.x, widen(value.x) * (WIDE)factor); narrow(made.y, widen(value.y) * (WIDE)factor); result = made;",
}


@cache
def layout_type(rank: int) -> type[ctypes.Structure]:
    vector = ctypes.c_longlong * rank
    return type("Layout", (ctypes.Structure,), {"_fields_": [("extent", vector), ("inner", vector), ("outer", vector)]})


_functions: dict[tuple[Any, ...], int] = {}
_lock = threading.RLock()


def definitions(rank: int, wide: bool) -> str:
    """Return the lines that every kernel over a layout starts with."""
    return f"#define RANK {rank}\ntypedef unsigned {'long long' if wide else 'int'} index;\n{_LAYOUT}"


def compiled(device: int, key: tuple[Any, ...], build: Callable[[str], bytes]) -> int:
    """Return the kernel ``run`` of a cubin, building it when the key is new for the device; `build` gets ``"90"`` or the like."""
    function = _functions.get((device, *key))
    if function is None:
        with _lock:
            function = _functions.get((device, *key))
            if function is None:
                place = places.cuda(device)
                with place.current(), places.relaxed():  # else it would end a capture that is under way
                    module = driver.module_load_data(build("{}{}".format(*place.capability)))
                    function = _functions[device, *key] = driver.module_get_function(module, "run")
    return function


class Elementwise:
    """A kernel over the elements of a layout, with its arguments in place; only the addresses change from call to call.

    The kernel is ``run(source, target, count, extra, layout)``, where `extra` is 8 bytes of any meaning.
    """

    def __init__(self, function: Callable[[int, bool], int], dims: list[Dim], extra: Any) -> None:
        dims = dims or [(1, 0, 0)]
        self.count = prod(dim[0] for dim in dims)
        self.function = 0
        if self.count == 0:
            return
        self.function = function(len(dims), self.count > 2**31)
        self.layout = layout_type(len(dims))(*(tuple(dim[side] for dim in dims) for side in range(3)))
        self.values = (ctypes.c_void_p(0), ctypes.c_void_p(0), ctypes.c_ulonglong(self.count), extra)
        addresses = [ctypes.addressof(value) for value in (*self.values, self.layout)]
        self.arguments = (ctypes.c_void_p * len(addresses))(*addresses)
        self.address = ctypes.addressof(self.arguments)
        self.blocks = min(_MAX_BLOCKS, -(-self.count // _THREADS))

    def __call__(self, source: int, target: int, stream: int) -> None:
        if self.function:
            self.values[0].value, self.values[1].value = source, target
            driver.launch_kernel(self.function, self.blocks, 1, 1, _THREADS, 1, 1, 0, stream, self.address, None)


def _own(device: int, operation: str, in_type: str, out_type: str, parts: int, dims: list[Dim], factor: float) -> Elementwise:
    def function(rank: int, wide: bool) -> int:
        def build(capability: str) -> bytes:
            source = f"{definitions(rank, wide)}#define WIDE {'double' if 'double' in out_type else 'float'}\n{_SOURCE}"
            for word, value in (("BODY", _BODIES[operation, parts]), ("IN", in_type), ("OUT", out_type)):
                source = re.sub(rf"\b{word}\b", value, source)
            return nvrtc.compile(source, "nvmath_move.cu", (f"-arch=sm_{capability}",))

        return compiled(device, (operation, in_type, out_type, rank, wide), build)

    return Elementwise(function, dims, ctypes.c_double(factor))


def move(
    device: int, shape: Ints, in_strides: Ints, out_strides: Ints, in_dtype: DType, out_dtype: DType, zero_nbytes: int = 0
) -> Callable[[int, int, int], None]:
    """Return a function that copies elements from one address to another on a stream, converting the dtype."""
    dims = sorted(merge(zip(shape, in_strides, out_strides, strict=True)), key=lambda dim: -abs(dim[2]))
    if 0 in shape:
        dims = [(0, 0, 0)]
    if in_dtype is out_dtype:
        raw = _RAW[in_dtype.itemsize]
        launcher = _own(device, "copy", raw, raw, 1, dims, 1.0)
    else:
        (in_type, parts), (out_type, _) = _STORAGE[in_dtype.name], _STORAGE[out_dtype.name]
        launcher = _own(device, "cast", in_type, out_type, parts, dims, 1.0)
    if not zero_nbytes:
        return launcher

    def run(source: int, target: int, stream: int) -> None:
        driver.memset_d8_async(target, 0, zero_nbytes, stream)
        launcher(source, target, stream)

    return run


def clean(device: int, shape: Ints, strides: Ints, dtype: DType) -> Callable[[int, int, int], None]:
    """Return a function that clears the imaginary parts of a buffer, given as input and as output."""
    name, _ = _STORAGE[dtype.name]
    return _own(device, "clean", name, name, 2, merge(zip(shape, strides, strides, strict=True)), 0.0)


def scale(device: int, shape: Ints, strides: Ints, dtype: DType, factor: float) -> Callable[[int, int, int], None]:
    """Return a function that multiplies every element of a buffer, given as input and as output, by a number."""
    name, parts = _STORAGE[dtype.name]
    return _own(device, "scale", name, name, parts, merge(zip(shape, strides, strides, strict=True)), factor)
