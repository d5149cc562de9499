"""Handles of cuDSS: kept for the next solver, since making one takes longer than solving a small system."""

from __future__ import annotations

import os
import threading
from typing import Final

from ...bindings import _load, cudss
from ._order import Order

_OLDEST: Final = (0, 8)
_free: dict[tuple[int, str], list[int]] = {}
_lock = threading.Lock()


class Lease:
    """A handle that the plans of one solver use together; it goes back when the last of them gives it up.

    Parameters
    ----------
    order : Order
        The order of the calls of the solver, on a device that is current.
    library : str
        Path of the threading library, or an empty text.
    given : int, optional
        A handle of the caller, which is used instead and stays theirs.

    Raises
    ------
    RuntimeError
        cuDSS is older than 0.8, whose functions have other arguments.
    """

    def __init__(self, order: Order, library: str, given: int | None) -> None:
        require_version()
        self.order = order
        self.key = order.device, library
        self.own = given is None
        self.epoch = 0
        """How often cuDSS was asked for something else than before: then it may have taken other memory."""
        self._last: object = None
        self._users = 1
        if not self.own:
            self.handle = int(given)  # type: ignore[arg-type]
            if library:
                cudss.set_threading_layer(self.handle, library)
            return
        with _lock:
            kept = _free.get(self.key)
            self.handle = kept.pop() if kept else 0
        try:
            if not self.handle:
                self.handle = cudss.create()
                if library:
                    cudss.set_threading_layer(self.handle, library)
            cudss.set_stream(self.handle, order.stream)
        except BaseException:
            if self.handle:
                cudss.destroy(self.handle)
            raise

    def share(self) -> Lease:
        """Add a user."""
        self._users += 1
        return self

    def ready(self) -> int:
        """Return the handle, set to the stream of the solver. The caller, or another solver, may have set theirs to another one.

        cuDSS does not tell which. Part of a solution runs on the stream of the analysis: that is the one of the solver as well, since each
        analyses data of its own. So solvers may share a handle, if their calls come one after the other.
        """
        if not self.own:
            cudss.set_stream(self.handle, self.order.stream)
        return self.handle

    def asked(self, what: object) -> None:
        """Note what cuDSS is asked for; None is never the same as before."""
        if what is None or what != self._last:
            self._last = what
            self.epoch += 1

    def close(self) -> None:
        """Take a user away; behind what these have queued for destruction the handle goes back.

        One of the caller is set to the default stream, since that of the solver will be destroyed.
        """
        self._users -= 1
        if self._users == 0:
            self.order.discard(self._give_back if self.own else _leave, self.handle)

    def _give_back(self, handle: int) -> None:
        with _lock:
            _free.setdefault(self.key, []).append(handle)


def _leave(handle: int) -> None:
    cudss.set_stream(handle, 0)


def require_version() -> None:
    """Raise that an installed cuDSS is too old, with its version and path.

    Raises
    ------
    RuntimeError
        It is older than 0.8.
    """
    version = tuple(cudss.get_property(part) for part in range(2))
    if version < _OLDEST:
        library = _load.open_library("cudss")
        raise RuntimeError(
            f"cuDSS {library.version} at {library.path} is too old: version {_OLDEST[0]}.{_OLDEST[1]} or newer is needed. "
            "Install it with pip install -U nvidia-cudss-cu13 (or nvidia-cudss-cu12)."
        )


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _free.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
