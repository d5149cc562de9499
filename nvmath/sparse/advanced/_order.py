"""The order of what one solver does on a GPU: call behind call, on a stream of its own, whatever streams the caller gives.

Every call of a solver uses the same factors, assembled values and residual, and cuDSS has no order between streams. It (0.8) even does
part of a solution on the stream that its handle had in the analysis, whatever the handle has been set to since: values of x then arrive out
of the order of the caller's stream, and that of the analysis may have been destroyed. So cuDSS sees one stream only, that of the solver. It
is the default stream where the caller plans on that, since nobody can destroy it: calls there need no further order. Else it is one of the
solver's own. A call for another stream begins behind what the caller has queued, and what the caller queues next is behind the call.
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
_DEFAULT: Final = 0
_CAPTURE_IMPLICIT: Final = 906


class Order:
    """Puts every call behind the one before, and the end of memory behind the last.

    Parameters
    ----------
    place, adapter
        The GPU, which is current, and the package that has a current stream there.
    planned : int
        The stream of the caller on which cuDSS will analyse.
    """

    __slots__ = ("_adapter", "_begin", "_caller", "_end", "_open", "_place", "stream")

    def __init__(self, place: Cuda, adapter: Adapter, planned: int) -> None:
        self._place, self._adapter = place, adapter
        self._caller = self._begin = self._end = self.stream = 0
        self._open = False
        if planned != _DEFAULT:
            self.stream = driver.stream_create(_NON_BLOCKING)
        self._begin = driver.event_create(_NO_TIMING)
        self._end = driver.event_create(_NO_TIMING)

    @property
    def device(self) -> int:
        """Number of the GPU."""
        return self._place.device_id

    def on(self, stream: int) -> Order:
        """Begin a call for a stream of the caller; in a ``with`` statement, which gives the stream of the solver.

        Raises
        ------
        RuntimeError
            The stream is being captured, or one that the default stream would wait for.
        """
        own = self.stream
        refuse_capture(self._place, stream)
        if stream != own:
            if own == _DEFAULT:
                refuse_capture(self._place, own)
            driver.event_record(self._begin, stream)
            driver.stream_wait_event(own, self._begin, 0)
        self._caller, self._open = stream, True
        return self

    def __enter__(self) -> int:
        return self.stream

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            driver.event_record(self._end, self.stream)  # what is discarded waits for it
            if self._caller != self.stream:
                driver.stream_wait_event(self._caller, self._end, 0)
        except driver.CudaError:  # then nothing can be ordered behind the work
            with nullcontext() if kind is None else suppress(driver.CudaError):
                self._place.wait(self.stream)
        finally:
            self._open = False

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
                if self._open:  # in the middle of a call
                    driver.stream_synchronize(self.stream)
                else:  # to wait for the default stream itself would end captures on streams that it waits for
                    driver.event_synchronize(self._end)
            finally:
                destroy(handle)

    def __del__(self) -> None:
        made_by = ((_destroy_event, self._begin), (_destroy_event, self._end), (_destroy_stream, self.stream))
        for destroy, made in made_by:
            if made:
                places.discard(destroy, made)


def _destroy_event(event: int) -> None:  # at the end of the process nothing can be looked up in the driver any more
    driver.event_destroy(event)


def _destroy_stream(stream: int) -> None:
    driver.stream_destroy(stream)


def refuse_capture(gpu: Cuda, stream: int) -> None:
    """Nothing of a sparse solver can be part of a graph: what cuDSS used in a capture may be gone when the graph is replayed."""
    if _captures_what_waits() if stream == _DEFAULT else gpu.capturing(stream):
        raise RuntimeError(
            "A CUDA graph is being captured on the stream, and it cannot hold a call of a sparse solver: the factors and buffers "
            "that it uses may change before the graph is replayed. Call the solver before the capture or after it."
        )


def _captures_what_waits() -> bool:
    """Whether a stream is being captured that waits for the default stream: work on this would end the capture, to ask does not."""
    try:
        driver.stream_is_capturing(_DEFAULT)
    except driver.CudaError as error:
        return error.status == _CAPTURE_IMPLICIT
    return False
