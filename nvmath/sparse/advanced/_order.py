"""The order of what one solver does on a GPU: call behind call, on a stream of its own, whatever streams the caller gives.

Every call of a solver uses the same factors, assembled values and residual, and cuDSS has no order between streams. It (0.8) even does
part of a solution on the stream that its handle had in the analysis, whatever the handle has been set to since: values of x then arrive out
of the order of the caller's stream, and that of the analysis may have been destroyed. So cuDSS sees one stream only, which is the solver's
own, also because the default stream cannot be captured. A call begins behind what the caller has queued, and what the caller queues next is
behind the call. Graphs of calls need no stream of the solver: they run on that of the caller, behind the call before.
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
_stranded: Final[list[object]] = []
"""What could not be waited for, and may be in use until the process ends."""


class Order:
    """Puts every call behind the one before, and the end of memory behind the last.

    Parameters
    ----------
    place, adapter
        The GPU, which is current, and the package that has a current stream there.
    """

    __slots__ = ("_adapter", "_at", "_begin", "_caller", "_end", "_open", "_place", "stream")

    def __init__(self, place: Cuda, adapter: Adapter) -> None:
        self._place, self._adapter = place, adapter
        self._caller = self._begin = self._end = self._at = self.stream = 0
        self._open = False
        self._at = self.stream = driver.stream_create(_NON_BLOCKING)
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
        refuse_capture(self._place, stream)
        driver.event_record(self._begin, stream)
        driver.stream_wait_event(self.stream, self._begin, 0)
        if self._at != self.stream:  # the call before was a graph on a stream of the caller
            driver.stream_wait_event(self.stream, self._end, 0)
        self._caller, self._at, self._open = stream, self.stream, True
        return self

    def directly(self, stream: int) -> Order:
        """Begin a call that is a graph, on the stream of the caller itself; otherwise like :meth:`on`."""
        refuse_capture(self._place, stream)
        if not stream == _DEFAULT == self._at:  # another stream may be a new one with the handle of one that was destroyed
            driver.stream_wait_event(stream, self._end, 0)
        self._caller = self._at = stream
        self._open = True
        return self

    def __enter__(self) -> int:
        return self._at

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            driver.event_record(self._end, self._at)  # what comes next waits for it, and what is discarded
            self._open = False
            if self._caller != self._at:
                driver.stream_wait_event(self._caller, self._end, 0)
        except driver.CudaError:  # then nothing can be ordered behind the work
            with nullcontext() if kind is None else suppress(driver.CudaError):
                self._place.wait(self._at)
                self._open = False

    def mark(self) -> None:
        """Let what is discarded wait for what has been queued up to here, and not for the stream, which is about to be captured."""
        driver.event_record(self._end, self._at)
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
                    driver.stream_synchronize(self._at)
                else:  # to wait for the default stream itself would end captures on streams that it waits for
                    driver.event_synchronize(self._end)
            except driver.CudaError:
                _stranded.append(what)
                raise
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
    what = "cannot hold a call of a sparse solver: the factors and buffers that it uses may change before the graph is replayed."
    if stream == _DEFAULT and _captures_what_waits(gpu):
        raise RuntimeError(
            f"A CUDA graph is being captured on a stream that the default stream would wait for, and it {what} Capture on a non-blocking "
            "stream, or call the solver before the capture or after it."
        )
    if gpu.capturing(stream):
        raise RuntimeError(
            f"A CUDA graph is being captured on the stream, and it {what} Call the solver before the capture or after it."
        )


def _captures_what_waits(gpu: Cuda) -> bool:
    """Whether a stream is being captured that waits for the default stream: work on this would end the capture, to ask does not."""
    try:
        with gpu.current():
            driver.stream_is_capturing(_DEFAULT)
    except driver.CudaError as error:
        if error.status != _CAPTURE_IMPLICIT:
            raise
        return True
    return False
