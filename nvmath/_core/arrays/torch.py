"""PyTorch tensors, on the host and on GPUs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final

import torch
from torch.autograd import forward_ad as _forward

from ..dtypes import DTYPES, DType
from ..layout import Ints, contiguous, stride_order
from ..untraced import tell_torch
from . import CONJ, NEG, TRACKED, View

_NAMES: Final = {getattr(torch, name): row for name, row in DTYPES.items() if hasattr(torch, name)}
_TYPES: Final = {row: dtype for dtype, row in _NAMES.items()}


def pointer(obj: Any) -> int:
    """Return the address of the data; a tensor can be without any."""
    ptr: int = obj.data_ptr()
    if not ptr and obj.numel():
        raise ValueError(
            "A torch tensor has no memory: its storage was freed, or it is a fake or zero tensor that torch uses inside of its "
            "transformations. Pass a tensor with data, and leave the fake-tensor mode before calling nvmath."
        )
    return ptr


def _has_tangent(obj: Any) -> bool:
    return _forward.unpack_dual(obj).tangent is not None


def _tracked(obj: Any) -> bool:
    """Whether torch would differentiate what is done to a tensor, backward or forward."""
    return bool((obj.requires_grad and torch.is_grad_enabled()) or (_forward._current_level >= 0 and _has_tangent(obj)))


def _look(obj: Any) -> tuple[int, Any]:
    try:
        ptr = obj.data_ptr()
        return ptr or pointer(obj), (
            obj.shape, obj.stride(), obj.dtype, obj.get_device(), obj.is_conj(), obj.is_neg(),
            (obj.requires_grad and torch.is_grad_enabled()) or (_forward._current_level >= 0 and _has_tangent(obj)),
        )  # fmt: skip
    except (RuntimeError, ValueError):
        TorchAdapter.view(obj)  # says what is wrong with it
        raise


def _fast_look() -> Callable[[Any], tuple[int, Any]]:
    """Return `_look`, for plain tensors in C where the extension was built and torch (2.10 or newer) offers DLPack's C interface."""
    try:
        from ._exchange_c import looker

        tensor, levels = torch.Tensor, vars(_forward)
        offered, enabled = tensor.__dlpack_c_exchange_api__, torch.is_grad_enabled
        return looker(tensor, offered, _look, tensor.is_neg, tensor.is_conj, "requires_grad", enabled, levels, "_current_level")
    except (ImportError, AttributeError, ValueError):
        return _look


class TorchAdapter:
    """Tensors with dense (strided) storage."""

    name = "torch"
    look = staticmethod(_fast_look())
    pointer = staticmethod(torch.Tensor.data_ptr)
    unmoved = None
    current_stream = staticmethod(getattr(torch._C, "_cuda_getCurrentRawStream", lambda device: 0))

    @staticmethod
    def view(obj: Any) -> View:
        if obj.layout is not torch.strided:
            raise ValueError(f"A torch tensor of layout {obj.layout} is not dense; convert it with to_dense() first.")
        if obj.device.type not in ("cpu", "cuda"):
            raise ValueError(f"A torch tensor on device {obj.device} is not supported; move it to the CPU or a CUDA device.")
        if torch.jit.is_tracing():
            raise ValueError("torch.jit.trace cannot follow nvmath: it would record nothing. Call it outside of the traced function.")
        dtype = _NAMES.get(obj.dtype)
        if dtype is None:
            mask = "; a mask becomes 0.0 and 1.0. (As relu_aux pass the output of RELU_AUX, as it is)" if obj.dtype is torch.bool else ""
            raise ValueError(
                f"The torch dtype {obj.dtype} is not supported: operations compute with floating-point and complex numbers. Convert the "
                f"tensor first, e.g. with tensor.to(torch.float64){mask}."
            )
        flags = CONJ * obj.is_conj() | NEG * obj.is_neg() | TRACKED * _tracked(obj)
        device = obj.get_device() if obj.is_cuda else "cpu"
        return View(obj, pointer(obj), tuple(obj.shape), obj.stride(), dtype, device, flags, ADAPTER)

    @staticmethod
    def maker(shape: Ints, strides: Ints, dtype: DType, device: int | str) -> Callable[[], Any]:
        where = torch.device("cpu") if device == "cpu" else torch.device("cuda", device)
        if strides == contiguous(shape):
            return partial(torch.empty, shape, dtype=_TYPES[dtype], device=where)
        return partial(torch.empty_strided, shape, strides, dtype=_TYPES[dtype], device=where)

    @staticmethod
    def pinned(shape: Ints, strides: Ints, dtype: DType) -> Any:
        return torch.empty_strided(shape, strides, dtype=_TYPES[dtype], pin_memory=True)

    @staticmethod
    def tidy(obj: Any) -> Any:
        detached = obj.detach()
        shape = tuple(detached.shape)
        order = stride_order(shape, detached.stride())
        strides, step = [0] * len(shape), 1
        for axis in order:
            strides[axis] = step
            step *= shape[axis]
        copy = torch.empty_strided(shape, strides, dtype=detached.dtype, device=detached.device)
        return copy.copy_(detached)

    @staticmethod
    def assign(target: Any, source: Any) -> Any:
        return target.copy_(source)

    @staticmethod
    def touched(obj: Any) -> None:
        if not obj.is_inference():  # those have no version for autograd to look at
            torch.autograd.graph.increment_version(obj)

    @staticmethod
    def on_stream(device: int, stream: int) -> AbstractContextManager[Any]:
        # ExternalStream(0) is not the default stream but one from torch's pool, which nothing orders with the default stream.
        made = torch.cuda.ExternalStream(stream, device=device) if stream else torch.cuda.default_stream(device)
        return torch.cuda.stream(made)  # type: ignore[no-any-return]

    @staticmethod
    def allocate(nbytes: int, device: int, stream: int) -> tuple[int, Any]:
        if stream == TorchAdapter.current_stream(device):
            block = torch.empty(nbytes, dtype=torch.uint8, device=torch.device("cuda", device))
        else:
            with TorchAdapter.on_stream(device, stream):
                block = torch.empty(nbytes, dtype=torch.uint8, device=torch.device("cuda", device))
        return block.data_ptr(), block


ADAPTER: Final = TorchAdapter()
tell_torch()
