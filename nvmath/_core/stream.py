"""Streams: any object that stands for one becomes its handle."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from .arrays import Adapter

_LEGACY = 1
"""Another name of the default stream, ``CU_STREAM_LEGACY``."""


def handle_of(stream: Any) -> int:
    """Return the ``cudaStream_t`` of a stream object of any package, or of an integer.

    Raises
    ------
    TypeError
        The object is no stream; the text names its type and what is accepted.
    """
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    if isinstance(stream, Integral) and not isinstance(stream, bool):
        return int(stream)
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        version_and_handle = protocol() if callable(protocol) else protocol
        return int(version_and_handle[1])
    for attribute in ("ptr", "cuda_stream"):
        value = getattr(stream, attribute, None)
        if isinstance(value, int):
            return value
    raise TypeError(
        f"stream must be None, an integer cudaStream_t, or a stream object of CuPy, PyTorch, cuda.core or any other that offers "
        f"__cuda_stream__; got {type(stream).__name__}."
    )


def device_of(stream: Any) -> int | None:
    """Return the device that a stream object says it belongs to, or None when it does not say."""
    for attribute in ("device_index", "device_id"):
        value = getattr(stream, attribute, None)
        if isinstance(value, int) and value >= 0:
            return value
    return None


def resolve(stream: Any, adapter: Adapter, device: int) -> int:
    """Return the handle of the stream that a call shall use.

    Raises
    ------
    TypeError
        `stream` is no stream.
    ValueError
        `stream` belongs to another device.
    """
    if stream is None:
        return adapter.current_stream(device)
    handle = handle_of(stream)
    owner = device_of(stream)
    if owner is not None and owner != device:
        raise ValueError(
            f"The stream belongs to device {owner}, but the operands are processed on device {device}. Pass a stream of device "
            f"{device}, or None for its current stream."
        )
    return 0 if handle == _LEGACY else handle
