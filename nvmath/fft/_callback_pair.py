"""The two callbacks of one transform, and the addresses of their data, which may change while the code stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ._problem import FFTProblem


class CallbackPair:
    """Prolog and epilog, either of them absent.

    Parameters
    ----------
    prolog, epilog : optional
        What the user gave, in any accepted form.
    problem : FFTProblem
        The transform; the callbacks must fit its dtypes.
    """

    __slots__ = ("data", "epilog", "keep_alive", "pair", "prolog")

    def __init__(self, problem: FFTProblem, prolog: Any = None, epilog: Any = None) -> None:
        self.pair: tuple[Any, Any] = (None, None)
        if prolog is not None or epilog is not None:
            from ._callbacks import normalise  # most transforms have none, and the machinery is large

            self.pair = (
                normalise(prolog, "prolog", problem.in_dtype.name), normalise(epilog, "epilog", problem.out_dtype.name)
            )  # fmt: skip
        self.prolog, self.epilog = (callback is not None for callback in self.pair)
        self.data = [0 if callback is None else callback.data for callback in self.pair]
        self.keep_alive = [None if callback is None else callback.keep_alive for callback in self.pair]

    def __bool__(self) -> bool:
        return self.prolog or self.epilog

    @property
    def key(self) -> tuple[str | None, str | None] | None:
        """Identifies the code; holds neither functions nor addresses."""
        return tuple(None if callback is None else callback.key for callback in self.pair) if self else None  # type: ignore[return-value]

    def require_place(self, place: Literal["cpu", "cuda"]) -> None:
        """Refuse data that the transform could not read."""
        for callback in self.pair:
            if callback is not None:
                callback.require_place(place)

    def require_data(self) -> None:
        """Refuse functions that read data which they were not given."""
        for callback in self.pair:
            if callback is not None:
                callback.require_data()

    def refuse_overlap(self, begin: int, end: int, what: str) -> None:
        """Refuse data in memory that the transform overwrites: some elements would be computed from results."""
        if not self:
            return
        from ._callback_data import memory_of

        for phase, address, owner in zip(("prolog", "epilog"), self.data, self.keep_alive, strict=True):
            first, last = memory_of(address, owner)
            if first < end and begin < last:
                raise ValueError(f"The data of the {phase} shares memory with {what}, which the transform overwrites. Pass a copy of it.")

    def host(self, which: int) -> Callable[..., None]:
        """Return the compiled loop of one of the two for the CPU."""
        return self.pair[which].host()  # type: ignore[no-any-return]

    def take_data(self, other: CallbackPair) -> None:
        """Use the data of callbacks of the same code."""
        self.data[:], self.keep_alive[:] = other.data, other.keep_alive

    def let_go(self) -> None:
        """Drop the references to the arrays that hold data."""
        self.keep_alive[:] = (None, None)
        self.pair = tuple(None if callback is None else callback.without_data() for callback in self.pair)  # type: ignore[assignment]
