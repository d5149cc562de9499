"""Routes: how operands reach the place where work runs, and how results come back.

A route is chosen once, from where the operands are and where the work runs. It fills mirrors (across places only) and makes
runners; a runner allocates the result, launches, and hands the result over.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ..bindings._seam import pointer
from .arrays import NEEDS_COPY, Adapter, View
from .arrays.numpy import aligned
from .dtypes import DType
from .layout import Ints, is_dense, size
from .memory import Workspace
from .place import Cuda, Host, Place, cuda, thread
from .staging import DIRECT, download, is_pinned, upload
from .stream import resolve

Launch = Callable[..., None]
"""Called with the operand addresses and the result address, and on a GPU with the stream handle.

It may have an attribute `fuse`, which returns a runner that does it all in one Python function: one for the host is called with the
functions that make a result and tell its address, one for a GPU with the runner for all other cases, which has them as attributes.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What to allocate for a result, or which operand it overwrites."""

    shape: Ints
    strides: Ints
    dtype: DType
    overwrites: int | None = None

    @property
    def nbytes(self) -> int:
        """Size of the dense result."""
        return size(self.shape) * self.dtype.itemsize


class Runner(Protocol):
    """Compute one result into `out`, an array of exactly the layout of the result, or into a new array."""

    def __call__(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any: ...


def host_runner(
    launch: Launch, make: Callable[[], Any], pointer: Callable[[Any], int], count: int, overwrites: int | None
) -> Runner:
    """Host operands, host execution. Closures, since a call at small sizes costs as much as the work."""

    def run_one(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        result = make() if out is None else out
        launch(ptrs[0], pointer(result))
        return result

    def run(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        result = make() if out is None else out
        launch(*ptrs, pointer(result))
        return result

    def run_inplace(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        assert overwrites is not None
        launch(*ptrs, ptrs[overwrites])
        return objs[overwrites]

    fuse = getattr(launch, "fuse", None)
    if overwrites is None and fuse is not None:
        return fuse(make, pointer)  # type: ignore[no-any-return]
    return run_inplace if overwrites is not None else run_one if count == 1 else run


def noting(runner: Runner, touched: Callable[[Any], None], overwrites: int) -> Runner:
    """Tell the package that an operand was overwritten: PyTorch counts, so that stale values spoil no gradient."""

    def run(objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        result = runner(objs, ptrs, stream, out)
        touched(objs[overwrites])
        return result

    return run


class CudaRunner:
    """Operands of a GPU, execution there: asynchronous, ordered on the stream of the call."""

    __slots__ = ("adapter", "blocking", "device", "launch", "make", "overwrites", "place", "pointer", "stream_now", "workspace")

    def __init__(
        self,
        adapter: Adapter,
        place: Cuda,
        launch: Launch,
        make: Callable[[], Any],
        workspace: Workspace | None,
        blocking: bool,
        overwrites: int | None,
    ) -> None:
        self.adapter, self.place, self.launch, self.make = adapter, place, launch, make
        self.workspace, self.blocking, self.overwrites = workspace, blocking, overwrites
        self.device, self.pointer, self.stream_now = place.device_id, adapter.pointer, adapter.current_stream

    @property
    def simple(self) -> bool:
        """Whether a call is nothing but a result and a launch."""
        return self.workspace is None and not self.blocking and self.overwrites is None and not self.place.several

    def __call__(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        if not thread.bound:
            self.place.bind()
        handle = self.stream_now(self.device)
        if self.overwrites is not None:
            out = objs[self.overwrites]
        if stream is not None and (asked := resolve(stream, self.adapter, self.device)) != handle:
            with self.place.current(), self.adapter.on_stream(self.device, asked):
                return self.run(ptrs, asked, out)
        if self.place.several:
            with self.place.current():
                return self.run(ptrs, handle, out)
        return self.run(ptrs, handle, out)

    def run(self, ptrs: tuple[int, ...], stream: int, out: Any) -> Any:
        if self.blocking:
            refuse_capture(self.place, stream, "options.blocking=True")
        result = self.make() if out is None else out
        workspace = self.workspace
        if workspace is None:
            self.launch(*ptrs, self.pointer(result), stream)
            if self.blocking:
                self.place.wait(stream)
            return result
        workspace.acquire(stream)
        try:
            self.launch(*ptrs, self.pointer(result), stream)
            if self.blocking:
                self.place.wait(stream)
        except BaseException:
            workspace.undo(stream)
            raise
        workspace.used(stream, self.blocking)
        return result


TRAVEL: Final = "operands that travel between host and GPU memory"


def refuse_capture(gpu: Cuda, stream: int, what: str) -> None:
    """A call that waits for the GPU cannot be part of a graph."""
    if gpu.capturing(stream):
        raise RuntimeError(f"A CUDA graph is being captured on the stream, and it cannot hold a call with {what}: it has to wait.")


def refuse_travel(gpu: Cuda, stream: int) -> None:
    """Copying between host and device would end a capture, also one on the current stream of a package that has no part in the call."""
    refuse_capture(gpu, stream, TRAVEL)
    for package in ("torch", "cupy"):
        if package in sys.modules:
            adapter = importlib.import_module(f".arrays.{package}", __package__).ADAPTER
            refuse_capture(gpu, adapter.current_stream(gpu.device_id), TRAVEL)


class TidyingRunner:
    """Operands that no library can read as they are: copied, on every call, before the inner runner sees them."""

    __slots__ = ("adapter", "device", "inner", "kept", "untidy")

    def __init__(self, adapter: Adapter, inner: Runner, untidy: tuple[bool, ...], device: int | str) -> None:
        self.adapter, self.inner, self.untidy, self.device = adapter, inner, untidy, device
        self.kept: list[Any] = []

    def __call__(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        with context(self.adapter, self.device, stream):
            copies = tuple(self.adapter.tidy(obj) if bad else obj for obj, bad in zip(objs, self.untidy, strict=True))
            addresses = tuple(
                self.adapter.pointer(copy) if bad else ptr for copy, ptr, bad in zip(copies, ptrs, self.untidy, strict=True)
            )
            keep_if_captured(self.kept, self.adapter, self.device, stream, copies)
            return self.inner(copies, addresses, stream, out)


def keep_if_captured(kept: list[Any], adapter: Adapter, device: int | str, stream: Any, owner: Any) -> None:
    """Keep memory that a graph which is being captured will use again, whenever it is replayed."""
    if isinstance(device, int) and cuda(device).capturing(resolve(stream, adapter, device)):
        kept.append(owner)


class AcrossRunner:
    """Operands in one place, execution in another: through mirrors, blocking."""

    __slots__ = ("adapter", "device", "gpu", "launch", "make", "result", "workspace")

    def __init__(
        self,
        adapter: Adapter,
        gpu: Cuda,
        device: int | str,
        launch: Launch,
        make: Callable[[], Any],
        result: Result,
        workspace: Workspace | None,
    ) -> None:
        self.adapter, self.gpu, self.device, self.launch, self.make = adapter, gpu, device, launch, make
        self.result, self.workspace = result, workspace

    def __call__(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: Any, out: Any) -> Any:
        with self.gpu.current():
            handle = resolve(stream, self.adapter, self.gpu.device_id)
            refuse_travel(self.gpu, handle)
            with self.adapter.on_stream(self.gpu.device_id, handle):
                try:
                    return self.run(objs, ptrs, handle, out)
                except BaseException:
                    with suppress(RuntimeError):  # buffers must not go back while the GPU may still use them
                        self.gpu.wait(handle)
                    raise

    def run(self, objs: tuple[Any, ...], ptrs: tuple[int, ...], stream: int, out: Any) -> Any:
        nbytes, overwrites = self.result.nbytes, self.result.overwrites
        if overwrites is not None:
            target, owner = ptrs[overwrites], None
        else:
            where = self.gpu.device_id if self.device == "cpu" else "cpu"
            target, owner = allocate(self.adapter, where, nbytes, stream)
        with nullcontext() if self.workspace is None else self.workspace.for_call(stream, done=True):
            self.launch(*ptrs, target, *(() if isinstance(self.device, int) else (stream,)))
            final = self.new(objs) if out is None or overwrites is not None else out
            copy = download if self.device == "cpu" else upload
            copy(target, self.adapter.pointer(final), nbytes, stream)
        if overwrites is not None:
            final = self.adapter.assign(objs[overwrites], final)
            self.gpu.wait(stream)
        del owner
        return final

    def new(self, objs: tuple[Any, ...]) -> Any:
        """Make the final array: in pinned memory when the operands are, so that it is copied at full speed."""
        result = self.result
        if self.device == "cpu" and result.nbytes > DIRECT and is_pinned(self.adapter.pointer(objs[0])):
            return self.adapter.pinned(result.shape, result.strides, result.dtype)
        return self.make()


class Mirror:
    """A dense copy of an operand in the place where the work runs."""

    __slots__ = ("nbytes", "owner", "ptr")

    def __init__(self, ptr: int, owner: Any, nbytes: int) -> None:
        self.ptr, self.owner, self.nbytes = ptr, owner, nbytes


def allocate(adapter: Adapter, device: int | str, nbytes: int, stream: int) -> tuple[int, Any]:
    """Take memory for an internal buffer."""
    if device == "cpu":
        block = aligned(max(1, nbytes))
        return pointer(block), block
    assert isinstance(device, int)
    return adapter.allocate(max(1, nbytes), device, stream)


@contextmanager
def context(adapter: Adapter, device: int | str, stream: Any) -> Iterator[None]:
    """Make the device and the stream of a call current for the package's own work."""
    if not isinstance(device, int):
        yield
    else:
        with cuda(device).current(), adapter.on_stream(device, resolve(stream, adapter, device)):
            yield


class Route:
    """How the operands of one operation travel."""

    __slots__ = ("across", "adapter", "device", "place", "untidy")

    def __init__(self, views: tuple[View, ...], place: Place, reads: Ints = ()) -> None:
        self.adapter, self.device, self.place = views[0].adapter, views[0].device, place
        self.across = (self.device == "cpu") != isinstance(place, Host)
        self.untidy = tuple(
            bool(view.flags & NEEDS_COPY & ~honoured) for view, honoured in zip(views, reads or (0,) * len(views), strict=True)
        )  # fmt: skip

    def stage(self, index: int, view: View, stream: Any, gpu: Cuda, old: Mirror | None = None) -> Mirror:
        """Copy an operand into its mirror, reusing an old one of the same size; blocks until done."""
        with gpu.current():
            handle = resolve(stream, self.adapter, gpu.device_id)
            refuse_travel(gpu, handle)
            with self.adapter.on_stream(gpu.device_id, handle):
                packed = is_dense(view.shape, view.strides) and not self.untidy[index]
                source = view.obj if packed else self.adapter.tidy(view.obj)
                nbytes = size(view.shape) * view.dtype.itemsize
                target = "cpu" if isinstance(self.place, Host) else gpu.device_id
                mirror = old
                if mirror is None or mirror.nbytes != nbytes:
                    mirror = Mirror(*allocate(self.adapter, target, nbytes, handle), nbytes)
                copy = upload if self.device == "cpu" else download
                copy(self.adapter.pointer(source), mirror.ptr, nbytes, handle)
        return mirror

    def runner(
        self, launch: Launch, result: Result, gpu: Cuda | None, workspace: Workspace | None, blocking: bool
    ) -> Runner:
        """Make the runner of a launch."""
        make = self.adapter.maker(result.shape, result.strides, result.dtype, self.device)
        if self.across:
            assert gpu is not None
            return AcrossRunner(self.adapter, gpu, self.device, launch, make, result, workspace)
        if isinstance(self.place, Cuda):
            slow = CudaRunner(self.adapter, self.place, launch, make, workspace, blocking, result.overwrites)
            fuse = getattr(launch, "fuse", None) if slow.simple else None
            inner: Runner = slow if fuse is None else fuse(slow)
        else:
            inner = host_runner(launch, make, self.adapter.pointer, len(self.untidy), result.overwrites)
        if result.overwrites is not None:
            inner = noting(inner, self.adapter.touched, result.overwrites)
        return TidyingRunner(self.adapter, inner, self.untidy, self.device) if any(self.untidy) else inner
