"""The data that a callback gets: an address, found from whatever array the user has, and the dtype to read it with."""

from __future__ import annotations

import sys
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from .._core.layout import Ints, is_dense
from ._callback_rules import ELEMENT_DTYPES

__all__ = ["CallbackData", "callback_data", "info_dtype", "memory_of"]

_REGISTERED: Final = 2  # a dtype that another package has added to NumPy, such as those of ml_dtypes
_NAMES = {np.dtype(name): name for name in ELEMENT_DTYPES}


class CallbackData(NamedTuple):
    """Address, where it lies (None: not known), the dtype (None: not known) and what must stay alive."""

    address: int
    place: str | None
    dtype: np.dtype[Any] | None
    owner: Any


def callback_data(data: Any) -> CallbackData:
    """Describe `data`: None, an integer address, or an array (NumPy, torch, or with ``__cuda_array_interface__``).

    The callback indexes memory from the first element on, so an array must be dense: without gaps, in any order of its axes.

    Raises
    ------
    TypeError
        If `data` is something else.
    ValueError
        If reading the memory as it is would give other values than the array has (gaps, byte order, lazy conjugation), or
        its dtype is unknown to NumPy.
    """
    if data is None:
        return CallbackData(0, None, None, None)
    if isinstance(data, int) and not isinstance(data, bool):
        if not 0 <= data < 1 << 64:
            raise ValueError(f"The data of a callback was given as the address {data}, which is none.")
        return CallbackData(data, None, None, None)
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("The data of a callback is a masked array, whose mask it would not see. Pass data.filled(value).")
    if isinstance(data, (np.ndarray, np.generic)):
        return _from_numpy(np.asarray(data))
    if hasattr(data, "data_ptr"):
        return _from_torch(data)
    if hasattr(data, "__cuda_array_interface__"):
        interface = data.__cuda_array_interface__
        dtype = np.dtype(
            interface.get("descr", interface["typestr"]) if interface["typestr"][1] == "V" else interface["typestr"]
        )
        _require_dense(interface["shape"], interface.get("strides"), dtype.itemsize)
        return CallbackData(int(interface["data"][0]), "cuda", _checked(dtype), data)
    raise TypeError(
        f"The data of a callback must be an array or an integer address, but it is of type {type(data).__name__}."
    )


def _from_numpy(array: np.ndarray[Any, Any]) -> CallbackData:
    dtype = _checked(array.dtype)
    _require_dense(array.shape, array.strides, array.itemsize)
    return CallbackData(int(array.__array_interface__["data"][0]), "cpu", dtype, array)


def _from_torch(tensor: Any) -> CallbackData:
    if tensor.is_conj() or tensor.is_neg():
        raise ValueError(
            "The data of a callback is lazily conjugated or negated: call resolve_conj() or resolve_neg()."
        )
    name = str(tensor.dtype).rpartition(".")[2]
    try:
        dtype = _checked(np.dtype(name))
    except TypeError:
        raise ValueError(f"The data of a callback has the dtype {name}, which numba does not know.") from None
    _require_dense(tuple(tensor.shape), tensor.stride(), 1)
    return CallbackData(int(tensor.data_ptr()), str(tensor.device.type), dtype, tensor)


def _require_dense(shape: Ints, strides: Ints | None, step: int) -> None:
    """Refuse gaps; `step` is the distance of neighbours in the unit of the strides."""
    if strides is None or 0 in shape:
        return
    if any(stride % step for stride in strides) or not is_dense(shape, tuple(stride // step for stride in strides)):
        raise ValueError(
            f"The data of a callback, of shape {tuple(shape)}, has strides {tuple(strides)}: a callback indexes memory from the first "
            "element on, so it would meet the gaps. Pass a dense copy, or the address if it does its own arithmetic."
        )


def memory_of(address: int, owner: Any) -> tuple[int, int]:
    """Return where the memory of the data begins and ends; of a bare address no more than the first byte is known."""
    if owner is None:
        return address, address + bool(address)
    nbytes = getattr(owner, "nbytes", None)
    if nbytes is None:
        interface = owner.__cuda_array_interface__
        nbytes = prod(interface["shape"]) * np.dtype(interface["typestr"]).itemsize
    return address, address + int(nbytes)


def _checked(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.isbuiltin == _REGISTERED or dtype.char in "gG":
        raise ValueError(f"The data of a callback has the dtype {dtype}, which numba does not know.")
    if dtype.hasobject or not dtype.isnative:
        raise ValueError(
            f"The data of a callback must be plain numbers in native byte order, but its dtype is {dtype!r}."
        )
    return dtype


def info_dtype(value: Any) -> Any:
    """One of the four names where it is one, else a NumPy dtype or a numba type.

    Raises
    ------
    ValueError
        If `value` is none of these.
    """
    if isinstance(value, str) and value in ELEMENT_DTYPES:
        return value
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        dtype = np.dtype(value)
        if not dtype.hasobject and dtype.isnative:
            return _NAMES.get(dtype, dtype)
    numba_types = sys.modules.get("numba.core.types")
    if numba_types is not None and isinstance(value, numba_types.Type):
        return str(value) if str(value) in ELEMENT_DTYPES else value
    raise ValueError(
        f"The user_info_dtype must be one of {', '.join(ELEMENT_DTYPES)}, a NumPy dtype in native byte order, or a "
        f"numba type, but it is {value!r}."
    )
