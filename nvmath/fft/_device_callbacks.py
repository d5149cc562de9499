"""Callbacks on a GPU as kernels of their own: the user's LTO-IR linked into a loop over the elements.

cuFFT, and our own kernel for columns, can also inline a callback into a transform; :mod:`._cufft` decides which way is faster.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

from .._core import kernels
from .._core.layout import Dim, Ints, merge
from ..bindings import _nvjitlink as nvjitlink
from ..bindings import _nvrtc as nvrtc
from ._callbacks import Callback

# CUDA C++ type, and the middle of the name that cuFFT gives to callbacks of this type.
_TYPES: Final = {
    "float32": ("float", "Real"), "float64": ("double", "DoubleReal"),
    "complex64": ("float2", "Complex"), "complex128": ("double2", "DoubleComplex"),
}  # fmt: skip

_PROLOG: Final = """
__device__ T cufftJITCallbackLoad{name}(void*, unsigned long long, void*, void*);
#define APPLY target[to] = cufftJITCallbackLoad{name}((void*)source, from, info, nullptr)
"""

_EPILOG: Final = """
__device__ void cufftJITCallbackStore{name}(void*, unsigned long long, T, void*, void*);
#define APPLY cufftJITCallbackStore{name}(target, to, source[from], info, nullptr)
"""

_LOOP: Final = """
extern "C" __global__ void run(T* source, T* target, unsigned long long count, void* info, Layout layout) {
    const index step = (index)gridDim.x * blockDim.x;
    for (index i = (index)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        long long from, to;
        locate(layout, i, from, to);
        APPLY;
    }
}
"""


class _Kernel:
    """A linked callback over a layout."""

    def __init__(self, callback: Callback, device: int, dims: list[Dim]) -> None:
        self.info = ctypes.c_void_p(0)
        type_name, name = _TYPES[callback.element_dtype]
        declaration = (_PROLOG if callback.phase == "prolog" else _EPILOG).replace("{name}", name)

        def function(rank: int, wide: bool) -> int:
            def build(capability: str) -> bytes:
                source = f"{kernels.definitions(rank, wide)}typedef {type_name} T;{declaration}{_LOOP}"
                options = (f"-arch=sm_{capability}", "-rdc=true")
                loop = nvrtc.compile(source, "nvmath_callback.cu", options, kind="ltoir")
                parts = [("ltoir", loop, "loop"), ("ltoir", callback.ltoir(capability), f"{callback.phase} of the user")]
                return nvjitlink.link(parts, [f"-arch=sm_{capability}", "-lto"])

            return kernels.compiled(device, ("callback", callback.key, callback.element_dtype, rank, wide), build)

        self.run = kernels.Elementwise(function, dims, self.info)

    def __call__(self, source: int, target: int, info: int, stream: int) -> None:
        self.info.value = info
        self.run(source, target, stream)


def load(
    callback: Callback, device: int, shape: Ints, in_strides: Ints, out_strides: Ints
) -> Callable[[int, int, int, int], None]:
    """Return ``f(source, target, info, stream)``: what a prolog makes of every element, into another array."""
    return _Kernel(callback, device, _dims(shape, in_strides, out_strides))


def store(callback: Callback, device: int, shape: Ints, strides: Ints) -> Callable[[int, int, int], None]:
    """Return ``f(target, info, stream)``: an epilog over every element of a result, in place."""
    kernel = _Kernel(callback, device, _dims(shape, strides, strides))
    return lambda target, info, stream: kernel(target, target, info, stream)


def _dims(shape: Ints, in_strides: Ints, out_strides: Ints) -> list[Dim]:
    return [(0, 0, 0)] if 0 in shape else merge(zip(shape, in_strides, out_strides, strict=True))


__all__: list[Any] = ["load", "store"]
