"""Scales as callers give them: numbers and arrays become operands of a product."""

from __future__ import annotations

import logging
import numbers
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from math import isfinite
from typing import Any, Final

import numpy as np

from ..._core.arrays import Adapter, adapter_of
from ..._core.place import cuda
from ..._core.route import context
from ._coerce import coerce
from ._narrow import AUX_SCALE, SCALES, is_narrow
from ._options import MatmulOptions
from ._preferences import MatmulQuantizationScales

_IGNORED: Final = "quantization_scales are ignored: they are for narrow-precision operands only."

_LARGEST: Final = float(np.finfo(np.float32).max)


def any_narrow(a: Any, b: Any) -> bool:
    """Whether an operand has 8 bits or fewer."""
    return any(is_narrow(adapter_of(each).view(each).dtype) for each in (a, b))


def scale_operands(
    scales: Any,
    narrow: bool,
    adapter: Adapter,
    device: int | str,
    options: MatmulOptions,
    stream: Any,
    logger: logging.Logger,
) -> dict[str, Any]:
    """Return the scales that are given, as arrays, by the names of operands; none, with a warning, for operands that are not narrow.

    Parameters
    ----------
    scales : MatmulQuantizationScales, dict or None
        Numbers and arrays.
    narrow : bool
        Whether the operands are narrow.
    adapter, device
        Their package, and where they are.
    options : MatmulOptions
        What was asked.
    stream : optional
        Where numbers are written to a GPU.
    logger : logging.Logger
        For the warning.

    Raises
    ------
    TypeError
        The scales are of another kind.
    ValueError
        A number is given where each block has a scale.
    """
    given = _given(scales)
    if not given:
        return {}
    if not narrow:
        logger.warning(_IGNORED)
        return {}
    with _on_stream(adapter, device, stream):
        return {
            SCALES[name]: _operand(name, value, adapter, device, options.block_scaling) for name, value in given.items()
        }


def _given(scales: Any) -> dict[str, Any]:
    """Return the scales that are there, by operand."""
    if scales is None:
        return {}
    values = coerce(MatmulQuantizationScales, scales, "quantization_scales")
    return {name: value for name in SCALES if (value := getattr(values, name)) is not None}


def none_if_empty(scales: Any) -> Any:
    """Return scales as they are, and None when there is none in them."""
    return scales if _given(scales) else None


def split_inputs(
    inputs: Mapping[str, Any] | None, adapter: Adapter, device: int | str, stream: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the inputs of an epilog itself, and the scale of its auxiliary output as an operand, if there is one."""
    own = dict(inputs or {})
    scale = own.pop(AUX_SCALE, None)
    if scale is None:
        return own, {}
    with _on_stream(adapter, device, stream):
        return own, {AUX_SCALE: _operand("the auxiliary output", scale, adapter, device, False)}


def _on_stream(adapter: Adapter, device: int | str, stream: Any) -> AbstractContextManager[Any]:
    """Let the package write numbers on the stream of the call; without one that is the current stream already."""
    if device == "cpu" or (stream is None and not cuda(int(device)).several):
        return nullcontext()
    return context(adapter, device, stream)


def _operand(name: str, value: Any, adapter: Adapter, device: int | str, blocks: bool) -> Any:
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return value
    if blocks:
        raise ValueError(
            f"The scale of {name} must be a tensor with a value for each block when block_scaling=True, not the number {value!r}. "
            "create_mxfp8_scale() makes one, to_block_scale() brings others into order."
        )
    number = float(value)
    if isfinite(number) and abs(number) > _LARGEST:
        raise ValueError(f"The scale of {name}, {value!r}, is too large for float32.")
    return _full(adapter.name, number, device)


def _full(package: str, value: float, device: int | str) -> Any:
    """Make an array of one float32 number where the operands are."""
    if package == "torch":
        torch = sys.modules["torch"]
        return torch.full((), value, dtype=torch.float32, device="cpu" if device == "cpu" else f"cuda:{device}")
    if package == "cupy":
        return sys.modules["cupy"].full((), value, np.float32)
    if package == "numpy":
        return np.full((), value, np.float32)
    raise ValueError(
        f"The scale {value} must be a float32 array of {package} with a single value: numbers cannot be converted to it."
    )
