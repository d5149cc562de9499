"""The order of what one solver does on a GPU: call behind call, on whatever streams they are.

cuDSS has no order between streams, and every call of a solver uses the same factors, assembled values and residual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import TracebackType
from typing import Any, Final

from ..._core import place as places
from ..._core.arrays import Adapter
from ..._core.place import Cuda
from ...bindings import _cuda as driver

_NO_TIMING: Final = 2


class Order:
    """Puts every call behind the one before, and the end of memory behind the last.

    Parameters
    ----------
    place, adapter
        The GPU, and the package that has a current stream there.
    """

    __slots__ = ("_adapter", "_event", "_place", "_stream", "_used")

    def __init__(self, place: Cuda, adapter: Adapter) -> None:
        self._place, self._adapter = place, adapter
        self._event = self._stream = 0
        self._used = False

    @property
    def device(self) -> int:
        """Number of the GPU."""
        return self._place.device_id

    def on(self, stream: int) -> Order:
        """Begin a call on a stream, behind the call before; in a ``with`` statement, which gives the stream.

        Raises
        ------
        RuntimeError
            The stream is being captured.
        """
        refuse_capture(self._place, stream)
        if self._used:
            # Also on the stream of the call before: its handle may stand for another one that was made after it was destroyed.
            driver.stream_wait_event(stream, self._event, 0)
        self._stream = stream
        return self

    def __enter__(self) -> int:
        return self._stream

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if not self._event:
                self._event = driver.event_create(_NO_TIMING)
            driver.event_record(self._event, self._stream)
            self._used = True
        except driver.CudaError:  # then nothing can be ordered behind the work
            self._used = False
            with nullcontext() if kind is None else suppress(driver.CudaError):
                self._place.wait(self._stream)

    @contextmanager
    def now(self) -> Iterator[tuple[int, ...]]:
        """A call that is given no stream, on the current one: that of the last call may have been destroyed."""
        with self._place.current(), self.on(self._adapter.current_stream(self.device)) as stream:
            yield (stream,)

    def discard(self, destroy: Callable[[Any], object], handle: Any) -> None:
        """Queue what calls have used for destruction, behind the last of them; safe in finalizers."""
        places.discard(self._destroy, (destroy, handle))

    def _destroy(self, what: tuple[Callable[[Any], object], Any]) -> None:
        destroy, handle = what
        with self._place.current():
            try:
                if self._used:
                    driver.event_synchronize(self._event)
            finally:
                destroy(handle)

    def __del__(self) -> None:
        event, self._event = self._event, 0
        if event:
            places.discard(_destroy_event, event)


def _destroy_event(event: int) -> None:  # at the end of the process nothing can be looked up in the driver any more
    driver.event_destroy(event)


def refuse_capture(gpu: Cuda, stream: int) -> None:
    """Nothing of a sparse solver can be part of a graph: what cuDSS used in a capture may be gone when the graph is replayed."""
    if gpu.capturing(stream):
        raise RuntimeError(
            "A CUDA graph is being captured on the stream, and it cannot hold a call of a sparse solver: the factors and buffers "
            "that it uses may change before the graph is replayed. Call the solver before the capture or after it."
        )
