"""The object in which users hand over a callback that they compiled."""

from __future__ import annotations

from dataclasses import dataclass

from .._core.keywords import explained_fields

__all__ = ["DeviceCallable"]


@explained_fields
@dataclass
class DeviceCallable:
    """A compiled callback and the address of the data that it gets.

    Parameters
    ----------
    ltoir : bytes or int, optional
        LTO-IR: the bytes themselves (what `compile_prolog` and `compile_epilog` return) or their address.
    size : int, optional
        Number of bytes; needed with an address, otherwise taken from the bytes.
    data : int, optional
        Address that the callback gets as ``user_info``, in the memory of the GPU when the transform runs there; by
        default null. The caller keeps what lies there alive until the last execution has ended.

    Raises
    ------
    ValueError
        If `ltoir` is given and a field has another type than the above, or the size is missing. Without `ltoir`
        nothing is checked.

    Examples
    --------
    >>> import nvmath
    >>> nvmath.fft.DeviceCallable(b"...", data=4096)
    DeviceCallable(ltoir=b'...', size=3, data=4096)
    """

    ltoir: int | bytes | None = None
    size: int | None = None
    data: int | None = None

    def __post_init__(self) -> None:
        if self.ltoir is None:
            return
        if not isinstance(self.ltoir, (bytes, int)) or isinstance(self.ltoir, bool):
            raise ValueError(
                f"ltoir must be bytes or an integer address, but it is of type {type(self.ltoir).__name__}."
            )
        if isinstance(self.ltoir, bytes):
            self.size = len(self.ltoir)
        if not isinstance(self.size, int) or isinstance(self.size, bool):
            raise ValueError(
                f"With ltoir given as an address, size must be its length in bytes, but it is {self.size!r}."
            )
        if self.data is None:
            self.data = 0
        if not isinstance(self.data, int) or isinstance(self.data, bool):
            raise ValueError(f"data must be an integer address, but it is of type {type(self.data).__name__}.")
