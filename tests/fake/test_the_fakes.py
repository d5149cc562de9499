"""The fakes themselves: every kind of fault that they watch for is seen."""

from array import array

import pytest

from nvmath.bindings import _cuda as driver
from nvmath.bindings import cufft


@pytest.fixture
def cuda(gpu):
    """The driver, with a current context; hazards are taken out at the end of a test that made some."""
    gpu.cuda.thread.context = 0x1000
    yield gpu.cuda
    gpu.trace.hazards.clear()
    for memory in gpu.cuda.memory.values():
        memory.alive = False


@pytest.fixture
def block(cuda):
    """Memory of the library, taken on stream 0."""
    return driver.mem_alloc_from_pool_async(512, 1, 0)


def use(block, stream):
    driver.memset_d8_async(block, 0, 512, stream)


def test_work_on_two_streams_without_order_is_a_race(gpu, block):
    a = gpu.stream()
    driver.stream_synchronize(0)
    use(block, 0)
    use(block, a)
    assert ["still does" in text for text in gpu.trace.hazards] == [True]


@pytest.mark.parametrize("order", ["event", "host event", "host stream"])
def test_events_and_waits_make_an_order(gpu, block, order):
    a = gpu.stream()
    use(block, 0)
    event = driver.event_create(2)
    driver.event_record(event, 0)
    if order == "event":
        driver.stream_wait_event(a, event, 0)
    elif order == "host event":
        driver.event_synchronize(event)
    else:
        driver.stream_synchronize(0)
    use(block, a)
    assert gpu.trace.hazards == []
    driver.event_destroy(event)


def test_an_event_stands_for_the_work_before_it_only(gpu, block):
    a = gpu.stream()
    use(block, 0)
    event = driver.event_create(2)
    driver.event_record(event, 0)
    use(block, 0)
    driver.stream_wait_event(a, event, 0)
    use(block, a)
    assert len(gpu.trace.hazards) == 1
    driver.event_destroy(event)


def test_memory_is_there_only_behind_its_allocation(gpu, block):
    use(block, gpu.stream())
    assert ["before it is there" in text for text in gpu.trace.hazards] == [True]


def test_a_free_before_the_last_use_is_seen(gpu, block):
    a = gpu.stream()
    driver.stream_synchronize(0)
    use(block, a)
    driver.mem_free_async(block, 0)
    assert ["still uses it" in text for text in gpu.trace.hazards] == [True]
    driver.mem_free_async(block, 0)
    assert "memory was given back twice" in gpu.trace.hazards
    gpu.cuda.synchronize()
    use(block, 0)
    assert "uses memory that was given back" in gpu.trace.hazards[-1]


def test_leaks_are_seen(gpu, block):
    event, handle = driver.event_create(2), cufft.create()
    pinned = driver.mem_host_alloc(100, 0)
    assert len(gpu.leaks()) == 4
    driver.mem_free_async(block, 0)
    driver.event_destroy(event)
    driver.mem_free_host(pinned)
    cufft.destroy(handle)
    assert gpu.leaks() == []


def test_a_destroyed_stream_is_seen(gpu, block):
    a = gpu.stream()
    gpu.cuda.destroy_stream(a)
    with pytest.raises(driver.CudaError):
        use(block, a)
    assert ["destroyed" in text for text in gpu.trace.hazards] == [True]


def test_without_a_context_the_default_stream_is_refused(gpu, cuda):
    cuda.thread.context = 0
    for call in (lambda: driver.stream_synchronize(0), lambda: driver.event_create(2), lambda: use(1, 0)):
        with pytest.raises(driver.CudaError, match="201"):
            call()


def test_a_graph_needs_its_memory_and_plans(gpu, block):
    a = gpu.stream()
    handle = cufft.create()
    gpu.cufft.workspace_nbytes = 0
    cufft.xt_make_plan_many(handle, 1, (8,), (8,), 1, 8, 4, (8,), 1, 8, 4, 1, 4)
    cufft.set_stream(handle, a)
    driver.stream_synchronize(0)
    with gpu.capture(a) as graph:
        cufft.xt_exec(handle, block, block, 1)
    driver.mem_free_async(block, 0)
    cufft.destroy(handle)
    assert gpu.trace.hazards == ["memory was given back that a graph needs", "a plan was destroyed that a graph needs"]
    graph.replay(a)
    assert len(gpu.trace.hazards) > 2


BREAKING = {
    "synchronize": lambda stream, event, block: driver.stream_synchronize(stream),
    "synchronize another": lambda stream, event, block: driver.stream_synchronize(0),
    "event from outside": lambda stream, event, block: driver.stream_wait_event(stream, event, 0),
    "event synchronize": lambda stream, event, block: driver.event_synchronize(event),
    "id of the stream": lambda stream, event, block: driver.stream_get_id(stream),
    "event query": lambda stream, event, block: driver.event_query(event),
    "free": lambda stream, event, block: driver.mem_free_async(block, 0),
    "pinned": lambda stream, event, block: driver.mem_host_alloc(1, 0),
    "plan": lambda stream, event, block: cufft.xt_make_plan_many(1, 1, (8,), (8,), 1, 8, 4, (8,), 1, 8, 4, 1, 4),
}


@pytest.mark.parametrize("what", BREAKING)
def test_what_a_capture_forbids(gpu, block, what):
    a, event = gpu.stream(), driver.event_create(2)
    cufft.create()
    driver.event_record(event, 0)
    with gpu.capture(a) as graph, pytest.raises((driver.CudaError, cufft.cuFFTError)):
        BREAKING[what](a, event, block)
    assert graph.broken
    driver.event_destroy(event)
    cufft.destroy(1)


def test_what_a_relaxed_thread_may_do_during_a_capture(gpu, block):
    mode = array("i", [2])
    handle = cufft.create()
    with gpu.capture(gpu.stream()) as graph:
        driver.thread_exchange_stream_capture_mode(mode)
        assert list(mode) == [0]
        driver.mem_free_async(block, 0)
        cufft.destroy(handle)
        driver.thread_exchange_stream_capture_mode(mode)
    assert not graph.broken


def test_the_default_stream_and_the_capture_of_a_blocking_stream(gpu, block):
    with gpu.capture(gpu.stream(), blocking=True) as graph:
        with pytest.raises(driver.CudaError, match="906"):
            driver.stream_is_capturing(0)
        assert not graph.broken
        with pytest.raises(driver.CudaError, match="906"):
            use(block, 0)
        assert graph.broken


def test_an_event_of_a_capture_is_nothing_outside(gpu, cuda):
    a, event = gpu.stream(), driver.event_create(2)
    with gpu.capture(a):
        driver.event_record(event, a)
    with pytest.raises(driver.CudaError):
        driver.stream_wait_event(a, event, 0)
    driver.event_destroy(event)


def test_a_failure_happens_once_at_its_call(gpu, cuda):
    gpu.fail("cuEventCreate", 2)
    event = driver.event_create(2)
    with pytest.raises(driver.CudaError):
        driver.event_create(2)
    driver.event_destroy(driver.event_create(2))
    driver.event_destroy(event)
    assert gpu.count("cuEventCreate") == 3
