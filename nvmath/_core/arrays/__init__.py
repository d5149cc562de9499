"""Arrays of every supported package, seen as pointer, shape, strides, dtype and place.

An adapter is found by the class of an object and remembered; a package is never imported here unless an object of it has
been seen.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ..dtypes import DType
from ..layout import Ints

# Flags of a view.
CONJ: Final = 1  # the values are the conjugate of what is in memory (torch)
NEG: Final = 2  # the values are the negative of what is in memory (torch)
READONLY: Final = 4
UNTIDY: Final = 8  # byte order, byte strides or alignment that no library can read
TRACKED: Final = 16  # requires a gradient
NEEDS_COPY: Final = CONJ | NEG | UNTIDY


@dataclass(slots=True, eq=False)
class View:
    """An operand as integers."""

    obj: Any
    ptr: int
    shape: Ints
    strides: Ints  # in elements
    dtype: DType
    device: int | str  # device index, or "cpu"
    flags: int
    adapter: Adapter


class Adapter(Protocol):
    """What an array package must offer."""

    name: str

    def look(self, obj: Any) -> tuple[int, tuple[Any, ...]]:
        """Return the data pointer and everything else that a plan depends on, hashable; as cheap as possible."""

    def view(self, obj: Any) -> View:
        """Describe an array; refuse by name what cannot be described."""

    def maker(self, shape: Ints, strides: Ints, dtype: DType, device: int | str) -> Callable[[], Any]:
        """Return a function that makes new dense arrays of this layout on the current stream."""

    def pinned(self, shape: Ints, strides: Ints, dtype: DType) -> Any:
        """Make a new dense host array in page-locked memory."""

    def pointer(self, obj: Any) -> int:
        """Return the data pointer of an array made by :meth:`maker`."""

    @property
    def unmoved(self) -> Callable[[tuple[Any, ...], tuple[int, ...], tuple[Any, ...]], bool] | None:
        """Return whether arrays have the pointers and shapes that they had; None where only :meth:`pointer` is cheap."""

    def tidy(self, obj: Any) -> Any:
        """Copy into a dense array of the same axis order that every library can read, on the current stream."""

    def assign(self, target: Any, source: Any) -> Any:
        """Copy the values of an array into another of the same shape and return it, on the current stream."""

    def touched(self, obj: Any) -> None:
        """Note that the values of an array of the user were overwritten."""

    def current_stream(self, device: int) -> int:
        """Return the handle of the package's current stream."""

    def on_stream(self, device: int, stream: int) -> AbstractContextManager[Any]:
        """Make a stream current for the package's own work and allocations."""

    def allocate(self, nbytes: int, device: int, stream: int) -> tuple[int, Any]:
        """Take device memory, ordered on `stream`; return its address and the object that owns it."""


_PACKAGES: Final = {"numpy": ".numpy", "cupy": ".cupy", "torch": ".torch"}
_by_type: dict[type, Adapter] = {}
_MOST_CLASSES: Final = 64


def adapter_of(obj: Any) -> Adapter:
    """Return the adapter for the class of an object.

    Raises
    ------
    ValueError
        The object is no array of a supported package and does not offer DLPack either.
    """
    cls = type(obj)
    try:
        return _by_type[cls]
    except KeyError:
        if len(_by_type) >= _MOST_CLASSES:  # made at run time; to forget them all costs a search each
            _by_type.clear()
        adapter = _by_type[cls] = _find(cls, obj)
        return adapter


def _find(cls: type, obj: Any) -> Adapter:
    for base in cls.__mro__:
        module = _PACKAGES.get(base.__module__.partition(".")[0])
        if module and base.__name__ in {"ndarray", "Tensor"}:
            return importlib.import_module(module, __name__).ADAPTER  # type: ignore[no-any-return]
    if hasattr(cls, "__dlpack__") and hasattr(cls, "__dlpack_device__"):
        return importlib.import_module(".dlpack", __name__).adapter_for(obj)  # type: ignore[no-any-return]
    raise ValueError(
        f"An operand of type {cls.__module__}.{cls.__qualname__} is not an array that nvmath knows. Pass an array of NumPy, "
        "CuPy or PyTorch, or of any package that offers DLPack (__dlpack__); for lists and scalars use numpy.asarray first."
    )


def common_adapter(objects: dict[str, Any]) -> Adapter:
    """Return the one adapter of several operands.

    Raises
    ------
    TypeError
        The operands come from different packages; the text names each.
    """
    adapters = {name: adapter_of(obj) for name, obj in objects.items()}
    if len({adapter.name for adapter in adapters.values()}) > 1:
        given = ", ".join(f"{name}: {adapter.name}" for name, adapter in adapters.items())
        raise TypeError(f"All operands must come from one array package, but got {given}. Convert them to one package first.")
    return next(iter(adapters.values()))
