"""Allocator protocols: where operations take their device workspace from."""

from __future__ import annotations

import logging
import weakref
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

__all__ = ["BaseCUDAMemoryManager", "BaseCUDAMemoryManagerAsync", "MemoryPointer"]


class MemoryPointer:
    """Device memory with a finalizer.

    Parameters
    ----------
    device_ptr : int
        The address.
    size : int
        Number of bytes.
    finalizer : callable, optional
        Called once, without arguments: by :meth:`free`, else when the object is collected, else at interpreter exit.

    Examples
    --------
    >>> from nvmath import MemoryPointer
    >>> pointer = MemoryPointer(4096, 16, finalizer=lambda: print("freed"))
    >>> pointer.free()
    freed
    """

    def __init__(self, device_ptr: int, size: int, finalizer: Callable[[], None] | None) -> None:
        self.device_ptr = device_ptr
        self.size = size
        self._finalizer = None if finalizer is None else weakref.finalize(self, finalizer)

    def free(self) -> None:
        """Release the memory.

        Raises
        ------
        RuntimeError
            The memory has been released before.
        """
        if self._finalizer is None:
            return
        if not self._finalizer.alive:
            raise RuntimeError("The memory that this pointer owned has already been freed.")
        self._finalizer()


@runtime_checkable
class BaseCUDAMemoryManager(Protocol):
    """An allocator that is synchronous or works on the current stream."""

    def __init__(self, device_id: int, logger: logging.Logger | logging.LoggerAdapter[Any]) -> None: ...

    @abstractmethod
    def memalloc(self, size: int) -> MemoryPointer:
        """Allocate device memory.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        MemoryPointer
            Any object that owns the memory and has its address as ``device_ptr``, ``device_pointer``, ``ptr`` or ``pointer``.
        """
        ...


@runtime_checkable
class BaseCUDAMemoryManagerAsync(Protocol):
    """An allocator that works in the order of a stream."""

    def __init__(self, device_id: int, logger: logging.Logger | logging.LoggerAdapter[Any]) -> None: ...

    @abstractmethod
    def memalloc_async(self, size: int, stream: Any) -> MemoryPointer:
        """Allocate device memory that is valid for work queued on `stream` after this call.

        Parameters
        ----------
        size : int
            Number of bytes.
        stream : cuda.core.Stream
            The stream; when ``cuda.core`` is not installed, an object with the same ``handle`` and ``__cuda_stream__``.

        Returns
        -------
        MemoryPointer
            Any object that owns the memory and has its address as ``device_ptr``, ``device_pointer``, ``ptr`` or ``pointer``.
        """
        ...


def __dir__() -> list[str]:
    return sorted(__all__)
