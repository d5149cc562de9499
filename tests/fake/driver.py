"""A CUDA driver and a cuFFT that compute nothing: they write down every call, and watch the order of work.

Streams are followed with vector clocks: a kernel that uses memory of the library must come after every earlier use of
it, and the memory must be given back behind the last one, by streams, events or waits of the host. What breaks a rule
of CUDA is an error, as it would be there (what happens during a capture was looked up on an H200); what CUDA would not
notice (a race, memory that a graph still needs) is a *hazard*, and a test ends with none.
"""
# ruff: noqa: N802, the names of the C functions

from __future__ import annotations

import ctypes
import functools
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nvmath.bindings._cuda import CudaError
from nvmath.bindings.cufft import cuFFTError

INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONTEXT, INVALID_HANDLE, UNKNOWN = 1, 2, 201, 400, 999
CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_IMPLICIT = 900, 901, 905, 906
RELAXED = 2


@dataclass
class Call:
    """One call of a library function, and where its work is queued if it queues any."""

    name: str
    args: tuple[Any, ...]
    device: int | None  # of the context that was current
    stream: int | None = None
    result: Any = None
    mode: int = 0  # capture mode of the thread


class Trace(list[Call]):
    """Every call so far, of all libraries, and the failures that are to come."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[list[Any]] = []
        self.meanwhile: dict[str, Callable[[], object]] = {}  # what happens just before the next call of a function
        self.hazards: list[str] = []
        self.lock = threading.RLock()

    def fail(self, name: str, at: int = 1, error: BaseException | None = None) -> None:
        """Let a function fail at its `at`-th call from now on, once."""
        default = cuFFTError(5) if name.startswith("cufft") else CudaError(OUT_OF_MEMORY)
        self.faults.append([name, at, default if error is None else error])

    def enter(self, call: Call) -> None:
        """Write a call down; raise if it is to fail."""
        self.append(call)
        for fault in self.faults:
            if fault[0] == call.name:
                fault[1] -= 1
                if fault[1] == 0:
                    self.faults.remove(fault)
                    raise fault.pop()

    def calls(self, *names: str) -> list[Call]:
        """The calls of some functions, in their order."""
        return [call for call in self if call.name in names]

    def names(self, *names: str) -> list[str]:
        """The names of the calls of some functions, in their order."""
        return [call.name for call in self.calls(*names)]

    def count(self, name: str) -> int:
        """How often a function was called."""
        return len(self.calls(name))


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Write a call down before it acts."""

    @functools.wraps(function)
    def enter(self: Any, *args: Any) -> Any:
        call = Call(function.__name__, args, self.current_device(), mode=self.cuda.thread.mode)
        self.trace.meanwhile.pop(call.name, lambda: None)()
        with self.trace.lock:
            self.trace.enter(call)
            self.cuda.now = call
            call.result = function(self, *args)
        return call.result

    return enter


class Order:
    """Vector clocks of streams, events and the host: which queued work is known to come after which."""

    def __init__(self) -> None:
        self.streams: dict[int, dict[int, int]] = defaultdict(dict)
        self.host: dict[int, int] = {}

    def queue(self, stream: int) -> int:
        """Queue work; return its tick on the stream."""
        clock = self.streams[stream]
        join(clock, self.host)
        clock[stream] = clock.get(stream, 0) + 1
        return clock[stream]

    def reaches(self, stream: int, origin: int, tick: int) -> bool:
        """Whether what is queued next on a stream comes after a tick of another one."""
        return max(self.streams[stream].get(origin, 0), self.host.get(origin, 0)) >= tick

    def snapshot(self, stream: int) -> dict[int, int]:
        """What an event that is recorded now stands for."""
        return {**self.host, **{key: max(tick, self.host.get(key, 0)) for key, tick in self.streams[stream].items()}}


def join(clock: dict[int, int], other: dict[int, int]) -> None:
    """Let a clock know what another one knows."""
    for key, tick in other.items():
        clock[key] = max(clock.get(key, 0), tick)


@dataclass
class Memory:
    """A block of device memory: who owns it, when it came, who used it last on each stream."""

    address: int
    nbytes: int
    device: int
    stream: int  # identity of the stream that it was taken on
    born: int
    library: bool  # owned by the library under test, which must order its uses
    uses: dict[int, int] = field(default_factory=dict)
    alive: bool = True


class Graph:
    """What a capture recorded; it needs its memory and plans for as long as it lives."""

    def __init__(self, cuda: FakeCuda, stream: int, blocking: bool) -> None:
        self.cuda, self.stream, self.blocking = cuda, stream, blocking
        self.memory: list[Memory] = []
        self.plans: list[Any] = []
        self.calls: list[Call] = []
        self.broken = ""
        self.alive = True

    def replay(self, stream: int) -> None:
        """Queue the work of the graph on a stream."""
        self.cuda.now = Call("a replay", (), self.cuda.current_device(), stream)
        for plan in self.plans:
            if not plan.alive:
                self.cuda.hazard("a graph was replayed after one of its plans had been destroyed")
        for memory in self.memory:
            self.cuda.use(memory, stream)

    def destroy(self) -> None:
        """End the life of the graph."""
        self.alive = False


class Thread(threading.local):
    """What the driver knows about a thread."""

    context = 0
    mode = 0


class FakeCuda:
    """The driver: attributes are named like the C functions, see `nvmath.bindings._bind.substitute`."""

    def __init__(self, trace: Trace, devices: int = 1) -> None:
        self.trace, self.devices, self.total_nbytes = trace, devices, 80 << 30
        self.cuda = self
        self.order = Order()
        self.memory: dict[int, Memory] = {}
        self.host_memory: dict[int, Any] = {}
        self.events: dict[int, Any] = {}
        self.own_streams: set[int] = set()  # made by the library through cuStreamCreate
        self.stream_devices: dict[int, int] = {}
        self.stream_ids: dict[int, int] = {}
        self.graphs: list[Graph] = []  # those that are being captured
        self.known_graphs: list[Graph] = []
        self.own_graphs: dict[int, tuple[Graph, Memory]] = {}  # of the library, by their handles
        self.thread = Thread()
        self.now: Any = None
        self._address = 0x7000_0000_0000
        self._handle = 0x5000
        self._stream_id = 100

    # --- for tests and for the other fakes ----------------------------------------------------------------------------

    def hazard(self, text: str) -> None:
        """Note what CUDA would not."""
        self.trace.hazards.append(text)

    def handle(self) -> int:
        """Make a new handle."""
        self._handle += 16
        return self._handle

    def current_device(self) -> int | None:
        """The device of the current context."""
        return self.thread.context - 0x1000 if self.thread.context else None

    def make_stream(self, device: int = 0, handle: int | None = None) -> int:
        """A stream that the user makes; a handle may come again after its stream was destroyed."""
        handle = self.handle() if handle is None else handle
        self._stream_id += 1
        self.stream_ids[handle], self.stream_devices[handle] = self._stream_id, device
        return handle

    def destroy_stream(self, stream: int) -> None:
        """Destroy a stream of the user: its handle is poison from now on; its work goes on."""
        del self.stream_ids[stream], self.stream_devices[stream]

    def identity(self, stream: int) -> int:
        """The id of a stream, which never comes again."""
        if stream == 0:
            if self.current_device() is None:
                raise CudaError(INVALID_CONTEXT)
            return self.current_device()  # type: ignore[return-value]
        if stream not in self.stream_ids:
            self.hazard(f"{self.now.name} used the stream {stream:#x}, which is destroyed: the driver would crash")
            raise CudaError(INVALID_HANDLE)
        return self.stream_ids[stream]

    def device_of(self, stream: int) -> int:
        """The device that a stream belongs to."""
        return self.identity(0) if stream == 0 else self.stream_devices[stream]

    def graph_of(self, stream: int) -> Graph | None:
        """The graph that is being captured on a stream."""
        return next((graph for graph in self.graphs if graph.stream == stream), None)

    @contextmanager
    def capture(self, stream: int, *, blocking: bool = False) -> Iterator[Graph]:
        """Pretend that the user captures a stream, in global mode; `blocking` towards the legacy default stream."""
        graph = Graph(self, stream, blocking)
        self.graphs.append(graph)
        self.known_graphs.append(graph)
        try:
            yield graph
        finally:
            self.graphs.remove(graph)

    def refuse(self, status: int, *graphs: Graph) -> None:
        """Raise as the driver does, and break captures."""
        for graph in graphs:
            graph.broken = f"{self.now.name}({', '.join(map(str, self.now.args))})"
        raise CudaError(status)

    def unsafe(self) -> None:
        """A call that a capture forbids in every thread that has not relaxed its mode."""
        if self.graphs and self.thread.mode != RELAXED:
            self.refuse(CAPTURE_UNSUPPORTED, *self.graphs)

    def queued(self, stream: int) -> Graph | None:
        """Note where the work of the present call goes; return the graph that records it instead."""
        self.identity(stream)
        self.now.stream = stream
        if stream == 0:
            self.legacy()
        graph = self.graph_of(stream)
        if graph is not None:
            graph.calls.append(self.now)
        return graph

    def legacy(self) -> None:
        """Work on the legacy default stream would depend on every blocking stream."""
        captured = [graph for graph in self.graphs if graph.blocking]
        if captured:
            self.refuse(CAPTURE_IMPLICIT, *captured)

    def allocate(self, nbytes: int, stream: int, *, library: bool) -> int:
        """Take memory in the order of a stream."""
        if nbytes <= 0:
            raise CudaError(INVALID_VALUE)
        address = self._address
        self._address += -(-nbytes // 4096) * 4096 + 4096
        identity, device = self.identity(stream), self.device_of(stream)
        self.memory[address] = Memory(address, nbytes, device, identity, self.order.queue(identity), library)
        return address

    def at(self, address: int) -> Memory | None:
        """The block that an address lies in; None for host memory."""
        block = self.memory.get(address)
        if block is not None:
            return block
        return next((m for m in self.memory.values() if m.address <= address < m.address + max(1, m.nbytes)), None)

    def use(self, memory: Memory, stream: int) -> None:
        """Let work that is queued now on a stream use memory."""
        identity = self.identity(stream)
        what = f"{self.now.name} on stream {stream:#x}"
        if not memory.alive:
            self.hazard(f"{what} uses memory that was given back")
        if not self.order.reaches(identity, memory.stream, memory.born):
            self.hazard(f"{what} uses memory before it is there")
        if memory.library:
            for origin, tick in memory.uses.items():
                if not self.order.reaches(identity, origin, tick):
                    self.hazard(f"{what} uses memory while stream #{origin} still does")
        memory.uses[identity] = self.order.queue(identity)

    def touch(self, stream: int, *addresses: int) -> None:
        """Let the present call use device memory."""
        graph = self.graph_of(stream)
        for address in addresses:
            memory = self.at(address)
            if memory is None:
                continue
            if graph is None:
                self.use(memory, stream)
            else:
                if not memory.alive:
                    self.hazard(f"{self.now.name} captures memory that was given back")
                graph.memory.append(memory)

    def release(self, memory: Memory, identity: int) -> None:
        """Give memory back in the order of a stream."""
        if not memory.alive:
            self.hazard("memory was given back twice")
        if memory.library:
            for origin, tick in memory.uses.items():
                if not self.order.reaches(identity, origin, tick):
                    self.hazard(f"memory was given back while stream #{origin} still uses it")
            if any(graph.alive and memory in graph.memory for graph in self.known_graphs):
                self.hazard("memory was given back that a graph needs")
        memory.alive = False

    def live(self) -> list[Memory]:
        """What the library owns and has not given back."""
        return [memory for memory in self.memory.values() if memory.alive and memory.library]

    def synchronize(self) -> None:
        """Wait for everything, as a careful user does between calls; not written down."""
        for clock in self.order.streams.values():
            join(self.order.host, clock)

    # --- start, devices, contexts -------------------------------------------------------------------------------------

    @recorded
    def cuInit(self, flags: int) -> None:
        pass

    def cuGetErrorName(self, error: int) -> tuple[int, str]:
        return 0, f"CUDA_ERROR_{error}"

    def cuGetErrorString(self, error: int) -> tuple[int, str]:
        return 0, "an error of the fake"

    @recorded
    def cuDeviceGetCount(self) -> int:
        return self.devices

    @recorded
    def cuDeviceGet(self, ordinal: int) -> int:
        return ordinal

    def cuDeviceGetAttribute(self, attribute: int, device: int) -> int:
        return {75: 9, 76: 0}.get(attribute, 1)

    @recorded
    def cuDevicePrimaryCtxRetain(self, device: int) -> int:
        return 0x1000 + device

    def cuDeviceTotalMem_v2(self, device: int) -> int:
        return self.total_nbytes

    def cuMemGetInfo_v2(self) -> tuple[int, int]:
        return 3 << 30, 80 << 30

    @recorded
    def cuCtxGetCurrent(self) -> int:
        return self.thread.context

    @recorded
    def cuCtxSetCurrent(self, context: int) -> None:
        self.thread.context = context

    def cuCtxGetDevice(self) -> int:
        if self.current_device() is None:
            raise CudaError(INVALID_CONTEXT)
        return self.current_device()  # type: ignore[return-value]

    @recorded
    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> None:
        self.thread.mode, mode[0] = mode[0], self.thread.mode

    # --- memory -------------------------------------------------------------------------------------------------------

    @recorded
    def cuMemPoolCreate(self, properties: Any) -> int:
        return self.handle()

    @recorded
    def cuMemPoolSetAttribute(self, pool: int, attribute: int, value: list[int]) -> None:
        pass

    @recorded
    def cuMemAllocFromPoolAsync(self, nbytes: int, pool: int, stream: int) -> int:
        if self.queued(stream):
            self.hazard("memory was taken from the pool on a stream that is captured")
        else:
            self.unsafe()
        return self.allocate(nbytes, stream, library=True)

    @recorded
    def cuMemFreeAsync(self, address: int, stream: int) -> None:
        if self.queued(stream):
            self.refuse(INVALID_VALUE)
        self.unsafe()
        identity = self.identity(stream)
        self.order.queue(identity)
        self.release(self.memory[address], identity)

    @recorded
    def cuMemHostAlloc(self, nbytes: int, flags: int) -> int:
        self.unsafe()
        block = (ctypes.c_char * (nbytes + 4096))()
        address = -(-ctypes.addressof(block) // 4096) * 4096
        self.host_memory[address] = (block, nbytes)
        return address

    @recorded
    def cuMemFreeHost(self, address: int) -> None:
        self.unsafe()
        del self.host_memory[address]

    def cuPointerGetAttribute(self, attribute: int, pointer: int) -> int:
        for address, (_, nbytes) in self.host_memory.items():
            if address <= pointer < address + nbytes:
                return 1
        if self.at(pointer) is not None:
            return 2
        raise CudaError(INVALID_VALUE)

    def _copy(self, stream: int, *addresses: int) -> None:
        self.queued(stream)
        self.touch(stream, *addresses)

    @recorded
    def cuMemcpyHtoDAsync_v2(self, destination: int, source: int, nbytes: int, stream: int) -> None:
        self._copy(stream, destination)

    @recorded
    def cuMemcpyDtoHAsync_v2(self, destination: int, source: int, nbytes: int, stream: int) -> None:
        self._copy(stream, source)

    @recorded
    def cuMemcpyDtoDAsync_v2(self, destination: int, source: int, nbytes: int, stream: int) -> None:
        self._copy(stream, source)
        self._copy(stream, destination)

    @recorded
    def cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> None:
        self._copy(stream, address)

    # --- streams and events -------------------------------------------------------------------------------------------

    @recorded
    def cuStreamCreate(self, flags: int) -> int:
        device = self.current_device()
        if device is None:
            raise CudaError(INVALID_CONTEXT)
        stream = self.make_stream(device)
        self.own_streams.add(stream)
        return stream

    @recorded
    def cuStreamDestroy_v2(self, stream: int) -> None:
        self.own_streams.remove(stream)
        self.destroy_stream(stream)

    @recorded
    def cuCtxSynchronize(self) -> None:
        self.unsafe()
        self.synchronize()

    @recorded
    def cuStreamSynchronize(self, stream: int) -> None:
        identity = self.identity(stream)
        self.now.stream = stream
        self.unsafe()
        if (graph := self.graph_of(stream)) is not None:
            self.refuse(CAPTURE_UNSUPPORTED, graph)
        if stream == 0:
            self.legacy()
        join(self.order.host, self.order.streams[identity])

    @recorded
    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> None:
        clock = self.events[event]
        if (graph := self.queued(stream)) is not None:
            if clock is not graph:
                self.refuse(CAPTURE_ISOLATION, graph)
        elif isinstance(clock, Graph):
            raise CudaError(INVALID_VALUE)
        elif clock is not None:
            join(self.order.streams[self.identity(stream)], clock)

    @recorded
    def cuStreamGetId(self, stream: int) -> int:
        if (graph := self.graph_of(stream)) is not None:
            self.refuse(CAPTURE_UNSUPPORTED, graph)
        return self.identity(stream)

    @recorded
    def cuStreamIsCapturing(self, stream: int) -> int:
        self.identity(stream)
        if stream == 0 and any(graph.blocking for graph in self.graphs):
            raise CudaError(CAPTURE_IMPLICIT)
        return int(self.graph_of(stream) is not None)

    @recorded
    def cuStreamBeginCapture_v2(self, stream: int, mode: int) -> None:
        self.identity(stream)
        if stream == 0 or self.graph_of(stream) is not None:
            raise CudaError(CAPTURE_UNSUPPORTED)
        self.graphs.append(Graph(self, stream, blocking=False))

    @recorded
    def cuStreamEndCapture(self, stream: int) -> int:
        graph = self.graph_of(stream)
        assert graph is not None
        self.graphs.remove(graph)
        if graph.broken:
            raise CudaError(CAPTURE_INVALIDATED)
        return self._own_graph(graph)

    def _own_graph(self, graph: Graph) -> int:
        handle = self.handle()
        self.own_graphs[handle] = graph, Memory(handle, 0, 0, 0, 0, library=True)
        return handle

    @recorded
    def cuGraphInstantiateWithFlags(self, graph: int, flags: int) -> int:
        return self._own_graph(self.own_graphs[graph][0])

    @recorded
    def cuGraphLaunch(self, executable: int, stream: int) -> None:
        graph, used = self.own_graphs[executable]
        assert self.queued(stream) is None
        for memory in (used, *{id(memory): memory for memory in graph.memory}.values()):
            self.use(memory, stream)

    @recorded
    def cuGraphDestroy(self, graph: int) -> None:
        del self.own_graphs[graph]

    @recorded
    def cuGraphExecDestroy(self, executable: int) -> None:
        _, used = self.own_graphs.pop(executable)
        if any(tick > self.order.host.get(origin, 0) for origin, tick in used.uses.items()):
            self.hazard("a graph was destroyed while it was under way")

    @recorded
    def cuStreamGetCaptureInfo_v2(self, stream: int) -> tuple[int, int, int, int, int]:
        graph = self.graph_of(stream)
        return (0, 0, 0, 0, 0) if graph is None else (1, id(graph), id(graph), 0, 0)

    @recorded
    def cuEventCreate(self, flags: int) -> int:
        if self.current_device() is None:
            raise CudaError(INVALID_CONTEXT)
        event = self.handle()
        self.events[event] = None
        return event

    @recorded
    def cuEventRecord(self, event: int, stream: int) -> None:
        graph = self.queued(stream)
        self.events[event] = self.order.snapshot(self.identity(stream)) if graph is None else graph

    @recorded
    def cuEventSynchronize(self, event: int) -> None:
        self.unsafe()
        clock = self.events[event]
        if isinstance(clock, Graph):
            raise CudaError(INVALID_VALUE)
        join(self.order.host, clock or {})

    @recorded
    def cuEventQuery(self, event: int) -> int:
        self.unsafe()
        clock = self.events[event]
        if isinstance(clock, Graph):
            raise CudaError(INVALID_VALUE)
        return 600 if any(tick > self.order.host.get(key, 0) for key, tick in (clock or {}).items()) else 0

    @recorded
    def cuEventDestroy_v2(self, event: int) -> None:
        del self.events[event]

    # --- kernels ------------------------------------------------------------------------------------------------------

    @recorded
    def cuModuleLoadData(self, image: Any) -> int:
        self.unsafe()  # newer drivers may be more generous; not looked up
        return self.handle()

    @recorded
    def cuModuleGetFunction(self, module: int, name: Any) -> int:
        return self.handle()

    @recorded
    def cuLaunchKernel(self, function: int, *rest: Any) -> None:
        *_, stream, parameters, _extra = rest
        self.queued(stream)
        first_two = (ctypes.c_void_p * 2).from_address(parameters)
        self.touch(stream, *(ctypes.c_void_p.from_address(address).value or 0 for address in first_two))


@dataclass(eq=False)
class Plan:
    """A cuFFT handle."""

    device: int
    stream: int = 0
    workspace: int = 0
    made: bool = False
    alive: bool = True


class FakeCufft:
    """cuFFT over the fake driver. It is built on the runtime: a thread without a context works on device 0."""

    def __init__(self, trace: Trace, cuda: FakeCuda, workspace_nbytes: int) -> None:
        self.trace, self.cuda, self.workspace_nbytes = trace, cuda, workspace_nbytes
        self.plans: dict[int, Plan] = {}

    def current_device(self) -> int:
        return self.cuda.current_device() or 0

    def live(self) -> list[int]:
        """The handles that are not destroyed."""
        return [number for number, plan in self.plans.items() if plan.alive]

    def _plan(self, number: int) -> Plan:
        plan = self.plans.get(number)
        if plan is None or not plan.alive:
            self.cuda.hazard(f"{self.cuda.now.name} got the handle {number}, which does not exist (any more)")
            raise cuFFTError(1)
        return plan

    @recorded
    def cufftGetVersion(self) -> int:
        return 12000

    @recorded
    def cufftCreate(self) -> int:
        number = len(self.plans) + 1
        self.plans[number] = Plan(self.current_device())
        return number

    @recorded
    def cufftSetAutoAllocation(self, number: int, on: int) -> None:
        if on:
            self.cuda.hazard("cuFFT was told to take its work area by itself")

    @recorded
    def cufftXtSetJITCallback(self, number: int, *rest: Any) -> None:
        self._plan(number)

    @recorded
    def cufftXtMakePlanMany(self, number: int, *arguments: Any) -> int:
        plan = self._plan(number)
        if self.cuda.graphs:
            for graph in self.cuda.graphs:
                graph.broken = "cufftXtMakePlanMany"
            raise cuFFTError(2)
        plan.made = True
        return self.workspace_nbytes

    @recorded
    def cufftSetWorkArea(self, number: int, address: int) -> None:
        self._plan(number).workspace = address

    @recorded
    def cufftSetStream(self, number: int, stream: int) -> None:
        self._plan(number).stream = stream

    @recorded
    def cufftXtExec(self, number: int, source: int, target: int, direction: int) -> None:
        plan = self._plan(number)
        cuda = self.cuda
        if not plan.made:
            cuda.hazard("an unfinished plan was executed")
        if plan.device != self.current_device():
            cuda.hazard(f"a plan of device {plan.device} was executed while device {self.current_device()} was current")
        if self.workspace_nbytes and not plan.workspace:
            cuda.hazard("a plan was executed without its work area")
        before, cuda.thread.context = cuda.thread.context, cuda.thread.context or 0x1000
        try:
            graph = cuda.queued(plan.stream)
            if graph is not None:
                graph.plans.append(plan)
            addresses = [source, target] if source != target else [source]
            cuda.touch(plan.stream, *addresses, *([plan.workspace] if plan.workspace else []))
        finally:
            cuda.thread.context = before

    @recorded
    def cufftDestroy(self, number: int) -> None:
        plan = self._plan(number)
        self.cuda.unsafe()
        plan.alive = False
        if any(graph.alive and plan in graph.plans for graph in self.cuda.known_graphs):
            self.cuda.hazard("a plan was destroyed that a graph needs")
