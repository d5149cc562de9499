"""C signatures of functions that users write, independent of the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["Pointer", "Signature", "numba_type", "type_key"]

#: A dtype as users give it: a NumPy name, a NumPy dtype, or a ``numba.types.Type``.
AnyDType = Any


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer that the function indexes; ``aligned`` promises elements that are aligned to their full size."""

    dtype: AnyDType
    aligned: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """Result (None: nothing) and arguments of a function, by dtype name or `Pointer`."""

    result: str | None
    arguments: tuple[str | Pointer, ...]

    @property
    def key(self) -> str:
        """Text that is the same in every process and different for different signatures."""
        arguments = ", ".join(
            f"{type_key(a.dtype)}*{'!' if a.aligned else ''}" if isinstance(a, Pointer) else a for a in self.arguments
        )
        return f"{self.result or 'void'}({arguments})"


def type_key(dtype: AnyDType) -> str:
    """Text for a dtype: fields, offsets and size of a record included."""
    if isinstance(dtype, str):
        return dtype
    if isinstance(dtype, np.dtype):
        return dtype.name if dtype.names is None and dtype.isnative else repr(dtype)
    return repr(dtype)


def numba_type(dtype: AnyDType) -> Any:
    """The ``numba.types.Type`` of a dtype."""
    if isinstance(dtype, (str, np.dtype)):
        return import_module("numba").from_dtype(np.dtype(dtype))
    return dtype
