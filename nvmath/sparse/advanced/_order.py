"""The order of what one solver does on a GPU: call behind call, on a stream of its own, whatever streams the caller gives.

Every call of a solver uses the same factors, assembled values and residual, and cuDSS has no order between streams. It (0.8) even does
part of a solution on the stream that its handle had in the analysis, whatever the handle has been set to since: values of x then arrive out
of the order of the caller's stream, and that of the analysis may have been destroyed. So cuDSS sees one stream only, the solver's own: a
call begins there behind what the caller has queued, and what the caller queues next is behind the call.
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

_NON_BLOCKING: Final = 1
_NO_TIMING: Final = 2


class Order:
    """Puts every call behind the one before, and the end of memory behind the last.

    Parameters
    ----------
    place, adapter
        The GPU, which is current, and the package that has a current stream there.
    """

    __slots__ = ("_adapter", "_caller", "_event", "_place", "stream")

    def __init__(self, place: Cuda, adapter: Adapter) -> None:
        self._place, self._adapter = place, adapter
        self._caller = self._event = self.stream = 0
        self.stream = driver.stream_create(_NON_BLOCKING)
        self._event = driver.event_create(_NO_TIMING)

    @property
    def device(self) -> int:
        """Number of the GPU."""
        return self._place.device_id

    def on(self, stream: int) -> Order:
        """Begin a call for a stream of the caller; in a ``with`` statement, which gives the stream of the solver.

        Raises
        ------
        RuntimeError
            The stream is being captured.
        """
        refuse_capture(self._place, stream)
        driver.event_record(self._event, stream)
        driver.stream_wait_event(self.stream, self._event, 0)
        self._caller = stream
        return self

    def __enter__(self) -> int:
        return self.stream

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            driver.event_record(self._event, self.stream)
            driver.stream_wait_event(self._caller, self._event, 0)
        except driver.CudaError:  # then nothing can be ordered behind the work
            with nullcontext() if kind is None else suppress(driver.CudaError):
                self._place.wait(self.stream)

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
                driver.stream_synchronize(self.stream)
            finally:
                destroy(handle)

    def __del__(self) -> None:
        for destroy, made in ((_destroy_event, self._event), (_destroy_stream, self.stream)):
            if made:
                places.discard(destroy, made)


def _destroy_event(event: int) -> None:  # at the end of the process nothing can be looked up in the driver any more
    driver.event_destroy(event)


def _destroy_stream(stream: int) -> None:
    driver.stream_destroy(stream)


def refuse_capture(gpu: Cuda, stream: int) -> None:
    """Nothing of a sparse solver can be part of a graph: what cuDSS used in a capture may be gone when the graph is replayed."""
    if gpu.capturing(stream):
        raise RuntimeError(
            "A CUDA graph is being captured on the stream, and it cannot hold a call of a sparse solver: the factors and buffers "
            "that it uses may change before the graph is replayed. Call the solver before the capture or after it."
        )
